// Rounds of Boruvka's algorithm on rows whose entries go from the lightest to the heaviest.
//
// search   a vertex's lightest edge that leaves its tree is the first of its row that does. The next search begins there.
// offer    each vertex offers its edge to its tree. Edges compare as (weight, smaller end, larger end), in two steps.
// choose   a tree's best edge joins it to another; then every vertex points at its tree's root, the smallest vertex.
//
// Traffic per round: 16 bytes a vertex for each step, and a column and a tree for each entry that a search passes.

// Entries at which each lane of a warp looks at once in a long row: the round waits for the hubs.
constexpr int ENTRIES_AT_A_TIME = 16;

// Minimum entries left of a row for a block to look through them.
constexpr int MIN_BLOCK_ENTRIES = 1024;

struct ForestCount {
    unsigned long long chosen, rows;
};

// The edges of listed vertices. place: where each vertex's search goes on.  other: the vertex at the end, or -1.  long_rows:
// the vertices whose searches are left to `search_long`.
extern "C" __global__ void search(const I* list, long long count, const I* indptr, const I* indices,
                                  const unsigned int* weights, const I* tree, I* place, I* other, unsigned int* weight,
                                  ForestCount* counts, I* long_rows) {
    for (long long first = thread_number() - lane_number(); first < count; first += thread_count()) {
        const bool has = first + lane_number() < count;
        const I v = has ? list[first + lane_number()] : 0;
        I e = 0, end = 0, own = 0;
        bool found = false;
        if (has) {
            e = place[v];
            end = indptr[v + 1];
            own = tree[v];
            for (const I alone = end - e < LANE_ROW ? end : e + LANE_ROW; e < alone; ++e) {
                found = tree[indices[e]] != own;
                if (found) break;
            }
        }
        const bool is_long = !found && end - e > MIN_BLOCK_ENTRIES;
        if (is_long) long_rows[atomicAdd(&counts->rows, 1ull)] = v;
        for (unsigned int left = __ballot_sync(WARP, !found && e < end && !is_long); left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            const I last = from_lane(end, owner), of = from_lane(own, owner);
            unsigned int hits = 0;
            I at = from_lane(e, owner);
            for (; at < last && hits == 0; at += hits == 0 ? 32 * ENTRIES_AT_A_TIME : 0) {
                bool leaves[ENTRIES_AT_A_TIME];
#pragma unroll
                for (int j = 0; j < ENTRIES_AT_A_TIME; ++j) {
                    const long long place = (long long)at + 32 * j + lane_number();
                    leaves[j] = place < last && tree[indices[place]] != of;
                }
#pragma unroll
                for (int j = 0; j < ENTRIES_AT_A_TIME; ++j) {
                    if (hits == 0) {
                        hits = __ballot_sync(WARP, leaves[j]);
                        if (hits != 0) at += 32 * j;
                    }
                }
            }
            if (lane_number() != owner) continue;
            found = hits != 0;
            e = found ? at + __ffs(hits) - 1 : last;
        }
        if (!has) continue;
        place[v] = e;
        if (is_long) continue;
        other[v] = found ? indices[e] : -1;
        if (found) weight[v] = weights[e];
    }
}

// The same for long rows, a block each.
extern "C" __global__ void search_long(const ForestCount* counts, const I* long_rows, const I* indptr, const I* indices,
                                       const unsigned int* weights, const I* tree, I* place, I* other,
                                       unsigned int* weight) {
    __shared__ unsigned int nearest;
    const unsigned int count = (unsigned int)now(&counts->rows), step = blockDim.x * ENTRIES_AT_A_TIME;
    for (unsigned int i = blockIdx.x; i < count; i += gridDim.x) {
        const I v = long_rows[i], own = tree[v], end = indptr[v + 1];
        if (threadIdx.x == 0) nearest = ~0u;
        __syncthreads();
        long long at = place[v];
        for (; at < end; at += step) {
            unsigned int hit = ~0u;
#pragma unroll
            for (int j = ENTRIES_AT_A_TIME - 1; j >= 0; --j) {
                const unsigned int ahead = j * blockDim.x + threadIdx.x;
                if (at + ahead < end && tree[indices[at + ahead]] != own) hit = ahead;
            }
            if (hit != ~0u) atomicMin(&nearest, hit);
            __syncthreads();
            const bool found = nearest != ~0u;
            if (found) break;
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            const I e = at < end ? (I)(at + nearest) : end;
            place[v] = e;
            other[v] = at < end ? indices[e] : -1;
            if (at < end) weight[v] = weights[e];
        }
        __syncthreads();
    }
}

// What another processor has found for listed vertices.
extern "C" __global__ void put(const I* list, long long count, const I* found, const unsigned int* its_weight, I* other,
                               unsigned int* weight) {
    for (long long i = thread_number(); i < count; i += thread_count()) {
        other[list[i]] = found[i];
        weight[list[i]] = its_weight[i];
    }
}

__device__ __forceinline__ unsigned long long key_of(unsigned int weight, I u, I v) {
    return (unsigned long long)weight << 32 | (unsigned int)(u < v ? u : v);
}

extern "C" __global__ void offer(long long n, const I* other, const unsigned int* weight, const I* tree,
                                 unsigned long long* best) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        if (other[v] < 0) continue;
        const unsigned long long key = key_of(weight[v], (I)v, other[v]);
        unsigned long long* const to = best + tree[v];
        if (key < *to && key < now(to)) atomicMin(to, key);
    }
}

extern "C" __global__ void offer_larger_end(long long n, const I* other, const unsigned int* weight, const I* tree,
                                            const unsigned long long* best, unsigned int* larger) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        if (other[v] < 0 || key_of(weight[v], (I)v, other[v]) != best[tree[v]]) continue;
        atomicMin(larger + tree[v], (unsigned int)(v > other[v] ? (I)v : other[v]));
    }
}

// rows, ends, taken: the chosen edges and their weights, behind those of the rounds before.
extern "C" __global__ void choose(long long n, const I* other, const unsigned int* weight, const I* tree,
                                  const unsigned long long* best, const unsigned int* larger, I* parent,
                                  ForestCount* count, I* rows, I* ends, unsigned int* taken) {
    for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
        const long long v = first + lane_number();
        const I x = v < n ? other[v] : -1;
        bool wanted = x >= 0;
        if (wanted) {
            const I high = v > x ? (I)v : x;
            wanted = key_of(weight[v], (I)v, x) == best[tree[v]] && (unsigned int)high == larger[tree[v]] &&
                     joined(parent, tree[v], tree[x]);
        }
        const unsigned int all = __ballot_sync(WARP, wanted);
        if (all == 0) continue;
        unsigned long long base = 0;
        if (lane_number() == 0) base = atomicAdd(&count->chosen, (unsigned long long)__popc(all));
        base = from_lane(base, 0) + __popc(all & lanes_below());
        if (!wanted) continue;
        rows[base] = v < x ? (I)v : x;
        ends[base] = v < x ? x : (I)v;
        taken[base] = weight[v];
    }
}

// Every vertex at its root, and nothing offered to any tree.
extern "C" __global__ void next_round(long long n, const I* parent, I* tree, unsigned long long* best,
                                      unsigned int* larger, ForestCount* count) {
    if (thread_number() == 0) count->rows = 0;
    for (long long v = thread_number(); v < n; v += thread_count()) {
        tree[v] = root_of(parent, tree[v]);
        best[v] = ~0ull;
        larger[v] = ~0u;
    }
}

extern "C" __global__ void start(long long n, const I* indptr, I* tree, I* parent, I* place, unsigned long long* best,
                                 unsigned int* larger, ForestCount* count) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        tree[v] = parent[v] = (I)v;
        place[v] = indptr[v];
        best[v] = ~0ull;
        larger[v] = ~0u;
    }
    if (thread_number() == 0) count->chosen = count->rows = 0;
}
