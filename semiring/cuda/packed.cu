// Products along compressed rows whose columns are packed: the kernels of tiles.cu, push.cu and found.cu, reading them so
//
// A group of 32 entries, aligned as tiles are, has a base and offsets of b bits each, which fill b words. A warp of a tile
// reads one group: its base and its bounds are one broadcast each, its words side by side; lanes that need the same word
// get it by one access. Traffic per entry: b / 8 bytes and 12 / 32 instead of 4 for a column, else as in tiles.cu; two
// dependent loads and some ten instructions on bits more. Entries are decoded by themselves, in any order.

constexpr int GROUP = 32;

struct Packed {
    const unsigned int* __restrict__ words;
    const I* __restrict__ bases;
    const I* __restrict__ starts;

    __device__ __forceinline__ I operator[](I e) const {
        const I group = e / GROUP, first = fetch(starts + group);
        const int width = (int)(fetch(starts + group + 1) - first);
        const int bit = (int)(e % GROUP) * width;
        const unsigned int* const word = words + first + bit / 32;
        const unsigned int low = fetch(word), high = fetch(word + 1);
        if (sizeof(I) == 4)
            return fetch(bases + group) + (I)(__funnelshift_r(low, high, bit) & ((1u << width) - 1));
        const unsigned int above = __funnelshift_r(high, fetch(word + 2), bit);
        const unsigned long long bits = (unsigned long long)above << 32 | __funnelshift_r(low, high, bit);
        return fetch(bases + group) + (I)(bits & ((1ull << width) - 1));
    }
    __device__ __forceinline__ I streamed(I e) const { return (*this)[e]; }
};

extern "C" __global__ void __launch_bounds__(THREADS)
gather_packed(const I* __restrict__ indptr, I nrows, const unsigned int* __restrict__ words,
              const I* __restrict__ bases, const I* __restrict__ starts, const T* __restrict__ values, I step,
              const T* __restrict__ x, const I* __restrict__ first_row, T* __restrict__ y, Sum* __restrict__ parts) {
    fold_rows(Products<Packed>{{words, bases, starts}, values, x, step}, indptr, nrows, first_row, y, parts);
}

extern "C" __global__ void gather_packed_until_found(const I* __restrict__ indptr, I nrows,
                                                     const unsigned int* __restrict__ words,
                                                     const I* __restrict__ bases, const I* __restrict__ starts,
                                                     const T* __restrict__ values, I step, const T* __restrict__ x,
                                                     const bool* __restrict__ allowed, T* __restrict__ y) {
    look_until_found(indptr, nrows, Packed{words, bases, starts}, values, step, x, allowed, y);
}

extern "C" __global__ void push_packed(const I* __restrict__ begins, const I* __restrict__ ends,
                                       const T* __restrict__ weights, I count,
                                       const unsigned int* __restrict__ words, const I* __restrict__ bases,
                                       const I* __restrict__ starts, const T* __restrict__ values, I step,
                                       T* __restrict__ y, I* __restrict__ reached,
                                       unsigned long long* __restrict__ nreached) {
    push_along(begins, ends, weights, count, Packed{words, bases, starts}, values, step, 1, y, reached, nreached);
}
