// The rows of entries, by tiles: the first row of each tile of TILE entries is found once for a matrix. A warp takes a
// tile, 32 entries at a time, and finds their rows among the ends of the next 32 rows, which its lanes hold.

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
__device__ __forceinline__ I first_from(const I* ascending, I low, I high, I value) {
    while (low < high) {
        const I middle = low + (high - low) / 2;
        if (ascending[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The row of this lane's entry e: `low` or one after it, `high` at most. Entries ascend with the lanes. A lane looks among
// the ends of 32 rows, and where these are not enough, for there are empty rows, bisects. All of a warp take part.
__device__ __forceinline__ I row_along(const I* indptr, I low, I high, I e) {
    constexpr I NEVER = (I)(~0ull >> (65 - 8 * sizeof(I)));
    const int lane = threadIdx.x % 32;
    const I end = high - low > lane ? indptr[low + lane + 1] : NEVER;
    int ended = 0;
    for (int step = 16; step > 0; step /= 2)
        if (__shfl_sync(0xffffffffu, end, ended + step - 1) <= e) ended += step;
    if (__shfl_sync(0xffffffffu, end, ended) <= e) ++ended;
    return ended < 32 ? low + ended : row_of(indptr, low + 32, high, e);
}

// The first row of each tile, and of the last the last.
extern "C" __global__ void cut_entries(const I* __restrict__ indptr, I nrows, long long nnz, I* __restrict__ first_row,
                                       long long ntiles) {
    for (long long t = thread_number(); t <= ntiles; t += thread_count())
        first_row[t] = row_of(indptr, 0, nrows - 1, (I)min(t * TILE, nnz - 1));
}
