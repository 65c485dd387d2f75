// The order of ⊕, and a matrix: what the fixpoint, the tree and the search for cycles have in common.

__device__ __forceinline__ bool better(T a, T b) { return a != b && add(a, b) == a; }
__device__ __forceinline__ bool no_worse(T a, T b) { return add(a, b) == a; }

struct Graph {
    const I* indptr;
    const J* indices;
    const T* values;
    I step;  // between values: 0 where all are one
};
