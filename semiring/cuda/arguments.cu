// A product of compressed rows and a vector, or a reduction of rows, that also tells which term each element is: the
// smallest k with a_ik ⊗ x_k = y_i, or a_ik = y_i, for a ⊕ that selects one of its operands.
//
// A tile folds its rows as without, see tiles.cu. Then the terms, which are in shared memory, are searched for what they
// made. A row that several tiles share has the argument of each tile's part beside the part.

struct ArgumentRows : OffsetRows {
    static constexpr bool FINDS = true;
    const J* __restrict__ indices;
    I *which, *parts_which;

    __device__ __forceinline__ void put(int q, Sum total, int at) const {
        const I r = row_begin + q, k = at == NOWHERE || finish(total) == ZERO ? -1 : indices[base + at];
        if (r == row_end) parts_which[2 * (size_t)blockIdx.x + 1] = k;
        else if (q == 0 && indptr[r] < begin) parts_which[2 * (size_t)blockIdx.x] = k;
        else which[r] = k;
        OffsetRows::put(q, total);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
gather_arguments(const I* __restrict__ indptr, I nrows, const J* __restrict__ indices, const T* __restrict__ values, I step,
                 const T* __restrict__ x, const I* __restrict__ first_row, T* __restrict__ y, Sum* __restrict__ parts,
                 I* __restrict__ which, I* __restrict__ parts_which) {
    fold_rows<ArgumentRows>(Products<Indices>{{indices}, values, x, step}, indptr, nrows, first_row, y, parts, indices,
                            which, parts_which);
}

// Likewise of the entries themselves.
extern "C" __global__ void __launch_bounds__(THREADS)
fold_arguments(const I* __restrict__ indptr, I nrows, const J* __restrict__ indices, const T* __restrict__ values, I step,
               const I* __restrict__ first_row, T* __restrict__ y, Sum* __restrict__ parts, I* __restrict__ which,
               I* __restrict__ parts_which) {
    fold_rows<ArgumentRows>(Entries{values, step}, indptr, nrows, first_row, y, parts, indices, which, parts_which);
}

// As join_rows.
extern "C" __global__ void join_arguments(const I* __restrict__ indptr, I nrows, const I* __restrict__ first_row, I ntiles,
                                          const Sum* __restrict__ parts, const I* __restrict__ parts_which,
                                          T* __restrict__ y, I* __restrict__ which) {
    const int lane = threadIdx.x % 32;
    for (long long at = 1 + thread_number() / 32; at < ntiles; at += thread_count() / 32) {
        const SharedRow row = share_before(indptr, nrows, first_row, ntiles, STEPS, (I)at);
        if (row.row == NO_ROW) continue;
        const I each = (row.last - row.first) / 32 + 1, begin = row.first + lane * each;
        Sum total = EMPTY;
        I k = -1;
        const auto take = [&](Sum part, I which_of_part) {
            const Sum both = combine(total, part);
            if (finish(both) != finish(total)) k = which_of_part;
            total = both;
        };
        for (I t = begin; t <= row.last && t < begin + each; ++t) {
            const size_t part = 2 * (size_t)t + (t < row.last ? 1 : 0);
            take(parts[part], parts_which[part]);
        }
        for (int distance = 1; distance < 32; distance *= 2) {
            const Sum above = from_above(total, distance, 32);
            const I which_above = __shfl_down_sync(ALL, k, distance);
            if ((lane & (2 * distance - 1)) == 0) take(above, which_above);
        }
        if (lane == 0) {
            y[row.row] = finish(total);
            which[row.row] = k;
        }
    }
}
