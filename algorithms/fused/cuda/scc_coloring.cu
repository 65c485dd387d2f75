// Colours come after the searches of strong.cu. As a unit they take the compiler as long as all others together.

// Where the colouring is: about to start; with a list of what is left; while colours spread.
enum Stage : unsigned long long { SEARCHED, LISTED, SPREADING };

// The least of `had` and what the entries of row v give, in the lanes that ask.
template <class Gives>
__device__ __forceinline__ unsigned long long least_in_row(const I* indptr, const J* indices, I v, bool asks,
                                                           unsigned long long had, const Gives& gives) {
    I e = 0, end = 0;
    if (asks) {
        e = indptr[v];
        end = indptr[v + 1];
        for (const I alone = end - e < LANE_ROW ? end : e + LANE_ROW; e < alone; ++e) {
            const unsigned long long given = gives(v, indices[e]);
            if (given < had) had = given;
        }
    }
    for (unsigned int left = __ballot_sync(WARP, e < end); left != 0; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const I last = from_lane(end, owner), row = from_lane(v, owner);
        unsigned long long least = ~0ull;
        for (I at = from_lane(e, owner) + lane_number(); at < last; at += 32) {
            const unsigned long long given = gives(row, indices[at]);
            if (given < least) least = given;
        }
        least = least_of_warp(least);
        if (lane_number() == owner && least < had) had = least;
    }
    return had;
}

// A number for v that is different in every round, and for every v.
__device__ __forceinline__ unsigned long long drawn(I v, unsigned int round) {
    unsigned int h = (unsigned int)v * 0x9e3779b9u + round * 0x85ebca6bu;
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return (unsigned long long)(h ^ h >> 16) << 32 | (unsigned int)v;
}

// In the place of a part: within a chain.
constexpr unsigned long long CHAIN = ~0ull;
// Vertices that are left from which on chains are looked for.
constexpr long long MIN_FOR_CHAINS = 128;

// Copy those of a list (or of 0, 1, …, where it is null) that are alive, and in no chain, to another. Callers share it:
// with a copy in each the compiler takes a sixth longer, and spills more.
__device__ __noinline__ void keep_alive(const I* list, long long count, const I* label, const unsigned long long* part,
                                        I* kept, unsigned long long* counter) {
    for (long long base = blockIdx.x * (long long)blockDim.x; base < count; base += gridDim.x * (long long)blockDim.x) {
        const long long i = base + threadIdx.x;
        const I v = i < count ? (list == nullptr ? (I)i : list[i]) : 0;
        const bool alive = i < count && label[v] < 0 && part[v] != CHAIN;
        if (!__syncthreads_or(alive)) continue;
        const Places place = reserve(alive, 0, counter);
        if (alive) kept[place.first] = v;
    }
}

// The vertex that drew a number.
__device__ __forceinline__ I drawn_by(unsigned long long colour) { return (I)(unsigned int)colour; }

// The least of v's colour and those that its neighbours give, in some rows, and then what who drew it has.
template <class Gives>
__device__ __forceinline__ unsigned long long least_colour(const I* indptr, const J* indices, I v, bool asks,
                                                           const unsigned long long* colour, unsigned long long had,
                                                           const Gives& gives) {
    unsigned long long least = least_in_row(indptr, indices, v, asks, had, gives);
    if (!asks) return least;
    for (unsigned long long on = now(colour + drawn_by(least)); on < least; on = now(colour + drawn_by(least))) least = on;
    return least;
}

// The only entry of row v that counts; -1 for none, -2 for several, and for a row that is too long to be looked through.
template <class Counts>
__device__ __forceinline__ I only_in_row(const I* indptr, const J* indices, I v, const Counts& counts) {
    const I begin = indptr[v], end = indptr[v + 1];
    if (end - begin > LANE_ROW) return -2;
    I found = -1;
    for (I e = begin; e < end; ++e) {
        const I u = indices[e];
        if (u == found || !counts(v, u)) continue;
        if (found >= 0) return -2;
        found = u;
    }
    return found;
}

// A way along a chain in 64 bits: where it leads, and below that the smallest vertex that it has passed, NOBODY where a
// chain ends. Ways are joined in place, for whatever is read of another is a way.
constexpr unsigned int NOBODY = 0xffffffffu;
__device__ __forceinline__ unsigned long long way(I to, unsigned int smallest) {
    return (unsigned long long)to << 32 | smallest;
}
__device__ __forceinline__ unsigned long long longer(const unsigned long long* ways, unsigned long long way) {
    const unsigned long long on = now(ways + (way >> 32));
    const unsigned int a = (unsigned int)way, b = (unsigned int)on;
    return (on >> 32) << 32 | (a < b ? a : b);
}

// Take the chains out of what is left: their parts become CHAIN, and heads and tails have their ends. One without ends is
// a cycle, and gets its label.  back, on: (n,), where ways are kept meanwhile.  pivot: is not taken out.
template <class Counts>
__device__ __forceinline__ void take_chains(StrongControl* control, const I* indptr, const J* indices, const I* in_indptr,
                                            const J* in_indices, const I* list, long long count, I pivot,
                                            const Counts& counts, I* label, unsigned long long* part,
                                            unsigned long long* back, unsigned long long* on, int* heads, int* tails) {
    for (long long i = thread_number(); i < count; i += thread_count()) {
        const I v = list[i];
        const I before = only_in_row(in_indptr, in_indices, v, counts);
        const I after = before < 0 ? before : only_in_row(indptr, indices, v, counts);
        const bool inner = before >= 0 && after >= 0 && v != pivot;
        back[v] = way(inner ? before : v, inner ? (unsigned int)v : NOBODY);
        on[v] = way(inner ? after : v, inner ? (unsigned int)v : NOBODY);
    }
    grid_barrier(&control->arrived);
    for (int pass = 0; 1ll << pass < 2 * count; ++pass) {
        bool changed = false;
        for (long long i = thread_number(); i < count; i += thread_count()) {
            const I v = list[i];
            const unsigned long long a = now(back + v), b = now(on + v);
            if ((unsigned int)b == NOBODY) continue;
            const unsigned long long further_back = longer(back, a), further_on = longer(on, b);
            if (further_back != a) back[v] = further_back;
            if (further_on != b) on[v] = further_on;
            changed = changed || further_back != a || further_on != b;
        }
        if (!any_of_grid(changed, control->changed, pass, &control->arrived)) break;
    }
    bool some = false;
    for (long long i = thread_number(); i < count; i += thread_count()) {
        const I v = list[i];
        const unsigned long long b = now(on + v);
        if ((unsigned int)b == NOBODY) continue;
        if ((unsigned int)now(on + (b >> 32)) != NOBODY) {
            label[v] = (I)(unsigned int)b;
            continue;
        }
        part[v] = CHAIN;
        heads[v] = (int)(now(back + v) >> 32);
        tails[v] = (int)(b >> 32);
        some = true;
    }
    if (__syncthreads_or(some) && threadIdx.x == 0) control->chained = 1;
    grid_barrier(&control->arrived);
    if (thread_number() == 0) control->changed[0] = 0;  // for the first pass of colours
}

// Every chain to the component of its two ends, or its vertices alone; and the smallest vertices of components again.
__device__ __forceinline__ void join_chains(StrongControl* control, long long n, I* label, const int* heads,
                                            const int* tails, unsigned long long* smallest) {
    for (long long v = thread_number(); v < n; v += thread_count()) smallest[v] = ~0ull;
    grid_barrier(&control->arrived);
    for (long long v = thread_number(); v < n; v += thread_count()) {
        if (label[v] >= 0) continue;
        const I of_head = now(label + heads[v]), of_tail = now(label + tails[v]);
        label[v] = of_head == of_tail ? of_head : (I)v;
        if (of_head == of_tail && v < of_head) atomicMin(smallest + of_head, (unsigned long long)v);
    }
    grid_barrier(&control->arrived);
    for (long long v = thread_number(); v < n; v += thread_count()) {
        const unsigned long long least = now(smallest + label[v]);
        if (least != ~0ull) label[v] = (I)least;
    }
}

// there, back: of the searches, without whose end nothing is done.  deepest: the level at which they end in any case.
// forward, backward: their levels, and then the heads and tails of chains.  leading, led_to: the colours that lead to each
// vertex, and to which it leads.  part: 64 bits that are the same for vertices that may be in one component.  stop_at: passes after which the launch ends, wherever
// it is, for the next to go on.
extern "C" __global__ void __launch_bounds__(SCC_COLORING_THREADS, SCC_COLORING_BLOCKS)
    scc_coloring(StrongControl* control, const SearchControl* there, const SearchControl* back, unsigned long long deepest,
         const I* indptr, const J* indices, const I* in_indptr, const J* in_indices, long long n, I* label,
         int* forward, int* backward, unsigned long long* part, unsigned long long* leading,
         unsigned long long* led_to, I* list, I* other, unsigned long long stop_at) {
    __shared__ unsigned long long least;
    if (there->done == 0 || back->done == 0) return;
    const bool complete = there->steps < deepest && back->steps < deepest;
    const unsigned long long pivot = 0xffffffffu - (unsigned int)(control->pivot & 0xffffffffu);
    Stage stage = (Stage)control->stage;
    unsigned long long passes = control->passes;
    unsigned int round = control->rounds;
    grid_barrier(&control->arrived);  // before anything of that changes
    if (stage == SEARCHED) {
        if (threadIdx.x == 0) least = ~0ull;
        __syncthreads();
        unsigned long long own = ~0ull;
        for (long long v = thread_number(); v < n && complete; v += thread_count())
            if (forward[v] >= 0 && backward[v] >= 0 && (unsigned long long)v < own) own = v;
        if (own != ~0ull) atomicMin(&least, own);
        __syncthreads();
        if (threadIdx.x == 0 && least != ~0ull) atomicMin(&control->smallest, least);
        if (thread_number() == 0) control->changed[0] = 0;
        grid_barrier(&control->arrived);
        const I giant = (I)now(&control->smallest);
        for (long long v = thread_number(); v < n; v += thread_count()) {
            if (label[v] >= 0) continue;
            if (complete && forward[v] >= 0 && backward[v] >= 0) label[v] = giant;
            else part[v] = !complete ? 0 : forward[v] >= 0 ? 1 : backward[v] >= 0 ? 2 : 3;
        }
        grid_barrier(&control->arrived);
        keep_alive(nullptr, n, label, part, other, control->queue + 2);
        grid_barrier(&control->arrived);
        const long long left = (long long)(now(control->queue + 2) & 0xffffffffu);
        if (thread_number() == 0) control->left_to_colour = left;
        if (left >= MIN_FOR_CHAINS)
            take_chains(control, indptr, indices, in_indptr, in_indices, other, left, (I)pivot,
                        [=](I v, I u) { return u != v && now(label + u) < 0 && part[u] == part[v]; }, label, part, leading,
                        led_to, forward, backward);
        keep_alive(other, left, label, part, list, control->queue);
        grid_barrier(&control->arrived);
        stage = LISTED;
    }
    if (round % 2 == 1) exchange(list, other);
    long long count = (long long)(now(control->queue + round % 3) & 0xffffffffu);
    // What an edge to u counts as: an edge to the end of the chain, if u is in one. And does it count for v?
    const auto beyond = [=](I u, const int* ends) {
        return now(label + u) < 0 && part[u] == CHAIN ? (I)ends[u] : u;
    };
    const auto counts = [=](I v, I u) { return u != v && now(label + u) < 0 && part[u] == part[v]; };
    const auto leads_on = [=](I v, I u) { return counts(v, beyond(u, backward)); };
    const auto leads_here = [=](I v, I u) { return counts(v, beyond(u, forward)); };
    while (count > 0 && passes < stop_at) {
        if (stage == LISTED) {  // Colours, and what is alone within its part.
            for (long long first = thread_number() - lane_number(); first < count; first += thread_count()) {
                const bool has = first + lane_number() < count;
                const I v = has ? list[first + lane_number()] : 0;
                const bool leads = first_in_row(indptr, indices, v, has, leads_on) >= 0;
                const bool is_led_to = first_in_row(in_indptr, in_indices, v, has && leads, leads_here) >= 0;
                if (has) {
                    if (!(leads && is_led_to)) label[v] = v;
                    const bool begun = round == 0 && !complete;  // the pivot's colour is the least, and on its way
                    leading[v] = begun && forward[v] >= 0 ? pivot : drawn(v, round + 1);
                    led_to[v] = begun && backward[v] >= 0 ? pivot : drawn(v, round + 1);
                }
            }
            grid_barrier(&control->arrived);
            stage = SPREADING;
        }
        bool changed = false;
        for (long long first = thread_number() - lane_number(); first < count; first += thread_count()) {
            const bool has = first + lane_number() < count;
            const I v = has ? list[first + lane_number()] : 0;
            const bool here = has && now(label + v) < 0;
            const unsigned long long a = here ? leading[v] : 0, b = here ? led_to[v] : 0;
            // No colour is less than the pivot's.
            const unsigned long long to = least_colour(in_indptr, in_indices, v, here && a > pivot, leading, a, [=](I at, I u) {
                u = beyond(u, forward);
                return counts(at, u) ? now(leading + u) : ~0ull;
            });
            const unsigned long long from = least_colour(indptr, indices, v, here && b > pivot, led_to, b, [=](I at, I u) {
                u = beyond(u, backward);
                return counts(at, u) ? now(led_to + u) : ~0ull;
            });
            if (to < a) leading[v] = to;
            if (from < b) led_to[v] = from;
            changed = changed || to < a || from < b;
        }
        if (any_of_grid(changed, control->changed, passes++, &control->arrived)) continue;
        // The components of those whose two colours are one; and where edges are cut.
        for (long long i = thread_number(); i < count; i += thread_count()) {
            const I v = list[i];
            part[v] = leading[v] << 32 | (unsigned int)led_to[v];
            if (leading[v] == led_to[v]) take_smaller(label + drawn_by(leading[v]), v);
        }
        grid_barrier(&control->arrived);
        for (long long i = thread_number(); i < count; i += thread_count()) {
            const I v = list[i], origin = drawn_by(leading[v]);
            if (leading[v] == led_to[v] && v != origin) label[v] = now(label + origin);
        }
        ++round;
        if (thread_number() == 0) control->queue[(round + 1) % 3] = 0;
        grid_barrier(&control->arrived);
        keep_alive(list, count, label, part, other, control->queue + round % 3);
        grid_barrier(&control->arrived);
        count = (long long)(now(control->queue + round % 3) & 0xffffffffu);
        exchange(list, other);
        stage = LISTED;
    }
    if (count == 0 && now(&control->chained) != 0) join_chains(control, n, label, forward, backward, leading);
    if (thread_number() != 0) return;
    control->stage = stage;
    control->passes = passes;
    control->rounds = round;
    control->done = count == 0;
}
