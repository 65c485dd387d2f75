// Sums over the threads of a block, in their order.

// The sum of what the threads of a lower number hold; all: of what all of the block hold. All of a block take part.
template <class N> __device__ __forceinline__ N sum_before(N own, N& all) {
    __shared__ N of_warp[THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    N upto = own;
    for (int distance = 1; distance < 32; distance *= 2) {
        const N below = __shfl_up_sync(0xffffffffu, upto, distance);
        if (lane >= distance) upto += below;
    }
    __syncthreads();  // what a call before this one left may still be read
    if (lane == 31) of_warp[warp] = upto;
    __syncthreads();
    N before = upto - own;
    all = 0;
    for (int w = 0; w < THREADS / 32; ++w) {
        if (w < warp) before += of_warp[w];
        all += of_warp[w];
    }
    return before;
}
