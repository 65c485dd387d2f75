// A factor in panels: ranges of positions with the same later neighbours, of at most PANEL each.
//
// The arcs of a position x lie side by side: to the later positions of its supernode, x + 1 … end - 1, and to its rows,
// which the positions of a supernode share. The later neighbours of a panel are its columns: 0 is the position `last`.

constexpr int PANEL = 32;

struct Panel {
    int first, last, end, above;  // positions first … last - 1 of a supernode that ends before `end`; the next panel, or -1
    long long rows, arcs;         // where the rows begin, and the arcs of position `first`
    int count, parent;            // of rows; the first column, or -1

    __device__ __forceinline__ int width() const { return last - first; }
    __device__ __forceinline__ int inside() const { return end - last; }
    __device__ __forceinline__ int columns() const { return inside() + count; }
    // Where the arcs of a position begin: of each there is one fewer than of the one before.
    __device__ __forceinline__ long long arcs_of(int x) const {
        const long long before = x - first, most = end - first - 1 + count;
        return arcs + before * most - before * (before - 1) / 2;
    }
    // Of the arcs from a position to the columns, the first.
    __device__ __forceinline__ long long outer(int x) const { return arcs_of(x) + last - x - 1; }
    __device__ __forceinline__ int column(const int* list, int j) const {
        return j < inside() ? last + j : list[rows + j - inside()];
    }
};

// first ⊗ second: a way, and another from where it ends.
__device__ __forceinline__ T then(T first, T second) { return product(second, first); }
