// A breadth-first search that finds vertices in the order of a queue, in one kernel.
//
//     first_v = min 2q + s + 1     over the edges to v from the queue's place q, along its row, s = 0, or its column, s = 1
//     the next level is by (first_v, the edge's place)
//
// first_v is all that is known of a vertex: an edge from a later place takes nothing from one that was found before. Per
// edge an index and, two or three times, a gathered number; per vertex found, its degree.
//
// narrow   few vertices with few edges each, the most of a road network's levels: one block, a vertex a thread, without a
//          barrier of the grid. Edges are looked at four at once, without branches, so that a level waits for memory three
//          times: for the edges' heads, for who claims these, and, meanwhile, for their rows.
// wide     all warps get equal shares of the level's edges, in their order. They claim vertices, count those that they
//          have got, and, knowing how many the warps before have got, append them to the queue: a barrier after each.

using Claim = typename Unsigned<sizeof(I)>::type;
constexpr Claim NOBODY = ~(Claim)0;
// Of a narrow level: the most edges of a vertex, and how many a thread looks at together; the most vertices.
constexpr int SHORT = 8, TOGETHER = 4;
constexpr int NARROW = QUEUE_THREADS;

struct QueueControl {
    unsigned int arrived, done;
    unsigned long long steps, narrow;      // levels searched, and of these by one block
    unsigned long long begin, end, edges;  // of the level that is next: its places in the queue, and how many edges leave it
    unsigned int longest[4];               // the most edges of one of its vertices, by the level's number
};

struct Row {
    I from, length, other, others;
};

// The rows to search along, and the columns where edges count both ways, else null.
struct Along {
    const I *indptr, *indices, *starts, *rows;

    __device__ __forceinline__ Row row(I v) const {
        const I from = indptr[v], other = starts == nullptr ? 0 : starts[v];
        return {from, indptr[v + 1] - from, other, starts == nullptr ? 0 : starts[v + 1] - other};
    }
    __device__ __forceinline__ I degree(I v) const {
        const Row r = row(v);
        return r.length + r.others;
    }
    __device__ __forceinline__ I vertex(const Row& r, I j) const {
        const I* const place = j < r.length ? indices + (r.from + j) : rows + (r.other + (j - r.length));
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
    unsigned int longest;
};

// How many before, in the low 32 bits, and how many edges leave them, in the high ones: of the lanes below, and of all.
struct Sums {
    unsigned long long below, all;
};

__device__ __forceinline__ unsigned long long one_with(I edges) { return (unsigned long long)edges << 32 | 1; }

__device__ __forceinline__ Sums sums_of_warp(unsigned long long own) {
    unsigned long long upto = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned long long there = __shfl_up_sync(WARP, upto, distance);
        if (lane_number() >= distance) upto += there;
    }
    return {upto - own, __shfl_sync(WARP, upto, 31)};
}

// Of the warps before in the block, and of all its warps; of_warp: what each has. Every lane of a warp reads the same.
__device__ __forceinline__ Sums sums_of_block(const unsigned long long* of_warp) {
    const int lane = lane_number(), warps = blockDim.x / 32;
    const Sums sums = sums_of_warp(lane < warps ? of_warp[lane] : 0);
    return {__shfl_sync(WARP, sums.below, (int)threadIdx.x / 32), sums.all};
}

// Search narrow levels, until one is wide, or empty.
__device__ __forceinline__ void search_narrow(const Along& along, const Queue& queue, Level& level,
                                              unsigned long long last_step) {
    __shared__ I from[NARROW], other[NARROW];
    __shared__ unsigned char length[NARROW], others[NARROW];
    __shared__ unsigned long long of_warp[32];
    const auto keep = [&](unsigned int place, const Row& r) {
        from[place] = r.from, other[place] = r.other;
        length[place] = (unsigned char)r.length, others[place] = (unsigned char)r.others;
    };
    const int own = threadIdx.x, first_of_warp = own - lane_number();
    if (own < level.end - level.begin) keep(own, along.row(queue.order[level.begin + own]));
    __syncthreads();
    bool wide = false;
    while (!wide && level.edges > 0 && level.step < last_step) {
        const int count = (int)(level.end - level.begin);
        const bool busy = first_of_warp < count;  // the same in all of a warp
        I met[SHORT];
        Row r = {0, 0, 0, 0};
        if (own < count) r = {from[own], length[own], other[own], others[own]};
        const Claim claim = (Claim)(2 * (level.begin + own) + 1);
        const I edges = r.length + r.others;
        bool more = false;  // than TOGETHER, somewhere in the warp
        if (busy) {
            more = __any_sync(WARP, edges > TOGETHER);
#pragma unroll
            for (int j = 0; j < TOGETHER; ++j) met[j] = j < edges ? along.vertex(r, j) : -1;
            if (more)
#pragma unroll
                for (int j = TOGETHER; j < SHORT; ++j) met[j] = j < edges ? along.vertex(r, j) : -1;
#pragma unroll
            for (int j = 0; j < SHORT; ++j)
                if ((j < TOGETHER || more) && met[j] >= 0) atomicMin(queue.first + met[j], claim + (j >= r.length));
        }
        __syncthreads();
        unsigned long long mine = 0;
        unsigned int got = 0;
        bool is_long = false;
        const auto look = [&](const I* v, int begin) {
            Claim seen[TOGETHER];
            I degree[TOGETHER];
#pragma unroll
            for (int j = 0; j < TOGETHER; ++j) {
                const I u = v[j] < 0 ? 0 : v[j];
                seen[j] = now(queue.first + u);
                degree[j] = along.degree(u);
            }
#pragma unroll
            for (int j = 0; j < TOGETHER; ++j)
                if (v[j] >= 0 && seen[j] == claim + (begin + j >= r.length)) {
                    got |= 1u << (begin + j);
                    mine += one_with(degree[j]);
                    is_long |= degree[j] > SHORT;
                }
        };
        Sums of_lanes = {0, 0};
        if (busy) {
            look(met, 0);
            if (more) look(met + TOGETHER, TOGETHER);
            of_lanes = sums_of_warp(mine);
        }
        if (lane_number() == 0) of_warp[own / 32] = of_lanes.all;
        __syncthreads();
        const Sums of_warps = sums_of_block(of_warp);
        unsigned long long sum = of_warps.below + of_lanes.below;
#pragma unroll
        for (int j = 0; j < SHORT; ++j)
            if (got >> j & 1) {
                const Row found = along.row(met[j]);
                const unsigned int place = (unsigned int)sum;
                queue.append(level.end + place, met[j], (unsigned int)(sum >> 32));
                if (place < NARROW) keep(place, found);
                sum += one_with(found.length + found.others);
            }
        is_long = __syncthreads_or(is_long) != 0;
        level.begin = level.end;
        level.end += of_warps.all & 0xffffffffu;
        level.edges = of_warps.all >> 32;
        level.longest = is_long ? SHORT + 1 : 0;
        ++level.step, ++level.narrow;
        wide = is_long || level.end - level.begin > NARROW;
    }
}

// Look at each edge that leaves the level, in the order of the queue: an equal share for each warp. look(v, claim) gets
// those of a lane, AT_ONCE of them, which follow each other at a distance of 32; v is -1 where there is none.
constexpr int AT_ONCE = 4;

template <class Look>
__device__ __forceinline__ void share(const Along& along, const Queue& queue, const Level& level, const Look& look) {
    const int lane = lane_number();
    const long long warps = thread_count() / 32, edges = level.edges;
    const long long each = ((edges + warps - 1) / warps + 31) / 32 * 32;
    long long at = thread_number() / 32 * each;
    const long long last = at + each < edges ? at + each : edges;
    if (at >= last) return;
    const I count = (I)(level.end - level.begin), *const before = queue.before + level.begin;
    const auto offset = [=](I f) { return (long long)before[f]; };
    for (I first = last_at_most(offset, count, at); at < last; first += 32) {
        const bool has = lane < count - first;
        const I f = has ? first + lane : count - 1;
        const I begin = has ? before[f] : (I)edges, end = f + 1 < count ? before[f + 1] : (I)edges;
        const I window_end = from_lane(end, 31);
        if (window_end <= at) continue;
        const Row own = along.row(queue.order[level.begin + f]);
        const long long stop = window_end < last ? (long long)window_end : last;
        for (; at < stop; at += 32 * AT_ONCE) {
            I v[AT_ONCE];
            Claim claim[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                const long long edge = at + 32 * k + lane;
                int owner = 0;
#pragma unroll
                for (int half = 16; half > 0; half /= 2)
                    if (from_lane(begin, owner + half) <= edge) owner += half;
                const Row r = {from_lane(own.from, owner), from_lane(own.length, owner), from_lane(own.other, owner), 0};
                const I j = (I)edge - from_lane(begin, owner);
                v[k] = edge < stop ? along.vertex(r, j) : -1;
                claim[k] = (Claim)(2 * (level.begin + first + owner) + 1 + (j >= r.length));
            }
            look(v, claim);
        }
        at = stop;
    }
}

// Search a wide level.
__device__ __forceinline__ void search_wide(const Along& along, const Queue& queue, Level& level, QueueControl* control,
                                            unsigned long long* of_blocks) {
    __shared__ unsigned long long of_warp[32], of_warp_before[32];
    unsigned int* const longest = control->longest + (level.step + 1) % 3;
    const int warp = threadIdx.x / 32;
    if (thread_number() == 0) control->longest[(level.step + 2) % 3] = 0;
    share(along, queue, level, [&](const I* v, const Claim* claim) {
        Claim seen[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) seen[k] = v[k] >= 0 ? now(queue.first + v[k]) : 0;
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k)
            if (seen[k] > claim[k]) atomicMin(queue.first + v[k], claim[k]);
    });
    grid_barrier(&control->arrived);
    unsigned long long own = 0;
    unsigned int most = 0;
    share(along, queue, level, [&](const I* v, const Claim* claim) {
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k)
            if (v[k] >= 0 && now(queue.first + v[k]) == claim[k]) {
                const I degree = along.degree(v[k]);
                own += one_with(degree);
                if (degree > (I)most) most = (unsigned int)degree;
            }
    });
    const unsigned long long all = sums_of_warp(own).all;
    if (lane_number() == 0) of_warp[warp] = all;
    if (most > 0) atomicMax(longest, most);
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
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
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
    level.longest = now(longest);
    ++level.step;
}

// The source alone is in the queue.
extern "C" __global__ void start_queue(QueueControl* control, const I* indptr, const I* indices, const I* starts,
                                       const I* rows, long long n, I source, I* order, I* before, Claim* first) {
    for (long long v = thread_number(); v < n; v += thread_count()) first[v] = v == source ? 0 : NOBODY;
    if (thread_number() != 0) return;
    const Along along{indptr, indices, starts, rows};
    *control = QueueControl{};
    control->end = 1;
    control->edges = (unsigned long long)along.degree(source);
    control->longest[0] = control->longest[3] = (unsigned int)along.degree(source);
    order[0] = source;
    before[0] = 0;
}

// starts, rows: null where edges count one way.  of_blocks: a number for each block.  none: the parent of the source, and
// of what is not found.
extern "C" __global__ void __launch_bounds__(QUEUE_THREADS, QUEUE_BLOCKS)
    queue(QueueControl* control, const I* indptr, const I* indices, const I* starts, const I* rows, long long n, I* order,
          I* before, Claim* first, unsigned long long* of_blocks, I* parent, I none, unsigned long long last_step) {
    const Along along{indptr, indices, starts, rows};
    const Queue found{order, before, first};
    Level level{control->begin, control->end, control->edges, control->steps, control->narrow, control->longest[3]};
    grid_barrier(&control->arrived);  // all know the level, which the first block soon overwrites
    while (level.edges > 0 && level.step < last_step) {
        if (level.longest > SHORT || level.end - level.begin > NARROW) {
            search_wide(along, found, level, control, of_blocks);
            continue;
        }
        if (blockIdx.x == 0) {
            search_narrow(along, found, level, last_step);
            if (threadIdx.x == 0) {
                control->begin = level.begin, control->end = level.end, control->edges = level.edges;
                control->steps = level.step, control->narrow = level.narrow, control->longest[3] = level.longest;
                control->longest[0] = control->longest[1] = control->longest[2] = 0;
            }
        }
        grid_barrier(&control->arrived);
        level = {now(&control->begin), now(&control->end), now(&control->edges), now(&control->steps),
                 now(&control->narrow), now(control->longest + 3)};
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
    control->steps = level.step, control->narrow = level.narrow, control->longest[3] = level.longest;
}
