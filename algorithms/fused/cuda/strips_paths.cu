// The fixpoint of fixpoint.cu on strips of rows: the kernel `wide`, on each GPU for its own vertices.
//
// A step relaxes the own edges of the near vertices, in the GPU's own distances of all vertices, and marks what improves
// in a bitmap of all vertices. Then all GPUs meet, and learn the best active value and how many edges they have had. At
// the next listing each GPU takes the marks of its own vertices from all of them, and, of the marked vertices alone,
// their distances: so only what improved travels, once a step, and whole lines of it where it is dense.
//
//     d_v = d_v ⊕ ⊕_gpu d^gpu_v⟨v marked there⟩      for own v
//
// Two bitmaps take turns: one is read by the others while the next step marks in the other. Per GPU and step, over the
// link: a bit for each own vertex, and a value for each that improved elsewhere.

enum Arrays { MEETINGS, DISTANCES, MARKS };  // the rows of a team's table; of two bitmaps the second is the next row

struct StripControl {
    unsigned int arrived, done;
    unsigned long long steps, edges, thresholds;
    unsigned long long queue[3];  // edges and vertices of the own frontier
    Slot nearest[3];              // the best active value that this GPU knows
    Slot threshold;
    Slot best, reached;           // what all know: the best active value, and what the target has
    unsigned long long before;    // edges of the step before, of all
    unsigned long long saturated, taken;  // taken: values that came from other GPUs
    unsigned long long busiest;           // over all steps, edges of the GPU that has most
    unsigned long long lost;
};

// The state before the first step.  n: all vertices.  own_n: those from `first` on. That is a multiple of 32.
extern "C" __global__ void begin_strip(StripControl* control, long long n, long long first, long long own_n, T* d,
                                       unsigned int* marks_a, unsigned int* marks_b, unsigned int* active,
                                       long long source, T one, T threshold) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        d[v] = v == source ? one : ZERO;
        if (v % 32 == 0) marks_a[v / 32] = marks_b[v / 32] = 0;
        if (v % 32 == 0 && v < own_n) active[v / 32] = 0;
    }
    if (thread_number() != 0) return;
    *control = StripControl{};
    for (int i = 0; i < 3; ++i) control->nearest[i].value = ZERO;
    control->best.value = one;
    control->reached.value = ZERO;
    control->threshold.value = threshold;
}

extern "C" __global__ void activate_source(long long first, long long own_n, long long source, unsigned int* active) {
    if (thread_number() == 0 && source >= first && source < first + own_n) activate(active, (I)(source - first));
}

// Own vertices whose distance is better elsewhere take that; they and those marked here become active. The thread that
// looks at a word here looks at it in `list_near`, too. Returns how many values the thread has read elsewhere.
__device__ __forceinline__ unsigned int take_marked(const Team& team, int turn, long long first, long long own_n, T* d,
                                                    unsigned int* active) {
    constexpr int AT_ONCE = 4;
    unsigned int* const here = team.of<unsigned int>(MARKS + turn, team.own);
    const long long tile = WIDE_THREADS * 32ll;
    unsigned int taken = 0;
    for (long long base = blockIdx.x * tile; base < own_n; base += gridDim.x * tile) {
        const long long word = base / 32 + threadIdx.x, at = first / 32 + word;
        const bool inside = word * 32 < own_n;
        unsigned int bits = inside ? now(here + at) : 0;
        if (bits != 0) here[at] = 0;
        for (int gpu = 0; gpu < team.count; ++gpu) {
            if (gpu == team.own) continue;
            const unsigned int told = inside ? from_peer(team.of<unsigned int>(MARKS + turn, gpu) + at) : 0;
            const T* const there = team.of<T>(DISTANCES, gpu) + first + (word - lane_number()) * 32;
            T* const mine = d + first + (word - lane_number()) * 32;
            for (unsigned int left = __ballot_sync(WARP, told != 0); left != 0;) {
                int owner[AT_ONCE];
                T t[AT_ONCE];
                bool marked[AT_ONCE];
#pragma unroll
                for (int j = 0; j < AT_ONCE; ++j) {
                    owner[j] = left != 0 ? __ffs(left) - 1 : -1;
                    left &= left - 1;
                    const unsigned int marks = from_lane(told, owner[j] < 0 ? 0 : owner[j]);
                    marked[j] = owner[j] >= 0 && (marks >> lane_number() & 1) != 0;
                    taken += marked[j];
                    t[j] = marked[j] ? from_peer(there + owner[j] * 32 + lane_number()) : ZERO;
                }
#pragma unroll
                for (int j = 0; j < AT_ONCE; ++j) {
                    const bool improved = marked[j] && better(t[j], mine[owner[j] * 32 + lane_number()]);
                    if (improved) mine[owner[j] * 32 + lane_number()] = t[j];
                    const unsigned int all = __ballot_sync(WARP, improved);
                    if (lane_number() == owner[j]) bits |= all;
                }
            }
        }
        if (bits != 0) active[word] |= bits;
    }
    return taken;
}

// Marks of others' vertices that they have read.
__device__ __forceinline__ void clear_marks(unsigned int* marks, long long n) {
    for (long long word = thread_number(); word * 32 < n; word += thread_count())
        if (marks[word] != 0) marks[word] = 0;
}

// few: edges of a step of all GPUs below which the threshold is raised.
extern "C" __global__ void __launch_bounds__(STRIPS_THREADS, STRIPS_BLOCKS)
    strips(StripControl* control, const unsigned long long* table, int gpus, int gpu, const I* indptr, const I* indices,
           const T* values, I value_step, long long n, long long first, long long own_n, T* d, unsigned int* active, I* rows,
           I* offsets, T width, T limit, I target, unsigned long long few, unsigned long long last_step) {
    const Team team{table, gpus, gpu};
    Meetings* const meetings = team.of<Meetings>(MEETINGS, gpu);
    const Graph g{indptr, indices, values, value_step};
    unsigned long long step = control->steps, edges = 0, thresholds = 0, number = now(&meetings->number);
    T threshold = control->threshold.value;
    bool done = false;
    unsigned long long taken = 0;
    Relax relax{g, d, d + first, nullptr, limit, nullptr, ZERO, ZERO, 0, false};
    for (; step < last_step; ++step) {
        const T nearest = now(&control->best.value), reached = now(&control->reached.value);
        const unsigned long long before = now(&control->before);
        relax.bound = target >= 0 && better(reached, limit) ? reached : limit;
        done = nearest == ZERO || !no_worse(nearest, relax.bound) || now(&meetings->lost) != 0;
        if (done) break;
        if (better(threshold, nearest) || before < few) {
            threshold = product(width, better(threshold, nearest) ? nearest : threshold);
            ++thresholds;
        }
        const int turn = (int)(step % 2);
        if (step > 0) taken += take_marked(team, 1 - turn, first, own_n, d, active);
        clear_marks(relax.active = team.of<unsigned int>(MARKS + turn, gpu), n);
        Slot* const next = control->nearest + (step + 1) % 3;
        fold_into(next, list_near(indptr, own_n, d + first, active, threshold, false, nullptr, nullptr, 0, rows, offsets,
                                  control->queue + step % 3));
        if (thread_number() == 0) {
            control->queue[(step + 1) % 3] = 0;
            control->nearest[(step + 2) % 3].value = ZERO;
        }
        grid_barrier(&control->arrived);
        const unsigned long long listed = now(control->queue + step % 3);
        relax.nearest = ZERO;
        if (listed >> 32 != 0) deal_edges(rows, offsets, (I)(listed & 0xffffffffu), (I)(listed >> 32), indptr, relax);
        edges += listed >> 32;
        fold_into(next, relax.nearest);
        const auto write = [=](Letter& letter) {
            Slot best{}, at{};
            best.value = now(&next->value);
            at.value = target >= 0 ? now(d + target) : ZERO;
            letter.words[0] = best.bits;
            letter.words[1] = at.bits;
            letter.words[2] = listed >> 32;
        };
        const auto read = [=](const Letter* letters, int count) {
            T best = ZERO, at = ZERO;
            unsigned long long all = 0, most = 0;
            for (int p = 0; p < count; ++p) {
                Slot slot;
                slot.bits = letters[p].words[0];
                best = add(best, slot.value);
                slot.bits = letters[p].words[1];
                at = add(at, slot.value);
                all += letters[p].words[2];
                most = max(most, letters[p].words[2]);
            }
            control->best.value = best;
            control->reached.value = at;
            control->before = all;
            control->busiest += most;
        };
        meet(meetings, team, ++number, write, read);
    }
    if (relax.saturated) control->saturated = 1;
    if (taken != 0) atomicAdd(&control->taken, taken);
    if (thread_number() == 0) {
        control->done = done;
        control->steps = step;
        control->edges += edges;
        control->thresholds += thresholds;
        control->threshold.value = threshold;
        meetings->number = number;
        control->lost = now(&meetings->lost);
    }
}
