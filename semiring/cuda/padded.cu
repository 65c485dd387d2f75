// Products over ELL's slots, which lie slot by slot: neighbouring threads have neighbouring rows, so every load of
// indices and values is coalesced. Traffic per place, padding included: an index; per entry, a value and an x.

constexpr int SLOTS = 4;  // slots of a row that are under way at once

// y_i = ⊕_k a_ik ⊗ x_k: a thread folds a row. Padding is -1 and comes last.
extern "C" __global__ void gather_padded(const I* __restrict__ indices, const T* __restrict__ values, I step,
                                         I width, I nrows, const T* __restrict__ x, T* __restrict__ y) {
    for (long long i = thread_number(); i < nrows; i += thread_count()) {
        Sum total = EMPTY;
        for (I s = 0; s < width; s += SLOTS) {
            I at[SLOTS];
            T a[SLOTS], b[SLOTS];
            for (int k = 0; k < SLOTS; ++k) at[k] = s + k < width ? stream(indices + (s + k) * nrows + i) : (I)-1;
            for (int k = 0; k < SLOTS; ++k)
                if (at[k] >= 0) a[k] = stream(values + ((s + k) * nrows + i) * step), b[k] = fetch(x + at[k]);
            for (int k = 0; k < SLOTS; ++k)
                if (at[k] >= 0) total = combine(total, lift(term(a[k], b[k])));
            if (at[SLOTS - 1] < 0) break;
        }
        y[i] = finish(total);
    }
}

// y_k ⊕= a_ik ⊗ x_i: a thread scatters a row. y is the zero at first. For an idempotent ⊕, whose order does not show.
extern "C" __global__ void scatter_padded(const I* __restrict__ indices, const T* __restrict__ values, I step,
                                          I width, I nrows, const T* __restrict__ x, T* __restrict__ y) {
    for (long long i = thread_number(); i < nrows; i += thread_count()) {
        const T weight = x[i];
        if (weight == ZERO) continue;
        for (I s = 0; s < width; ++s) {
            const I k = stream(indices + s * nrows + i);
            if (k < 0) break;
            const T t = product(stream(values + (s * nrows + i) * step), weight);
            if (t != ZERO) atomic_add(y + k, t);
        }
    }
}

// y_k ⊕= a_ik ⊗ x_i over a list of entries: a thread for each, in the order of i. y is the zero at first.
extern "C" __global__ void scatter_list(const I* __restrict__ outer, const I* __restrict__ inner,
                                        const T* __restrict__ values, I step, I nnz, const T* __restrict__ x,
                                        T* __restrict__ y) {
    for (long long e = thread_number(); e < nnz; e += thread_count()) {
        const T t = product(stream(values + e * step), fetch(x + stream(outer + e)));
        if (t != ZERO) atomic_add(y + stream(inner + e), t);
    }
}
