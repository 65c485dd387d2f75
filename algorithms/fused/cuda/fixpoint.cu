// The least fixpoint  d = d0 ⊕ dA  of an idempotent, ordered semiring, in one kernel.
//
// The state is two vectors: d, and e, the value with which each vertex was last expanded. A vertex is *active* where
// d ≠ e, and the fixpoint is reached when none is. Whatever else there is, queues or thresholds, only says which active
// vertices come first, so a queue may be full, a launch may end after any step, and the answer is the same.
//
// A step expands the active vertices no worse than a threshold. When none is left the threshold becomes the best active
// value ⊗ width: the unit of ⊗ makes it Dijkstra's order with compound frontiers, a Δ the near-far form of Δ-stepping
// [1, 2], and the semiring's zero, no threshold at all, Bellman-Ford by frontiers.
//
// Two kernels, which may take turns on one state:
//
// wide    a step is two passes. All vertices are looked at, and the near ones listed with the running sum of their
//         degrees; then all warps get equal shares of those edges, so hubs and leaves cost what their edges cost. No
//         list is written while edges are relaxed, so an improvement costs one atomic and nothing else. For graphs in
//         which few steps have many edges. Per edge: an index, a value, a gathered d.
// deep    improved near vertices go to a queue. A warp relaxes its share of it and goes on from what that improved, in
//         shared memory, for HOPS more hops before the next barrier: a monotone fixpoint may be relaxed in any order.
//         An entry carries all that its expansion needs, and the bounds of a row are fetched while the atomic that may
//         want them is under way, so a hop is a chain of two trips to the L2. For graphs of many short rows, in which
//         the number of steps is everything.
//
// [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, Work-efficient parallel GPU methods for single-source shortest
//     paths, IPDPS 2014.
// [2] K. Wang, D. Fussell, C. Lin, A fast work-efficient SSSP algorithm for GPUs, PPoPP 2021.

__device__ __forceinline__ bool better(T a, T b) { return a != b && add(a, b) == a; }
__device__ __forceinline__ bool no_worse(T a, T b) { return add(a, b) == a; }

// A T in a place of eight bytes.
union Slot {
    T value;
    unsigned long long bits;
};

// What survives a launch. Numbers that a step adds to come in threes, taken in turns: one is read, one written, one
// cleared.
struct Control {
    unsigned int arrived, done;
    unsigned long long steps, edges, pulls, thresholds;
    unsigned long long queue[3];  // wide: edges and vertices of the frontier; deep: entries
    Slot nearest[3];              // the best active value
    Slot threshold;
    unsigned long long before;    // edges of the step before
    unsigned long long saturated; // has a finite product become the zero?
    unsigned long long scanned;   // deep: did the step before look for active vertices?
};

struct Graph {
    const I *indptr, *indices;
    const T* values;
    I step;  // between values: 0 where all are one
};

// The bound beyond which nothing was asked for: the limit, or what the target has, if that is better.
__device__ __forceinline__ T bound_now(const T* d, T limit, I target) {
    if (target < 0) return limit;
    const T reached = now(d + target);
    return better(reached, limit) ? reached : limit;
}

// ⊕ of what the lanes of each warp hold, into a slot.
__device__ __forceinline__ void fold_into(Slot* slot, T value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value = add(value, from_lane(value, lane_number() ^ distance));
    if (lane_number() == 0 && value != ZERO) atomic_add(&slot->value, value);
}

// d_x ⊕= d_v ⊗ a_vx for the edges that deal_edges deals out; within subgraphs, where colours are given.
struct Relax {
    Graph g;
    T *d, bound;
    const I* colour;
    T from, nearest;
    I own;
    bool saturated;

    __device__ __forceinline__ void row(I v, bool has) {
        from = has ? now(d + v) : ZERO;
        if (colour != nullptr) own = colour[v];
    }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        I x[AT_ONCE];
        T w[AT_ONCE], t[AT_ONCE], seen[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            x[j] = inside[j] ? __ldcs(g.indices + place[j]) : 0;
            w[j] = inside[j] ? g.values[place[j] * g.step] : ZERO;
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) seen[j] = now(d + x[j]);
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            const T a = from_lane(from, owner[j]);
            bool allowed = inside[j];
            if (colour != nullptr) {
                const I there = from_lane(own, owner[j]);
                allowed = allowed && colour[x[j]] == there;
            }
            t[j] = product(w[j], a);
            if (allowed && t[j] == ZERO && !absent(w[j], a)) saturated = true;
            if (allowed && better(t[j], seen[j]) && no_worse(t[j], bound) && better(t[j], atomic_update(d + x[j], t[j])))
                nearest = add(nearest, t[j]);
        }
    }
};

// List the active vertices no worse than the threshold, with the running sum of their degrees, as expanded.
// Returns the best value among those that are left.
__device__ __forceinline__ T list_near(const I* indptr, long long n, const T* d, T* e, T threshold, bool every,
                                       I* rows, I* offsets, unsigned long long* counter) {
    T left = ZERO;
    const long long tile = (long long)blockDim.x * LOOKED_AT;
    for (long long base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
        bool near[LOOKED_AT];
        I degree[LOOKED_AT];
        unsigned int wanted = 0, weight = 0;
#pragma unroll
        for (int j = 0; j < LOOKED_AT; ++j) {
            const long long v = base + j * blockDim.x + threadIdx.x;
            const T value = v < n ? d[v] : ZERO;
            const bool active = value != ZERO && (every || value != e[v]);
            near[j] = active && no_worse(value, threshold);
            if (active && !near[j]) left = add(left, value);
            degree[j] = 0;
            if (near[j]) {
                degree[j] = indptr[v + 1] - indptr[v];
                e[v] = value;
                near[j] = degree[j] > 0;
            }
            wanted += near[j];
            weight += (unsigned int)degree[j];
        }
        if (!__syncthreads_or(wanted > 0)) continue;
        Places place = reserve(wanted, weight, counter);
#pragma unroll
        for (int j = 0; j < LOOKED_AT; ++j)
            if (near[j]) {
                rows[place.first] = (I)(base + j * blockDim.x + threadIdx.x);
                offsets[place.first] = (I)place.weight;
                ++place.first;
                place.weight += (unsigned int)degree[j];
            }
    }
    return left;
}

// d_v ⊕= ⊕_u d_u ⊗ a_uv down the columns, for the vertices that may still become better: those worse than the best active
// one. A thread looks through the first entries of its column, its warp through the rest. Returns the best improvement.
__device__ __forceinline__ T pull(const Graph& g, long long n, T* d, T nearest, T bound, const I* colour,
                                  bool& saturated) {
    T best = ZERO;
    for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
        const long long v = first + lane_number();
        const T had = v < n ? now(d + v) : ZERO;
        const auto relaxed = [&](I u, T w, I at) {
            const T from = colour == nullptr || colour[u] == colour[at] ? now(d + u) : ZERO;
            const T t = product(w, from);
            if (t == ZERO && !absent(w, from)) saturated = true;
            return no_worse(t, bound) ? t : ZERO;
        };
        I e = 0, end = 0;
        T t = ZERO;
        if (v < n && better(nearest, had)) {
            e = g.indptr[v];
            end = g.indptr[v + 1];
            for (const I alone = end - e < ALONE ? end : e + ALONE; e < alone; ++e)
                t = add(t, relaxed(g.indices[e], g.values[e * g.step], (I)v));
        }
        for (unsigned int left = __ballot_sync(WARP, e < end); left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const I last = from_lane(end, owner), row = from_lane((I)v, owner);
            T share = ZERO;
            for (I at = from_lane(e, owner) + lane_number(); at < last; at += 32)
                share = add(share, relaxed(g.indices[at], g.values[at * g.step], row));
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2)
                share = add(share, from_lane(share, lane_number() ^ distance));
            if (lane_number() == owner) t = add(t, share);
        }
        if (better(t, had)) {
            d[v] = t;
            best = add(best, t);
        }
    }
    return best;
}

// d = d0, e = 0: the state before the first step, with the source active, or every vertex that d holds a value for.
extern "C" __global__ void begin(Control* control, long long n, T* d, T* e, long long source, T one, T threshold) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        if (source >= 0) d[v] = v == source ? one : ZERO;
        e[v] = ZERO;
    }
    if (thread_number() != 0) return;
    *control = Control{};
    control->nearest[0].value = one;
    control->nearest[1].value = control->nearest[2].value = ZERO;
    control->threshold.value = threshold;
}

// every: a step expands all that is reached, not only what is active.  few: edges of a step below which the threshold is
// raised, so that steps stay worth their barriers.  pull_from: edges from which a step pulls, down the columns given.
extern "C" __global__ void __launch_bounds__(WIDE_THREADS, WIDE_BLOCKS)
    wide(Control* control, const I* indptr, const I* indices, const T* values, I value_step, const I* in_indptr,
         const I* in_indices, const T* in_values, long long n, long long nnz, T* d, T* e, I* rows, I* offsets, T width,
         T limit, I target, const I* colour, bool every, unsigned long long few, unsigned long long pull_from,
         unsigned long long last_step) {
    const Graph g{indptr, indices, values, value_step}, columns{in_indptr, in_indices, in_values, value_step};
    unsigned long long step = control->steps, edges = 0, thresholds = 0, pulls = 0, before = control->before;
    T threshold = control->threshold.value;
    bool done = false;
    Relax relax{g, d, limit, colour, ZERO, ZERO, 0, false};
    for (; step < last_step; ++step) {
        const T nearest = now(&control->nearest[step % 3].value);
        done = nearest == ZERO || !no_worse(nearest, relax.bound = bound_now(d, limit, target));
        if (done) break;
        if (better(threshold, nearest) || before < few) {
            threshold = product(width, better(threshold, nearest) ? nearest : threshold);
            ++thresholds;
        }
        Slot* const next = control->nearest + (step + 1) % 3;
        fold_into(next, list_near(g.indptr, n, d, e, threshold, every, rows, offsets, control->queue + step % 3));
        if (thread_number() == 0) {
            control->queue[(step + 1) % 3] = 0;
            control->nearest[(step + 2) % 3].value = ZERO;
        }
        grid_barrier(&control->arrived);
        const unsigned long long listed = now(control->queue + step % 3);
        before = listed >> 32;
        relax.nearest = ZERO;
        if (before >= pull_from) {
            relax.nearest = pull(columns, n, d, nearest, relax.bound, colour, relax.saturated);
            edges += nnz;
            ++pulls;
        } else if (before > 0) {
            deal_edges(rows, offsets, (I)(listed & 0xffffffffu), (I)before, g.indptr, relax);
            edges += before;
        }
        fold_into(next, relax.nearest);
        grid_barrier(&control->arrived);
    }
    if (relax.saturated) control->saturated = 1;
    if (thread_number() == 0) {
        control->done = done;
        control->steps = step;
        control->edges += edges;
        control->pulls += pulls;
        control->thresholds += thresholds;
        control->before = before;
        control->threshold.value = threshold;
    }
}

// A vertex to expand, its value, and its row.
struct Entry {
    T value;
    I vertex, start, degree;
};

constexpr int DEEP_WARPS = DEEP_THREADS / 32;
constexpr int LOCAL = 32768 / (2 * DEEP_WARPS * (int)sizeof(Entry));  // entries that a warp's queue holds
constexpr int LONG_ROW = 32;
constexpr int CHUNK = 4;  // edges of a row that a lane relaxes at once

// A warp's queue of improved vertices in shared memory, and where the rest goes.
struct Queue {
    Entry* local;
    int count;
    Entry* shared_by_all;
    unsigned long long* counter;
    unsigned long long capacity;
    T* e;

    // To the queue of all warps; what does not fit stays active, and is found when the queue is empty.
    __device__ __forceinline__ void put(unsigned long long place, const Entry& entry) {
        if (place < capacity) shared_by_all[place] = entry;
        else e[entry.vertex] = ZERO;
    }
    __device__ __forceinline__ void add_where(bool wanted, const Entry& entry) {
        const unsigned int all = __ballot_sync(WARP, wanted);
        const int place = count + __popc(all & lanes_below());
        if (wanted) {
            e[entry.vertex] = entry.value;
            if (place < LOCAL) local[place] = entry;
            else put(atomicAdd(counter, 1ull), entry);
        }
        count = min(count + __popc(all), LOCAL);
    }
    __device__ __forceinline__ void empty() {
        __syncwarp();
        if (count == 0) return;
        unsigned long long base = 0;
        if (lane_number() == 0) base = atomicAdd(counter, (unsigned long long)count);
        base = from_lane(base, 0);
        for (int i = lane_number(); i < count; i += 32) put(base + i, local[i]);
        count = 0;
        __syncwarp();
    }
};

// Relax a chunk of edges: lane's edges `first`, `first + stride`, … below `end`, from `value`.
__device__ __forceinline__ void relax_chunk(const Graph& g, T* d, const Entry& from, long long first, int stride,
                                            long long end, T threshold, T bound, bool& saturated, Queue& queue) {
    Entry to[CHUNK];
    bool improved[CHUNK];
    T w[CHUNK];
#pragma unroll
    for (int j = 0; j < CHUNK; ++j) {
        const long long place = first + j * stride;
        improved[j] = place < end;
        to[j].vertex = improved[j] ? __ldg(g.indices + place) : 0;
        w[j] = improved[j] ? g.values[place * g.step] : ZERO;
    }
#pragma unroll
    for (int j = 0; j < CHUNK; ++j) {
        to[j].value = product(w[j], from.value);
        if (improved[j] && to[j].value == ZERO && !absent(w[j], from.value)) saturated = true;
        improved[j] = improved[j] && to[j].value != ZERO && no_worse(to[j].value, bound);
        to[j].start = improved[j] ? __ldg(g.indptr + to[j].vertex) : 0;
        to[j].degree = improved[j] ? __ldg(g.indptr + to[j].vertex + 1) : 0;
        improved[j] = improved[j] && better(to[j].value, atomic_update(d + to[j].vertex, to[j].value));
    }
#pragma unroll
    for (int j = 0; j < CHUNK; ++j) {
        to[j].degree -= to[j].start;
        queue.add_where(improved[j] && no_worse(to[j].value, threshold), to[j]);
    }
}

// Expand an entry of each lane: short rows by a lane each, long ones by all of the warp, one after the other.
__device__ __forceinline__ void expand(const Graph& g, T* d, Entry entry, bool has, T threshold, T bound,
                                       bool& saturated, Queue& queue) {
    if (!has) entry.degree = 0, entry.start = 0, entry.vertex = 0, entry.value = ZERO;
    if (has && better(now(d + entry.vertex), entry.value)) entry.degree = 0;  // somebody else has it, and better
    const bool is_long = entry.degree > LONG_ROW;
    const I end = is_long ? 0 : entry.degree;
    for (I done = 0; __any_sync(WARP, done < end); done += CHUNK)
        relax_chunk(g, d, entry, (long long)entry.start + done, 1, (long long)entry.start + end, threshold, bound,
                    saturated, queue);
    for (unsigned int left = __ballot_sync(WARP, is_long); left != 0; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const Entry row{from_lane(entry.value, owner), 0, from_lane(entry.start, owner), from_lane(entry.degree, owner)};
        const long long stop = (long long)row.start + row.degree;
        for (long long first = row.start; first < stop; first += 32 * CHUNK)
            relax_chunk(g, d, row, first + lane_number(), 32, stop, threshold, bound, saturated, queue);
    }
}

// queues: of `capacity` entries each.  hops: of a warp within a step.
extern "C" __global__ void __launch_bounds__(DEEP_THREADS, 1)
    deep(Control* control, const I* indptr, const I* indices, const T* values, I value_step, long long n, T* d, T* e,
         Entry* queue_a, Entry* queue_b, unsigned long long capacity, T width, T limit, I target, int hops,
         unsigned long long last_step) {
    const Graph g{indptr, indices, values, value_step};
    __shared__ Entry local[2][DEEP_WARPS][LOCAL];
    unsigned long long step = control->steps, entries = 0, thresholds = 0;
    T threshold = control->threshold.value;
    bool done = false, saturated = false, scanned = control->scanned != 0;
    const int warp = threadIdx.x / 32;
    const long long warps = thread_count() / 32, number = thread_number() / 32;
    for (; step < last_step; ++step) {
        const Entry* const present = step % 2 == 0 ? queue_a : queue_b;
        const unsigned long long seen = now(control->queue + step % 3);
        const long long count = (long long)(seen < capacity ? seen : capacity);
        const T bound = bound_now(d, limit, target);
        Queue queue{local[0][warp], 0, step % 2 == 0 ? queue_b : queue_a, control->queue + (step + 1) % 3, capacity, e};
        if (count > 0) {
            scanned = false;
            entries += count;
            const long long each = (count + warps - 1) / warps;
            const long long end = min((number + 1) * each, count);
            for (long long first = number * each; first < end; first += 32) {
                const bool has = first + lane_number() < end;
                Entry entry{ZERO, 0, 0, 0};
                if (has) entry = present[first + lane_number()];
                expand(g, d, entry, has, threshold, bound, saturated, queue);
                for (int hop = 1; hop < hops; ++hop) {
                    __syncwarp();
                    const Entry* const found = queue.local;
                    const int many = queue.count;
                    queue.local = local[hop % 2][warp];
                    queue.count = 0;
                    for (int i = 0; i < many; i += 32) {
                        const bool here = i + lane_number() < many;
                        if (here) entry = found[i + lane_number()];
                        expand(g, d, entry, here, threshold, bound, saturated, queue);
                    }
                    if (queue.count == 0) break;
                }
                queue.empty();
                queue.local = local[0][warp];
            }
        } else {  // look for active vertices, now up to a worse threshold
            const T nearest = now(&control->nearest[step % 3].value);
            done = scanned && (nearest == ZERO || !no_worse(nearest, bound));
            if (done) break;
            if (scanned || threshold != ZERO) threshold = product(width, scanned ? nearest : threshold);
            ++thresholds;
            scanned = true;
            T left = ZERO;
            for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
                const long long v = first + lane_number();
                Entry entry{v < n ? d[v] : ZERO, (I)v, 0, 0};
                const bool active = entry.value != ZERO && entry.value != e[v];
                const bool near = active && no_worse(entry.value, threshold);
                if (active && !near) left = add(left, entry.value);
                if (near) {
                    entry.start = g.indptr[v];
                    entry.degree = g.indptr[v + 1] - entry.start;
                }
                queue.add_where(near, entry);
                if (queue.count > LOCAL - 32) queue.empty();
            }
            queue.empty();
            fold_into(control->nearest + (step + 1) % 3, left);
        }
        if (thread_number() == 0) {
            control->queue[(step + 2) % 3] = 0;
            control->nearest[(step + 2) % 3].value = ZERO;
        }
        grid_barrier(&control->arrived);
    }
    if (saturated) control->saturated = 1;
    if (thread_number() == 0) {
        control->done = done;
        control->steps = step;
        control->edges += entries;
        control->thresholds += thresholds;
        control->threshold.value = threshold;
        control->scanned = scanned;
    }
}
