"""Finds shortest-path trees by the rule "nearest" on the GPU, as array programs; see `algorithms.shared.parents`.

the tight edges from nearer vertices     d_i + a_ij = d_j, d_i < d_j: few, and only they are looked at again
m_j = min d_i of these                   then p_j = min i of those with d_i = m_j
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.shared.parents import gains_by_length
from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.storage.compressed import expand
from semiring import MinPlus

NONE = np.iinfo(np.int32).max
"""The parent of a vertex that has none so far."""


def parents(A: CSR, d: Array, source: int) -> tuple[Array, Array]:
    """Returns the parents after round 0, -1 for none, and which reached vertices have none, in MinPlus."""
    cp, zero = cupy(), MinPlus.zero(A.dtype)
    parent = cp.full(A.nrows, NONE, np.int32)
    if not gains_by_length(A, MinPlus):
        u, v = tight(A, d, zero)
        nearest = cp.full(A.nrows, zero, A.dtype)
        cp.minimum.at(nearest, v, d[u])
        first = cp.flatnonzero(d[u] == nearest[v])
        cp.minimum.at(parent, v[first], u[first])
    parent[source] = NONE
    waiting = (d != zero) & (parent == NONE)
    waiting[source] = False
    return cp.where(parent == NONE, np.int32(-1), parent), waiting


def tight(A: CSR, d: Array, zero: Any) -> tuple[Array, Array]:
    """Returns the ends of the edges u -> v with d_u + w = d_v and d_u < d_v, v reached."""
    cp = cupy()
    u, v = expand(A.indptr), A.indices
    here, there = d[u], d[v]
    length = (here if A.dtype.kind == "f" else here.astype(np.int64)) + A.values  # which an int32 might not hold
    at = cp.flatnonzero((length == there) & (here < there) & (there != zero))
    return u[at].astype(np.int32, copy=False), v[at]
