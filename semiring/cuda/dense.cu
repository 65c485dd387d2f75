// Products over every position of a matrix, absent ones too. Chunks of the vector are in shared memory, as Martín,
// Torres and Gavilanes have it [1], and every load of the matrix is coalesced. Traffic: the matrix, once; along the rows
// of those rows only whose operand is present. No atomics, and sums in an order that is always the same.
//
// [1] P. J. Martín, R. Torres, A. Gavilanes, CUDA solutions for the SSSP problem, ICCS 2009, section 5.

template <class V> struct CellOf { using type = V; };
template <> struct CellOf<bool> { using type = unsigned char; };  // 0, 1, or absent
using Cell = CellOf<T>::type;

constexpr int CHUNK = 1024;

__device__ __forceinline__ bool there(Cell a, Cell fill) { return a != fill && a == a; }  // fill may be NaN

// y_i = ⊕_k a_ik ⊗ x_k: a warp folds a row, and the rows of a block share a chunk of x. A row that a mask excludes is
// not read; without a mask, allowed is null.
extern "C" __global__ void __launch_bounds__(THREADS)
gather_dense(const Cell* __restrict__ values, Cell fill, I nrows, I ncols, const T* __restrict__ x,
             const bool* __restrict__ allowed, T* __restrict__ y) {
    __shared__ T chunk[CHUNK];
    constexpr int ROWS = THREADS / 32;
    const int lane = threadIdx.x % 32;
    for (long long first = blockIdx.x * (long long)ROWS; first < nrows; first += gridDim.x * (long long)ROWS) {
        const long long i = first + threadIdx.x / 32;
        const bool wanted = i < nrows && (allowed == nullptr || fetch(allowed + i));
        if (__syncthreads_or(wanted) == 0) {
            if (i < nrows && lane == 0) y[i] = ZERO;
            continue;
        }
        Sum total = EMPTY;
        for (long long begin = 0; begin < ncols; begin += CHUNK) {
            const int count = (int)min((long long)CHUNK, ncols - begin);
            __syncthreads();
            for (int k = threadIdx.x; k < count; k += THREADS) chunk[k] = x[begin + k];
            __syncthreads();
            if (!wanted) continue;
#pragma unroll 4
            for (int k = lane; k < count; k += 32) {
                const Cell a = stream(values + i * ncols + begin + k);
                if (there(a, fill)) total = combine(total, lift(term((T)a, chunk[k])));
            }
        }
        total = fold_lanes(total, 32);
        if (i < nrows && lane == 0) y[i] = finish(total);
    }
}

// parts_sk = ⊕_f a_ik ⊗ weights_f over the slab s of the listed rows i = rows_f, or, without a list, of all: a thread
// folds a column. A row whose weight is absent is not read.
extern "C" __global__ void __launch_bounds__(THREADS)
fold_rows_dense(const Cell* __restrict__ values, Cell fill, const I* __restrict__ rows, const T* __restrict__ weights,
                I count, I slab, I ncols, Sum* __restrict__ parts) {
    __shared__ T weight[THREADS];
    __shared__ I row[THREADS];
    const long long k = blockIdx.x * (long long)THREADS + threadIdx.x;
    const long long begin = blockIdx.y * (long long)slab, end = min((long long)count, begin + slab);
    Sum total = EMPTY;
    for (long long first = begin; first < end; first += THREADS) {
        const long long f = first + threadIdx.x;
        __syncthreads();
        if (f < end) {
            weight[threadIdx.x] = weights[f];
            row[threadIdx.x] = rows != nullptr ? rows[f] : (I)f;
        }
        __syncthreads();
        if (k >= ncols) continue;
        const int here = (int)min((long long)THREADS, end - first);
#pragma unroll 4
        for (int j = 0; j < here; ++j) {
            if (weight[j] == ZERO) continue;
            const Cell a = stream(values + row[j] * (long long)ncols + k);
            if (there(a, fill)) total = combine(total, lift(term((T)a, weight[j])));
        }
    }
    if (k < ncols) parts[blockIdx.y * (long long)ncols + k] = total;
}

// y_k = ⊕_s parts_sk, in the order of the slabs.
extern "C" __global__ void join_slabs(const Sum* __restrict__ parts, I slabs, I ncols, T* __restrict__ y) {
    for (long long k = thread_number(); k < ncols; k += thread_count()) {
        Sum total = EMPTY;
        for (I s = 0; s < slabs; ++s) total = combine(total, parts[s * (long long)ncols + k]);
        y[k] = finish(total);
    }
}
