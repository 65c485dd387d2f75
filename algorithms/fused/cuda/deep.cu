// The kernel `deep` of fixpoint.cu: warps that go on from what they have improved.

extern "C" __global__ void record(const I* __restrict__ indptr, const J* __restrict__ indices,
                                  const unsigned int* __restrict__ weights, I value_step, long long nnz,
                                  Hop* __restrict__ hops) {
    for (long long e = thread_number(); e < nnz; e += thread_count()) {
        const I x = indices[e];
        hops[e] = {x, indptr[x], indptr[x + 1] - indptr[x], weights == nullptr ? 0 : weights[e * value_step]};
    }
}

// An entry's degree. Of COPIES of the graph side by side, vertex v of copy c is c * n + v, the rows are those of one, and the
// degree has c above LENGTH_BITS.
constexpr int LENGTH_BITS = 10;
__device__ __forceinline__ I length_of(I degree) { return COPIES ? degree & ((1 << LENGTH_BITS) - 1) : degree; }
__device__ __forceinline__ I copy_of(I degree) { return COPIES ? degree >> LENGTH_BITS : 0; }
__device__ __forceinline__ I packed(I length, I copy) { return COPIES ? length | copy << LENGTH_BITS : length; }

constexpr int DEEP_WARPS = DEEP_THREADS / 32;
constexpr int RING_ENTRIES = sizeof(Entry) > 16 ? 32 : 64;  // entries that a warp's queue holds
constexpr int LANES = 4;   // of a warp that relax the edges of an entry
constexpr int ROWS_AT_A_TIME = 32 / LANES;
constexpr int LONG_ROW = 512;  // edges of a row that is dealt out in chunks
constexpr int MAX_OWN_ROUNDS = 256;  // rounds after which a warp keeps nothing for itself
// In a step of so few entries a warp goes on for so many times the rounds.
constexpr int LONELY_ENTRIES = 32, PATIENCE_FACTOR = 16;

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
    // The entries of long rows, one for each chunk, so that all warps take part in a hub.
    __device__ __forceinline__ void put_chunks(bool wanted, const Entry& entry, I copy) const {
        for (unsigned int left = __ballot_sync(WARP, wanted); left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const Entry row{from_lane(entry.value, owner), from_lane(entry.vertex, owner), from_lane(entry.start, owner),
                            from_lane(entry.degree, owner)};
            const I own = COPIES ? from_lane(copy, owner) : 0;
            const I chunks = row.degree / CHUNK + (row.degree % CHUNK != 0);
            const unsigned long long base = places_for((unsigned int)chunks, counter);
            for (I i = lane_number(); i < chunks; i += 32) {
                const I rest = row.degree - i * CHUNK;
                const I length = packed(rest < CHUNK ? rest : CHUNK, own);
                put(base + i, {row.value, row.vertex, row.start + i * CHUNK, length});
            }
        }
    }
};

// A warp's own queue, in shared memory.
struct Ring {
    Entry* slots;
    int head, count;

    // Entries of some of the lanes are put in; before that, the ring is emptied into the other queue if they do not fit.
    __device__ __forceinline__ void add_where(bool wanted, const Entry& entry, const Queue& rest) {
        const unsigned int all = __ballot_sync(WARP, wanted);
        if (count + __popc(all) > RING_ENTRIES) empty(rest);
        if (wanted) slots[(head + count + __popc(all & lanes_below())) % RING_ENTRIES] = entry;
        count += __popc(all);
        __syncwarp();
    }
    __device__ __forceinline__ void empty(const Queue& rest) {
        if (count == 0) return;
        const unsigned long long base = places_for(count, rest.counter);
        for (int i = lane_number(); i < count; i += 32) rest.put(base + i, slots[(head + i) % RING_ENTRIES]);
        count = 0;
        __syncwarp();
    }
};

// Expand the first entries of a ring, LANES lanes for each. n: vertices of a copy.
__device__ __forceinline__ void expand(const Hops& g, I n, T* d, Ring& ring, const Queue& rest, T threshold, T bound,
                                       bool& saturated, unsigned int& expanded) {
    const int taken = min(ring.count, ROWS_AT_A_TIME);
    Entry entry{ZERO, 0, 0, 0};
    if (lane_number() / LANES < taken) entry = ring.slots[(ring.head + lane_number() / LANES) % RING_ENTRIES];
    ring.head = (ring.head + taken) % RING_ENTRIES;
    ring.count -= taken;
    expanded += taken;
    __syncwarp();
    const T had = now(d + entry.vertex);
    const I length = length_of(entry.degree), first = copy_of(entry.degree) * n;
    for (I k = lane_number() % LANES; __any_sync(WARP, k < length); k += LANES) {
        bool improved = k < length;
        const I place = entry.start + (improved ? k : 0);
        Hop hop{0, 0, 0, 0};
        T w = ZERO;
        if (improved) {
            hop = g.at(place);
            w = g.of(hop, place);
        }
        const I x = first + hop.vertex;
        const T t = product(w, entry.value);
        if (improved && t == ZERO && !absent(w, entry.value)) saturated = true;
        improved = improved && !better(had, entry.value) && t != ZERO && no_worse(t, bound);
        if (improved) {
            asm volatile("prefetch.global.L1 [%0];" ::"l"(g.hops + hop.start));
            improved = better(t, atomic_update(d + x, t));
        }
        improved = improved && hop.degree > 0;
        const bool near = improved && no_worse(t, threshold) && hop.degree <= LONG_ROW;
        if (improved && !near) activate(rest.active, x);
        ring.add_where(near, {t, x, hop.start, packed(hop.degree, copy_of(entry.degree))}, rest);
    }
}

// copies: of the graph, where there are COPIES.  queues: of `capacity` entries each.  rounds: of a warp within a step,
// beyond its share of the queue.  few, many: the width is doubled where between two thresholds a step has fewer entries
// than `few` on average, and halved again where it has more than `many`.  most: entries of a step beyond which it stops:
// there are few steps with many edges then, the other kernel's work, which begins where this one ends.
extern "C" __global__ void __launch_bounds__(DEEP_THREADS, DEEP_BLOCKS)
    deep(Control* control, const I* indptr, const Hop* hops, const T* values, I value_step, bool fixed, T weight,
         long long n, int copies, T* d, unsigned int* active, Entry* queue_a, Entry* queue_b,
         unsigned long long capacity, T one, T width, T limit, I target, int rounds, unsigned long long few,
         unsigned long long many, long long most, unsigned long long last_step) {
    __shared__ Entry slots[DEEP_WARPS][RING_ENTRIES];
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
            const int patient = count <= LONELY_ENTRIES ? rounds * PATIENCE_FACTOR : rounds;
            unsigned int most_kept = RING_ENTRIES;  // with so many entries of its own a warp goes on: decided before they come
            for (int round = 0; next < end || (unsigned int)(ring.count - 1) < most_kept; ++round) {
                most_kept = round + 1 < rounds ? RING_ENTRIES : round + 1 < patient ? ROWS_AT_A_TIME : 0;
                if (round >= MAX_OWN_ROUNDS) ring.empty(rest);  // a cycle that improves may keep it full for ever
                if (ring.count < ROWS_AT_A_TIME && next < end) {
                    const bool has = lane_number() < ROWS_AT_A_TIME && next + lane_number() < end;
                    Entry entry{ZERO, 0, 0, 0};
                    if (has) entry = present[next + lane_number()];
                    ring.add_where(has, entry, rest);
                    next += ROWS_AT_A_TIME;
                }
                expand(g, (I)n, d, ring, rest, threshold, bound, saturated, expanded);
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
            const long long all = COPIES ? n * copies : n;
            for (long long first = number * 1024; first < all; first += warps * 1024) {
                const long long word = first / 32 + lane_number();
                const unsigned int bits = word * 32 < all ? active[word] : 0;
                for (unsigned int some = __ballot_sync(WARP, bits != 0); some != 0; some &= some - 1) {
                    const int owner = __ffs(some) - 1;
                    const unsigned int here = __shfl_sync(WARP, bits, owner);
                    const bool has = (here >> lane_number() & 1) != 0;
                    const long long v = has ? first + owner * 32 + lane_number() : 0;
                    Entry entry{has ? d[v] : ZERO, (I)v, 0, 0};
                    const bool near = has && no_worse(entry.value, threshold);
                    if (has && !near) left = add(left, entry.value);
                    const I copy = COPIES ? (I)v / (I)n : 0, own = (I)v - copy * (I)n;
                    if (near) {
                        entry.start = indptr[own];
                        entry.degree = indptr[own + 1] - entry.start;
                    }
                    const unsigned int far = here & ~__ballot_sync(WARP, near);
                    if (lane_number() == owner) active[word] = far;
                    __syncwarp();  // for what does not fit becomes active again
                    const bool is_long = near && entry.degree > LONG_ROW;
                    rest.put_chunks(is_long, entry, copy);
                    if (!is_long) entry.degree = packed(entry.degree, copy);
                    ring.add_where(near && !is_long, entry, rest);
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
