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

// A number for each vertex in which nothing is left of the vertices' order: the end of SplitMix64 [1].
// [1] G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA, 2014.
__device__ __forceinline__ unsigned long long mixed(unsigned long long v) {
    v = (v + 1) * 0x9e3779b97f4a7c15ull;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
    v = (v ^ v >> 27) * 0x94d049bb133111ebull;
    return v ^ v >> 31;
}

// *difference = Σ_e mixed(indices_e) - Σ_i (indptr_{i + 1} - indptr_i) mixed(i), modulo 2^64; it was 0. That is 0 if every
// column has as many entries as the row of its number, and hardly ever else.
extern "C" __global__ void compare_lengths(const I* __restrict__ indptr, const I* __restrict__ indices, long long n,
                                           long long nnz, unsigned long long* difference) {
    unsigned long long sum = 0;
    for (long long e = thread_number(); e < nnz; e += thread_count()) sum += mixed(indices[e]);
    for (long long i = thread_number(); i < n; i += thread_count())
        sum -= (unsigned long long)(indptr[i + 1] - indptr[i]) * mixed(i);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(WARP, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(difference, sum);
}

constexpr unsigned int POSITIONS = 1, VALUES = 2;

// In what two matrices with as many rows and entries differ, as bits of *difference; it was 0. Where positions differ, the
// bit of values says nothing.
extern "C" __global__ void compare_entries(const I* __restrict__ indptr, const I* __restrict__ other_indptr,
                                           long long n, const I* __restrict__ indices,
                                           const I* __restrict__ other_indices, const T* __restrict__ values, I step,
                                           const T* __restrict__ other_values, I other_step, long long nnz,
                                           unsigned int* difference) {
    unsigned int found = 0;
    for (long long i = thread_number(); i <= n; i += thread_count())
        if (indptr[i] != other_indptr[i]) found = POSITIONS;
    for (long long e = thread_number(); e < nnz && (found & POSITIONS) == 0; e += thread_count()) {
        if (indices[e] != other_indices[e]) found |= POSITIONS;
        if (values[e * step] != other_values[e * other_step]) found |= VALUES;
    }
    found = __any_sync(WARP, found & POSITIONS) ? POSITIONS : __any_sync(WARP, found) ? VALUES : 0;
    if (threadIdx.x % 32 == 0 && found != 0) atomicOr(difference, found);
}
