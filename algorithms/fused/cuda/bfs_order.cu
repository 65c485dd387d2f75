// A breadth-first search that finds vertices in the order of a queue, in one kernel.
//
//     first_v = min 2q + s + 1     over the edges to v from the queue's place q, along its row, s = 0, or its column, s = 1
//     the next level is by (first_v, the edge's place)
//
// first_v is all that is known of a vertex: an edge from a later place takes nothing from one that was found before. Per
// edge an index and, two or three times, a gathered number; per vertex found, its degree.
//
// narrow   few edges, the most of a road network's levels: one block, some edges a thread, without a barrier of the grid.
//          A level waits for memory twice: for the edges' heads, and for who claims these, with their rows meanwhile.
// wide     all warps get equal shares of the level's edges, in their order. They claim vertices, count those that they
//          have got, and, knowing how many the warps before have got, append them to the queue: a barrier after each.

using Claim = typename Unsigned<sizeof(I)>::type;
constexpr Claim NOBODY = ~(Claim)0;
// A narrow level has at most so many edges for each thread, and in all, and so many vertices.
constexpr int EDGES_PER_THREAD = 4, NARROW_EDGES = EDGES_PER_THREAD * BFS_ORDER_THREADS;
constexpr int NARROW_VERTICES = BFS_ORDER_THREADS * (sizeof(I) == 4 ? 2 : 1);

struct Row {
    I from, length, other, others;
};

// The rows to search along, and the columns where edges count both ways, else null.
struct Along {
    const I* indptr;
    const J* indices;
    const I* starts;
    const J* rows;

    __device__ __forceinline__ Row row(I v) const {
        const I from = indptr[v], other = starts == nullptr ? 0 : starts[v];
        return {from, indptr[v + 1] - from, other, starts == nullptr ? 0 : starts[v + 1] - other};
    }
    __device__ __forceinline__ I degree(I v) const {
        const Row r = row(v);
        return r.length + r.others;
    }
    __device__ __forceinline__ I vertex(const Row& r, I j) const {
        const J* const place = j < r.length ? indices + (r.from + j) : rows + (r.other + (j - r.length));
        return *place;
    }
};

// order: the queue.  before: of each place in it, the edges that leave its level before it.  first: as above.
struct Queue {
    I *order, *before;
    Claim* first;

    __device__ __forceinline__ void append(unsigned long long place, I v, unsigned int edges) const {
        order[place] = v;
        before[place] = (I)edges;
    }
};

struct Level {
    unsigned long long begin, end, edges, step, narrow;

    __device__ __forceinline__ bool is_narrow() const { return edges <= NARROW_EDGES && end - begin <= NARROW_VERTICES; }
};

// How many before, in the low 32 bits, and how many edges leave them, in the high ones: of the lanes below, and of all.
struct Sums {
    unsigned long long below, all;
};

__device__ __forceinline__ unsigned long long one_with(I edges) { return (unsigned long long)edges << 32 | 1; }

__device__ __forceinline__ Sums sums_of_warp(unsigned long long own) {
    const unsigned long long upto = sum_up_to_lane(own);
    return {upto - own, __shfl_sync(WARP, upto, 31)};
}

// Sums of the warps before in the block, and of all its warps, which `of_warp` has. Every lane of a warp reads the same.
__device__ __forceinline__ Sums sums_of_block(const unsigned long long* of_warp) {
    const int lane = lane_number(), warps = blockDim.x / 32;
    const Sums sums = sums_of_warp(lane < warps ? of_warp[lane] : 0);
    return {__shfl_sync(WARP, sums.below, (int)threadIdx.x / 32), sums.all};
}

// Search narrow levels, until one is wide, or empty.
__device__ __forceinline__ void search_narrow(const Along& along, const Queue& queue, Level& level,
                                              unsigned long long last_step) {
    __shared__ I from[NARROW_VERTICES], other[NARROW_VERTICES];  // where each vertex's row begins, and its column
    __shared__ int length[NARROW_VERTICES];                     // how many edges are the row's
    __shared__ unsigned short first[NARROW_VERTICES], owner[NARROW_EDGES];  // its first edge; of each edge whose it is
    __shared__ unsigned long long of_warp[32];
    const auto keep = [&](unsigned int place, unsigned int edge, const Row& r) {
        from[place] = r.from, other[place] = r.other, length[place] = (int)r.length;
        first[place] = (unsigned short)edge;
        for (I j = 0; j < r.length + r.others; ++j) owner[edge + j] = (unsigned short)place;
    };
    for (unsigned int i = threadIdx.x; i < level.end - level.begin; i += blockDim.x)
        keep(i, (unsigned int)queue.before[level.begin + i], along.row(queue.order[level.begin + i]));
    __syncthreads();
    while (level.is_narrow() && level.edges > 0 && level.step < last_step) {
        const int edges = (int)level.edges;
        const int each = edges <= (int)blockDim.x ? 1 : edges <= 2 * (int)blockDim.x ? 2 : EDGES_PER_THREAD;
        const int edge = threadIdx.x * each;
        const bool busy = (int)(threadIdx.x - lane_number()) * each < edges;  // the same in all of a warp
        I v[EDGES_PER_THREAD];
        Claim claim[EDGES_PER_THREAD];
        UNROLLED(k, EDGES_PER_THREAD) {
            v[k] = -1;
            if (k < each && edge + k < edges) {
                const int place = owner[edge + k], j = edge + k - first[place];
                const Row r = {from[place], length[place], other[place], 0};
                v[k] = along.vertex(r, j);
                claim[k] = (Claim)(2 * (level.begin + place) + 1 + (j >= r.length));
            }
        }
        UNROLLED(k, EDGES_PER_THREAD)
            if (v[k] >= 0) atomicMin(queue.first + v[k], claim[k]);
        __syncthreads();
        unsigned long long mine = 0;
        Row found[EDGES_PER_THREAD];
        Claim seen[EDGES_PER_THREAD];
        if (busy) {
            UNROLLED(k, EDGES_PER_THREAD)
                if (k < each) {  // asked for at once
                    const I u = v[k] < 0 ? 0 : v[k];
                    seen[k] = now(queue.first + u);
                    found[k] = along.row(u);
                }
            UNROLLED(k, EDGES_PER_THREAD)
                if (k < each) {
                    if (v[k] >= 0 && seen[k] == claim[k]) mine += one_with(found[k].length + found[k].others);
                    else v[k] = -1;
                }
        }
        const Sums of_lanes = busy ? sums_of_warp(mine) : Sums{0, 0};
        if (lane_number() == 0) of_warp[threadIdx.x / 32] = of_lanes.all;
        __syncthreads();
        const Sums of_warps = sums_of_block(of_warp);
        const bool fits = (of_warps.all & 0xffffffffu) <= NARROW_VERTICES && (of_warps.all >> 32) <= NARROW_EDGES;
        unsigned long long sum = of_warps.below + of_lanes.below;
        UNROLLED(k, EDGES_PER_THREAD)
            if (v[k] >= 0) {
                const unsigned int place = (unsigned int)sum, before = (unsigned int)(sum >> 32);
                queue.append(level.end + place, v[k], before);
                if (fits) keep(place, before, found[k]);
                sum += one_with(found[k].length + found[k].others);
            }
        __syncthreads();
        level.begin = level.end;
        level.end += of_warps.all & 0xffffffffu;
        level.edges = of_warps.all >> 32;
        ++level.step, ++level.narrow;
    }
}

// Looks at the edges that leave a level, in the order of the queue. look(v, claim) gets those of a lane, PER_LANE of them,
// which follow each other at a distance of 32; v is -1 where there is none.
template <class Look> struct Share {
    static constexpr int PER_LANE = 4;
    const Along& along;
    const Queue& queue;
    unsigned long long begin;
    const Look& look;
    Row own;
    I place_of_row, edge_of_row;

    __device__ __forceinline__ void row(I f, bool) {
        place_of_row = f;
        edge_of_row = queue.before[begin + f];
        own = along.row(queue.order[begin + f]);
    }
    __device__ __forceinline__ void edges(const int* owner, const I* edge, const bool* inside) {
        I v[PER_LANE];
        Claim claim[PER_LANE];
        UNROLLED(k, PER_LANE) {
            const Row r = {from_lane(own.from, owner[k]), from_lane(own.length, owner[k]), from_lane(own.other, owner[k]), 0};
            const I j = edge[k] - from_lane(edge_of_row, owner[k]);
            v[k] = inside[k] ? along.vertex(r, j) : -1;
            claim[k] = (Claim)(2 * (begin + from_lane(place_of_row, owner[k])) + 1 + (j >= r.length));
        }
        look(v, claim);
    }
};

template <class Look>
__device__ __forceinline__ void share(const Along& along, const Queue& queue, const Level& level, const Look& look) {
    Share<Look> work{along, queue, level.begin, look, {}, 0, 0};
    deal_edges(nullptr, queue.before + level.begin, (I)(level.end - level.begin), (I)level.edges, nullptr, work);
}

constexpr int PER_LANE = Share<int>::PER_LANE;

// Search a wide level.
__device__ __forceinline__ void search_wide(const Along& along, const Queue& queue, Level& level, QueueControl* control,
                                            unsigned long long* of_blocks) {
    __shared__ unsigned long long of_warp[32], of_warp_before[32];
    const int warp = threadIdx.x / 32;
    share(along, queue, level, [&](const I* v, const Claim* claim) {
        Claim seen[PER_LANE];
        UNROLLED(k, PER_LANE) seen[k] = v[k] >= 0 ? now(queue.first + v[k]) : 0;
        UNROLLED(k, PER_LANE)
            if (seen[k] > claim[k]) atomicMin(queue.first + v[k], claim[k]);
    });
    grid_barrier(&control->arrived);
    unsigned long long own = 0;
    share(along, queue, level, [&](const I* v, const Claim* claim) {
        UNROLLED(k, PER_LANE)
            if (v[k] >= 0 && now(queue.first + v[k]) == claim[k]) own += one_with(along.degree(v[k]));
    });
    const unsigned long long all = sums_of_warp(own).all;
    if (lane_number() == 0) of_warp[warp] = all;
    __syncthreads();
    const Sums of_warps = sums_of_block(of_warp);
    if (threadIdx.x == 0) of_blocks[blockIdx.x] = of_warps.all;
    grid_barrier(&control->arrived);
    unsigned long long of_before = 0, of_all = 0;
    for (unsigned int block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
        const unsigned long long there = now(of_blocks + block);
        of_all += there;
        if (block < blockIdx.x) of_before += there;
    }
    of_before = sums_of_warp(of_before).all, of_all = sums_of_warp(of_all).all;
    if (lane_number() == 0) of_warp[warp] = of_all, of_warp_before[warp] = of_before;
    __syncthreads();
    unsigned long long sum = sums_of_block(of_warp_before).all + of_warps.below;
    of_all = sums_of_block(of_warp).all;
    share(along, queue, level, [&](const I* v, const Claim* claim) {
        UNROLLED(k, PER_LANE) {
            const bool got = v[k] >= 0 && now(queue.first + v[k]) == claim[k];
            if (__ballot_sync(WARP, got) == 0) continue;
            const Sums sums = sums_of_warp(got ? one_with(along.degree(v[k])) : 0);
            const unsigned long long place = sum + sums.below;
            if (got) queue.append(level.end + (place & 0xffffffffu), v[k], (unsigned int)(place >> 32));
            sum += sums.all;
        }
    });
    grid_barrier(&control->arrived);
    level.begin = level.end;
    level.end += of_all & 0xffffffffu;
    level.edges = of_all >> 32;
    ++level.step;
}

// The source alone is in the queue.
extern "C" __global__ void start_queue(QueueControl* control, const I* indptr, const J* indices, const I* starts,
                                       const J* rows, long long n, I source, I* order, I* before, Claim* first) {
    for (long long v = thread_number(); v < n; v += thread_count()) first[v] = v == source ? 0 : NOBODY;
    if (thread_number() != 0) return;
    const Along along{indptr, indices, starts, rows};
    *control = QueueControl{};
    control->end = 1;
    control->edges = (unsigned long long)along.degree(source);
    order[0] = source;
    before[0] = 0;
}

// starts, rows: null where edges count one way.  of_blocks: a number for each block.  none: the parent of the source, and
// of what is not found.
extern "C" __global__ void __launch_bounds__(BFS_ORDER_THREADS, BFS_ORDER_BLOCKS)
    bfs_order(QueueControl* control, const I* indptr, const J* indices, const I* starts, const J* rows, long long n, I* order,
          I* before, Claim* first, unsigned long long* of_blocks, I* parent, I none, unsigned long long last_step) {
    const Along along{indptr, indices, starts, rows};
    const Queue found{order, before, first};
    Level level{control->begin, control->end, control->edges, control->steps, control->narrow};
    grid_barrier(&control->arrived);  // all know the level, which the first block soon overwrites
    while (level.edges > 0 && level.step < last_step) {
        if (!level.is_narrow()) {
            search_wide(along, found, level, control, of_blocks);
            continue;
        }
        if (blockIdx.x == 0) {
            search_narrow(along, found, level, last_step);
            if (threadIdx.x == 0) {
                control->begin = level.begin, control->end = level.end, control->edges = level.edges;
                control->steps = level.step, control->narrow = level.narrow;
            }
        }
        grid_barrier(&control->arrived);
        level = {now(&control->begin), now(&control->end), now(&control->edges), now(&control->steps),
                 now(&control->narrow)};
    }
    const bool done = level.edges == 0;
    if (done)
        for (long long v = thread_number(); v < n; v += thread_count()) {
            const Claim claim = now(first + v);
            parent[v] = claim == NOBODY || claim == 0 ? none : now(order + (claim - 1) / 2);
        }
    if (thread_number() != 0) return;
    control->done = done;
    control->begin = level.begin, control->end = level.end, control->edges = level.edges;
    control->steps = level.step, control->narrow = level.narrow;
}
