// Strong components after the two searches from one pivot, and before them, with no step on the host.
//
// trim    a vertex without a living predecessor, or without a living successor, is a component: passes in place, as long as
//         each finds many, and then the pivot, the living vertex of the largest in-degree × out-degree.
// colour  what both searches reached is the pivot's component. What is left is taken apart by colours [1, 2]: every vertex
//         draws a random number, and learns the smallest that leads to it and the smallest to which it leads. Where the
//         two are of one vertex, it is in that vertex's component. Edges between vertices that have not the same two are
//         then cut, for they join no component. Random numbers keep the rounds few, about log n.
//
// A colour that a vertex has belongs to another vertex, and whatever leads there leads on: so a pass looks at neighbours,
// and then at what the vertex that drew the colour has by now. Paths of any length are passed in about log n passes. For
// that reason the searches, which take a step for each level, end early: what they have found by then is a colour that
// has already spread.
//
// Before that, chains of vertices with one edge in and one edge out are taken out, by pointer jumping: an edge into a chain
// counts as one to its other end. At last, a chain is of the component of its two ends, if they have one.
//
// [1] G. M. Slota, S. Rajamanickam, K. Madduri, BFS and coloring-based parallel algorithms for strongly connected
//     components and related problems, IPDPS 2014.
// [2] G. Alabandi, W. Sands, G. Biros, M. Burtscher, A GPU algorithm for detecting strongly connected components, SC 2023.

// Where the colouring is: about to start; with a list of what is left; while colours spread.
enum Stage : unsigned long long { SEARCHED, LISTED, SPREADING };

// The least of `had` and what the entries of row v give, in the lanes that ask, likewise.
template <class Gives>
__device__ __forceinline__ unsigned long long least_in_row(const I* indptr, const J* indices, I v, bool asks,
                                                           unsigned long long had, const Gives& gives) {
    I e = 0, end = 0;
    if (asks) {
        e = indptr[v];
        end = indptr[v + 1];
        for (const I alone = end - e < LANE_ROW ? end : e + LANE_ROW; e < alone; ++e) {
            const unsigned long long given = gives(v, indices[e]);
            if (given < had) had = given;
        }
    }
    for (unsigned int left = __ballot_sync(WARP, e < end); left != 0; left &= left - 1) {
        const int owner = __ffs(left) - 1;
        const I last = from_lane(end, owner), row = from_lane(v, owner);
        unsigned long long least = ~0ull;
        for (I at = from_lane(e, owner) + lane_number(); at < last; at += 32) {
            const unsigned long long given = gives(row, indices[at]);
            if (given < least) least = given;
        }
        least = least_of_warp(least);
        if (lane_number() == owner && least < had) had = least;
    }
    return had;
}
