// The numbers of a factor: panels are eliminated by levels, from the leaves, and add to the arcs of those above.
//
//     w_yz = w_yz ⊕ w_yx ⊗ w_xz                            for x in the panel, and all y, z after x
//
// A level has small panels, of which a warp takes each, and large ones, in three steps with a barrier after each: the
// panel itself, its columns, and tiles of what it adds to arcs between two columns. ⊕ in memory is atomic, so nobody waits
// for a place of his own, and no memory is needed beside the factor. With W, its closed form is made, which sweeps use:
//
//     U*_xy, L*_yx                                        within the panel, all ways up and all ways down
//     U* W_xz, W_zx L*                                    from its positions to the columns z, and back

struct EliminationControl {
    unsigned int arrived, done;
    unsigned long long steps;
    unsigned long long bad, loop;  // one more than a position, and than an edge, that improves with itself; 0 for none
};

constexpr int SMALL_WIDTH = 8;   // of a small panel
constexpr int SIDE = 64;         // of a tile
constexpr int WARPS = ELIMINATE_THREADS / 32;

struct Tile {
    int panel, i, j;  // the first columns
};

struct Factor {
    const Panel* panels;
    const int *panel_of, *rows;
    T *up, *down, *closed_up, *closed_down;
    bool both;  // are up and down apart?

    // The arc from position y to a later one, z.
    __device__ __forceinline__ long long arc(int y, int z) const {
        const Panel p = panels[panel_of[y]];
        const long long start = p.arcs_of(y);
        if (z < p.end) return start + z - y - 1;
        int low = 0, high = p.count - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (rows[p.rows + middle] < z) low = middle + 1;
            else high = middle;
        }
        return start + p.end - y - 1 + low;
    }
    // The same between columns i < j of a panel.
    __device__ __forceinline__ long long arc_of_columns(const Panel& p, int i, int j) const {
        if (i < p.inside()) return p.arcs_of(p.last + i) + j - i - 1;
        return arc(p.column(rows, i), p.column(rows, j));
    }
};

struct BySmallWarp {
    __device__ __forceinline__ int rank() const { return lane_number(); }
    __device__ __forceinline__ int size() const { return 32; }
    __device__ __forceinline__ void wait() const { __syncwarp(); }
};

struct BySmallBlock {
    __device__ __forceinline__ int rank() const { return threadIdx.x; }
    __device__ __forceinline__ int size() const { return blockDim.x; }
    __device__ __forceinline__ void wait() const { __syncthreads(); }
};

// A panel itself: W between its positions, and then U* and L*, which stay in `m`, row by row.
template <class By>
__device__ __forceinline__ void eliminate_within(const By& by, const Factor& f, const Panel& p, T one, T* m,
                                                 EliminationControl* control) {
    const int width = p.width(), size = width * width;
    const auto place = [&](int i, int j) {
        const int low = i < j ? i : j, high = i < j ? j : i;
        return p.arcs_of(p.first + low) + high - low - 1;
    };
    for (int e = by.rank(); e < size; e += by.size()) {
        const int i = e / width, j = e % width;
        m[e] = i == j ? one : now((i < j ? f.up : f.down) + place(i, j));
    }
    by.wait();
    for (int x = 0; x < width; ++x) {
        for (int e = by.rank(); e < size; e += by.size()) {
            const int i = e / width, j = e % width;
            if (i <= x || j <= x) continue;
            const T t = then(m[i * width + x], m[x * width + j]);
            if (i != j) m[e] = add(m[e], t);
            else if (better(t, one)) atomicMax(&control->bad, (unsigned long long)(p.first + i) + 1);
        }
        by.wait();
    }
    for (int e = by.rank(); e < size; e += by.size()) {
        const int i = e / width, j = e % width;
        if (i < j) f.up[place(i, j)] = m[e];
        else if (i > j && f.both) f.down[place(i, j)] = m[e];
    }
    by.wait();
    for (int k = 1; k < width - 1; ++k) {
        for (int e = by.rank(); e < size; e += by.size()) {
            const int i = e / width, j = e % width;
            if ((i < k && k < j) || (j < k && k < i)) m[e] = add(m[e], then(m[i * width + k], m[k * width + j]));
        }
        by.wait();
    }
    for (int e = by.rank(); e < size; e += by.size()) {
        const int i = e / width, j = e % width;
        if (i < j) f.closed_up[place(i, j)] = m[e];
        else if (i > j && f.both) f.closed_down[place(i, j)] = m[e];
    }
}

// v_x = the arc between a position of a panel and a column, in W and then closed.  forward: to the column, else from it.
// m: U* and L*.  v: of this column, `apart` from one position to the next.
__device__ __forceinline__ void settle_column(const Factor& f, const Panel& p, const T* m, bool forward, int j, T* v,
                                              int apart) {
    const int width = p.width();
    T* const numbers = forward ? f.up : f.down;
    T* const closed = forward ? f.closed_up : f.closed_down;
    const auto way = [&](int x, int y) {
        const T t = v[y * apart];
        return forward ? then(m[x * width + y], t) : then(t, m[y * width + x]);
    };
    for (int x = 0; x < width; ++x) v[x * apart] = now(numbers + p.outer(p.first + x) + j);
    for (int x = width - 1; x >= 0; --x) {
        T best = v[x * apart];
        for (int y = 0; y < x; ++y) best = add(best, way(x, y));
        v[x * apart] = best;
        numbers[p.outer(p.first + x) + j] = best;
    }
    for (int x = 0; x < width; ++x) {
        T best = v[x * apart];
        for (int y = x + 1; y < width; ++y) best = add(best, way(x, y));
        v[x * apart] = best;
        closed[p.outer(p.first + x) + j] = best;
    }
}

// Likewise SIDE columns of a large panel, by a block.
__device__ __forceinline__ void settle_columns(const Factor& f, const Panel& p, const T* m, bool forward, int first, T* v,
                                               T* settled) {
    const int width = p.width(), some = p.columns() - first < SIDE ? p.columns() - first : SIDE;
    T* const numbers = forward ? f.up : f.down;
    T* const closed = forward ? f.closed_up : f.closed_down;
    const auto folded = [&](int x, int c, int from, int to, const T* column) {
        T best = column[x * SIDE + c];
        for (int y = from; y < to; ++y) {
            const T t = column[y * SIDE + c];
            best = add(best, forward ? then(m[x * width + y], t) : then(t, m[y * width + x]));
        }
        return best;
    };
    __syncthreads();
    for (int e = threadIdx.x; e < width * SIDE; e += blockDim.x)
        if (e % SIDE < some) v[e] = now(numbers + p.outer(p.first + e / SIDE) + first + e % SIDE);
    __syncthreads();
    for (int e = threadIdx.x; e < width * SIDE; e += blockDim.x) {
        const int x = e / SIDE, c = e % SIDE;
        if (c < some) numbers[p.outer(p.first + x) + first + c] = settled[e] = folded(x, c, 0, x, v);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < width * SIDE; e += blockDim.x) {
        const int x = e / SIDE, c = e % SIDE;
        if (c < some) closed[p.outer(p.first + x) + first + c] = folded(x, c, x + 1, width, settled);
    }
}

// Everything of a small panel, by a warp.
__device__ __forceinline__ void eliminate_small(const Factor& f, const Panel& p, T one, T* m, T* v,
                                                EliminationControl* control) {
    const int columns = p.columns();
    __syncwarp();
    eliminate_within(BySmallWarp{}, f, p, one, m, control);
    __syncwarp();
    for (int j = lane_number(); j < columns; j += 32)
        for (int back = 0; back <= (int)f.both; ++back) settle_column(f, p, m, back == 0, j, v + lane_number(), 32);
    __syncwarp();
    for (int e = lane_number(); e < columns * columns; e += 32) {
        const int i = e / columns, j = e % columns;
        if (i > j) continue;
        T there = ZERO, back = ZERO;
        for (int x = p.first; x < p.last; ++x) {
            const long long start = p.outer(x);
            there = add(there, then(now(f.down + start + i), now(f.up + start + j)));
            if (f.both) back = add(back, then(now(f.down + start + j), now(f.up + start + i)));
        }
        if (i == j) {
            if (better(there, one)) atomicMax(&control->bad, (unsigned long long)p.column(f.rows, i) + 1);
            continue;
        }
        if (there == ZERO && back == ZERO) continue;
        const long long arc = f.arc_of_columns(p, i, j);
        if (there != ZERO) atomic_add(f.up + arc, there);
        if (back != ZERO) atomic_add(f.down + arc, back);
    }
}

// What a panel adds to the arcs between columns i … and j …, of a tile.  back: those from j to i, else from i to j.
__device__ __forceinline__ void add_tile(const Factor& f, const Panel& p, const Tile& tile, bool back, T one, T* from, T* to,
                                         EliminationControl* control) {
    constexpr int ACROSS = 16, DOWN = ELIMINATE_THREADS / ACROSS, TALL = SIDE / DOWN, WIDE = SIDE / ACROSS;
    const int width = p.width(), columns = p.columns();
    const T* const arriving = back ? f.up : f.down;
    const T* const leaving = back ? f.down : f.up;
    __syncthreads();
    for (int e = threadIdx.x; e < width * SIDE; e += blockDim.x) {
        const int x = e / SIDE, c = e % SIDE;
        const long long start = p.outer(p.first + x);
        from[e] = tile.i + c < columns ? now(arriving + start + tile.i + c) : ZERO;
        to[e] = tile.j + c < columns ? now(leaving + start + tile.j + c) : ZERO;
    }
    __syncthreads();
    const int down = threadIdx.x / ACROSS, across = threadIdx.x % ACROSS;
    T total[TALL][WIDE];
#pragma unroll
    for (int a = 0; a < TALL; ++a)
#pragma unroll
        for (int b = 0; b < WIDE; ++b) total[a][b] = ZERO;
    for (int x = 0; x < width; ++x) {
        T left[TALL], right[WIDE];
#pragma unroll
        for (int a = 0; a < TALL; ++a) left[a] = from[x * SIDE + down + a * DOWN];
#pragma unroll
        for (int b = 0; b < WIDE; ++b) right[b] = to[x * SIDE + across + b * ACROSS];
#pragma unroll
        for (int a = 0; a < TALL; ++a)
#pragma unroll
            for (int b = 0; b < WIDE; ++b)
                total[a][b] = add(total[a][b], back ? then(right[b], left[a]) : then(left[a], right[b]));
    }
#pragma unroll
    for (int a = 0; a < TALL; ++a)
#pragma unroll
        for (int b = 0; b < WIDE; ++b) {
            const int i = tile.i + down + a * DOWN, j = tile.j + across + b * ACROSS;
            const T t = total[a][b];
            if (i > j || j >= columns || t == ZERO) continue;
            if (i < j) atomic_add((back ? f.down : f.up) + f.arc_of_columns(p, i, j), t);
            else if (better(t, one)) atomicMax(&control->bad, (unsigned long long)p.column(f.rows, i) + 1);
        }
}

// The weights of edges to their arcs, which hold the zero before.  slots: 2 k + 1 of an edge that is the arc k to an earlier
// position, 2 k of one to a later, -1 of self-loops.
extern "C" __global__ void scatter(EliminationControl* control, const long long* slots, const T* weights, I step,
                                   long long count, T one, T* up, T* down) {
    for (long long e = thread_number(); e < count; e += thread_count()) {
        const T weight = weights[e * step];
        const long long slot = slots[e];
        if (weight == ZERO) continue;
        if (slot >= 0) atomic_add((slot & 1 ? down : up) + (slot >> 1), weight);
        else if (better(weight, one)) atomicMax(&control->loop, (unsigned long long)e + 1);
    }
}

// levels: of each list of small panels, large ones, tiles of both kinds where those of a level begin.
extern "C" __global__ void __launch_bounds__(ELIMINATE_THREADS, ELIMINATE_BLOCKS)
    eliminate(EliminationControl* control, const Panel* panels, const int* panel_of, const int* rows, const int* small,
              const int* small_levels, const int* large, const int* large_levels, const Tile* spans, const int* span_levels,
              const Tile* tiles, const int* tile_levels, int levels, T one, T* up, T* down, T* closed_up, T* closed_down,
              unsigned long long last_step) {
    __shared__ T m[PANEL * PANEL], room[2 * PANEL * SIDE];
    const Factor f{panels, panel_of, rows, up, down, closed_up, closed_down, up != down};
    unsigned long long level = control->steps;
    for (; level < last_step && level < levels; ++level) {
        const int warp = threadIdx.x / 32;
        for (int k = small_levels[level] + warp * gridDim.x + blockIdx.x; k < small_levels[level + 1]; k += WARPS * gridDim.x)
            eliminate_small(f, panels[small[k]], one, m + warp * SMALL_WIDTH * SMALL_WIDTH, room + warp * SMALL_WIDTH * 32,
                            control);
        __syncthreads();
        for (int k = large_levels[level] + blockIdx.x; k < large_levels[level + 1]; k += gridDim.x) {
            __syncthreads();
            eliminate_within(BySmallBlock{}, f, panels[large[k]], one, m, control);
        }
        grid_barrier(&control->arrived);
        if (large_levels[level] == large_levels[level + 1]) continue;
        for (int k = span_levels[level] + blockIdx.x; k < span_levels[level + 1]; k += gridDim.x) {
            const Panel p = panels[spans[k].panel];
            const int width = p.width();
            __syncthreads();
            for (int e = threadIdx.x; e < width * width; e += blockDim.x) {
                const int i = e / width, j = e % width, low = i < j ? i : j, high = i < j ? j : i;
                m[e] = i == j ? one : now((i < j ? closed_up : closed_down) + p.arcs_of(p.first + low) + high - low - 1);
            }
            __syncthreads();
            for (int back = 0; back <= (int)f.both; ++back)
                settle_columns(f, p, m, back == 0, spans[k].j, room, room + PANEL * SIDE);
        }
        grid_barrier(&control->arrived);
        for (int k = tile_levels[level] + blockIdx.x; k < tile_levels[level + 1]; k += gridDim.x) {
            const Tile tile = tiles[k];
            const Panel p = panels[tile.panel];
            for (int back = 0; back <= (int)f.both; ++back)
                add_tile(f, p, tile, back != 0, one, room, room + PANEL * SIDE, control);
        }
        grid_barrier(&control->arrived);
    }
    if (thread_number() == 0) {
        control->steps = level;
        control->done = level >= levels;
    }
}
