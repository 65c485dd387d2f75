// The fixpoints of fixpoint.cu from up to 64 sources at once: a row of distances for each vertex, one from each source.
//
//     D = E ⊕ D A                                            E: the unit of each source in its column
//
// The state is D, and a word for each vertex whose bits say from which sources it has improved since it was expanded. One
// threshold serves all sources. A step is two passes. The vertices that are near for some source are listed, their rows
// cut into pieces. Then distances are pushed: a warp takes a piece, its lanes are sources, its edges come one after
// another, or two at a time for up to 32 sources. So an edge is read once for all, and distances beside it lie together.

using Word = unsigned long long;

constexpr int PAIR = 2;         // sources of a lane

// A lane's part of a row: the distances from sources 2i and 2i + 1.
struct alignas(PAIR * sizeof(T)) Pair {
    T of[PAIR];

    __device__ __forceinline__ bool reached() const { return of[0] != ZERO || of[1] != ZERO; }
};

template <int BYTES> struct PairOf { using type = uint2; };
template <> struct PairOf<1> { using type = uchar2; };
template <> struct PairOf<8> { using type = ulonglong2; };

// D, and what has improved. Of a word, bit i is of a lane's first source, and bit 32 + i of its second.
// WIDTH: of a row, 32 or 64. A warp's lanes are those of one row, or of two rows at a time.
template <int WIDTH> struct Rows {
    static constexpr int LANES = WIDTH / PAIR, ROWS_AT_A_TIME = 32 / LANES;
    T* d;
    Word* active;

    // Which row is the lane's, and where in it the lane is.
    __device__ __forceinline__ int which() const { return lane_number() / LANES; }
    __device__ __forceinline__ int lane() const { return lane_number() % LANES; }

    __device__ __forceinline__ Pair* at(I v) const { return reinterpret_cast<Pair*>(d + v * (long long)WIDTH) + lane(); }

    // Which lanes of the row say so. All of the warp take part.
    __device__ __forceinline__ unsigned int ballot(bool value) const {
        const unsigned int all = __ballot_sync(WARP, value);
        return ROWS_AT_A_TIME == 1 ? all : all >> (LANES * which()) & ((1u << (LANES % 32)) - 1);
    }

    // What is in memory now, where the lane has a source; else nothing.
    __device__ __forceinline__ Pair current(I v, bool wanted) const {
        Pair pair{ZERO, ZERO};
        if (wanted) {
            const auto words = __ldcg(reinterpret_cast<const typename PairOf<sizeof(T)>::type*>(at(v)));
            memcpy(&pair, &words, sizeof(Pair));
        }
        return pair;
    }

    // Returns the same, which may be old.
    __device__ __forceinline__ Pair seen(I v, bool wanted) const {
        Pair pair{ZERO, ZERO};
        if (wanted) pair = *at(v);
        return pair;
    }
};

// The lanes with a source in a word, and whether the lane is one of them.
__device__ __forceinline__ unsigned int lanes_of(Word word) { return (unsigned int)word | (unsigned int)(word >> 32); }
__device__ __forceinline__ bool among(unsigned int lanes, int lane) { return (lanes >> lane & 1) != 0; }
__device__ __forceinline__ bool has_bit(Word word, int h) { return (word >> (32 * h + lane_number()) & 1) != 0; }

// Nothing is reached. rows: of n * width distances.
extern "C" __global__ void begin_batch(Control* control, long long n, int width, T* d, Word* active, T one, T threshold) {
    for (long long i = thread_number(); i < n * width; i += thread_count()) d[i] = ZERO;
    for (long long v = thread_number(); v < n; v += thread_count()) active[v] = 0;
    if (thread_number() != 0) return;
    start(control, one, threshold);
}

extern "C" __global__ void place_batch(int count, int width, const long long* sources, T* d, Word* active, T one) {
    for (int j = (int)thread_number(); j < count; j += (int)thread_count()) {
        d[sources[j] * width + j] = one;
        atomicOr(active + sources[j], (Word)1 << (j % PAIR * 32 + j / PAIR));
    }
}

// List what is active and no worse than the threshold, which is then no longer active. Returns the best of the others.
template <int WIDTH>
__device__ __forceinline__ T list_rows(const I* indptr, long long n, const Rows<WIDTH>& rows, T threshold,
                                       BatchPiece* pieces, unsigned long long* counter) {
    T left = ZERO;
    for (long long base = blockIdx.x * (long long)blockDim.x; base < n; base += thread_count()) {
        const long long v = base + threadIdx.x;
        const Word word = v < n ? rows.active[v] : 0;
        if (!__syncthreads_or(word != 0)) continue;
        Word near = 0;
        if (threshold == ZERO) near = word;
        unsigned int some = __ballot_sync(WARP, word != near);
        while (some != 0) {
            constexpr int PER_LANE = 4;
            int owner[PER_LANE];
            Pair value[PER_LANE];
            UNROLLED(j, PER_LANE) {
                owner[j] = some != 0 ? __ffs(some) - 1 : -1;
                some &= some - 1;
                const Word here = owner[j] < 0 ? 0 : from_lane(word, owner[j]);
                const I u = (I)(v - lane_number() + owner[j]);
                value[j] = rows.seen(u, among(lanes_of(here), lane_number()));
                UNROLLED(h, PAIR)
                    if (!has_bit(here, h)) value[j].of[h] = ZERO;
            }
            UNROLLED(j, PER_LANE) {
                Word found = 0;
                UNROLLED(h, PAIR) {
                    const T here = value[j].of[h];
                    const bool is_near = here != ZERO && no_worse(here, threshold);
                    if (here != ZERO && !is_near) left = add(left, here);
                    found |= (Word)__ballot_sync(WARP, is_near) << (32 * h);
                }
                if (lane_number() == owner[j]) near = found;
            }
        }
        I start = 0, degree = 0;
        if (near != 0) {
            rows.active[v] = word & ~near;
            start = indptr[v];
            degree = indptr[v + 1] - start;
        }
        const unsigned int wanted = degree > 0 ? (unsigned int)((degree - 1) / BATCH_PIECE + 1) : 0;
        Places place = reserve(wanted, (unsigned int)degree, counter);
        for (unsigned int i = 0; i < wanted; ++i) {
            const I rest = degree - (I)i * BATCH_PIECE;
            pieces[place.first + i] = {near, (I)v, start + (I)i * BATCH_PIECE, rest < BATCH_PIECE ? rest : BATCH_PIECE};
        }
    }
    return left;
}

// D_v ⊕= offered, all of the warp at once. Returns whether it was better than `had`, which may be old: nobody waits for
// an atomic's answer, and whoever saw a value that another has improved since lists a vertex that the other lists, too.
template <int WIDTH>
__device__ __forceinline__ Word improve(const Rows<WIDTH>& rows, I v, const Pair& offered, const Pair& had, T bound,
                                        T& nearest) {
    Word improved = 0;
    UNROLLED(h, PAIR) {
        const T t = offered.of[h];
        const bool better_now = t != ZERO && better(t, had.of[h]) && no_worse(t, bound);
        if (better_now) {
            atomic_update(&rows.at(v)->of[h], t);
            nearest = add(nearest, t);
        }
        improved |= (Word)rows.ballot(better_now) << (32 * h);
    }
    return improved;
}

// Returns what comes from a row along an edge.
__device__ __forceinline__ Pair along(T weight, const Pair& from, bool& saturated) {
    Pair t;
    UNROLLED(h, PAIR) {
        t.of[h] = product(weight, from.of[h]);
        if (t.of[h] == ZERO && !absent(weight, from.of[h])) saturated = true;
    }
    return t;
}

// D_x ⊕= D_v ⊗ a_vx along the edges of a piece. All of the warp take part.
template <int WIDTH>
__device__ __forceinline__ void relax_piece(const Graph& g, const Rows<WIDTH>& rows, const BatchPiece& piece, T bound,
                                            T& nearest, bool& saturated) {
    constexpr int PER_LANE = 4, step = Rows<WIDTH>::ROWS_AT_A_TIME;
    const Pair from = rows.current(piece.vertex, among(lanes_of(piece.near), rows.lane()));
    const bool offers = from.reached();
    for (I at = 0; at < piece.length; at += 32) {
        const int count = piece.length - at < 32 ? (int)(piece.length - at) : 32;
        const I place = piece.start + at + (lane_number() < count ? lane_number() : 0);
        const I end = g.indices[place];
        const T weight = g.values[place * g.step];
        for (int i = rows.which(); i - rows.which() < count; i += PER_LANE * step) {
            I x[PER_LANE];
            Pair seen[PER_LANE];
            UNROLLED(j, PER_LANE) {
                x[j] = from_lane(end, (i + j * step) & 31);
                seen[j] = rows.seen(x[j], offers && i + j * step < count);
            }
            UNROLLED(j, PER_LANE) {
                const T w = from_lane(weight, (i + j * step) & 31);
                Pair offered{ZERO, ZERO};
                if (i + j * step < count) offered = along(w, from, saturated);
                const Word improved = improve(rows, x[j], offered, seen[j], bound, nearest);
                if (rows.lane() == j && improved != 0) atomicOr(rows.active + x[j], improved);
            }
        }
    }
}

// row: 32 or 64.  width: of the threshold.  few: edges of a step below which the threshold is raised.  limit: beyond which
// nothing is found.
extern "C" __global__ void __launch_bounds__(BATCH_THREADS, BATCH_BLOCKS)
    batch(Control* control, const I* indptr, const J* indices, const T* values, I value_step, long long n, T* d, int row,
          Word* active, BatchPiece* pieces, T width, T limit, unsigned long long few, unsigned long long last_step) {
    const Graph g{indptr, indices, values, value_step};
    const auto run = [&](const auto& rows) {
        unsigned long long step = control->steps, edges = 0, before = control->before;
        Threshold threshold{control->threshold.value, width, few, 0, 0, 0};
        bool done = false, saturated = false;
        for (; step < last_step; ++step) {
            const T best = now(&control->nearest[step % 3].value);
            done = best == ZERO || !no_worse(best, limit);
            if (done) break;
            threshold.raise(best, before, true);
            Slot* const next = control->nearest + (step + 1) % 3;
            fold_into(next, list_rows(indptr, n, rows, threshold.value, pieces, control->queue + step % 3));
            if (thread_number() == 0) {
                control->queue[(step + 1) % 3] = 0;
                control->nearest[(step + 2) % 3].value = ZERO;
            }
            grid_barrier(&control->arrived);
            const unsigned long long listed = now(control->queue + step % 3);
            const long long count = (long long)(listed & 0xffffffffu);
            before = listed >> 32;
            edges += before;
            T nearest = ZERO;
            for (long long i = thread_number() / 32; i < count; i += thread_count() / 32)
                relax_piece(g, rows, pieces[i], limit, nearest, saturated);
            fold_into(next, nearest);
            grid_barrier(&control->arrived);
        }
        if (saturated) control->saturated = 1;
        if (thread_number() == 0) {
            control->done = done;
            control->steps = step;
            control->edges += edges;
            control->before = before;
            threshold.keep(control);
        }
    };
    if (row == 64) run(Rows<64>{d, active});
    else run(Rows<32>{d, active});
}

// The rows of n become rows of sources.
extern "C" __global__ void turn_distances(long long n, int count, int width, const T* d, T* turned) {
    constexpr int SIDE = 32;
    __shared__ T tile[SIDE][SIDE + 1];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const long long across = width / SIDE, tiles = (n + SIDE - 1) / SIDE * across;
    for (long long t = blockIdx.x; t < tiles; t += gridDim.x) {
        const long long base = t / across * SIDE;
        const int first = (int)(t % across) * SIDE;
        for (int i = warp; i < SIDE; i += warps)
            if (base + i < n) tile[i][lane_number()] = d[(base + i) * width + first + lane_number()];
        __syncthreads();
        for (int j = warp; j < SIDE; j += warps)
            if (first + j < count && base + lane_number() < n)
                turned[(first + j) * n + base + lane_number()] = tile[lane_number()][j];
        __syncthreads();
    }
}
