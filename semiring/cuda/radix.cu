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
constexpr int KEYS = 8;                  // entries that a thread holds at a time
constexpr int ROUND = SORTERS * KEYS;    // of a block
constexpr int SORTED = 2 * ROUND;        // of a tile: more would leave too few tiles, fewer make more counts
constexpr int WARPS = SORTERS / 32;

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
count_digits(const I* __restrict__ keys, const I* __restrict__ starts, const I* __restrict__ first_tile, int segments,
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

// Put the threads' words in the order of their places, and write them where `to` says.
template <class W, class Out>
__device__ __forceinline__ void write_placed(W* staged, const W* words, const int* places, const I* to, int count,
                                             Out* out) {
    __syncthreads();
#pragma unroll
    for (int k = 0; k < KEYS; ++k) staged[places[k]] = words[k];
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

// rows: null in the first pass, where an entry's row is found in indptr. values: null where they need no place.
// short_cols, short_rows: null, or where the last pass writes 16 bits: a column within its block, a row in its segment.
extern "C" __global__ void __launch_bounds__(SORTERS, 2)
place_digits(const I* __restrict__ keys, const I* __restrict__ rows, const V* __restrict__ values,
             const I* __restrict__ indptr, const I* __restrict__ first_row, const I* __restrict__ starts,
             const I* __restrict__ first_tile, int segments, long long nnz, int shift, int radix,
             const I* __restrict__ before, I col_mask, I segment, I* __restrict__ new_keys, I* __restrict__ new_rows,
             V* __restrict__ new_values, unsigned short* __restrict__ short_cols,
             unsigned short* __restrict__ short_rows) {
    extern __shared__ __align__(16) char dynamic[];
    V* const staged_values = reinterpret_cast<V*>(dynamic);
    I* const staged = reinterpret_cast<I*>(dynamic);
    I* const offsets = reinterpret_cast<I*>(dynamic + ROUND * (sizeof(V) > sizeof(I) ? sizeof(V) : sizeof(I)));
    unsigned short* const counters = reinterpret_cast<unsigned short*>(offsets + radix);  // [warp][digit]
    long long begin, counter, stride;
    I s;
    int left = Tiles{starts, first_tile, segments, nnz, gridDim.x}.locate(blockIdx.x, radix, begin, counter, stride, s);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned short* const own = counters + warp * radix;
    // A thread takes digits side by side.
    const int each = (radix + SORTERS - 1) / SORTERS, first = min((int)threadIdx.x * each, radix);
    const int last = min(first + each, radix);
    for (int d = first; d < last; ++d) offsets[d] = before[counter + d * stride];

    for (; left > 0; left -= ROUND, begin += ROUND) {
        const int count = min(left, ROUND);
        I key[KEYS], to[KEYS];
        int place[KEYS];
        __syncthreads();
        for (int c = threadIdx.x; c < WARPS * radix / 2; c += SORTERS) reinterpret_cast<unsigned int*>(counters)[c] = 0;
#pragma unroll
        for (int k = 0; k < KEYS; ++k) {
            const int i = warp * 32 * KEYS + k * 32 + lane;
            key[k] = i < count ? keys[begin + i] : (I)-1;  // the last digit's last ones
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < KEYS; ++k) {
            const int digit = (int)(key[k] >> shift & (radix - 1));
            unsigned int peers = 0xffffffffu;  // lanes of the same digit, bit by bit
            for (int bit = 1; bit < radix; bit *= 2) {
                const unsigned int set = __ballot_sync(0xffffffffu, digit & bit);
                peers &= digit & bit ? set : ~set;
            }
            const int seen = own[digit];
            __syncwarp();
            if (lane == __ffs(peers) - 1) own[digit] = (unsigned short)(seen + __popc(peers));
            __syncwarp();
            place[k] = seen + __popc(peers & ((1u << lane) - 1));
        }
        __syncthreads();

        // Counters become places: after all lower digits, then after lower warps.
        int sum = 0;
        for (int d = first; d < last; ++d)
            for (int w = 0; w < WARPS; ++w) sum += counters[w * radix + d];
        int running = below(sum);
        for (int d = first; d < last; ++d) {
            offsets[d] -= running;
            for (int w = 0; w < WARPS; ++w) {
                const int here = counters[w * radix + d];
                counters[w * radix + d] = (unsigned short)running;
                running += here;
            }
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < KEYS; ++k) {
            place[k] += own[(int)(key[k] >> shift & (radix - 1))];
            staged[place[k]] = key[k];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < KEYS; ++k) {
            const int i = threadIdx.x + k * SORTERS;
            if (i >= count) continue;
            const I here = staged[i];
            to[k] = offsets[(int)(here >> shift & (radix - 1))] + (I)i;
            if (short_cols != nullptr) short_cols[to[k]] = (unsigned short)(here & col_mask);
            else new_keys[to[k]] = here;
        }
        const long long own_begin = begin + min(warp * 32 * KEYS, count - 1), own_end = begin + count - 1;
        I low = 0, high = 0;
        if (rows == nullptr) {
            low = first_row[own_begin / TILE];
            high = first_row[min(own_begin + 32 * KEYS - 1, own_end) / TILE + 1];
        }
#pragma unroll
        for (int k = 0; k < KEYS; ++k) {
            const long long e = min(own_begin + k * 32 + lane, own_end);
            if (rows != nullptr) key[k] = rows[e];
            else {
                key[k] = row_along(indptr, low, high, (I)e);
                low = __shfl_sync(0xffffffffu, key[k], 31);
            }
            key[k] -= s * segment;  // 0 where rows are written whole
        }
        if (short_rows != nullptr) write_placed(staged, key, place, to, count, short_rows);
        else write_placed(staged, key, place, to, count, new_rows);
        if (values != nullptr) {
            V value[KEYS];
#pragma unroll
            for (int k = 0; k < KEYS; ++k) value[k] = values[min(own_begin + k * 32 + lane, own_end)];
            write_placed(staged_values, value, place, to, count, new_values);
        }
        // What the next round finds before it: digit d's entries up to the places that digit d + 1 begins at.
        __syncthreads();
        for (int d = first; d < last; ++d) offsets[d] += d + 1 < radix ? counters[d + 1] : ROUND;
    }
}

// Where columns begin among sorted ones. A block bisects for the first and the last of THREADS columns among all, and
// for those between among what is between.
extern "C" __global__ void __launch_bounds__(THREADS)
cut_sorted(const I* __restrict__ keys, I nnz, long long ncols, I* __restrict__ starts) {
    __shared__ I bounds[2];
    for (long long base = (long long)blockIdx.x * THREADS; base <= ncols; base += thread_count()) {
        __syncthreads();
        if (threadIdx.x % 32 == 0 && threadIdx.x < 64) {
            const long long end = threadIdx.x == 0 ? base : min(base + THREADS - 1, ncols);
            bounds[threadIdx.x / 32] = first_from(keys, 0, nnz, (I)end);
        }
        __syncthreads();
        const long long j = base + threadIdx.x;
        if (j <= ncols) starts[j] = first_from(keys, bounds[0], bounds[1], (I)j);
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
