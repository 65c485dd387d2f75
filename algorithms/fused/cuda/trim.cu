// The trim, and the choice of the pivot, come before the searches of strong.cu.

// Passes of the trim go on while each finds one vertex in so many.
constexpr int VERTICES_PER_TRIM = 128;

// label: -1 for the living; at first, everywhere.  passes: at most.
extern "C" __global__ void __launch_bounds__(TRIM_THREADS, TRIM_BLOCKS)
    trim(StrongControl* control, const I* indptr, const J* indices, const I* in_indptr, const J* in_indices, long long n,
         I* label, int passes) {
    __shared__ unsigned long long best;
    const auto alive = [=](I v, I u) { return u != v && now(label + u) < 0; };
    for (int pass = 0; pass < passes; ++pass) {
        unsigned int found = 0;
        for (long long first = thread_number() - lane_number(); first < n; first += thread_count()) {
            const I v = (I)(first + lane_number());
            const bool here = first + lane_number() < n && label[v] < 0;
            const bool leads = first_in_row(indptr, indices, v, here, alive) >= 0;
            const bool led_to = first_in_row(in_indptr, in_indices, v, here && leads, alive) >= 0;
            if (here && !(leads && led_to)) {
                label[v] = v;
                ++found;
            }
        }
        add_up(found, control->changed + pass % 3);
        if (thread_number() == 0) control->changed[(pass + 1) % 3] = 0;
        grid_barrier(&control->arrived);
        if (thread_number() == 0) ++control->trims;
        if (now(control->changed + pass % 3) * VERTICES_PER_TRIM <= n) break;
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
