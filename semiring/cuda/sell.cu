// Products over SELL's chunks of sorted rows, which lie slot by slot: with 32 rows in a chunk every load of indices and
// values by a warp is coalesced, and rows of like length keep its lanes busy to the end. Traffic per place, padding
// included: an index; per entry, a value and an x; per row, its number and a y.
//
// A strip is 32 positions, a chunk of 32 rows: a warp takes one, a lane for each position. (Chunks of other heights are
// cut likewise, and coalesced as far as they go.) A strip of more slots than `piece`, as a hub makes it, is cut into parts
// of so many, each a warp's; what they fold is joined in their order, so that a floating sum comes out the same every
// time. Parts come first, for they take the longest.

constexpr int SLOTS = 4;  // of a row that are under way at once

struct Chunks {
    const I* __restrict__ starts;
    const I* __restrict__ rows;
    I chunk, nrows;
};

// How strips are cut: strip s has the parts first_part[s] … first_part[s + 1] - 1, or none where it is whole.
struct Cuts {
    const I* __restrict__ first_part;
    const I* __restrict__ strip_of;  // of each part
    I nparts, nstrips, piece;

    __device__ __forceinline__ long long count() const { return (long long)nparts + nstrips; }
};

// What a lane folds: the places first, first + chunk, … of `extent` places, for the row at `position`, if there is one.
struct Share {
    I position, first, extent;
    bool is_part, is_row;
};

// The lane's share of a unit of work, a part or a strip; nothing of a strip that is cut.
__device__ __forceinline__ Share share_of(long long unit, const Chunks& m, const Cuts& cuts) {
    const bool is_part = unit < cuts.nparts;
    const I strip = is_part ? cuts.strip_of[unit] : (I)(unit - cuts.nparts);
    const I first_part = cuts.first_part[strip];
    const I position = strip * 32 + (I)(threadIdx.x % 32);
    if (position >= m.nrows || (!is_part && cuts.first_part[strip + 1] > first_part)) return {0, 0, 0, is_part, false};
    const I c = position / m.chunk;
    const long long before = is_part ? (unit - first_part) * cuts.piece * (long long)m.chunk : 0;
    const long long first = m.starts[c] + (position - c * m.chunk) + before, left = m.starts[c + 1] - first;
    if (left <= 0) return {position, 0, 0, is_part, true};
    return {position, (I)first, (I)min(left, cuts.piece * (long long)m.chunk), is_part, true};
}

// y_i = ⊕_k a_ik ⊗ x_k: a lane folds a row, or a part of it. Padding is -1 and comes last.
extern "C" __global__ void gather_sell(const I* __restrict__ indices, const T* __restrict__ values, I step,
                                       const I* __restrict__ starts, const I* __restrict__ rows, I chunk, I nrows,
                                       const I* __restrict__ first_part, const I* __restrict__ strip_of, I nparts,
                                       I nstrips, I piece, const T* __restrict__ x, T* __restrict__ y,
                                       Sum* __restrict__ parts) {
    const Chunks m = {starts, rows, chunk, nrows};
    const Cuts cuts = {first_part, strip_of, nparts, nstrips, piece};
    for (long long unit = thread_number() / 32; unit < cuts.count(); unit += thread_count() / 32) {
        const Share mine = share_of(unit, m, cuts);
        Sum total = EMPTY;
        for (I s = 0; s < mine.extent; s += SLOTS * chunk) {
            I at[SLOTS];
            T a[SLOTS], b[SLOTS];
#pragma unroll
            for (int k = 0; k < SLOTS; ++k)
                at[k] = s + k * chunk < mine.extent ? stream(indices + mine.first + s + k * chunk) : (I)-1;
#pragma unroll
            for (int k = 0; k < SLOTS; ++k)
                if (at[k] >= 0) a[k] = stream(values + (mine.first + s + k * chunk) * step), b[k] = fetch(x + at[k]);
#pragma unroll
            for (int k = 0; k < SLOTS; ++k)
                if (at[k] >= 0) total = combine(total, lift(term(a[k], b[k])));
            if (at[SLOTS - 1] < 0) break;
        }
        if (mine.is_part) parts[unit * 32 + threadIdx.x % 32] = total;
        else if (mine.is_row) y[rows[mine.position]] = finish(total);
    }
}

// Complete the rows of the strips that are cut, `strips`: a block for each, whose warps take consecutive parts.
extern "C" __global__ void __launch_bounds__(THREADS)
join_parts(const I* __restrict__ strips, I count, const I* __restrict__ first_part, const I* __restrict__ rows, I nrows,
           const Sum* __restrict__ parts, T* __restrict__ y) {
    constexpr int WARPS = THREADS / 32;
    __shared__ Sum of_warp[WARPS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (I n = blockIdx.x; n < count; n += gridDim.x) {
        const I strip = strips[n], first = first_part[strip], last = first_part[strip + 1];
        const I each = (last - first + WARPS - 1) / WARPS;
        const I begin = min(first + warp * each, last), end = min(begin + each, last);
        Sum total = EMPTY;
#pragma unroll 4
        for (I part = begin; part < end; ++part) total = combine(total, parts[(size_t)part * 32 + lane]);
        of_warp[warp][lane] = total;
        __syncthreads();
        const I position = strip * 32 + lane;
        if (warp == 0 && position < nrows) {
            for (int w = 1; w < WARPS; ++w) total = combine(total, of_warp[w][lane]);
            y[rows[position]] = finish(total);
        }
        __syncthreads();
    }
}

// y_k ⊕= a_ik ⊗ x_i: a lane scatters a row, or a part of it. y is the zero at first. For an idempotent ⊕, whose order
// does not show.
extern "C" __global__ void scatter_sell(const I* __restrict__ indices, const T* __restrict__ values, I step,
                                        const I* __restrict__ starts, const I* __restrict__ rows, I chunk, I nrows,
                                        const I* __restrict__ first_part, const I* __restrict__ strip_of, I nparts,
                                        I nstrips, I piece, const T* __restrict__ x, T* __restrict__ y) {
    const Chunks m = {starts, rows, chunk, nrows};
    const Cuts cuts = {first_part, strip_of, nparts, nstrips, piece};
    for (long long unit = thread_number() / 32; unit < cuts.count(); unit += thread_count() / 32) {
        const Share mine = share_of(unit, m, cuts);
        if (mine.extent == 0) continue;
        const T weight = fetch(x + rows[mine.position]);
        if (weight == ZERO) continue;
        for (I s = 0; s < mine.extent; s += chunk) {
            const I k = stream(indices + mine.first + s);
            if (k < 0) break;
            const T t = product(stream(values + (mine.first + s) * step), weight);
            if (t != ZERO) atomic_add(y + k, t);
        }
    }
}

// Where the rows of a sparse x begin, and their lengths, which are found by bisection: padding comes last.
extern "C" __global__ void spans_sell(const I* __restrict__ pushed, I count, const I* __restrict__ indices,
                                      const I* __restrict__ starts, const I* __restrict__ positions, I chunk,
                                      I* __restrict__ firsts, I* __restrict__ lengths) {
    for (long long f = thread_number(); f < count; f += thread_count()) {
        const I position = positions[pushed[f]], c = position / chunk, first = starts[c] + (position - c * chunk);
        I low = 0, high = (starts[c + 1] - starts[c]) / chunk;
        while (low < high) {
            const I middle = low + (high - low) / 2;
            if (indices[first + middle * chunk] >= 0) low = middle + 1;
            else high = middle;
        }
        firsts[f] = first;
        lengths[f] = low;
    }
}

// The entries of those rows, of which neighbours lie a chunk's height apart.
extern "C" __global__ void push_sell(const I* __restrict__ firsts, const I* __restrict__ ends,
                                     const T* __restrict__ weights, I count, I chunk,
                                     const J* __restrict__ indices, const T* __restrict__ values, I step,
                                     T* __restrict__ y, I* __restrict__ reached,
                                     unsigned long long* __restrict__ nreached) {
    push_along(firsts, ends, weights, count, Indices{indices}, values, step, chunk, y, reached, nreached);
}
