// The least fixpoint  d = d0 ⊕ dA  of an idempotent, ordered semiring, in one kernel.
//
// The state is d and a set of *active* vertices, a bit each: those that have improved since they were last expanded. The
// fixpoint is reached when there is none. Whatever else there is, a queue or a threshold, only says which active vertices
// come first; so a queue may be full, a launch may end after any step, and the answer is the same.
//
// A step expands the active vertices no worse than a threshold. When none is left the threshold becomes the best active
// value ⊗ width: the unit of ⊗ makes it Dijkstra's order with compound frontiers, a Δ the near-far form of Δ-stepping
// [1, 2], and the semiring's zero, no threshold at all, Bellman-Ford by frontiers.
//
// Two kernels:
//
// wide    a step is two passes. The active vertices that are near are listed with the running sum of their degrees; then
//         all warps get equal shares of those edges, so hubs and leaves cost what their edges cost. No list is written
//         while edges are relaxed: an improvement costs an atomic and a bit. For graphs in which few steps have many
//         edges. Per edge: an index, a value, a gathered d, which of a hub comes from the first-level cache: a value
//         there may be old, and then it only lets an atomic through that changes nothing.
// deep    improved near vertices go to a queue. A warp relaxes its share of it and goes on from what that improved, in
//         shared memory, for some more rounds before the next barrier: a monotone fixpoint may be relaxed in any order.
//         An edge's record (16 bytes, made once) has the row of its end, so a round is one trip to the second-level
//         cache: the atomic, while the rows that may come next are fetched. For graphs of many short rows, in which the
//         number of steps is everything.
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
    unsigned long long steps, edges, pulls, thresholds;  // edges: deep: expanded vertices
    unsigned long long queue[3];  // wide: edges and vertices of the frontier; deep: entries
    Slot nearest[3];              // the best active value
    Slot threshold;
    unsigned long long before;    // edges of the step before
    unsigned long long saturated; // has a finite product become the zero?
    unsigned long long scanned;   // deep: did the step before look for active vertices?
    unsigned long long doublings; // deep: of the width
    unsigned long long since[2];  // deep: steps and entries since the last change of the threshold
    unsigned long long crowded;   // deep: has it stopped for a step of too many entries?
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

__device__ __forceinline__ void activate(unsigned int* active, I v) { atomicOr(active + v / 32, 1u << (v % 32)); }

// d_x ⊕= d_v ⊗ a_vx for the edges that deal_edges deals out; within subgraphs, where colours are given.
struct Relax {
    static constexpr int AT_ONCE = 4;
    Graph g;
    T* d;
    unsigned int* active;
    T bound;
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
            w[j] = inside[j] ? stream(g.values + place[j] * g.step) : ZERO;
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) seen[j] = d[x[j]];
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
            if (allowed && better(t[j], seen[j]) && no_worse(t[j], bound) && better(t[j], atomic_update(d + x[j], t[j]))) {
                activate(active, x[j]);
                nearest = add(nearest, t[j]);
            }
        }
    }
};

// List the active vertices no worse than the threshold, with the running sum of their degrees; they are then no longer
// active. Returns the best value among the others. A block looks at a bit for 32 vertices of each of its threads, and only
// where there is one at the vertices.
__device__ __forceinline__ T list_near(const I* indptr, long long n, const T* d, unsigned int* active, T threshold,
                                       bool every, I* rows, I* offsets, unsigned long long* counter) {
    __shared__ unsigned int words[WIDE_THREADS];
    constexpr int PARTS = 32 / LOOKED_AT, PART = WIDE_THREADS / PARTS;  // of a tile; words of a part
    T left = ZERO;
    const long long tile = WIDE_THREADS * 32ll;
    for (long long base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
        const long long word = base / 32 + threadIdx.x;
        const unsigned int bits = word * 32 >= n ? 0 : every ? ~0u : active[word];
        words[threadIdx.x] = bits;
        if (!__syncthreads_or(bits != 0)) continue;
        for (int part = 0; part < PARTS; ++part) {
            bool some = false;
            for (int i = lane_number(); i < PART; i += 32) some = some || words[part * PART + i] != 0;
            if (!__any_sync(WARP, some)) continue;  // as every warp of the block finds
            bool near[LOOKED_AT];
            I degree[LOOKED_AT];
            unsigned int wanted = 0, weight = 0;
#pragma unroll
            for (int j = 0; j < LOOKED_AT; ++j) {
                const int at = (part * LOOKED_AT + j) * (WIDE_THREADS / 32) + threadIdx.x / 32;
                const unsigned int here = words[at];
                const long long v = base + at * 32ll + lane_number();
                T value = ZERO;
                if ((here >> lane_number() & 1) && v < n) value = d[v];
                near[j] = value != ZERO && no_worse(value, threshold);
                if (value != ZERO && !near[j]) left = add(left, value);
                const unsigned int taken = __ballot_sync(WARP, near[j]);
                if (lane_number() == 0 && taken != 0) active[base / 32 + at] = here & ~taken;
                degree[j] = near[j] ? indptr[v + 1] - indptr[v] : 0;
                near[j] = degree[j] > 0;
                wanted += near[j];
                weight += (unsigned int)degree[j];
            }
            if (!__syncthreads_or(wanted > 0)) continue;
            Places place = reserve(wanted, weight, counter);
#pragma unroll
            for (int j = 0; j < LOOKED_AT; ++j)
                if (near[j]) {
                    const int at = (part * LOOKED_AT + j) * (WIDE_THREADS / 32) + threadIdx.x / 32;
                    rows[place.first] = (I)(base + at * 32ll + lane_number());
                    offsets[place.first] = (I)place.weight;
                    ++place.first;
                    place.weight += (unsigned int)degree[j];
                }
        }
        __syncthreads();
    }
    return left;
}

// d_v ⊕= ⊕_u d_u ⊗ a_uv down the columns, for the vertices that may still become better: those worse than the best active
// one. A thread looks through the first entries of its column, its warp through the rest. Returns the best improvement.
__device__ __forceinline__ T pull(const Graph& g, long long n, T* d, unsigned int* active, T nearest, T bound,
                                  const I* colour, bool& saturated) {
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
        const bool improved = better(t, had);
        const unsigned int all = __ballot_sync(WARP, improved);
        if (lane_number() == 0 && all != 0) active[first / 32] |= all;
        if (improved) {
            d[v] = t;
            best = add(best, t);
        }
    }
    return best;
}

// The state before the first step: d = e_source, or d as it is where there is no source; active where it has a value.
extern "C" __global__ void begin(Control* control, long long n, T* d, unsigned int* active, long long source, T one,
                                 T threshold) {
    for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
        const long long v = first + lane_number();
        if (source >= 0 && v < n) d[v] = v == source ? one : ZERO;
        const unsigned int bits = __ballot_sync(WARP, v < n && (source >= 0 ? v == source : d[v] != ZERO));
        if (lane_number() == 0) active[first / 32] = bits;
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
         const I* in_indices, const T* in_values, long long n, long long nnz, T* d, unsigned int* active, I* rows, I* offsets, T width,
         T limit, I target, const I* colour, bool every, unsigned long long few, unsigned long long pull_from,
         unsigned long long last_step) {
    const Graph g{indptr, indices, values, value_step}, columns{in_indptr, in_indices, in_values, value_step};
    unsigned long long step = control->steps, edges = 0, thresholds = 0, pulls = 0, before = control->before;
    T threshold = control->threshold.value;
    bool done = false;
    Relax relax{g, d, active, limit, colour, ZERO, ZERO, 0, false};
    for (; step < last_step; ++step) {
        const T nearest = now(&control->nearest[step % 3].value);
        done = nearest == ZERO || !no_worse(nearest, relax.bound = bound_now(d, limit, target));
        if (done) break;
        if (better(threshold, nearest) || before < few) {
            threshold = product(width, better(threshold, nearest) ? nearest : threshold);
            ++thresholds;
        }
        Slot* const next = control->nearest + (step + 1) % 3;
        fold_into(next, list_near(g.indptr, n, d, active, threshold, every, rows, offsets, control->queue + step % 3));
        if (thread_number() == 0) {
            control->queue[(step + 1) % 3] = 0;
            control->nearest[(step + 2) % 3].value = ZERO;
        }
        grid_barrier(&control->arrived);
        const unsigned long long listed = now(control->queue + step % 3);
        before = listed >> 32;
        relax.nearest = ZERO;
        if (before >= pull_from) {
            relax.nearest = pull(columns, n, d, active, nearest, relax.bound, colour, relax.saturated);
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

// An edge as the deep kernel reads it: its end, the end's row, and the bits of a weight of 4 bytes.
struct Hop {
    I vertex, start, degree;
    unsigned int weight;
};

extern "C" __global__ void record(const I* __restrict__ indptr, const I* __restrict__ indices,
                                  const unsigned int* __restrict__ weights, I value_step, long long nnz,
                                  Hop* __restrict__ hops) {
    for (long long e = thread_number(); e < nnz; e += thread_count()) {
        const I x = indices[e];
        hops[e] = {x, indptr[x], indptr[x + 1] - indptr[x], weights == nullptr ? 0 : weights[e * value_step]};
    }
}

// A vertex to expand, its value, and its row.
struct Entry {
    T value;
    I vertex, start, degree;
};

constexpr int DEEP_WARPS = DEEP_THREADS / 32;
constexpr int RING = sizeof(Entry) > 16 ? 32 : 64;  // entries that a warp's queue holds
constexpr int LANES = 4;   // of a warp that relax the edges of an entry
constexpr int AT_A_TIME = 32 / LANES;

// The part of a matrix that the deep kernel reads.
struct Hops {
    const Hop* hops;
    const T* values;  // null where the records have them
    I value_step;
    bool fixed;  // is every weight `weight`?
    T weight;

    __device__ __forceinline__ Hop at(I place) const {
        Hop hop;
        if (sizeof(I) == 4) {
            const int4 words = __ldg(reinterpret_cast<const int4*>(hops + place));
            memcpy(&hop, &words, sizeof(int4));
        } else {
            hop = hops[place];
        }
        return hop;
    }
    __device__ __forceinline__ T of(const Hop& hop, I place) const {
        if (fixed) return weight;
        if (values != nullptr) return values[place * value_step];
        T value;
        memcpy(&value, &hop.weight, sizeof(T) < 4 ? sizeof(T) : 4);
        return value;
    }
};

// The queue of all warps. What does not fit becomes active again, and is found when the queue is empty.
struct Queue {
    Entry* entries;
    unsigned long long *counter, capacity;
    unsigned int* active;

    __device__ __forceinline__ void put(unsigned long long place, const Entry& entry) const {
        if (place < capacity) entries[place] = entry;
        else activate(active, entry.vertex);
    }
};

// A warp's own queue, in shared memory.
struct Ring {
    Entry* slots;
    int head, count;

    // Entries of some of the lanes are put in; before that, the ring is emptied into the other queue if they do not fit.
    __device__ __forceinline__ void add_where(bool wanted, const Entry& entry, const Queue& rest) {
        const unsigned int all = __ballot_sync(WARP, wanted);
        if (count + __popc(all) > RING) empty(rest);
        if (wanted) slots[(head + count + __popc(all & lanes_below())) % RING] = entry;
        count += __popc(all);
        __syncwarp();
    }
    __device__ __forceinline__ void empty(const Queue& rest) {
        if (count == 0) return;
        unsigned long long base = 0;
        if (lane_number() == 0) base = atomicAdd(rest.counter, (unsigned long long)count);
        base = from_lane(base, 0);
        for (int i = lane_number(); i < count; i += 32) rest.put(base + i, slots[(head + i) % RING]);
        count = 0;
        __syncwarp();
    }
};

// Expand the first entries of a ring, LANES lanes for each.
__device__ __forceinline__ void expand(const Hops& g, T* d, Ring& ring, const Queue& rest, T threshold, T bound,
                                       bool& saturated, unsigned int& expanded) {
    const int taken = min(ring.count, AT_A_TIME);
    Entry entry{ZERO, 0, 0, 0};
    if (lane_number() / LANES < taken) entry = ring.slots[(ring.head + lane_number() / LANES) % RING];
    ring.head = (ring.head + taken) % RING;
    ring.count -= taken;
    expanded += taken;
    __syncwarp();
    const T had = now(d + entry.vertex);
    for (I k = lane_number() % LANES; __any_sync(WARP, k < entry.degree); k += LANES) {
        bool improved = k < entry.degree;
        const I place = entry.start + (improved ? k : 0);
        Hop hop{0, 0, 0, 0};
        T w = ZERO;
        if (improved) {
            hop = g.at(place);
            w = g.of(hop, place);
        }
        const T t = product(w, entry.value);
        if (improved && t == ZERO && !absent(w, entry.value)) saturated = true;
        improved = improved && !better(had, entry.value) && t != ZERO && no_worse(t, bound);
        if (improved) {
            asm volatile("prefetch.global.L1 [%0];" ::"l"(g.hops + hop.start));
            improved = better(t, atomic_update(d + hop.vertex, t));
        }
        const bool near = improved && no_worse(t, threshold);
        if (improved && !near) activate(rest.active, hop.vertex);
        ring.add_where(near, {t, hop.vertex, hop.start, hop.degree}, rest);
    }
}

// width, doubled so many times.
__device__ __forceinline__ T doubled(T width, unsigned long long times) {
    for (; times > 0; --times) width = product(width, width);
    return width;
}

// queues: of `capacity` entries each.  rounds: of a warp within a step, beyond its share of the queue.  few, many: the
// width is doubled where between two thresholds a step has fewer entries than `few` on average, and halved again where it
// has more than `many`.  most: entries of a step beyond which it stops: there are few steps with many edges then, the other
// kernel's work, which begins where this one ends.
extern "C" __global__ void __launch_bounds__(DEEP_THREADS, DEEP_BLOCKS)
    deep(Control* control, const I* indptr, const Hop* hops, const T* values, I value_step, bool fixed, T weight,
         long long n, T* d, unsigned int* active, Entry* queue_a, Entry* queue_b, unsigned long long capacity, T one, T width,
         T limit, I target, int rounds, unsigned long long few, unsigned long long many, long long most,
         unsigned long long last_step) {
    __shared__ Entry slots[DEEP_WARPS][RING];
    const Hops g{hops, values, value_step, fixed, weight};
    unsigned long long step = control->steps, thresholds = 0, doublings = control->doublings;
    unsigned long long steps_since = control->since[0], entries_since = control->since[1];
    unsigned int expanded = 0;
    T threshold = control->threshold.value;
    bool done = false, crowded = false, saturated = false, scanned = control->scanned != 0;
    Ring ring{slots[threadIdx.x / 32], 0, 0};
    const long long warps = thread_count() / 32, number = thread_number() / 32;
    for (; step < last_step; ++step) {
        const Entry* const present = step % 2 == 0 ? queue_a : queue_b;
        const Queue rest{step % 2 == 0 ? queue_b : queue_a, control->queue + (step + 1) % 3, capacity, active};
        const unsigned long long seen = now(control->queue + step % 3);
        const long long count = (long long)(seen < capacity ? seen : capacity);
        const T bound = bound_now(d, limit, target);
        crowded = count > most;
        if (crowded) {
            for (long long i = thread_number(); i < count; i += thread_count()) activate(active, present[i].vertex);
            grid_barrier(&control->arrived);
            break;
        }
        if (count > 0) {
            scanned = false;
            ++steps_since;
            entries_since += count;
            const long long each = (count + warps - 1) / warps;
            const long long end = min((number + 1) * each, count);
            long long next = number * each;
            for (int round = 0; next < end || (round < rounds && ring.count > 0); ++round) {
                if (ring.count < AT_A_TIME && next < end) {
                    const bool has = lane_number() < AT_A_TIME && next + lane_number() < end;
                    Entry entry{ZERO, 0, 0, 0};
                    if (has) entry = present[next + lane_number()];
                    ring.add_where(has, entry, rest);
                    next += AT_A_TIME;
                }
                expand(g, d, ring, rest, threshold, bound, saturated, expanded);
            }
            ring.empty(rest);
        } else {  // look for active vertices, now up to a worse threshold
            const T nearest = now(&control->nearest[step % 3].value);
            done = scanned && (nearest == ZERO || !no_worse(nearest, bound));
            if (done) break;
            if (steps_since > 0 && entries_since < few * steps_since) ++doublings;
            if (doublings > 0 && entries_since > many * steps_since) --doublings;
            steps_since = entries_since = 0;
            if (scanned || threshold != ZERO)
                threshold = product(doubled(width, doublings), scanned ? nearest : threshold);
            ++thresholds;
            scanned = true;
            T left = ZERO;
            for (long long first = number * 1024; first < n; first += warps * 1024) {
                const long long word = first / 32 + lane_number();
                const unsigned int bits = word * 32 < n ? active[word] : 0;
                for (unsigned int some = __ballot_sync(WARP, bits != 0); some != 0; some &= some - 1) {
                    const int owner = __ffs(some) - 1;
                    const unsigned int here = __shfl_sync(WARP, bits, owner);
                    const bool has = (here >> lane_number() & 1) != 0;
                    const long long v = has ? first + owner * 32 + lane_number() : 0;
                    Entry entry{has ? d[v] : ZERO, (I)v, 0, 0};
                    const bool near = has && no_worse(entry.value, threshold);
                    if (has && !near) left = add(left, entry.value);
                    if (near) {
                        entry.start = indptr[v];
                        entry.degree = indptr[v + 1] - entry.start;
                    }
                    const unsigned int far = here & ~__ballot_sync(WARP, near);
                    if (lane_number() == owner) active[word] = far;
                    __syncwarp();  // for what does not fit becomes active again
                    ring.add_where(near, entry, rest);
                }
            }
            ring.empty(rest);
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
        control->done = done || crowded;
        control->crowded = crowded;
        for (int i = 0; i < 3 && crowded; ++i) {
            control->queue[i] = 0;
            control->nearest[i].value = i == step % 3 ? one : ZERO;  // whatever is active is no better
        }
        control->steps = step;
        control->thresholds += thresholds;
        control->threshold.value = threshold;
        control->scanned = scanned;
        control->doublings = doublings;
        control->since[0] = steps_since;
        control->since[1] = entries_since;
    }
    if (lane_number() == 0 && expanded > 0) atomicAdd(&control->edges, (unsigned long long)expanded);
}
