// What the kernel of a program needs of CUDA, for a processor: a thread for each block, which is one lane of one warp.

#include <barrier>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static thread_local
#define LANES 1

struct Place {
    unsigned int x;
};
static thread_local Place blockIdx{0};
static const Place threadIdx{0}, blockDim{1};
static Place gridDim{1};
static std::barrier<>* everyone;

using std::max;
using std::min;
inline void __syncthreads() {}
inline long long thread_number() { return blockIdx.x; }
inline long long thread_count() { return gridDim.x; }
inline int lane_number() { return 0; }
inline void grid_barrier(unsigned int*) { everyone->arrive_and_wait(); }
template <class V> inline V now(const V* address) { return *(const volatile V*)address; }
template <class V> inline void exchange(V& a, V& b) { std::swap(a, b); }
template <class V> inline V from_lane(V value, int) { return value; }
template <class V> inline V sum_up_to_lane(V value) { return value; }
template <int, class V, class Op> inline V fold_lanes(V value, const Op&) { return value; }

template <class To, class From> inline To bits_as(From from) {
    To to;
    memcpy(&to, &from, sizeof(To));
    return to;
}
inline float __int_as_float(int bits) { return bits_as<float>(bits); }
inline int __float_as_int(float value) { return bits_as<int>(value); }
inline double __longlong_as_double(long long bits) { return bits_as<double>(bits); }
inline long long __double_as_longlong(double value) { return bits_as<long long>(value); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline int __popc(unsigned int bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }

template <class V> inline V atomicAdd(V* address, V value) { return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST); }
template <class V> inline V atomicOr(V* address, V value) { return __atomic_fetch_or(address, value, __ATOMIC_SEQ_CST); }
template <class V> inline V atomicExch(V* address, V value) { return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST); }
template <class V> inline V atomicCAS(V* address, V expected, V value) {
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}
template <class V, class Take> inline V replaced(V* address, V value, const Take& take) {
    V before = __atomic_load_n(address, __ATOMIC_SEQ_CST);
    while (take(value, before) && !__atomic_compare_exchange_n(address, &before, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    return before;
}
template <class V> inline V atomicMin(V* address, V value) {
    return replaced(address, value, [](V a, V b) { return a < b; });
}
template <class V> inline V atomicMax(V* address, V value) {
    return replaced(address, value, [](V a, V b) { return a > b; });
}

// Run a kernel by so many blocks.
template <class Kernel> inline void launched(unsigned int blocks, const Kernel& kernel) {
    std::barrier<> all(blocks);
    everyone = &all;
    gridDim.x = blocks;
    std::vector<std::thread> threads;
    for (unsigned int b = 0; b < blocks; ++b)
        threads.emplace_back([&kernel, b] {
            blockIdx.x = b;
            kernel();
            everyone->arrive_and_drop();
        });
    for (auto& each : threads) each.join();
}
