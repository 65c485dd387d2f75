"""Numbers of strong components against the edges, on the GPU; `algorithms.topological` has the equations.

Heights rise along the edges between components, all at once in each round,

    h_u = max h_v + 1 over the edges u -> v between components

until none does: as many rounds as the longest way, whose end is not foretold. After a few the edges go to the host,
where one search looks at each once. The edges of a giant component would all raise one number: where they lead is a
vector, whose largest height is found at once.
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import counts, cupy
from formats.storage.compressed import expand
from formats.storage.orientation import known_symmetric

ROUNDS = 16
"""Rounds on the GPU; one takes some .1 ms, and the host some 10 ns an edge."""


def numbered(A: CSR, component: Array, k: int) -> Array:
    """The place of each component in the order."""
    cp = cupy()
    ids = cp.arange(k, dtype=component.dtype)
    if k <= 1 or known_symmetric(A, pattern=True):
        return ids
    u, v, giant = component[expand(A.indptr)], component[A.indices], int(counts(component, k).argmax())
    below = cp.zeros(k, bool)
    below[cp.where(u == giant, v, giant)] = True
    below[giant] = False
    others = cp.flatnonzero((u != v) & (u != giant))
    u, v = u[others], v[others]
    height = heights(u, v, below, giant)
    if height is None:
        return on_host(u, v, below, giant, ids)
    number = cp.empty_like(ids)
    number[(height.astype(np.int64) * k + ids).argsort()] = ids
    return number


def heights(u: Array, v: Array, below: Array, giant: int) -> Array | None:
    """(k,) the longest way from each component; None if it is long.

    below: those to which the giant leads.  u, v: the ends of the other edges.
    """
    from cupyx import scatter_max

    cp, total = cupy(), 0
    height = cp.zeros(below.size, np.int32)
    for _ in range(ROUNDS):
        scatter_max(height, u, height[v] + 1)
        height[giant] = cp.where(below, height, -1).max() + 1
        before, total = total, int(height.sum(dtype=np.int64))
        if total == before:
            return height
    return None


def on_host(u: Array, v: Array, below: Array, giant: int, ids: Array) -> Array:
    """The order of the contracted graph's vertices, found there."""
    from algorithms.fused.cpu import topological

    cp, k = cupy(), ids.size
    led_to = cp.flatnonzero(below)
    u = cp.concatenate((u, cp.full(led_to.size, giant, u.dtype)))
    edges = cp.unique(u.astype(np.int64) * k + cp.concatenate((v, led_to.astype(v.dtype)))).get()
    indptr = np.searchsorted(edges, np.arange(k + 1) * k).astype(ids.dtype)
    columns = (edges % k).astype(ids.dtype)
    D = CSR.trusted(indptr, columns, np.ones(columns.size, np.bool_), (k, k))
    return cp.asarray(topological.numbered(D, ids.get(), k))
