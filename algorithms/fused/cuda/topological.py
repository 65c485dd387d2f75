"""Numbers of strong components against the edges, on the GPU; `algorithms.topological` has the equations.

Between the components of a graph few different edges are left. Heights rise along them, all at once in each round,

    h_u = max h_v + 1 over the edges u -> v between components

until none does: as many rounds as the longest way, and its end is not foretold. After a few the edges go to the host,
whose one search looks at each once.
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.storage.compressed import expand
from formats.storage.orientation import known_symmetric

ROUNDS = 16
"""Rounds on the GPU; one takes some .1 ms, and the host some 10 ns an edge."""


def numbered(A: CSR, component: Array, k: int) -> Array:
    """The place of each component in the order."""
    cp = cupy()
    ids = cp.arange(k, dtype=component.dtype)
    if k == 1 or known_symmetric(A, pattern=True):
        return ids
    u, v = component[expand(A.indptr)], component[A.indices]
    between = cp.flatnonzero(u != v)
    if between.size == 0:
        return ids
    edges = cp.unique(u[between].astype(np.int64) * k + v[between])
    u, v = edges // k, edges % k
    height = heights(u, v, k)
    if height is None:
        return on_host(u, v, ids)
    number = cp.empty_like(ids)
    number[(height.astype(np.int64) * k + ids).argsort()] = ids
    return number


def heights(u: Array, v: Array, k: int) -> Array | None:
    """(k,) the longest way from each vertex of a graph without cycles; None if it is long."""
    from cupyx import scatter_max

    height, total = cupy().zeros(k, np.int32), 0
    for _ in range(ROUNDS):
        scatter_max(height, u, height[v] + 1)
        before, total = total, int(height.sum(dtype=np.int64))
        if total == before:
            return height
    return None


def on_host(u: Array, v: Array, ids: Array) -> Array:
    """The order of the contracted graph's vertices, found there; the edges u -> v ascend."""
    from algorithms.fused.cpu import topological

    cp, k = cupy(), ids.size
    indptr = np.zeros(k + 1, np.int64)
    indptr[1:] = np.cumsum(np.bincount(u.get(), minlength=k))
    columns = v.astype(ids.dtype).get()
    D = CSR.trusted(indptr.astype(ids.dtype), columns, np.ones(columns.size, np.bool_), (k, k))
    return cp.asarray(topological.numbered(D, ids.get(), k))
