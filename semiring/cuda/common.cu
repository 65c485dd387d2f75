// What the kernels of every product share: words among lanes, sums over them, a search, rows of several pieces.

constexpr unsigned int ALL = 0xffffffffu;  // lanes of a warp

// What lane `lane` of `width` neighbours holds, asked by the lanes of `active`.
template <class V> __device__ __forceinline__ V of_lane_in(unsigned int active, V value, int lane, int width = 32) {
    constexpr int WORDS = (sizeof(V) + 3) / 4;
    unsigned int words[WORDS] = {};
    memcpy(words, &value, sizeof(V));
#pragma unroll
    for (int w = 0; w < WORDS; ++w) words[w] = __shfl_sync(active, words[w], lane, width);
    memcpy(&value, words, sizeof(V));
    return value;
}

// What a thread of a higher number holds, `distance` on within the same `width` threads.
template <class V> __device__ __forceinline__ V from_above(V value, int distance, int width) {
    constexpr int WORDS = (sizeof(V) + 3) / 4;
    unsigned int words[WORDS] = {};
    memcpy(words, &value, sizeof(V));
#pragma unroll
    for (int w = 0; w < WORDS; ++w) words[w] = __shfl_down_sync(ALL, words[w], distance, width);
    memcpy(&value, words, sizeof(V));
    return value;
}

// ⊕ of the totals of `width` neighbouring threads, in their order, in the first of them. All of a warp take part.
__device__ __forceinline__ Sum fold_lanes(Sum total, int width) {
    for (int distance = 1; distance < width; distance *= 2) {
        const Sum above = from_above(total, distance, width);
        if ((threadIdx.x & (2 * distance - 1)) == 0) total = combine(total, above);
    }
    return total;
}

// The last segment that starts at entry e or before.
__device__ __forceinline__ I segment_of(const I* starts, I count, I e) {
    I low = 0, high = count - 1;
    while (low < high) {
        const I middle = low + (high - low + 1) / 2;
        if (starts[middle] <= e) low = middle;
        else high = middle - 1;
    }
    return low;
}

// A row of several pieces, and the first and last of these.
struct SharedRow {
    I row, first, last;
};

constexpr I NO_ROW = -1;

// The last of pieces first … last that is `wanted`, as `first` is; those that are come first. It is mostly near the first.
template <class Wanted> __device__ __forceinline__ I last_piece(I first, I last, const Wanted& wanted) {
    I step = 1;
    for (; step <= last - first && wanted(first + step); step *= 2) first += step;
    if (step <= last - first) last = first + step - 1;
    while (first < last) {
        const I middle = first + (last - first + 1) / 2;
        if (wanted(middle)) first = middle;
        else last = middle - 1;
    }
    return first;
}

// The row that begins in piece t - 1 and goes on in piece t, or NO_ROW. Compressed rows are cut every `steps` steps of the
// path that visits a row's entries and then its end: piece t begins at row first_row[t] and entry t * steps - first_row[t].
__device__ __forceinline__ SharedRow share_before(const I* indptr, I nrows, const I* first_row, I pieces, int steps, I t) {
    const I r = first_row[t];
    const auto begins = [=](I piece) { return (long long)piece * steps - r; };  // of those that begin in row r
    if (r >= nrows || indptr[r] >= begins(t)) return {NO_ROW, 0, 0};
    if (first_row[t - 1] == r && indptr[r] < begins(t - 1)) return {NO_ROW, 0, 0};
    return {r, (I)(t - 1), last_piece(t, (I)(pieces - 1), [=](I piece) { return first_row[piece] == r; })};
}
