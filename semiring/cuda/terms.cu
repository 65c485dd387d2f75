// The terms of a product of two sparse matrices, counted before any is computed: rows in classes of so many terms.

// counts[e]: the terms of entry e of A, which are the entries of a row of B.
extern "C" __global__ void count_terms(const I* inner, long long nnz, const I* b_ends, long long* counts) {
    for (long long e = thread_number(); e < nnz; e += thread_count())
        counts[e] = (long long)(b_ends[inner[e] + 1] - b_ends[inner[e]]);
}

// lists: of nrows for each class, in any order.  told: the rows of each class, the terms of the last one's, those of all.
extern "C" __global__ void list_rows(const I* a_ends, long long nrows, const long long* before, I* lists,
                                     unsigned long long* told) {
    constexpr unsigned int WARP = 0xffffffffu;
    const int lane = threadIdx.x % 32;
    unsigned long long of_last = 0;
    for (long long first = thread_number() - lane; first < nrows; first += thread_count()) {
        const long long row = first + lane;
        const long long terms = row < nrows ? before[a_ends[row + 1]] - before[a_ends[row]] : 0;
        int own = terms > 0 ? 0 : -1;
        for (int i = 0; i + 1 < CLASSES; ++i) own += terms > MOST_TERMS[i];
        if (own == CLASSES - 1) of_last += terms;
        for (int i = 0; i < CLASSES; ++i) {
            const unsigned int some = __ballot_sync(WARP, own == i);
            if (some == 0) continue;
            unsigned long long at = 0;
            if (lane == __ffs(some) - 1) at = atomicAdd(told + i, (unsigned long long)__popc(some));
            at = __shfl_sync(WARP, at, __ffs(some) - 1);
            if (own == i) lists[i * nrows + at + __popc(some & ((1u << lane) - 1))] = (I)row;
        }
    }
    if (of_last != 0) atomicAdd(told + CLASSES, of_last);
    if (thread_number() == 0) told[CLASSES + 1] = before[a_ends[nrows]];
}
