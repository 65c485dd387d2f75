// The fixpoints of fixpoint.cu from up to 64 sources at once: a row of distances for each vertex, one from each source.
//
//     D = E ⊕ D A                                            E: the unit of each source in its column
//
// The state is D, and a word for each vertex whose bits say from which sources it has improved since it was expanded. One
// threshold serves all sources. A step is two passes. The vertices that are near for some source are listed, their rows
// cut into pieces; then a warp takes a piece: its lanes are sources, its edges come one after another. So an edge is read
// once for all sources, and the distances beside it lie together.

using Word = unsigned long long;

constexpr int BATCH_CUT = 256;  // edges of a piece
constexpr int HALVES = 2;       // sources of a lane

struct BatchPiece {
    Word near;  // the sources from which the vertex is expanded
    I vertex, start, length;
};

// D, and what has improved.
struct Rows {
    T* d;
    int width;  // of a row: 32 or 64
    Word* active;

    __device__ __forceinline__ T* at(I v, int half) const { return d + v * (long long)width + half * 32 + lane_number(); }
};

__device__ __forceinline__ bool has_bit(Word word, int half) { return (word >> (half * 32 + lane_number()) & 1) != 0; }

// Nothing is reached. rows: of n * width distances.
extern "C" __global__ void begin_batch(Control* control, long long n, int width, T* d, Word* active, T one, T threshold) {
    for (long long i = thread_number(); i < n * width; i += thread_count()) d[i] = ZERO;
    for (long long v = thread_number(); v < n; v += thread_count()) active[v] = 0;
    if (thread_number() != 0) return;
    *control = Control{};
    control->nearest[0].value = one;
    control->nearest[1].value = control->nearest[2].value = ZERO;
    control->threshold.value = threshold;
}

extern "C" __global__ void place_batch(int count, int width, const long long* sources, T* d, Word* active, T one) {
    for (int j = (int)thread_number(); j < count; j += (int)thread_count()) {
        d[sources[j] * width + j] = one;
        atomicOr(active + sources[j], (Word)1 << j);
    }
}

// List what is active and no worse than the threshold, which is then no longer active. Returns the best of the others.
__device__ __forceinline__ T list_rows(const I* indptr, long long n, const Rows& rows, T threshold, BatchPiece* pieces,
                                       unsigned long long* counter) {
    T left = ZERO;
    for (long long base = blockIdx.x * (long long)blockDim.x; base < n; base += thread_count()) {
        const long long v = base + threadIdx.x;
        const Word word = v < n ? rows.active[v] : 0;
        if (!__syncthreads_or(word != 0)) continue;
        Word near = 0;
        if (threshold == ZERO) near = word;
        unsigned int some = __ballot_sync(WARP, word != near);
        while (some != 0) {
            constexpr int AT_ONCE = 4;
            int owner[AT_ONCE];
            T value[AT_ONCE][HALVES];
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j) {
                owner[j] = some != 0 ? __ffs(some) - 1 : -1;
                some &= some - 1;
                const Word here = owner[j] < 0 ? 0 : from_lane(word, owner[j]);
                const I u = (I)(v - lane_number() + owner[j]);
#pragma unroll
                for (int h = 0; h < HALVES; ++h) value[j][h] = has_bit(here, h) ? *rows.at(u, h) : ZERO;
            }
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j) {
                Word found = 0;
#pragma unroll
                for (int h = 0; h < HALVES; ++h) {
                    const bool is_near = value[j][h] != ZERO && no_worse(value[j][h], threshold);
                    if (value[j][h] != ZERO && !is_near) left = add(left, value[j][h]);
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
        const unsigned int wanted = degree > 0 ? (unsigned int)((degree - 1) / BATCH_CUT + 1) : 0;
        Places place = reserve(wanted, (unsigned int)degree, counter);
        for (unsigned int i = 0; i < wanted; ++i) {
            const I rest = degree - (I)i * BATCH_CUT;
            pieces[place.first + i] = {near, (I)v, start + (I)i * BATCH_CUT, rest < BATCH_CUT ? rest : BATCH_CUT};
        }
    }
    return left;
}

// D_x ⊕= D_v ⊗ a_vx along the edges of a piece. All of the warp take part. Nobody waits for an atomic's answer: whoever
// saw a value that another has improved since lists a vertex that the other lists, too.
__device__ __forceinline__ void relax_piece(const Graph& g, const Rows& rows, const BatchPiece& piece, T bound, T& nearest,
                                            bool& saturated) {
    constexpr int AT_ONCE = 4;
    T from[HALVES];
#pragma unroll
    for (int h = 0; h < HALVES; ++h) from[h] = has_bit(piece.near, h) ? now(rows.at(piece.vertex, h)) : ZERO;
    for (I at = 0; at < piece.length; at += 32) {
        const int count = piece.length - at < 32 ? (int)(piece.length - at) : 32;
        const I place = piece.start + at + (lane_number() < count ? lane_number() : 0);
        const I end = g.indices[place];
        const T weight = g.values[place * g.step];
        for (int i = 0; i < count; i += AT_ONCE) {
            I x[AT_ONCE];
            T seen[AT_ONCE][HALVES];
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j) {
                x[j] = from_lane(end, (i + j) & 31);
#pragma unroll
                for (int h = 0; h < HALVES; ++h)
                    seen[j][h] = i + j < count && from[h] != ZERO ? *rows.at(x[j], h) : ZERO;
            }
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j) {
                const T w = from_lane(weight, (i + j) & 31);
                Word improved = 0;
#pragma unroll
                for (int h = 0; h < HALVES; ++h) {
                    const T t = product(w, from[h]);
                    const bool offered = i + j < count && from[h] != ZERO;
                    if (offered && t == ZERO && !absent(w, from[h])) saturated = true;
                    const bool better_now = offered && better(t, seen[j][h]) && no_worse(t, bound);
                    if (better_now) {
                        atomic_update(rows.at(x[j], h), t);
                        nearest = add(nearest, t);
                    }
                    improved |= (Word)__ballot_sync(WARP, better_now) << (32 * h);
                }
                if (lane_number() == j && improved != 0) atomicOr(rows.active + x[j], improved);
            }
        }
    }
}

// width: of the threshold.  few: edges of a step below which the threshold is raised.  limit: beyond which nothing is found.
extern "C" __global__ void __launch_bounds__(BATCH_THREADS, BATCH_BLOCKS)
    batch(Control* control, const I* indptr, const I* indices, const T* values, I value_step, long long n, T* d, int row,
          Word* active, BatchPiece* pieces, T width, T limit, unsigned long long few, unsigned long long last_step) {
    const Graph g{indptr, indices, values, value_step};
    const Rows rows{d, row, active};
    unsigned long long step = control->steps, edges = 0, thresholds = 0, before = control->before;
    T threshold = control->threshold.value;
    bool done = false, saturated = false;
    for (; step < last_step; ++step) {
        const T best = now(&control->nearest[step % 3].value);
        done = best == ZERO || !no_worse(best, limit);
        if (done) break;
        if (better(threshold, best) || before < few) {
            threshold = product(width, better(threshold, best) ? best : threshold);
            ++thresholds;
        }
        Slot* const next = control->nearest + (step + 1) % 3;
        fold_into(next, list_rows(indptr, n, rows, threshold, pieces, control->queue + step % 3));
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
        control->thresholds += thresholds;
        control->before = before;
        control->threshold.value = threshold;
    }
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
