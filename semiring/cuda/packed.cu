// Products along compressed rows whose columns are packed: the kernels of tiles.cu, push.cu and found.cu, reading them so
//
// A group of 32 entries, aligned as tiles are, has a base and offsets of b bits each, which fill b words. A warp of a tile
// reads one group: its base and its bounds are one broadcast each, its words side by side; lanes that need the same word
// get it by one access. Traffic per entry: b / 8 bytes and 12 / 32 instead of 4 for a column, else as in tiles.cu.

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
