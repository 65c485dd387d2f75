// What joins the ends of edges to trees (hooking.cu), and looks at the edges in their order.

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
    const auto step = [=](I f) { return (long long)indptr[f] + f; };
    const long long lowest = from + last_at_most(offset, n, from), highest = to + last_at_most(offset, n, to - 1);
    const long long warps = thread_count() / 32, each = (highest - lowest + warps - 1) / warps;
    const long long begin = lowest + thread_number() / 32 * each, end = begin + each < highest ? begin + each : highest;
    if (begin >= end) return;
    const I first = last_at_most(step, n, begin), after = last_at_most(step, n, end);
    const long long at = begin - first < from ? from : begin - first, last = end - after < to ? end - after : to;
    if (at < last) deal_part(nullptr, indptr, n, nnz, indptr, first, at, last, work);
}
