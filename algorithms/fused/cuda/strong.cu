// Strong components after the two searches from one pivot, and before them, with no step on the host.
//
// trim    a vertex without a living predecessor, or without a living successor, is a component: a few passes in place,
//         and then the pivot, the living vertex of the largest in-degree × out-degree.
// rest    what both searches reached is the pivot's component. What is left is taken apart by colours [1]: every vertex
//         draws a random number, the smallest spreads along the edges, and the component of each colour's origin is what
//         the origin's colour reaches backwards. Edges between colours are then cut, for no component has two. Random
//         numbers keep the rounds few, about log n; a round's passes are over the vertices that are left, in place.
//
// [1] G. M. Slota, S. Rajamanickam, K. Madduri, BFS and coloring-based parallel algorithms for strongly connected
//     components and related problems, IPDPS 2014.

// Where `rest` is: about to start; with a list of what is left; while colours spread, and while they are followed back.
enum Stage : unsigned long long { SEARCHED, LISTED, SPREADING, RETURNING };

struct StrongControl {
    unsigned int arrived, done;
    unsigned long long passes, pivot, smallest, trims, rounds, left_to_colour;
    unsigned long long changed[3];
    unsigned long long queue[3];
    Stage stage;
};

// Is there an entry of row v that `holds`, in the lanes that ask? Few entries are looked at alone, more by the warp.
template <class Holds>
__device__ __forceinline__ bool any_in_row(const I* indptr, const I* indices, I v, bool asks, const Holds& holds) {
    I e = 0, end = 0;
    bool found = false;
    if (asks) {
        e = indptr[v];
        end = indptr[v + 1];
        for (const I alone = end - e < ALONE ? end : e + ALONE; e < alone && !found; ++e) found = holds(v, indices[e]);
    }
    for (unsigned int left = __ballot_sync(WARP, !found && e < end); left != 0; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const I last = from_lane(end, owner), row = from_lane(v, owner);
        for (I at = from_lane(e, owner); at < last; at += 32) {
            const bool hit = lane_number() < last - at && holds(row, indices[at + lane_number()]);
            if (!__any_sync(WARP, hit)) continue;
            if (lane_number() == owner) found = true;
            break;
        }
    }
    return found;
}

// The least of `had` and what the entries of row v give, in the lanes that ask, likewise.
template <class Gives>
__device__ __forceinline__ unsigned long long least_in_row(const I* indptr, const I* indices, I v, bool asks,
                                                           unsigned long long had, const Gives& gives) {
    I e = 0, end = 0;
    if (asks) {
        e = indptr[v];
        end = indptr[v + 1];
        for (const I alone = end - e < ALONE ? end : e + ALONE; e < alone; ++e) {
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

// label: -1 for the living; at first, everywhere.  passes: at most.
extern "C" __global__ void __launch_bounds__(TRIM_THREADS, TRIM_BLOCKS)
    trim(StrongControl* control, const I* indptr, const I* indices, const I* in_indptr, const I* in_indices, long long n,
         I* label, int passes) {
    __shared__ unsigned long long best;
    const auto alive = [=](I v, I u) { return u != v && now(label + u) < 0; };
    for (int pass = 0; pass < passes; ++pass) {
        bool changed = false;
        for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
            const I v = (I)(first + lane_number());
            const bool here = first + lane_number() < n && label[v] < 0;
            const bool leads = any_in_row(indptr, indices, v, here, alive);
            const bool led_to = any_in_row(in_indptr, in_indices, v, here && leads, alive);
            if (here && !(leads && led_to)) {
                label[v] = v;
                changed = true;
            }
        }
        if (__syncthreads_or(changed) && threadIdx.x == 0) control->changed[pass % 3] = 1;
        if (thread_number() == 0) control->changed[(pass + 1) % 3] = 0;
        grid_barrier(&control->arrived);
        if (thread_number() == 0) ++control->trims;
        if (now(control->changed + pass % 3) == 0) break;
    }
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    unsigned long long own = 0;
    for (long long v = thread_number(); v < n; v += thread_count()) {
        if (label[v] >= 0) continue;
        const unsigned long long out = indptr[v + 1] - indptr[v], in = in_indptr[v + 1] - in_indptr[v];
        const unsigned long long product = out * in < 0xffffffffull ? out * in : 0xffffffffull;
        const unsigned long long key = product << 32 | (0xffffffffu - (unsigned int)v);
        if (key > own) own = key;
    }
    if (own > 0) atomicMax(&best, own);
    __syncthreads();
    if (threadIdx.x == 0 && best > 0) atomicMax(&control->pivot, best);
}

// All are living at first.
extern "C" __global__ void start_strong(StrongControl* control, long long n, I* label) {
    for (long long v = thread_number(); v < n; v += thread_count()) label[v] = -1;
    if (thread_number() != 0) return;
    *control = StrongControl{};
    control->smallest = ~0ull;
}

// Levels for a search from the pivot among the living.
extern "C" __global__ void start_at_pivot(const StrongControl* control, long long n, long long nnz, const I* label,
                                          SearchControl* there, SearchControl* back, int* forward, int* backward) {
    const unsigned long long pivot = control->pivot;
    const long long start = pivot == 0 ? -1 : (long long)(0xffffffffu - (unsigned int)(pivot & 0xffffffffu));
    for (long long v = thread_number(); v < n; v += thread_count())
        forward[v] = backward[v] = label[v] >= 0 ? -2 : v == start ? 0 : -1;
    if (thread_number() != 0) return;
    *there = *back = SearchControl{};
    there->unexplored = back->unexplored = nnz;
}

// A number for v that is different in every round, and for every v.
__device__ __forceinline__ unsigned long long drawn(I v, unsigned int round) {
    unsigned int h = (unsigned int)v * 0x9e3779b9u + round * 0x85ebca6bu;
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return (unsigned long long)(h ^ h >> 16) << 32 | (unsigned int)v;
}

// Copy those of a list (or of 0, 1, …, where it is null) that are alive to another.
__device__ __forceinline__ void keep_alive(const I* list, long long count, const I* label, I* kept,
                                           unsigned long long* counter) {
    for (long long base = blockIdx.x * (long long)blockDim.x; base < count; base += gridDim.x * (long long)blockDim.x) {
        const long long i = base + threadIdx.x;
        const I v = i < count ? (list == nullptr ? (I)i : list[i]) : 0;
        const bool alive = i < count && label[v] < 0;
        if (!__syncthreads_or(alive)) continue;
        const Places place = reserve(alive, 0, counter);
        if (alive) kept[place.first] = v;
    }
}

// there, back: of the searches, without whose end nothing is done.  forward, backward: their levels.  stop_at: passes
// after which the launch ends, wherever it is, for the next to go on.
extern "C" __global__ void __launch_bounds__(REST_THREADS, REST_BLOCKS)
    rest(StrongControl* control, const SearchControl* there, const SearchControl* back, const I* indptr,
         const I* indices, const I* in_indptr, const I* in_indices, long long n, I* label, I* part, I* smallest,
         const int* forward, const int* backward, unsigned long long* colour, bool* reaches, I* list, I* other,
         unsigned long long stop_at) {
    __shared__ unsigned long long least;
    if (there->done == 0 || back->done == 0) return;
    Stage stage = control->stage;
    unsigned long long passes = control->passes;
    unsigned int round = control->rounds;
    grid_barrier(&control->arrived);  // before anything of that changes
    if (stage == SEARCHED) {
        if (threadIdx.x == 0) least = ~0ull;
        __syncthreads();
        unsigned long long own = ~0ull;
        for (long long v = thread_number(); v < n; v += thread_count())
            if (forward[v] >= 0 && backward[v] >= 0 && (unsigned long long)v < own) own = v;
        if (own != ~0ull) atomicMin(&least, own);
        __syncthreads();
        if (threadIdx.x == 0 && least != ~0ull) atomicMin(&control->smallest, least);
        if (thread_number() == 0) control->changed[0] = 0;
        grid_barrier(&control->arrived);
        const I giant = (I)now(&control->smallest);
        for (long long v = thread_number(); v < n; v += thread_count()) {
            if (label[v] >= 0) continue;
            if (forward[v] >= 0 && backward[v] >= 0) label[v] = giant;
            else part[v] = forward[v] >= 0 ? 0 : backward[v] >= 0 ? 1 : 2;
        }
        grid_barrier(&control->arrived);
        keep_alive(nullptr, n, label, list, control->queue);
        grid_barrier(&control->arrived);
        if (thread_number() == 0) control->left_to_colour = now(control->queue) & 0xffffffffu;
        stage = LISTED;
    }
    if (round % 2 == 1) exchange(list, other);
    long long count = (long long)(now(control->queue + round % 3) & 0xffffffffu);
    const auto same_part = [=](I v, I u) { return u != v && now(label + u) < 0 && part[u] == part[v]; };
    // After a pass: did it change anything?
    const auto changed_anything = [=, &passes](bool changed) {
        if (__syncthreads_or(changed) && threadIdx.x == 0) control->changed[passes % 3] = 1;
        if (thread_number() == 0) control->changed[(passes + 1) % 3] = 0;
        grid_barrier(&control->arrived);
        return now(control->changed + passes++ % 3) != 0;
    };
    while (count > 0 && passes < stop_at) {
        if (stage == LISTED) {  // Colours, and what is alone within its part.
            for (long long first = thread_number() - lane_number(); first < count; first += thread_count()) {
                const bool has = first + lane_number() < count;
                const I v = has ? list[first + lane_number()] : 0;
                const bool leads = any_in_row(indptr, indices, v, has, same_part);
                const bool led_to = any_in_row(in_indptr, in_indices, v, has && leads, same_part);
                if (has) {
                    if (!(leads && led_to)) label[v] = v;
                    colour[v] = drawn(v, round + 1);
                    reaches[v] = false;
                    smallest[v] = v;
                }
            }
            grid_barrier(&control->arrived);
            stage = SPREADING;
        } else if (stage == SPREADING) {  // The smallest colour spreads along the edges.
            bool changed = false;
            for (long long first = thread_number() - lane_number(); first < count; first += thread_count()) {
                const bool has = first + lane_number() < count;
                const I v = has ? list[first + lane_number()] : 0;
                const bool here = has && now(label + v) < 0;
                const unsigned long long had = here ? now(colour + v) : 0;
                const unsigned long long least_seen = least_in_row(in_indptr, in_indices, v, here, had, [=](I at, I u) {
                    return same_part(at, u) ? now(colour + u) : ~0ull;
                });
                if (least_seen < had) {
                    colour[v] = least_seen;
                    changed = true;
                }
            }
            if (!changed_anything(changed)) stage = RETURNING;
        } else {  // Who leads to the colour's origin, within the colour, is of the origin's component.
            bool changed = false;
            for (long long first = thread_number() - lane_number(); first < count; first += thread_count()) {
                const bool has = first + lane_number() < count;
                const I v = has ? list[first + lane_number()] : 0;
                const bool here = has && now(label + v) < 0 && !now(reaches + v);
                const bool origin = here && (I)(unsigned int)colour[v] == v;
                const bool leads = any_in_row(indptr, indices, v, here && !origin, [=](I at, I x) {
                    return same_part(at, x) && colour[x] == colour[at] && now(reaches + x);
                });
                if (origin || leads) {
                    reaches[v] = true;
                    take_smaller(smallest + (I)(unsigned int)colour[v], v);
                    changed = true;
                }
            }
            if (changed_anything(changed)) continue;
            for (long long i = thread_number(); i < count; i += thread_count()) {
                const I v = list[i], origin = (I)(unsigned int)colour[v];
                if (label[v] >= 0) continue;
                part[v] = origin;
                if (reaches[v]) label[v] = smallest[origin];
            }
            ++round;
            if (thread_number() == 0) control->queue[(round + 1) % 3] = 0;
            grid_barrier(&control->arrived);
            keep_alive(list, count, label, other, control->queue + round % 3);
            grid_barrier(&control->arrived);
            count = (long long)(now(control->queue + round % 3) & 0xffffffffu);
            exchange(list, other);
            stage = LISTED;
        }
    }
    if (thread_number() != 0) return;
    control->stage = stage;
    control->passes = passes;
    control->rounds = round;
    control->done = count == 0;
}
