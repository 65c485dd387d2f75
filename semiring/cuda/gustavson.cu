// What the kernels of a product of two sparse matrices share, row by row of the first:   c_ij = ⊕_k a_ik ⊗ b_kj

constexpr int WARPS = THREADS / 32;

#if COUNTS
using Held = unsigned int;
__device__ __forceinline__ Held added_up(Held a, Held b) { return a + b; }
__device__ __forceinline__ T result(Held sum) { return (T)min((unsigned long long)sum, (unsigned long long)MOST); }
#else
using Held = Sum;
__device__ __forceinline__ Held added_up(Held a, Held b) { return combine(a, b); }
__device__ __forceinline__ T result(Held sum) { return finish(sum); }
#endif

// Of lanes with one column, `same`: ⊕ of what they hold, in their order, in the first of them.
__device__ __forceinline__ Held folded_like(unsigned int active, unsigned int same, Held held) {
    const int lane = threadIdx.x % 32;
    unsigned int others = (same & ((1u << lane) - 1)) == 0 ? same & (same - 1) : 0;
    unsigned int asking = __ballot_sync(active, others != 0);
    while (asking != 0) {
        const Held other = of_lane_in(active, held, others != 0 ? __ffs(others) - 1 : lane);
        if (others != 0) held = added_up(held, other);
        others &= others - 1;
        asking = __ballot_sync(active, others != 0);
    }
    return held;
}
