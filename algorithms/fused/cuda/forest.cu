// Minimum spanning forests by Boruvka's algorithm, a kernel for all rounds.
//
// An edge's key is its weight and, below it, where it lies in the matrix (of its two directions the one with u < v), so no
// two are equal, and keys compare as (weight, smaller end, larger end).
//
// first     the lightest edge of every vertex is the first lightest of its row, since columns ascend: no list of edges
//           and few atomics. Each joins two trees; the root of a tree is its smallest vertex.
// rounds    edges between different trees are listed as (tree, tree, key). Relabelling an edge, dropping it if its ends
//           have become one tree, and offering its key to both trees is one pass; finding the edges that were taken and
//           joining their trees another. Two barriers a round.
// The lightest edges go first: when they are used up, most trees are one, and of the heavy edges, looked at once, few
// are left to list.
//
// Traffic: the matrix once for `first`, and the columns once for each listing; 16 bytes for a listed edge and round.

// Weights as integers that compare as they do, unsigned. `bits`: of an int32, or of a float32 if `real`.
__device__ __forceinline__ unsigned int ordinal(int bits, bool real) {
    if (real && bits < 0) bits = -(bits & 0x7fffffff);
    return (unsigned int)bits ^ 0x80000000u;
}

__device__ __forceinline__ void offer(unsigned long long* best, unsigned long long key) {
    if (key < now(best)) atomicMin(best, key);
}

// Offers to trees by one thread, which remembers what it last saw of one: most edges are of the giant tree, and nobody has
// to ask for what that has already.
struct Offers {
    unsigned long long *best, seen;
    I tree;

    __device__ __forceinline__ void make(I to, unsigned long long key) {
        if (to == tree && key >= seen) return;
        const unsigned long long there = now(best + to);
        if (key < there) atomicMin(best + to, key);
        tree = to;
        seen = key < there ? key : there;
    }
};

// Offer every edge to its row's vertex. The key has the place in that row.  first: the vertex of the first row.
template <class Columns> struct Lightest {
    static constexpr int PER_LANE = 4;
    Columns columns;
    const int* weights;
    I step;
    bool real;
    unsigned long long* best;
    I first, u;

    __device__ __forceinline__ void row(I v, bool) { u = first + v; }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        I x[PER_LANE];
        int w[PER_LANE];
        load(place, inside, x, w);
        offer_all(owner, place, inside, x, w);
    }
    __device__ __forceinline__ void load(const I* place, const bool* inside, I* x, int* w) const {
        UNROLLED(j, PER_LANE) {
            x[j] = inside[j] ? columns.streamed(place[j]) : 0;
            w[j] = inside[j] ? weights[place[j] * step] : 0;
        }
    }
    __device__ __forceinline__ void offer_all(const int* owner, const I* place, const bool* inside, const I* x,
                                              const int* w) const {
        if (from_lane(owner[0], 0) == from_lane(owner[PER_LANE - 1], 31)) {  // all are of one row, as most edges are
            const I own = from_lane(u, owner[0]);
            unsigned long long least = ~0ull;
            UNROLLED(j, PER_LANE)
                if (inside[j] && x[j] != own)
                    least = min(least, (unsigned long long)ordinal(w[j], real) << 32 | (unsigned int)place[j]);
            least = least_of_warp(least);
            if (lane_number() == 0 && least != ~0ull) offer(best + (own - first), least);
            return;
        }
        UNROLLED(j, PER_LANE) {
            const I own = from_lane(u, owner[j]);
            unsigned long long key = ~0ull;
            if (inside[j] && x[j] != own) key = (unsigned long long)ordinal(w[j], real) << 32 | (unsigned int)place[j];
            // The least of each row's lanes, which are neighbours, in the last of them.
#pragma unroll
            for (int distance = 1; distance < 32; distance *= 2) {
                const unsigned long long below = __shfl_up_sync(WARP, key, distance);
                const int row = __shfl_up_sync(WARP, owner[j], distance);
                if (lane_number() >= distance && row == owner[j] && below < key) key = below;
            }
            const int next = __shfl_down_sync(WARP, owner[j], 1);
            if ((lane_number() == 31 || next != owner[j]) && key != ~0ull) offer(best + (own - first), key);
        }
    }
};

// List the edges u < v whose trees differ, of weights on one side of the threshold.
template <class Columns> struct ListBetween {
    static constexpr int PER_LANE = 4;
    Columns columns;
    const int* weights;
    I step;
    bool real, heavy;
    unsigned int threshold;  // the first weight that is heavy
    const I* tree;
    ForestEdge* list;
    unsigned long long* counter;
    Offers offers;
    I u, of_u;

    __device__ __forceinline__ void row(I v, bool) {
        u = v;
        of_u = tree[v];
    }
    __device__ __forceinline__ void edges(const int* owner, const I* place, const bool* inside) {
        I x[PER_LANE], a[PER_LANE], b[PER_LANE];
        unsigned int w[PER_LANE];
        bool wanted[PER_LANE];
        UNROLLED(j, PER_LANE) {
            const I own = from_lane(u, owner[j]);
            a[j] = from_lane(of_u, owner[j]);
            x[j] = inside[j] ? columns.streamed(place[j]) : 0;
            wanted[j] = inside[j] && own < x[j];
        }
        // Light edges are few: their weights first. Heavy ones between different trees are few: the trees first.
        UNROLLED(j, PER_LANE) {
            w[j] = wanted[j] && !heavy ? ordinal(weights[place[j] * step], real) : 0;
            b[j] = wanted[j] && heavy ? tree[x[j]] : 0;
        }
        UNROLLED(j, PER_LANE) {
            wanted[j] = wanted[j] && (heavy ? a[j] != b[j] : w[j] < threshold);
            if (heavy) w[j] = wanted[j] ? ordinal(weights[place[j] * step], real) : 0;
            else b[j] = wanted[j] ? tree[x[j]] : 0;
        }
        UNROLLED(j, PER_LANE) wanted[j] = wanted[j] && (heavy ? w[j] >= threshold : a[j] != b[j]);
        append(wanted, counter, [&](int j, unsigned long long at) {
            const unsigned long long key = (unsigned long long)w[j] << 32 | (unsigned int)place[j];
            list[at] = {a[j], b[j], key};
            offers.make(a[j], key);
            offers.make(b[j], key);
        });
    }
};

__device__ __forceinline__ unsigned long long key_of(const ForestEdge& edge) { return edge.key; }

// Trees are offered keys, of which they keep the best.
struct BestKeys {
    static constexpr bool HAS_ENDS = false;
    unsigned long long* key;

    __device__ __forceinline__ void clear(long long tree) const { key[tree] = ~0ull; }
    __device__ __forceinline__ void offer_end(I, const ForestEdge&) const {}
    __device__ __forceinline__ bool is(I tree, const ForestEdge& edge) const { return key[tree] == edge.key; }
};

// Boruvka's rounds over a list of edges, whose trees have been offered their keys.
//
// arrived: of the grid's barrier.  queue: three counters of listed edges, which take turns; `slot` has the present one.
// best, then: what trees are offered in this round, and in the next; of edges that are equal in their keys, where
// Best::HAS_ENDS, a pass finds that of the best end.
template <class Edge, class Best> struct Rounds {
    unsigned int* arrived;
    unsigned long long* queue;
    unsigned int slot;
    unsigned long long rounds;
    I* parent;
    Best best, then;
    Edge *list, *other;

    // Rounds until the list is used up. take(edge) is called for each edge of the forest.
    template <class Take> __device__ __forceinline__ void run(const Take& take) {
        for (unsigned long long count = now(queue + slot); count > 0; ++rounds) {
            if (Best::HAS_ENDS) {
                for (unsigned long long i = thread_number(); i < count; i += thread_count()) {
                    const Edge edge = list[i];
                    best.offer_end(edge.a, edge);
                    best.offer_end(edge.b, edge);
                }
                grid_barrier(arrived);
            }
            for (unsigned long long i = thread_number(); i < count; i += thread_count()) {
                const Edge edge = list[i];
                then.clear(edge.a);
                then.clear(edge.b);
                if (!best.is(edge.a, edge) && !best.is(edge.b, edge)) continue;
                take(edge);
                join(parent, edge.a, edge.b);
            }
            turn();
            grid_barrier(arrived);
            // What is left of the list, by the new trees, is offered to them.
            Offers offers{then.key, 0, (I)-1};
            for (unsigned long long first = thread_number() - lane_number(); first < count; first += thread_count()) {
                Edge edge{};
                if (first + lane_number() < count) {
                    edge = list[first + lane_number()];
                    edge.a = root_of(parent, edge.a);
                    edge.b = root_of(parent, edge.b);
                }
                const bool between[] = {edge.a != edge.b};
                append(between, queue + slot, [&](int, unsigned long long place) {
                    other[place] = edge;
                    offers.make(edge.a, key_of(edge));
                    offers.make(edge.b, key_of(edge));
                });
            }
            grid_barrier(arrived);
            count = now(queue + slot);
            exchange(best, then);
            exchange(list, other);
        }
    }
    __device__ __forceinline__ void turn() {
        slot = (slot + 1) % 3;
        if (thread_number() == 0) queue[(slot + 1) % 3] = 0;
    }
};

// Write the chosen entries in their order: every block counts those of its part, and writes them behind those before.
// first: the vertex of the first row. Returns how many there are.
template <class Columns>
__device__ __forceinline__ unsigned long long write_chosen(unsigned int* arrived, const I* indptr, const Columns& columns,
                                                           const int* weights, I step, I first, I n, I nnz,
                                                           const unsigned int* chosen, unsigned int* of_block, I* places,
                                                           I* rows, I* ends, int* taken) {
    const long long words = (nnz + 31ll) / 32, part = (words + gridDim.x - 1) / gridDim.x;
    const long long from = min(blockIdx.x * part, words), to = min(from + part, words);
    unsigned int own = 0;
    for (long long w = from + threadIdx.x; w < to; w += blockDim.x) own += __popc(now(chosen + w));
    __shared__ unsigned int total;
    __shared__ unsigned long long next;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    if (own > 0) atomicAdd(&total, own);
    __syncthreads();
    if (threadIdx.x == 0) of_block[blockIdx.x] = total;
    grid_barrier(arrived);
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    unsigned int before = 0, all = 0;
    for (unsigned int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
        all += of_block[b];
        if (b < blockIdx.x) before += of_block[b];
    }
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    if (before > 0) atomicAdd(&next, (unsigned long long)before);
    if (all > 0) atomicAdd(&total, all);
    __syncthreads();
    const unsigned long long count = total;
    for (long long base = from; base < to; base += blockDim.x) {
        const long long w = base + threadIdx.x;
        unsigned int bits = w < to ? now(chosen + w) : 0;
        const unsigned long long begin = next;
        __shared__ unsigned long long counter;
        __syncthreads();
        if (threadIdx.x == 0) counter = 0;
        __syncthreads();
        const unsigned long long place = begin + reserve(__popc(bits), 0, &counter).first;
        if (threadIdx.x == 0) next = begin + counter;
        if (__any_sync(WARP, bits != 0)) {
            // The warp's words lie in few rows, and each lane writes as many entries.
            const long long warps_first = (w - lane_number()) * 32, warps_last = warps_first + 1023;
            const auto start = [=](I f) { return (long long)indptr[f]; };
            const I row = last_at_most(start, n, warps_first), last_row = last_at_most(start, n, warps_last);
            const unsigned long long of_warp = from_lane(place, 0);
            constexpr int PER_LANE = 2;
            each_bit<PER_LANE>(bits, [=](const int* owner, const int* bit, const unsigned int* number, const bool* inside) {
                I entry[PER_LANE], low[PER_LANE], end[PER_LANE];
                int weight[PER_LANE];
                UNROLLED(j, PER_LANE) {
                    entry[j] = (I)(warps_first + owner[j] * 32 + bit[j]);
                    end[j] = inside[j] ? columns[entry[j]] : 0;
                    weight[j] = inside[j] ? weights[entry[j] * step] : 0;
                    low[j] = row;
                    for (I high = last_row + 1; high - low[j] > 1;) {
                        const I middle = low[j] + (high - low[j]) / 2;
                        (indptr[middle] <= entry[j] ? low[j] : high) = middle;
                    }
                }
                UNROLLED(j, PER_LANE) {
                    if (!inside[j]) continue;
                    const unsigned long long at = of_warp + number[j];
                    places[at] = entry[j];
                    rows[at] = first + low[j];
                    ends[at] = end[j];
                    taken[at] = weight[j];
                }
            });
        }
        __syncthreads();
    }
    return count;
}
