// Long columns in pieces, so that all warps take part in a hub.

// The pieces of long columns. counter: how many, a zero before.
extern "C" __global__ void list_long_columns(const I* indptr, long long n, RowPiece* pieces, unsigned long long* counter) {
    for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
        const long long v = first + lane_number();
        const I begin = v < n ? indptr[v] : 0, size = v < n ? indptr[v + 1] - begin : 0;
        for (unsigned int left = __ballot_sync(WARP, size > LONG_COLUMN); left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const I start = from_lane(begin, owner), length = from_lane(size, owner), count = (length - 1) / LONG_COLUMN + 1;
            const unsigned long long at = places_for((unsigned int)count, counter);
            for (I i = lane_number(); i < count; i += 32)
                pieces[at + i] = {(I)(first + owner), start + i * LONG_COLUMN, length - i * LONG_COLUMN < LONG_COLUMN ? length - i * LONG_COLUMN : LONG_COLUMN};
        }
    }
}
