// Running totals:   before_i = Σ_{k < i} count_k   and, last, the sum of all
//
// Two kernels: the first adds up each tile of SCANNED counts, the second adds up the tiles before its own, and scans its
// own in shared memory. Traffic per count: read twice, written once; of bits, counted word by word, read twice. Nobody
// waits for another block, and the sums of tiles are few: one for 4096 counts. Of few tiles the second kernel adds up all
// before its own by itself.

constexpr int SCAN_ITEMS = 16;                 // counts of a thread
constexpr int SCANNED = THREADS * SCAN_ITEMS;  // of a block

struct Counts {
    const I* counts;
    __device__ __forceinline__ I operator[](long long i) const { return counts[i]; }
};

struct Popcounts {
    const unsigned int* words;
    __device__ __forceinline__ I operator[](long long i) const { return (I)__popc(words[i]); }
};

template <class Source> __device__ __forceinline__ void sum_tile(const Source& source, long long n, I* sums) {
    const long long begin = blockIdx.x * (long long)SCANNED, end = min(begin + SCANNED, n);
    I own = 0, all;
    for (long long i = begin + threadIdx.x; i < end; i += THREADS) own += source[i];
    sum_before(own, all);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

template <class Source>
__device__ __forceinline__ void scan_tile(const Source& source, long long n, const I* sums, I* before, long long* told) {
    __shared__ I held[SCANNED + SCANNED / 32];  // a word left out after every 32 against bank conflicts
    const long long begin = blockIdx.x * (long long)SCANNED;
    const int count = (int)min((long long)SCANNED, n - begin);
    I of_tiles = 0, base, all;
    if (sums == nullptr)
        for (long long i = threadIdx.x; i < begin; i += THREADS) of_tiles += source[i];
    else
        for (int t = threadIdx.x; t < (int)blockIdx.x; t += THREADS) of_tiles += sums[t];
    sum_before(of_tiles, base);
    for (int i = threadIdx.x; i < count; i += THREADS) held[i + i / 32] = source[begin + i];
    __syncthreads();
    I own = 0;
    for (int k = 0; k < SCAN_ITEMS; ++k) {
        const int i = threadIdx.x * SCAN_ITEMS + k;
        if (i < count) own += held[i + i / 32];
    }
    I running = base + sum_before(own, all);
    for (int k = 0; k < SCAN_ITEMS; ++k) {
        const int i = threadIdx.x * SCAN_ITEMS + k;
        if (i >= count) break;
        const I here = held[i + i / 32];
        held[i + i / 32] = running;
        running += here;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += THREADS) before[begin + i] = held[i + i / 32];
    if (threadIdx.x == 0 && begin + SCANNED >= n) {
        before[n] = base + all;
        if (told != nullptr) *told = base + all;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) sum_counts(const I* counts, long long n, I* sums) {
    sum_tile(Counts{counts}, n, sums);
}

// before may be counts: a tile is read before it is written. told: where the host reads the sum of all, or null.
extern "C" __global__ void __launch_bounds__(THREADS)
scan_counts(const I* counts, long long n, const I* sums, I* before, long long* told) {
    scan_tile(Counts{counts}, n, sums, before, told);
}

extern "C" __global__ void __launch_bounds__(THREADS) sum_bits(const unsigned int* words, long long n, I* sums) {
    sum_tile(Popcounts{words}, n, sums);
}

// sums: null where there are few tiles.
extern "C" __global__ void __launch_bounds__(THREADS)
scan_bits(const unsigned int* words, long long n, const I* sums, I* before, long long* told) {
    scan_tile(Popcounts{words}, n, sums, before, told);
}
