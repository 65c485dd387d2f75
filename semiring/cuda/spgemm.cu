// Rows of a product of two sparse matrices that have many terms:   c_ij = ⊕_k a_ik ⊗ b_kj   over ranges of RANGE columns
//
// A warp takes a row of A and a range of B's columns, whose sums it keeps in shared memory, with a bit for each that it
// has begun. Of 32 entries of the row at a time, each lane finds where the range begins and ends in its row of B. Then
// lanes take the products of these 32 rows one after the other, whatever row they are of. Products of one column in one
// round are folded in the order of k first, so that no two lanes write one sum, and an answer's bits do not depend on
// how work was cut. Columns are read off the bits in order.
//
// The first pass sets the bits and counts them; the second computes, and tells whether a sum has become the zero.
//
// Source: F. Gustavson, ACM TOMS 4(3), 1978; the ranges are those of M. Patwary et al., Parallel efficient sparse
// matrix-matrix multiplication on multicore platforms, ISC 2015.

constexpr int WORDS = RANGE / 32;

// Where a lane's row of B has columns of the range.
struct Part {
    I begin, count;
};

// The products of a row of A with a range of B's columns: visit(column within the range, lane's entry of A's 32, entry of
// B, of how many lanes it holds) for 32 at a time.
template <class Visit>
__device__ __forceinline__ void each_round(const I* a_inner, I a_begin, I a_end, const I* b_ends, const I* b_inner,
                                           long long base, Visit visit) {
    const int lane = threadIdx.x % 32;
    for (I from = a_begin; from < a_end; from += 32) {
        Part part = {0, 0};
        if (from + lane < a_end) {
            const I k = a_inner[from + lane], begin = b_ends[k], end = b_ends[k + 1];
            if (begin < end && (long long)b_inner[end - 1] >= base && (long long)b_inner[begin] < base + RANGE) {
                part.begin = base == 0 ? begin : first_from(b_inner, begin, end, (I)base);
                const bool all = (long long)b_inner[end - 1] < base + RANGE;
                part.count = (all ? end : first_from(b_inner, part.begin, end, (I)(base + RANGE))) - part.begin;
            }
        }
        I upto = part.count;
        for (int distance = 1; distance < 32; distance *= 2) {
            const I below = __shfl_up_sync(ALL, upto, distance);
            if (lane >= distance) upto += below;
        }
        const I before = upto - part.count, all = __shfl_sync(ALL, upto, 31);
        for (I at = 0; at < all; at += 32) {
            const I element = min(at + (I)lane, all - 1);
            int owner = 0;
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2) {
                const I begins = __shfl_sync(ALL, before, (owner + distance) & 31);
                if (owner + distance < 32 && begins <= element) owner += distance;
            }
            const I e = __shfl_sync(ALL, part.begin, owner) + element - __shfl_sync(ALL, before, owner);
            visit((int)(b_inner[e] - (I)base), from + owner, e, (int)min(all - at, (I)32));
        }
    }
}

// counts[number * ranges + range]: the columns that row rows[number] has in the range.
extern "C" __global__ void __launch_bounds__(THREADS)
count_ranges(const I* __restrict__ rows, I nrows, const I* __restrict__ a_ends, const I* __restrict__ a_inner,
             const I* __restrict__ b_ends, const I* __restrict__ b_inner, int ranges, N* __restrict__ counts) {
    __shared__ unsigned int all_bits[WARPS][WORDS];
    unsigned int* const bits = all_bits[threadIdx.x / 32];
    const int lane = threadIdx.x % 32;
    for (long long task = thread_number() / 32; task < nrows * (long long)ranges; task += thread_count() / 32) {
        const I row = rows[task / ranges];
        const long long base = task % ranges * RANGE;
        for (int w = lane; w < WORDS; w += 32) bits[w] = 0;
        __syncwarp();
        each_round(a_inner, a_ends[row], a_ends[row + 1], b_ends, b_inner, base, [&](int column, I, I, int lanes) {
            if (lane < lanes) atomicOr(bits + column / 32, 1u << column % 32);
        });
        __syncwarp();
        int count = 0;
        for (int w = lane; w < WORDS; w += 32) count += __popc(bits[w]);
        for (int distance = 16; distance > 0; distance /= 2) count += __shfl_down_sync(ALL, count, distance);
        if (lane == 0) counts[task] = count;
        __syncwarp();
    }
}

// places: the sums of counts before each row and range.  starts: where each row of C begins.
extern "C" __global__ void __launch_bounds__(THREADS)
multiply_ranges(const I* __restrict__ rows, I nrows, const I* __restrict__ a_ends, const I* __restrict__ a_inner,
                const T* __restrict__ a_values, I a_step, const I* __restrict__ b_ends, const I* __restrict__ b_inner,
                const T* __restrict__ b_values, I b_step, int ranges, const N* __restrict__ places,
                const N* __restrict__ starts, N* __restrict__ indices, T* __restrict__ values, int* __restrict__ zeros) {
    extern __shared__ __align__(16) unsigned char memory[];
    Held* const sums = reinterpret_cast<Held*>(memory) + threadIdx.x / 32 * RANGE;
    unsigned int* const bits = reinterpret_cast<unsigned int*>(reinterpret_cast<Held*>(memory) + WARPS * RANGE) +
                               threadIdx.x / 32 * WORDS;
    const int lane = threadIdx.x % 32;
    const unsigned int below = (1u << lane) - 1;
    for (long long task = thread_number() / 32; task < nrows * (long long)ranges; task += thread_count() / 32) {
        if (places[task + 1] == places[task]) continue;  // a whole warp
        const long long number = task / ranges;
        const I row = rows[number];
        const long long start = (long long)starts[row] + (places[task] - places[number * ranges]);
        const long long base = task % ranges * RANGE;
        for (int w = lane; w < WORDS; w += 32) bits[w] = 0;
        __syncwarp();
        each_round(a_inner, a_ends[row], a_ends[row + 1], b_ends, b_inner, base, [&](int column, I at_a, I at_b, int lanes) {
            const unsigned int active = __ballot_sync(ALL, lane < lanes);
            if (lane < lanes) {
                const unsigned int same = __match_any_sync(active, column);
                const bool leads = (same & below) == 0;
#if COUNTS
                const Held held = (Held)__popc(same);
#else
                const Term own = term(a_values[at_a * a_step], b_values[at_b * b_step]);
                const Held held = folded_like(active, same, lift(own));
#endif
                if (leads) {
                    const bool begun = bits[column / 32] >> column % 32 & 1;
                    sums[column] = begun ? added_up(sums[column], held) : held;
                }
                __syncwarp(active);
                if (leads) atomicOr(bits + column / 32, 1u << column % 32);
            }
            __syncwarp();
        });
        long long at = start;
        for (int first = 0; first < WORDS; first += 32) {
            const unsigned int own = first + lane < WORDS ? bits[first + lane] : 0;
            for (unsigned int full = __ballot_sync(ALL, own != 0); full != 0; full &= full - 1) {
                const int w = __ffs(full) - 1;
                const unsigned int word = __shfl_sync(ALL, own, w);
                if (word >> lane & 1) {
                    const int column = (first + w) * 32 + lane;
                    const long long to = at + __popc(word & below);
                    const T value = result(sums[column]);
                    indices[to] = (N)(base + column);
                    values[to] = value;
                    if (value == ZERO && !COUNTS) *zeros = 1;
                }
                at += __popc(word);
            }
        }
        __syncwarp();
    }
}
