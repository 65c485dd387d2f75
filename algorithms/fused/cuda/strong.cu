// Strong components before the two searches from one pivot, and after them (scc_coloring.cu), with no step on the host.
//
// pivot   the vertex of the largest in-degree × out-degree.
// colour  what both searches reached is the pivot's component. What is left is taken apart by colours [1, 2]: every vertex
//         draws a random number, and learns the smallest that leads to it and the smallest to which it leads. Where the
//         two are of one vertex, it is in that vertex's component. Edges between vertices that have not the same two are
//         then cut, for they join no component. Random numbers keep the rounds few, about log n.
//
// A colour that a vertex has belongs to another vertex, and whatever leads there leads on: so a pass looks at neighbours,
// and then at what the vertex that drew the colour has by now. Paths of any length are passed in about log n passes. For
// that reason the searches, which take a step for each level, end early: what they have found by then is a colour that
// has already spread.
//
// Before that, chains of vertices with one edge in and one edge out are taken out, by pointer jumping: an edge into a chain
// counts as one to its other end. At last, a chain is of the component of its two ends, if they have one.
//
// [1] G. M. Slota, S. Rajamanickam, K. Madduri, BFS and coloring-based parallel algorithms for strongly connected
//     components and related problems, IPDPS 2014.
// [2] G. Alabandi, W. Sands, G. Biros, M. Burtscher, A GPU algorithm for detecting strongly connected components, SC 2023.

// No vertex has a label at first, and there is no pivot.
extern "C" __global__ void start_strong(StrongControl* control, long long n, I* label) {
    for (long long v = thread_number(); v < n; v += thread_count()) label[v] = -1;
    if (thread_number() != 0) return;
    *control = StrongControl{};
    control->smallest = ~0ull;
}

extern "C" __global__ void choose_pivot(StrongControl* control, const I* indptr, const I* in_indptr, long long n) {
    __shared__ unsigned long long best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    unsigned long long own = 0;
    for (long long v = thread_number(); v < n; v += thread_count()) {
        const unsigned long long out = indptr[v + 1] - indptr[v], in = in_indptr[v + 1] - in_indptr[v];
        const unsigned long long product = out * in < 0xffffffffull ? out * in : 0xffffffffull;
        const unsigned long long key = product << 32 | (0xffffffffu - (unsigned int)v);
        if (key > own) own = key;
    }
    if (own > 0) atomicMax(&best, own);
    __syncthreads();
    if (threadIdx.x == 0 && best > 0) atomicMax(&control->pivot, best);
}

// Levels for a search from the pivot.
extern "C" __global__ void start_at_pivot(const StrongControl* control, long long n, long long nnz, SearchControl* there,
                                          SearchControl* back, int* forward, int* backward) {
    const long long start = 0xffffffffu - (unsigned int)(control->pivot & 0xffffffffu);
    for (long long v = thread_number(); v < n; v += thread_count()) forward[v] = backward[v] = v == start ? 0 : -1;
    if (thread_number() != 0) return;
    *there = *back = SearchControl{};
    there->unexplored = back->unexplored = nnz;
}
