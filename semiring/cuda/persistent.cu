// The engine of persistent kernels: a barrier for the whole grid, loads that see what others write, and frontiers.
//
// A persistent kernel keeps its blocks on the device for a whole algorithm, and steps end with a barrier instead of with
// the kernel: 1.1 us with a block on each multiprocessor of an H100, where a launch from Python costs 30 to 100.
// The launch is cooperative, so all blocks are there at once. Between two barriers a location is either only read (plain
// loads, which the first-level cache may serve: the barrier empties it) or written by others (`now`).
//
// Other files have the rules: what is asked of a row or an edge, and what is done then. `deal_edges` and `deal_all_edges`
// deal edges out to a Work, `first_in_row` looks through rows, `list_with_degrees` and `append` make lists.

// for (int j = 0; j < COUNT; ++j), unrolled: what a lane does for each of several things, whose loads then overlap.
#define UNROLLED(j, COUNT) _Pragma("unroll") for (int j = 0; j < (COUNT); ++j)

constexpr unsigned int WARP = 0xffffffffu;
// Vertices that a thread looks at for each place in a list that its block asks for; entries of a row that it looks
// through before its warp helps.
[[maybe_unused]] constexpr int VERTICES_PER_THREAD = 4, LANE_ROW = 8;

__device__ __forceinline__ long long thread_number() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }
__device__ __forceinline__ long long thread_count() { return gridDim.x * (long long)blockDim.x; }
__device__ __forceinline__ int lane_number() { return threadIdx.x % 32; }
__device__ __forceinline__ unsigned int lanes_below() { return (1u << lane_number()) - 1; }

// Reads what is in memory now, whoever wrote it.
template <class V> __device__ __forceinline__ V now(const V* address) { return __ldcg(address); }
template <> __device__ __forceinline__ bool now(const bool* address) {
    return __ldcg(reinterpret_cast<const unsigned char*>(address)) != 0;
}

// Every block has arrived, and what any thread wrote before is seen by all after. `arrived` was 0 at the launch.
__device__ __forceinline__ void grid_barrier(unsigned int* arrived) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned int ticket = atomicAdd(arrived, 1u);
        const unsigned int all = ticket - ticket % gridDim.x + gridDim.x;
        unsigned int seen;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
        } while ((int)(seen - all) < 0);
        __threadfence();
    }
    __syncthreads();
}

// True if any thread of the grid has found something. `found` has three words, which steps take in turns.
template <class V>
__device__ __forceinline__ bool any_of_grid(bool own, V* found, unsigned long long step, unsigned int* arrived) {
    if (__syncthreads_or(own) && threadIdx.x == 0) found[step % 3] = 1;
    if (thread_number() == 0) found[(step + 1) % 3] = 0;
    grid_barrier(arrived);
    return now(found + step % 3) != 0;
}

template <int BYTES> struct Unsigned { using type = unsigned int; };
template <> struct Unsigned<8> { using type = unsigned long long; };

template <class V> __device__ __forceinline__ void exchange(V& a, V& b) {
    const V had = a;
    a = b;
    b = had;
}

// The smaller of two vertices. They are compared unsigned: -1, for none, is the largest.
__device__ __forceinline__ void take_smaller(I* place, I u) {
    using Number = typename Unsigned<sizeof(I)>::type;
    atomicMin(reinterpret_cast<Number*>(place), (Number)u);
}

// A value of any type from another lane. All of the warp take part.
template <class V> __device__ __forceinline__ V from_lane(V value, int lane) { return __shfl_sync(WARP, value, lane); }
template <> __device__ __forceinline__ bool from_lane(bool value, int lane) {
    return __shfl_sync(WARP, (int)value, lane) != 0;
}

// Returns the sum of what the lanes of a warp have up to each of them.
template <class V> __device__ __forceinline__ V sum_up_to_lane(V value) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const V below = __shfl_up_sync(WARP, value, distance);
        if (lane_number() >= distance) value += below;
    }
    return value;
}

// Folds what LANES neighbouring lanes of a warp have by an operator; all of them get the result.
template <int LANES = 32, class V, class Op> __device__ __forceinline__ V fold_lanes(V value, const Op& op) {
#pragma unroll
    for (int distance = LANES / 2; distance > 0; distance /= 2) value = op(value, __shfl_xor_sync(WARP, value, distance));
    return value;
}

// The sum of what the lanes of a warp have, the least of it, and its bits, in all of the lanes.
template <class V> __device__ __forceinline__ V sum_of_warp(V value) {
    return fold_lanes(value, [](V a, V b) { return a + b; });
}
template <class V> __device__ __forceinline__ V least_of_warp(V value) {
    return fold_lanes(value, [](V a, V b) { return b < a ? b : a; });
}
template <int LANES = 32, class V> __device__ __forceinline__ V bits_of_lanes(V value) {
    return fold_lanes<LANES>(value, [](V a, V b) { return a | b; });
}

// The last f of 0 … count - 1 with key(f) <= value, of ascending keys; the first is. A warp looks at 32 places at once.
template <class Key> __device__ __forceinline__ I last_at_most(const Key& key, I count, long long value) {
    I low = 0, high = count;
    while (high - low > 1) {
        const long long width = high - low;
        const bool below = key(low + (I)(width * (lane_number() + 1) / 33)) <= value;
        const int passed = __popc(__ballot_sync(WARP, below));
        const I next = passed < 32 ? low + (I)(width * (passed + 1) / 33) : high;
        low += (I)(width * passed / 33);
        high = next > low ? next : low + 1;
    }
    return low;
}

// The place of the entry (u, v) in the matrix, which has it.
template <class Columns>
__device__ __forceinline__ I place_of(const I* indptr, const Columns& columns, I u, I v) {
    I low = indptr[u], high = indptr[u + 1];
    while (high - low > 1) {
        const I middle = low + (high - low) / 2;
        if (columns[middle] <= v) low = middle;
        else high = middle;
    }
    return low;
}

// Deal the edges [at, last) out to the lanes of a warp, of some rows from the `first` on, in which edge `at` lies.
//
// rows: their numbers, or null for rows 0, 1, …  offsets: ascending, the number of edges in the rows before.  count: of
// rows.  total: of edges.  work.row(v, has) is told each lane's row, and if it has edges; work.edges(owner, at, has)
// gets, for Work::PER_LANE edges a lane, in which lane the edge's row is and where the edge lies in the matrix. All of the warp
// take part.
template <class Work>
__device__ __forceinline__ void deal_part(const I* rows, const I* offsets, I count, I total, const I* indptr, I first,
                                          long long at, long long last, Work& work) {
    constexpr int PER_LANE = Work::PER_LANE;
    const int lane = lane_number();
    for (; at < last; first += 32) {
        const bool has = lane < count - first;
        const I f = has ? first + lane : count - 1;
        const I v = rows == nullptr ? f : rows[f];
        const I offset = offsets[f];
        const I begin = has ? offset : total;
        const I end = f + 1 < count ? offsets[f + 1] : total;
        const I window_end = from_lane(end, 31);
        if (window_end <= at) continue;
        const I shift = rows == nullptr ? 0 : indptr[v] - offset;
        work.row(v, has && end > begin);
        const long long stop = window_end < last ? (long long)window_end : last;
        for (; at < stop; at += 32 * PER_LANE) {
            int owner[PER_LANE];
            I place[PER_LANE];
            bool inside[PER_LANE];
            UNROLLED(j, PER_LANE) {
                const long long edge = at + 32 * j + lane;
                inside[j] = edge < stop;
                int low = 0;
#pragma unroll
                for (int half = 16; half > 0; half /= 2)
                    if (from_lane(begin, low + half) <= edge) low += half;
                owner[j] = low;
                place[j] = from_lane(shift, low) + (I)edge;
            }
            work.edges(owner, place, inside);
        }
        at = stop;
    }
}

// The edges of listed rows, of which none is empty, to all warps of the grid: the same number of edges each, whatever the
// rows' degrees.
template <class Work>
__device__ __forceinline__ void deal_edges(const I* rows, const I* offsets, I count, I total, const I* indptr,
                                           Work& work) {
    const long long warps = thread_count() / 32;
    const long long each = ((total + warps - 1) / warps + 31) / 32 * 32;
    const long long at = thread_number() / 32 * each;
    const long long last = at + each < total ? at + each : (long long)total;
    if (at >= last) return;
    const auto offset = [=](I f) { return (long long)offsets[f]; };
    deal_part(rows, offsets, count, total, indptr, last_at_most(offset, count, at), at, last, work);
}

// The edges of rows that `list_with_degrees` has listed.  listed: what its counter holds.
template <class Work>
__device__ __forceinline__ void deal_listed(const I* rows, const I* offsets, unsigned long long listed, const I* indptr,
                                            Work& work) {
    if (listed >> 32 != 0) deal_edges(rows, offsets, (I)(listed & 0xffffffffu), (I)(listed >> 32), indptr, work);
}

// Steps from `lowest` to `highest`, each an edge or a row, to all warps: the same number each, for a matrix may have more
// rows than edges. Of the edges those in [from, to) count.
template <class Work>
__device__ __forceinline__ void deal_steps(const I* indptr, I n, I nnz, long long lowest, long long highest, long long from,
                                           long long to, Work& work) {
    const long long warps = thread_count() / 32, each = (highest - lowest + warps - 1) / warps;
    const long long begin = lowest + thread_number() / 32 * each, end = begin + each < highest ? begin + each : highest;
    if (begin >= end) return;
    const auto step = [=](I f) { return (long long)indptr[f] + f; };
    const I first = last_at_most(step, n, begin), after = last_at_most(step, n, end);
    const long long at = begin - first < from ? from : begin - first, last = end - after < to ? end - after : to;
    if (at < last) deal_part(nullptr, indptr, n, nnz, indptr, first, at, last, work);
}

// The edges of all rows.
template <class Work> __device__ __forceinline__ void deal_all_edges(const I* indptr, I n, I nnz, Work& work) {
    deal_steps(indptr, n, nnz, 0, (long long)n + nnz, 0, nnz, work);
}

// Add what a block's threads have found to a counter, by one atomic.
__device__ __forceinline__ void add_up(unsigned int found, unsigned long long* counter) {
    __shared__ unsigned int of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    if (found > 0) atomicAdd(&of_block, found);
    __syncthreads();
    if (threadIdx.x == 0 && of_block > 0) atomicAdd(counter, (unsigned long long)of_block);
}

// Places in a list for those of a block's threads that want one, by one atomic: thread t gets `wanted` places, and with
// them `weight` of a running total. `counter` holds the places in its low 32 bits, the total in its high ones.
struct Places {
    unsigned int first, weight;
};

__device__ __forceinline__ Places reserve(unsigned int wanted, unsigned int weight, unsigned long long* counter) {
    __shared__ unsigned long long of_warp[32];
    const unsigned long long own = (unsigned long long)weight << 32 | wanted;
    const unsigned long long upto = sum_up_to_lane(own);
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (lane_number() == 31) of_warp[warp] = upto;
    __syncthreads();
    if (warp == 0) {
        const unsigned long long mine = lane_number() < warps ? of_warp[lane_number()] : 0;
        const unsigned long long sum = sum_up_to_lane(mine);
        unsigned long long base = 0;
        if (lane_number() == 31) base = atomicAdd(counter, sum);
        base = __shfl_sync(WARP, base, 31);
        if (lane_number() < warps) of_warp[lane_number()] = base + sum - mine;
    }
    __syncthreads();
    const unsigned long long place = of_warp[warp] + upto - own;
    __syncthreads();
    return {(unsigned int)place, (unsigned int)(place >> 32)};
}

// List the vertices that have a degree among PER_LANE of each thread of a block, with the running sum of the degrees. All of
// the block take part.
template <int PER_LANE, class Vertex>
__device__ __forceinline__ void list_with_degrees(const I (&degree)[PER_LANE], const Vertex& vertex, I* rows, I* offsets,
                                                  unsigned long long* counter) {
    unsigned int wanted = 0, weight = 0;
    UNROLLED(j, PER_LANE) {
        wanted += degree[j] > 0;
        weight += (unsigned int)degree[j];
    }
    if (!__syncthreads_or(wanted > 0)) return;
    Places place = reserve(wanted, weight, counter);
    UNROLLED(j, PER_LANE) {
        if (degree[j] == 0) continue;
        rows[place.first] = (I)vertex(j);
        offsets[place.first++] = (I)place.weight;
        place.weight += (unsigned int)degree[j];
    }
}

// List the vertices 0 … n - 1 that degree_of(v) says have a degree, with the running sum of the degrees. It is asked for
// all of a block's vertices, also beyond n.
template <class Degree>
__device__ __forceinline__ void list_vertices(long long n, const Degree& degree_of, I* rows, I* offsets,
                                              unsigned long long* counter) {
    const long long tile = (long long)blockDim.x * VERTICES_PER_THREAD;
    for (long long base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
        const auto vertex = [=](int j) { return base + j * blockDim.x + threadIdx.x; };
        I degree[VERTICES_PER_THREAD];
        UNROLLED(j, VERTICES_PER_THREAD) degree[j] = degree_of(vertex(j));
        list_with_degrees(degree, vertex, rows, offsets, counter);
    }
}

// The first of so many places in a list, for a warp's lanes, by one atomic. All of the warp take part.
__device__ __forceinline__ unsigned long long places_for(unsigned int count, unsigned long long* counter) {
    unsigned long long base = 0;
    if (lane_number() == 0) base = atomicAdd(counter, (unsigned long long)count);
    return from_lane(base, 0);
}

// Take places likewise for the marked things of the lanes, and call put(j, place) for each.
template <int PER_LANE, class Put>
__device__ __forceinline__ void append(const bool (&marked)[PER_LANE], unsigned long long* counter, const Put& put) {
    unsigned int all[PER_LANE], count = 0;
    UNROLLED(j, PER_LANE) count += __popc(all[j] = __ballot_sync(WARP, marked[j]));
    if (count == 0) return;
    unsigned long long base = places_for(count, counter);
    UNROLLED(j, PER_LANE) {
        if (marked[j]) put(j, base + __popc(all[j] & lanes_below()));
        base += __popc(all[j]);
    }
}

// visit(owner, bit, number, inside) for the bits of a warp's words: the lane that has the word, which bit, how many are
// before it. Each lane has every 32nd, PER_LANE together. All of the warp take part.
template <int PER_LANE, class Visit> __device__ __forceinline__ void each_bit(unsigned int bits, const Visit& visit) {
    const unsigned int upto = sum_up_to_lane((unsigned int)__popc(bits));
    const unsigned int total = from_lane(upto, 31), before = upto - __popc(bits);
    for (unsigned int at = 0; at < total; at += 32 * PER_LANE) {
        int owner[PER_LANE], bit[PER_LANE];
        unsigned int number[PER_LANE];
        bool inside[PER_LANE];
        UNROLLED(j, PER_LANE) {
            number[j] = at + 32 * j + lane_number();
            inside[j] = number[j] < total;
            int low = 0;
#pragma unroll
            for (int half = 16; half > 0; half /= 2)
                if (from_lane(before, low + half) <= number[j]) low += half;
            owner[j] = low;
            unsigned int left = from_lane(bits, low), skip = number[j] - from_lane(before, low);
            bit[j] = 0;
#pragma unroll
            for (int half = 16; half > 0; half /= 2) {
                const unsigned int count = __popc(left & ((1u << half) - 1));
                if (skip < count) continue;
                skip -= count;
                left >>= half;
                bit[j] += half;
            }
        }
        visit(owner, bit, number, inside);
    }
}

// The first entry from e on of row v that `holds`, unless one is found already; -1 for none. The warp looks through the
// lanes' rows, one by one.
template <class Holds>
__device__ __forceinline__ I first_by_warp(const J* indices, I v, I e, I end, I found, const Holds& holds) {
    for (unsigned int left = __ballot_sync(WARP, found < 0 && e < end); left != 0; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const I last = from_lane(end, owner), row = from_lane(v, owner);
        for (I at = from_lane(e, owner); at < last; at += 32) {
            const bool hit = lane_number() < last - at && holds(row, indices[at + lane_number()]);
            const unsigned int hits = __ballot_sync(WARP, hit);
            if (hits == 0) continue;
            if (lane_number() == owner) found = at + __ffs(hits) - 1;
            break;
        }
    }
    return found;
}

// The first entry of row v that `holds`, in the lanes that ask; -1 for none. Few entries are looked at alone, more by the
// warp.
template <class Holds>
__device__ __forceinline__ I first_in_row(const I* indptr, const J* indices, I v, bool asks, const Holds& holds) {
    I e = 0, end = 0, found = -1;
    if (asks) {
        e = indptr[v];
        end = indptr[v + 1];
        for (const I alone = end - e < LANE_ROW ? end : e + LANE_ROW; e < alone && found < 0; ++e)
            if (holds(v, indices[e])) found = e;
    }
    return first_by_warp(indices, v, e, end, found, holds);
}
