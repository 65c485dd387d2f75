// Products over segments of rows, each a list sorted by column:   y_i = ⊕_k a_ik ⊗ x_k
//
// A block takes an equal share of all entries. It keeps y of the segment it is in in shared memory, where it combines
// products by atomics, and adds it to y at the segment's end. Entries ascend by column, so neighbouring threads gather
// neighbouring x: of a sector, most is used. The atomics are to be cheap, hence shared, and read before they write.
// Traffic per entry: 2 bytes for the row, an index and a value; x once per segment, from the L2; y twice.
//
// The products across the segments gather x from one segment, which fits the L1 cache, and combine into y in order.
// For an idempotent ⊕, whose order does not show.

struct Share {
    I begin, end;
};

// The entries of this block: whole warps of them.
__device__ __forceinline__ Share share_of(I nnz) {
    const long long each = ((nnz + (long long)gridDim.x - 1) / gridDim.x + 31) / 32 * 32;
    const long long begin = min(blockIdx.x * each, (long long)nnz);
    return {(I)begin, (I)min(begin + each, (long long)nnz)};
}

// y[to[e]] ⊕= values[e] ⊗ x[from[e]] for the entries begin … end - 1.
template <class From, class To>
__device__ __forceinline__ void combine_products(const From* from, const To* to, const T* values, I step, I begin,
                                                 I end, const T* x, T* y) {
    from += begin, to += begin, values += begin * step;
    const I count = end - begin;
    for (I e = threadIdx.x; e < count; e += SEGMENT_THREADS * SEGMENT_ITEMS) {
        From source[SEGMENT_ITEMS];
        To target[SEGMENT_ITEMS];
        T a[SEGMENT_ITEMS], b[SEGMENT_ITEMS];
#pragma unroll
        for (int k = 0, at = 0; k < SEGMENT_ITEMS; ++k, at += SEGMENT_THREADS) {
            if (e + at >= count) break;
            source[k] = stream(from + e + at);
            target[k] = stream(to + e + at);
            a[k] = stream(values + (e + at) * step);
        }
#pragma unroll
        for (int k = 0, at = 0; k < SEGMENT_ITEMS; ++k, at += SEGMENT_THREADS)
            if (e + at < count) b[k] = fetch(x + source[k]);
#pragma unroll
        for (int k = 0, at = 0; k < SEGMENT_ITEMS; ++k, at += SEGMENT_THREADS) {
            if (e + at >= count) break;
            const T t = product(a[k], b[k]);
            if (t != ZERO) atomic_add(y + target[k], t);
        }
    }
}

// y_i = ⊕_k a_ik ⊗ x_k. y is the zero at first. Takes shared memory for `segment` values.
extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, sizeof(T) > 4 ? 1 : SEGMENT_BLOCKS)
gather_segments(const unsigned short* __restrict__ offsets, const I* __restrict__ indices,
                const T* __restrict__ values, I step, const I* __restrict__ starts, I count, I nnz, I segment,
                I nrows, const T* __restrict__ x, T* __restrict__ y) {
    extern __shared__ __align__(16) unsigned char memory[];
    T* const part = reinterpret_cast<T*>(memory);
    const Share mine = share_of(nnz);
    if (mine.begin == mine.end) return;
    I s = segment_of(starts, count, mine.begin);
    for (I begin = mine.begin; begin < mine.end; ++s) {
        const I end = min(mine.end, starts[s + 1]);
        if (begin == end) continue;  // an empty segment
        const I first = s * segment, rows = min(segment, nrows - first);
        for (I i = threadIdx.x; i < rows; i += SEGMENT_THREADS) part[i] = ZERO;
        __syncthreads();
        combine_products(indices, offsets, values, step, begin, end, x, part);
        __syncthreads();
        const bool whole = begin == starts[s] && end == starts[s + 1];
        for (I i = threadIdx.x; i < rows; i += SEGMENT_THREADS) {  // each thread clears the same ones next
            if (whole) y[first + i] = part[i];
            else if (part[i] != ZERO) atomic_add(y + first + i, part[i]);
        }
        begin = end;
    }
}

// y_k ⊕= a_ik ⊗ x_i. y is the zero at first.
extern "C" __global__ void __launch_bounds__(SEGMENT_THREADS, SEGMENT_BLOCKS)
scatter_segments(const unsigned short* __restrict__ offsets, const I* __restrict__ indices,
                 const T* __restrict__ values, I step, const I* __restrict__ starts, I count, I nnz, I segment,
                 const T* __restrict__ x, T* __restrict__ y) {
    const Share mine = share_of(nnz);
    if (mine.begin == mine.end) return;
    I s = segment_of(starts, count, mine.begin);
    for (I begin = mine.begin; begin < mine.end; ++s) {
        const I end = min(mine.end, starts[s + 1]);
        combine_products(offsets, indices, values, step, begin, end, x + s * segment, y);
        begin = end;
    }
}
