// Products over compressed sparse blocks, in two phases:   P_e = a_e ⊗ x_k,   then   y_i = ⊕_e P_e
//
// A gather of x at random costs 32 bytes from the L2 for each entry, a scatter of y likewise. Propagation blocking [1]
// costs 16 instead, and nothing at random: each phase keeps one segment of one vector in shared memory, and streams.
// Traffic per entry of 4-byte values: 2 + 4 read and 4 written by the first phase, 2 + 4 read by the second; of x and
// y, a segment for each block of threads that has to do with it.
//
// A piece is a run of entries of one matrix block, which a warp takes. Pieces are listed twice: by rows of blocks, as
// the entries lie, and by columns of blocks. A ⊗ x multiplies by columns, whose x is one segment, and folds by rows;
// x ⊗ A multiplies by rows and folds by columns: the same kernels. A block of threads takes a share of the pieces, of
// about equal cost, in order (cuts), and changes the segment where a new row or column of blocks begins (firsts).
// Warps begin at multiples of 32 entries, for whole sectors, and leave out what comes before their piece.
//
// gather_blocks does both in one phase, with x from the L2, where x fits it or neighbours share sectors of x.
//
// ⊕ is idempotent: atomics decide the order.
//
// [1] S. Beamer, K. Asanović, D. Patterson, Reducing PageRank communication via propagation blocking, IPDPS, 2017;
//     with segments of x in the cache: V. Kiriansky, Y. Zhang, S. Amarasinghe, Optimizing indirect memory references
//     with milk, PACT, 2016.

constexpr int WARPS = THREADS / 32;
constexpr int RESIDENT = sizeof(T) > 4 ? 1 : 2;  // blocks on a multiprocessor, each with its segment

// The opposite of `stream`.
template <class V> __device__ __forceinline__ void stream_out(V* address, V value) { __stcs(address, value); }
template <> __device__ __forceinline__ void stream_out(bool* address, bool value) {
    __stcs(reinterpret_cast<unsigned char*>(address), (unsigned char)value);
}

// A segment of a vector: all of the shared memory that a launch asks for.
__device__ __forceinline__ T* segment_memory() {
    extern __shared__ __align__(16) unsigned char memory[];
    return reinterpret_cast<T*>(memory);
}

// What a warp takes of the streams from `base` on: the entries early … end - 1, counted from there.
struct Span {
    I base;
    int early, end;
};

__device__ __forceinline__ Span span_of(I begin, I end) {
    const I base = begin / 32 * 32;
    return {base, (int)(begin - base), (int)(end - base)};
}

// Calls visit(s, p, q) for each segment that this block's share of the pieces has to do with, and its pieces p … q - 1.
template <class Visit>
__device__ __forceinline__ void each_segment(const I* firsts, I count, const I* cuts, Visit visit) {
    I p = cuts[blockIdx.x];
    const I last = cuts[blockIdx.x + 1];
    if (p == last) return;
    for (I s = segment_of(firsts, count, p); p < last; ++s) {
        const I q = min(last, firsts[s + 1]);
        if (p < q) visit(s, p, q);
        p = q;
    }
}

// P_e = a_e ⊗ x[segment + offsets[e]]. Takes shared memory for `block` values.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
multiply_blocks(const I* __restrict__ begins, const I* __restrict__ ends, const I* __restrict__ firsts, I count,
                const I* __restrict__ cuts, I block, const unsigned short* __restrict__ offsets,
                const T* __restrict__ values, I step, I extent, const T* __restrict__ x, T* __restrict__ products) {
    T* const part = segment_memory();
    each_segment(firsts, count, cuts, [&](I s, I p, I q) {
        const I first = s * block;
        const int size = (int)min(block, extent - first);
        __syncthreads();  // all have done with the segment before
#pragma unroll 4
        for (int i = threadIdx.x; i < size; i += THREADS) part[i] = fetch(x + first + i);
        __syncthreads();
        p += threadIdx.x / 32;
        I begin = p < q ? begins[p] : 0, end = p < q ? ends[p] : 0;
        for (; p < q; p += WARPS) {
            const Span span = span_of(begin, end);
            if (p + WARPS < q) begin = begins[p + WARPS], end = ends[p + WARPS];  // the next piece's, while this one's wait
            const unsigned short* const at = offsets + span.base;
            const T* const a = values + span.base * step;
            T* const to = products + span.base;
            for (int e = threadIdx.x % 32; e < span.end; e += 32 * ITEMS) {
                unsigned short from[ITEMS];
                T weight[ITEMS];
#pragma unroll
                for (int k = 0, i = e; k < ITEMS; ++k, i += 32) {
                    if (i < span.early || i >= span.end) continue;
                    from[k] = stream(at + i);
                    weight[k] = stream(a + i * step);
                }
#pragma unroll
                for (int k = 0, i = e; k < ITEMS; ++k, i += 32)
                    if (i >= span.early && i < span.end) stream_out(to + i, product(weight[k], part[from[k]]));
            }
        }
    });
}

// The terms of a piece: products that have been written, or that are made here.
struct Written {
    using Loaded = T;
    const T* products;
    __device__ __forceinline__ void advance(I, I base) { products += base; }
    __device__ __forceinline__ Loaded load(int i) const { return stream(products + i); }
    __device__ __forceinline__ T term(Loaded loaded) const { return loaded; }
};

struct Multiplied {
    struct Loaded {
        T a;
        unsigned short from;
    };
    const I* others;  // of each piece, the segment of x
    I block;
    const unsigned short* offsets;
    const T* values;
    I step;
    const T* x;
    __device__ __forceinline__ void advance(I p, I base) {
        offsets += base, values += base * step, x += others[p] * block;
    }
    __device__ __forceinline__ Loaded load(int i) const { return {stream(values + i * step), stream(offsets + i)}; }
    __device__ __forceinline__ T term(Loaded loaded) const { return product(loaded.a, fetch(x + loaded.from)); }
};

// y[segment + offsets[e]] ⊕= the term of e. y is the zero at first.
template <class Terms>
__device__ __forceinline__ void fold_pieces(const I* begins, const I* ends, const I* firsts, I count, const I* cuts,
                                            I block, const unsigned short* offsets, const Terms& terms, I extent,
                                            T* y) {
    T* const part = segment_memory();
    each_segment(firsts, count, cuts, [&](I s, I p, I q) {
        const bool whole = p == firsts[s] && q == firsts[s + 1];
        const I first = s * block;
        const int size = (int)min(block, extent - first);
        for (int i = threadIdx.x; i < size; i += THREADS) part[i] = ZERO;
        __syncthreads();
        for (p += threadIdx.x / 32; p < q; p += WARPS) {
            const Span span = span_of(begins[p], ends[p]);
            const unsigned short* const at = offsets + span.base;
            Terms of_piece = terms;
            of_piece.advance(p, span.base);
            for (int e = threadIdx.x % 32; e < span.end; e += 32 * ITEMS) {
                unsigned short to[ITEMS];
                typename Terms::Loaded loaded[ITEMS];
                T t[ITEMS];
#pragma unroll
                for (int k = 0, i = e; k < ITEMS; ++k, i += 32) {
                    if (i < span.early || i >= span.end) continue;
                    to[k] = stream(at + i);
                    loaded[k] = of_piece.load(i);
                }
#pragma unroll
                for (int k = 0, i = e; k < ITEMS; ++k, i += 32)
                    t[k] = i >= span.early && i < span.end ? of_piece.term(loaded[k]) : ZERO;
#pragma unroll
                for (int k = 0; k < ITEMS; ++k)
                    if (t[k] != ZERO) atomic_add(part + to[k], t[k]);
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < size; i += THREADS) {  // each thread clears the same ones next
            if (whole) y[first + i] = part[i];
            else if (part[i] != ZERO) atomic_add(y + first + i, part[i]);
        }
    });
}

// y_i = ⊕ of the products that multiply_blocks has written. Takes shared memory for `block` values.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
fold_blocks(const I* __restrict__ begins, const I* __restrict__ ends, const I* __restrict__ firsts, I count,
            const I* __restrict__ cuts, I block, const unsigned short* __restrict__ offsets,
            const T* __restrict__ products, I extent, T* __restrict__ y) {
    fold_pieces(begins, ends, firsts, count, cuts, block, offsets, Written{products}, extent, y);
}

// y_i = ⊕_k a_ik ⊗ x_k at once. Takes shared memory for `block` values.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
gather_blocks(const I* __restrict__ begins, const I* __restrict__ ends, const I* __restrict__ firsts, I count,
              const I* __restrict__ cuts, I block, const unsigned short* __restrict__ offsets,
              const I* __restrict__ others, const unsigned short* __restrict__ sources, const T* __restrict__ values,
              I step, const T* __restrict__ x, I extent, T* __restrict__ y) {
    const Multiplied terms = {others, block, sources, values, step, x};
    fold_pieces(begins, ends, firsts, count, cuts, block, offsets, terms, extent, y);
}
