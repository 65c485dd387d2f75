// Everything folded into one value, in two passes: each block's values, and then what the blocks have.

// ⊕ over the block's threads, in thread 0.
__device__ __forceinline__ Sum fold_block(Sum total) {
    __shared__ Sum of_warp[THREADS / 32];
    total = fold_lanes(total, 32);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < THREADS / 32; ++w) total = combine(total, of_warp[w]);
    return total;
}

extern "C" __global__ void __launch_bounds__(THREADS)
fold_all(const T* __restrict__ values, I step, I count, Sum* __restrict__ partial) {
    Sum total = EMPTY;
    for (long long e = thread_number(); e < count; e += thread_count())
        total = combine(total, lift(alone(stream(values + e * step))));
    total = fold_block(total);
    if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(THREADS)
fold_partial(const Sum* __restrict__ partial, I count, T* __restrict__ result) {
    Sum total = EMPTY;
    for (I i = threadIdx.x; i < count; i += THREADS) total = combine(total, partial[i]);
    total = fold_block(total);
    if (threadIdx.x == 0) *result = finish(total);
}
