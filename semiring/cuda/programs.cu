// The parts of programs (semiring/fusing/device.py): what a verb of a compiled loop does, by all threads of the grid.
//
// A program is one persistent kernel. All threads run its statements: numbers are the same in all of them, and elements are
// dealt out. A part returns the same to all threads. It may end without a barrier: then what it has written may be read after
// the next one, which the compiler puts where it is needed. Lists of entries have no order.

#define INF __longlong_as_double(0x7ff0000000000000LL)
#define INT64_LEAST (-0x7fffffffffffffffLL - 1)

// Entries of a row from which on all threads of a block go along it, in a second pass; lanes of a warp.
constexpr int LONG_ROW = 256, LANES = 32;
// Counters, and results of blocks, that are used in turns: each is cleared half a turn before it is used.
constexpr int COUNTERS = 64, PARTIALS = 8, MOST_BLOCKS = 1024;
// Rounds of loops from one look whether the host has asked for an end to the next.
constexpr int ROUNDS_PER_LOOK = 64;

template <class P, class J, class V> struct Matrix {
    const P* indptr;
    const J* indices;
    const V* values;
    long long step;  // between values: 0 where all are one
};

// Numbers of a loop that the first block hands to the others, twice: one is written while the other may yet be read.
constexpr int MOST_SAVED = 250;
struct Handover {
    unsigned long long turn, folds, rounds, how, saved[MOST_SAVED];
};

struct ProgramControl {
    unsigned int arrived, failed, code, verdict[2], spare;
    unsigned long long counters[COUNTERS];
    unsigned long long partials[PARTIALS][MOST_BLOCKS];
    Handover handovers[2];
};

template <class V> __device__ __forceinline__ unsigned long long to_word(V value) {
    unsigned long long word = 0;
    memcpy(&word, &value, sizeof(V));
    return word;
}
template <class V> __device__ __forceinline__ V of_word(unsigned long long word) {
    V value;
    memcpy(&value, &word, sizeof(V));
    return value;
}

// Folds what the threads of a block have; all get the result.
template <class V, class Op> __device__ __forceinline__ V fold_block(V own, V none, const Op& op) {
    __shared__ unsigned long long of_warp[32];
    own = fold_lanes<LANES>(own, op);
    __syncthreads();
    if (lane_number() == 0) of_warp[threadIdx.x / LANES] = to_word(own);
    __syncthreads();
    V all = lane_number() < (int)blockDim.x / LANES ? of_word<V>(of_warp[lane_number()]) : none;
    return fold_lanes<LANES>(all, op);
}

// How the first block ends what it does alone: it goes on with the others, has ended the loop, or has left the program.
enum Ending { GOES_ON, ENDED, LEFT };

struct Grid {
    ProgramControl* control;
    const volatile int* asked;  // by the host: to end
    unsigned int* hubs;         // room for a place in a list for each vertex
    long long most;             // entries of a list
    unsigned long long turn, folds, rounds, handovers;
    bool alone;  // the first block runs a loop of few entries alone, whose barriers cost less, and the others wait

    __device__ __forceinline__ long long thread() const { return alone ? threadIdx.x : thread_number(); }
    __device__ __forceinline__ long long threads() const { return alone ? blockDim.x : thread_count(); }
    __device__ __forceinline__ unsigned int block() const { return alone ? 0 : blockIdx.x; }
    __device__ __forceinline__ unsigned int blocks() const { return alone ? 1 : gridDim.x; }
    __device__ __forceinline__ bool first() const { return thread_number() == 0; }
    __device__ __forceinline__ void fail() { control->failed = 1; }

    __device__ __forceinline__ void barrier() {
        if (alone) __syncthreads();
        else grid_barrier(&control->arrived);
    }

    // A counter that is 0, until the next barrier but one.
    __device__ __forceinline__ unsigned long long* counter() {
        const unsigned long long own = turn++;
        if (first()) control->counters[(own + COUNTERS / 2) % COUNTERS] = 0;
        return control->counters + own % COUNTERS;
    }

    // True if the host has asked for an end, or the loop must run as written; looked at now and then.
    __device__ __forceinline__ bool interrupted() {
        if (++rounds % ROUNDS_PER_LOOK != 0) return false;
        unsigned int* const verdict = control->verdict + rounds / ROUNDS_PER_LOOK % 2;
        if (first()) *verdict = *asked != 0 || now(&control->failed) != 0;
        barrier();
        return now(verdict) != 0;
    }

    __device__ __forceinline__ void leave(unsigned int code) {
        if (first()) control->code = code;
    }

    // Folds what all threads have.  none: changes nothing.
    template <class V, class Op> __device__ __forceinline__ V fold(V own, V none, const Op& op) {
        unsigned long long* const partial = control->partials[folds++ % PARTIALS];
        own = fold_block(own, none, op);
        if (alone) return own;
        if (threadIdx.x == 0) partial[blockIdx.x] = to_word(own);
        barrier();
        V all = none;
        for (unsigned int b = lane_number(); b < gridDim.x; b += LANES) all = op(all, of_word<V>(now(partial + b)));
        return fold_lanes<LANES>(all, op);
    }

    // True for the first block, which is alone from now on; the others wait for it, and get what it hands over.
    __device__ __forceinline__ bool goes_alone() {
        alone = blockIdx.x == 0;
        if (alone) return true;
        grid_barrier(&control->arrived);
        const Handover& from = control->handovers[++handovers % 2];
        turn = now(&from.turn);
        folds = now(&from.folds);
        rounds = now(&from.rounds);
        return false;
    }

    __device__ __forceinline__ const unsigned long long* handed_over() const { return control->handovers[handovers % 2].saved; }
    __device__ __forceinline__ Ending ending() const { return (Ending)now(&control->handovers[handovers % 2].how); }

    // Where the first block, which is alone, leaves numbers for the others.
    __device__ __forceinline__ unsigned long long* hand_over() { return control->handovers[(handovers + 1) % 2].saved; }

    // Go on with the others.
    __device__ __forceinline__ void joins(Ending how) {
        Handover& to = control->handovers[++handovers % 2];
        if (threadIdx.x == 0) to.turn = turn, to.folds = folds, to.rounds = rounds, to.how = how;
        alone = false;
        grid_barrier(&control->arrived);
    }
};

// A place in a list for each thread that calls this, whichever these are.
__device__ __forceinline__ unsigned long long place_in(unsigned long long* counter) {
    const unsigned int here = __activemask();
    unsigned long long base = 0;
    if (lane_number() == __ffs(here) - 1) base = atomicAdd(counter, (unsigned long long)__popc(here));
    return __shfl_sync(here, base, __ffs(here) - 1) + __popc(here & lanes_below());
}

// --- numbers, as Python and NumPy compute with them ---------------------------------------------------------------------

__device__ __forceinline__ long long plus(long long a, long long b) {
    return (long long)((unsigned long long)a + (unsigned long long)b);
}
__device__ __forceinline__ long long minus(long long a, long long b) {
    return (long long)((unsigned long long)a - (unsigned long long)b);
}
__device__ __forceinline__ long long times(long long a, long long b) {
    return (long long)((unsigned long long)a * (unsigned long long)b);
}
__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float minus(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double minus(double a, double b) { return __dsub_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ long long floor_of(long long a, long long b) { return a / b - (a % b < 0); }
__device__ __forceinline__ long long rest_of(long long a, long long b) { return a % b < 0 ? a % b + b : a % b; }
template <class V> __device__ __forceinline__ V least(V a, V b) { return b < a ? b : a; }
template <class V> __device__ __forceinline__ V most_of(V a, V b) { return b > a ? b : a; }
template <class V> __device__ __forceinline__ V size_of(V a) { return a < (V)0 ? -a : a; }
__device__ __forceinline__ double size_of(double a) { return fabs(a); }
__device__ __forceinline__ float size_of(float a) { return fabsf(a); }

// a + b, at an end of the range where that is beyond it.
__device__ __forceinline__ long long stopping_sum(long long a, long long b) {
    const long long sum = plus(a, b);
    if ((a < 0) != (b < 0) || (sum < 0) == (a < 0)) return sum;
    return a < 0 ? INT64_LEAST : -(INT64_LEAST + 1);
}

// A pseudo-random number for an integer, as `semiring.vectors.hashed` gives it.
__device__ __forceinline__ long long hashed(long long x, long long seed) {
    unsigned long long z = ((unsigned long long)x + (unsigned long long)seed) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (long long)((z ^ (z >> 31)) >> 1);
}

// --- products -----------------------------------------------------------------------------------------------------------

// visit(p, place) for the entries, by their places in the matrix, of the rows listed[0 … count), p being a place in the list.
// Warps share the rows, and all threads of a block a long one.
template <class P, class Row, class Visit>
__device__ __forceinline__ void each_entry(Grid& g, const P* indptr, long long count, const Row& row, const Visit& visit) {
    unsigned long long* const hubs = g.counter();
    const long long stride = g.threads();
    for (long long base = g.thread() - lane_number(); base < count; base += stride) {
        const long long p = base + lane_number();
        long long begin = 0, degree = 0;
        if (p < count) {
            begin = indptr[row(p)];
            degree = indptr[row(p) + 1] - begin;
            if (degree > LONG_ROW) {
                g.hubs[place_in(hubs)] = (unsigned int)p;
                degree = 0;
            }
        }
        const long long upto = sum_up_to_lane(degree), total = from_lane(upto, LANES - 1), before = upto - degree;
        for (long long at = 0; at < total; at += LANES) {
            const long long edge = at + lane_number();
            int low = 0;
            for (int half = LANES / 2; half > 0; half /= 2)
                if (from_lane(before, low + half) <= edge) low += half;
            const long long place = from_lane(begin, low) + edge - from_lane(before, low);
            if (edge < total) visit(base + low, place);
        }
    }
    g.barrier();
    const long long longs = (long long)now(hubs);
    for (long long h = g.block(); h < longs; h += g.blocks()) {
        const long long p = now(g.hubs + h), end = indptr[row(p) + 1];
        for (long long place = indptr[row(p)] + threadIdx.x; place < end; place += blockDim.x) visit(p, place);
    }
    if (longs > 0) g.barrier();
}

struct AllTerms {
    template <class T> static __device__ __forceinline__ bool holds(T, T) { return true; }
};

// The list of y ⊕= a ⊗ x; returns its length. y is zeros before and after.  d: terms must be better, if Better says so.
template <class A, bool MASKED, class Better, class I, class M, class T>
__device__ __forceinline__ long long push(Grid& g, const M& m, const I* x_i, const T* x_v, long long count, T* y, const T* d,
                                          const bool* allowed, bool wanted, I* to_i, T* to_v) {
    unsigned long long* const listed = g.counter();
    const auto row = [=](long long p) { return (long long)x_i[p]; };
    each_entry(g, m.indptr, count, row, [&](long long p, long long place) {
        const long long k = m.indices[place];
        if (MASKED && allowed[k] != wanted) return;
        const T term = A::product_of(m.values[place * m.step], x_v[p]);
        if (!Better::holds(term, d[k])) return;
        const T seen = now(y + k);
        if (A::sum_of(seen, term) == seen) return;
        const T before = A::update(y + k, term);
        if (before == A::zero() && A::sum_of(before, term) != A::zero()) {
            const unsigned long long at = place_in(listed);
            if (at < (unsigned long long)g.most) to_i[at] = (I)k;
        }
    });
    const long long end = least((long long)now(listed), g.most);
    for (long long p = g.thread(); p < end; p += g.threads()) {
        const long long k = now(to_i + p);
        to_v[p] = now(y + k);
        y[k] = A::zero();
    }
    return end;
}

// The same for sums that may come back to zero, of integers; fails if one may not be exact.  seen: zeros, as it is left again.
template <class A, bool MASKED, class I, class M, class T>
__device__ __forceinline__ long long sum_up(Grid& g, const M& m, const I* x_i, const T* x_v, long long count, T* y,
                                            unsigned int* seen, const bool* allowed, bool wanted, I* to_i, T* to_v) {
    unsigned long long* const listed = g.counter();
    unsigned long long* const left = g.counter();
    const auto row = [=](long long p) { return (long long)x_i[p]; };
    bool exact = true;
    each_entry(g, m.indptr, count, row, [&](long long p, long long place) {
        const long long k = m.indices[place];
        if (MASKED && allowed[k] != wanted) return;
        const T term = A::product_of(m.values[place * m.step], x_v[p]);
        const T before = A::put(y + k, term);
        exact = exact && A::inside(term) && A::inside(before, term);
        if (atomicExch(seen + k, 1u) == 0) to_i[place_in(listed)] = (I)k;
    });
    const long long end = (long long)now(listed);
    exact = g.fold(exact, true, [](bool a, bool b) { return a && b; });
    I* const kept = reinterpret_cast<I*>(g.hubs);
    for (long long p = g.thread(); p < end; p += g.threads()) {
        const long long k = now(to_i + p);
        const T sum = now(y + k);
        y[k] = A::zero();
        seen[k] = 0;
        if (sum == A::zero()) continue;
        const unsigned long long at = place_in(left);
        kept[at] = (I)k;
        to_v[at] = sum;
    }
    g.barrier();
    const long long all = (long long)now(left);
    for (long long p = g.thread(); p < all; p += g.threads()) to_i[p] = now(kept + p);
    g.barrier();
    return exact ? all : -1;
}

// y_i = ⊕_k a_ik ⊗ x_k. Lanes share a row, as many as fit its mean length, and all threads of a block a long one.
template <class A, bool MASKED, bool SUMS, class M, class T>
__device__ __forceinline__ bool gather(Grid& g, long long n, const M& m, const T* x, const bool* allowed, bool wanted, T* y) {
    unsigned long long* const hubs = g.counter();
    const long long mean = n > 0 ? m.indptr[n] / n : 0;
    int lanes = 1;
    while (lanes < LANES && lanes * 2 <= mean) lanes *= 2;
    bool exact = true;
    const auto folded = [&](T a, T b) {
        if (SUMS) exact = exact && A::inside(a, b);
        return SUMS ? A::exactly(a, b) : A::sum_of(a, b);
    };
    const auto along = [&](T total, long long place, long long end, long long step) {
        for (; place < end; place += step) {
            const T term = A::product_of(m.values[place * m.step], x[m.indices[place]]);
            if (SUMS) exact = exact && A::inside(term);
            total = folded(total, term);
        }
        return total;
    };
    const long long own = lane_number() % lanes, rows = g.threads() / lanes;
    for (long long base = (g.thread() - lane_number()) / lanes; base < n; base += rows) {
        const long long i = base + lane_number() / lanes;
        const bool asked = i < n && (!MASKED || allowed[i] == wanted);
        const bool is_long = asked && m.indptr[i + 1] - m.indptr[i] > LONG_ROW;
        T total = A::zero();
        if (asked && !is_long) total = along(total, m.indptr[i] + own, m.indptr[i + 1], lanes);
        if (is_long && own == 0) g.hubs[place_in(hubs)] = (unsigned int)i;
        for (int distance = lanes / 2; distance > 0; distance /= 2) {
            const T other = from_lane(total, lane_number() ^ distance);
            total = folded(total, other);
        }
        if (i < n && own == 0 && !is_long) y[i] = total;
    }
    g.barrier();
    const long long longs = (long long)now(hubs);
    for (long long h = g.block(); h < longs; h += g.blocks()) {
        const long long i = now(g.hubs + h);
        const T total = along(A::zero(), m.indptr[i] + threadIdx.x, m.indptr[i + 1], blockDim.x);
        const T all = fold_block(total, A::zero(), folded);
        if (threadIdx.x == 0) y[i] = all;
    }
    if (longs > 0) g.barrier();
    return !SUMS || g.fold(exact, true, [](bool a, bool b) { return a && b; });
}

// --- lists --------------------------------------------------------------------------------------------------------------

// The union of two lists in a third; returns its length.  place: minus ones, as it is left again.
template <class U, class I, class T>
__device__ __forceinline__ long long unite(Grid& g, const I* u_i, const T* u_v, long long u_n, const I* v_i, const T* v_v,
                                           long long v_n, long long* place, I* to_i, T* to_v) {
    unsigned long long* const listed = g.counter();
    const auto put = [&](I i, T value) {
        if (U::DROPS && value == U::zero()) return;
        const unsigned long long at = place_in(listed);
        to_i[at] = i;
        to_v[at] = value;
    };
    for (long long p = g.thread(); p < u_n; p += g.threads()) place[u_i[p]] = p;
    g.barrier();
    for (long long p = g.thread(); p < v_n; p += g.threads()) {
        const I i = v_i[p];
        const long long at = now(place + i);
        if (at < 0) {
            put(i, v_v[p]);
            continue;
        }
        const T a = u_v[at], b = v_v[p];
        put(i, U::KEEPS ? U::combined(a, b) : a == U::zero() ? b : b == U::zero() ? a : U::combined(a, b));
        place[i] = -2;
    }
    g.barrier();
    for (long long p = g.thread(); p < u_n; p += g.threads()) {
        const I i = u_i[p];
        if (now(place + i) >= 0) put(i, u_v[p]);
        place[i] = -1;
    }
    g.barrier();
    return (long long)now(listed);
}

// put(i, place) for i = 0 … n - 1, place being the sum of count(j) over all j < i; returns the sum over all. Blocks have
// stretches of their own.
template <class Count, class Put>
__device__ __forceinline__ long long in_order(Grid& g, long long n, const Count& count, const Put& put) {
    __shared__ unsigned long long of_warp[32];
    unsigned long long* const partial = g.control->partials[g.folds++ % PARTIALS];
    const long long each = (n + g.blocks() - 1) / g.blocks();
    const long long begin = least(g.block() * each, n), end = least(begin + each, n);
    const auto add = [](unsigned long long a, unsigned long long b) { return a + b; };
    unsigned long long own = 0, before = 0, all = 0;
    for (long long i = begin + threadIdx.x; i < end; i += blockDim.x) own += count(i);
    own = fold_block(own, 0ull, add);
    if (threadIdx.x == 0) partial[g.block()] = own;
    g.barrier();
    for (unsigned int b = lane_number(); b < g.blocks(); b += LANES) {
        const unsigned long long of_block = now(partial + b);
        before += b < g.block() ? of_block : 0;
        all += of_block;
    }
    before = fold_lanes<LANES>(before, add);
    for (long long tile = begin; tile < end; tile += blockDim.x) {
        const long long i = tile + threadIdx.x;
        const unsigned long long here = i < end ? count(i) : 0, upto = sum_up_to_lane(here);
        __syncthreads();
        if (lane_number() == LANES - 1) of_warp[threadIdx.x / LANES] = upto;
        __syncthreads();
        unsigned long long place = before + upto - here;
        for (unsigned int k = 0; k < blockDim.x / LANES; ++k) {
            if (k < threadIdx.x / LANES) place += of_warp[k];
            before += of_warp[k];
        }
        if (here != 0) put(i, place);
    }
    return (long long)fold_lanes<LANES>(all, add);
}

// put(i, place) for those of i = 0 … n - 1 that keep(i) says, at places in no order; returns their number. A block takes
// places for its threads together.
template <class Keep, class Put>
__device__ __forceinline__ long long list_where(Grid& g, long long n, const Keep& keep, const Put& put) {
    __shared__ unsigned long long of_warp[32];
    unsigned long long* const listed = g.counter();
    const int warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    for (long long tile = g.block() * (long long)blockDim.x; tile < n; tile += g.threads()) {
        const long long i = tile + threadIdx.x;
        const bool kept = i < n && keep(i);
        if (!__syncthreads_or(kept)) continue;
        const unsigned int all = __ballot_sync(WARP, kept);
        if (lane_number() == 0) of_warp[warp] = __popc(all);
        __syncthreads();
        if (warp == 0) {
            const unsigned long long own = lane_number() < warps ? of_warp[lane_number()] : 0, upto = sum_up_to_lane(own);
            unsigned long long base = 0;
            if (lane_number() == LANES - 1) base = atomicAdd(listed, upto);
            base = from_lane(base, LANES - 1);
            if (lane_number() < warps) of_warp[lane_number()] = base + upto - own;
        }
        __syncthreads();
        if (kept) put(i, of_warp[warp] + __popc(all & lanes_below()));
    }
    g.barrier();
    return (long long)now(listed);
}

// Put a list in the order of its indices.  words: a bitmap of zeros, as it is left again.  room: for values.
template <class I, class T>
__device__ __forceinline__ void ordered(Grid& g, I* indices, T* values, long long count, unsigned int* words, T* room) {
    if (count <= 1) return;
    for (long long p = g.thread(); p < count; p += g.threads()) {
        atomicOr(words + indices[p] / 32, 1u << indices[p] % 32);
        room[indices[p]] = values[p];
    }
    g.barrier();
    const auto bits = [=](long long w) { return (unsigned long long)__popc(now(words + w)); };
    in_order(g, (g.most + 31) / 32, bits, [=](long long w, unsigned long long place) {
        for (unsigned int left = now(words + w); left != 0; left &= left - 1, ++place) {
            const long long i = w * 32 + __ffs(left) - 1;
            indices[place] = (I)i;
            values[place] = now(room + i);
        }
        words[w] = 0;
    });
    g.barrier();
}

// True if so many indices are within a vector of that size.
template <class I> __device__ __forceinline__ bool inside(Grid& g, const I* indices, long long count, long long size) {
    bool all = true;
    for (long long p = g.thread(); p < count; p += g.threads()) all = all && indices[p] >= 0 && indices[p] < size;
    return g.fold(all, true, [](bool a, bool b) { return a && b; });
}

// True if they ascend, too.
template <class I> __device__ __forceinline__ bool ascends(Grid& g, const I* indices, long long count, long long size) {
    bool all = true;
    for (long long p = g.thread(); p < count; p += g.threads())
        all = all && indices[p] > (p > 0 ? (long long)indices[p - 1] : -1) && indices[p] < size;
    return g.fold(all, true, [](bool a, bool b) { return a && b; });
}
