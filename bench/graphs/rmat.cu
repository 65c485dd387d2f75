// The edges of an R-MAT graph, drawn as bench/graphs/recursive.py says: one bit of both ends on each level.

__device__ __forceinline__ unsigned long long mixed(unsigned long long z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

struct Quadrants {
    unsigned long long in_a, in_ab, in_abc;
};

// One bit more of both ends of an edge. start: where the level's stream of random numbers begins.
__device__ __forceinline__ void draw_bit(unsigned long long edge, unsigned long long start, const Quadrants& q,
                                         unsigned int& u, unsigned int& v) {
    const unsigned long long drawn = mixed(edge * 0x9e3779b97f4a7c15ull + start);
    const bool lower = drawn >= q.in_ab, right = (drawn >= q.in_a && !lower) || drawn >= q.in_abc;
    u = 2 * u + lower;
    v = 2 * v + right;
}

extern "C" __global__ void draw(unsigned long long edges, int scale, const unsigned long long* starts,
                                unsigned long long in_a, unsigned long long in_ab, unsigned long long in_abc,
                                unsigned int* src, unsigned int* dst) {
    const unsigned long long threads = gridDim.x * (unsigned long long)blockDim.x;
    for (unsigned long long e = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; e < edges; e += threads) {
        unsigned int u = 0, v = 0;
        for (int level = 0; level < scale; ++level) draw_bit(e, starts[level], {in_a, in_ab, in_abc}, u, v);
        src[e] = u;
        dst[e] = v;
    }
}

// Of edges from rows first … last - 1, but self-loops, (row - first, column) as one number, in any order. count: how many
// there are, were there room for all.
extern "C" __global__ void draw_rows(unsigned long long edges, int scale, const unsigned long long* starts,
                                     unsigned long long in_a, unsigned long long in_ab, unsigned long long in_abc,
                                     long long first, long long last, unsigned long long* keys,
                                     unsigned long long capacity, unsigned long long* count) {
    const unsigned long long threads = gridDim.x * (unsigned long long)blockDim.x;
    const unsigned int lane = threadIdx.x % 32;
    for (unsigned long long base = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x - lane; base < edges;
         base += threads) {
        const unsigned long long e = base + lane;
        unsigned int u = 0, v = 0;
        bool wanted = e < edges;
        for (int level = 0; level < scale && wanted; ++level) {
            draw_bit(e, starts[level], {in_a, in_ab, in_abc}, u, v);
            const int left = scale - 1 - level;  // bits
            wanted = (long long)u << left < last && ((long long)u + 1) << left > first;
        }
        wanted = wanted && u != v;
        const unsigned int all = __ballot_sync(0xffffffffu, wanted);
        if (all == 0) continue;
        unsigned long long place = 0;
        if (lane == 0) place = atomicAdd(count, (unsigned long long)__popc(all));
        place = __shfl_sync(0xffffffffu, place, 0) + __popc(all & ((1u << lane) - 1));
        if (wanted && place < capacity) keys[place] = (unsigned long long)(u - first) << 32 | v;
    }
}
