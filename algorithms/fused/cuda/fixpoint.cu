// The least fixpoint  d = d0 ⊕ dA  of an idempotent, ordered semiring, by two kernels that go on where the other stopped.
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
//         number of steps is everything. The rows of hubs wait until the queue is empty, and are dealt out in chunks then.
//         A step of too many entries ends it, and many steps of few edges end the other kernel: the two take turns.
//
// [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, Work-efficient parallel GPU methods for single-source shortest
//     paths, IPDPS 2014.
// [2] K. Wang, D. Fussell, C. Lin, A fast work-efficient SSSP algorithm for GPUs, PPoPP 2021.

// `Control` survives a launch. Numbers that a step adds to come in threes, taken in turns: one is read, one written, one
// cleared.

// The bound beyond which nothing was asked for: the limit, or what the target has, if that is better.
__device__ __forceinline__ T bound_now(const T* d, T limit, I target) {
    if (target < 0) return limit;
    const T reached = now(d + target);
    return better(reached, limit) ? reached : limit;
}

// width, doubled so many times.
[[maybe_unused]] __device__ __forceinline__ T doubled(T width, unsigned long long times) {
    for (; times > 0; --times) width = product(width, width);
    return width;
}

// The threshold, which is raised when no active value is as good, and after a step of fewer edges than `few`.  width: of a
// raise; it doubles after each of these steps, at most so many times.  raises: how often this launch has raised it.
struct Threshold {
    T value, width;
    unsigned long long few, most, doublings, raises;

    // nearest: the best active value.  before: edges of the step before, if there is one.
    __device__ __forceinline__ void raise(T nearest, unsigned long long before, bool begun) {
        if (begun && before < few && doublings < most) ++doublings;
        if (!better(value, nearest) && before >= few) return;
        value = product(most > 0 ? doubled(width, doublings) : width, better(value, nearest) ? nearest : value);
        ++raises;
    }
    template <class State> __device__ __forceinline__ void keep(State* control) const {
        control->thresholds += raises;
        control->doublings = doublings;
        control->threshold.value = value;
    }
};

// ⊕ of what the lanes of each warp hold, into a slot.
__device__ __forceinline__ void fold_into(Slot* slot, T value) {
    value = fold_lanes(value, [](T a, T b) { return add(a, b); });
    if (lane_number() == 0 && value != ZERO) atomic_add(&slot->value, value);
}

__device__ __forceinline__ void activate(unsigned int* active, I v) { atomicOr(active + v / 32, 1u << (v % 32)); }

// The control before the first step.
[[maybe_unused]] __device__ __forceinline__ void start(Control* control, T one, T threshold) {
    *control = Control{};
    control->nearest[0].value = one;
    control->nearest[1].value = control->nearest[2].value = ZERO;
    control->threshold.value = threshold;
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
    start(control, one, threshold);
}

// Distances that are levels: -1 for what was not reached.
extern "C" __global__ void mark_unreached(long long n, T* level) {
    for (long long v = thread_number(); v < n; v += thread_count())
        if (level[v] == ZERO) level[v] = (T)-1;
}
