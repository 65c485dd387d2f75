"""Numbers of strong components against the edges, as loops over the rows; `algorithms.topological` has the equations.

A depth-first search of the components, whose members lie together in a list: when it leaves a component, the heights of
all to which that leads are known. Each edge is looked at once, and only the first one to a component is followed.
O(n + m), 28 bytes a vertex.

[1] R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1(2), 1972.
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from formats.storage.orientation import known_symmetric
from semiring.cpu.kernels import compiled


def numbered(A: CSR, component: np.ndarray, k: int) -> np.ndarray:
    """The place of each component in the order."""
    if k == 1 or known_symmetric(A, pattern=True):
        return np.arange(k, dtype=component.dtype)
    vertex, height = component.dtype, np.full(k, -1, component.dtype)
    begins, members = np.zeros(k + 1, vertex), np.empty_like(component)
    stack, edges = np.empty((3, k), vertex), np.empty(k, A.indptr.dtype)
    _gathered(component, begins, members)
    highest = _heights((A.indptr, A.indices), component, (begins, members), tuple(stack), edges, height)
    number, starts = np.empty_like(height), np.zeros(highest + 2, vertex)
    _by_height(height, starts, number)
    return number


@compiled
def _gathered(component, begins, members):
    """The members of each component, ascending, and where they begin.  begins: (k + 1,) 0."""
    one, n = np.uintp(1), np.uintp(component.size)
    total = 0
    for c in component:
        begins[np.uintp(c)] += 1
    for each in range(begins.size):
        total += begins[each]
        begins[each] = total
    for i in range(n):
        c = np.uintp(component[n - one - i])
        begins[c] -= 1
        members[np.uintp(begins[c])] = n - one - i


@compiled
def _heights(rows, component, lists, stack, edges, height):
    """The longest way from each component, in `height`, -1 at first; the longest of all.

    stack: of the components on the way: which, the member and the edge that are looked at, the longest way so far.
    """
    (indptr, indices), (begins, members), (path, places, best) = rows, lists, stack
    one, highest = np.uintp(1), 0
    for root in range(height.size):
        if height[root] >= 0:
            continue
        path[0], places[0], best[0] = root, begins[root], 0
        edges[0] = indptr[np.uintp(members[np.uintp(begins[root])])]
        on = 1
        while on:
            top = np.uintp(on - 1)
            c, p, e, high = np.uintp(path[top]), np.uintp(places[top]), np.uintp(edges[top]), best[top]
            last, deeper, b = np.uintp(begins[c + one]), False, c
            while True:
                stop = np.uintp(indptr[np.uintp(members[p]) + one])
                while e < stop and not deeper:
                    b = np.uintp(component[np.uintp(indices[e])])
                    there = height[b]  # -1 of c itself, too
                    deeper = (there < 0) & (b != c)
                    high = max(high, there + 1)
                    e += one
                if deeper:
                    break
                p += one
                if p == last:
                    break
                e = np.uintp(indptr[np.uintp(members[p])])
            if deeper:
                places[top], edges[top], best[top] = p, e, high
                path[on], places[on], best[on] = b, begins[b], 0
                edges[on] = indptr[np.uintp(members[np.uintp(begins[b])])]
                on += 1
            else:
                height[c] = high
                highest = max(highest, high)
                on -= 1
                if on:
                    best[on - 1] = max(best[on - 1], high + 1)
    return highest


@compiled
def _by_height(height, starts, number):
    """Number the lowest first, and those of one height as they come.  starts: (the highest + 2,) 0."""
    for h in height:
        starts[np.uintp(h + 1)] += 1
    for s in range(1, starts.size):
        starts[s] += starts[s - 1]
    for c in range(height.size):
        at = np.uintp(height[c])
        number[c] = starts[at]
        starts[at] += 1
