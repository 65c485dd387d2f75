// Sorted entries folded row by row, whatever the rows' lengths:   y_i = ⊕_k a_ik ⊗ x_k
//
// A tile is STEPS steps of the path that visits a row's entries and then the row's end (merge path [1]), so a tile
// holds at most that many entries and that many rows: one hub row or a million empty ones cost what they must. The
// cuts depend on the matrix alone and are found once (cut_tiles). A tile is read from where a memory sector begins,
// up to ALIGN - 1 entries early.
//
// A block takes a tile. Its threads load and multiply entries side by side, so that the streams of indices and values
// are coalesced and ITEMS gathers of x are under way in each thread, and put the terms into shared memory. Then rows
// are folded there, in order: by a thread each where rows are short on average, else by eight; the few that are much
// longer are left to a warp each. What a tile knows of a row that another tile begins or ends goes to the tile's two
// places in `parts`, which join_rows folds in order: no atomics, so that a floating sum comes out the same every time.
//
// Traffic per entry: an index, a value and a gathered x; per row, an offset and a y. Indices and values are marked
// to leave the cache first, for x to stay. What bounds it is the gather: 32 bytes from the L2 for 4 of x.
//
// [1] D. Merrill, M. Garland, Merge-based parallel sparse matrix-vector multiplication, SC, 2016.

constexpr int ENTRIES = THREADS * ITEMS;        // that a block reads
constexpr int STEPS = ENTRIES - ALIGN;
constexpr int LANES = 8;                        // threads that fold a row where rows are longer than MAX_ENTRIES_FOR_THREAD on average
constexpr int MAX_ENTRIES_FOR_THREAD = 12;
constexpr int SHORT_ENTRIES = 32;                       // entries of a row that one thread folds at most
constexpr int MEDIUM = 128;                     // and LANES threads
constexpr int LONGER = ENTRIES / SHORT_ENTRIES;         // rows of a tile that are longer, at most
constexpr int PADDED = ENTRIES + ENTRIES / 32;  // shared words, with one left out after every 32 against bank conflicts

__device__ __forceinline__ int padded(int i) { return i + (i >> 5); }

// ⊕ of terms [from, to), the share of one of `width` threads, whose shares lie one after the other.
__device__ __forceinline__ Sum fold_share(const Term* terms, int from, int to, int width) {
    const int each = (to - from + width - 1) / width, lane = threadIdx.x & (width - 1);
    const int begin = from + lane * each, end = min(begin + each, to);
    Sum total = EMPTY;
    for (int i = begin; i < end; ++i) total = combine(total, lift(terms[padded(i)]));
    return total;
}

struct Span {
    int from, to;  // within the tile
};

constexpr int NOWHERE = ENTRIES;

// Hand on what row q's terms make, which the first of WIDTH threads knows. Where `Rows` asks for it, with the first term
// that is that value, each thread looking through its share.
template <int WIDTH, class Rows>
__device__ __forceinline__ void put(const Rows& rows, const Term* terms, int q, Span span, Sum total, bool wanted) {
    const int lane = threadIdx.x & (WIDTH - 1);
    if constexpr (Rows::FINDS) {
        if constexpr (WIDTH > 1) total = of_lane_in(ALL, total, 0, WIDTH);
        const int each = (span.to - span.from + WIDTH - 1) / WIDTH;
        const int begin = span.from + lane * each, end = wanted ? min(begin + each, span.to) : begin;
        int at = begin;
        while (at < end && !(finish(lift(terms[padded(at)])) == finish(total))) ++at;
        if (at >= end) at = NOWHERE;
        for (int distance = WIDTH / 2; distance > 0; distance /= 2)
            at = min(at, __shfl_down_sync(ALL, at, distance, WIDTH));
        if (lane == 0 && wanted) rows.put(q, total, at);
    } else if (lane == 0 && wanted) {
        rows.put(q, total);
    }
}

// Fold the tile's `nrows` rows: rows.span(q) says where row q's terms lie, rows.put(q, total) takes what they make.
// `first` is the span of the thread's first row, asked for by the caller before it waited for the terms.
template <class Rows>
__device__ __forceinline__ void fold_tile(const Term* terms, const Rows& rows, int nrows, int lanes, Span first) {
    __shared__ short longer[LONGER];
    __shared__ int nlonger;
    if (threadIdx.x == 0) nlonger = 0;
    __syncthreads();
    Span span = first;
    if (lanes == 1) {
        for (int q = threadIdx.x; q < nrows; q += THREADS) {
            if (q >= THREADS) span = rows.span(q);
            if (span.to - span.from > SHORT_ENTRIES) longer[atomicAdd(&nlonger, 1)] = (short)q;
            else put<1>(rows, terms, q, span, fold_share(terms, span.from, span.to, 1), true);
        }
    } else {
        for (int base = 0; base < nrows; base += THREADS / LANES) {
            const int q = base + threadIdx.x / LANES;
            if (base > 0) span = q < nrows ? rows.span(q) : Span{0, 0};
            const bool is_longer = span.to - span.from > MEDIUM;
            const Sum total = fold_lanes(is_longer ? EMPTY : fold_share(terms, span.from, span.to, LANES), LANES);
            put<LANES>(rows, terms, q, span, total, q < nrows && !is_longer);
            if (threadIdx.x % LANES == 0 && is_longer) longer[atomicAdd(&nlonger, 1)] = (short)q;
        }
    }
    __syncthreads();
    for (int n = threadIdx.x / 32; n < nlonger; n += THREADS / 32) {
        span = rows.span(longer[n]);
        const Sum total = fold_lanes(fold_share(terms, span.from, span.to, 32), 32);
        put<32>(rows, terms, longer[n], span, total, true);
    }
}

__device__ __forceinline__ int lanes_for(int count, int nrows) { return count > MAX_ENTRIES_FOR_THREAD * nrows ? LANES : 1; }

// Put the terms of entries [base + early, base + count) into shared memory, that of entry base + i at i.
template <class Load> __device__ __forceinline__ void load_terms(Load load, I base, int early, int count, Term* terms) {
    Term loaded[ITEMS];
    if (count > early) load(base, early, count, loaded);
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        const int i = threadIdx.x + k * THREADS;
        if (i >= early && i < count) terms[padded(i)] = loaded[k];
    }
}

// Terms a ⊗ x. All columns and values are asked for before any x is, and all x before any is used.
template <class Columns> struct Products {
    Columns columns;
    const T* __restrict__ values;
    const T* __restrict__ x;
    I step;  // 1, or 0 where all entries have one value

    __device__ __forceinline__ void operator()(I base, int early, int count, Term* loaded) const {
        I at[ITEMS];
        T a[ITEMS], b[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            const I e = base + max(min((int)threadIdx.x + k * THREADS, count - 1), early);
            at[k] = columns.streamed(e);
            a[k] = stream(values + e * step);
        }
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) b[k] = fetch(x + at[k]);
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) loaded[k] = term(a[k], b[k]);
    }
};

// The entries themselves as terms.
struct Entries {
    const T* __restrict__ values;
    I step;

    __device__ __forceinline__ void operator()(I base, int early, int count, Term* loaded) const {
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            const I e = base + max(min((int)threadIdx.x + k * THREADS, count - 1), early);
            loaded[k] = alone(stream(values + e * step));
        }
    }
};

// --- rows given by their offsets ------------------------------------------------------------------------------------

// The number of rows that end within the first `steps` steps of the path.
__device__ __forceinline__ I rows_before(const I* indptr, I nrows, long long steps) {
    I low = 0, high = nrows;
    while (low < high) {
        const I middle = low + (high - low) / 2;
        if ((long long)indptr[middle + 1] + middle + 1 <= steps) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Where tiles begin: tile t at row first_row[t] and entry t * STEPS - first_row[t].
extern "C" __global__ void cut_tiles(const I* __restrict__ indptr, I nrows, I* __restrict__ first_row, I ntiles) {
    const long long steps = (long long)indptr[nrows] + nrows;
    for (long long t = thread_number(); t <= ntiles; t += thread_count())
        first_row[t] = rows_before(indptr, nrows, min(t * STEPS, steps));
}

// Rows row_begin … of a tile that holds entries [begin, end), and reads from entry base.
struct OffsetRows {
    static constexpr bool FINDS = false;
    const I* __restrict__ indptr;
    I row_begin, row_end, base, begin, end;
    T* y;
    Sum *lead, *tail;

    __device__ __forceinline__ Span span(int q) const {
        const I start = indptr[row_begin + q], stop = indptr[row_begin + q + 1];
        return {(int)(max(start, begin) - base), (int)(max(min(stop, end), begin) - base)};
    }
    __device__ __forceinline__ void put(int q, Sum total) const {
        const I r = row_begin + q;
        if (r == row_end) *tail = total;  // goes on in the next tile
        else if (q == 0 && indptr[r] < begin) *lead = total;
        else y[r] = finish(total);
    }
};

// Rows: OffsetRows, or a struct with that as its base and `more` behind it.
template <class Rows = OffsetRows, class Load, class... More>
__device__ __forceinline__ void fold_rows(Load load, const I* indptr, I nrows, const I* first_row, T* y, Sum* parts,
                                          More... more) {
    __shared__ Term terms[PADDED];
    const I t = blockIdx.x;
    const I row_begin = first_row[t], row_end = first_row[t + 1];
    const I begin = (I)((long long)t * STEPS - row_begin), base = begin & ~(I)(ALIGN - 1);
    const I end = t + 1 == gridDim.x ? indptr[nrows] : (I)((long long)(t + 1) * STEPS - row_end);
    const int nfolded = (int)(row_end - row_begin) + (row_end < nrows ? 1 : 0);  // with the row that goes on
    const int lanes = lanes_for((int)(end - begin), nfolded);
    Sum *const lead = parts + 2 * (size_t)t, *const tail = lead + 1;
    const OffsetRows offsets = {indptr, row_begin, row_end, base, begin, end, y, lead, tail};
    const Rows rows = {offsets, more...};
    const int q = threadIdx.x / lanes;
    const Span first = q < nfolded ? rows.span(q) : Span{0, 0};
    load_terms(load, base, (int)(begin - base), (int)(end - base), terms);
    fold_tile(terms, rows, nfolded, lanes, first);
}

extern "C" __global__ void __launch_bounds__(THREADS)
gather_compressed(const I* __restrict__ indptr, I nrows, const J* __restrict__ indices, const T* __restrict__ values,
                  I step, const T* __restrict__ x, const I* __restrict__ first_row, T* __restrict__ y,
                  Sum* __restrict__ parts) {
    fold_rows(Products<Indices>{{indices}, values, x, step}, indptr, nrows, first_row, y, parts);
}

extern "C" __global__ void __launch_bounds__(THREADS)
fold_compressed(const I* __restrict__ indptr, I nrows, const T* __restrict__ values, I step,
                const I* __restrict__ first_row, T* __restrict__ y, Sum* __restrict__ parts) {
    fold_rows(Entries{values, step}, indptr, nrows, first_row, y, parts);
}

// --- rows given entry by entry --------------------------------------------------------------------------------------

// The rows of a tile of a list: row q begins at starts[q].
struct ListedRows {
    static constexpr bool FINDS = false;
    const I* __restrict__ outer;  // of the tile's entries
    const short* starts;
    int last;                     // the number of the last row
    bool begun, continues;        // does the first row begin before the tile, the last one go on after it?
    T* y;
    Sum *lead, *tail;

    __device__ __forceinline__ Span span(int q) const { return {starts[q], starts[q + 1]}; }
    __device__ __forceinline__ void put(int q, Sum total) const {
        if (q == last && continues) *tail = total;
        else if (q == 0 && begun) *lead = total;
        else y[outer[starts[q]]] = finish(total);
    }
};

// Where rows begin among `count` entries, in order, and after them `count`. Returns the number of rows. The first entry
// begins one, if only a part.
__device__ __forceinline__ int find_starts(const I* outer, int count, short* starts) {
    __shared__ unsigned int begins[ENTRIES / 32];  // a bit for each entry
    __shared__ int before[ENTRIES / 32 + 1];       // the number of bits in the words before
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        const int i = threadIdx.x + k * THREADS;
        const bool is_start = i < count && (i == 0 || outer[i] != outer[i - 1]);
        const unsigned int bits = __ballot_sync(ALL, is_start);
        if (threadIdx.x % 32 == 0) begins[i / 32] = bits;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        int sum = 0;
        for (int first = 0; first < ENTRIES / 32; first += 32) {
            const int w = first + threadIdx.x, own = w < ENTRIES / 32 ? __popc(begins[w]) : 0;
            int upto = own;
            for (int distance = 1; distance < 32; distance *= 2) {
                const int below = __shfl_up_sync(ALL, upto, distance);
                if ((int)threadIdx.x >= distance) upto += below;
            }
            if (w < ENTRIES / 32) before[w] = sum + upto - own;
            sum += __shfl_sync(ALL, upto, 31);
        }
        if (threadIdx.x == 0) before[ENTRIES / 32] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        const int i = threadIdx.x + k * THREADS, lane = i % 32;
        const unsigned int bits = begins[i / 32];
        if (bits >> lane & 1) starts[before[i / 32] + __popc(bits & ((1u << lane) - 1))] = (short)i;
    }
    const int found = before[ENTRIES / 32];
    if (threadIdx.x == 0) starts[found] = (short)count;
    return found;
}

// Tile t holds entries [t * ENTRIES, (t + 1) * ENTRIES). y is the zero wherever a row has no entries.
extern "C" __global__ void __launch_bounds__(THREADS)
gather_list(const I* __restrict__ outer, const J* __restrict__ inner, const T* __restrict__ values, I step, I nnz,
            const T* __restrict__ x, T* __restrict__ y, Sum* __restrict__ parts) {
    __shared__ Term terms[PADDED];
    __shared__ short starts[ENTRIES + 1];
    const I t = blockIdx.x;
    const I begin = t * ENTRIES;
    const int count = (int)min((I)ENTRIES, nnz - begin);
    const I end = begin + count;
    load_terms(Products<Indices>{{inner}, values, x, step}, begin, 0, count, terms);
    const int nrows = find_starts(outer + begin, count, starts);
    __syncthreads();
    const bool begun = begin > 0 && outer[begin] == outer[begin - 1];
    const bool continues = end < nnz && outer[end] == outer[end - 1];
    Sum *const lead = parts + 2 * (size_t)t, *const tail = lead + 1;
    const ListedRows rows = {outer + begin, starts, nrows - 1, begun, continues, y, lead, tail};
    const int lanes = lanes_for(count, nrows), q = threadIdx.x / lanes;
    fold_tile(terms, rows, nrows, lanes, q < nrows ? rows.span(q) : Span{0, 0});
}

// --- rows that several tiles share ----------------------------------------------------------------------------------

// Fold a row's parts, a warp, its lanes in the tiles' order: its beginning is the tail of its first tile, its end the lead of
// its last. Only the first lane's total is that of the row.
__device__ __forceinline__ Sum joined(const SharedRow& row, const Sum* parts) {
    const I each = (row.last - row.first) / 32 + 1, begin = row.first + threadIdx.x % 32 * each;
    Sum total = EMPTY;
    for (I t = begin; t <= row.last && t < begin + each; ++t)
        total = combine(total, parts[2 * (size_t)t + (t < row.last ? 1 : 0)]);
    return fold_lanes(total, 32);
}

extern "C" __global__ void join_rows(const I* __restrict__ indptr, I nrows, const I* __restrict__ first_row, I ntiles,
                                     const Sum* __restrict__ parts, T* __restrict__ y) {
    for (long long t = 1 + thread_number() / 32; t < ntiles; t += thread_count() / 32) {
        const SharedRow row = share_before(indptr, nrows, first_row, ntiles, STEPS, (I)t);
        if (row.row == NO_ROW) continue;
        const Sum total = joined(row, parts);
        if (threadIdx.x % 32 == 0) y[row.row] = finish(total);
    }
}

// Likewise of a list, whose tiles have ENTRIES entries.
extern "C" __global__ void join_list(const I* __restrict__ outer, I ntiles, const Sum* __restrict__ parts,
                                     T* __restrict__ y) {
    const auto begins_in = [=](I t) { return outer[(size_t)t * ENTRIES]; };
    const auto ends_before = [=](I t) { return outer[(size_t)t * ENTRIES - 1]; };
    for (long long at = 1 + thread_number() / 32; at < ntiles; at += thread_count() / 32) {
        const I t = (I)at, r = begins_in(t);
        if (ends_before(t) != r || (t > 1 && ends_before(t - 1) == r)) continue;
        const I last = last_piece(t, (I)(ntiles - 1), [=](I tile) { return begins_in(tile) == r; });
        const Sum total = joined({r, (I)(t - 1), last}, parts);
        if (threadIdx.x % 32 == 0) y[r] = finish(total);
    }
}
