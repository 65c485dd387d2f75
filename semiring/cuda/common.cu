// What the kernels of every product share: sums over lanes, a search.

// What a thread of a higher number holds, `distance` on within the same `width` threads.
template <class V> __device__ __forceinline__ V from_above(V value, int distance, int width) {
    constexpr int WORDS = (sizeof(V) + 3) / 4;
    unsigned int words[WORDS] = {};
    memcpy(words, &value, sizeof(V));
#pragma unroll
    for (int w = 0; w < WORDS; ++w) words[w] = __shfl_down_sync(0xffffffffu, words[w], distance, width);
    memcpy(&value, words, sizeof(V));
    return value;
}

// ⊕ of the totals of `width` neighbouring threads, in their order, in the first of them. All of a warp take part.
__device__ __forceinline__ Sum fold_lanes(Sum total, int width) {
    for (int distance = 1; distance < width; distance *= 2) {
        const Sum above = from_above(total, distance, width);
        if ((threadIdx.x & (2 * distance - 1)) == 0) total = combine(total, above);
    }
    return total;
}

// The last segment that starts at entry e or before.
__device__ __forceinline__ I segment_of(const I* starts, I count, I e) {
    I low = 0, high = count - 1;
    while (low < high) {
        const I middle = low + (high - low + 1) / 2;
        if (starts[middle] <= e) low = middle;
        else high = middle - 1;
    }
    return low;
}
