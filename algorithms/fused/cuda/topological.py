"""Numbers strong components against the edges on the GPU; `algorithms.topological` has the equations.

Heights rise along the edges between components, all at once in each round (`topological_levels.cu`), until none
does: as many rounds as the longest way at most, whose end is not foretold. After many the edges go to the host, where
one search looks at each once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.storage.orientation import known_symmetric
from semiring.algebra.codegen import types_of
from semiring.verbs.explanation import details

from . import kernels
from .layouts import TopologicalControl

MAX_ROUNDS = 512
"""Rounds on the GPU, at most: one takes some 3 µs, where the host takes some 10 ns an edge."""


def numbered(A: CSR, component: Array, k: int) -> Array:
    """Returns the place of each component in the order."""
    cp: Any = cupy()
    ids = cp.arange(k, dtype=component.dtype)
    if k <= 1 or known_symmetric(A, pattern=True):
        return ids
    index_type, component = A.indptr.dtype, component.astype(A.indptr.dtype, copy=False)
    large = component[cp.diff(A.indptr).argmax().reshape(1)]
    ends, height = cp.empty((2, A.nnz + k), index_type), cp.zeros(k, np.int32)
    control, below = cp.zeros(TopologicalControl.words, np.uint64), cp.zeros(k, bool)
    of = kernels.pattern("topological_levels", types_of(A))
    sizes, number = (of.index(A.nrows), of.index(A.nnz)), of.index(k)
    given = control, A.indptr, A.indices, *sizes, component, number, large, below, *ends, height, np.uint64(MAX_ROUNDS)
    of.persistent("topological_levels", A.nrows + A.nnz, given)
    state = control.get()
    told = TopologicalControl.read(state, "rounds", "listed")
    details(kernel="topological_levels", rounds=told["rounds"], edges_between=told["listed"])
    if not state[0] >> np.uint64(32):
        u, v = ends[:, : told["listed"]]
        return on_host(u, v, ids)
    order = cp.empty(k, ids.dtype)
    order[(height.astype(np.int64) * k + ids).argsort()] = ids
    return order


def on_host(u: Array, v: Array, ids: Array) -> Array:
    """Finds the order of the contracted graph's vertices on the host."""
    from algorithms.fused.cpu import topological

    cp, k = cupy(), ids.size
    edges = cp.unique(u.astype(np.int64) * k + v).get()
    indptr = np.searchsorted(edges, np.arange(k + 1) * k).astype(ids.dtype)
    columns = (edges % k).astype(ids.dtype)
    D = CSR.trusted(indptr, columns, np.ones(columns.size, np.bool_), (k, k))
    return cp.asarray(topological.numbered(D, ids.get(), k))
