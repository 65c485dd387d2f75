// Two matrices' entries joined row by row:   C = A ⊕ B over the union,  C = A ⊗ B over the intersection
//
// The path that visits the entries of a row of A and of B in the order of their columns, A's first, and then the row's
// end, is cut into tiles of STEPS steps (merge path [1]), so hubs and empty rows cost what they must. A block loads a
// tile's columns side by side; a thread finds its place on the path by bisection and takes PATH_ITEMS steps in shared
// memory. One kernel counts what each tile makes, a scan tells where it goes, the other writes it in order.
// Traffic per entry: the columns twice, the values once, and what is made once.
//
// [1] O. Green, R. McColl, D. Bader, GPU merge path: a GPU merging algorithm, ICS 2012.

constexpr int PATH_ITEMS = 11;  // steps of a thread; odd, against bank conflicts
constexpr int STEPS = THREADS * PATH_ITEMS;

using E = element::T;

struct Position {
    I row, a;  // and entry b = step - row - a of B
};

// What of A and B lies in a tile, or all: entries [a_low, a_high) and [b_low, b_high).
struct Part {
    I a_low, a_high, b_low, b_high;
};

// The place on the path after `step` steps, in one of the rows [low, high] and of a part.
template <class A, class B>
__device__ __forceinline__ Position position(const I* a_indptr, const I* b_indptr, I low, I high, I nrows, long long step,
                                             const Part& part, const A& a_cols, const B& b_cols) {
    while (low < high) {  // the number of rows that end within the steps
        const I middle = low + (high - low) / 2;
        if ((long long)a_indptr[middle + 1] + b_indptr[middle + 1] + middle + 1 <= step) low = middle + 1;
        else high = middle;
    }
    if (low >= nrows) return {nrows, a_indptr[nrows]};
    const I a_begin = a_indptr[low], b_begin = b_indptr[low];
    const I along = (I)(step - low - a_begin - b_begin);  // steps within the row
    const I b_first = max(b_begin, part.b_low) - b_begin, b_last = min(b_indptr[low + 1], part.b_high) - b_begin;
    I from = max((I)(max(a_begin, part.a_low) - a_begin), (I)(along - b_last));
    I to = min((I)(min(a_indptr[low + 1], part.a_high) - a_begin), (I)(along - b_first));
    while (from < to) {  // entries of A among these steps
        const I middle = from + (to - from) / 2;
        if (a_cols[a_begin + middle] <= b_cols[b_begin + along - middle - 1]) from = middle + 1;
        else to = middle;
    }
    return {low, a_begin + from};
}

extern "C" __global__ void cut_path(const I* __restrict__ a_indptr, const I* __restrict__ a_cols,
                                    const I* __restrict__ b_indptr, const I* __restrict__ b_cols, I nrows,
                                    long long tiles, I* __restrict__ first_row, I* __restrict__ first_a) {
    const Part all = {0, a_indptr[nrows], 0, b_indptr[nrows]};
    const long long steps = (long long)all.a_high + all.b_high + nrows;
    for (long long t = thread_number(); t <= tiles; t += thread_count()) {
        const Position at = position(a_indptr, b_indptr, (I)0, nrows, nrows, min(t * STEPS, steps), all, a_cols, b_cols);
        first_row[t] = at.row;
        first_a[t] = at.a;
    }
}

// Columns of entries from `first` on, in shared memory.
struct Window {
    const I* columns;
    I first;
    __device__ __forceinline__ I operator[](I e) const { return columns[e - first]; }
};

__device__ __forceinline__ bool present(E value) { return !HAS_ZERO || value != ABSENT; }

// What a thread makes of its steps: entry (column, A's entry or -1, B's entry or -1), and the ends of rows.
template <class Make, class End>
__device__ __forceinline__ void walk(const I* a_indptr, const I* a_cols, const E* a_values, const unsigned int* stays, const I* b_indptr,
                                     const I* b_cols, const E* b_values, I nrows, const I* first_row, const I* first_a,
                                     I* shared, Make make, End end) {
    const long long t = blockIdx.x;
    const long long step = t * STEPS, last_step = min(step + STEPS, (long long)a_indptr[nrows] + b_indptr[nrows] + nrows);
    const I row_low = first_row[t], row_high = first_row[t + 1], a_low = first_a[t], a_high = first_a[t + 1];
    const I b_low = (I)(step - row_low - a_low), b_high = (I)(last_step - row_high - a_high);
    // An entry more of each, for the last step compares two; and one of A before, for the first may be B's of a pair.
    const I a_from = a_low > 0 ? a_low - 1 : (I)0;
    const I a_to = min(a_high + 1, a_indptr[nrows]), b_to = min(b_high + 1, b_indptr[nrows]);
    I* const a_shared = shared;
    I* const b_shared = shared + (a_to - a_from);
    for (I e = a_from + threadIdx.x; e < a_to; e += THREADS) a_shared[e - a_from] = a_cols[e];
    for (I e = b_low + threadIdx.x; e < b_to; e += THREADS) b_shared[e - b_low] = b_cols[e];
    __syncthreads();
    const Window of_a = {a_shared, a_from}, of_b = {b_shared, b_low};
    const Part part = {a_low, a_high, b_low, b_high};
    const long long own = min(step + threadIdx.x * (long long)PATH_ITEMS, last_step);
    const int steps = (int)(min(own + PATH_ITEMS, last_step) - own);
    if (steps == 0) return;
    const Position at = position(a_indptr, b_indptr, row_low, row_high, nrows, own, part, of_a, of_b);
    I row = at.row, a = at.a, b = (I)(own - row - a);
    I a_begin = a_indptr[row], a_end = a_indptr[row + 1], b_end = b_indptr[row + 1];
#pragma unroll
    for (int s = 0; s < PATH_ITEMS; ++s) {
        if (s >= steps) break;
        if (a < a_end && (b >= b_end || of_a[a] <= of_b[b])) {
            const bool pair = b < b_end && of_a[a] == of_b[b];
            if (!BOTH_ONLY) {
                if (pair || stays == nullptr || stays[a / 32] >> (a % 32) & 1) make(s, of_a[a], a, pair ? b : (I)-1);
            }
            else if (pair && present(a_values[a]) && present(b_values[b])) make(s, of_a[a], a, b);
            ++a;
        } else if (b < b_end) {
            if (!BOTH_ONLY && !(a > a_begin && of_a[a - 1] == of_b[b])) make(s, of_b[b], (I)-1, b);
            ++b;
        } else {
            end(s, row);
            if (++row < nrows) {
                a_begin = a_end;
                a_end = a_indptr[row + 1];
                b_end = b_indptr[row + 1];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
count_merged(const I* __restrict__ a_indptr, const I* __restrict__ a_cols, const E* __restrict__ a_values,
             const unsigned int* __restrict__ stays, const I* __restrict__ b_indptr, const I* __restrict__ b_cols, const E* __restrict__ b_values, I nrows,
             const I* __restrict__ first_row, const I* __restrict__ first_a, I* __restrict__ counts) {
    __shared__ I shared[STEPS + 3];
    I found = 0, all;
    walk(a_indptr, a_cols, a_values, stays, b_indptr, b_cols, b_values, nrows, first_row, first_a, shared,
         [&](int, I, I, I) { ++found; }, [](int, I) {});
    sum_before(found, all);
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(THREADS)
write_merged(const I* __restrict__ a_indptr, const I* __restrict__ a_cols, const E* __restrict__ a_values,
             const unsigned int* __restrict__ stays, const I* __restrict__ b_indptr, const I* __restrict__ b_cols, const E* __restrict__ b_values, I nrows,
             const I* __restrict__ first_row, const I* __restrict__ first_a, const I* __restrict__ before,
             I* __restrict__ indptr, I* __restrict__ indices, R* __restrict__ values) {
    __shared__ I shared[STEPS + 3];
    __shared__ R made[STEPS];
    I held[PATH_ITEMS];  // of each step the column of an entry, or the row that ends
    R results[PATH_ITEMS];
    unsigned int entries = 0, ends = 0;  // a bit for each step
    int all;
    walk(a_indptr, a_cols, a_values, stays, b_indptr, b_cols, b_values, nrows, first_row, first_a, shared,
         [&](int s, I column, I a, I b) {
             held[s] = column;
             results[s] = a < 0 ? (R)b_values[b] : b < 0 ? (R)a_values[a] : (R)element::apply(a_values[a], b_values[b]);
             entries |= 1u << s;
         },
         [&](int s, I row) {
             held[s] = row;
             ends |= 1u << s;
         });
    const int first = sum_before(__popc(entries), all);  // after which all have read the columns of A and B
    const I base = before[blockIdx.x];
    if (blockIdx.x == 0 && threadIdx.x == 0) indptr[0] = 0;
#pragma unroll
    for (int s = 0; s < PATH_ITEMS; ++s) {
        const int at = first + __popc(entries & ((1u << s) - 1));
        if (ends >> s & 1) indptr[held[s] + 1] = base + at;
        if (entries >> s & 1) {
            shared[at] = held[s];
            made[at] = results[s];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < all; i += THREADS) {
        indices[base + i] = shared[i];
        values[base + i] = made[i];
    }
}
