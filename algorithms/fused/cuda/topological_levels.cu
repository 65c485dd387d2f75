// How high strong components stand over others, in one kernel.
//
//     h_u = max h_v + 1     over the edges u -> v between components, round by round, until none rises
//
// The edges between components are listed first: per edge of the matrix an index and a gathered component, streamed, and
// per edge that is listed two numbers. Those of one component, which should be a large one, would all raise one number:
// where it leads to is marked, and listed once. Per round and listed edge two numbers and two gathered heights; heights
// that rise within a round count at once. A round ends with a barrier.

struct Between {
    static constexpr int PER_LANE = 4;
    const J* indices;
    const I* component;
    I large, *tails, *heads;
    bool* below;
    unsigned long long* listed;
    I own;

    __device__ __forceinline__ void row(I v, bool) { own = component[v]; }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        I c[PER_LANE], u[PER_LANE];
        bool wanted[PER_LANE];
        UNROLLED(j, PER_LANE) c[j] = inside[j] ? __ldcs(indices + place[j]) : 0;
        UNROLLED(j, PER_LANE) c[j] = component[c[j]];
        UNROLLED(j, PER_LANE) {
            u[j] = from_lane(own, owner[j]);
            const bool between = inside[j] && c[j] != u[j];
            if (between && u[j] == large && !below[c[j]]) below[c[j]] = true;
            wanted[j] = between && u[j] != large;
        }
        append(wanted, listed, [&](int j, unsigned long long at) { tails[at] = u[j], heads[at] = c[j]; });
    }
};

// height: (k,) 0.  below: (k,) false.  large: a component.  tails, heads: with room for every edge, and k more.
extern "C" __global__ void __launch_bounds__(TOPOLOGICAL_LEVELS_THREADS, TOPOLOGICAL_LEVELS_BLOCKS)
    topological_levels(TopologicalControl* control, const I* indptr, const J* indices, I n, I nnz, const I* component, I k,
            const I* large, bool* below, I* tails, I* heads, int* height, unsigned long long most) {
    Between between{indices, component, *large, tails, heads, below, &control->listed, 0};
    deal_all_edges(indptr, n, nnz, between);
    grid_barrier(&control->arrived);
    for (long long first = thread_number() - lane_number(); first < k; first += thread_count()) {
        const long long c = first + lane_number();
        const bool wanted[] = {c < k && now(below + c)};
        append(wanted, &control->listed, [&](int, unsigned long long at) { tails[at] = *large, heads[at] = (I)c; });
    }
    grid_barrier(&control->arrived);
    const long long listed = now(&control->listed);
    unsigned long long round = 0;
    bool done = false;
    while (!done && round < most) {
        bool rises = false;
        for (long long e = thread_number(); e < listed; e += thread_count()) {
            const I u = tails[e];
            const int above = now(height + heads[e]) + 1;
            if (above > now(height + u)) {
                atomicMax(height + u, above);
                rises = true;
            }
        }
        done = !any_of_grid(rises, control->rose, round++, &control->arrived);
    }
    if (thread_number() == 0) control->done = done, control->rounds = round;
}
