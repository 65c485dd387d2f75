// Core numbers as the greatest fixpoint of an h-index.
//
// c_v is the largest h for which v has h neighbours u with c_u >= h. From the degrees on the numbers only fall, in any
// order, to the core numbers [1, 2]. A vertex is looked at again when a neighbour has fallen below its number: on a
// power-law graph that takes some 40 passes, and peeling hundreds.
//
// [1] L. Lü, T. Zhou, Q.-M. Zhang, H. E. Stanley, The H-index of a network node and its relation to degree and coreness,
//     Nature Communications 7, 2016.
// [2] A. E. Sarıyüce, C. Seshadhri, A. Pinar, Local algorithms for hierarchical dense subgraph discovery, VLDB 2018.

static_assert(CORES_THREADS <= MAX_THREADS, "the shared arrays of deal_rows have a place for each thread");

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

struct Neighbour {
    I vertex;
    int number;
};

// Numbers in parts of a range, as many parts as a warp has lanes, and each warp of a block its own counts.
constexpr int PARTS = 32;

__device__ __forceinline__ int* parts_of(int warp) {
    __shared__ int parts[CORES_THREADS / 32][PARTS];
    return parts[warp];
}

__device__ __forceinline__ int in_part(const ByWarp&) { return parts_of(threadIdx.x / 32)[lane_number()]; }
__device__ __forceinline__ int in_part(const ByBlock&) {
    int sum = 0;
    for (int warp = 0; warp < (int)blockDim.x / 32; ++warp) sum += parts_of(warp)[lane_number()];
    return sum;
}

// The h-index of a row, or `had` if that is less: the largest h for which h neighbours have h or more. A look through the
// row counts numbers by parts of the range in which h may be, the next look by parts of one of these.
template <class By>
__device__ __forceinline__ int index_of(const By& by, const J* indices, I first, I end, const int* core, int had) {
    int* const own = parts_of(threadIdx.x / 32);
    int low = 0, high = had;  // low <= h < high, unless h is `had`
    while (true) {
        const int width = high - 1 - low, shift = width > PARTS ? 32 - __clz((width - 1) / PARTS) : 0;
        by.wait();
        own[lane_number()] = 0;
        __syncwarp();
        int more = 0;
#pragma unroll 4
        for (I e = first; e < end; e += by.size()) {
            const int c = now(core + indices[e]);
            if (c >= high) ++more;
            else if (c > low) atomicAdd(own + ((c - low - 1) >> shift), 1);
        }
        more = by.sum(more);
        by.wait();
        if (high == had && more >= had) return had;
        int upwards = in_part(by);  // with this part's numbers or more
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const int there = __shfl_down_sync(WARP, upwards, distance);
            if (lane_number() + distance < 32) upwards += there;
        }
        const int least = low + 1 + (lane_number() << shift);
        const int passed = __popc(__ballot_sync(WARP, least < high && upwards + more >= least));
        const int next = low + 1 + (passed << shift);
        if (passed > 0) low = low + 1 + ((passed - 1) << shift);
        if (next < high) high = next;
        if (high - low <= 1) return low;
    }
}

// The same of a row of at most eight entries: a byte of a word counts neighbours of each number.
static_assert(LANE_ROW <= 8, "numbers up to the length of a row that a lane looks through have a byte each");

__device__ __forceinline__ int index_of(const ByLane&, const J* indices, I first, I end, const int* core, int had) {
    unsigned long long counts = 0;
#pragma unroll 4
    for (I e = first; e < end; ++e) {
        const int c = now(core + indices[e]);
        if (c > 0) counts += 1ull << 8 * ((c < had ? c : had) - 1);
    }
    int h = had;
    for (int upwards = 0; h > 0; --h) {
        upwards += (int)(counts >> 8 * (h - 1) & 255);
        if (upwards >= h) break;
    }
    return h;
}

// The h-index of v's row, written where it is less than v has; whether it is. Neighbours that counted v are marked, once
// they can see its number; and v itself, for a neighbour that falls at the same time may not have seen that it counts v.
template <class By>
__device__ __forceinline__ bool fall(const By& by, const J* indices, I begin, I end, I v, int* core, bool* marks) {
    const int had = now(core + v), low = index_of(by, indices, begin + by.rank(), end, core, had);
    if (low >= had) return false;
    if (by.rank() == 0) {
        core[v] = low;
        marks[v] = true;
        __threadfence();
    }
    by.wait();
    const auto number = [=](I e) {
        const I u = indices[e];
        return Neighbour{u, now(core + u)};
    };
    ask_and_tell<Neighbour>(by, begin, end, number, [=](Neighbour u) {
        if (low < u.number && u.number <= had) marks[u.vertex] = true;
    });
    return true;
}

// core, marks: as start_cores leaves them.
extern "C" __global__ void __launch_bounds__(CORES_THREADS, CORES_BLOCKS)
    cores(CoresControl* control, const I* __restrict__ indptr, const J* __restrict__ indices, long long n, int* core,
          bool* marks, unsigned long long last_step) {
    unsigned long long step = control->steps;
    bool done = false;
    const auto marked = [=](long long v) {
        if (!now(marks + v)) return (I)-1;
        marks[v] = false;
        __threadfence();
        return (I)v;
    };
    const auto degree = [=](I v) { return indptr[v + 1] - indptr[v]; };
    for (; step < last_step && !done; ++step) {
        bool fell = false;
        deal_rows(n, marked, degree, [&](const auto& by, long long, I v) {
            fell |= fall(by, indices, indptr[v], indptr[v + 1], v, core, marks);
        });
        done = !any_of_grid(fell, control->marked, step, &control->arrived);
    }
    if (thread_number() == 0) {
        control->done = done;
        control->steps = step;
    }
}
