// Distances from a factor: climbs of the elimination tree, and sweeps down to all positions.
//
//     climb:  d_y = d_y ⊕ d_x ⊗ u_xy      for the panels from a position to its root, one after the other
//     sweep:  d_x = d_x ⊕ d_y ⊗ l_yx      for the panels from the roots down, by levels
//
// u and l are closed within each panel (elimination.cu), so that a panel is one step, and its positions wait for none of
// their own. The levels next to the roots end with a barrier of the grid. What hangs below them is cut into as many bins of
// subtrees as there are blocks, and a block goes down the levels of a bin by itself.

constexpr int CLIMB_ROOM = 2048;  // ancestors in shared memory

// Arcs to a position, at most some hundreds.
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

// A position, and how many are above it.
struct Start {
    int x, panel, depth;
};

// d of all ancestors of a position by their depth, from its own on; a block climbs.  ways: of the arcs up, or down.  depths:
// of the positions in `rows`.  who: gets the ancestors, by their depth.
__device__ __forceinline__ void climb(const Panel* panels, const int* depths, const T* ways, bool forward,
                                      const Start& start, T one, T* far, int* who) {
    __shared__ T own[PANEL];
    for (int i = threadIdx.x; i <= start.depth; i += blockDim.x) far[i] = i == start.depth ? one : ZERO;
    __syncthreads();
    int depth = start.depth, x = start.x;
    Panel p = panels[start.panel];
    while (true) {
        const Panel above = p.above < 0 ? p : panels[p.above];
        const int width = p.last - x, rest = p.end - x - 1, columns = rest + p.count;
        const long long arcs = p.arcs_of(x);
        if (threadIdx.x < width) {
            own[threadIdx.x] = far[depth - (int)threadIdx.x];
            who[depth - (int)threadIdx.x] = x + (int)threadIdx.x;
        }
        __syncthreads();
        for (int c = threadIdx.x; c < columns; c += blockDim.x) {
            const int to = c < rest ? depth - 1 - c : depths[p.rows + c - rest];
            const int last = c + 1 < width ? c + 1 : width;
            T best = far[to];
            long long at = arcs + c;
#pragma unroll 4
            for (int i = 0; i < last; ++i) {
                const T w = ways[at];
                best = add(best, forward ? then(own[i], w) : then(w, own[i]));
                at += columns - i - 1;
            }
            far[to] = best;
        }
        __syncthreads();
        if (p.above < 0) return;
        depth -= width;
        x = p.parent;
        p = above;
    }
}

// Climbs from many positions, a block for each.  spare: room for `height` ancestors of each block.  found, who: what is
// known of the ancestors, and which they are, -1 for none: of climb k from k * apart on, `step` apart.
extern "C" __global__ void climb_to_table(const Panel* panels, const int* depths, const T* ways, bool forward,
                                          const Start* starts, int count, T one, int height, T* spare, int* spare_who,
                                          T* found, int* who, long long apart, long long step) {
    __shared__ T near[CLIMB_ROOM];
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        const Start start = starts[k];
        T* const far = height <= CLIMB_ROOM ? near : spare + blockIdx.x * (long long)height;
        int* const own = spare_who + blockIdx.x * (long long)height;
        climb(panels, depths, ways, forward, start, one, far, own);
        for (int i = threadIdx.x; i <= start.depth; i += blockDim.x) {
            found[k * apart + i * step] = far[i];
            who[k * apart + i * step] = own[i];
        }
        for (int i = start.depth + 1 + threadIdx.x; i < height; i += blockDim.x) who[k * apart + i * step] = -1;
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

// Distances from one position to all vertices.  spare, who: room for its ancestors.
extern "C" __global__ void __launch_bounds__(SOLVE_THREADS, SOLVE_BLOCKS)
    solve(unsigned int* arrived, const Panel* panels, const int* depths, const T* ways, int x, int panel, int depth, T one,
          T* spare, int* who, const Piece* pieces, const int* rows, const int* levels, const int* lanes, const int* bins,
          int bin_count, const T* numbers, const int* place, long long n, T* d, T* out) {
    const Start start{x, panel, depth};
    const Sweep sweep{pieces, rows, levels, lanes, bins, bin_count, numbers};
    __shared__ T near[CLIMB_ROOM];
    T* const far = depth < CLIMB_ROOM ? near : spare;
    const int warp = threadIdx.x / 32 * gridDim.x + blockIdx.x;
    if (blockIdx.x == 0) climb(panels, depths, ways, true, start, one, far, who);
    if (blockIdx.x != 0 || gridDim.x == 1) {
        const int idle = gridDim.x == 1 ? 0 : 1;
        for (long long i = (blockIdx.x - idle) * (long long)blockDim.x + threadIdx.x; i < n;
             i += (gridDim.x - idle) * (long long)blockDim.x)
            d[i] = ZERO;
    }
    grid_barrier(arrived);
    if (blockIdx.x == 0)
        for (int i = threadIdx.x; i <= start.depth; i += blockDim.x) d[who[i]] = far[i];
    grid_barrier(arrived);
    sweep_levels(sweep, sweep.bins[0], sweep.bins[1], warp * 32 + lane_number(), (int)thread_count(), d,
                 [&] { grid_barrier(arrived); });
    for (int bin = 1 + blockIdx.x; bin < sweep.bin_count; bin += gridDim.x)
        sweep_levels(sweep, sweep.bins[bin], sweep.bins[bin + 1], threadIdx.x, blockDim.x, d, [] { __syncthreads(); });
    grid_barrier(arrived);
    for (long long v = thread_number(); v < n; v += thread_count()) out[v] = now(d + place[v]);
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
extern "C" __global__ void climb_to_lanes(const Panel* panels, const int* depths, const T* ways, const Start* starts,
                                          int count, T one, int height, T* spare, int* spare_who, long long n, T* d) {
    __shared__ T near[CLIMB_ROOM];
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        const Start start = starts[k];
        T* const far = height <= CLIMB_ROOM ? near : spare + blockIdx.x * (long long)height;
        int* const who = spare_who + blockIdx.x * (long long)height;
        climb(panels, depths, ways, true, start, one, far, who);
        T* const lane = d + k / STRIP * n * STRIP + k % STRIP;
        for (int i = threadIdx.x; i <= start.depth; i += blockDim.x) lane[who[i] * (long long)STRIP] = far[i];
        __syncthreads();
    }
}

// The same for strips of sources: a warp takes a piece and a strip.
template <class Wait>
__device__ __forceinline__ void sweep_strips(const Sweep& sweep, int first, int last, int warp, int warps, int strips,
                                             long long n, T* d, const Wait& wait) {
    constexpr int AT_ONCE = 4;
    Side* const rows = reinterpret_cast<Side*>(d) + lane_number();
    for (int level = first; level < last; ++level) {
        const int begin = sweep.levels[level];
        const long long items = (sweep.levels[level + 1] - begin) * (long long)strips;
        for (long long k = warp; k < items; k += warps) {
            const Piece piece = sweep.pieces[begin + k / strips];
            Side* const strip = rows + k % strips * n * 32;
            const int count = piece.count < 0 ? -piece.count : piece.count;
            Side best = loaded(strip + piece.x * 32LL);
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
            Side* const own = strip + piece.x * 32LL;
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
    const int warp = threadIdx.x / 32;
    sweep_strips(sweep, sweep.bins[0], sweep.bins[1], warp * gridDim.x + blockIdx.x, (int)(thread_count() / 32), strips, n, d,
                 [&] { grid_barrier(arrived); });
    for (int bin = 1 + blockIdx.x; bin < sweep.bin_count; bin += gridDim.x)
        sweep_strips(sweep, sweep.bins[bin], sweep.bins[bin + 1], warp, (int)blockDim.x / 32, strips, n, d,
                     [] { __syncthreads(); });
}

// Rows of positions become rows of sources, a column for each vertex.
extern "C" __global__ void turn(const T* d, const int* place, long long n, int count, T* out) {
    constexpr int ACROSS = 32;
    __shared__ T tile[ACROSS][ACROSS + 1];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const long long down = (n + ACROSS - 1) / ACROSS, across = (count + ACROSS - 1) / ACROSS;
    for (long long t = blockIdx.x; t < down * across; t += gridDim.x) {
        const long long base = t / across * ACROSS;
        const int first = (int)(t % across) * ACROSS;
        const T* const strip = d + first / STRIP * n * STRIP + first % STRIP;
        for (int i = warp; i < ACROSS; i += warps)
            if (base + i < n) tile[i][lane_number()] = strip[place[base + i] * (long long)STRIP + lane_number()];
        __syncthreads();
        for (int j = warp; j < ACROSS; j += warps)
            if (first + j < count && base + lane_number() < n)
                out[(first + j) * n + base + lane_number()] = tile[lane_number()][j];
        __syncthreads();
    }
}
