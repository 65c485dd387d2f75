// Some of a matrix's entries, moved together:   C = A⟨bits⟩,  A(I, J)
//
// A bit for each entry says whether it is wanted; a scan of the words' counts (scan.cu) tells where it goes. Rows of A may
// be taken in another order: then entry e of those rows is entry begins_r + e - indptr_r of A, r its row there.
// A warp takes a tile of entries, so a hub costs what its entries do. Chosen columns are bits too, which caches hold, and
// the new number of one is the count of bits before it. Traffic per entry looked at: a column and a bit; per entry
// taken: a column and a value, both read and written. V is a word of a value's size: nothing is computed with it.

constexpr int GROUPS = TILE / 32;  // of the 32 entries that a warp looks at together
constexpr int NOTES = 32 * (GROUPS + 1);

// Entries as they lie, or of rows that are taken in another order.
struct Source {
    const I* __restrict__ indptr;
    const I* __restrict__ first_row;
    const I* __restrict__ begins;  // null: as they lie
    long long nnz;

    // Where the entries of a tile lie in A: at[k] of the k-th group's in this lane.
    __device__ __forceinline__ void places(long long t, I* noted, I* at) const {
        const int lane = threadIdx.x % 32;
        const long long begin = t * TILE, last = min(begin + TILE, nnz) - 1;
        if (begins != nullptr) rows_of_warp<GROUPS>(indptr, first_row, begin, last, noted, at);
#pragma unroll
        for (int k = 0; k < GROUPS; ++k) {
            const I e = (I)min(begin + k * 32 + lane, last);
            at[k] = begins == nullptr ? e : begins[at[k]] + (e - indptr[at[k]]);
        }
    }
};

__device__ __forceinline__ bool has(const unsigned int* chosen, I k) { return chosen[k / 32] >> (k % 32) & 1; }

// The bits that the lanes of a warp have in one word, for the first of those lanes, and 0 for the others; before sm_80 each
// lane has its own. All of a warp take part.
__device__ __forceinline__ unsigned int of_word(I word, unsigned int own) {
#if __CUDA_ARCH__ >= 800
    const unsigned int peers = __match_any_sync(0xffffffffu, word), all = __reduce_or_sync(peers, own);
    return threadIdx.x % 32 == __ffs(peers) - 1 ? all : 0;
#else
    return own;
#endif
}

// A bit for every entry: is its column chosen?
extern "C" __global__ void __launch_bounds__(THREADS)
mark_chosen(const I* __restrict__ indptr, const I* __restrict__ first_row, const I* __restrict__ begins, long long nnz,
            const J* __restrict__ indices, const unsigned int* __restrict__ chosen, unsigned int* __restrict__ bits) {
    __shared__ I notes[THREADS / 32][NOTES];
    const Source source = {indptr, first_row, begins, nnz};
    const int lane = threadIdx.x % 32;
    for (long long t = thread_number() / 32; t * TILE < nnz; t += thread_count() / 32) {
        I at[GROUPS];
        source.places(t, notes[threadIdx.x / 32], at);
#pragma unroll
        for (int k = 0; k < GROUPS; ++k) at[k] = indices[at[k]];
#pragma unroll
        for (int k = 0; k < GROUPS; ++k) {
            const long long base = t * TILE + k * 32;
            const unsigned int word = __ballot_sync(0xffffffffu, base + lane < nnz && has(chosen, at[k]));
            if (lane == 0 && base < nnz) bits[base / 32] = word;
        }
    }
}

// Bits of A's entries that are set: those of the `count` given rows in the chosen columns, or without `chosen` in all,
// cleared. The rows' entries are counted by their indptr, so that the host need not know how many there are.
extern "C" __global__ void __launch_bounds__(THREADS)
clear_chosen(const I* __restrict__ indptr, const I* __restrict__ first_row, const I* __restrict__ begins, long long count,
             const J* __restrict__ indices, const unsigned int* __restrict__ chosen, unsigned int* __restrict__ bits) {
    __shared__ I notes[THREADS / 32][NOTES];
    const long long nnz = indptr[count];
    const Source source = {indptr, first_row, begins, nnz};
    const int lane = threadIdx.x % 32;
    for (long long t = thread_number() / 32; t * TILE < nnz; t += thread_count() / 32) {
        I at[GROUPS];
        source.places(t, notes[threadIdx.x / 32], at);
#pragma unroll
        for (int k = 0; k < GROUPS; ++k) {
            const bool inside = t * TILE + k * 32 + lane < nnz && (chosen == nullptr || has(chosen, indices[at[k]]));
            const unsigned int own = inside ? 1u << (at[k] % 32) : 0;
            const unsigned int all = of_word(at[k] / 32, own);
            if (all != 0) atomicAnd(bits + at[k] / 32, ~all);
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

// The wanted entries, or without bits all. chosen, numbers: of the columns, and the bits before each word; null where they
// keep their numbers. values: null where they need no copy.
extern "C" __global__ void __launch_bounds__(THREADS)
take_entries(const I* __restrict__ indptr, const I* __restrict__ first_row, const I* __restrict__ begins, long long nnz,
             const J* __restrict__ indices, const V* __restrict__ values, const unsigned int* __restrict__ chosen,
             const I* __restrict__ numbers, const unsigned int* __restrict__ bits, const I* __restrict__ before,
             J* __restrict__ new_indices, V* __restrict__ new_values) {
    __shared__ I notes[THREADS / 32][NOTES];
    const Source source = {indptr, first_row, begins, nnz};
    const int lane = threadIdx.x % 32;
    for (long long t = thread_number() / 32; t * TILE < nnz; t += thread_count() / 32) {
        I at[GROUPS], column[GROUPS], to[GROUPS];
        unsigned int taken = 0;  // a bit for each group
#pragma unroll
        for (int k = 0; k < GROUPS; ++k) {
            const long long base = t * TILE + k * 32;
            const unsigned int word = base >= nnz ? 0 : bits == nullptr ? 0xffffffffu : bits[base / 32];
            if (base + lane >= nnz || (word >> lane & 1) == 0) continue;
            taken |= 1u << k;
            to[k] = bits == nullptr ? (I)(base + lane) : before[base / 32] + (I)__popc(word & ((1u << lane) - 1));
        }
        if (__all_sync(0xffffffffu, taken == 0)) continue;
        source.places(t, notes[threadIdx.x / 32], at);
#pragma unroll
        for (int k = 0; k < GROUPS; ++k)
            if (taken >> k & 1) column[k] = indices[at[k]];
#pragma unroll
        for (int k = 0; k < GROUPS; ++k)
            if (taken >> k & 1) new_indices[to[k]] = chosen == nullptr ? column[k] : rank_of(chosen, numbers, column[k]);
        if (values == nullptr) continue;
#pragma unroll
        for (int k = 0; k < GROUPS; ++k)
            if (taken >> k & 1) new_values[to[k]] = values[at[k]];
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

// A bit for each place, the others being 0, and 1 for the host unless the places ascend.
extern "C" __global__ void choose_places(const I* __restrict__ places, long long count, unsigned int* __restrict__ chosen,
                                         long long* told) {
    const int lane = threadIdx.x % 32;
    for (long long first = thread_number() - lane; first < count; first += thread_count()) {
        const long long p = first + lane;
        const I at = places[min(p, count - 1)];
        const unsigned int all = of_word(at / 32, p < count ? 1u << (at % 32) : 0);
        if (all != 0) atomicOr(chosen + at / 32, all);
        if (told != nullptr && p > 0 && p < count && places[p - 1] >= at) *told = 1;
    }
}

// Of each row, where its entry in the column `minor` is, and a bit if there is one.
extern "C" __global__ void __launch_bounds__(THREADS)
find_minor(const I* __restrict__ indptr, long long nrows, const J* __restrict__ indices, I minor, I* __restrict__ at,
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
                                      const I* __restrict__ before, const V* __restrict__ values, J* __restrict__ rows,
                                      V* __restrict__ taken) {
    for (long long r = thread_number(); r < nrows; r += thread_count()) {
        if ((bits[r / 32] >> (r % 32) & 1) == 0) continue;
        const I to = rank_of(bits, before, r);
        rows[to] = (J)r;
        if (values != nullptr) taken[to] = values[at[r]];
    }
}

// `count` entries from `start` on.
extern "C" __global__ void copy_span(long long start, long long count, const J* __restrict__ indices,
                                     const V* __restrict__ values, J* __restrict__ new_indices,
                                     V* __restrict__ new_values) {
    for (long long e = thread_number(); e < count; e += thread_count()) {
        new_indices[e] = indices[start + e];
        if (values != nullptr) new_values[e] = values[start + e];
    }
}

// Of places, for the host: 1 if one is not in [0, bound), and 1 unless they ascend.
extern "C" __global__ void look_through(const I* __restrict__ places, long long count, unsigned long long bound,
                                        long long* outside, long long* descends) {
    for (long long p = thread_number(); p < count; p += thread_count()) {
        const I at = places[p];
        if ((unsigned long long)(long long)at >= bound) *outside = 1;
        if (p > 0 && places[p - 1] >= at) *descends = 1;
    }
}
