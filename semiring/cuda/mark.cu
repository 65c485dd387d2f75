// A bit for each entry that a predicate holds for:   bit_e = apply(i, j, a_ij, row_i, col_j)
//
// A warp marks 32 consecutive entries by one vote. Traffic per entry: of a column, a value and a row's bounds what the
// predicate reads, of the vectors a sector each, and a bit written. element::apply is made from the predicate.

using E = element::T;

extern "C" __global__ void __launch_bounds__(THREADS)
mark_entries(const I* __restrict__ indptr, const I* __restrict__ first_row, long long nnz,
             const I* __restrict__ indices, const E* __restrict__ values, const E* __restrict__ of_row,
             const E* __restrict__ of_col, const bool* __restrict__ in_row, const bool* __restrict__ in_col,
             unsigned int* __restrict__ bits) {
    const int lane = threadIdx.x % 32;
    for (long long t = thread_number() / 32; t * TILE < nnz; t += thread_count() / 32) {
        I low = READS_MAJOR ? first_row[t] : (I)0;
        const I high = READS_MAJOR ? first_row[t + 1] : (I)0;
        for (long long base = t * TILE; base < min((t + 1) * TILE, nnz); base += 32) {
            const I e = (I)min(base + lane, nnz - 1), minor = indices[e];
            I major = 0;
            if (READS_MAJOR) {
                major = row_along(indptr, low, high, e);
                low = __shfl_sync(0xffffffffu, major, 31);
            }
            const I i = BY_COLUMNS ? minor : major, j = BY_COLUMNS ? major : minor;
            const bool holds =
                base + lane < nnz && (in_row == nullptr || in_row[i]) && (in_col == nullptr || in_col[j]) &&
                element::apply(i, j, values == nullptr ? (E)0 : values[e], of_row == nullptr ? (E)0 : of_row[i],
                               of_col == nullptr ? (E)0 : of_col[j]);
            const unsigned int word = __ballot_sync(0xffffffffu, holds);
            if (lane == 0) bits[base / 32] = word;
        }
    }
}
