// Core numbers as the greatest fixpoint of an h-index.
//
// c_v is the largest h for which v has h neighbours u with c_u >= h. From the degrees on the numbers only fall, in any
// order, to the core numbers [1, 2]. A vertex is looked at again when a neighbour has fallen below its number: on a
// power-law graph that takes some 40 passes, and peeling hundreds.
//
// [1] L. Lü, T. Zhou, Q.-M. Zhang, H. E. Stanley, The H-index of a network node and its relation to degree and coreness,
//     Nature Communications 7, 2016.
// [2] A. E. Sarıyüce, C. Seshadhri, A. Pinar, Local algorithms for hierarchical dense subgraph discovery, VLDB 2018.

static_assert(CORES_THREADS <= MOST_THREADS, "the shared arrays of deal_rows have a place for each thread");

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

struct Counted {
    int count, below;
};

struct Neighbour {
    I vertex;
    int number;
};

// Of a row: how many neighbours have h or more, and what the others have at most.
template <class By>
__device__ __forceinline__ Counted counted(const By& by, const I* indices, I first, I end, const int* core, int h) {
    Counted own{0, 0};
#pragma unroll 4
    for (I e = first; e < end; e += by.size()) {
        const int c = now(core + indices[e]);
        if (c >= h) ++own.count;
        else if (c > own.below) own.below = c;
    }
    return {by.sum(own.count), by.most(own.below)};
}

// The h-index of a row, low <= it < high: a pass asks at STEPS places at once, the first just below high, for most numbers
// fall by little.
template <class By>
__device__ __forceinline__ int index_of(const By& by, const I* indices, I first, I end, const int* core, int low, int high) {
    constexpr int STEPS = 4;
    while (high - low > 1) {
        int at[STEPS], count[STEPS];
#pragma unroll
        for (int j = 0; j < STEPS; ++j) {
            at[j] = j == 0 ? high - 1 : low + (int)((long long)(high - low) * (STEPS - j) / STEPS);
            count[j] = 0;
        }
#pragma unroll 4
        for (I e = first; e < end; e += by.size()) {
            const int c = now(core + indices[e]);
#pragma unroll
            for (int j = 0; j < STEPS; ++j) count[j] += c >= at[j];
        }
        bool found = false;
#pragma unroll
        for (int j = 0; j < STEPS; ++j) {
            const int there = by.sum(count[j]);
            if (found || at[j] <= low) continue;
            found = there >= at[j];
            if (found) low = at[j];
            else high = at[j];
            if (!found && there > low) low = there;
        }
    }
    return low;
}

// The h-index of v's row, written where it is less than v has; whether it is. Neighbours that counted v are marked, once
// they can see its number; and v itself, for a neighbour that falls at the same time may not have seen that it counts v.
template <class By>
__device__ __forceinline__ bool fall(const By& by, const I* indices, I begin, I end, I v, int* core, bool* marks) {
    const int had = now(core + v);
    const I first = begin + by.rank();
    const Counted found = counted(by, indices, first, end, core, had);
    if (found.count >= had) return false;
    const int most = found.below > found.count ? found.below : found.count;
    const int low = index_of(by, indices, first, end, core, found.count, most < had ? most + 1 : had);
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
    cores(CoresControl* control, const I* __restrict__ indptr, const I* __restrict__ indices, long long n, int* core,
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
        if (thread_number() == 0) control->marked[(step + 1) % 3] = 0;
        deal_rows(n, marked, degree, [&](const auto& by, long long, I v) {
            fell |= fall(by, indices, indptr[v], indptr[v + 1], v, core, marks);
        });
        if (fell) control->marked[step % 3] = 1;
        grid_barrier(&control->arrived);
        done = now(control->marked + step % 3) == 0;
    }
    if (thread_number() == 0) {
        control->done = done;
        control->steps = step;
    }
}
