"""The push of a sparse operand: launches of push.cu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import Matrix, SparseVector
from formats.arrays import Array, cupy

from ..algebra import Semiring
from .kernels import PUSHED, Kernels
from .tiles import step_of

SCAN_FROM = 1 / 8
"""Share of y above which finding the reached places by a scan of y is faster than sorting them."""

Marks = tuple[Array, Array, Array]
"""y, the places that it has left the zero at, and how many."""

Launch = Callable[[Kernels, Any, Array, Array, Marks], None]
"""(k, A, rows, weights, marks): y_k ⊕= a_ik ⊗ weights_i for the given rows."""


def push(k: Kernels, A: Matrix, x: SparseVector, semiring: Semiring, launch: Launch) -> SparseVector:
    """y_k ⊕= a_ik ⊗ x_i over the present x_i. ⊕ is idempotent. Waits for the device: the result's size is a number.

    launch: of the kernels for A's storage.
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
    launch(k, A, rows, weights, (y, reached, nreached))
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


def compressed_spans(k: Kernels, indptr: Array, rows: Array) -> tuple[Array, Array]:
    """(starts, lengths) of the given rows' entries among those of compressed rows."""
    starts, lengths = (cupy().empty(rows.size, rows.dtype) for _ in range(2))
    k.spans_compressed(k.grid(rows.size), k.block, (rows, k.index(rows.size), indptr, starts, lengths))
    return starts, lengths


def push_spans(
    k: Kernels,
    kernel: Any,
    A: Matrix,
    columns: tuple[Any, ...],
    spans: tuple[Array, Array],
    weights: Array,
    marks: Marks,
) -> None:
    """Push spans of A's entries by a kernel that takes their columns so."""
    starts, lengths = spans
    ends = cupy().cumsum(lengths, dtype=lengths.dtype)
    entries = (*columns, A.values, step_of(A.values, k.index))
    arguments = (starts, ends, weights, k.index(starts.size), *entries, *marks)
    kernel(k.grid(A.nnz, PUSHED), k.block, arguments)
