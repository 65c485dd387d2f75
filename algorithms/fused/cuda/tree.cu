// The shortest-path tree of distances d, as algorithms/shared/parents.py defines it, in one kernel.
//
// Round 0 deals all edges out: of its nearer tight predecessors a vertex takes the smallest. Only where some reached
// vertex is then without a parent, because an edge adds nothing, are there more rounds: those settled in the round before
// are listed, and offer themselves along their tight edges to the unsettled. Traffic of round 0, per edge: an index, a
// value, a gathered d.

struct Offer {
    static constexpr int PER_LANE = 2;
    Graph g;
    const T* d;
    I source, *parent;
    const I* settled;  // null in round 0, when nearer predecessors are taken; else who has a parent already
    T from;
    I u;
    I first;  // vertex of the first row

    __device__ __forceinline__ void row(I v, bool has) {
        u = first + v;
        from = has ? d[u] : ZERO;
    }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        I x[PER_LANE];
        T w[PER_LANE], reached[PER_LANE];
        UNROLLED(j, PER_LANE) {
            x[j] = inside[j] ? __ldcs(g.indices + place[j]) : 0;
            w[j] = inside[j] ? stream(g.values + place[j] * g.step) : ZERO;
        }
        UNROLLED(j, PER_LANE) reached[j] = d[x[j]];
        UNROLLED(j, PER_LANE) {
            const T a = from_lane(from, owner[j]);
            const I candidate = from_lane(u, owner[j]);
            if (!inside[j] || a == ZERO || w[j] == ZERO || reached[j] == ZERO || x[j] == source) continue;
            if (product(w[j], a) != reached[j]) continue;
            if (settled == nullptr ? better(a, reached[j]) : settled[x[j]] < 0) take_smaller(parent + x[j], candidate);
        }
    }
};

// Nobody has a parent at first.
extern "C" __global__ void start_tree(TreeControl* control, long long n, I* parent) {
    for (long long v = thread_number(); v < n; v += thread_count()) parent[v] = -1;
    if (thread_number() == 0) *control = TreeControl{};
}

// offered: (n,), needs no values.  ordered: no edge makes a path better, so a nearer vertex came earlier.  stop_at: rounds
// after which the launch ends, for the next to go on.
extern "C" __global__ void __launch_bounds__(TREE_THREADS, TREE_BLOCKS)
    tree(TreeControl* control, const I* indptr, const J* indices, const T* values, I step, I n, I nnz, const T* d, I source,
         bool ordered, I* parent, I* offered, I* rows, I* offsets, unsigned long long stop_at) {
    const Graph g{indptr, indices, values, step};
    const unsigned long long before = control->rounds;
    Offer offer{g, d, source, parent, nullptr, ZERO, 0, 0};
    if (before == 0) {
        if (ordered) deal_all_edges(indptr, n, nnz, offer);
        grid_barrier(&control->arrived);
        bool incomplete = false;
        for (long long v = thread_number(); v < n; v += thread_count())
            incomplete = incomplete || (v != source && parent[v] < 0 && d[v] != ZERO);
        if (incomplete) control->incomplete = 1;
        grid_barrier(&control->arrived);
        if (now(&control->incomplete) == 0) {
            if (thread_number() == 0) control->done = 1;
            return;
        }
        for (long long v = thread_number(); v < n; v += thread_count()) offered[v] = -1;
        grid_barrier(&control->arrived);
    }
    offer.settled = parent;
    offer.parent = offered;
    unsigned long long round = before;
    for (bool more = true; more && round < stop_at; ++round) {
        bool unsettled = false;
        const auto degree_of = [&](long long v) -> I {
            if (v >= n || d[v] == ZERO) return 0;
            const bool has = v == source || parent[v] >= 0;
            bool newly = has && round == 0;
            if (round > 0 && !has && offered[v] >= 0) {
                parent[v] = offered[v];
                newly = true;
            }
            unsettled = unsettled || !(has || newly);
            return newly ? indptr[v + 1] - indptr[v] : 0;
        };
        list_vertices(n, degree_of, rows, offsets, control->queue + round % 3);
        if (unsettled) control->unsettled = round + 1;
        if (thread_number() == 0) control->queue[(round + 1) % 3] = 0;
        grid_barrier(&control->arrived);
        const unsigned long long listed = now(control->queue + round % 3);
        more = now(&control->unsettled) == round + 1 && listed != 0;
        if (thread_number() == 0) control->done = !more;
        if (more) deal_listed(rows, offsets, listed, indptr, offer);
        grid_barrier(&control->arrived);
    }
    if (thread_number() == 0) control->rounds = round;
}

// Round 0 of a strip of rows, of which `first` is the first vertex: nobody has a parent before. d: of all vertices.
extern "C" __global__ void offer_strip(const I* indptr, const J* indices, const T* values, I step, I own_n, I nnz, I first,
                                       const T* d, I source, I* parent) {
    Offer offer{{indptr, indices, values, step}, d, source, parent, nullptr, ZERO, 0, first};
    deal_all_edges(indptr, own_n, nnz, offer);
}
