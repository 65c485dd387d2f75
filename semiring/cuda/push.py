"""The push of a sparse operand: launches of push.cu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import COO, CSC, CSR, Matrix, SparseVector
from formats.arrays import Array, cupy

from ..algebra import Semiring
from .kernels import PUSHED, Kernels
from .tiles import step_of

SCAN_FROM = 1 / 8
"""Share of y above which finding the reached places by a scan of y is faster than sorting them."""


Launch = Callable[[Kernels, Any, Array, Array, Array, Array, Array], None]
"""(k, A, rows, weights, y, reached, nreached): y_k ⊕= a_ik ⊗ weights_i for the given rows, noting places reached."""


def push(k: Kernels, A: Matrix, x: SparseVector, semiring: Semiring, launch: Launch | None = None) -> SparseVector:
    """y_k ⊕= a_ik ⊗ x_i over the present x_i. ⊕ is idempotent. Waits for the device: the result's size is a number.

    launch: of the kernels for A's storage; None for rows that are spans of entries.
    y is kept with the matrix, and is the zero everywhere between calls; two calls at a time never share it.
    """
    cp = cupy()
    size, zero = A.shape[1 - A.major], semiring.zero(A.dtype)
    index_type = np.dtype(k.index)
    if x.nnz == 0 or A.nnz == 0 or size == 0:
        return SparseVector.trusted(cp.empty(0, index_type), cp.empty(0, A.dtype), size)
    key = ("scratch", A.dtype, zero)
    y, reached = A.take(key) or (cp.full(size, zero, A.dtype), cp.empty(size, index_type))
    rows, weights = x.indices.astype(index_type, copy=False), cp.ascontiguousarray(x.values)
    nreached = cp.zeros(1, np.uint64)
    (launch or _push_spans)(k, A, rows, weights, y, reached, nreached)
    count = int(nreached[0])
    if count > size * SCAN_FROM:
        places = cp.flatnonzero(y != zero).astype(index_type)
    else:
        places = cp.sort(reached[:count])
    values = cp.empty(count, A.dtype)
    if count:
        k.take_reached(k.grid(count), k.block, (places, k.index(count), y, values))
    A.keep(key, lambda: (y, reached))
    return SparseVector.trusted(places, values, size)


def _push_spans(k: Kernels, A: Any, rows: Array, weights: Array, y: Array, reached: Array, nreached: Array) -> None:
    """Rows of a compressed or listed matrix, which are spans of its entries."""
    assert isinstance(A, CSR | CSC | COO)
    starts, lengths = (cupy().empty(rows.size, rows.dtype) for _ in range(2))
    count = k.index(rows.size)
    if isinstance(A, COO):
        inner = A.inner
        k.spans_list(k.grid(rows.size), k.block, (rows, count, A.outer, k.index(A.nnz), starts, lengths))
    else:
        inner = A.indices
        k.spans_compressed(k.grid(rows.size), k.block, (rows, count, A.indptr, starts, lengths))
    ends = cupy().cumsum(lengths, dtype=rows.dtype)
    entries = (inner, A.values, step_of(A.values, k.index))
    k.push_spans(k.grid(A.nnz, PUSHED), k.block, (starts, ends, weights, count, *entries, y, reached, nreached))
