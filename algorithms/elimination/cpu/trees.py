"""The elimination tree of an order, and how many entries each position has in the factor, before any is made.

    parent_x = min Up_x        Up_x = {y > x: a path leads from x to y whose inner positions are all below x}

[1] J. W. H. Liu, The role of elimination trees in sparse factorization, SIAM J. Matrix Anal. Appl. 11(1), 1990.
[2] J. R. Gilbert, E. G. Ng, B. W. Peyton, An efficient algorithm to compute row and column counts for sparse Cholesky
    factorization, SIAM J. Matrix Anal. Appl. 15(4), 1994.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.cpu.kernels import compiled

ONE: Any = np.uintp(1)


def neighbours(indptr: np.ndarray, indices: np.ndarray, place: np.ndarray, above: bool) -> tuple[np.ndarray, ...]:
    """Lists each position's neighbours that come later if `above`, else earlier; some stand twice.

    Returns where the neighbours of each start, and their positions.
    """
    n = place.size
    starts = np.zeros(n + 2, np.int64)
    count_ends(indptr, indices, place, above, starts)
    np.cumsum(starts, out=starts)
    ends = np.empty(int(starts[-1]), np.int32)
    list_ends(indptr, indices, place, above, starts[1:], ends)
    return starts[:-1], ends


@compiled
def count_ends(indptr, indices, place, above, starts):
    """How many edges each position has to later ones, or to earlier ones; from starts[2] on."""
    for u in range(place.size):
        x = place[u]
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[np.uintp(u) + ONE])):
            y = place[np.uintp(indices[e])]
            if x != y:
                starts[np.uintp((min(x, y) if above else max(x, y)) + 2)] += 1


@compiled
def list_ends(indptr, indices, place, above, starts, ends):
    """The other ends of these edges; starts[x] moves on to where those of x end."""
    for u in range(place.size):
        x = place[u]
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[np.uintp(u) + ONE])):
            y = place[np.uintp(indices[e])]
            if x != y:
                low, high = min(x, y), max(x, y)
                at = np.uintp(low if above else high)
                ends[np.uintp(starts[at])] = high if above else low
                starts[at] += 1


@compiled
def grow(starts, earlier, parent, ancestor):
    """The elimination tree: parent of each position, -1 of roots; both lists hold -1 before [1]."""
    for i in range(parent.size):
        for e in range(np.uintp(starts[i]), np.uintp(starts[i + 1])):
            x = np.int64(earlier[e])
            while ancestor[np.uintp(x)] >= 0 and ancestor[np.uintp(x)] != i:
                above = ancestor[np.uintp(x)]
                ancestor[np.uintp(x)] = i
                x = above
            if ancestor[np.uintp(x)] < 0:
                ancestor[np.uintp(x)] = i
                parent[np.uintp(x)] = i


@compiled
def link(parent, child, sibling):
    """Lists the children of each: the first one, and of each child the next; the lists hold -1 before."""
    for x in range(parent.size - 1, -1, -1):
        if parent[x] >= 0:
            p = np.uintp(parent[x])
            sibling[x] = child[p]
            child[p] = x


@compiled
def postorder(parent, child, sibling, stack, number):
    """number[x]: the place of position x where subtrees lie together, children in their order; lists hold -1 before."""
    link(parent, child, sibling)
    count = 0
    for root in range(parent.size):
        if parent[root] >= 0:
            continue
        top = 0
        stack[0] = root
        while top >= 0:
            last = np.uintp(stack[top])
            c = child[last]
            if c < 0:
                number[last] = count
                count += 1
                top -= 1
            else:
                child[last] = sibling[np.uintp(c)]
                top += 1
                stack[top] = c


@compiled
def count_entries(starts, later, parent, lists, counts):
    """counts[x] = |Up_x|, of positions in postorder [2].

    lists: first descendants, the farthest of these seen by each row, its last leaf, and ancestors; -1 before.
    """
    first, seen, leaf, ancestor = lists
    n = parent.size
    for x in range(n):
        at = x
        while at >= 0 and first[np.uintp(at)] < 0:
            first[np.uintp(at)] = x
            at = parent[np.uintp(at)]
        ancestor[x] = x
        counts[x] = 1 if first[x] == x else 0
    for x in range(n):
        if parent[x] >= 0:
            counts[np.uintp(parent[x])] -= 1
        for e in range(np.uintp(starts[x]), np.uintp(starts[x + 1])):
            y = np.uintp(later[e])
            if first[x] <= seen[y]:
                continue
            seen[y] = first[x]
            last = leaf[y]
            leaf[y] = x
            counts[x] += 1
            if last >= 0:  # the paths of both leaves to y meet, and are counted once from there on
                root = last
                while ancestor[np.uintp(root)] != root:
                    root = ancestor[np.uintp(root)]
                while last != root:
                    above = ancestor[np.uintp(last)]
                    ancestor[np.uintp(last)] = root
                    last = above
                counts[np.uintp(root)] -= 1
        if parent[x] >= 0:
            ancestor[x] = parent[x]
    for x in range(n):
        if parent[x] >= 0:
            counts[np.uintp(parent[x])] += counts[x]
        counts[x] -= 1  # itself
