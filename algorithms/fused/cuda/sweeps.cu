// Distances from a factor: climbs of the elimination tree, and sweeps down to all positions.
//
//     climb:  d_y = d_y ⊕ d_x ⊗ u_xy      for the panels from a position to its root, one after the other
//     sweep:  d_x = d_x ⊕ d_y ⊗ l_yx      for the panels from the roots down, by levels
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

// All blocks climb one panel after the other to the root, with a barrier after each.  closed: gets what is known of a panel
// by ways within it, too; `far` keeps what was known before, which all blocks read.
__device__ __forceinline__ void climb_together(const Climb& climb, const T* ways, Step at, T* closed, int& count,
                                               unsigned int* arrived) {
    __shared__ T own[PANEL];
    const int warp = threadIdx.x / 32 * gridDim.x + blockIdx.x, warps = (int)(thread_count() / 32);
    while (at.panel >= 0) {
        const Panel p = climb.panels[at.panel];
        const int width = p.last - at.x, columns = p.end - at.x - 1 + p.count, parts = (width + PART - 1) / PART;
        const long long arcs = p.arcs_of(at.x);
        if (threadIdx.x < width) own[threadIdx.x] = now(climb.far + at.depth - (int)threadIdx.x);
        if (thread_number() == 0) {
            climb.steps[count] = at;
            closed[at.depth] = now(climb.far + at.depth);
        }
        ++count;
        __syncthreads();
        for (int task = warp; task < (columns + 31) / 32 * parts; task += warps) {
            const int c = task / parts * 32 + lane_number(), part = task % parts;
            if (c >= columns) continue;
            if (c < width - 1) {
                if (part == 0)
                    closed[at.depth - 1 - c] = arriving(ways, true, own, arcs, columns, 0, c + 1, c, own[c + 1]);
                continue;
            }
            const int first = part * PART, last = first + PART < width ? first + PART : width;
            const T best = arriving(ways, true, own, arcs, columns, first, last, c, ZERO);
            if (best != ZERO) atomic_add(climb.far + depth_of(climb, p, at, c), best);
        }
        grid_barrier(arrived);
        at = {p.parent, p.above, at.depth - width};
    }
}

// What is known of the ancestors before a climb.
__device__ __forceinline__ void begin_climb(T* far, int depth, T one) {
    for (int i = threadIdx.x; i <= depth; i += blockDim.x) far[i] = i == depth ? one : ZERO;
    __syncthreads();
}

// What a climb knows of the panels of steps first … count - 1, closed downwards, to d: of position x, at x * apart.
// known(i): of the ancestor of depth i, in shared memory or not.
template <class Known>
__device__ __forceinline__ void hand_down(const Panel* panels, const Step* steps, const Known& known, const T* down,
                                          int first, int count, int warp, int warps, T* d, long long apart) {
    for (int k = first + warp; k < count; k += warps) {
        const Step at = steps[k];
        const Panel p = panels[at.panel];
        const int x = p.first + lane_number();
        if (x >= p.last) continue;
        const long long arcs = p.arcs_of(x) - x - 1;
        T best = x >= at.x ? known(at.depth - (x - at.x)) : ZERO;
        for (int y = x + 1 > at.x ? x + 1 : at.x; y < p.last; ++y)
            best = add(best, then(known(at.depth - (y - at.x)), down[arcs + y]));
        d[x * apart] = best;
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

// d of the positions of some levels, by threads of which this is number `rank`, whole warps.
template <class Wait>
__device__ __forceinline__ void sweep_levels(const Sweep& sweep, int first, int last, int rank, int size, T* d,
                                             const Wait& wait) {
    for (int level = first; level < last; ++level) {
        const int end = sweep.levels[level + 1], lanes = sweep.lanes[level], groups = size / lanes, member = rank % lanes;
        for (int base = sweep.levels[level]; base < end; base += groups) {
            const int k = base + rank / lanes;
            T best = ZERO;
            int x = -1;
            bool alone = true;
            if (k < end) {
                const Piece piece = sweep.pieces[k];
                const int count = piece.count < 0 ? -piece.count : piece.count;
                x = piece.x;
                alone = piece.count >= 0;
                if (member == 0) best = now(d + x);
#pragma unroll 4
                for (int j = member; j < count; j += lanes) {
                    const int y = j < piece.inside ? piece.base + j : sweep.rows[piece.rows + j];
                    best = add(best, then(now(d + y), sweep.numbers[piece.arcs + j]));
                }
            }
            for (int distance = lanes / 2; distance > 0; distance /= 2)
                best = add(best, from_lane(best, lane_number() ^ distance));
            if (x >= 0 && member == 0) {
                if (alone) d[x] = best;
                else atomic_add(d + x, best);
            }
        }
        wait();
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
    climb_together(together, ways, {now(&control->at.x), now(&control->at.panel), now(&control->at.depth)}, closed, count,
                   arrived);
    hand_down(panels, steps, [&](int i) { return now(spare + i); }, numbers, 0, alone, warp, groups, d, 1);
    hand_down(panels, steps, [&](int i) { return now(closed + i); }, numbers, alone, count, warp, groups, d, 1);
    grid_barrier(arrived);
    sweep_levels(sweep, sweep.bins[0], sweep.bins[1], warp * 32 + lane_number(), (int)thread_count(), d,
                 [&] { grid_barrier(arrived); });
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

// Climbs from many positions, whose distances become lanes of d, which holds the zero before.
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
        hand_down(panels, climb.steps, [&](int i) { return far[i]; }, down, 0, steps, threadIdx.x / 32, blockDim.x / 32, lane,
                  STRIP);
        __syncthreads();
    }
}

// d of the positions of some levels, for strips of sources: a warp takes a piece and a strip.
template <class Wait>
__device__ __forceinline__ void sweep_strips(const Sweep& sweep, int first, int last, int warp, int warps, int from_strip,
                                             int strips, long long n, T* d, const Wait& wait) {
    constexpr int AT_ONCE = 4;
    Side* const all = reinterpret_cast<Side*>(d) + lane_number() + from_strip * n * 32;
    for (int level = first; level < last; ++level) {
        const int begin = sweep.levels[level];
        const long long items = (sweep.levels[level + 1] - begin) * (long long)strips;
        for (long long k = warp; k < items; k += warps) {
            const Piece piece = sweep.pieces[begin + k / strips];
            Side* const strip = all + k % strips * n * 32;
            Side* const own = strip + piece.x * 32LL;
            const int count = piece.count < 0 ? -piece.count : piece.count;
            Side best = loaded(own);
            for (int at = 0; at < count; at += 32) {
                const int j = at + lane_number() < count ? at + lane_number() : count - 1;
                const int end = j < piece.inside ? piece.base + j : sweep.rows[piece.rows + j];
                const T weight = sweep.numbers[piece.arcs + j];
                const int some = count - at < 32 ? count - at : 32;
                for (int i = 0; i < some; i += AT_ONCE) {
                    Side from[AT_ONCE];
#pragma unroll
                    for (int u = 0; u < AT_ONCE; ++u)
                        from[u] = strip[from_lane(end, i + u < some ? i + u : some - 1) * 32LL];
#pragma unroll
                    for (int u = 0; u < AT_ONCE; ++u) take(best, from[u], from_lane(weight, i + u < some ? i + u : some - 1));
                }
            }
            if (piece.count >= 0) {
                *own = best;
            } else {
#pragma unroll
                for (int q = 0; q < LANE; ++q) atomic_add(&own->of[q], best.of[q]);
            }
        }
        wait();
    }
}

extern "C" __global__ void __launch_bounds__(SWEEP_THREADS, SWEEP_BLOCKS)
    sweep(unsigned int* arrived, const Piece* pieces, const int* rows, const int* levels, const int* lanes, const int* bins,
          int bin_count, const T* numbers, int strips, long long n, T* d) {
    const Sweep sweep{pieces, rows, levels, lanes, bins, bin_count, numbers};
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    sweep_strips(sweep, sweep.bins[0], sweep.bins[1], warp * gridDim.x + blockIdx.x, warps * gridDim.x, 0, strips, n, d,
                 [&] { grid_barrier(arrived); });
    for (long long k = blockIdx.x; k < (sweep.bin_count - 1) * (long long)strips; k += gridDim.x) {
        const int bin = 1 + (int)(k / strips);
        sweep_strips(sweep, sweep.bins[bin], sweep.bins[bin + 1], warp, warps, (int)(k % strips), 1, n, d,
                     [] { __syncthreads(); });
    }
}

// Rows of positions become rows of sources, a column for each vertex.  worsts: gets the worst of each block.
extern "C" __global__ void turn(const T* d, const int* place, long long n, int count, T one, T* out, T* worsts) {
    constexpr int DOWN = 32;
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
            if (base + lane >= n) continue;
            const T value = tile[lane][j];
            out[(strip * (long long)STRIP + j) * n + base + lane] = value;
            if (value != ZERO && better(worst, value)) worst = value;
        }
        __syncthreads();
    }
    note_worst(worst, worsts);
}
