// A bit for each entry that a predicate holds for:   bit_e = apply(i, j, a_ij, row_i, col_j)
//
// A warp marks 32 consecutive entries by one vote. Traffic per entry: of a column, a value and a row's bounds what the
// predicate reads, of the vectors a sector each, and a bit written. element::apply is made from the predicate.

using E = element::T;

extern "C" __global__ void __launch_bounds__(THREADS)
mark_entries(const I* __restrict__ indptr, const I* __restrict__ first_row, long long nnz,
             const J* __restrict__ indices, const E* __restrict__ values, const E* __restrict__ of_row,
             const E* __restrict__ of_col, const bool* __restrict__ in_row, const bool* __restrict__ in_col,
             unsigned int* __restrict__ bits) {
    constexpr int GROUPS = TILE / 32;
    __shared__ I notes[READS_MAJOR ? THREADS / 32 : 1][32 * (GROUPS + 1)];
    const int lane = threadIdx.x % 32;
    for (long long t = thread_number() / 32; t * TILE < nnz; t += thread_count() / 32) {
        const long long begin = t * TILE, last = min(begin + TILE, nnz) - 1;
        I majors[GROUPS] = {}, minors[GROUPS];
        E own[GROUPS] = {};
        if (READS_MAJOR) rows_of_warp<GROUPS>(indptr, first_row, begin, last, notes[threadIdx.x / 32], majors);
#pragma unroll
        for (int k = 0; k < GROUPS; ++k) {
            const long long e = min(begin + k * 32 + lane, last);
            minors[k] = indices[e];
            if (values != nullptr) own[k] = values[e];
        }
#pragma unroll
        for (int k = 0; k < GROUPS; ++k) {
            const long long base = begin + k * 32;
            const I i = BY_COLUMNS ? minors[k] : majors[k], j = BY_COLUMNS ? majors[k] : minors[k];
            const bool holds = base + lane < nnz && (in_row == nullptr || in_row[i]) && (in_col == nullptr || in_col[j]) &&
                               element::apply(i, j, own[k], of_row == nullptr ? (E)0 : of_row[i],
                                              of_col == nullptr ? (E)0 : of_col[j]);
            const unsigned int word = __ballot_sync(0xffffffffu, holds);
            if (lane == 0 && base < nnz) bits[base / 32] = word;
        }
    }
}
