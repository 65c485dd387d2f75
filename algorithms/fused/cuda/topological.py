"""Numbers of strong components against the edges, on the GPU; `algorithms.topological` has the equations.

Heights rise along the edges between components, all at once in each round,

    h_u = max h_v + 1 over the edges u -> v between components

until none does: as many rounds as the longest way, whose end is not foretold. After a few the edges go to the host,
where one search looks at each once. Of the edges of the largest component, which would all raise one number, those that
lead to the same one count once.
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import counts, cupy
from formats.storage.compressed import expand
from formats.storage.orientation import known_symmetric

ROUNDS, BETWEEN = 16, 2
"""Rounds on the GPU, of which one takes some .1 ms, where the host takes some 10 ns an edge; and from look to look."""


def numbered(A: CSR, component: Array, k: int) -> Array:
    """The place of each component in the order."""
    cp = cupy()
    ids = cp.arange(k, dtype=component.dtype)
    if k <= 1 or known_symmetric(A, pattern=True):
        return ids
    u, v = edges_between(component[expand(A.indptr)], component[A.indices], int(counts(component, k).argmax()), k)
    height = heights(u, v, k)
    if height is None:
        return on_host(u, v, ids)
    number = cp.empty_like(ids)
    number[(height.astype(np.int64) * k + ids).argsort()] = ids
    return number


def edges_between(u: Array, v: Array, largest: int, k: int) -> tuple[Array, Array]:
    """The ends of the edges between components, those of the largest component each once."""
    cp = cupy()
    from_largest = u == largest
    others, below = cp.flatnonzero((u != v) & ~from_largest), cp.zeros(k, bool)
    below[cp.where(from_largest, v, largest)] = True
    below[largest] = False
    led_to = cp.flatnonzero(below).astype(v.dtype)
    return cp.concatenate((u[others], cp.full_like(led_to, largest))), cp.concatenate((v[others], led_to))


def heights(u: Array, v: Array, k: int) -> Array | None:
    """(k,) the longest way from each vertex of a graph without cycles; None if it is long."""
    cp, total = cupy(), 0
    height = cp.zeros(k, np.int32)
    for _ in range(ROUNDS // BETWEEN):
        for _ in range(BETWEEN):
            cp.maximum.at(height, u, height[v] + 1)
        before, total = total, int(height.sum(dtype=np.int64))
        if total == before:
            return height
    return None


def on_host(u: Array, v: Array, ids: Array) -> Array:
    """The order of the contracted graph's vertices, found there."""
    from algorithms.fused.cpu import topological

    cp, k = cupy(), ids.size
    edges = cp.unique(u.astype(np.int64) * k + v).get()
    indptr = np.searchsorted(edges, np.arange(k + 1) * k).astype(ids.dtype)
    columns = (edges % k).astype(ids.dtype)
    D = CSR.trusted(indptr, columns, np.ones(columns.size, np.bool_), (k, k))
    return cp.asarray(topological.numbered(D, ids.get(), k))
