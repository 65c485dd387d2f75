// A product of two sparse matrices at the places of a mask:   c_ij = ⊕_k a_ik ⊗ b_kj   for the mask's (i, j) alone
//
// A is by rows and B by columns, and c_ij is a dot product of two ascending lists: each element of the shorter one is
// looked for in the longer. A warp takes 32 places, and its lanes take the elements of their shorter lists one after the
// other, whatever place they belong to, so that long lists and short ones cost what they must. Terms are folded in the
// order of k, so that an answer's bits do not depend on how work was cut.
//
// With COUNTS each term is 1, and terms are counted by their bits.
//
// Traffic: of each place a column and two offsets each, the shorter list once, and a path down the longer list for each
// element. Work: Σ over the places of min(|a_i|, |b_j|) log max(|a_i|, |b_j|).
//
// Source: O. Green, P. Yalamanchili, L.-M. Munguía, Fast triangle counting on the GPU, IA3 2014.

// A list of numbers and the values beside them.
struct List {
    I begin, end;
    __device__ __forceinline__ I size() const { return end - begin; }
};

__device__ __forceinline__ List row_at(const I* ends, I i) { return {ends[i], ends[i + 1]}; }

__device__ __forceinline__ void add_up(unsigned long long own, unsigned long long* total) {
    for (int distance = 16; distance > 0; distance /= 2) own += __shfl_down_sync(ALL, own, distance);
    if (threadIdx.x % 32 == 0 && own) atomicAdd(total, own);
}

// What the products at the places cost, Σ (1 + min(|a_i|, |b_j|)), and how many products the whole has.
extern "C" __global__ void __launch_bounds__(THREADS)
masked_work(const I* __restrict__ mask_ends, const I* __restrict__ first_row, long long nnz, const I* __restrict__ mask,
            const I* __restrict__ a_ends, const I* __restrict__ a_inner, long long a_nnz, const I* __restrict__ b_ends,
            const I* __restrict__ b_row_ends, unsigned long long* __restrict__ work) {
    unsigned long long elements = 0, products = 0;
    for (long long e = thread_number(); e < nnz; e += thread_count()) {
        const I i = row_of(mask_ends, first_row[e / TILE], first_row[e / TILE + 1], (I)e);
        elements += 1 + (unsigned long long)min(row_at(a_ends, i).size(), row_at(b_ends, mask[e]).size());
    }
    for (long long e = thread_number(); e < a_nnz; e += thread_count())
        products += (unsigned long long)row_at(b_row_ends, a_inner[e]).size();
    add_up(elements, work);
    add_up(products, work + 1);
}

// c: (nnz,) of the mask's places, and a bit for each where it is present.
extern "C" __global__ void __launch_bounds__(THREADS)
multiply_at(const I* __restrict__ mask_ends, const I* __restrict__ first_row, long long nnz, const I* __restrict__ mask,
            const I* __restrict__ a_ends, const I* __restrict__ a_inner, const T* __restrict__ a_values, I a_step,
            const I* __restrict__ b_ends, const I* __restrict__ b_inner, const T* __restrict__ b_values, I b_step,
            T* __restrict__ c, unsigned int* __restrict__ bits) {
    const int lane = threadIdx.x % 32;
    for (long long base = thread_number() / 32 * 32; base < nnz; base += thread_count()) {
        const long long e = base + lane;
        List a = {0, 0}, b = {0, 0};
        if (e < nnz) {
            a = row_at(a_ends, row_of(mask_ends, first_row[e / TILE], first_row[e / TILE + 1], (I)e));
            b = row_at(b_ends, mask[e]);
        }
        const bool b_is_short = b.size() < a.size();
        I upto = min(a.size(), b.size());  // elements of this place's shorter list, and of all before it
        for (int distance = 1; distance < 32; distance *= 2) {
            const I below = __shfl_up_sync(ALL, upto, distance);
            if (lane >= distance) upto += below;
        }
        const I before = upto - min(a.size(), b.size()), all = __shfl_sync(ALL, upto, 31);
#if COUNTS
        unsigned long long total = 0;
#else
        Sum total = EMPTY;
#endif
        for (I at = 0; at < all; at += 32) {
            // The place of element at + lane: the last one that begins there or before, empty ones aside.
            const I element = min(at + (I)lane, all - 1);
            int owner = 0;
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2) {
                const I begins = __shfl_sync(ALL, before, (owner + distance) & 31);
                if (owner + distance < 32 && begins <= element) owner += distance;
            }
            const bool swapped = __shfl_sync(ALL, (int)b_is_short, owner) != 0;
            const I a_begin = __shfl_sync(ALL, a.begin, owner), a_end = __shfl_sync(ALL, a.end, owner);
            const I b_begin = __shfl_sync(ALL, b.begin, owner), b_end = __shfl_sync(ALL, b.end, owner);
            const I offset = element - __shfl_sync(ALL, before, owner);
            const I own = (swapped ? b_begin : a_begin) + offset;
            const I* const longer = swapped ? a_inner : b_inner;
            const I number = swapped ? b_inner[own] : a_inner[own], limit = swapped ? a_end : b_end;
            const I other = first_from(longer, swapped ? a_begin : b_begin, limit, number);
            const bool hit = at + lane < all && other < limit && longer[other] == number;
            const unsigned int hits = __ballot_sync(ALL, hit);
            if (hits == 0) continue;
            // Lanes first … last of this round are this lane's place's.
            const int first = (int)max(before - at, (I)0), last = (int)min(upto - at, (I)32) - 1;
            const bool mine = upto > before && upto > at && before < at + 32;
#if COUNTS
            if (mine) {
                const unsigned int from = ALL << first, to = ALL >> (31 - last);
                total += __popc(hits & from & to);
            }
#else
            const I at_a = swapped ? other : own, at_b = swapped ? own : other;
            Sum terms = EMPTY;
            if (hit) terms = lift(term(a_values[at_a * a_step], b_values[at_b * b_step]));
#pragma unroll
            for (int distance = 1; distance < 32; distance *= 2) {
                const Sum above = from_above(terms, distance, 32);
                const int its = __shfl_down_sync(ALL, owner, distance);
                if (lane + distance < 32 && its == owner) terms = combine(terms, above);
            }
            const Sum folded = of_lane_in(ALL, terms, mine ? first : 0);
            if (mine) total = combine(total, folded);
#endif
        }
#if COUNTS
        const T value = (T)min(total, (unsigned long long)MOST);
        const bool present = total != 0;
#else
        const T value = finish(total);
        const bool present = value != ZERO;
#endif
        if (e < nnz) c[e] = value;
        const unsigned int word = __ballot_sync(ALL, e < nnz && present);
        if (lane == 0) bits[base / 32] = word;
    }
}
