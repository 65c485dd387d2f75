// Core numbers as the greatest fixpoint of an h-index.
//
// c_v is the largest h for which v has h neighbours u with c_u >= h. From the degrees on the numbers only fall, in any
// order, to the core numbers [1, 2]. A vertex is looked at again when a neighbour has fallen below its number: on a
// power-law graph that takes some 40 passes, and peeling hundreds. Rows over HUB edges are looked through by a block.
//
// [1] L. Lü, T. Zhou, Q.-M. Zhang, H. E. Stanley, The H-index of a network node and its relation to degree and coreness,
//     Nature Communications 7, 2016.
// [2] A. E. Sarıyüce, C. Seshadhri, A. Pinar, Local algorithms for hierarchical dense subgraph discovery, VLDB 2018.

constexpr int HUB = 2048;

struct CoresControl {
    unsigned int arrived, done;
    unsigned long long steps;
    unsigned int marked[3];
};

// Degrees, as far as a core may have them: a core of k has k + 1 vertices with k edges.
extern "C" __global__ void start_cores(CoresControl* control, const I* indptr, long long n, int most, int* core,
                                       bool* marks) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        const I degree = indptr[v + 1] - indptr[v];
        core[v] = degree < (I)most ? (int)degree : most;
        marks[v] = degree > 0;
    }
    if (thread_number() == 0) *control = CoresControl{};
}

// Of a row: how many neighbours have h or more, and what the others have at most.
struct Counted {
    int count, below;
};

__device__ __forceinline__ Counted counted(const I* indices, I begin, I end, int step, const int* core, int h) {
    Counted own{0, 0};
#pragma unroll 4
    for (I e = begin; e < end; e += step) {
        const int c = now(core + indices[e]);
        if (c >= h) ++own.count;
        else if (c > own.below) own.below = c;
    }
    return own;
}

// One vertex's row, to be looked through by a lane, by a warp, or by a block.
struct ByLane {
    __device__ int rank() const { return 0; }
    __device__ int size() const { return 1; }
    __device__ Counted all(Counted own) const { return own; }
    __device__ void wait() const {}
};

struct ByWarp {
    __device__ int rank() const { return lane_number(); }
    __device__ int size() const { return 32; }
    __device__ Counted all(Counted own) const {
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            own.count += __shfl_xor_sync(WARP, own.count, distance);
            const int below = __shfl_xor_sync(WARP, own.below, distance);
            if (below > own.below) own.below = below;
        }
        return own;
    }
    __device__ void wait() const { __syncwarp(); }
};

struct ByBlock {
    int* shared;  // two for each warp
    __device__ int rank() const { return threadIdx.x; }
    __device__ int size() const { return blockDim.x; }
    __device__ Counted all(Counted own) const {
        own = ByWarp{}.all(own);
        __syncthreads();
        if (lane_number() == 0) {
            shared[2 * (threadIdx.x / 32)] = own.count;
            shared[2 * (threadIdx.x / 32) + 1] = own.below;
        }
        __syncthreads();
        Counted sum{0, 0};
        for (int warp = 0; warp < (int)blockDim.x / 32; ++warp) {
            sum.count += shared[2 * warp];
            if (shared[2 * warp + 1] > sum.below) sum.below = shared[2 * warp + 1];
        }
        return sum;
    }
    __device__ void wait() const { __syncthreads(); }
};

// The h-index of v's row, written where it is less than v has; whether it is. Neighbours that counted v are marked, once
// they can see its number; and v itself, for a neighbour that falls at the same time may not have seen that it counts v.
template <class By>
__device__ __forceinline__ bool fall(const By& by, const I* indices, I begin, I end, I v, int* core, bool* marks) {
    const int had = now(core + v);
    const I first = begin + by.rank();
    Counted found = by.all(counted(indices, first, end, by.size(), core, had));
    if (found.count >= had) return false;
    int low = found.count, high = had;  // low <= h < high
    if (found.below < high) high = found.below + 1 > low + 1 ? found.below + 1 : low + 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        found = by.all(counted(indices, first, end, by.size(), core, middle));
        if (found.count >= middle) {
            low = middle;
        } else {
            high = found.below + 1 > found.count + 1 ? found.below + 1 : found.count + 1;
            if (found.count > low) low = found.count;
            if (high > middle) high = middle;
        }
    }
    if (by.rank() == 0) {
        core[v] = low;
        marks[v] = true;
        __threadfence();
    }
    by.wait();
    for (I e = first; e < end; e += by.size()) {
        const int c = now(core + indices[e]);
        if (low < c && c <= had) marks[indices[e]] = true;
    }
    return true;
}

// core, marks: as start_cores leaves them. Vertices are dealt out so that neighbouring ones, often hubs, go to different warps.
extern "C" __global__ void __launch_bounds__(CORES_THREADS, CORES_BLOCKS)
    cores(CoresControl* control, const I* __restrict__ indptr, const I* __restrict__ indices, long long n, int* core,
          bool* marks, unsigned long long last_step) {
    __shared__ I hubs[CORES_THREADS];
    __shared__ int of_block[2 * CORES_THREADS / 32];
    __shared__ int hub_count;
    const long long warps = thread_count() / 32, warp = thread_number() / 32;
    unsigned long long step = control->steps;
    bool done = false;
    for (; step < last_step && !done; ++step) {
        bool fell = false;
        if (thread_number() == 0) control->marked[(step + 1) % 3] = 0;
        for (long long base = 0; base < n; base += thread_count()) {
            const long long v = base + lane_number() * warps + warp;
            const bool wanted = v < n && now(marks + v);
            if (!__syncthreads_or(wanted)) continue;
            if (threadIdx.x == 0) hub_count = 0;
            if (wanted) marks[v] = false;
            __threadfence();
            __syncthreads();
            const I begin = wanted ? indptr[v] : 0, end = wanted ? indptr[v + 1] : 0, length = end - begin;
            if (wanted && length > HUB) hubs[atomicAdd(&hub_count, 1)] = (I)v;
            if (wanted && length <= ALONE) fell |= fall(ByLane{}, indices, begin, end, (I)v, core, marks);
            for (unsigned int left = __ballot_sync(WARP, wanted && length > ALONE && length <= HUB); left != 0;
                 left &= left - 1) {
                const int owner = __ffs(left) - 1;
                const I from = from_lane(begin, owner), to = from_lane(end, owner);
                fell |= fall(ByWarp{}, indices, from, to, (I)from_lane(v, owner), core, marks);
            }
            __syncthreads();
            for (int hub = 0; hub < hub_count; ++hub) {
                const I u = hubs[hub];
                fell |= fall(ByBlock{of_block}, indices, indptr[u], indptr[u + 1], u, core, marks);
            }
        }
        if (fell) control->marked[step % 3] = 1;
        grid_barrier(&control->arrived);
        done = now(control->marked + step % 3) == 0;
    }
    if (thread_number() == 0) {
        control->done = done;
        control->steps = step;
    }
}
