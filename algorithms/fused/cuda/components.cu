// Connected components by hooking.
//
// Most vertices of most graphs are in one component, and most of its edges say nothing new [1]. So a few edges of each
// vertex are linked first; then the tree that a sample finds most often is taken for the giant one, and rows whose vertex
// is in it are left out of the pass over all edges. Both directions of an edge are in the rows of its two ends (or in A's
// rows and in its columns), so an edge that leaves the giant tree is seen from its other end.
//
// [1] M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling,
//     IPDPS 2018.

// Every vertex under its first edges' ends.
extern "C" __global__ void link_first(const I* __restrict__ indptr, const J* __restrict__ indices, long long n, int edges,
                                      I* parent) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        const I begin = indptr[v], end = indptr[v + 1];
        for (I e = begin; e < end && e < begin + edges; ++e) join(parent, (I)v, indices[e]);
    }
}

// The root that most of a sample have. One block of GIANT_SAMPLE threads.
extern "C" __global__ void find_giant(long long n, const I* parent, I* giant) {
    __shared__ I root[GIANT_SAMPLE];
    __shared__ unsigned long long best;
    if (threadIdx.x == 0) best = 0;
    I v = (I)((unsigned long long)n * (2 * threadIdx.x + 1) / (2 * GIANT_SAMPLE));
    while (parent[v] != v) v = parent[v];
    root[threadIdx.x] = v;
    __syncthreads();
    unsigned int count = 0;
    for (int i = 0; i < GIANT_SAMPLE; ++i) count += root[i] == v;
    atomicMax(&best, (unsigned long long)count << 32 | threadIdx.x);
    __syncthreads();
    if ((best & 0xffffffffu) == threadIdx.x) *giant = v;
}

struct Join {
    static constexpr int PER_LANE = 4;
    const J* indices;
    I *parent, giant;
    I u;
    bool outside;

    __device__ __forceinline__ void row(I v, bool has) {
        u = v;
        outside = has && parent[v] != giant;
    }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        if (!__any_sync(WARP, outside)) return;
        UNROLLED(j, PER_LANE) {
            const bool wanted = from_lane(outside, owner[j]);
            const I end = from_lane(u, owner[j]);
            if (inside[j] && wanted) join(parent, end, indices[place[j]]);
        }
    }
};

// All edges of the vertices that do not hang on the giant tree's root.
extern "C" __global__ void link_rest(const I* __restrict__ indptr, const J* __restrict__ indices, I n, I nnz,
                                     const I* giant, I* parent) {
    Join work{indices, parent, giant == nullptr ? (I)-1 : *giant, 0, false};
    deal_all_edges(indptr, n, nnz, work);
}

// The edges [from, to).
extern "C" __global__ void link_between(const I* __restrict__ indptr, const J* __restrict__ indices, I n, I nnz,
                                        long long from, long long to, I* parent) {
    Join work{indices, parent, (I)-1, 0, false};
    deal_edges_between(indptr, n, nnz, from, to, work);
}
