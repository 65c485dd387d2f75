// Sparse by dense:   y_ic = ⊕_k a_ik ⊗ x_kc   for all columns c of X in one pass over the entries
//
// The rows' entries and ends are cut into chunks of CHUNK steps of the merge path, as in tiles.cu. LANES threads take a
// chunk and, side by side, LANES * WIDE columns of X and Y: an entry is read once by one of them and told to the
// others, and a row of X is one coalesced load. ROWS_UNDER_WAY rows of X are under way before the first is used. Rows that end in
// the chunk and began in it are written; what a chunk knows of a row that another begins or ends goes to the chunk's two
// rows of `parts`, which join_chunks folds in order: no atomics, so that a floating sum comes out the same every time.
//
// Traffic per entry: an index, a value, and a row of X, mostly from the L2; per row, an offset and a row of Y.
//
// With ARGUMENT, each element also gets the smallest k whose term it is, for a ⊕ that chooses one of its operands: a
// later term takes the place of an earlier one only if it changes the sum. -1 where the element is the zero.
//
// Source: C. Yang, A. Buluç, J. D. Owens, Design principles for sparse matrix multiplication on the GPU, Euro-Par 2018.

constexpr int ROWS_UNDER_WAY = 8;
constexpr int BLOCK_CHUNKS = THREADS / LANES;
constexpr int PER = LANES < ROWS_UNDER_WAY ? ROWS_UNDER_WAY / LANES : 1;  // entries that a lane reads at once

template <class V> struct alignas(sizeof(V) * WIDE) Several {
    V of[WIDE];
};

// Sums of WIDE columns, and which term each is.
struct Totals {
    Sum sum[WIDE];
    I term_of[ARGUMENT ? WIDE : 1];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int w = 0; w < WIDE; ++w) {
            sum[w] = EMPTY;
            if constexpr (ARGUMENT) term_of[w] = -1;
        }
    }
    __device__ __forceinline__ void take(int w, Sum other, I number) {
        const Sum both = combine(sum[w], other);
        if constexpr (ARGUMENT) {
            if (finish(both) != finish(sum[w])) term_of[w] = number;
        }
        sum[w] = both;
    }
    __device__ __forceinline__ void take(T a, const Several<T>& x, I number) {
#pragma unroll
        for (int w = 0; w < WIDE; ++w) take(w, lift(term(a, x.of[w])), number);
    }
};

// Where a chunk's sums go.
struct Target {
    T* y;
    I* which;
    Sum* parts;
    I* parts_which;
    I width;   // columns of Y
    I column;  // of this thread's first

    __device__ __forceinline__ void whole(I row, const Totals& totals) const {
        const long long at = row * (long long)width + column;
#pragma unroll
        for (int w = 0; w < WIDE; ++w) {
            if (column + w >= width) break;
            y[at + w] = finish(totals.sum[w]);
            if constexpr (ARGUMENT) which[at + w] = totals.term_of[w];
        }
    }
    __device__ __forceinline__ void part(long long number, const Totals& totals) const {
        const long long at = number * width + column;
#pragma unroll
        for (int w = 0; w < WIDE; ++w) {
            if (column + w >= width) break;
            parts[at + w] = totals.sum[w];
            if constexpr (ARGUMENT) parts_which[at + w] = totals.term_of[w];
        }
    }
};

// What lane `lane` of the thread's group holds.
template <class V> __device__ __forceinline__ V told_by(V value, int lane) {
    const unsigned int group = LANES == 32 ? ALL : ((1u << (LANES % 32)) - 1) << (threadIdx.x % 32 / LANES * LANES);
    return of_lane_in(group, value, lane, LANES);
}

__device__ __forceinline__ Several<T> row_of(const T* x, I width, I column, I k) {
    Several<T> found = {};
    if (column < width) found = *reinterpret_cast<const Several<T>*>(x + k * (long long)width + column);
    return found;
}

// The number of rows that end within the first `steps` steps of the path; where chunks begin: chunk t at row
// first_row[t] and entry t * CHUNK - first_row[t].
extern "C" __global__ void cut_chunks(const I* __restrict__ indptr, I nrows, I* __restrict__ first_row, I chunks) {
    const long long steps = (long long)indptr[nrows] + nrows;
    for (long long t = thread_number(); t <= chunks; t += thread_count()) {
        const long long until = min(t * CHUNK, steps);
        I low = 0, high = nrows;
        while (low < high) {
            const I middle = low + (high - low) / 2;
            if ((long long)indptr[middle + 1] + middle + 1 <= until) low = middle + 1;
            else high = middle;
        }
        first_row[t] = low;
    }
}

// X: (ncols, width), Y and `which`: (nrows, width), parts: (2 * chunks, width). WIDE divides width.
extern "C" __global__ void __launch_bounds__(THREADS)
multiply_columns(const I* __restrict__ indptr, I nrows, const J* __restrict__ indices, const T* __restrict__ values, I step,
                 const I* __restrict__ first_row, I chunks, const T* __restrict__ x, I width, T* __restrict__ y,
                 I* __restrict__ which, Sum* __restrict__ parts, I* __restrict__ parts_which) {
    const long long t = blockIdx.x * (long long)BLOCK_CHUNKS + threadIdx.x / LANES;
    if (t >= chunks) return;  // a whole group
    const int lane = threadIdx.x % LANES;
    const I column = (blockIdx.y * LANES + lane) * WIDE;
    const Target target = {y, which, parts, parts_which, width, column};
    I row = first_row[t];
    const I last_row = first_row[t + 1];
    I e = (I)(t * CHUNK - row);
    const I end = t + 1 == chunks ? indptr[nrows] : (I)((t + 1) * CHUNK - last_row);
    bool begun = row < nrows && indptr[row] < e;  // does the row begin in an earlier chunk?
    Totals totals;
    totals.clear();

    I seen = row;                                      // ends of rows seen … seen + LANES - 1 are in the lanes
    I ends = indptr[min((long long)row + lane + 1, (long long)nrows)];
    I stop = row < last_row ? told_by(ends, 0) : end;  // where the row ends, as far as the chunk goes
    const auto finish_rows = [&](I at) {               // write the rows that end at entry `at`
        while (row < last_row && stop == at) {
            if (begun) target.part(2 * t, totals);
            else target.whole(row, totals);
            begun = false;
            totals.clear();
            ++row;
            if (row - seen == LANES) {
                seen = row;
                ends = indptr[min((long long)row + lane + 1, (long long)nrows)];
            }
            stop = row < last_row ? told_by(ends, (int)(row - seen)) : end;
        }
    };
    finish_rows(e);
    I next_column[PER];
    T next_value[PER];
    const auto ask = [&](I from) {  // for the entries from there on, PER for each lane
#pragma unroll
        for (int p = 0; p < PER; ++p) {
            const I mine = min(from + lane + p * LANES, (I)(end - 1));
            next_column[p] = stream(indices + mine);
            next_value[p] = stream(values + mine * step);
        }
    };
    if (e < end) ask(e);
    while (e < end) {
        I col[PER];
        T value[PER];
#pragma unroll
        for (int p = 0; p < PER; ++p) col[p] = next_column[p], value[p] = next_value[p];
        const int count = (int)min((I)(PER * LANES), (I)(end - e));
        if (e + PER * LANES < end) ask(e + PER * LANES);
#pragma unroll 1
        for (int first = 0; first < count; first += ROWS_UNDER_WAY) {
            Several<T> xs[ROWS_UNDER_WAY];
            I at[ROWS_UNDER_WAY];
#pragma unroll
            for (int i = 0; i < ROWS_UNDER_WAY; ++i) {
                at[i] = told_by(col[PER == 1 ? 0 : i / LANES], (first + i) % LANES);
                xs[i] = row_of(x, width, column, at[i]);
            }
#pragma unroll
            for (int i = 0; i < ROWS_UNDER_WAY; ++i) {
                const T a = told_by(value[PER == 1 ? 0 : i / LANES], (first + i) % LANES);
                if (first + i >= count) break;
                totals.take(a, xs[i], at[i]);
                ++e;
                if (e == stop) finish_rows(e);
            }
        }
    }
    // What is left belongs to a row that goes on in the next chunk: the whole chunk, if it has begun before, too.
    if (row < nrows && row == last_row) target.part(2 * t + (begun ? 0 : 1), totals);
}

// A group of lanes for each row of several chunks and some columns: the row's beginning is the second part of its first
// chunk, then come the first parts of the chunks after it.
extern "C" __global__ void __launch_bounds__(THREADS)
join_chunks(const I* __restrict__ indptr, I nrows, const I* __restrict__ first_row, I chunks, I width,
            const Sum* __restrict__ parts, const I* __restrict__ parts_which, T* __restrict__ y, I* __restrict__ which) {
    for (long long c = 1 + thread_number() / 32; c < chunks; c += thread_count() / 32) {
        const SharedRow row = share_before(indptr, nrows, first_row, chunks, CHUNK, (I)c);
        if (row.row == NO_ROW) continue;
        for (I column = threadIdx.x % 32; column < width; column += 32) {
            Sum total = EMPTY;
            I term_of = -1;
            for (I t = row.first; t <= row.last; ++t) {
                const long long at = (2 * (long long)t + (t == row.first ? 1 : 0)) * width + column;
                const Sum both = combine(total, parts[at]);
                if constexpr (ARGUMENT) {
                    if (finish(both) != finish(total)) term_of = parts_which[at];
                }
                total = both;
            }
            const long long at = row.row * (long long)width + column;
            y[at] = finish(total);
            if constexpr (ARGUMENT) which[at] = term_of;
        }
    }
}
