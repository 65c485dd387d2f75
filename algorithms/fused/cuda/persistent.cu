// What persistent kernels share: a barrier for the whole grid, loads that see what others write, and edges dealt out.
//
// A persistent kernel keeps its blocks on the device for a whole algorithm, and steps end with a barrier instead of with
// the kernel: 1.1 us with a block on each multiprocessor of an H100, where a launch from Python costs 30 to 100.
// The launch is cooperative, so all blocks are there at once. Between two barriers a location is either only read (plain
// loads, which the first-level cache may serve: the barrier empties it) or written by others (`now`).

constexpr unsigned int WARP = 0xffffffffu;
constexpr int LOOKED_AT = 4;  // vertices that a thread looks at for each place in a list that its block asks for
constexpr int ALONE = 8;      // entries of a row that a thread looks through before its warp helps

__device__ __forceinline__ long long thread_number() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }
__device__ __forceinline__ long long thread_count() { return gridDim.x * (long long)blockDim.x; }
__device__ __forceinline__ int lane_number() { return threadIdx.x % 32; }
__device__ __forceinline__ unsigned int lanes_below() { return (1u << lane_number()) - 1; }

// What is in memory now, whoever wrote it.
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

template <int BYTES> struct Unsigned { using type = unsigned int; };
template <> struct Unsigned<8> { using type = unsigned long long; };

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

// The last of `count` ascending numbers that is at most `value`; the first is. A warp looks at 32 places at once.
__device__ __forceinline__ I last_at_most(const I* ascending, I count, I value) {
    I low = 0, high = count;
    while (high - low > 1) {
        const long long width = high - low;
        const bool below = ascending[low + (I)(width * (lane_number() + 1) / 33)] <= value;
        const int passed = __popc(__ballot_sync(WARP, below));
        const I next = passed < 32 ? low + (I)(width * (passed + 1) / 33) : high;
        low += (I)(width * passed / 33);
        high = next > low ? next : low + 1;
    }
    return low;
}

// Deal the edges of some rows out to all warps of the grid evenly, whatever the rows' degrees.
//
// rows: their numbers, or null for rows 0, 1, …  offsets: ascending, the number of edges in the rows before.  count: of
// rows.  total: of edges.  work.row(v, has) is told each lane's row, and if it has edges; work.edges(owner, at, has) gets, for AT_ONCE
// edges a lane, in which lane the edge's row is and where the edge lies in the matrix. All of the warp take part.
constexpr int AT_ONCE = 4;

template <class Work>
__device__ __forceinline__ void deal_edges(const I* rows, const I* offsets, I count, I total, const I* indptr,
                                           Work& work) {
    const long long warps = thread_count() / 32;
    const long long each = ((total + warps - 1) / warps + 31) / 32 * 32;
    long long at = thread_number() / 32 * each;
    const long long last = at + each < total ? at + each : (long long)total;
    if (at >= last) return;
    const int lane = lane_number();
    for (I first = last_at_most(offsets, count, (I)at); at < last; first += 32) {
        const bool has = lane < count - first;
        const I f = has ? first + lane : count - 1;
        const I v = rows == nullptr ? f : rows[f];
        const I begin = has ? offsets[f] : total;
        const I end = f + 1 < count ? offsets[f + 1] : total;
        const I shift = indptr[v] - offsets[f];
        work.row(v, has && end > begin);
        const I window_end = from_lane(end, 31);
        const long long stop = window_end < last ? (long long)window_end : last;
        for (; at < stop; at += 32 * AT_ONCE) {
            int owner[AT_ONCE];
            I place[AT_ONCE];
            bool inside[AT_ONCE];
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j) {
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

// Places in a list for those of a block's threads that want one, by one atomic: thread t gets `wanted` places, and with
// them `weight` of a running total. `counter` holds the places in its low 32 bits, the total in its high ones.
struct Places {
    unsigned int first, weight;
};

__device__ __forceinline__ Places reserve(unsigned int wanted, unsigned int weight, unsigned long long* counter) {
    __shared__ unsigned long long of_warp[32];
    const unsigned long long own = (unsigned long long)weight << 32 | wanted;
    unsigned long long upto = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned long long below = __shfl_up_sync(WARP, upto, distance);
        if (lane_number() >= distance) upto += below;
    }
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (lane_number() == 31) of_warp[warp] = upto;
    __syncthreads();
    if (warp == 0) {
        const unsigned long long mine = lane_number() < warps ? of_warp[lane_number()] : 0;
        unsigned long long sum = mine;
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const unsigned long long below = __shfl_up_sync(WARP, sum, distance);
            if (lane_number() >= distance) sum += below;
        }
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
