// Breadth-first search in one kernel: levels, pushed along a small frontier's edges or pulled by the unvisited.
//
//     level⟨f⟩ = k,   f' = fA⟨¬visited⟩                     level: -1 not visited, -2 not to be visited
//
// push    the vertices of level k are listed with the running sum of their degrees, and all warps get equal shares of
//         their edges. Marking needs no atomic: whoever comes first or last writes the same level. Per edge: an index and
//         a gathered level; per step, n levels.
// pull    every unvisited vertex looks through its predecessors for one that was visited before the step, a bit each, as
//         far as the first: alone through the first few, then with its warp. Which were visited comes from the listing or
//         from the pull before, so pulls need one barrier a step. Per vertex a level; per edge looked at an index and
//         a bit, which the first-level cache holds.
//
// The choice is Beamer's [1].  [1] S. Beamer, K. Asanović, D. Patterson, Direction-optimizing BFS, SC 2012.

struct Mark {
    static constexpr int PER_LANE = 4;
    const J* indices;
    int *level, next;

    __device__ __forceinline__ void row(I, bool) {}
    __device__ __forceinline__ void edges(const int*, const I* place, const bool* inside) {
        I x[PER_LANE];
        int seen[PER_LANE];
        UNROLLED(j, PER_LANE) x[j] = inside[j] ? __ldcs(indices + place[j]) : 0;
        UNROLLED(j, PER_LANE) seen[j] = level[x[j]];
        UNROLLED(j, PER_LANE)
            if (inside[j] && seen[j] == -1) level[x[j]] = next;
    }
};

// List the vertices of level k, and note in bits which are visited.
__device__ __forceinline__ void list_level(const I* indptr, long long n, const int* level, int k, unsigned int* visited,
                                           I* rows, I* offsets, unsigned long long* counter) {
    const auto degree_of = [=](long long v) {
        const int l = v < n ? level[v] : -1;
        const unsigned int bits = __ballot_sync(WARP, l >= 0);
        if (lane_number() == 0 && v < n && visited != nullptr) visited[v / 32] = bits;
        return l == k ? indptr[v + 1] - indptr[v] : 0;
    };
    list_vertices(n, degree_of, rows, offsets, counter);
}

__device__ __forceinline__ bool is_visited(const unsigned int* visited, I u) {
    return (visited[(long long)u / 32] >> (u % 32) & 1) != 0;
}

// Let the unvisited look for a visited predecessor. Returns how many of the thread's vertices found one.
__device__ __forceinline__ unsigned int pull_level(const I* indptr, const J* indices, long long n, int* level, int next,
                                                   const unsigned int* visited, unsigned int* visited_then) {
    unsigned int count = 0;
    for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
        const long long v = first + lane_number();
        const int l = v < n ? level[v] : -2;
        const auto holds = [=](I, I u) { return is_visited(visited, u); };
        const bool found = first_in_row(indptr, indices, (I)v, l == -1, holds) >= 0;
        if (found) level[v] = next;
        count += found;
        const unsigned int bits = __ballot_sync(WARP, found || l >= 0);
        if (lane_number() == 0) visited_then[first / 32] = bits;
    }
    return count;
}

// Levels before the first step: 0 at the source, -2 outside, -1 elsewhere.
extern "C" __global__ void start_search(SearchControl* control, long long n, long long nnz, const bool* outside,
                                        long long source, int* level) {
    for (long long v = thread_number(); v < n; v += thread_count())
        level[v] = v == source ? 0 : outside != nullptr && outside[v] ? -2 : -1;
    if (thread_number() != 0) return;
    *control = SearchControl{};
    control->unexplored = nnz;
}

// choice: BY_RULE, push, or PULL.  deepest: the last level, or -1.  bits_a, bits_b, in_indptr, in_indices:
// may be null where nothing is to be pulled.
extern "C" __global__ void __launch_bounds__(SEARCH_THREADS, SEARCH_BLOCKS)
    search(SearchControl* control, const I* indptr, const J* indices, const I* in_indptr, const J* in_indices, long long n,
           long long nnz, int* level, unsigned int* bits_a, unsigned int* bits_b, I* rows, I* offsets, int choice,
           double alpha, double beta, int deepest, unsigned long long last_step) {
    unsigned long long step = control->steps, pulls = 0, unexplored = control->unexplored;
    bool pulling = control->pulling != 0, done = false;
    for (; step < last_step; ++step) {
        const int k = (int)step;
        done = k == deepest;
        if (done) break;
        unsigned int* const visited = step % 2 == 0 ? bits_a : bits_b;
        unsigned int* const visited_then = step % 2 == 0 ? bits_b : bits_a;
        if (thread_number() == 0) {
            control->queue[(step + 1) % 3] = 0;
            control->found[(step + 1) % 3] = 0;
        }
        if (!pulling) {
            list_level(indptr, n, level, k, visited, rows, offsets, control->queue + step % 3);
            grid_barrier(&control->arrived);
            const unsigned long long listed = now(control->queue + step % 3);
            const unsigned long long edges = listed >> 32;
            done = listed == 0;
            if (done) break;
            unexplored -= edges;
            pulling = choice == PULL || (choice == BY_RULE && edges * alpha > (double)(unexplored + edges));
            if (!pulling) {
                Mark mark{indices, level, k + 1};
                deal_listed(rows, offsets, listed, indptr, mark);
                grid_barrier(&control->arrived);
                continue;
            }
        }
        ++pulls;
        add_up(pull_level(in_indptr, in_indices, n, level, k + 1, visited, visited_then), control->found + step % 3);
        grid_barrier(&control->arrived);
        const unsigned long long found = now(control->found + step % 3);
        done = found == 0;
        if (done) break;
        pulling = choice == PULL || found * beta > (double)n;
    }
    if (thread_number() == 0) {
        control->done = done;
        control->steps = step;
        control->pulls += pulls;
        control->unexplored = unexplored;
        control->pulling = pulling;
    }
}
