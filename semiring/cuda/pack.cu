// Columns packed in groups of 32 entries, and unpacked: see formats/packed.py
//
// A warp takes a group. Offsets of b bits are put together in shared memory, and their b words are written side by side.
// Traffic per entry: the column is read twice, and b / 8 bytes are written; back, the other way round.

constexpr int WARPS = THREADS / 32;
constexpr int GROUPS_OF_WARP = 4;  // groups that a warp loads together
constexpr int MOST_WORDS = sizeof(I) == 4 ? 32 : 66;  // of a group, and what an offset may reach beyond

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ int least_of_warp(int own) { return __reduce_min_sync(0xffffffffu, own); }
__device__ __forceinline__ int greatest_of_warp(int own) { return __reduce_max_sync(0xffffffffu, own); }
#endif

// The least and the greatest of what the lanes of a warp hold.
template <class N> __device__ __forceinline__ N least_of_warp(N own) {
    for (int distance = 16; distance > 0; distance /= 2) own = min(own, __shfl_xor_sync(0xffffffffu, own, distance));
    return own;
}
template <class N> __device__ __forceinline__ N greatest_of_warp(N own) {
    for (int distance = 16; distance > 0; distance /= 2) own = max(own, __shfl_xor_sync(0xffffffffu, own, distance));
    return own;
}

// Of each group its smallest column, and the bits of the largest offset from it. The last group repeats its last entry.
extern "C" __global__ void group_ranges(const I* __restrict__ indices, long long nnz, I* __restrict__ bases,
                                        I* __restrict__ widths) {
    const long long groups = (nnz + GROUP - 1) / GROUP;
    const int lane = threadIdx.x % 32;
    for (long long first = thread_number() / 32 * GROUPS_OF_WARP; first < groups; first += thread_count() / 32 * GROUPS_OF_WARP) {
        I own[GROUPS_OF_WARP];
#pragma unroll
        for (int k = 0; k < GROUPS_OF_WARP; ++k) own[k] = indices[min((first + k) * GROUP + lane, nnz - 1)];
#pragma unroll
        for (int k = 0; k < GROUPS_OF_WARP; ++k) {
            const I low = least_of_warp(own[k]), high = greatest_of_warp(own[k]);
            if (lane > 0 || first + k >= groups) continue;
            bases[first + k] = low;
            widths[first + k] = (I)(64 - __clzll((long long)(high - low)));
        }
    }
}

// Put an offset into words that are 0 where it goes, from a bit on.
__device__ __forceinline__ void put(unsigned int* words, int bit, int offset) {
    const unsigned int own = (unsigned int)offset, beyond = __funnelshift_l(own, 0u, bit);
    atomicOr(words + bit / 32, own << bit % 32);
    if (beyond != 0) atomicOr(words + bit / 32 + 1, beyond);
}
__device__ __forceinline__ void put(unsigned int* words, int bit, long long offset) {
    put(words, bit, (int)offset);
    if (offset >> 32 != 0) put(words, bit + 32, (int)(offset >> 32));
}

extern "C" __global__ void __launch_bounds__(THREADS)
pack_groups(const I* __restrict__ indices, long long nnz, const I* __restrict__ bases, const I* __restrict__ starts,
            int spare, unsigned int* __restrict__ words) {
    __shared__ unsigned int of_warp[WARPS][MOST_WORDS];
    const long long groups = (nnz + GROUP - 1) / GROUP;
    const int lane = threadIdx.x % 32;
    unsigned int* const own = of_warp[threadIdx.x / 32];
    for (long long first = thread_number() / 32 * GROUPS_OF_WARP; first < groups; first += thread_count() / 32 * GROUPS_OF_WARP) {
        I offsets[GROUPS_OF_WARP], begins[GROUPS_OF_WARP + 1];
#pragma unroll
        for (int k = 0; k <= GROUPS_OF_WARP; ++k) begins[k] = starts[min(first + k, groups)];
#pragma unroll
        for (int k = 0; k < GROUPS_OF_WARP; ++k)
            offsets[k] = indices[min((first + k) * GROUP + lane, nnz - 1)] - bases[min(first + k, groups - 1)];
#pragma unroll
        for (int k = 0; k < GROUPS_OF_WARP; ++k) {
            const int width = (int)(begins[k + 1] - begins[k]);  // 0 behind the last group
            for (int w = lane; w < width; w += 32) own[w] = 0;
            __syncwarp();
            if (width > 0) put(own, lane * width, offsets[k]);
            __syncwarp();
            for (int w = lane; w < width; w += 32) words[begins[k] + w] = own[w];
            if (first + k == groups - 1 && lane < spare) words[begins[k + 1] + lane] = 0;
            __syncwarp();
        }
    }
}

extern "C" __global__ void unpack_groups(const unsigned int* __restrict__ words, const I* __restrict__ bases,
                                         const I* __restrict__ starts, long long nnz, I* __restrict__ indices) {
    const Packed columns = {words, bases, starts};
    for (long long e = thread_number(); e < nnz; e += thread_count()) indices[e] = columns[(I)e];
}
