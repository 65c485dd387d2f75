// Rows of very different lengths, each looked through by a lane, a warp, or a block.
//
// Rows are dealt out so that neighbouring ones, often hubs, go to different warps.

constexpr int HUB_ROW = 2048;          // entries of a row from which a block takes it
constexpr int MAX_THREADS = 512;  // of a block, see its shared arrays

struct ByLane {
    __device__ __forceinline__ int rank() const { return 0; }
    __device__ __forceinline__ int size() const { return 1; }
    __device__ __forceinline__ void wait() const {}
    template <class V> __device__ __forceinline__ V sum(V own) const { return own; }
};

struct ByWarp {
    __device__ __forceinline__ int rank() const { return lane_number(); }
    __device__ __forceinline__ int size() const { return 32; }
    __device__ __forceinline__ void wait() const { __syncwarp(); }
    template <class V> __device__ __forceinline__ V sum(V own) const { return sum_of_warp(own); }
};

struct ByBlock {
    double* of_warp;
    __device__ __forceinline__ int rank() const { return threadIdx.x; }
    __device__ __forceinline__ int size() const { return blockDim.x; }
    __device__ __forceinline__ void wait() const { __syncthreads(); }
    template <class V> __device__ __forceinline__ V sum(V own) const {
        put(ByWarp{}.sum(own));
        V all = 0;
        for (int warp = 0; warp < (int)blockDim.x / 32; ++warp) all += (V)of_warp[warp];
        return all;
    }
    template <class V> __device__ __forceinline__ void put(V own) const {
        __syncthreads();
        if (lane_number() == 0) of_warp[threadIdx.x / 32] = own;
        __syncthreads();
    }
};

// Entries [begin, end) dealt out to those that look through a row, PER_LANE of each: first ask(e) for all, then tell(answer)
// each, so that no load waits for what is written.
template <class Answer, class By, class Ask, class Tell>
__device__ __forceinline__ void ask_and_tell(const By& by, I begin, I end, const Ask& ask, const Tell& tell) {
    constexpr int PER_LANE = 4;
    for (I first = begin + by.rank(); first < end; first += PER_LANE * by.size()) {
        Answer answer[PER_LANE];
        UNROLLED(j, PER_LANE) {
            const I e = first + j * by.size();
            answer[j] = ask(e < end ? e : first);
        }
        UNROLLED(j, PER_LANE)
            if (first + j * by.size() < end) tell(answer[j]);
    }
}

// For i = 0 … count - 1: pick(i) is a row, or -1 for none; length(row), how many entries it has; work(by, i, row), called
// by all that `by` says look through it. All of the grid's threads take part.
template <class Pick, class Length, class Work>
__device__ __forceinline__ void deal_rows(long long count, const Pick& pick, const Length& length, const Work& work) {
    __shared__ long long hubs[MAX_THREADS];
    __shared__ I row_of[MAX_THREADS];
    __shared__ double of_warp[MAX_THREADS / 32];
    __shared__ int hub_count;
    const long long warps = thread_count() / 32, warp = thread_number() / 32;
    for (long long base = 0; base < count; base += thread_count()) {
        const long long i = base + lane_number() * warps + warp;
        const I row = i < count ? pick(i) : (I)-1;
        const bool wanted = row != (I)-1;
        if (!__syncthreads_or(wanted)) continue;
        if (threadIdx.x == 0) hub_count = 0;
        __syncthreads();
        const I size = wanted ? length(row) : 0;
        if (wanted && size > HUB_ROW) {
            const int place = atomicAdd(&hub_count, 1);
            hubs[place] = i;
            row_of[place] = row;
        }
        if (wanted && size <= LANE_ROW) work(ByLane{}, i, row);
        for (unsigned int left = __ballot_sync(WARP, wanted && size > LANE_ROW && size <= HUB_ROW); left != 0; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            work(ByWarp{}, from_lane(i, owner), from_lane(row, owner));
        }
        __syncthreads();
        for (int hub = 0; hub < hub_count; ++hub) work(ByBlock{of_warp}, hubs[hub], row_of[hub]);
    }
}
