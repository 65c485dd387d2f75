// How kernels read memory, and the columns of entries: an array of them, or packed ones.

// A word that is read once, and need not stay in the cache; and one that others read, too, and nobody writes.
template <class V> __device__ __forceinline__ V stream(const V* address) { return __ldcs(address); }
template <class V> __device__ __forceinline__ V fetch(const V* address) { return __ldg(address); }
template <> __device__ __forceinline__ bool stream(const bool* address) {
    return __ldcs(reinterpret_cast<const unsigned char*>(address)) != 0;
}
template <> __device__ __forceinline__ bool fetch(const bool* address) {
    return __ldg(reinterpret_cast<const unsigned char*>(address)) != 0;
}

// Columns in an array. `streamed` is for a column that is read once.
struct Indices {
    const J* __restrict__ indices;

    __device__ __forceinline__ I operator[](I e) const { return indices[e]; }
    __device__ __forceinline__ I streamed(I e) const { return stream(indices + e); }
};

// Packed columns: a group of 32 entries has a base and offsets of b bits each, which fill b words. Entries are decoded by
// themselves, in any order: two dependent loads and some ten instructions on bits more than an array takes.
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
