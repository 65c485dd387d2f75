// PageRank: rounds of x' = α ((x ⊘ r) A + (Σ x⟨r = 0⟩) v) + (1 - α) v, by columns, on as many blocks as there are.
//
// Sums have an order of their own, the same in every run: lanes of a warp take a column's edges by turns, long columns are
// cut in pieces whose sums wait in their order, and blocks' sums are added in the order of the blocks.

struct Weights {
    const void* values;
    I step;  // between values: 0 where all are one
    int kind;
    __device__ __forceinline__ double operator()(I e) const {
        switch (kind) {
            case BOOL_WEIGHTS: return 1.0;
            case INT32_WEIGHTS: return (double)static_cast<const int*>(values)[e * step];
            case INT64_WEIGHTS: return (double)static_cast<const long long*>(values)[e * step];
            case FLOAT32_WEIGHTS: return (double)static_cast<const float*>(values)[e * step];
            default: return static_cast<const double*>(values)[e * step];
        }
    }
};

// Over the edges [begin, end) of a column, every step-th from the first on.
__device__ __forceinline__ double gathered(const J* indices, const Weights& weight, const double* z, I begin, I end,
                                           int step) {
    double sum = 0;
#pragma unroll 4
    for (I e = begin; e < end; e += step) sum += z[indices[e]] * weight(e);
    return sum;
}

// x: shares so far.  share: α ⊘ r, 0 where nothing leaves.  leaving: r.  jump: v, with a step of 0 where all are one.  z_a:
// x · share.  sums: of the pieces.  seen: of each block, two rounds in turns.  enough: what a round moves at the last.
extern "C" __global__ void __launch_bounds__(PAGERANK_THREADS, PAGERANK_BLOCKS)
    pagerank(PagerankControl* control, const I* __restrict__ indptr, const J* __restrict__ indices, const void* values,
          I value_step, int kind, long long n, double alpha, double enough, const double* __restrict__ share,
          const double* __restrict__ leaving, const double* __restrict__ jump, I jump_step, double* x, double* z_a,
          double* z_b, const RowPiece* pieces, const unsigned long long* piece_count, double* sums, Seen* seen,
          unsigned long long last_round) {
    __shared__ Seen of_warp[PAGERANK_THREADS / 32];
    const Weights weight{values, value_step, kind};
    const long long warps = thread_count() / 32, warp = thread_number() / 32;
    const long long cut = (long long)*piece_count;
    unsigned long long round = control->rounds;
    double moved = control->moved;
    bool done = moved < enough;
    for (; round < last_round && !done; ++round) {
        const Seen* before = seen + (round % 2) * gridDim.x;
        const double* z = round % 2 == 0 ? z_a : z_b;
        double* const then = round % 2 == 0 ? z_b : z_a;
        double stuck = 0;
        for (unsigned int block = lane_number(); block < gridDim.x; block += 32) stuck += now(&before[block].stuck);
        stuck = sum_of_warp(stuck);
        Seen own{0, 0};
        const auto settle = [&](long long v, double sum) {
            const double was = x[v], is = sum + (alpha * stuck + (1 - alpha)) * jump[v * jump_step];
            x[v] = is;
            then[v] = is * share[v];
            if (leaving[v] == 0) own.stuck += is;
            own.moved += is > was ? is - was : was - is;
        };
        for (long long p = warp; p < cut; p += warps) {
            const RowPiece piece = pieces[p];
            const I end = piece.start + piece.length;
            const double sum = sum_of_warp(gathered(indices, weight, z, piece.start + lane_number(), end, 32));
            if (lane_number() == 0) sums[p] = sum;
        }
        for (long long base = 0; base < n; base += thread_count()) {
            const long long v = base + lane_number() * warps + warp;
            const I begin = v < n ? indptr[v] : 0, end = v < n ? indptr[v + 1] : 0, length = end - begin;
            double sum = length <= LANE_ROW ? gathered(indices, weight, z, begin, end, 1) : 0;
            for (unsigned int left = __ballot_sync(WARP, length > LANE_ROW && length <= LONG); left != 0; left &= left - 1) {
                const int owner = __ffs(left) - 1;
                const I from = from_lane(begin, owner), to = from_lane(end, owner);
                const double all = sum_of_warp(gathered(indices, weight, z, from + lane_number(), to, 32));
                if (lane_number() == owner) sum = all;
            }
            if (v < n && length <= LONG) settle(v, sum);
        }
        if (cut > 0) {
            grid_barrier(&control->arrived);
            for (long long p = thread_number(); p < cut; p += thread_count()) {
                const I v = pieces[p].vertex, begin = indptr[v], length = indptr[v + 1] - begin;
                if (pieces[p].start != begin) continue;
                double sum = 0;
                for (I i = 0; i <= (length - 1) / LONG; ++i) sum += now(sums + p + i);
                settle(v, sum);
            }
        }
        own = {sum_of_warp(own.stuck), sum_of_warp(own.moved)};
        if (lane_number() == 0) of_warp[threadIdx.x / 32] = own;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int i = 1; i < (int)blockDim.x / 32; ++i) {
                own.stuck += of_warp[i].stuck;
                own.moved += of_warp[i].moved;
            }
            seen[((round + 1) % 2) * gridDim.x + blockIdx.x] = own;
        }
        grid_barrier(&control->arrived);
        moved = 0;
        const Seen* after = seen + ((round + 1) % 2) * gridDim.x;
        for (unsigned int block = lane_number(); block < gridDim.x; block += 32) moved += now(&after[block].moved);
        moved = sum_of_warp(moved);
        done = moved < enough;
    }
    if (thread_number() == 0) {
        control->done = done;
        control->rounds = round;
        control->moved = moved;
    }
}
