"""Numbers of strong components against the edges, as loops over the rows; `algorithms.topological` has the equations.

A depth-first search of the components, whose members lie together in a list: when it leaves a component, the heights of
all to which that leads are known. Each edge is looked at once, and only the first one to a component is followed.
O(n + m), 32 bytes a vertex.

[1] R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1(2), 1972.
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from formats.storage.orientation import known_symmetric
from semiring.cpu.kernels import compiled, inlined

from .entries import sorted_by

NEW, OPEN = -2, -1
"""Marks of a vertex whose component's height is not known: it was not met yet, or is on the way."""

EDGES_AT_ONCE = np.uintp(32)
"""Number of edges that are looked at without a branch."""


def numbered(A: CSR, component: np.ndarray, k: int) -> np.ndarray:
    """Return the place of each component in the order."""
    if k == 1 or known_symmetric(A, pattern=True):
        return np.arange(k, dtype=component.dtype)
    vertex, over = component.dtype, np.full_like(component, NEW)
    stack, edges = np.empty((3, k), vertex), np.empty(k, A.indptr.dtype)
    members, ends = sorted_by(component, k)
    begins = np.append(0, ends).astype(vertex)
    highest = _heights((A.indptr, A.indices), component, (begins, members), tuple(stack), edges, over)
    number = np.empty(k, vertex)
    number[sorted_by(over[members[begins[:k]]], highest + 1)[0]] = np.arange(k, dtype=vertex)
    return number


@inlined
def _settled(v, rows, over):
    """True if a component of one vertex has a height now, as all that it leads to have one."""
    indptr, indices = rows
    high, least = over.dtype.type(OPEN), over.dtype.type(OPEN)
    over[v] = OPEN
    for e in range(np.uintp(indptr[v]), np.uintp(indptr[v + np.uintp(1)])):
        there = over[np.uintp(indices[e])]
        high, least = max(high, there), min(least, there)
    known = least != NEW
    over[v] = high + 1 if known else NEW
    return known


@compiled
def _heights(rows, component, lists, stack, edges, over):
    """Find the longest way from each vertex's component; returns the longest of all.

    stack: of the components on the way: which, the member and the edge that are looked at, the highest that these lead
    to.  over: what is found, OPEN of a component on the way, NEW at first.
    """
    (indptr, indices), (begins, members), (path, places, best) = rows, lists, stack
    one, highest = np.uintp(1), over.dtype.type(0)
    for root in range(best.size):
        c, on = np.uintp(root), 0
        v = np.uintp(members[np.uintp(begins[c])])
        if over[v] != NEW or (begins[c + one] - begins[c] == 1 and _settled(v, rows, over)):
            highest = max(highest, over[v])
            continue
        deeper = True
        while deeper or on:
            if deeper:  # to a component that is new
                path[on], places[on], best[on] = c, begins[c], OPEN
                edges[on] = indptr[np.uintp(members[np.uintp(begins[c])])]
                on += 1
                for place in range(np.uintp(begins[c]), np.uintp(begins[c + one])):
                    over[np.uintp(members[place])] = OPEN
            top = np.uintp(on - 1)
            c, p, e, high = np.uintp(path[top]), np.uintp(places[top]), np.uintp(edges[top]), best[top]
            last, deeper = np.uintp(begins[c + one]), False
            while True:
                stop = np.uintp(indptr[np.uintp(members[p]) + one])
                while e < stop and not deeper:
                    end, least = min(e + EDGES_AT_ONCE, stop), over.dtype.type(OPEN)
                    for each in range(e, end):
                        there = over[np.uintp(indices[each])]
                        high, least = max(high, there), min(least, there)
                    while least == NEW and e < end and not deeper:
                        v = np.uintp(indices[e])
                        if over[v] == NEW:
                            c = np.uintp(component[v])
                            deeper = begins[c + one] - begins[c] > 1 or not _settled(v, rows, over)
                            high = max(high, over[v])
                        e += np.uintp(not deeper)
                    e = e if deeper else end
                if deeper:
                    break
                p += one
                if p == last:
                    break
                e = np.uintp(indptr[np.uintp(members[p])])
            if deeper:
                places[top], edges[top], best[top] = p, e, high
                continue
            c, high = np.uintp(path[top]), high + over.dtype.type(1)
            for place in range(np.uintp(begins[c]), last):
                over[np.uintp(members[place])] = high
            highest = max(highest, high)
            on -= 1
            if on:
                best[on - 1] = max(best[on - 1], high)
    return highest
