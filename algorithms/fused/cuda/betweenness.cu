// Brandes's sums over sources, from the distances of all of them at once.
//
//     σ_v = Σ σ_u        δ_v = σ_v Σ (1 + δ_w) / σ_w        over edges u -> v, and v -> w, of shortest paths
//
// Sums are of pairs (s, v), numbered s n + v. A pair waits for as many as there are edges of shortest paths from
// s that end in v; when none is left it is listed, and in the next wave it gathers σ, and tells those that wait for it.
// δ goes through the waves backwards. Every sum is gathered along a row or column by those that look through it, so that
// it has the same order in every run, whatever the order of the lists. `rounds` says which edges count between vertices
// at one distance, whose weights rounding absorbs; it may be null where there are none. Infinite weights are no edges.

using Number = unsigned int;  // of a pair

enum Phase : unsigned long long { COUNTING, FORWARD, BACKWARD };

// Numbers to a list, by an atomic for the lanes that are here together.
__device__ __forceinline__ void append(Number p, Number* list, unsigned int* count) {
    const unsigned int here = __activemask();
    const int leader = __ffs(here) - 1;
    unsigned int first = 0;
    if (lane_number() == leader) first = atomicAdd(count, (unsigned int)__popc(here));
    first = __shfl_sync(here, first, leader);
    list[first + __popc(here & lanes_below())] = p;
}

// d: (k, n) distances.  rounds: likewise, or null.  waiting: of each pair.  order: the pairs, wave after wave; begins: where
// each wave begins.  paths: σ, and after it was looked at backwards (1 + δ) / σ.  through: δ.
extern "C" __global__ void __launch_bounds__(BETWEENNESS_THREADS, BETWEENNESS_BLOCKS)
    betweenness(BetweennessControl* control, const I* __restrict__ indptr, const J* __restrict__ indices,
            const T* __restrict__ values, I value_step, const I* __restrict__ in_indptr, const J* __restrict__ in_indices,
            const T* __restrict__ in_values, I in_step, unsigned int n, unsigned int k, const T* __restrict__ d,
            const int* __restrict__ rounds, int* waiting, Number* order, Number* begins, double* paths, double* through,
            unsigned long long last_step) {
    unsigned long long step = control->steps, phase = control->phase, wave = control->wave;
    Number begin = control->begin, end = control->end;
    bool done = false;
    const auto length = [=](I v) {
        const I out = indptr[v + 1] - indptr[v], in = in_indptr[v + 1] - in_indptr[v];
        return out > in ? out : in;
    };
    const auto leads = [=](Number u, T here, T weight, Number v, T there) {
        if (here == ZERO || there == ZERO || finish(lift(term(weight, here))) != there) return false;
        return here != there || (rounds != nullptr && rounds[u] + 1 == rounds[v]);
    };
    for (; step < last_step && !done; ++step) {
        unsigned int* const found = control->found + step % 3;
        if (thread_number() == 0) control->found[(step + 1) % 3] = 0;
        const auto listed = [=](long long i) { return (I)(now(order + begin + i) % n); };  // in the wave
        if (phase == COUNTING) {
            const auto reached = [=](long long p) { return d[p] != ZERO ? (I)((Number)p % n) : (I)-1; };
            deal_rows((long long)k * n, reached, length, [&](const auto& by, long long p, I v) {
                const Number base = (Number)p - (Number)v;
                const T here = d[p];
                int own = 0;
#pragma unroll 4
                for (I e = in_indptr[v] + by.rank(); e < in_indptr[v + 1]; e += by.size()) {
                    const Number u = base + (Number)in_indices[e];
                    own += leads(u, d[u], in_values[e * in_step], (Number)p, here);
                }
                own = by.sum(own);
                if (by.rank() != 0) return;
                waiting[p] = own;
                if (own == 0) append((Number)p, order, found);
            });
        } else if (phase == FORWARD) {
            deal_rows(end - begin, listed, length, [&](const auto& by, long long i, I v) {
                const Number p = now(order + begin + i), base = p - (Number)v;
                const T here = d[p];
                double own = 0;
#pragma unroll 4
                for (I e = in_indptr[v] + by.rank(); e < in_indptr[v + 1]; e += by.size()) {
                    const Number u = base + (Number)in_indices[e];
                    if (leads(u, d[u], in_values[e * in_step], p, here)) own += now(paths + u);
                }
                own = by.sum(own);
                if (by.rank() == 0) paths[p] = own == 0 ? 1 : own;  // a source's is 1
#pragma unroll 4
                for (I e = indptr[v] + by.rank(); e < indptr[v + 1]; e += by.size()) {
                    const Number w = base + (Number)indices[e];
                    if (leads(p, here, values[e * value_step], w, d[w]) && atomicSub(waiting + w, 1) == 1)
                        append(w, order + end, found);
                }
            });
        } else {
            deal_rows(end - begin, listed, length, [&](const auto& by, long long i, I v) {
                const Number p = now(order + begin + i), base = p - (Number)v;
                const T here = d[p];
                double own = 0;
#pragma unroll 4
                for (I e = indptr[v] + by.rank(); e < indptr[v + 1]; e += by.size()) {
                    const Number w = base + (Number)indices[e];
                    if (leads(p, here, values[e * value_step], w, d[w])) own += now(paths + w);
                }
                own = by.sum(own);
                if (by.rank() != 0) return;
                const double mine = now(paths + p), led = mine * own;
                paths[p] = (1 + led) / mine;
                through[p] = wave == 0 ? 0 : led;  // wave 0 has the sources
            });
        }
        grid_barrier(&control->arrived);
        if (phase == BACKWARD) {
            done = wave == 0;
            if (done) break;
            --wave;
            end = begin;
            begin = now(begins + wave);
            continue;
        }
        if (thread_number() == 0) begins[phase == COUNTING ? 0 : wave + 1] = end;
        const unsigned int next = now(found);
        if (next > 0) {
            wave = phase == COUNTING ? 0 : wave + 1;
            begin = end;
            end += next;
            phase = FORWARD;
        } else {
            phase = BACKWARD;
        }
    }
    if (thread_number() == 0) {
        control->done = done;
        control->steps = step;
        control->phase = phase;
        control->wave = wave;
        control->begin = begin;
        control->end = end;
    }
}

// Σ δ over the rows, to what is there; with `ends` also the paths that end in a vertex, but not in their source, whose
// distance is `unit`.
extern "C" __global__ void add_through(unsigned int n, unsigned int k, const T* d, const double* through, T unit,
                                       bool ends, double* total) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        double sum = total[v];
        for (unsigned int s = 0; s < k; ++s) {
            const T here = d[(long long)s * n + v];
            sum += through[(long long)s * n + v] + (ends && here != ZERO && here != unit);
        }
        total[v] = sum;
    }
}
