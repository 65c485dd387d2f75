// A minimum spanning forest of more edges than there is room for, each of which is read once.
//
//     MSF(E1 ∪ E2) = MSF(MSF(E1) ∪ E2)
//
// collect    edges of a part of the matrix go to a list behind the forest of those before them. An edge is left out where
//            lighter edges of that forest connect its ends: such edges have made trees, at two thresholds.
// span       what is listed becomes a forest, in place, by Boruvka's algorithm: every tree takes its lightest edge, which is
//            found in two steps, for a weight and two ends have more bits than an atomic. Edges are compared as (weight,
//            smaller end, larger end); of an edge that is listed twice one is taken.
//
// Traffic over the bus: the part of the matrix, once. On the device, per listed edge and round: 16 bytes and two trees.

struct __align__(sizeof(I) == 4 ? 16 : 8) Edge {
    unsigned long long weight;  // ordered as weights are
    I u, v;                     // u < v; the sign of v: is the weight -0.0?
};

struct StreamControl {
    unsigned int arrived, pad;
    unsigned long long count, rounds, left[3];
    unsigned long long balance[2];  // of edges up and down: 0, with all but certainty, where each has its reverse
};

constexpr I MINUS = (I)1 << (8 * sizeof(I) - 1);

__device__ __forceinline__ I end_of(I v) { return v & ~MINUS; }
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

// What Weights::at has made of a weight.
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

// Trees of what is lighter than a threshold, or as light.
struct Trees {
    const I* tree;
    unsigned long long threshold;

    __device__ __forceinline__ bool connect(I u, I v, unsigned long long weight) const {
        return weight > threshold && tree[u] == tree[v];
    }
};

// Which entries: all; those with u < v; or of each pair one, half of them in the row of the smaller end, for rows whose
// reverse entries lie with another GPU.
enum Wanted : int { ALL_ENTRIES, UPPER, EVERY_OTHER };

template <class Columns> struct Collect {
    static constexpr int AT_ONCE = 4;
    Columns columns;
    Weights weights;
    Wanted which;
    unsigned long long least, most;  // of the weights that are wanted
    bool balanced;                   // is the balance wanted?
    I first;                         // the vertex of the first row
    Trees light, heavier;
    Edge* list;
    unsigned long long* counter;
    unsigned long long balance[2];
    I u;

    __device__ __forceinline__ void row(I v, bool) { u = first + v; }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        I x[AT_ONCE], own[AT_ONCE];
        unsigned long long w[AT_ONCE];
        unsigned int all[AT_ONCE], count = 0;
        bool wanted[AT_ONCE], minus[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            own[j] = from_lane(u, owner[j]);
            x[j] = inside[j] ? columns.streamed(place[j]) : own[j];
            minus[j] = false;
            w[j] = inside[j] ? weights.at(place[j], minus[j]) : 0;
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            wanted[j] = x[j] != own[j] && (which == ALL_ENTRIES || (own[j] < x[j]) != (which == EVERY_OTHER && ((own[j] ^ x[j]) & 1)));
            const I low = own[j] < x[j] ? own[j] : x[j], high = own[j] < x[j] ? x[j] : own[j];
            if (balanced && x[j] != own[j]) {
                const unsigned long long h = mixed(mixed((unsigned long long)low << 32 | (unsigned int)high) + w[j]);
                const unsigned long long g = mixed(h + 0x9e3779b97f4a7c15ull);
                balance[0] += own[j] < x[j] ? h : 0ull - h;
                balance[1] += own[j] < x[j] ? g : 0ull - g;
            }
            own[j] = low;
            x[j] = high;
            wanted[j] = wanted[j] && w[j] >= least && w[j] <= most;
            if (wanted[j] && (light.connect(low, high, w[j]) || heavier.connect(low, high, w[j]))) wanted[j] = false;
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            all[j] = __ballot_sync(WARP, wanted[j]);
            count += __popc(all[j]);
        }
        if (count == 0) return;
        unsigned long long base = 0;
        if (lane_number() == 0) base = atomicAdd(counter, (unsigned long long)count);
        base = from_lane(base, 0);
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            if (wanted[j]) list[base + __popc(all[j] & lanes_below())] = {w[j], own[j], minus[j] ? x[j] | MINUS : x[j]};
            base += __popc(all[j]);
        }
    }
};

template <class Columns>
__device__ __forceinline__ void collect_from(StreamControl* control, const I* indptr, const Columns columns,
                                             const Weights weights, I n, I nnz, long long from, long long to, int which,
                                             unsigned long long least, unsigned long long most, bool balanced, I first,
                                             const Trees light, const Trees heavier, Edge* list) {
    Collect<Columns> work{columns, weights, (Wanted)which, least, most, balanced, first, light, heavier, list, &control->count, {0, 0}, 0};
    deal_edges_between(indptr, n, nnz, from, to, work);
    if (!balanced) return;
    for (int k = 0; k < 2; ++k) {
        unsigned long long sum = work.balance[k];
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) sum += from_lane(sum, lane_number() ^ distance);
        if (lane_number() == 0 && sum != 0) atomicAdd(control->balance + k, sum);
    }
}

extern "C" __global__ void collect(StreamControl* control, const I* indptr, const I* indices, const void* values, I step,
                                   int bytes, bool real, I n, I nnz, long long from, long long to, int which,
                                   unsigned long long least, unsigned long long most, bool balanced, I first,
                                   const I* light, unsigned long long threshold, const I* heavier,
                                   unsigned long long other_threshold, Edge* list) {
    collect_from(control, indptr, Indices{indices}, {values, step, bytes, real}, n, nnz, from, to, which, least, most, balanced, first,
                 {light, threshold}, {heavier, other_threshold}, list);
}

extern "C" __global__ void collect_packed(StreamControl* control, const I* indptr, const unsigned int* words,
                                          const I* bases, const I* starts, const void* values, I step, int bytes,
                                          bool real, I n, I nnz, long long from, long long to, int which,
                                          unsigned long long least, unsigned long long most, bool balanced, I first,
                                          const I* light, unsigned long long threshold, const I* heavier,
                                          unsigned long long other_threshold, Edge* list) {
    collect_from(control, indptr, Packed{words, bases, starts}, {values, step, bytes, real}, n, nnz, from, to, which,
                 least, most, balanced, first, {light, threshold}, {heavier, other_threshold}, list);
}

extern "C" __global__ void start_stream(StreamControl* control, long long n, I* light, I* heavier) {
    for (long long v = thread_number(); v < n; v += thread_count()) light[v] = heavier[v] = (I)v;
    if (thread_number() == 0) *control = StreamControl{};
}

// Edges no heavier than the threshold go first: when they are used up, most edges of the others lie within a tree. tree,
// parent, lightest, first: (n,).  alive, chosen: a bit for each listed edge.  kept: so many of the first listed edges are
// the forest of all lighter ones, whose trees `tree` has: they stay, and all others are heavier.
extern "C" __global__ void __launch_bounds__(SPAN_THREADS, SPAN_BLOCKS)
    span(StreamControl* control, long long n, Edge* list, unsigned long long threshold, I* tree, I* parent,
         unsigned long long* lightest, unsigned long long* first, unsigned int* alive, unsigned int* chosen,
         long long kept) {
    const long long count = (long long)now(&control->count), words = (count + 31) / 32;
    const long long warps = thread_count() / 32, number = thread_number() / 32;
    for (long long v = thread_number(); v < n; v += thread_count()) {
        if (kept == 0) tree[v] = (I)v;
        parent[v] = tree[v];
        lightest[v] = first[v] = ~0ull;
    }
    for (long long w = thread_number(); w < words; w += thread_count())
        chosen[w] = kept >= w * 32 + 32 ? ~0u : kept > w * 32 ? (1u << (kept - w * 32)) - 1 : 0;
    if (thread_number() == 0) control->left[0] = control->left[1] = control->left[2] = 0;
    grid_barrier(&control->arrived);
    unsigned long long rounds = 0;
    for (int heavy = 0; heavy < (threshold == ~0ull ? 1 : 2); ++heavy) {
        for (long long w = number; w < words; w += warps) {
            const long long i = w * 32 + lane_number();
            const bool open = i >= kept && i < count && (list[i].weight > threshold) == (heavy == 1);
            const unsigned int bits = __ballot_sync(WARP, open);
            if (lane_number() == 0) alive[w] = bits;
        }
        __syncwarp();
        for (bool more = count > 0; more; ++rounds) {
            unsigned long long left = 0;
            // Edges between two trees offer their weights to both; the others are left out from now on.
            for (long long w = number; w < words; w += warps) {
                const unsigned int bits = alive[w];
                if (bits == 0) continue;
                bool lives = bits >> lane_number() & 1;
                Edge edge{0, 0, 0};
                I a = 0, b = 0;
                if (lives) {
                    edge = list[w * 32 + lane_number()];
                    a = tree[edge.u];
                    b = tree[end_of(edge.v)];
                    lives = a != b;
                }
                if (lives) {
                    if (edge.weight < now(lightest + a)) atomicMin(lightest + a, edge.weight);
                    if (edge.weight < now(lightest + b)) atomicMin(lightest + b, edge.weight);
                }
                const unsigned int still = __ballot_sync(WARP, lives);
                left += __popc(still);
                __syncwarp();
                if (lane_number() == 0) alive[w] = still;
            }
            if (lane_number() == 0 && left > 0) atomicAdd(control->left + rounds % 3, left);
            if (thread_number() == 0) control->left[(rounds + 1) % 3] = 0;
            grid_barrier(&control->arrived);
            more = now(control->left + rounds % 3) > 0;
            if (!more) break;
            // Of those of a tree's least weight the one with the smallest ends.
            for (long long w = number; w < words; w += warps) {
                const unsigned int bits = alive[w];
                if (!(bits >> lane_number() & 1)) continue;
                const Edge edge = list[w * 32 + lane_number()];
                const I a = tree[edge.u], b = tree[end_of(edge.v)];
                const unsigned long long pair = pair_of(edge);
                if (edge.weight == now(lightest + a) && pair < now(first + a)) atomicMin(first + a, pair);
                if (edge.weight == now(lightest + b) && pair < now(first + b)) atomicMin(first + b, pair);
            }
            grid_barrier(&control->arrived);
            // These are taken.
            for (long long w = number; w < words; w += warps) {
                const unsigned int bits = alive[w];
                if (bits == 0) continue;
                bool taken = bits >> lane_number() & 1;
                if (taken) {
                    const Edge edge = list[w * 32 + lane_number()];
                    const I a = tree[edge.u], b = tree[end_of(edge.v)];
                    const unsigned long long pair = pair_of(edge);
                    taken = ((edge.weight == now(lightest + a) && pair == now(first + a)) ||
                             (edge.weight == now(lightest + b) && pair == now(first + b))) &&
                            joined(parent, a, b);
                }
                const unsigned int all = __ballot_sync(WARP, taken);
                if (lane_number() == 0 && all != 0) chosen[w] |= all;
            }
            grid_barrier(&control->arrived);
            for (long long v = thread_number(); v < n; v += thread_count()) {
                tree[v] = root_of(parent, tree[v]);
                lightest[v] = first[v] = ~0ull;
            }
            grid_barrier(&control->arrived);
        }
        grid_barrier(&control->arrived);  // everybody has seen that nothing is left
    }
    // The chosen ones go to the list's beginning, a tile at a time: it has been read before anything is written to it.
    if (thread_number() == 0) control->count = 0;
    grid_barrier(&control->arrived);
    for (long long base = 0; base < words; base += warps) {
        const long long w = base + number;
        const unsigned int bits = w < words ? chosen[w] : 0;
        Edge edge{0, 0, 0};
        if (bits >> lane_number() & 1) edge = list[w * 32 + lane_number()];
        grid_barrier(&control->arrived);
        if (bits == 0) continue;
        unsigned long long place = 0;
        if (lane_number() == 0) place = atomicAdd(&control->count, (unsigned long long)__popc(bits));
        place = from_lane(place, 0);
        if (bits >> lane_number() & 1) list[place + __popc(bits & lanes_below())] = edge;
    }
    if (thread_number() == 0) control->rounds += rounds;
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
