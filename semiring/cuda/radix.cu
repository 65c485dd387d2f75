// Entries sorted by column, those of one column in their order: one pass of a radix sort, least digit first [1].
//
// count_digits   how often each digit occurs in each tile; a scan over (segment, digit, tile) makes it where they go
// place_digits   the tile's entries ranked by their digit, put into that order in shared memory, and written from there,
//                so that entries of one digit leave side by side
//
// Segments of rows are sorted each by itself: a tile has entries of one segment. A warp ranks 32 entries by one match,
// against counters of its own, so nothing depends on who comes first. Traffic per entry and pass: the column is read
// twice; column, row and value are read and written once. In the first pass the row comes from indptr.
//
// [1] D. Merrill, A. Grimshaw, High Performance and Scalable Radix Sorting, Parallel Processing Letters 21 (2), 2011.

constexpr int SORTERS = 512;             // threads of a block
constexpr int KEYS = 16;                 // entries of a thread
constexpr int SORTED = SORTERS * KEYS;   // of a tile
constexpr int WARPS = SORTERS / 32;
constexpr int OF_WARP = 32 * KEYS;       // entries of a warp: its lanes take them in turns
constexpr int PAIRS = 2;                 // of digits, that a thread adds up: 2048 digits among 512 threads

// Where tiles lie: segment s has entries [starts_s, starts_{s+1}) and tiles from first_tile_s on. Null: one segment.
struct Tiles {
    const I* __restrict__ starts;
    const I* __restrict__ first_tile;
    int segments;
    long long nnz, tiles;

    // Entries [begin, begin + count) are tile t's, of segment s; its digit d is counted at counter + d * stride.
    __device__ __forceinline__ int locate(long long t, int radix, long long& begin, long long& counter,
                                          long long& stride, I& s) const {
        if (starts == nullptr) {
            s = 0;
            begin = t * SORTED;
            counter = t;
            stride = tiles;
            return (int)min((long long)SORTED, nnz - begin);
        }
        s = row_of(first_tile, 0, segments - 1, (I)t);
        const I first = first_tile[s];
        begin = starts[s] + (t - first) * (long long)SORTED;
        counter = (long long)first * radix + (t - first);
        stride = first_tile[s + 1] - first;
        return (int)min((long long)SORTED, (long long)starts[s + 1] - begin);
    }
};

// How many tiles each segment has.
extern "C" __global__ void count_tiles(const I* __restrict__ starts, long long segments, I* __restrict__ tiles) {
    for (long long s = thread_number(); s < segments; s += thread_count())
        tiles[s] = (starts[s + 1] - starts[s] + SORTED - 1) / SORTED;
}

extern "C" __global__ void __launch_bounds__(SORTERS)
count_digits(const J* __restrict__ keys, const I* __restrict__ starts, const I* __restrict__ first_tile, int segments,
             long long nnz, int shift, int radix, I* __restrict__ counts) {
    extern __shared__ __align__(16) char dynamic[];
    int* const found = reinterpret_cast<int*>(dynamic);
    long long begin, counter, stride;
    I s;
    const int count = Tiles{starts, first_tile, segments, nnz, gridDim.x}.locate(blockIdx.x, radix, begin, counter, stride, s);
    for (int d = threadIdx.x; d < radix; d += SORTERS) found[d] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += SORTERS) atomicAdd(found + (int)(keys[begin + i] >> shift & (radix - 1)), 1);
    __syncthreads();
    for (int d = threadIdx.x; d < radix; d += SORTERS) counts[counter + d * stride] = found[d];
}

// A thread's k-th place, of 16 bits.
__device__ __forceinline__ int place_of(const unsigned int* places, int k) {
    return (int)(places[k / 2] >> (k % 2 * 16) & 0xffff);
}

// Put the threads' words in the order of their places, and write them where `to` says. word(k): the thread's k-th.
template <class W, class Word, class Out>
__device__ __forceinline__ void write_placed(W* staged, const Word& word, const unsigned int* places, const I* to,
                                             int count, Out* out) {
    __syncthreads();
#pragma unroll
    for (int k = 0; k < KEYS; ++k) staged[place_of(places, k)] = word(k);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < KEYS; ++k) {
        const int i = threadIdx.x + k * SORTERS;
        if (i < count) out[to[k]] = (Out)staged[i];
    }
}

// The sum of what the threads of a lower number hold, of a block of SORTERS.
__device__ __forceinline__ int below(int own) {
    __shared__ int of_warp[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int upto = own;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int found = __shfl_up_sync(0xffffffffu, upto, distance);
        if (lane >= distance) upto += found;
    }
    __syncthreads();
    if (lane == 31) of_warp[warp] = upto;
    __syncthreads();
    int before = upto - own;
    for (int w = 0; w < warp; ++w) before += of_warp[w];
    return before;
}

// Where a warp's keys stand among those of the same digit in the warp, and how many of each digit there are.
__device__ __forceinline__ void rank_keys(const I* key, int shift, int radix, unsigned short* own, unsigned int* ranks) {
    const int lane = threadIdx.x % 32;
    unsigned int peers[KEYS];  // lanes of the same digit, bit by bit
#pragma unroll
    for (int k = 0; k < KEYS; ++k) peers[k] = 0xffffffffu;
    for (int bit = 1; bit < radix; bit *= 2) {
#pragma unroll
        for (int k = 0; k < KEYS; ++k) {
            const bool own_bit = key[k] >> shift & bit;
            const unsigned int set = __ballot_sync(0xffffffffu, own_bit);
            peers[k] &= own_bit ? set : ~set;
        }
    }
#pragma unroll
    for (int k = 0; k < KEYS; ++k) {
        const int digit = (int)(key[k] >> shift & (radix - 1));
        const int seen = own[digit];
        __syncwarp();
        if (lane == __ffs(peers[k]) - 1) own[digit] = (unsigned short)(seen + __popc(peers[k]));
        __syncwarp();
        const unsigned int rank = seen + __popc(peers[k] & ((1u << lane) - 1));
        ranks[k / 2] = k % 2 == 0 ? rank : ranks[k / 2] | rank << 16;
    }
}

// Ask for a tile's words, which are needed later, to be brought into the cache: a thread for each line of it.
template <class W> __device__ __forceinline__ void fetch_ahead(const W* words, long long begin, int count) {
    constexpr int LINE = 128 / sizeof(W);
    if (words == nullptr) return;
    for (int i = threadIdx.x * LINE; i < count; i += SORTERS * LINE)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(words + begin + i));
}

// rows: null in the first pass, where an entry's row is found in indptr. values: null where they need no place.
// short_cols, short_rows: null, or where the last pass writes 16 bits: a column within its block, a row in its segment.
// Shared memory: where each digit's entries go; then, one after the other, counters, words in their new order, notes.
extern "C" __global__ void __launch_bounds__(SORTERS, 2)
place_digits(const J* __restrict__ keys, const J* __restrict__ rows, const V* __restrict__ values,
             const I* __restrict__ indptr, const I* __restrict__ first_row, const I* __restrict__ starts,
             const I* __restrict__ first_tile, int segments, long long nnz, int shift, int radix,
             const I* __restrict__ before, I col_mask, I segment, J* __restrict__ new_keys, J* __restrict__ new_rows,
             V* __restrict__ new_values, unsigned short* __restrict__ short_cols,
             unsigned short* __restrict__ short_rows) {
    extern __shared__ __align__(16) char dynamic[];
    I* const offsets = reinterpret_cast<I*>(dynamic);
    char* const rest = dynamic + radix * sizeof(I);
    unsigned int* const counters = reinterpret_cast<unsigned int*>(rest);  // [warp][pair of digits]
    I* const staged = reinterpret_cast<I*>(rest);
    long long begin, counter, stride;
    I s;
    const int count = Tiles{starts, first_tile, segments, nnz, gridDim.x}.locate(blockIdx.x, radix, begin, counter, stride, s);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, pairs = radix / 2;
    const long long last = begin + count - 1, own_begin = min(begin + warp * OF_WARP, last);
    unsigned short* const own = reinterpret_cast<unsigned short*>(counters + warp * pairs);

    // Pairs of digits that this thread adds up, side by side, and where their entries go.
    const int each = (pairs + SORTERS - 1) / SORTERS, first = threadIdx.x * each;
    I key[KEYS], target[2 * PAIRS];
#pragma unroll
    for (int d = 0; d < 2 * PAIRS; ++d)
        if (d < 2 * each && first + d / 2 < pairs) target[d] = before[counter + (2 * first + d) * stride];
    fetch_ahead(rows, begin, count);
    fetch_ahead(values, begin, count);
    for (int c = threadIdx.x; c < WARPS * pairs; c += SORTERS) counters[c] = 0;
#pragma unroll
    for (int k = 0; k < KEYS; ++k) {
        const int i = warp * OF_WARP + k * 32 + lane;
        key[k] = i < count ? keys[begin + i] : (I)-1;  // the last digit's last ones
    }
    __syncthreads();
    unsigned int places[KEYS / 2];
    rank_keys(key, shift, radix, own, places);
    __syncthreads();

    // Counters become places: after all lower digits, then after lower warps.
    unsigned int sums[PAIRS] = {};  // of both digits, which are at most SORTED
#pragma unroll
    for (int p = 0; p < PAIRS; ++p)
        if (p < each && first + p < pairs)
            for (int w = 0; w < WARPS; ++w) sums[p] += counters[w * pairs + first + p];
    int all = 0;
#pragma unroll
    for (int p = 0; p < PAIRS; ++p) all += (int)((sums[p] & 0xffff) + (sums[p] >> 16));
    unsigned int running = (unsigned int)below(all);
#pragma unroll
    for (int p = 0; p < PAIRS; ++p) {
        if (p >= each || first + p >= pairs) break;
        const int digit = 2 * (first + p);
        const unsigned int next = running + (sums[p] & 0xffff);
        offsets[digit] = target[2 * p] - (I)running;
        offsets[digit + 1] = target[2 * p + 1] - (I)next;
        unsigned int base = running | next << 16;
        for (int w = 0; w < WARPS; ++w) {
            const unsigned int here = counters[w * pairs + first + p];
            counters[w * pairs + first + p] = base;
            base += here;
        }
        running = next + (sums[p] >> 16);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < KEYS; ++k) places[k / 2] += (unsigned int)own[(int)(key[k] >> shift & (radix - 1))] << (k % 2 * 16);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < KEYS; ++k) staged[place_of(places, k)] = key[k];
    __syncthreads();
    I to[KEYS];
#pragma unroll
    for (int k = 0; k < KEYS; ++k) {
        const int i = threadIdx.x + k * SORTERS;
        const I here = staged[i];
        to[k] = offsets[(int)(here >> shift & (radix - 1))] + (I)i;
        if (i >= count) continue;
        if (short_cols != nullptr) short_cols[to[k]] = (unsigned short)(here & col_mask);
        else new_keys[to[k]] = here;
    }
    if (rows == nullptr) {
        __syncthreads();
        rows_of_warp<KEYS>(indptr, first_row, own_begin, min(own_begin + OF_WARP - 1, last), staged + warp * (OF_WARP + 32), key);
    }
    const auto row = [&](int k) {
        return (rows == nullptr ? key[k] : rows[min(own_begin + k * 32 + lane, last)]) - s * segment;  // 0: written whole
    };
    if (short_rows != nullptr) write_placed(staged, row, places, to, count, short_rows);
    else write_placed(staged, row, places, to, count, new_rows);
    if (values != nullptr) {
        const auto value = [&](int k) { return values[min(own_begin + k * 32 + lane, last)]; };
        write_placed(reinterpret_cast<V*>(rest), value, places, to, count, new_values);
    }
}

// Where columns begin among sorted ones. before: of the last pass, whose digits are columns without their last `shift`
// bits; a column is looked for among the entries of its digit.
extern "C" __global__ void cut_sorted(const J* __restrict__ keys, long long ncols, int shift, const I* __restrict__ before,
                                      long long tiles, I* __restrict__ starts) {
    for (long long j = thread_number(); j <= ncols; j += thread_count()) {
        const long long digit = j >> shift;
        starts[j] = j == ncols ? before[(((ncols - 1) >> shift) + 1) * tiles]
                               : first_from(keys, before[digit * tiles], before[(digit + 1) * tiles], (I)j);
    }
}

// Where blocks of columns begin: at the first place of their first digit, which the scan of the last pass knows.
extern "C" __global__ void cut_blocks(const I* __restrict__ starts, const I* __restrict__ first_tile, long long segments,
                                      long long blocks, long long digits, int radix, const I* __restrict__ before,
                                      I* __restrict__ block_starts) {
    for (long long b = thread_number(); b <= segments * blocks; b += thread_count()) {
        const long long s = min(b / blocks, segments - 1), c = b - s * blocks;
        const I first = first_tile[s], tiles = first_tile[s + 1] - first;
        block_starts[b] = c == blocks || tiles == 0 ? starts[c == blocks ? s + 1 : s]
                                                    : before[(long long)first * radix + c * digits * tiles];
    }
}
