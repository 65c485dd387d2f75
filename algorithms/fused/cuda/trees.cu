// Joins the ends of edges to trees (hooking.cu), and looks at the edges in their order.

// Every vertex is a tree at first.
extern "C" __global__ void start_trees(long long n, I* parent) {
    for (long long v = thread_number(); v < n; v += thread_count()) parent[v] = (I)v;
}

// Every vertex right under its root.
extern "C" __global__ void flatten(long long n, I* parent) {
    for (long long v = thread_number(); v < n; v += thread_count()) parent[v] = root_of(parent, (I)v);
}

// The edges [from, to) of all rows to all warps: the same number of edges and rows each.
template <class Work>
__device__ __forceinline__ void deal_edges_between(const I* indptr, I n, I nnz, long long from, long long to, Work& work) {
    const auto offset = [=](I f) { return (long long)indptr[f]; };
    const long long lowest = from + last_at_most(offset, n, from), highest = to + last_at_most(offset, n, to - 1);
    deal_steps(indptr, n, nnz, lowest, highest, from, to, work);
}
