// The tree of a search, from its levels alone.

// The parents of levels: of the predecessors one level nearer the smallest, which is the first, since columns ascend.
// own: the levels of the n vertices whose columns these are.
extern "C" __global__ void parents_pulled(const I* __restrict__ indptr, const J* __restrict__ indices, long long n,
                                          const int* __restrict__ own, const int* __restrict__ level,
                                          I* __restrict__ parent) {
    for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
        const long long v = first + lane_number();
        const int nearer = v < n ? own[v] - 1 : -1;
        I e = 0, end = 0, found = -1;
        if (nearer >= 0) {
            e = indptr[v];
            end = indptr[v + 1];
            for (const I alone = end - e < ALONE ? end : e + ALONE; e < alone && found < 0; ++e)
                if (level[indices[e]] == nearer) found = indices[e];
        }
        for (unsigned int left = __ballot_sync(WARP, found < 0 && e < end); left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1, wanted = from_lane(nearer, owner);
            const I last = from_lane(end, owner);
            for (I at = from_lane(e, owner); at < last; at += 32) {
                const I u = lane_number() < last - at ? indices[at + lane_number()] : 0;
                const unsigned int hits = __ballot_sync(WARP, lane_number() < last - at && level[u] == wanted);
                if (hits == 0) continue;
                const I chosen = from_lane(u, __ffs(hits) - 1);
                if (lane_number() == owner) found = chosen;
                break;
            }
        }
        if (v < n) parent[v] = found;
    }
}

// The same along the rows: every edge to the next level offers its beginning. parent is -1, the largest unsigned.
struct Lead {
    static constexpr int AT_ONCE = 4;
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
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
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
