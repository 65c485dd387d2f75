// Core numbers as the greatest fixpoint of an h-index.
//
// c_v is the largest h for which v has h neighbours u with c_u >= h. From the degrees on the numbers only fall, in any
// order, to the core numbers [1, 2]. A vertex is looked at again when a neighbour has fallen below its number: on a
// power-law graph that takes some 40 passes, and peeling hundreds.
//
// [1] L. Lü, T. Zhou, Q.-M. Zhang, H. E. Stanley, The H-index of a network node and its relation to degree and coreness,
//     Nature Communications 7, 2016.
// [2] A. E. Sarıyüce, C. Seshadhri, A. Pinar, Local algorithms for hierarchical dense subgraph discovery, VLDB 2018.

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

struct Neighbour {
    I vertex;
    int number;
};

constexpr int HELD = 8;  // numbers of a row that each who looks through it keeps

// What the neighbours of a row have: read once where the row is short enough, else anew each time.
template <class By> struct Row {
    const By& by;
    const I *indices, begin, end;
    const int* core;
    bool held;
    int numbers[HELD];

    __device__ __forceinline__ Row(const By& by, const I* indices, I begin, I end, const int* core)
        : by(by), indices(indices), begin(begin + by.rank()), end(end), core(core), held(end - begin <= (I)HELD * by.size()) {
        if (!held) return;
#pragma unroll
        for (int j = 0; j < HELD; ++j) {
            const I e = this->begin + j * by.size();
            numbers[j] = e < end ? now(core + indices[e]) : -1;
        }
    }

    __device__ __forceinline__ Counted counted(int h) const {
        Counted own{0, 0};
        const auto count = [&](int c) {
            if (c >= h) ++own.count;
            else if (c > own.below) own.below = c;
        };
        if (held) {
#pragma unroll
            for (int j = 0; j < HELD; ++j) count(numbers[j]);
        } else {
#pragma unroll 4
            for (I e = begin; e < end; e += by.size()) count(now(core + indices[e]));
        }
        return {by.sum(own.count), by.most(own.below)};
    }
};

// The h-index of v's row, written where it is less than v has; whether it is. Neighbours that counted v are marked, once
// they can see its number; and v itself, for a neighbour that falls at the same time may not have seen that it counts v.
template <class By>
__device__ __forceinline__ bool fall(const By& by, const I* indices, I begin, I end, I v, int* core, bool* marks) {
    const int had = now(core + v);
    const Row<By> row(by, indices, begin, end, core);
    Counted found = row.counted(had);
    if (found.count >= had) return false;
    int low = found.count, high = had;  // low <= h < high
    if (found.below < high) high = found.below + 1 > low + 1 ? found.below + 1 : low + 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        found = row.counted(middle);
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
