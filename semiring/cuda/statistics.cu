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

// The first row after `row`, or row itself, in which entry e lies: rows are looked at at growing distances, then halved.
__device__ __forceinline__ long long row_from(const I* __restrict__ indptr, long long row, long long n, long long e) {
    long long low = row, step = 1;
    while (low + step < n && indptr[low + step] <= e) {
        low += step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        if (low + step < n && indptr[low + step] <= e) low += step;
    return low;
}

constexpr int ENTRIES_EACH = 8;  // of a thread, one after the other: a sector of columns

// Sums over the entries (i, j, value) off the diagonal of a square matrix: of one number for a position and its reverse,
// added where i < j and taken off where i > j, and of one for these and the value; difference: 2 × 64 bits of each, which
// were 0. They are 0 if every entry has its reverse, and, but for one case in 2^128, only then [2].
// [2] M. Blum, S. Kannan, Designing programs that check their work, JACM 42(1), 1995 (sums compare multisets).
extern "C" __global__ void compare_reverses(const I* __restrict__ indptr, const J* __restrict__ indices,
                                            const T* __restrict__ values, I step, long long n, long long nnz,
                                            bool with_values, unsigned long long* difference) {
    unsigned long long sums[4] = {0, 0, 0, 0};
    for (long long first = thread_number() * ENTRIES_EACH; first < nnz; first += thread_count() * ENTRIES_EACH) {
        const long long last = first + ENTRIES_EACH < nnz ? first + ENTRIES_EACH : nnz;
        long long i = row_from(indptr, 0, n, first);
        for (long long e = first; e < last; ++e) {
            if (i + 1 < n && indptr[i + 1] <= e) i = row_from(indptr, i, n, e);
            const long long j = indices[e];
            if (i == j) continue;
            const unsigned long long of_both = mixed(mixed(i < j ? i : j) + (i < j ? j : i));
            const unsigned long long again = mixed(of_both);
            sums[0] += i < j ? of_both : 0 - of_both;
            sums[1] += i < j ? again : 0 - again;
            if (!with_values) continue;
            const T value = values[e * step] == 0 ? (T)0 : values[e * step];  // -0.0 is 0.0
            unsigned long long bits = 0;
            memcpy(&bits, &value, sizeof(T));
            const unsigned long long of_all = mixed(of_both ^ mixed(bits)), once_more = mixed(of_all);
            sums[2] += i < j ? of_all : 0 - of_all;
            sums[3] += i < j ? once_more : 0 - once_more;
        }
    }
    for (int k = 0; k < 4; ++k) {
        for (int distance = 16; distance > 0; distance /= 2) sums[k] += __shfl_xor_sync(WARP, sums[k], distance);
        if (threadIdx.x % 32 == 0 && sums[k] != 0) atomicAdd(difference + k, sums[k]);
    }
}
