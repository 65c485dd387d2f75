// The kernel `wide` of fixpoint.cu: lists of what is near, and its edges dealt out evenly.

// d_x ⊕= d_v ⊗ a_vx for the edges that deal_edges deals out. `listed`: d, or d as the listing found it, so that a step has
// one outcome.
struct Relax {
    static constexpr int PER_LANE = 4;
    Graph g;
    T* d;
    const T* listed;
    unsigned int* active;
    T bound;
    T from, nearest;
    bool saturated;

    __device__ __forceinline__ void row(I v, bool has) { from = has ? now(listed + v) : ZERO; }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        I x[PER_LANE];
        T w[PER_LANE], t[PER_LANE], seen[PER_LANE];
        UNROLLED(j, PER_LANE) {
            x[j] = inside[j] ? __ldcs(g.indices + place[j]) : 0;
            w[j] = inside[j] ? stream(g.values + place[j] * g.step) : ZERO;
        }
        UNROLLED(j, PER_LANE) seen[j] = d[x[j]];
        UNROLLED(j, PER_LANE) {
            const T a = from_lane(from, owner[j]);
            t[j] = product(w[j], a);
            if (inside[j] && t[j] == ZERO && !absent(w[j], a)) saturated = true;
            if (inside[j] && better(t[j], seen[j]) && no_worse(t[j], bound) && better(t[j], atomic_update(d + x[j], t[j]))) {
                activate(active, x[j]);
                nearest = add(nearest, t[j]);
            }
        }
    }
};

// List the active vertices no worse than the threshold, with the running sum of their degrees, and note their values and
// the step where NOTES; they are then no longer active. Returns the best value among the others. A thread has the bits of
// 32 vertices. Its warp looks at the vertices of a word together, and only where there is a bit. The block takes all
// places at once.
__device__ __forceinline__ T list_near(const I* indptr, long long n, const T* d, unsigned int* active, T threshold,
                                       bool every, T* noted, int* when, int step, I* rows, I* offsets, unsigned long long* counter) {
    constexpr int PER_LANE = 4;
    T left = ZERO;
    const long long tile = WIDE_THREADS * 32ll;
    for (long long base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
        const long long word = base / 32 + threadIdx.x, of_warp = (word - lane_number()) * 32;
        const unsigned int bits = word * 32 >= n ? 0 : every ? ~0u : active[word];
        if (!__syncthreads_or(bits != 0)) continue;
        unsigned int taken = 0, listed = 0, wanted = 0, weight = 0;
        for (unsigned int some = __ballot_sync(WARP, bits != 0); some != 0;) {
            int owner[PER_LANE];
            T value[PER_LANE];
            I degree[PER_LANE];
            UNROLLED(j, PER_LANE) {
                owner[j] = __ffs(some) - 1;
                some &= some - 1;
                const unsigned int here = owner[j] < 0 ? 0 : from_lane(bits, owner[j]);
                const long long v = of_warp + owner[j] * 32 + lane_number();
                value[j] = (here >> lane_number() & 1) && v < n ? d[v] : ZERO;
            }
            UNROLLED(j, PER_LANE) {
                const long long v = of_warp + owner[j] * 32 + lane_number();
                const bool near = value[j] != ZERO && no_worse(value[j], threshold);
                if (NOTES && near) noted[v] = value[j], when[v] = step;
                if (value[j] != ZERO && !near) left = add(left, value[j]);
                const unsigned int all = __ballot_sync(WARP, near);
                if (lane_number() == owner[j]) taken = all;
                degree[j] = near ? indptr[v + 1] - indptr[v] : 0;
            }
            UNROLLED(j, PER_LANE) {
                const unsigned int all = __ballot_sync(WARP, degree[j] > 0);
                if (lane_number() == owner[j]) listed = all;
                wanted += degree[j] > 0;
                weight += (unsigned int)degree[j];
            }
        }
        if (taken != 0) active[word] = bits & ~taken;
        if (!__syncthreads_or(wanted > 0)) continue;
        Places place = reserve(wanted, weight, counter);
        for (unsigned int some = __ballot_sync(WARP, listed != 0); some != 0;) {
            I v[PER_LANE], degree[PER_LANE];
            UNROLLED(j, PER_LANE) {
                const int owner = __ffs(some) - 1;
                some &= some - 1;
                const unsigned int here = owner < 0 ? 0 : from_lane(listed, owner);
                v[j] = (I)(of_warp + owner * 32 + lane_number());
                degree[j] = (here >> lane_number() & 1) ? indptr[v[j] + 1] - indptr[v[j]] : 0;
            }
            UNROLLED(j, PER_LANE) {
                if (degree[j] == 0) continue;
                rows[place.first] = v[j];
                offsets[place.first++] = (I)place.weight;
                place.weight += (unsigned int)degree[j];
            }
        }
    }
    return left;
}

// A step: list what is near, and relax its edges, of which it returns the number.
template <class State>
__device__ __forceinline__ unsigned long long expand_near(State* control, unsigned long long step, long long n, const T* d,
                                                          unsigned int* active, T threshold, bool every, T* noted,
                                                          int* when, I* rows, I* offsets, Relax& relax) {
    Slot* const next = control->nearest + (step + 1) % 3;
    fold_into(next, list_near(relax.g.indptr, n, d, active, threshold, every, noted, when, (int)step + 1, rows, offsets,
                              control->queue + step % 3));
    if (thread_number() == 0) {
        control->queue[(step + 1) % 3] = 0;
        control->nearest[(step + 2) % 3].value = ZERO;
    }
    grid_barrier(&control->arrived);
    const unsigned long long listed = now(control->queue + step % 3);
    relax.nearest = ZERO;
    deal_listed(rows, offsets, listed, relax.g.indptr, relax);
    fold_into(next, relax.nearest);
    grid_barrier(&control->arrived);
    return listed >> 32;
}

constexpr int CALM_STEPS = 64;

// every: a step expands all that is reached, not only what is active.  few: edges of a step below which the threshold is
// raised, so that steps stay worth their barriers, and the width doubled.  most: doublings, 0 for one width.
// noted: (n,), read and written where NOTES: d after a step depends on d before it alone then, and not on who came first.
// when: (n,), there too, the last step, counted from 1, that has expanded each vertex.  calm: edges below which a step is
// calm; after CALM_STEPS of them in a row it stops, for the other kernel to begin.
extern "C" __global__ void __launch_bounds__(WIDE_THREADS, WIDE_BLOCKS)
    wide(Control* control, const I* indptr, const J* indices, const T* values, I value_step, long long n, T* d,
         unsigned int* active, I* rows, I* offsets, T width, T limit, I target, bool every, unsigned long long few,
         T* noted, int* when, unsigned long long calm, unsigned long long most, unsigned long long last_step) {
    const Graph g{indptr, indices, values, value_step};
    unsigned long long step = control->steps, edges = 0, before = control->before;
    Threshold threshold{control->threshold.value, width, few, most, control->doublings, 0};
    bool done = false;
    int calm_steps = 0;
    Relax relax{g, d, NOTES ? noted : d, active, limit, ZERO, ZERO, false};
    for (; step < last_step && calm_steps < CALM_STEPS; ++step) {
        const T nearest = now(&control->nearest[step % 3].value);
        done = nearest == ZERO || !no_worse(nearest, relax.bound = bound_now(d, limit, target));
        if (done) break;
        threshold.raise(nearest, before, step > 0);
        before = expand_near(control, step, n, d, active, threshold.value, every, noted, when, rows, offsets, relax);
        calm_steps = before < calm ? calm_steps + 1 : 0;
        edges += before;
    }
    if (relax.saturated) control->saturated = 1;
    if (thread_number() == 0) {
        const bool stopped = !done && calm_steps == CALM_STEPS;
        control->done = done || stopped;
        control->calm = stopped;
        for (int i = 0; i < 3 && stopped; ++i) {
            control->queue[i] = 0;
            control->nearest[i].value = ZERO;  // the other kernel looks for what is active
        }
        if (stopped) control->scanned = 0;
        control->steps = step;
        control->edges += edges;
        control->before = before;
        threshold.keep(control);
    }
}
