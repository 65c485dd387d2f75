// Does a cycle improve every time it is walked? Looked for among the edges that keep up each vertex's distance, in the
// middle of a fixpoint's run whose steps read what the step before has left.
//
//     p_v = the smallest u of those with the best d_u ⊗ a_uv that is better than d_v; or is d_v, and u was there earlier
//
// The edge that last improved v is such an edge, so every vertex that has improved has a p_v. As long as all of them lead to
// vertices that have not, each has the length of a path without a cycle, or worse. So a cycle that improves closes sooner
// or later [1], and one that closes improves: with no better d_u ⊗ a_uv each of its vertices would be earlier than the next.
//
// Where vertices lead is found by pointer jumping: two arrays are read and written in turns, log n times. All kernels are
// short ones without a barrier. Traffic: the matrix twice, and 16 log n bytes a vertex.
//
// [1] B. Cherkassky, A. Goldberg, Negative-cycle detection algorithms, Mathematical Programming 85, 1999.

// Where a vertex arrives after some steps, n where there is no way on, and the smallest vertex on its way there.
struct Way {
    I to, smallest;
};

// When vertices improved: after they were last expanded, if they are active.
struct Times {
    const unsigned int* active;
    const int* when;
    __device__ __forceinline__ int operator()(I v) const {
        return (active[v / 32] >> (v % 32) & 1) != 0 ? 0x7fffffff : when[v];
    }
};

// Calls say(x, t, u) for each edge that may keep up the distance of its end x.
template <class Say> struct KeepUp {
    static constexpr int PER_LANE = 2;
    Graph g;
    const T* d;
    Times time;
    T one;
    Say say;
    T from;
    I u;
    int then;

    __device__ __forceinline__ void row(I v, bool has) {
        u = v;
        from = has ? d[v] : ZERO;
        then = has ? time(v) : 0;
    }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        UNROLLED(j, PER_LANE) {
            const T a = from_lane(from, owner[j]);
            const I start = from_lane(u, owner[j]);
            const int earlier = from_lane(then, owner[j]);
            if (!inside[j] || a == ZERO) continue;
            const I x = g.indices[place[j]];
            const T t = product(g.values[place[j] * g.step], a), had = d[x];
            if (t == ZERO || !better(t, one)) continue;
            if (better(t, had) || (t == had && earlier < time(x))) say(x, t, start);
        }
    }
};

extern "C" __global__ void start_offers(long long n, T* best, I* parent, unsigned long long* smallest) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        best[v] = ZERO;
        parent[v] = -1;
    }
    if (thread_number() == 0) *smallest = ~0ull;
}

extern "C" __global__ void offer_values(const I* indptr, const J* indices, const T* values, I step, I n, I nnz, const T* d,
                                        const unsigned int* active, const int* when, T one, T* best) {
    const auto say = [=](I x, T t, I) { atomic_add(best + x, t); };
    KeepUp<decltype(say)> work{{indptr, indices, values, step}, d, {active, when}, one, say, ZERO, 0, 0};
    deal_all_edges(indptr, n, nnz, work);
}

extern "C" __global__ void offer_vertices(const I* indptr, const J* indices, const T* values, I step, I n, I nnz,
                                          const T* d, const unsigned int* active, const int* when, T one, const T* best,
                                          I* parent) {
    const auto say = [=](I x, T t, I u) {
        if (t == best[x]) take_smaller(parent + x, u);
    };
    KeepUp<decltype(say)> work{{indptr, indices, values, step}, d, {active, when}, one, say, ZERO, 0, 0};
    deal_all_edges(indptr, n, nnz, work);
}

// ways: (n + 1,), the last for where there is no way on.
extern "C" __global__ void start_ways(long long n, const I* parent, Way* ways) {
    for (long long v = thread_number(); v <= n; v += thread_count())
        ways[v] = {v < n && parent[v] >= 0 ? parent[v] : (I)n, (I)v};
}

// Twice as many steps.
extern "C" __global__ void follow(long long n, const Way* __restrict__ ways, Way* __restrict__ longer) {
    for (long long v = thread_number(); v <= n; v += thread_count()) {
        const Way way = ways[v], on = ways[way.to];
        longer[v] = {on.to, on.smallest < way.smallest ? on.smallest : way.smallest};
    }
}

// After n steps or more whoever has a way on is on a cycle, of which the smallest vertex is wanted.
extern "C" __global__ void find_smallest(long long n, const Way* ways, unsigned long long* smallest) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        const I to = ways[v].to;
        if (to < n && (unsigned long long)ways[to].smallest < now(smallest))
            atomicMin(smallest, (unsigned long long)ways[to].smallest);
    }
}

// The values of listed edges, which the matrix has.
extern "C" __global__ void values_at(const I* indptr, const J* indices, const T* values, I step, long long count,
                                     const I* rows, const I* columns, T* found) {
    for (long long i = thread_number(); i < count; i += thread_count()) {
        found[i] = values[place_of(indptr, Indices{indices}, rows[i], columns[i]) * step];
    }
}
