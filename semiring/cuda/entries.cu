// Some of a matrix's entries, moved together:   C = A⟨bits⟩,  A(I, J)
//
// A bit for each entry says whether it is wanted; a scan of the words' counts (scan.cu) tells where it goes. Rows of A may
// be taken in another order: then entry e of those rows is entry begins_r + e - indptr_r of A, r its row there.
// A warp takes 32 entries at a time, so a hub costs what its entries do. Traffic per entry looked at: a column and a bit; per entry
// taken: a column and a value, both read and written. V is a word of a value's size: nothing is computed with it.

// Entries as they lie, or of rows that are taken in another order. A warp walks along a tile.
struct Source {
    const I* __restrict__ indptr;
    const I* __restrict__ first_row;
    const I* __restrict__ begins;  // null: as they lie
    I low, high;

    __device__ __forceinline__ void start(long long t) {
        low = first_row[t];
        high = first_row[t + 1];
    }
    __device__ __forceinline__ I row(I e) {
        const I found = row_along(indptr, low, high, e);
        low = __shfl_sync(0xffffffffu, found, 31);
        return found;
    }
    __device__ __forceinline__ I place(I e, I r) const { return begins == nullptr ? e : begins[r] + (e - indptr[r]); }
};

// A bit for every entry: is its row among the numbered ones, and its column? `outside` turns the answer round. number[i]
// is negative for what is not numbered; null: all are.
extern "C" __global__ void __launch_bounds__(THREADS)
mark_places(const I* __restrict__ indptr, const I* __restrict__ first_row, const I* __restrict__ begins, long long nnz,
            const I* __restrict__ indices, const I* __restrict__ row_number, const I* __restrict__ col_number,
            bool outside, unsigned int* __restrict__ bits) {
    Source source = {indptr, first_row, begins};
    const bool by_rows = begins != nullptr || row_number != nullptr;
    const int lane = threadIdx.x % 32;
    for (long long t = thread_number() / 32; t * TILE < nnz; t += thread_count() / 32) {
        if (by_rows) source.start(t);
        for (long long base = t * TILE; base < min((t + 1) * TILE, nnz); base += 32) {
            const I e = (I)min(base + lane, nnz - 1);
            const I r = by_rows ? source.row(e) : (I)0;
            const bool inside = (row_number == nullptr || row_number[r] >= 0) &&
                                (col_number == nullptr || col_number[indices[source.place(e, r)]] >= 0);
            const unsigned int word = __ballot_sync(0xffffffffu, base + lane < nnz && inside != outside);
            if (lane == 0) bits[base / 32] = word;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
mark_flags(const bool* __restrict__ flags, long long nnz, unsigned int* __restrict__ bits) {
    for (long long base = (long long)blockIdx.x * THREADS; base < nnz; base += thread_count()) {
        const long long e = base + threadIdx.x;
        const unsigned int word = __ballot_sync(0xffffffffu, e < nnz && flags[e]);
        if (threadIdx.x % 32 == 0 && e < nnz) bits[e / 32] = word;
    }
}

// How many entries before entry e are wanted. before: of each word, and after the last.
__device__ __forceinline__ I rank_of(const unsigned int* bits, const I* before, long long e) {
    const int within = (int)(e % 32);
    const I words = before[e / 32];
    return within == 0 ? words : words + (I)__popc(bits[e / 32] & ((1u << within) - 1));
}

// Where the rows of the wanted entries begin.
extern "C" __global__ void rank_rows(const I* __restrict__ indptr, long long nrows, const unsigned int* __restrict__ bits,
                                     const I* __restrict__ before, I* __restrict__ ranks) {
    for (long long r = thread_number(); r <= nrows; r += thread_count()) ranks[r] = rank_of(bits, before, indptr[r]);
}

// The wanted entries, or without bits all. number: the new columns, or null. values: null where they need no copy.
extern "C" __global__ void take_entries(const I* __restrict__ indptr, const I* __restrict__ first_row,
                                        const I* __restrict__ begins, long long nnz, const I* __restrict__ indices,
                                        const V* __restrict__ values, const I* __restrict__ number,
                                        const unsigned int* __restrict__ bits, const I* __restrict__ before,
                                        I* __restrict__ new_indices, V* __restrict__ new_values) {
    Source source = {indptr, first_row, begins};
    const int lane = threadIdx.x % 32;
    for (long long t = thread_number() / 32; t * TILE < nnz; t += thread_count() / 32) {
        if (begins != nullptr) source.start(t);
        for (long long base = t * TILE; base < min((t + 1) * TILE, nnz); base += 32) {
            const unsigned int word = bits == nullptr ? 0xffffffffu : bits[base / 32];
            if (word == 0) continue;
            const I e = (I)min(base + lane, nnz - 1);
            const I at = begins == nullptr ? e : source.place(e, source.row(e));
            if (base + lane >= nnz || (word >> lane & 1) == 0) continue;
            const I to = bits == nullptr ? e : before[base / 32] + (I)__popc(word & ((1u << lane) - 1));
            const I k = indices[at];
            new_indices[to] = number == nullptr ? k : number[k];
            if (values != nullptr) new_values[to] = values[at];
        }
    }
}

// Of the rows that are taken, their lengths and where they begin in A.
extern "C" __global__ void row_spans(const I* __restrict__ rows, long long count, const I* __restrict__ indptr,
                                     I* __restrict__ lengths, I* __restrict__ begins) {
    for (long long q = thread_number(); q < count; q += thread_count()) {
        const I start = indptr[rows[q]];
        begins[q] = start;
        lengths[q] = indptr[rows[q] + 1] - start;
    }
}

// lengths_{rows_q} = the length of row q. lengths: zero elsewhere.
extern "C" __global__ void spread_lengths(const I* __restrict__ rows, long long count, const I* __restrict__ indptr,
                                          I* __restrict__ lengths) {
    for (long long q = thread_number(); q < count; q += thread_count()) lengths[rows[q]] = indptr[q + 1] - indptr[q];
}

// number_{places_p} = p, and 1 for the host unless the places ascend.
extern "C" __global__ void number_places(const I* __restrict__ places, long long count, I* __restrict__ number,
                                         long long* told) {
    for (long long p = thread_number(); p < count; p += thread_count()) {
        const I at = places[p];
        number[at] = (I)p;
        if (told != nullptr && p > 0 && places[p - 1] >= at) *told = 1;
    }
}

// Of each row, where its entry in the column `minor` is, and a bit if there is one.
extern "C" __global__ void __launch_bounds__(THREADS)
find_minor(const I* __restrict__ indptr, long long nrows, const I* __restrict__ indices, I minor, I* __restrict__ at,
           unsigned int* __restrict__ bits) {
    for (long long base = blockIdx.x * (long long)THREADS; base < nrows; base += thread_count()) {
        const long long r = base + threadIdx.x;
        bool found = false;
        if (r < nrows) {
            const I end = indptr[r + 1], e = first_from(indices, indptr[r], end, minor);
            found = e < end && indices[e] == minor;
            at[r] = e;
        }
        const unsigned int word = __ballot_sync(0xffffffffu, found);
        if (threadIdx.x % 32 == 0 && r < nrows) bits[r / 32] = word;
    }
}

// The rows with a bit, and the values of their entries. values: null where they need no copy.
extern "C" __global__ void take_found(const I* __restrict__ at, long long nrows, const unsigned int* __restrict__ bits,
                                      const I* __restrict__ before, const V* __restrict__ values, I* __restrict__ rows,
                                      V* __restrict__ taken) {
    for (long long r = thread_number(); r < nrows; r += thread_count()) {
        if ((bits[r / 32] >> (r % 32) & 1) == 0) continue;
        const I to = rank_of(bits, before, r);
        rows[to] = (I)r;
        if (values != nullptr) taken[to] = values[at[r]];
    }
}

// `count` entries from `start` on.
extern "C" __global__ void copy_span(long long start, long long count, const I* __restrict__ indices,
                                     const V* __restrict__ values, I* __restrict__ new_indices,
                                     V* __restrict__ new_values) {
    for (long long e = thread_number(); e < count; e += thread_count()) {
        new_indices[e] = indices[start + e];
        if (values != nullptr) new_values[e] = values[start + e];
    }
}

// 1 for the host unless the places ascend.
extern "C" __global__ void tell_descents(const I* __restrict__ places, long long count, long long* told) {
    for (long long p = thread_number() + 1; p < count; p += thread_count())
        if (places[p - 1] >= places[p]) *told = 1;
}
