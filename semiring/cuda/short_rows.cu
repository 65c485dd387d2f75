// Rows of a product of two sparse matrices that have few terms: they are put in the order of their columns and folded.
//
//     light rows     at most 8, 16 or 32 terms: so many lanes each, a term in each lane, ordered by counting smaller ones
//     middle rows    at most MIDDLE terms: a block each, in shared memory, by a bitonic sort [1]
//
// before[e] is the number of terms of the entries of A before e. Terms of one column are folded in the order of k. A first
// pass counts the columns of each row; the second computes, and tells whether a sum has become the zero.
//
// [1] K. E. Batcher, Sorting networks and their applications, AFIPS 1968.

constexpr int PLACE_BITS = 10;
constexpr int MIDDLE = 1 << PLACE_BITS;

struct Factors {
    I a, b;  // entries of A and of B
};

// Term `number` of all, which is of row a.
__device__ __forceinline__ Factors factors(const long long* before, I begin, I end, const I* a_inner, const I* b_ends,
                                           long long number) {
    while (begin + 1 < end) {
        const I middle = begin + (end - begin) / 2;
        if (before[middle] <= number) begin = middle;
        else end = middle;
    }
    return {begin, (I)(b_ends[a_inner[begin]] + (number - before[begin]))};
}

// visit(row, the factors of the lane's term, its column, lanes with a term, lanes with that column) for each row.
template <class Visit>
__device__ __forceinline__ void each_light(const I* rows, I nrows, int lanes, const I* a_ends, const I* a_inner,
                                           const long long* before, const I* b_ends, const I* b_inner, Visit visit) {
    const int lane = threadIdx.x % lanes, first_lane = threadIdx.x % 32 - lane;
    for (long long n = thread_number() / lanes; n < nrows; n += thread_count() / lanes) {
        const I row = rows[n], begin = a_ends[row], end = a_ends[row + 1];
        const long long first = before[begin];
        const int count = (int)(before[end] - first);
        if (lane >= count) continue;
        const unsigned int active = ALL >> (32 - count) << first_lane;
        const Factors own = factors(before, begin, end, a_inner, b_ends, first + lane);
        const I column = b_inner[own.b];
        visit(row, own, column, active, __match_any_sync(active, column));
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
count_light(const I* __restrict__ rows, I nrows, int lanes, const I* __restrict__ a_ends,
            const I* __restrict__ a_inner, const long long* __restrict__ before, const I* __restrict__ b_ends,
            const I* __restrict__ b_inner, N* __restrict__ counts) {
    const unsigned int below = (1u << threadIdx.x % 32) - 1;
    each_light(rows, nrows, lanes, a_ends, a_inner, before, b_ends, b_inner,
               [&](I row, Factors, I, unsigned int active, unsigned int same) {
                   const int count = __popc(__ballot_sync(active, (same & below) == 0));
                   if ((active & below) == 0) counts[row] = count;
               });
}

extern "C" __global__ void __launch_bounds__(THREADS)
multiply_light(const I* __restrict__ rows, I nrows, int lanes, const I* __restrict__ a_ends,
               const I* __restrict__ a_inner, const long long* __restrict__ before, const T* __restrict__ a_values,
               I a_step, const I* __restrict__ b_ends, const I* __restrict__ b_inner, const T* __restrict__ b_values,
               I b_step, const N* __restrict__ starts, N* __restrict__ indices, T* __restrict__ values,
               int* __restrict__ zeros) {
    const unsigned int below = (1u << threadIdx.x % 32) - 1;
    each_light(rows, nrows, lanes, a_ends, a_inner, before, b_ends, b_inner,
               [&](I row, Factors own, I column, unsigned int active, unsigned int same) {
#if COUNTS
                   const Held held = (Held)__popc(same);
#else
                   const Term product = term(a_values[own.a * a_step], b_values[own.b * b_step]);
                   const Held held = folded_like(active, same, lift(product));
#endif
                   const bool leads = (same & below) == 0;
                   int place = 0;
                   for (unsigned int left = __ballot_sync(active, leads); left != 0; left &= left - 1)
                       place += __shfl_sync(active, column, __ffs(left) - 1) < column;
                   if (!leads) return;
                   const T value = result(held);
                   indices[starts[row] + place] = (N)column;
                   values[starts[row] + place] = value;
                   if (value == ZERO && !COUNTS) *zeros = 1;
               });
}

// keys: a row's columns, each with the place of its term among the row's, ascending. Returns their number.
template <class Put>
__device__ __forceinline__ int order_row(unsigned long long* keys, I begin, I end, const I* a_inner,
                                         const long long* before, const I* b_ends, const I* b_inner, Put put) {
    const long long first = before[begin];
    const int count = (int)(before[end] - first);
    int size = 2;
    while (size < count) size *= 2;
    for (int at = threadIdx.x; at < size; at += THREADS) {
        unsigned long long key = ~0ull;
        if (at < count) {
            const Factors own = factors(before, begin, end, a_inner, b_ends, first + at);
            key = (unsigned long long)b_inner[own.b] << PLACE_BITS | at;
            put(at, own);
        }
        keys[at] = key;
    }
    __syncthreads();
    for (int run = 2; run <= size; run *= 2) {
        for (int apart = run / 2; apart > 0; apart /= 2) {
            for (int pair = threadIdx.x; pair < size / 2; pair += THREADS) {
                const int low = 2 * pair - (pair & (apart - 1)), high = low + apart;
                const unsigned long long a = keys[low], b = keys[high];
                if ((a > b) == ((low & run) == 0)) keys[low] = b, keys[high] = a;
            }
            __syncthreads();
        }
    }
    return count;
}

__device__ __forceinline__ bool begins(const unsigned long long* keys, int at) {
    return at == 0 || keys[at] >> PLACE_BITS != keys[at - 1] >> PLACE_BITS;
}

extern "C" __global__ void __launch_bounds__(THREADS)
count_middle(const I* __restrict__ rows, I nrows, const I* __restrict__ a_ends, const I* __restrict__ a_inner,
             const long long* __restrict__ before, const I* __restrict__ b_ends, const I* __restrict__ b_inner,
             N* __restrict__ counts) {
    __shared__ unsigned long long keys[MIDDLE];
    for (long long n = blockIdx.x; n < nrows; n += gridDim.x) {
        const I row = rows[n];
        const int count = order_row(keys, a_ends[row], a_ends[row + 1], a_inner, before, b_ends, b_inner,
                                    [](int, Factors) {});
        int columns = 0;
        for (int at = 0; at < count; at += THREADS) {
            const int own = at + threadIdx.x;
            columns += __syncthreads_count(own < count && begins(keys, own));
        }
        if (threadIdx.x == 0) counts[row] = columns;
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
multiply_middle(const I* __restrict__ rows, I nrows, const I* __restrict__ a_ends, const I* __restrict__ a_inner,
                const long long* __restrict__ before, const T* __restrict__ a_values, I a_step,
                const I* __restrict__ b_ends, const I* __restrict__ b_inner, const T* __restrict__ b_values, I b_step,
                const N* __restrict__ starts, N* __restrict__ indices, T* __restrict__ values, int* __restrict__ zeros) {
    __shared__ unsigned long long keys[MIDDLE];
    __shared__ Term terms[COUNTS ? 1 : MIDDLE];
    __shared__ int of_warps[WARPS];
    const unsigned int below = (1u << threadIdx.x % 32) - 1;
    for (long long n = blockIdx.x; n < nrows; n += gridDim.x) {
        const I row = rows[n];
        const int count = order_row(keys, a_ends[row], a_ends[row + 1], a_inner, before, b_ends, b_inner,
                                    [&](int at, Factors own) {
            if (!COUNTS) terms[COUNTS ? 0 : at] = term(a_values[own.a * a_step], b_values[own.b * b_step]);
        });
        long long start = starts[row];
        for (int first = 0; first < count; first += THREADS) {
            const int own = first + threadIdx.x;
            const bool leads = own < count && begins(keys, own);
            const unsigned int leading = __ballot_sync(ALL, leads);
            if (below == 0) of_warps[threadIdx.x / 32] = __popc(leading);
            __syncthreads();
            long long to = start + __popc(leading & below);
            for (int w = 0; w < WARPS; ++w) {
                if (w < (int)threadIdx.x / 32) to += of_warps[w];
                start += of_warps[w];
            }
            if (leads) {
                int end = own + 1;
                while (end < count && !begins(keys, end)) ++end;
#if COUNTS
                const T value = result((Held)(end - own));
#else
                Held held = lift(terms[keys[own] & (MIDDLE - 1)]);
                for (int at = own + 1; at < end; ++at) held = combine(held, lift(terms[keys[at] & (MIDDLE - 1)]));
                const T value = result(held);
#endif
                indices[to] = (N)(keys[own] >> PLACE_BITS);
                values[to] = value;
                if (value == ZERO && !COUNTS) *zeros = 1;
            }
            __syncthreads();
        }
    }
}
