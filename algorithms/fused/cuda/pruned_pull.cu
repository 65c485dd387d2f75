// Shortest paths by one pull: what of the in-edges beyond the lightest of each vertex may lie on a shortest path.
//
// Each vertex's lightest in-edges are a graph on the device, whose distances are upper bounds. An edge (u, v) of weight w
// can only lie on a shortest path if w + u's lightest in-edge < v's bound: nothing that leads to u is shorter. In-edges are
// sorted by weight, so a vertex reads a prefix of them, 16 at a time, over the bus. What passes is a list, relaxed in turns
// with the graph on the device until nothing changes.
//
// A pair is the bits of a weight above an edge's other end.

using Pair = unsigned long long;

__device__ __forceinline__ T weight_of(Pair pair) {
    const unsigned int bits = (unsigned int)(pair >> 32);
    T weight;
    memcpy(&weight, &bits, sizeof(T) < 4 ? sizeof(T) : 4);
    return weight;
}

constexpr int LANES_A_VERTEX = 8, LANES_A_PREFIX = 16;

// Counts one more, and returns what was counted before.
__device__ __forceinline__ I count_one(I* counted) {
    using Number = typename Unsigned<sizeof(I)>::type;
    return (I)atomicAdd(reinterpret_cast<Number*>(counted), (Number)1);
}

// Counts how many of each vertex's first `most` in-edges begin at each vertex.
extern "C" __global__ void count_light(const I* starts, const Pair* pairs, long long n, I most, I* counts) {
    const int lane = threadIdx.x % LANES_A_VERTEX;
    for (long long v = thread_number() / LANES_A_VERTEX; v < n; v += thread_count() / LANES_A_VERTEX) {
        const I begin = starts[v], degree = starts[v + 1] - begin, taken = degree < most ? degree : most;
        for (I k = lane; k < taken; k += LANES_A_VERTEX) count_one(counts + (unsigned int)pairs[begin + k]);
    }
}

// They, by the vertices at which they begin, each row in any order.  cursor: where each row begins, at first.  next: the
// weight of each vertex's edge after them.  least: of its first.
extern "C" __global__ void place_light(const I* starts, const Pair* pairs, long long n, I most, I* cursor, J* indices,
                                       T* weights, T* next, T* least) {
    const int lane = threadIdx.x % LANES_A_VERTEX;
    for (long long v = thread_number() / LANES_A_VERTEX; v < n; v += thread_count() / LANES_A_VERTEX) {
        const I begin = starts[v], degree = starts[v + 1] - begin, taken = degree < most ? degree : most;
        for (I k = lane; k < taken; k += LANES_A_VERTEX) {
            const Pair pair = pairs[begin + k];
            const I place = count_one(cursor + (unsigned int)pair);
            indices[place] = (J)v;
            weights[place] = weight_of(pair);
            if (k == 0) least[v] = weight_of(pair);
        }
        if (lane == 0) {
            next[v] = degree > most ? weight_of(pairs[begin + most]) : ZERO;
            if (degree == 0) least[v] = ZERO;
        }
    }
}

// The vertices that have something to read. lowest: no vertex's lightest in-edge is lighter.
extern "C" __global__ void list_readers(PullControl* control, const T* next, const T* d, T lowest, long long n, J* listed) {
    for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
        const long long v = first + lane_number();
        const bool wanted[] = {v < n && better(product(next[v], lowest), d[v])};
        append(wanted, &control->listed, [&](int, unsigned long long at) { listed[at] = (J)v; });
    }
}

// The edges of listed vertices' prefixes that pass, as many as there are places for. Two vertices a warp.
extern "C" __global__ void pull_prefixes(PullControl* control, const I* starts, const Pair* pairs, I most, const J* listed,
                                         const T* d, const T* least, T lowest, J* from, J* to, T* weights,
                                         unsigned long long capacity) {
    const int lane = lane_number() % LANES_A_PREFIX, half = lane_number() / LANES_A_PREFIX;
    const unsigned int own = 0xffffu << LANES_A_PREFIX * half;
    const long long count = (long long)control->listed, warps = thread_count() / 32;
    unsigned long long read = 0;
    bool saturated = false;
    for (long long i = thread_number() / 32 * 2; i < count; i += warps * 2) {
        bool more = i + half < count;
        const I v = more ? listed[i + half] : 0;
        I at = starts[v] + most;
        const I end = starts[v + 1];
        const T bound = d[v];
        while (__any_sync(WARP, more)) {
            const bool inside = more && at < end && lane < end - at;
            const Pair pair = inside ? __ldcs(pairs + at + lane) : 0;
            const T w = inside ? weight_of(pair) : ZERO;
            const bool near = inside && better(product(w, lowest), bound);
            const I u = (I)(unsigned int)pair;
            const T before = near ? least[u] : ZERO, t = product(w, before);
            if (near && t == ZERO && !absent(w, before)) saturated = true;
            const bool wanted[] = {near && better(t, bound)};
            read += inside;
            const unsigned int nears = __ballot_sync(WARP, near);
            more = more && (nears & own) == own;
            at += LANES_A_PREFIX;
            append(wanted, &control->found, [&](int, unsigned long long place) {
                if (place < capacity) from[place] = u, to[place] = v, weights[place] = w;
            });
        }
    }
    read = sum_of_warp(read);
    if (lane_number() == 0 && read > 0) atomicAdd(&control->read, read);
    if (saturated) control->saturated = 1;
}

// d_v ⊕= d_u ⊗ w of the listed edges; what improves becomes active.
extern "C" __global__ void relax_listed(PullControl* control, const J* from, const J* to, const T* weights, long long count,
                                        T* d, unsigned int* active) {
    bool improved = false;
    for (long long i = thread_number(); i < count; i += thread_count()) {
        const T had = now(d + from[i]), w = weights[i], t = product(w, had);
        if (t == ZERO && !absent(w, had)) control->saturated = 1;
        const I v = to[i];
        if (better(t, now(d + v)) && better(t, atomic_update(d + v, t))) {
            activate(active, v);
            improved = true;
        }
    }
    if (improved) control->improved = 1;
}

// A fixpoint goes on from what is active.
extern "C" __global__ void resume(Control* control, T one, T threshold) {
    if (thread_number() != 0) return;
    start(control, one, threshold);
}
