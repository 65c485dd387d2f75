// Masked products along compressed rows, a thread a row:   y_i = ⊕_k a_ik ⊗ x_k where i is allowed
//
// The pull of Martín, Torres and Gavilanes' relax_U [1], with which tiles are compared. Traffic per entry of an allowed
// row: an index, a value, and of x as many sectors as there are entries, since neighbouring threads read far apart.
//
// [1] P. J. Martín, R. Torres, A. Gavilanes, CUDA solutions for the SSSP problem, ICCS 2009, LNCS 5544.

// From global memory alone: x and y may be the same to the compiler, so that no load goes through the read-only cache.
extern "C" __global__ void pull_threads(const I* indptr, I nrows, const J* indices, const T* values, I step,
                                        const T* x, const bool* allowed, T* y) {
    for (long long i = thread_number(); i < nrows; i += thread_count()) {
        Sum total = EMPTY;
        if (allowed[i])
            for (I e = indptr[i]; e < indptr[i + 1]; ++e)
                total = combine(total, lift(term(values[e * step], x[indices[e]])));
        y[i] = finish(total);
    }
}

// A row's end is its neighbour's beginning, and is read once, into shared memory; x through the read-only cache.
extern "C" __global__ void __launch_bounds__(THREADS)
pull_cached_threads(const I* __restrict__ indptr, I nrows, const J* __restrict__ indices,
                    const T* __restrict__ values, I step, const T* __restrict__ x,
                    const bool* __restrict__ allowed, T* __restrict__ y) {
    __shared__ I begins[THREADS + 1];
    for (long long first = blockIdx.x * (long long)THREADS; first < nrows; first += gridDim.x * (long long)THREADS) {
        const long long i = first + threadIdx.x;
        __syncthreads();
        if (i <= nrows) begins[threadIdx.x] = indptr[i];
        if (threadIdx.x == THREADS - 1 && i < nrows) begins[THREADS] = indptr[i + 1];
        __syncthreads();
        if (i >= nrows) continue;
        Sum total = EMPTY;
        if (fetch(allowed + i))
            for (I e = begins[threadIdx.x]; e < begins[threadIdx.x + 1]; ++e)
                total = combine(total, lift(term(stream(values + e * step), fetch(x + stream(indices + e)))));
        y[i] = finish(total);
    }
}
