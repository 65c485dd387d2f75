// The tree of a search, from its levels alone.

// The parents of levels: of the predecessors one level nearer the smallest, which is the first, since columns ascend.
// own: the levels of the n vertices whose columns these are.
extern "C" __global__ void parents_pulled(const I* __restrict__ indptr, const J* __restrict__ indices, long long n,
                                          const int* __restrict__ own, const int* __restrict__ level,
                                          I* __restrict__ parent) {
    for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
        const long long v = first + lane_number();
        const auto leads = [=](I row, I u) { return level[u] == own[row] - 1; };
        const I place = first_in_row(indptr, indices, (I)v, v < n && own[v] > 0, leads);
        if (v < n) parent[v] = place < 0 ? (I)-1 : (I)indices[place];
    }
}

// The same along the rows: every edge to the next level offers its beginning. parent is -1, the largest unsigned.
struct Lead {
    static constexpr int PER_LANE = 4;
    const J* indices;
    const int* level;
    I* parent;
    int from;
    I u;

    __device__ __forceinline__ void row(I v, bool has) {
        u = v;
        from = has ? level[v] : -1;
    }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        UNROLLED(j, PER_LANE) {
            const int l = from_lane(from, owner[j]);
            const I candidate = from_lane(u, owner[j]);
            if (!inside[j] || l < 0) continue;
            const I x = __ldcs(indices + place[j]);
            // What the first-level cache has of a parent may be old, and then it is larger.
            if (level[x] == l + 1 && (parent[x] < 0 || candidate < parent[x])) take_smaller(parent + x, candidate);
        }
    }
};

extern "C" __global__ void parents_pushed(const I* __restrict__ indptr, const J* __restrict__ indices, I n, I nnz,
                                          const int* __restrict__ level, I* __restrict__ parent) {
    Lead lead{indices, level, parent, 0, 0};
    deal_all_edges(indptr, n, nnz, lead);
}
