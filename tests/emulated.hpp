// CUDA's threads on the host, for tests of kernels that several GPUs run together: what they do, not how fast.
//
// A block is a thread of the host, and its threads are contexts that take turns whenever they wait for each other. So
// `__shared__` is `thread_local`. Grids of several GPUs run side by side, in memory that is the same for all.

#include <ucontext.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __builtin_assume(fact)
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(...)
#define __shared__ static thread_local

struct int4 {
    int x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

struct Extent {
    unsigned int x, y, z;
};
struct uchar2 {
    unsigned char x, y;
};
struct uint2 {
    unsigned int x, y;
};
static thread_local unsigned long long dynamic_memory[1 << 14];  // what a launch asks for beside __shared__
static thread_local Extent threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {
struct Warp {
    unsigned long long values[32];
    unsigned int arrived, turn;
};
struct Block {
    ucontext_t scheduler;
    std::vector<ucontext_t> threads;
    std::vector<char> ended;
    std::vector<Warp> warps;
    unsigned int alive, arrived, turn;
    bool any[2];
};
static thread_local Block* block;

inline void yield() {
    const unsigned int own = threadIdx.x;
    swapcontext(&block->threads[own], &block->scheduler);
    threadIdx.x = own;
}

// Whoever comes last lets the others go on.
inline void warp_meets() {
    Warp& warp = block->warps[threadIdx.x / 32];
    const unsigned int turn = warp.turn;
    if (++warp.arrived == 32) {
        warp.arrived = 0;
        ++warp.turn;
    } else
        while (warp.turn == turn) yield();
}
inline bool block_meets(bool value) {
    const unsigned int turn = block->turn;
    block->any[turn % 2] |= value;
    if (++block->arrived == block->threads.size()) {
        block->arrived = 0;
        block->any[(turn + 1) % 2] = false;
        ++block->turn;
    } else
        while (block->turn == turn) yield();
    return block->any[turn % 2];
}
template <class V> V of_lane(V value, unsigned int lane) {
    Warp& warp = block->warps[threadIdx.x / 32];
    std::memcpy(warp.values + threadIdx.x % 32, &value, sizeof(V));
    warp_meets();
    V found;
    std::memcpy(&found, warp.values + lane % 32, sizeof(V));
    warp_meets();
    return found;
}
template <class V> V load(const V* address) {
    yield();
    std::this_thread::yield();
    return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
template <class V> void store(V* address, V value) { __atomic_store_n(address, value, __ATOMIC_RELEASE); }

inline void entry(unsigned int high, unsigned int low, unsigned int number) {
    threadIdx.x = number;
    (*reinterpret_cast<const std::function<void()>*>((unsigned long long)high << 32 | low))();
    block->ended[number] = 1;
}

// Bytes of what each parameter points to, 0 for a struct or anything; or of a value, negative.
template <class P> constexpr int width() {
    if constexpr (!std::is_pointer_v<P>) return -(int)sizeof(P);
    else if constexpr (std::is_arithmetic_v<std::remove_pointer_t<P>>) return (int)sizeof(std::remove_pointer_t<P>);
    else return 0;
}
template <class... A> void tell_widths(void (*)(A...), int* widths) { ((*widths++ = width<A>()), ...); }

template <class... A> void launch(void (*kernel)(A...), unsigned int grid, unsigned int threads, void** given) {
    const std::function<void()> call = [=] {
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            kernel(*static_cast<A*>(given[i])...);
        }(std::index_sequence_for<A...>{});
    };
    const auto work = [&](unsigned int number) {
        Block own{};
        block = &own;
        own.threads.resize(threads);
        own.ended.assign(threads, 0);
        own.warps.resize((threads + 31) / 32);
        blockIdx.x = number, blockDim.x = threads, gridDim.x = grid;
        constexpr std::size_t STACK = 1 << 16;
        std::vector<char> stacks(STACK * threads);
        const unsigned long long at = reinterpret_cast<unsigned long long>(&call);
        for (unsigned int t = 0; t < threads; ++t) {
            getcontext(&own.threads[t]);
            own.threads[t].uc_stack.ss_sp = stacks.data() + STACK * t;
            own.threads[t].uc_stack.ss_size = STACK;
            own.threads[t].uc_link = &own.scheduler;
            makecontext(&own.threads[t], (void (*)())entry, 3, (unsigned int)(at >> 32), (unsigned int)at, t);
        }
        for (bool more = true; more;) {
            more = false;
            for (unsigned int t = 0; t < threads; ++t)
                if (!own.ended[t]) {
                    more = true;
                    threadIdx.x = t;
                    swapcontext(&own.scheduler, &own.threads[t]);
                }
        }
    };
    std::vector<std::thread> blocks;
    for (unsigned int number = 0; number < grid; ++number) blocks.emplace_back(work, number);
    for (auto& each : blocks) each.join();
}
}  // namespace emulated

inline void __syncthreads() { emulated::block_meets(false); }
inline int __syncthreads_or(int value) { return emulated::block_meets(value != 0); }
inline void __syncwarp() { emulated::warp_meets(); }
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_system() { __threadfence(); }

// A thread that says that nobody else is here does not wait.
inline unsigned int __activemask() { return 1u << threadIdx.x % 32; }
inline bool is_alone(unsigned int mask) { return mask == __activemask(); }

template <class V> V __shfl_sync(unsigned int mask, V value, int lane, int width = 32) {
    return is_alone(mask) ? value : emulated::of_lane(value, threadIdx.x % 32 / width * width + lane % width);
}
template <class V> V __shfl_xor_sync(unsigned int, V value, int mask) {
    return emulated::of_lane(value, (threadIdx.x % 32) ^ mask);
}
template <class V> V __shfl_up_sync(unsigned int, V value, unsigned int distance) {
    const unsigned int lane = threadIdx.x % 32;
    return emulated::of_lane(value, lane < distance ? lane : lane - distance);
}
template <class V> V __shfl_down_sync(unsigned int, V value, unsigned int distance, unsigned int width = 32) {
    const unsigned int lane = threadIdx.x % 32;
    return emulated::of_lane(value, lane % width + distance < width ? lane + distance : lane);
}
inline unsigned int __ballot_sync(unsigned int mask, int value) {
    if (is_alone(mask)) return value != 0 ? mask : 0;
    unsigned int all = 0;
    emulated::Warp& warp = emulated::block->warps[threadIdx.x / 32];
    warp.values[threadIdx.x % 32] = value != 0;
    emulated::warp_meets();
    for (int lane = 0; lane < 32; ++lane) all |= (unsigned int)warp.values[lane] << lane;
    emulated::warp_meets();
    return all;
}
inline int __all_sync(unsigned int mask, int value) { return __ballot_sync(mask, value == 0) == 0; }
inline int __any_sync(unsigned int mask, int value) { return __ballot_sync(mask, value) != 0; }

template <class V> V __ldcg(const V* address) {
    V found;
    __atomic_load(const_cast<V*>(address), &found, __ATOMIC_RELAXED);
    return found;
}
template <class V> void __stcs(V* address, V value) { *address = value; }
template <class V> V __ldcs(const V* address) { return *address; }
template <class V> V __ldg(const V* address) { return *address; }
inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __ffs(unsigned int x) { return __builtin_ffs((int)x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, int bits) {
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (bits & 31));
}

template <class V, class F> V changed(V* address, const F& change) {
    V before = __atomic_load_n(address, __ATOMIC_RELAXED), after;
    do after = change(before);
    while (!__atomic_compare_exchange_n(address, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return before;
}
template <class V, class W> V atomicAdd(V* address, W value) { return changed(address, [=](V x) { return V(x + value); }); }
template <class V, class W> V atomicSub(V* address, W value) { return changed(address, [=](V x) { return V(x - value); }); }
template <class V, class W> V atomicOr(V* address, W value) { return changed(address, [=](V x) { return V(x | value); }); }
template <class V, class W> V atomicAnd(V* address, W value) { return changed(address, [=](V x) { return V(x & value); }); }
template <class V, class W> V atomicMin(V* address, W value) {
    return changed(address, [=](V x) { return V(value) < x ? V(value) : x; });
}
template <class V, class W> V atomicMax(V* address, W value) {
    return changed(address, [=](V x) { return x < V(value) ? V(value) : x; });
}
template <class V> V atomicCAS(V* address, V expected, V value) {
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    return expected;
}
template <class V> V min(V a, V b) { return b < a ? b : a; }
template <class V> V max(V a, V b) { return a < b ? b : a; }

template <class To, class From> To with_bits_of(From value) {
    To found;
    std::memcpy(&found, &value, sizeof(To));
    return found;
}
inline float __int_as_float(int x) { return with_bits_of<float>(x); }
inline int __float_as_int(float x) { return with_bits_of<int>(x); }
inline float __uint_as_float(unsigned int x) { return with_bits_of<float>(x); }
inline unsigned int __float_as_uint(float x) { return with_bits_of<unsigned int>(x); }
inline double __longlong_as_double(long long x) { return with_bits_of<double>(x); }
inline long long __double_as_longlong(double x) { return with_bits_of<long long>(x); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dmul_rn(double a, double b) { return a * b; }
template <class V> V atomicExch(V* address, V value) { return changed(address, [=](V) { return value; }); }
