// Masked products that stop at the first term:   y_i = ⊕_k a_ik ⊗ x_k where i is allowed, for a terminal ⊕
//
// Any value but the identity is final, so a row ends where it finds one: the pull of a breadth-first search. A thread
// looks through the first entries of its row, where nearly all rows that find something find it; the 32 lanes of a warp
// then look together through what is left of its longer rows, in the entries' order. Traffic per row: its two ends, and
// for each entry looked at an index and a sector of x.

constexpr int LOOKED_AT_ALONE = 8;

template <class Columns>
__device__ __forceinline__ void look_until_found(const I* indptr, I nrows, const Columns& columns, const T* values,
                                                 I step, const T* x, const bool* allowed, T* y) {
    constexpr unsigned int WARP = 0xffffffffu;
    const int lane = threadIdx.x % 32;
    for (long long first = thread_number() - lane; first < nrows; first += thread_count()) {
        const long long i = first + lane;
        I e = 0, end = 0;
        T found = ZERO;
        if (i < nrows && fetch(allowed + i)) {
            e = fetch(indptr + i);
            end = fetch(indptr + i + 1);
            for (const I alone = end - e < LOOKED_AT_ALONE ? end : e + LOOKED_AT_ALONE; e < alone && found == ZERO; ++e)
                found = finish(lift(term(stream(values + e * step), fetch(x + columns.streamed(e)))));
        }
        for (unsigned int left = __ballot_sync(WARP, found == ZERO && e < end); left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const I last = __shfl_sync(WARP, end, owner);
            for (I begin = __shfl_sync(WARP, e, owner); begin < last; begin += 32) {
                const bool inside = lane < last - begin;
                const I at = begin + lane;
                T t = ZERO;
                if (inside) t = finish(lift(term(stream(values + at * step), fetch(x + columns.streamed(at)))));
                const unsigned int hits = __ballot_sync(WARP, t != ZERO);
                if (hits == 0) continue;
                t = __shfl_sync(WARP, t, __ffs(hits) - 1);
                if (lane == owner) found = t;
                break;
            }
        }
        if (i < nrows) y[i] = found;
    }
}

extern "C" __global__ void gather_until_found(const I* __restrict__ indptr, I nrows, const J* __restrict__ indices,
                                              const T* __restrict__ values, I step, const T* __restrict__ x,
                                              const bool* __restrict__ allowed, T* __restrict__ y) {
    look_until_found(indptr, nrows, Indices{indices}, values, step, x, allowed, y);
}
