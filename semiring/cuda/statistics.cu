// What is known of arrays as a whole, in one pass each: statistics of values, the longest row, symmetry.
//
// All together are one small unit, for a first call waits for the compiler. Every pass is bound by the memory that it
// reads; a result of a few bytes is what a launch leaves behind.

constexpr unsigned int WARP = 0xffffffffu;

// Of values other than `absent`, as doubles.
struct Moments {
    double sum, least, largest;
    unsigned long long count;
};

// Two of them as one.
__device__ __forceinline__ void join(Moments& to, const Moments& from) {
    to.sum += from.sum;
    to.least = fmin(to.least, from.least);
    to.largest = fmax(to.largest, from.largest);
    to.count += from.count;
}

// The moments of each block's values, in the order of its threads: the same every time. A thread sums every so many-th.
extern "C" __global__ void moments(const T* __restrict__ values, I step, long long n, T absent, Moments* of_block) {
    __shared__ Moments of_thread[THREADS];
    const double infinity = __longlong_as_double(0x7ff0000000000000LL);
    Moments own = {0, infinity, -infinity, 0};
    for (long long e = thread_number(); e < n; e += thread_count()) {
        const T value = values[e * step];
        if (value != absent) join(own, {(double)value, (double)value, (double)value, 1});
    }
    of_thread[threadIdx.x] = own;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) join(of_thread[threadIdx.x], of_thread[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) of_block[blockIdx.x] = of_thread[0];
}

// *longest = max_i (indptr_{i + 1} - indptr_i); it was 0.
extern "C" __global__ void longest_row(const I* __restrict__ indptr, long long nrows, I* longest) {
    I most = 0;
    for (long long i = thread_number(); i < nrows; i += thread_count()) most = max(most, indptr[i + 1] - indptr[i]);
    for (int distance = 16; distance > 0; distance /= 2) most = max(most, __shfl_xor_sync(WARP, most, distance));
    if (threadIdx.x % 32 == 0) atomicMax(longest, most);
}
