// Long columns in pieces, so that all warps take part in a hub.

// Piece i of a row that is cut into pieces of LENGTH entries.
template <int LENGTH> __device__ __forceinline__ RowPiece piece_of(I vertex, I start, I length, I i) {
    const I rest = length - i * LENGTH;
    return {vertex, start + i * LENGTH, rest < LENGTH ? rest : LENGTH};
}

// Lists the pieces of long columns. counter: how many, a zero before.
extern "C" __global__ void list_long_columns(const I* indptr, long long n, RowPiece* pieces, unsigned long long* counter) {
    for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
        const long long v = first + lane_number();
        const I begin = v < n ? indptr[v] : 0, size = v < n ? indptr[v + 1] - begin : 0;
        for (unsigned int left = __ballot_sync(WARP, size > LONG); left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const I start = from_lane(begin, owner), length = from_lane(size, owner), count = (length - 1) / LONG + 1;
            const unsigned long long at = places_for((unsigned int)count, counter);
            for (I i = lane_number(); i < count; i += 32)
                pieces[at + i] = piece_of<LONG>((I)(first + owner), start, length, i);
        }
    }
}
