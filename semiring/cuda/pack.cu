// Columns packed in groups of 32 entries, and unpacked: see formats/packed.py
//
// A warp takes a group. Offsets of b bits are put together in shared memory, and their b words are written side by side.
// Traffic per entry: the column is read twice, and b / 8 bytes are written; back, the other way round.

constexpr int WARPS = THREADS / 32;
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
    for (long long g = thread_number() / 32; g < groups; g += thread_count() / 32) {
        const I own = indices[min(g * GROUP + lane, nnz - 1)], low = least_of_warp(own), high = greatest_of_warp(own);
        if (lane == 0) {
            bases[g] = low;
            widths[g] = (I)(64 - __clzll((long long)(high - low)));
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
pack_groups(const I* __restrict__ indices, long long nnz, const I* __restrict__ bases, const I* __restrict__ starts,
            int spare, unsigned int* __restrict__ words) {
    __shared__ unsigned int of_warp[WARPS][MOST_WORDS];
    const long long groups = (nnz + GROUP - 1) / GROUP;
    const int lane = threadIdx.x % 32;
    unsigned int* const own = of_warp[threadIdx.x / 32];
    for (long long g = thread_number() / 32; g < groups; g += thread_count() / 32) {
        const I start = starts[g];
        const int width = (int)(starts[g + 1] - start);
        for (int w = lane; w < MOST_WORDS; w += 32) own[w] = 0;
        __syncwarp();
        if (width > 0) {
            const unsigned long long offset = (unsigned long long)(indices[min(g * GROUP + lane, nnz - 1)] - bases[g]);
            const int bit = lane * width, word = bit / 32, shift = bit % 32;
            const unsigned long long low = offset << shift;
            const unsigned int high = sizeof(I) == 4 || shift == 0 ? 0 : (unsigned int)(offset >> (64 - shift));
            if ((unsigned int)low != 0) atomicOr(own + word, (unsigned int)low);
            if (low >> 32 != 0) atomicOr(own + word + 1, (unsigned int)(low >> 32));
            if (high != 0) atomicOr(own + word + 2, high);
        }
        __syncwarp();
        for (int w = lane; w < width; w += 32) words[start + w] = own[w];
        if (g == groups - 1 && lane < spare) words[start + width + lane] = 0;
        __syncwarp();
    }
}

extern "C" __global__ void unpack_groups(const unsigned int* __restrict__ words, const I* __restrict__ bases,
                                         const I* __restrict__ starts, long long nnz, I* __restrict__ indices) {
    const Packed columns = {words, bases, starts};
    for (long long e = thread_number(); e < nnz; e += thread_count()) indices[e] = columns[(I)e];
}
