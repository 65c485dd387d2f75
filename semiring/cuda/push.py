"""The push of a sparse operand: launches of push.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import COO, CSC, CSR, ELL, CompressedCSR, Matrix, SparseVector
from formats.arrays import Array, cupy

from ..algebra import Semiring
from .kernels import PUSHED, Kernels
from .tiles import step_of

SCAN_FROM = 1 / 8
"""Share of y above which finding the reached places by a scan of y is faster than sorting them."""


def push(k: Kernels, A: Matrix, x: SparseVector, semiring: Semiring) -> SparseVector:
    """y_k ⊕= a_ik ⊗ x_i over the present x_i. ⊕ is idempotent. Waits for the device: the result's size is a number.

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
    if isinstance(A, ELL):
        _push_padded(k, A, rows, weights, y, reached, nreached)
    else:
        _push_spans(k, A, rows, weights, y, reached, nreached)
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
    assert isinstance(A, CSR | CSC | CompressedCSR | COO)
    starts, lengths = (cupy().empty(rows.size, rows.dtype) for _ in range(2))
    count = k.index(rows.size)
    if isinstance(A, COO):
        k.spans_list(k.grid(rows.size), k.block, (rows, count, A.outer, k.index(A.nnz), starts, lengths))
    else:
        k.spans_compressed(k.grid(rows.size), k.block, (rows, count, A.indptr, starts, lengths))
    ends = cupy().cumsum(lengths, dtype=rows.dtype)
    kernel: Any
    columns: tuple[Array, ...]
    if isinstance(A, CompressedCSR):
        kernel, columns = k.push_packed, (A.words, A.bases, A.starts)
    else:
        kernel, columns = k.push_spans, (A.inner if isinstance(A, COO) else A.indices,)
    entries = (*columns, A.values, step_of(A.values, k.index))
    kernel(k.grid(A.nnz, PUSHED), k.block, (starts, ends, weights, count, *entries, y, reached, nreached))


def _push_padded(k: Kernels, A: ELL, rows: Array, weights: Array, y: Array, reached: Array, nreached: Array) -> None:
    width, nrows = A.indices.shape
    entries = (A.indices, A.values, step_of(A.values, k.index), k.index(width), k.index(nrows))
    arguments = (rows, weights, k.index(rows.size), *entries, y, reached, nreached)
    k.push_padded(k.grid(rows.size * width), k.block, arguments)
