// A minimum spanning forest of more edges than there is room for, each of which is read once.
//
//     MSF(E1 ∪ E2) = MSF(MSF(E1) ∪ E2)
//
// collect    edges of a part of the matrix go to a list behind the forest of those before them. An edge is left out where
//            lighter edges of that forest connect its ends. `sieve` has found out at which of a few weights each vertex
//            joins the tree of one vertex, the core; and the trees of all edges up to the last of these weights.
// span       what is listed becomes a forest, in place, by Boruvka's algorithm: every tree takes its lightest edge. Edges
//            are compared as (weight, smaller end, larger end): by one key, if these are 64 bits or fewer. Otherwise the
//            first 64 bits find candidates, and the ends one of these. Of an edge that is listed twice one is taken.
//
// Traffic over the bus: the part of the matrix, once. On the device, per listed edge: 16 bytes, two trees and two offers;
// per round that it is open: a place in a list, and the same again.

constexpr J MINUS = (J)1 << (8 * sizeof(J) - 1);

__device__ __forceinline__ I end_of(J v) { return v & ~MINUS; }
__device__ __forceinline__ unsigned long long pair_of(const Edge& edge) {
    return (unsigned long long)edge.u << 32 | (unsigned int)end_of(edge.v);
}

// Weights of so many bytes, as integers that compare as they do, unsigned.
struct Weights {
    const void* values;
    I step;
    int bytes;
    bool real;

    __device__ __forceinline__ unsigned long long at(I place, bool& minus) const {
        if (bytes == 1) return static_cast<const unsigned char*>(values)[place * step];
        long long bits = bytes == 4 ? static_cast<const int*>(values)[place * step]
                                    : static_cast<const long long*>(values)[place * step];
        const unsigned long long sign = bytes == 4 ? 1ull << 31 : 1ull << 63;
        minus = real && bits < 0 && ((unsigned long long)bits & (sign - 1)) == 0;
        if (real && bits < 0) bits = -(long long)((unsigned long long)bits & (sign - 1));
        return bytes == 4 ? (unsigned int)bits ^ (unsigned int)sign : (unsigned long long)bits ^ sign;
    }
};

// Turns what Weights::at has made of weights back.
extern "C" __global__ void unpack_edges(const Edge* list, long long count, int bytes, bool real, I* rows, I* ends,
                                        void* values) {
    for (long long i = thread_number(); i < count; i += thread_count()) {
        const Edge edge = list[i];
        rows[i] = edge.u;
        ends[i] = end_of(edge.v);
        if (bytes == 1) {
            static_cast<unsigned char*>(values)[i] = (unsigned char)edge.weight;
            continue;
        }
        const unsigned long long sign = bytes == 4 ? 1ull << 31 : 1ull << 63;
        unsigned long long bits = edge.weight ^ sign;
        if (real && (bits & sign) != 0) bits = ((0ull - bits) & (sign - 1)) | sign;
        if (edge.v < 0) bits = sign;
        if (bytes == 4) static_cast<unsigned int*>(values)[i] = (unsigned int)bits;
        else static_cast<unsigned long long*>(values)[i] = bits;
    }
}

__device__ __forceinline__ unsigned long long mixed(unsigned long long x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

constexpr unsigned char NEVER = 255;

// A sieve leaves edges out. level: for each vertex, the number of the first weight in `weights` up to which edges of the
// forest join it to the core, or NEVER.  tree: of edges up to the threshold.
struct Sieve {
    const unsigned char* level;
    const unsigned long long* weights;
    const I* tree;
    unsigned long long threshold;
};

struct Collect {
    static constexpr int PER_LANE = 4;
    Columns columns;
    Weights weights;
    int which;  // ALL_ENTRIES, UPPER or EVERY_OTHER
    unsigned long long least, most;  // of the weights that are wanted
    bool balanced;                   // is the balance wanted?
    I first;                         // the vertex of the first row
    Sieve sieve;
    Edge* list;
    unsigned long long* counter;
    unsigned long long balance[2];
    I u;
    unsigned char of_u;

    __device__ __forceinline__ void row(I v, bool) {
        u = first + v;
        of_u = sieve.level[u];
    }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        I x[PER_LANE], own[PER_LANE];
        unsigned long long w[PER_LANE];
        unsigned char level[PER_LANE], of_x[PER_LANE];
        bool wanted[PER_LANE], minus[PER_LANE];
        UNROLLED(j, PER_LANE) {
            own[j] = from_lane(u, owner[j]);
            level[j] = (unsigned char)from_lane((int)of_u, owner[j]);
            x[j] = inside[j] ? columns.streamed(place[j]) : own[j];
            minus[j] = false;
            w[j] = inside[j] ? weights.at(place[j], minus[j]) : 0;
        }
        UNROLLED(j, PER_LANE) {
            wanted[j] = x[j] != own[j] && (which == ALL_ENTRIES || (own[j] < x[j]) != (which == EVERY_OTHER && ((own[j] ^ x[j]) & 1)));
            const I low = own[j] < x[j] ? own[j] : x[j], high = own[j] < x[j] ? x[j] : own[j];
            if (balanced && x[j] != own[j]) {
                const unsigned long long h = mixed(mixed((unsigned long long)low << 32 | (unsigned int)high) + w[j]);
                const unsigned long long g = mixed(h + 0x9e3779b97f4a7c15ull);
                balance[0] += own[j] < x[j] ? h : 0ull - h;
                balance[1] += own[j] < x[j] ? g : 0ull - g;
            }
            wanted[j] = wanted[j] && w[j] >= least && w[j] <= most;
            const bool heavy = wanted[j] && level[j] != NEVER && w[j] > sieve.weights[level[j]];
            of_x[j] = heavy ? sieve.level[x[j]] : NEVER;
            own[j] = low;
            x[j] = high;
        }
        UNROLLED(j, PER_LANE) {
            if (of_x[j] != NEVER && w[j] > sieve.weights[of_x[j]]) wanted[j] = false;
            if (wanted[j] && w[j] > sieve.threshold && sieve.tree[own[j]] == sieve.tree[x[j]]) wanted[j] = false;
        }
        append(wanted, counter, [&](int j, unsigned long long at) {
            list[at] = {w[j], (J)own[j], (J)(minus[j] ? x[j] | MINUS : x[j])};
        });
    }
};

extern "C" __global__ void collect(StreamControl* control, const I* indptr, COLUMN_ARRAYS, const void* values, I step,
                                   int bytes, bool real, I n, I nnz, long long from, long long to, int which,
                                   unsigned long long least, unsigned long long most, bool balanced, I first,
                                   const unsigned char* level, const unsigned long long* levels, const I* tree,
                                   unsigned long long threshold, Edge* list) {
    Collect work{COLUMNS, {values, step, bytes, real}, which, least, most, balanced, first,
                 {level, levels, tree, threshold}, list, &control->count, {0, 0}, 0, NEVER};
    deal_edges_between(indptr, n, nnz, from, to, work);
    if (!balanced) return;
    for (int k = 0; k < 2; ++k) {
        const unsigned long long sum = sum_of_warp(work.balance[k]);
        if (lane_number() == 0 && sum != 0) atomicAdd(control->balance + k, sum);
    }
}

extern "C" __global__ void start_stream(StreamControl* control, long long n, I* tree, unsigned char* level) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        tree[v] = (I)v;
        level[v] = NEVER;
    }
    if (thread_number() == 0) {
        *control = StreamControl{};
        control->lightest = ~0ull;
    }
}

constexpr int OPEN_EDGES = 4;  // edges that a lane looks at together

// Keys of edges, in their order: a weight as a number of few bits, and as much of the two ends as fits.
struct Keys {
    int ends, shift, room;  // bits of two ends; bits below which all weights are equal; bits beside a weight
    unsigned long long lightest;

    __device__ __forceinline__ Keys(const StreamControl* control, int vertex) : ends(2 * vertex) {
        const unsigned long long differing = now(&control->differing);
        shift = differing == 0 ? 0 : __ffsll((long long)differing) - 1;
        lightest = now(&control->lightest) >> shift;
        room = differing == 0 ? 64 : __clzll((long long)((now(&control->heaviest) >> shift) - lightest));
    }
    __device__ __forceinline__ bool are_whole() const { return room >= ends; }
    __device__ __forceinline__ unsigned long long of(const Edge& edge) const {
        const unsigned long long weight = (edge.weight >> shift) - lightest;
        const unsigned long long both = (unsigned long long)edge.u << ends / 2 | (unsigned long long)end_of(edge.v);
        if (are_whole()) return weight << ends % 64 | both;
        return room == 0 ? weight : weight << room | both >> (ends - room);
    }
};

// An edge between two trees: its key, and its ends as one number.
struct Open {
    I a, b;
    unsigned long long key, pair;
};

// The list, while it becomes a forest. tree: the root of each vertex when it was last looked up.  parent: as in
// hooking.cu.  best: the lightest key offered to a tree.  fresh: is every vertex a tree?
struct Listed {
    const Edge* list;
    const Keys keys;
    I *tree, *parent;
    unsigned long long* best;
    bool fresh;

    __device__ __forceinline__ Open open(unsigned int at) const {
        const Edge edge = list[at];
        return {tree[edge.u], tree[end_of(edge.v)], keys.of(edge), pair_of(edge)};
    }

    // The roots of the asked vertices' trees now. No trees are joined meanwhile.
    __device__ __forceinline__ void look_up(const I* v, const bool* asks, I* root) const {
        if (fresh) {
            UNROLLED(j, OPEN_EDGES) root[j] = v[j];
            return;
        }
        I before[OPEN_EDGES];
        UNROLLED(j, OPEN_EDGES) before[j] = asks[j] ? tree[v[j]] : 0;
        UNROLLED(j, OPEN_EDGES) root[j] = asks[j] ? parent[before[j]] : 0;
        UNROLLED(j, OPEN_EDGES) {
            if (!asks[j] || root[j] == before[j]) continue;
            root[j] = root_of(parent, root[j]);
            tree[v[j]] = root[j];
        }
    }
};

// Tells the control what the listed weights are.
__device__ __forceinline__ void look_at_weights(StreamControl* control, const Edge* list, long long count) {
    if (count == 0) return;
    const unsigned long long first = list[0].weight;
    unsigned long long lightest = ~0ull, heaviest = 0, differing = 0;
    for (long long i = thread_number(); i < count; i += thread_count()) {
        const unsigned long long weight = list[i].weight;
        lightest = weight < lightest ? weight : lightest;
        heaviest = weight > heaviest ? weight : heaviest;
        differing |= weight ^ first;
    }
    lightest = least_of_warp(lightest);
    heaviest = ~least_of_warp(~heaviest);
    differing = bits_of_lanes(differing);
    if (lane_number() != 0) return;
    if (lightest < now(&control->lightest)) atomicMin(&control->lightest, lightest);
    if (heaviest > now(&control->heaviest)) atomicMax(&control->heaviest, heaviest);
    if ((differing & ~now(&control->differing)) != 0) atomicOr(&control->differing, differing);
}

// Edges between two trees offer their keys to both, and are listed; the others are left out from now on. from: which
// edges are looked at, so many; null for all from the first on, of weights on one side of the threshold.
__device__ __forceinline__ void offer_keys(const Listed& edges, const unsigned int* from, long long first, long long count,
                                           unsigned long long threshold, bool heavy, unsigned int* to,
                                           unsigned long long* counter) {
    for (long long base = first + thread_number() / 32 * 32 * OPEN_EDGES; base < count; base += thread_count() * OPEN_EDGES) {
        unsigned int at[OPEN_EDGES];
        I u[OPEN_EDGES], v[OPEN_EDGES];
        unsigned long long key[OPEN_EDGES];
        bool open[OPEN_EDGES];
        UNROLLED(j, OPEN_EDGES) {
            const long long i = base + 32 * j + lane_number();
            open[j] = i < count;
            at[j] = open[j] && from != nullptr ? from[i] : (unsigned int)i;
        }
        UNROLLED(j, OPEN_EDGES) {
            const Edge edge = open[j] ? edges.list[at[j]] : Edge{0, 0, 0};
            if (from == nullptr) open[j] = open[j] && (edge.weight > threshold) == heavy;
            key[j] = edges.keys.of(edge);
            u[j] = edge.u;
            v[j] = end_of(edge.v);
        }
        I a[OPEN_EDGES], b[OPEN_EDGES];
        edges.look_up(u, open, a);
        edges.look_up(v, open, b);
        unsigned long long of_a[OPEN_EDGES], of_b[OPEN_EDGES];
        UNROLLED(j, OPEN_EDGES) {
            open[j] = open[j] && a[j] != b[j];
            of_a[j] = open[j] ? now(edges.best + a[j]) : 0;
            of_b[j] = open[j] ? now(edges.best + b[j]) : 0;
        }
        UNROLLED(j, OPEN_EDGES) {
            if (key[j] < of_a[j]) atomicMin(edges.best + a[j], key[j]);
            if (key[j] < of_b[j]) atomicMin(edges.best + b[j], key[j]);
        }
        append(open, counter, [&](int j, unsigned long long place) { to[place] = at[j]; });
    }
}

// Every tree takes the edge whose whole key is its best. Nothing is offered `then` to what may be a tree in the next round.
__device__ __forceinline__ void take_lightest(const Listed& edges, const unsigned int* from, long long count,
                                              unsigned long long* then, unsigned int* chosen) {
    for (long long base = thread_number() / 32 * 32 * OPEN_EDGES; base < count; base += thread_count() * OPEN_EDGES) {
        unsigned int at[OPEN_EDGES];
        I a[OPEN_EDGES], b[OPEN_EDGES];
        bool taken[OPEN_EDGES];
        unsigned long long key[OPEN_EDGES];
        UNROLLED(j, OPEN_EDGES) {
            const long long i = base + 32 * j + lane_number();
            taken[j] = i < count;
            at[j] = taken[j] ? from[i] : 0;
        }
        UNROLLED(j, OPEN_EDGES) {
            a[j] = b[j] = 0;
            key[j] = 0;
            if (!taken[j]) continue;
            const Edge edge = edges.list[at[j]];
            key[j] = edges.keys.of(edge);
            a[j] = edges.fresh ? edge.u : edges.tree[edge.u];
            b[j] = edges.fresh ? end_of(edge.v) : edges.tree[end_of(edge.v)];
        }
        UNROLLED(j, OPEN_EDGES)
            taken[j] = taken[j] && (edges.best[a[j]] == key[j] || edges.best[b[j]] == key[j]);
        UNROLLED(j, OPEN_EDGES) {
            if (!taken[j]) continue;
            then[a[j]] = then[b[j]] = ~0ull;
            if (joined(edges.parent, a[j], b[j])) choose(chosen, at[j]);
        }
    }
}

// List the open edges whose key is the best of a tree as candidates, and offer their ends.
__device__ __forceinline__ void find_candidates(const Listed& edges, const unsigned int* from, long long count,
                                                unsigned long long* least, unsigned int* to,
                                                unsigned long long* counter) {
    for (long long base = thread_number() / 32 * 32 * OPEN_EDGES; base < count; base += thread_count() * OPEN_EDGES) {
        unsigned int at[OPEN_EDGES];
        bool best[OPEN_EDGES];
        UNROLLED(j, OPEN_EDGES) {
            const long long i = base + 32 * j + lane_number();
            best[j] = false;
            at[j] = 0;
            if (i >= count) continue;
            at[j] = from[i];
            const Open edge = edges.open(at[j]);
            const bool of_a = edge.key == edges.best[edge.a], of_b = edge.key == edges.best[edge.b];
            if (of_a && edge.pair < now(least + edge.a)) atomicMin(least + edge.a, edge.pair);
            if (of_b && edge.pair < now(least + edge.b)) atomicMin(least + edge.b, edge.pair);
            best[j] = of_a || of_b;
        }
        append(best, counter, [&](int j, unsigned long long place) { to[place] = at[j]; });
    }
}

// Every tree takes the one of its candidates with the least ends.
__device__ __forceinline__ void take_candidates(const Listed& edges, const unsigned int* from, long long count,
                                                const unsigned long long* least, unsigned int* chosen) {
    for (long long i = thread_number(); i < count; i += thread_count()) {
        const unsigned int at = from[i];
        const Open edge = edges.open(at);
        const auto takes = [&](I tree) { return edge.key == edges.best[tree] && edge.pair == least[tree]; };
        if ((takes(edge.a) || takes(edge.b)) && joined(edges.parent, edge.a, edge.b)) choose(chosen, at);
    }
}

// Trees that were offered something have a candidate: nothing is offered to them from now on.
__device__ __forceinline__ void forget_offers(const Listed& edges, const unsigned int* from, long long count,
                                              unsigned long long* least) {
    for (long long i = thread_number(); i < count; i += thread_count()) {
        const Open edge = edges.open(from[i]);
        edges.best[edge.a] = edges.best[edge.b] = least[edge.a] = least[edge.b] = ~0ull;
    }
}

// The chosen edges go to the list's beginning, a tile at a time: it has been read before anything is written to it.
__device__ __forceinline__ void keep_chosen(StreamControl* control, Edge* list, long long count,
                                            const unsigned int* chosen) {
    for (long long tile = 0; tile < count; tile += thread_count() * OPEN_EDGES) {
        const long long base = tile + thread_number() / 32 * 32 * OPEN_EDGES;
        Edge edge[OPEN_EDGES];
        bool here[OPEN_EDGES];
        UNROLLED(j, OPEN_EDGES) {
            const long long i = base + 32 * j + lane_number();
            here[j] = i < count && (now(chosen + i / 32) >> i % 32 & 1);
            edge[j] = here[j] ? list[i] : Edge{0, 0, 0};
        }
        grid_barrier(&control->arrived);
        append(here, &control->count, [&](int j, unsigned long long place) { list[place] = edge[j]; });
    }
}

// Edges no heavier than the threshold go first: when they are used up, most edges of the others lie within a tree. bits:
// of a vertex.  tree, parent, best, least: (n,).  open, other: (count,).  chosen: a bit for each listed edge.  kept: so many
// of the first listed edges are the forest of all lighter ones, whose trees `tree` has: they stay, all others are heavier.
extern "C" __global__ void __launch_bounds__(SPAN_THREADS, SPAN_BLOCKS)
    span(StreamControl* control, long long n, Edge* list, unsigned long long threshold, int bits, I* tree, I* parent,
         unsigned long long* best, unsigned long long* least, unsigned int* open, unsigned int* other,
         unsigned int* chosen, long long kept) {
    const long long count = (long long)now(&control->count), words = (count + 31) / 32;
    for (long long v = thread_number(); v < n; v += thread_count()) {
        if (kept == 0) tree[v] = (I)v;
        parent[v] = tree[v];
        best[v] = least[v] = ~0ull;
    }
    for (long long w = thread_number(); w < words; w += thread_count())
        chosen[w] = kept >= w * 32 + 32 ? ~0u : kept > w * 32 ? (1u << (kept - w * 32)) - 1 : 0;
    if (thread_number() < 4) control->queue[thread_number()] = 0;
    look_at_weights(control, list, count);
    grid_barrier(&control->arrived);
    Listed edges{list, Keys(control, bits), tree, parent, best, kept == 0};
    const bool whole = edges.keys.are_whole();
    unsigned long long rounds = 0;
    unsigned int slot = 0;
    for (int heavy = 0; heavy < (threshold == ~0ull ? 1 : 2); ++heavy) {
        const unsigned int* from = nullptr;
        for (long long left = count;;) {
            const long long begin = from == nullptr ? kept : 0;
            offer_keys(edges, from, begin, left, threshold, heavy != 0, open, control->queue + slot);
            grid_barrier(&control->arrived);
            left = (long long)now(control->queue + slot);
            if (thread_number() == 0) control->queue[(slot + 2) % 4] = 0;
            if (left == 0) break;
            ++rounds;
            if (whole) {
                take_lightest(edges, open, left, least, chosen);
                exchange(edges.best, least);
            } else {
                find_candidates(edges, open, left, least, other, control->queue + slot + 1);
                grid_barrier(&control->arrived);
                const long long candidates = (long long)now(control->queue + slot + 1);
                if (thread_number() == 0) control->queue[(slot + 3) % 4] = 0;
                take_candidates(edges, other, candidates, least, chosen);
                grid_barrier(&control->arrived);
                forget_offers(edges, other, candidates, least);
            }
            grid_barrier(&control->arrived);
            edges.fresh = false;
            from = open;
            exchange(open, other);
            slot = (slot + 2) % 4;
        }
        if (heavy == 0)  // some trees have had no edge in the last rounds
            for (long long v = thread_number(); v < n; v += thread_count()) edges.best[v] = least[v] = ~0ull;
        grid_barrier(&control->arrived);
    }
    if (thread_number() == 0) {
        control->count = control->heaviest = control->differing = 0;
        control->lightest = ~0ull;
        control->rounds += rounds;
    }
    grid_barrier(&control->arrived);
    keep_chosen(control, list, count, chosen);
}

// Make a Sieve's `level` and `tree` by the listed edges, a forest: it leaves edges out from now on. levels: ascending.
extern "C" __global__ void __launch_bounds__(SIEVE_THREADS, SIEVE_BLOCKS)
    sieve(StreamControl* control, long long n, const Edge* list, const unsigned long long* levels, int count, I core,
          I* tree, unsigned char* level) {
    const long long edges = (long long)now(&control->count);
    for (long long v = thread_number(); v < n; v += thread_count()) {
        tree[v] = (I)v;
        level[v] = NEVER;
    }
    grid_barrier(&control->arrived);
    for (int k = 0; k < count; ++k) {
        for (long long i = thread_number(); i < edges; i += thread_count()) {
            const Edge edge = list[i];
            if (edge.weight <= levels[k] && (k == 0 || edge.weight > levels[k - 1])) join(tree, edge.u, end_of(edge.v));
        }
        grid_barrier(&control->arrived);
        const I giant = root_of(tree, core);
        for (long long first = thread_number(); first < n; first += thread_count() * OPEN_EDGES) {
            I before[OPEN_EDGES], root[OPEN_EDGES];
            bool asks[OPEN_EDGES];
            UNROLLED(j, OPEN_EDGES) {
                const long long v = first + j * thread_count();
                asks[j] = v < n && (k + 1 == count || level[v] == NEVER);
                before[j] = asks[j] ? tree[v] : 0;
            }
            UNROLLED(j, OPEN_EDGES) root[j] = asks[j] ? tree[before[j]] : 0;
            UNROLLED(j, OPEN_EDGES) {
                const long long v = first + j * thread_count();
                if (!asks[j]) continue;
                if (root[j] != before[j]) tree[v] = root[j] = root_of(tree, root[j]);
                if (root[j] == giant && level[v] == NEVER) level[v] = (unsigned char)k;
            }
        }
        grid_barrier(&control->arrived);
    }
}

// Trees of the listed edges that are no heavier.
extern "C" __global__ void join_listed(const Edge* list, long long count, unsigned long long threshold, I* parent) {
    for (long long i = thread_number(); i < count; i += thread_count()) {
        const Edge edge = list[i];
        if (edge.weight <= threshold) joined(parent, edge.u, end_of(edge.v));
    }
}

// Weights of some of the listed edges, evenly spread.
extern "C" __global__ void sample_weights(const Edge* list, long long count, long long samples, unsigned long long* weights) {
    for (long long i = thread_number(); i < samples; i += thread_count()) weights[i] = list[i * count / samples].weight;
}
