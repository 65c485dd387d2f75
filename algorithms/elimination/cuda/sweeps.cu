// Distances from a factor: climbs of the elimination tree, and sweeps down to all positions.
//
//     climb:  d_y = d_y ⊕ d_x ⊗ u_xy      for the panels from a position to its root, one after the other
//     sweep:  d_x = d_x ⊕ d_y ⊗ l_yx      for the panels from the roots down, by levels
//
// Distances to a position are those from it in the transposed graph: u and l change places, and so do a product's operands.
//
// u and l are closed within each panel (elimination.cu), so that a panel is one step. What a climb knows of a panel is
// closed downwards, too, before the sweep: then positions of a panel read nothing that others of it write, and rounded sums
// are the same in every run. The levels next to the roots end with a barrier of the grid. What hangs below them is cut into
// bins of subtrees, and a block goes down the levels of a bin by itself.

constexpr int CLIMB_ROOM = 2048;   // ancestors in shared memory
constexpr int SHARED_WORK = 8192;  // arcs of a panel from which on all blocks climb it
constexpr int PART = 8;            // positions of a panel whose arcs a thread follows then

// Arcs to a position from the columns of its panel, at most some hundreds.
struct Piece {
    long long arcs, rows;  // where their numbers begin; of arc j, from `inside` on, the other end is list[rows + j]
    int x, base, inside;   // the position; before `inside`, the other end is base + j
    int count;             // of arcs; negative where the position has several pieces
};

// levels: where the pieces of each level begin.  lanes: that share a piece of it.  bins: the first level of each; the first
// is of the top.
struct Sweep {
    const Piece* pieces;
    const int *rows, *levels, *lanes, *bins;
    int bin_count;
    const T* numbers;
};

// A position, its panel, and how many are above it.
struct Step {
    int x, panel, depth;
};

// What is known of the ancestors of a position, by their depth.
struct Climb {
    const Panel* panels;
    const int* depths;  // of the positions in `rows`
    T* far;
    int* who;     // gets the ancestors, or null
    Step* steps;  // gets the steps, or null
};

// Column c of what is after x in its panel, and beyond: its depth.
__device__ __forceinline__ int depth_of(const Climb& climb, const Panel& p, const Step& at, int c) {
    const int rest = p.end - at.x - 1;
    return c < rest ? at.depth - 1 - c : climb.depths[p.rows + c - rest];
}

// ⊕ of the ways from positions [first, last) of a panel, counted from x on, to column c.  own: what is known of them.
__device__ __forceinline__ T arriving(const T* ways, bool forward, const T* own, long long arcs, int columns, int first,
                                      int last, int c, T best) {
    long long at = arcs + c + first * (long long)(columns - 1) - first * (long long)(first - 1) / 2;
#pragma unroll 4
    for (int i = first; i < last; ++i) {
        const T w = ways[at];
        best = add(best, forward ? then(own[i], w) : then(w, own[i]));
        at += columns - i - 1;
    }
    return best;
}

// A block climbs from a step, whose depth is known, while panels have less than `most` arcs; the last step, of panel -1 if
// there is none.  count: of the steps so far.  ways: of the arcs up, or else down.
__device__ __forceinline__ Step climb_alone(const Climb& climb, const T* ways, bool forward, Step at, long long most,
                                            int& count) {
    __shared__ T own[PANEL];
    Panel p = climb.panels[at.panel];
    while (true) {
        const Panel above = p.above < 0 ? p : climb.panels[p.above];
        const int width = p.last - at.x, columns = p.end - at.x - 1 + p.count, thread = threadIdx.x;
        if (columns * (long long)width >= most) return at;
        const long long arcs = p.arcs_of(at.x);
        if (thread < width) {
            own[thread] = climb.far[at.depth - thread];
            if (climb.who != nullptr) climb.who[at.depth - thread] = at.x + thread;
        }
        if (thread == 0 && climb.steps != nullptr) climb.steps[count] = at;
        ++count;
        __syncthreads();
        for (int c = thread; c < columns; c += blockDim.x) {
            T* const to = climb.far + depth_of(climb, p, at, c);
            *to = arriving(ways, forward, own, arcs, columns, 0, c + 1 < width ? c + 1 : width, c, *to);
        }
        __syncthreads();
        at = {p.parent, p.above, at.depth - width};
        if (at.panel < 0) return at;
        p = above;
    }
}

// A task of a warp in a step: ways from some positions of a panel, counted from the step's on, to a column for each lane.
struct Part {
    T way[PART];
    int first, to;  // of the positions; the depth of the column, -1 for none
};

__device__ __forceinline__ Part part_of(const Climb& climb, const T* ways, const Panel& p, const Step& at, int task) {
    const int width = p.last - at.x, columns = p.end - at.x - 1 + p.count, parts = (width + PART - 1) / PART;
    const int c = width - 1 + task / parts * 32 + lane_number(), first = task % parts * PART;
    Part part{{}, first, -1};
    if (c >= columns) return part;
    part.to = depth_of(climb, p, at, c);
    long long arc = p.arcs_of(at.x) + c + first * (long long)(columns - 1) - first * (long long)(first - 1) / 2;
#pragma unroll
    for (int i = 0; i < PART; ++i) {
        part.way[i] = first + i < width ? ways[arc] : ZERO;
        arc += columns - (first + i) - 1;
    }
    return part;
}

// All blocks climb one panel after the other to the root, with a barrier after each, before which the next is asked for.
// `far` of a panel stays without ways within it, which all blocks read.
__device__ __forceinline__ void climb_together(const Climb& climb, const T* ways, Step at, int& count,
                                               unsigned int* arrived) {
    __shared__ T own[PANEL];
    if (at.panel < 0) return;
    const int warp = threadIdx.x / 32 * gridDim.x + blockIdx.x, warps = (int)(thread_count() / 32);
    Panel p = climb.panels[at.panel];
    Part part = part_of(climb, ways, p, at, warp);
    while (true) {
        const int width = p.last - at.x, outer = p.end - p.last + p.count, parts = (width + PART - 1) / PART;
        const Step next{p.parent, p.above, at.depth - width};
        const Panel above = climb.panels[next.panel < 0 ? at.panel : next.panel];
        if (threadIdx.x < width) own[threadIdx.x] = now(climb.far + at.depth - (int)threadIdx.x);
        if (thread_number() == 0) climb.steps[count] = at;
        ++count;
        __syncthreads();
        for (int task = warp; task < (outer + 31) / 32 * parts; task += warps) {
            if (task != warp) part = part_of(climb, ways, p, at, task);
            if (part.to < 0) continue;
            T best = ZERO;
#pragma unroll
            for (int i = 0; i < PART; ++i)
                if (part.first + i < width) best = add(best, then(own[part.first + i], part.way[i]));
            if (best != ZERO) atomic_update(climb.far + part.to, best);
        }
        if (next.panel >= 0) part = part_of(climb, ways, above, next, warp);
        grid_barrier(arrived);
        if (next.panel < 0) return;
        at = next;
        p = above;
    }
}

// What is known of the panels of steps first … count - 1, by ways within each, too: a warp takes a position.
__device__ __forceinline__ void close_steps(const Climb& climb, const T* ways, int first, int count, int warp, int warps,
                                            T* closed) {
    for (int task = warp; task < (count - first) * PANEL; task += warps) {
        const Step at = climb.steps[first + task / PANEL];
        const Panel p = climb.panels[at.panel];
        const int own = task % PANEL, i = lane_number(), columns = p.end - at.x - 1 + p.count;
        if (at.x + own >= p.last) continue;
        T best = i <= own ? now(climb.far + at.depth - i) : ZERO;
        if (i < own)
            best = then(best, ways[p.arcs_of(at.x) + own - 1 + i * (long long)(columns - 1) - i * (long long)(i - 1) / 2]);
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) best = add(best, from_lane(best, i ^ distance));
        if (i == 0) closed[at.depth - own] = best;
    }
}

// What is known of the ancestors before a climb.
__device__ __forceinline__ void begin_climb(T* far, int depth, T one) {
    for (int i = threadIdx.x; i <= depth; i += blockDim.x) far[i] = i == depth ? one : ZERO;
    __syncthreads();
}

// What a climb knows of the panels of steps first … count - 1, closed downwards: write(x, t) for each position x.
// known(i): of the ancestor of depth i, in shared memory or not.  down: of the arcs that the sweep takes.
template <class Known, class Write>
__device__ __forceinline__ void hand_down(const Panel* panels, const Step* steps, const Known& known, const T* down,
                                          int first, int count, int warp, int warps, const Write& write) {
    for (int k = first + warp; k < count; k += warps) {
        const Step at = steps[k];
        const Panel p = panels[at.panel];
        const int x = p.first + lane_number();
        if (x >= p.last) continue;
        const long long arcs = p.arcs_of(x) - x - 1;
        T best = x >= at.x ? known(at.depth - (x - at.x)) : ZERO;
        for (int y = x + 1 > at.x ? x + 1 : at.x; y < p.last; ++y)
            best = add(best, then(known(at.depth - (y - at.x)), down[arcs + y]));
        write(x, best);
    }
}

// Climbs from many positions, a block for each.  spare: room for `height` ancestors of each block.  found, who: what is
// known of the ancestors, and which they are, -1 for none: of climb k from k * apart on, `step` apart.
extern "C" __global__ void climb_to_table(const Panel* panels, const int* depths, const T* ways, bool forward,
                                          const Step* starts, int count, T one, int height, T* spare, int* spare_who,
                                          T* found, int* who, long long apart, long long step) {
    __shared__ T near[CLIMB_ROOM];
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        const Step start = starts[k];
        T* const far = height <= CLIMB_ROOM ? near : spare + blockIdx.x * (long long)height;
        int* const own = spare_who + blockIdx.x * (long long)height;
        int steps = 0;
        begin_climb(far, start.depth, one);
        climb_alone({panels, depths, far, own, nullptr}, ways, forward, start, LLONG_MAX, steps);
        for (int i = threadIdx.x; i < height; i += blockDim.x) {
            if (i <= start.depth) found[k * apart + i * step] = far[i];
            who[k * apart + i * step] = i <= start.depth ? own[i] : -1;
        }
        __syncthreads();
    }
}

constexpr int SHARED_SOURCES = 4;  // of a thread

// out_st = ⊕ over the common ancestors, which have the same depths, of d_s ⊗ e_t.  d: (sources, height), e: (height, targets);
// and who the ancestors are, -1 below a source or a target.
extern "C" __global__ void meet(const T* d, const int* d_who, const T* e, const int* e_who, int sources, int targets,
                                int height, T* out, long long apart) {
    const long long groups = (sources + SHARED_SOURCES - 1) / SHARED_SOURCES, across = (targets + 31) / 32 * 32;
    for (long long k = thread_number(); k < groups * across; k += thread_count()) {
        const int t = (int)(k % across), first = (int)(k / across) * SHARED_SOURCES;
        int common[SHARED_SOURCES], most = 0;
        T best[SHARED_SOURCES];
#pragma unroll
        for (int i = 0; i < SHARED_SOURCES; ++i) {
            const int s = first + i < sources ? first + i : sources - 1;
            int low = 0, high = height;  // ancestors below `low` are common
            while (low < high) {
                const int middle = (low + high) / 2;
                const int here = d_who[s * (long long)height + middle];
                if (t < targets && here >= 0 && here == e_who[middle * (long long)targets + t]) low = middle + 1;
                else high = middle;
            }
            common[i] = low;
            if (low > most) most = low;
            best[i] = ZERO;
        }
        for (int a = 0; a < most; ++a) {
            const T to = e[a * (long long)targets + t];
#pragma unroll
            for (int i = 0; i < SHARED_SOURCES; ++i)
                if (a < common[i]) best[i] = add(best[i], then(d[(first + i < sources ? first + i : 0) * (long long)height + a], to));
        }
#pragma unroll
        for (int i = 0; i < SHARED_SOURCES; ++i)
            if (t < targets && first + i < sources) out[(first + i) * apart + t] = best[i];
    }
}

// --- one source -------------------------------------------------------------------------------------------------------

constexpr int KEPT = 4;  // arcs that a thread asks for before what they lead from is known

// Pieces of a level, from `base` on, one for each group of threads.
struct Turn {
    int level, base, end, lanes;
};

// What a thread does of a piece: its arcs are j, j + lanes, …
struct Share {
    int from[KEPT];
    T number[KEPT];
};

__device__ __forceinline__ Turn turn_of(const Sweep& sweep, int level, int last) {
    if (level >= last) return {level, 0, 0, 1};
    return {level, sweep.levels[level], sweep.levels[level + 1], sweep.lanes[level]};
}

__device__ __forceinline__ Turn turn_after(const Sweep& sweep, Turn turn, int size, int last) {
    turn.base += size / turn.lanes;
    return turn.base < turn.end ? turn : turn_of(sweep, turn.level + 1, last);
}

__device__ __forceinline__ Piece piece_of(const Sweep& sweep, const Turn& turn, int rank) {
    const int k = turn.base + rank / turn.lanes;
    if (k < turn.end) return sweep.pieces[k];
    return {0, 0, 0, 0, 0, 0};
}

__device__ __forceinline__ int arcs_in(const Piece& piece) { return piece.count < 0 ? -piece.count : piece.count; }

__device__ __forceinline__ int end_of(const Sweep& sweep, const Piece& piece, int j) {
    return j < piece.inside ? piece.base + j : sweep.rows[piece.rows + j];
}

__device__ __forceinline__ Share share_of(const Sweep& sweep, const Turn& turn, const Piece& piece, int rank) {
    const int member = rank % turn.lanes, count = arcs_in(piece);
    Share share;
#pragma unroll
    for (int u = 0; u < KEPT; ++u) {
        const int j = member + u * turn.lanes;
        if (j >= count) break;
        share.from[u] = end_of(sweep, piece, j);
        share.number[u] = sweep.numbers[piece.arcs + j];
    }
    return share;
}

// d of the positions of some levels, by threads of which this is number `rank`, whole warps. What the next turn needs beside
// d is asked for before this one ends, also across the wait after each level.
template <class Wait>
__device__ __forceinline__ void sweep_levels(const Sweep& sweep, int first, int last, int rank, int size, T* d,
                                             const Wait& wait) {
    Turn turn = turn_of(sweep, first, last), next = turn_after(sweep, turn, size, last);
    Piece piece = piece_of(sweep, turn, rank), its = piece_of(sweep, next, rank);
    Share share = share_of(sweep, turn, piece, rank);
    while (turn.level < last) {
        const int lanes = turn.lanes, member = rank % lanes, count = arcs_in(piece);
        T best = ZERO, far[KEPT];
        if (count > 0 && member == 0) best = now(d + piece.x);
#pragma unroll
        for (int u = 0; u < KEPT; ++u)
            if (member + u * lanes < count) far[u] = now(d + share.from[u]);
        const Share ahead = share_of(sweep, next, its, rank);
        const Turn after = turn_after(sweep, next, size, last);
        const Piece far_ahead = piece_of(sweep, after, rank);
#pragma unroll
        for (int u = 0; u < KEPT; ++u)
            if (member + u * lanes < count) best = add(best, then(far[u], share.number[u]));
#pragma unroll 4
        for (int j = member + KEPT * lanes; j < count; j += lanes)
            best = add(best, then(now(d + end_of(sweep, piece, j)), sweep.numbers[piece.arcs + j]));
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            best = add(best, from_lane(best, lane_number() ^ distance));
        if (count > 0 && member == 0) {
            if (piece.count > 0) d[piece.x] = best;
            else atomic_add(d + piece.x, best);
        }
        if (next.level != turn.level) wait();
        turn = next;
        next = after;
        piece = its;
        its = far_ahead;
        share = ahead;
    }
}

// What `solve` has of the climb between its steps.
struct SolveControl {
    unsigned int arrived, count;
    Step at;
};

// The worst of what threads have that is not the zero, for each block; all of the block take part.
__device__ __forceinline__ void note_worst(T worst, T* worsts) {
    __shared__ T of_warp[32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const T there = from_lane(worst, lane_number() ^ distance);
        if (better(worst, there)) worst = there;
    }
    if (lane_number() == 0) of_warp[threadIdx.x / 32] = worst;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < (int)blockDim.x / 32; ++i)
        if (better(worst, of_warp[i])) worst = of_warp[i];
    worsts[blockIdx.x] = worst;
}

// d of all positions, by the whole grid, and `out` of all vertices.  worsts: gets the worst of each block.
__device__ __forceinline__ void sweep_down(const Sweep& sweep, const int* place, long long n, T one, T* d, T* out, T* worsts,
                                           unsigned int* arrived) {
    const int rank = (threadIdx.x / 32 * gridDim.x + blockIdx.x) * 32 + lane_number();
    sweep_levels(sweep, sweep.bins[0], sweep.bins[1], rank, (int)thread_count(), d, [&] { grid_barrier(arrived); });
    for (int bin = 1 + blockIdx.x; bin < sweep.bin_count; bin += gridDim.x)
        sweep_levels(sweep, sweep.bins[bin], sweep.bins[bin + 1], threadIdx.x, blockDim.x, d, [] { __syncthreads(); });
    grid_barrier(arrived);
    T worst = one;
    for (long long v = thread_number(); v < n; v += thread_count()) {
        const T t = now(d + place[v]);
        out[v] = t;
        if (t != ZERO && better(worst, t)) worst = t;
    }
    note_worst(worst, worsts);
}

// Distances from one position to all vertices.  spare: twice, and steps: room for it and its ancestors.  worsts: gets the worst of each block.
extern "C" __global__ void __launch_bounds__(SOLVE_THREADS, SOLVE_BLOCKS)
    solve(SolveControl* control, const Panel* panels, const int* depths, const T* ways, int x, int panel, int depth, T one,
          T* spare, Step* steps, const Piece* pieces, const int* rows, const int* levels, const int* lanes, const int* bins,
          int bin_count, const T* numbers, const int* place, long long n, T* d, T* out, T* worsts) {
    __shared__ T near[CLIMB_ROOM];
    const Sweep sweep{pieces, rows, levels, lanes, bins, bin_count, numbers};
    const Climb together{panels, depths, spare, nullptr, steps};
    unsigned int* const arrived = &control->arrived;
    const int warp = threadIdx.x / 32 * gridDim.x + blockIdx.x, idle = gridDim.x == 1 ? 0 : 1;
    if (blockIdx.x == 0) {
        T* const far = depth < CLIMB_ROOM ? near : spare;
        int count = 0;
        begin_climb(far, depth, one);
        const Step at = climb_alone({panels, depths, far, nullptr, steps}, ways, true, {x, panel, depth}, SHARED_WORK, count);
        if (far != spare)
            for (int i = threadIdx.x; i <= depth; i += blockDim.x) spare[i] = far[i];
        if (threadIdx.x == 0) {
            control->at = at;
            control->count = (unsigned int)count;
        }
    }
    if ((int)blockIdx.x >= idle)
        for (long long i = (blockIdx.x - idle) * (long long)blockDim.x + threadIdx.x; i < n;
             i += (gridDim.x - idle) * (long long)blockDim.x)
            d[i] = ZERO;
    grid_barrier(arrived);
    const int alone = (int)now(&control->count), groups = (int)(thread_count() / 32);
    int count = alone;
    T* const closed = spare + depth + 1;
    climb_together(together, ways, {now(&control->at.x), now(&control->at.panel), now(&control->at.depth)}, count, arrived);
    close_steps(together, ways, alone, count, warp, groups, closed);
    if (count > alone) grid_barrier(arrived);
    const auto write = [&](int at, T t) { d[at] = t; };
    hand_down(panels, steps, [&](int i) { return now(spare + i); }, numbers, 0, alone, warp, groups, write);
    hand_down(panels, steps, [&](int i) { return now(closed + i); }, numbers, alone, count, warp, groups, write);
    grid_barrier(arrived);
    sweep_down(sweep, place, n, one, d, out, worsts, arrived);
}

// --- many sources -----------------------------------------------------------------------------------------------------

// Distances from some sources side by side, a lane has LANE of them. A strip of sources has a row for each position.
constexpr int LANE = sizeof(T) == 8 ? 2 : 4, STRIP = 32 * LANE;

struct alignas(LANE * sizeof(T)) Side {
    T of[LANE];
};

template <int BYTES> struct WordsOf { using type = uint4; };
template <> struct WordsOf<4> { using type = unsigned int; };

__device__ __forceinline__ Side loaded(const Side* address) {
    Side side;
    const auto words = __ldcg(reinterpret_cast<const typename WordsOf<sizeof(Side)>::type*>(address));
    memcpy(&side, &words, sizeof(Side));
    return side;
}

__device__ __forceinline__ void take(Side& best, const Side& from, T weight) {
#pragma unroll
    for (int q = 0; q < LANE; ++q) best.of[q] = add(best.of[q], then(from.of[q], weight));
}

// The zero to rows that are written not by one piece alone: of the ancestors of sources, which get a mark, and of others, which
// have several pieces or none.  marks: of each strip and position.
extern "C" __global__ void clear_lanes(const Panel* panels, const Step* starts, int count, const int* others, int other_count,
                                       int strips, long long n, unsigned char* marks, T* d) {
    Side zero;
#pragma unroll
    for (int q = 0; q < LANE; ++q) zero.of[q] = ZERO;
    Side* const rows = reinterpret_cast<Side*>(d);
    const int lane = lane_number(), warps = (int)(thread_count() / 32);
    for (int k = (int)(thread_number() / 32); k < count; k += warps) {
        const long long strip = k / STRIP * n;
        for (int at = starts[k].panel; at >= 0;) {
            const Panel p = panels[at];
            const int mark = lane == 0 ? now(marks + strip + p.last - 1) : 0;
            if (from_lane(mark, 0) != 0) break;  // another source's climb has come by
            for (int x = p.last - 1; x >= p.first; --x) {
                rows[(strip + x) * 32 + lane] = zero;
                if (lane == 0) marks[strip + x] = 1;
            }
            at = p.above;
        }
    }
    for (int k = (int)(thread_number() / 32); k < other_count * strips; k += warps) {
        const long long x = k % strips * n + others[k / strips];
        rows[x * 32 + lane] = zero;
    }
}

// Climbs from many positions, whose distances become lanes of d, which holds the zero there.
extern "C" __global__ void climb_to_lanes(const Panel* panels, const int* depths, const T* ways, const Step* starts,
                                          int count, T one, int height, T* spare, Step* spare_steps, const T* down,
                                          long long n, T* d) {
    __shared__ T near[CLIMB_ROOM];
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        const Step start = starts[k];
        T* const far = height <= CLIMB_ROOM ? near : spare + blockIdx.x * (long long)height;
        const Climb climb{panels, depths, far, nullptr, spare_steps + blockIdx.x * (long long)height};
        int steps = 0;
        begin_climb(far, start.depth, one);
        climb_alone(climb, ways, true, start, LLONG_MAX, steps);
        T* const lane = d + k / STRIP * n * STRIP + k % STRIP;
        hand_down(panels, climb.steps, [&](int i) { return far[i]; }, down, 0, steps, threadIdx.x / 32, blockDim.x / 32,
                        [&](int x, T t) { lane[x * (long long)STRIP] = t; });
        __syncthreads();
    }
}

// The end and the number of an arc of a piece, in each lane of another; the last again beyond the last.
struct Arcs {
    int end;
    T weight;
};

__device__ __forceinline__ Arcs arcs_from(const Sweep& sweep, const Piece& piece, int at) {
    const int count = arcs_in(piece), j = at + lane_number() < count ? at + lane_number() : count - 1;
    return {end_of(sweep, piece, j), sweep.numbers[piece.arcs + j]};
}

// d of the position of a piece, for a strip of sources, by a warp: a lane reads and writes its own sources alone.  arcs: the
// first.
__device__ __forceinline__ void sweep_piece(const Sweep& sweep, const Piece& piece, Arcs arcs, const unsigned char* marks,
                                            Side* strip) {
    constexpr int ARCS_AT_A_TIME = 4;
    Side* const own = strip + piece.x * 32LL;
    const int count = arcs_in(piece);
    Side best;
#pragma unroll
    for (int q = 0; q < LANE; ++q) best.of[q] = ZERO;
    if (marks[piece.x] != 0) best = loaded(own);
    for (int at = 0;;) {
        const int some = count - at < 32 ? count - at : 32;
        for (int i = 0; i < some; i += ARCS_AT_A_TIME) {
            Side from[ARCS_AT_A_TIME];
#pragma unroll
            for (int u = 0; u < ARCS_AT_A_TIME; ++u)
                from[u] = strip[from_lane(arcs.end, i + u < some ? i + u : some - 1) * 32LL];
#pragma unroll
            for (int u = 0; u < ARCS_AT_A_TIME; ++u)
                take(best, from[u], from_lane(arcs.weight, i + u < some ? i + u : some - 1));
        }
        at += 32;
        if (at >= count) break;
        arcs = arcs_from(sweep, piece, at);
    }
    if (piece.count >= 0) {
        *own = best;
    } else {
#pragma unroll
        for (int q = 0; q < LANE; ++q) atomic_add(&own->of[q], best.of[q]);
    }
}

struct SweepControl {
    unsigned int arrived, taken;
};

// Distances of strips of sources: a warp takes a piece of the top, and then a whole bin, and a strip.
extern "C" __global__ void __launch_bounds__(SWEEP_THREADS, SWEEP_BLOCKS)
    sweep(SweepControl* control, const Piece* pieces, const int* rows, const int* levels, const int* lanes, const int* bins,
          int bin_count, const T* numbers, int strips, long long n, const unsigned char* marks, T* d) {
    const Sweep sweep{pieces, rows, levels, lanes, bins, bin_count, numbers};
    const int warp = threadIdx.x / 32 * gridDim.x + blockIdx.x, warps = (int)(thread_count() / 32);
    Side* const all = reinterpret_cast<Side*>(d) + lane_number();
    for (int level = bins[0]; level < bins[1]; ++level) {
        const int begin = levels[level];
        const long long items = (levels[level + 1] - begin) * (long long)strips;
        for (long long k = warp; k < items; k += warps) {
            const Piece piece = pieces[begin + k / strips];
            const long long strip = k % strips * n;
            sweep_piece(sweep, piece, arcs_from(sweep, piece, 0), marks + strip, all + strip * 32);
        }
        grid_barrier(&control->arrived);
    }
    while (true) {
        const unsigned int k = from_lane(lane_number() == 0 ? atomicAdd(&control->taken, 1u) : 0u, 0);
        if (k >= (bin_count - 1) * (unsigned int)strips) break;
        const long long strip = k % strips * n;
        const int last = levels[bins[2 + k / strips]];
        int i = levels[bins[1 + k / strips]];
        if (i == last) continue;
        Piece piece = pieces[i], next = pieces[i + 1 < last ? i + 1 : i];
        Arcs arcs = arcs_from(sweep, piece, 0);
        for (; i < last; ++i) {
            const Arcs its = arcs_from(sweep, next, 0);
            const Piece after = pieces[i + 2 < last ? i + 2 : last - 1];
            sweep_piece(sweep, piece, arcs, marks + strip, all + strip * 32);
            piece = next;
            arcs = its;
            next = after;
        }
    }
}

// Rows of positions become rows of sources, a column for each vertex.  worsts: gets the worst of each block.
extern "C" __global__ void turn(const T* d, const int* place, long long n, int count, T one, T* out, T* worsts) {
    constexpr int DOWN = 88;
    __shared__ T tile[DOWN][STRIP + 1];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = lane_number();
    const long long down = (n + DOWN - 1) / DOWN, across = (count + STRIP - 1) / STRIP;
    T worst = one;
    for (long long t = blockIdx.x; t < down * across; t += gridDim.x) {
        const long long base = t / across * DOWN;
        const int strip = (int)(t % across), some = count - strip * STRIP;
        const Side* const rows = reinterpret_cast<const Side*>(d) + strip * n * 32 + lane;
#pragma unroll 4
        for (int i = warp; i < DOWN; i += warps) {
            if (base + i >= n) continue;
            const Side side = rows[place[base + i] * 32LL];
#pragma unroll
            for (int q = 0; q < LANE; ++q) tile[i][lane * LANE + q] = side.of[q];
        }
        __syncthreads();
        for (int j = warp; j < STRIP && j < some; j += warps) {
#pragma unroll
            for (int i = lane; i < DOWN; i += 32) {
                if (base + i >= n) continue;
                const T value = tile[i][j];
                out[(strip * (long long)STRIP + j) * n + base + i] = value;
                if (value != ZERO && better(worst, value)) worst = value;
            }
        }
        __syncthreads();
    }
    note_worst(worst, worsts);
}
