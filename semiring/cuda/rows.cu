// The rows of entries, by tiles: the first row of each tile of TILE entries is found once for a matrix. A warp takes a
// tile or more, and finds the rows of all of its entries together.

constexpr int TILE = 256;

// The last row among [low, high] that begins at entry e or before.
__device__ __forceinline__ I row_of(const I* indptr, I low, I high, I e) {
    while (low < high) {
        const I middle = low + (high - low + 1) / 2;
        if (indptr[middle] <= e) low = middle;
        else high = middle - 1;
    }
    return low;
}

// The first place among [low, high) of the ascending numbers that holds `value` or more; high if none does.
template <class N>
__device__ __forceinline__ I first_from(const N* ascending, I low, I high, I value) {
    while (low < high) {
        const I middle = low + (high - low) / 2;
        if (ascending[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The rows of a warp's 32 * ITEMS entries from `begin` on, `last` the last of them; row[k]: of entry begin + 32 k + lane.
// A row is noted at its first entry, and the greatest of the notes up to an entry is its row. Where there are many rows
// without entries, these are bisected and not walked through. noted: room for 32 * (ITEMS + 1), of this warp alone.
template <int ITEMS>
__device__ __forceinline__ void rows_of_warp(const I* indptr, const I* first_row, long long begin, long long last,
                                             I* noted, I* row) {
    const int lane = threadIdx.x % 32;
    const I low = first_row[begin / TILE], high = first_row[last / TILE + 1];
    if (high - low > 8 * 32 * ITEMS) {
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) row[k] = row_of(indptr, low, high, (I)min(begin + k * 32 + lane, last));
        return;
    }
    I* const own = noted + lane * (ITEMS + 1);  // entries side by side; one word is left out after them
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) own[k] = low;
    __syncwarp();
    for (I r = low + 1 + lane; r <= high; r += 32) {
        const long long at = max((long long)indptr[r] - begin, 0ll);
        if (at <= last - begin) atomicMax(noted + at + at / ITEMS, r);
    }
    __syncwarp();
    I upto = low;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) row[k] = upto = max(upto, own[k]);
    for (int distance = 1; distance < 32; distance *= 2) upto = max(upto, __shfl_up_sync(0xffffffffu, upto, distance));
    const I before = __shfl_up_sync(0xffffffffu, upto, 1);
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) own[k] = lane == 0 ? row[k] : max(row[k], before);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) row[k] = noted[k * 32 + lane + (k * 32 + lane) / ITEMS];
    __syncwarp();
}

// The first row of each tile, and of the last the last.
extern "C" __global__ void cut_entries(const I* __restrict__ indptr, I nrows, long long nnz, I* __restrict__ first_row,
                                       long long ntiles) {
    for (long long t = thread_number(); t <= ntiles; t += thread_count())
        first_row[t] = row_of(indptr, 0, nrows - 1, (I)min(t * TILE, nnz - 1));
}
