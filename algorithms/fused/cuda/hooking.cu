// Trees of vertices: every vertex points at a smaller one of its tree, and an edge between two trees hooks the larger root
// under the smaller, so a root is the smallest vertex of its tree.

// The root of v's tree. Pointers may be read from the first-level cache, which keeps everybody from asking the second
// for the root of the giant tree: an old pointer leads to where a root was, and whoever hooks that finds out.
__device__ __forceinline__ I root_of(const I* parent, I v) {
    for (I p = parent[v]; p != v; p = parent[v]) v = p;
    return v;
}

// Returns the same; what is passed on the way then points two steps further.
__device__ __forceinline__ I root_halving(I* parent, I v) {
    I p = parent[v];
    while (true) {
        const I grand = parent[p];
        if (grand == p) return p;
        parent[v] = grand;
        v = p;
        p = grand;
    }
}

// Make one tree of the trees of u and v. Were they two?
__device__ __forceinline__ bool joined(I* parent, I u, I v) {
    u = root_halving(parent, u);
    v = root_halving(parent, v);
    while (u != v) {
        const I high = u > v ? u : v, low = u > v ? v : u;
        using Number = typename Unsigned<sizeof(I)>::type;
        const I before = (I)atomicCAS(reinterpret_cast<Number*>(parent + high), (Number)high, (Number)low);
        if (before == high) return true;
        u = root_halving(parent, before);
        v = low;
    }
    return false;
}
__device__ __forceinline__ void join(I* parent, I u, I v) { joined(parent, u, v); }

// Set an edge's bit, among those of a forest.
template <class Place> [[maybe_unused]] __device__ __forceinline__ void choose(unsigned int* chosen, Place place) {
    atomicOr(chosen + place / 32, 1u << (place % 32));
}
