// Are arrays the same, to the bit? differs, in memory of the host, is set if they are not.
//
// Up to three pairs, in words of 32 bits, which are read 16 bytes at a time: each once.

__device__ __forceinline__ bool differ(const unsigned int* x, const unsigned int* y, long long words) {
    const long long fours = (unsigned long long)x % 16 == 0 && (unsigned long long)y % 16 == 0 ? words / 4 : 0;
    bool found = false;
    for (long long i = thread_number(); i < fours; i += thread_count()) {
        const int4 a = reinterpret_cast<const int4*>(x)[i], b = reinterpret_cast<const int4*>(y)[i];
        found |= a.x != b.x || a.y != b.y || a.z != b.z || a.w != b.w;
    }
    for (long long i = 4 * fours + thread_number(); i < words; i += thread_count()) found |= x[i] != y[i];
    return found;
}

extern "C" __global__ void same(const unsigned int* x0, const unsigned int* y0, long long words0, const unsigned int* x1,
                                const unsigned int* y1, long long words1, const unsigned int* x2, const unsigned int* y2,
                                long long words2, volatile unsigned int* differs) {
    if (differ(x0, y0, words0) || differ(x1, y1, words1) || differ(x2, y2, words2)) *differs = 1;
}
