// The fixpoint of fixpoint.cu on strips of rows: the kernel `wide`, on each GPU for its own vertices.
//
// A step relaxes the own edges of the near vertices, in the GPU's own distances of all vertices, and marks what improves
// in a bitmap of all vertices. Then each GPU writes what has improved of another's vertices into that one's memory: the
// bits, and behind each other the distances of the marked vertices. All meet, and learn the best active value and how
// many edges they have had. At the next listing each GPU takes what others have brought.
//
//     d_v = d_v ⊕ ⊕_gpu d^gpu_v⟨v marked there⟩      for own v
//
// Two inboxes take turns: one is read while others fill the next. Over the link, per GPU and step: a value for each
// distance that improved, in whole lines, and a bit for each of 1,024 vertices where one has. Nobody waits for an answer.

enum Arrays { MEETINGS, HEADS, BITS = HEADS + 2, VALUES = BITS + 2 };  // the rows of a team's table; of inboxes two each

// The state before the first step.  n: all vertices.  own_n: those from `first` on. That is a multiple of 32.
extern "C" __global__ void begin_strip(StripControl* control, long long n, long long first, long long own_n, T* d,
                                       unsigned int* marks, unsigned int* active, long long source, T one,
                                       T threshold) {
    for (long long v = thread_number(); v < n; v += thread_count()) {
        d[v] = v == source ? one : ZERO;
        if (v % 32 == 0) marks[v / 32] = 0;
        const bool from_here = source >= first && (source - first) / 32 == v / 32;
        if (v % 32 == 0 && v < own_n) active[v / 32] = from_here ? 1u << ((source - first) % 32) : 0;
    }
    if (thread_number() != 0) return;
    *control = StripControl{};
    for (int i = 0; i < 3; ++i) control->nearest[i].value = ZERO;
    control->best.value = one;
    control->reached.value = ZERO;
    control->threshold.value = threshold;
}

// The inboxes, and in each the part of each other GPU: a bit and room for a value for each vertex, and for 32 words of
// bits a head, which says where their values begin.
struct Inboxes {
    static constexpr unsigned int NO_VALUES = ~0u;
    static constexpr long long TILE = STRIPS_THREADS;  // words
    Team team;
    const long long* starts;  // of the GPUs' vertices, and n
    long long words;          // at least those of each GPU; a multiple of 32

    __device__ __forceinline__ long long part(int to, int from) const { return from - (from > to); }
    __device__ __forceinline__ unsigned int* heads(int turn, int to, int from) const {
        return team.of<unsigned int>(HEADS + turn, to) + part(to, from) * (words / 32);
    }
    __device__ __forceinline__ unsigned int* bits(int turn, int to, int from) const {
        return team.of<unsigned int>(BITS + turn, to) + part(to, from) * words;
    }
    __device__ __forceinline__ T* values(int turn, int to, int from) const {
        return team.of<T>(VALUES + turn, to) + part(to, from) * words * 32;
    }
};

// Write what has improved of others' vertices into their inboxes; it is then marked no more.
__device__ __forceinline__ void bring(const Inboxes& inboxes, int turn, const T* d, unsigned int* marks,
                                      unsigned long long* sent) {
    constexpr int PER_LANE = 4;
    for (int k = 1; k < inboxes.team.count; ++k) {
        const int from = inboxes.team.own, to = (from + k) % inboxes.team.count;
        const long long first = inboxes.starts[to], count = (inboxes.starts[to + 1] - first + 31) / 32;
        unsigned int* const heads = inboxes.heads(turn, to, from);
        unsigned int* const there = inboxes.bits(turn, to, from);
        T* const values = inboxes.values(turn, to, from);
        for (long long tile = blockIdx.x; tile * Inboxes::TILE < count; tile += gridDim.x) {
            const long long word = tile * Inboxes::TILE + threadIdx.x;
            const unsigned int bits = word < count ? now(marks + first / 32 + word) : 0;
            const bool some = __syncthreads_or(bits != 0), own_warp = __any_sync(WARP, bits != 0);
            const unsigned int place = some ? from_lane(reserve(__popc(bits), 0, sent + to).first, 0) : 0;
            if (lane_number() == 0 && word < count) heads[word / 32] = own_warp ? place : Inboxes::NO_VALUES;
            if (!own_warp) continue;
            if (bits != 0) marks[first / 32 + word] = 0;
            if (word < count) there[word] = bits;
            T* const of_warp = values + place;
            const T* const own = d + first + (word - lane_number()) * 32;
            each_bit<PER_LANE>(bits, [=](const int* owner, const int* bit, const unsigned int* number, const bool* inside) {
                T t[PER_LANE];
                UNROLLED(j, PER_LANE) t[j] = inside[j] ? now(own + owner[j] * 32 + bit[j]) : ZERO;
                UNROLLED(j, PER_LANE)
                    if (inside[j]) of_warp[number[j]] = t[j];
            });
        }
    }
}

// Own vertices whose distance is better elsewhere take that; they and those marked here become active. The thread that
// looks at a word here looks at it in `list_near`, too. Returns how many values the thread has taken in.
__device__ __forceinline__ unsigned int take_in(const Inboxes& inboxes, int turn, long long own_n, T* d,
                                                unsigned int* marks, unsigned int* active) {
    constexpr int PER_LANE = 4;
    __shared__ unsigned int improved[STRIPS_THREADS];
    const int own = inboxes.team.own;
    unsigned int taken = 0;
    for (long long tile = blockIdx.x; tile * Inboxes::TILE * 32 < own_n; tile += gridDim.x) {
        const long long word = tile * Inboxes::TILE + threadIdx.x;
        const bool inside = word * 32 < own_n;
        const unsigned int here = inside ? now(marks + word) : 0;
        if (here != 0) marks[word] = 0;
        improved[threadIdx.x] = here;
        __syncwarp();
        for (int gpu = 0; gpu < inboxes.team.count; ++gpu) {
            if (gpu == own) continue;
            const unsigned int head = from_lane(inside ? now(inboxes.heads(turn, own, gpu) + word / 32) : Inboxes::NO_VALUES, 0);
            if (head == Inboxes::NO_VALUES) continue;
            const unsigned int bits = inside ? now(inboxes.bits(turn, own, gpu) + word) : 0;
            const T* const values = inboxes.values(turn, own, gpu) + head;
            taken += __popc(bits);
            T* const mine = d + (word - lane_number()) * 32;
            unsigned int* const of_warp = improved + threadIdx.x - lane_number();
            each_bit<PER_LANE>(bits, [=](const int* owner, const int* bit, const unsigned int* number, const bool* has) {
                T t[PER_LANE], had[PER_LANE];
                UNROLLED(j, PER_LANE) {
                    t[j] = has[j] ? now(values + number[j]) : ZERO;
                    had[j] = has[j] ? now(mine + owner[j] * 32 + bit[j]) : ZERO;
                }
                UNROLLED(j, PER_LANE)
                    if (has[j] && better(t[j], had[j])) {
                        mine[owner[j] * 32 + bit[j]] = t[j];
                        atomicOr(of_warp + owner[j], 1u << bit[j]);
                    }
            });
            __syncwarp();
        }
        if (improved[threadIdx.x] != 0) active[word] |= improved[threadIdx.x];
    }
    return taken;
}

// few: edges of a step of all GPUs below which the threshold is raised, and the width doubled.  most: doublings.
extern "C" __global__ void __launch_bounds__(STRIPS_THREADS, STRIPS_BLOCKS)
    strips(StripControl* control, const unsigned long long* table, int gpus, int gpu, const long long* starts,
           long long words, const I* indptr, const J* indices, const T* values, I value_step, T* d, unsigned int* marks,
           unsigned int* active, I* rows, I* offsets, T width, T limit, I target, unsigned long long few,
           unsigned long long most, unsigned long long last_step) {
    const Team team{table, gpus, gpu};
    const Inboxes inboxes{team, starts, words};
    const long long first = starts[gpu], own_n = starts[gpu + 1] - first;
    Meetings* const meetings = team.of<Meetings>(MEETINGS, gpu);
    const Graph g{indptr, indices, values, value_step};
    unsigned long long step = control->steps, edges = 0, taken = 0, number = now(&meetings->number);
    Threshold threshold{control->threshold.value, width, few, most, control->doublings, 0};
    bool done = false;
    Relax relax{g, d, d + first, marks, limit, ZERO, ZERO, false};
    for (; step < last_step; ++step) {
        const T nearest = now(&control->best.value), reached = now(&control->reached.value);
        const unsigned long long before = now(&control->before);
        relax.bound = target >= 0 && better(reached, limit) ? reached : limit;
        done = nearest == ZERO || !no_worse(nearest, relax.bound) || now(&meetings->lost) != 0;
        if (done) break;
        threshold.raise(nearest, before, step > 0);
        const int turn = (int)(step % 2);
        if (step > 0) taken += take_in(inboxes, 1 - turn, own_n, d + first, marks + first / 32, active);
        if (thread_number() < gpus) control->sent[1 - turn][thread_number()] = 0;
        const unsigned long long expanded = expand_near(control, step, own_n, d + first, active, threshold.value, false,
                                                        nullptr, nullptr, rows, offsets, relax);
        edges += expanded;
        bring(inboxes, turn, d, marks, control->sent[turn]);
        const auto write = [=](Letter& letter) {
            Slot best{}, at{};
            best.value = now(&control->nearest[(step + 1) % 3].value);
            at.value = target >= 0 ? now(d + target) : ZERO;
            letter.words[0] = best.bits;
            letter.words[1] = at.bits;
            letter.words[2] = expanded;
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
        threshold.keep(control);
        meetings->number = number;
        control->lost = now(&meetings->lost);
    }
}
