// What warps that multiply sparse matrices share: words among lanes.

constexpr unsigned int ALL = 0xffffffffu;

// What lane `lane` holds, asked by the lanes of `active`.
template <class V> __device__ __forceinline__ V of_lane_in(unsigned int active, V value, int lane) {
    constexpr int WORDS = (sizeof(V) + 3) / 4;
    unsigned int words[WORDS] = {};
    memcpy(words, &value, sizeof(V));
#pragma unroll
    for (int w = 0; w < WORDS; ++w) words[w] = __shfl_sync(active, words[w], lane);
    memcpy(&value, words, sizeof(V));
    return value;
}
