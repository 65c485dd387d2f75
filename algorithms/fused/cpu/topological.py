"""Numbers of strong components against the edges, as loops over the rows; `algorithms.topological` has the equations.

Edges between components are counted where they arrive. Members of a component lie together in a list, and their rows
are looked through once it waits for no edge any more. Nothing branches on an edge. O(n + m), 24 bytes a vertex.
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
    waiting, begins = np.zeros(k, A.indptr.dtype), np.zeros(k + 1, component.dtype)
    members = np.empty_like(component)
    queue, depth = np.empty(k + 1, component.dtype), np.zeros(k, component.dtype)
    deepest = _depths((A.indptr, A.indices), component, waiting, begins, members, queue, depth)
    number, starts = np.empty_like(depth), np.zeros(deepest + 2, component.dtype)
    _by_depth(depth, deepest, starts, number)
    return number


@compiled
def _depths(rows, component, waiting, begins, members, queue, depth):
    """The longest way to each component, in `depth`; the longest of all."""
    indptr, indices = rows
    one, n, k = np.uintp(1), np.uintp(component.size), np.uintp(waiting.size)
    for v in range(n):
        own = component[v]
        begins[np.uintp(own)] += 1
        for e in range(np.uintp(indptr[v]), np.uintp(indptr[v + one])):
            other = component[np.uintp(indices[e])]
            waiting[np.uintp(other)] += other != own
    total = 0
    for each in range(k):
        total += begins[each]
        begins[each] = total
    begins[k] = total
    for i in range(n):
        c = np.uintp(component[n - one - i])
        begins[c] -= 1
        members[np.uintp(begins[c])] = n - one - i
    found, at, below = np.uintp(0), np.uintp(0), 1
    for each in range(k):
        if waiting[each] == 0:
            queue[found] = each
            found += one
    while at < found:
        c = np.uintp(queue[at])
        at += one
        below = depth[c] + 1
        for p in range(np.uintp(begins[c]), np.uintp(begins[c + one])):
            u = np.uintp(members[p])
            for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                b = np.uintp(component[np.uintp(indices[e])])
                waiting[b] -= b != c
                last = (waiting[b] == 0) & (b != c)
                queue[found] = b
                found += np.uintp(last)
                depth[b] = below if last else depth[b]
    return below - 1


@compiled
def _by_depth(depth, deepest, starts, number):
    """Number the deepest first, and those of one depth as they come."""
    for d in depth:
        starts[np.uintp(deepest - d + 1)] += 1
    for s in range(1, starts.size):
        starts[s] += starts[s - 1]
    for c in range(depth.size):
        at = np.uintp(deepest - depth[c])
        number[c] = starts[at]
        starts[at] += 1
