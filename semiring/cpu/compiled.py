"""Products by compiled kernels, over each format's own storage.

COO and ELL always come here. CSR and CSC do for semirings that GraphBLAS has no name for, and for operands with which
SuiteSparse's arithmetic would leave the range (`ranges.safe`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import COO, CSC, CSR, ELL, Matrix, SparseVector
from formats.arrays import index_dtype, read_only

from ..algebra import Semiring
from ..masks import VectorWrite
from . import exact
from .threads import cut, cut_at_segments, cut_evenly, get_threads, run

PADDED_BLOCK = 1 << 14
"""Rows of ELL whose part of y stays in the L1 cache while slots stream by."""


def product(A: Matrix, x: Any, semiring: Semiring, write: VectorWrite, *, matrix_first: bool) -> Any:
    """A ⊗ x (matrix_first) or x ⊗ A, written by the write rule."""
    if exact.needed(A, x, semiring):
        return write(exact.product(A, x, semiring, matrix_first))
    gathers = (A.major == 0) == matrix_first
    if isinstance(x, SparseVector):
        if not gathers:
            return write(push(A, x, semiring, matrix_first))
        y = gather(A, x.to_dense(semiring.zero(x.dtype)), semiring, matrix_first, write)
        return write(SparseVector.from_dense(y, semiring.zero(x.dtype)))
    if gathers:
        return write(gather(A, x, semiring, matrix_first, write))
    return write(scatter(A, x, semiring, matrix_first))


def gather(A: Matrix, x: np.ndarray, semiring: Semiring, matrix_first: bool, write: VectorWrite) -> np.ndarray:
    """y_i = ⊕_k a_ik ⊗ x_k along the stored rows, each thread its own rows."""
    from .kernels import kernels

    k = kernels(semiring, A.dtype, matrix_first)
    x = read_only(np.ascontiguousarray(x))
    nmajor = A.shape[A.major]
    if isinstance(A, ELL):
        y = np.empty(nmajor, A.dtype)
        pieces = cut(nmajor, PADDED_BLOCK, A.indices.size)
        run(lambda *piece: k.gather_padded(A.indices, A.values, x, y, *piece), pieces)
    elif isinstance(A, COO):
        y = np.full(nmajor, semiring.zero(A.dtype), A.dtype)
        run(lambda *piece: k.gather_list(A.outer, A.inner, A.values, x, y, *piece), cut_at_segments(A.outer))
    else:
        C = _compressed(A)
        allowed = write.allowed
        masked = allowed is not None
        rows = read_only(np.ascontiguousarray(allowed)) if masked else read_only(np.ones(1, bool))
        y = np.empty(nmajor, A.dtype)
        run(
            lambda *piece: k.gather_compressed(C.indptr, C.indices, C.values, x, y, rows, masked, *piece),
            cut_evenly(C.indptr),
        )
    return y


def scatter(A: Matrix, x: np.ndarray, semiring: Semiring, matrix_first: bool) -> np.ndarray:
    """y_k ⊕= a_ik ⊗ x_i, each thread into a y of its own, added up at the end."""
    from .kernels import kernels

    k = kernels(semiring, A.dtype, matrix_first)
    x = read_only(np.ascontiguousarray(x))
    nmajor, nminor = A.shape[A.major], A.shape[1 - A.major]
    parts: list[np.ndarray] = []

    def work(start: int, stop: int) -> None:
        y = np.full(nminor, semiring.zero(A.dtype), A.dtype)
        if isinstance(A, ELL):
            k.scatter_padded(A.indices, A.values, x, y, start, stop)
        elif isinstance(A, COO):
            k.scatter_list(A.outer, A.inner, A.values, x, y, start, stop)
        else:
            C = _compressed(A)
            k.scatter_compressed(C.indptr, C.indices, C.values, x, y, start, stop)
        parts.append(y)

    if isinstance(A, COO):
        pieces = cut_at_segments(A.outer)
    else:
        pieces = cut(nmajor, -(-nmajor // get_threads()), A.values.size)
    run(work, pieces)
    total = parts[0]
    for part in parts[1:]:
        total = semiring.add(total, part)
    return total


def push(A: Matrix, x: SparseVector, semiring: Semiring, matrix_first: bool) -> SparseVector:
    """y_k ⊕= a_ik ⊗ x_i over the present x_i: a cost of their entries, and one bit-clearing pass over y's flags."""
    from .kernels import kernels

    k = kernels(semiring, A.dtype, matrix_first)
    size = A.shape[1 - A.major]
    y = np.empty(size, A.dtype)
    seen = np.zeros(size, bool)
    rows, weights = read_only(np.ascontiguousarray(x.indices)), read_only(np.ascontiguousarray(x.values))
    reached = np.empty(size, index_dtype(size))
    if isinstance(A, ELL):
        count = k.push_padded(A.indices, A.values, rows, weights, y, seen, reached)
    elif isinstance(A, COO):
        count = k.push_list(A.outer, A.inner, A.values, rows, weights, y, seen, reached)
    else:
        C = _compressed(A)
        count = k.push_compressed(C.indptr, C.indices, C.values, rows, weights, y, seen, reached)
    indices = np.flatnonzero(seen).astype(reached.dtype) if count * 16 > size else np.sort(reached[:count])
    values = y[indices]
    present = values != semiring.zero(A.dtype)
    if not present.all():
        indices, values = indices[present], values[present]
    return SparseVector.trusted(indices, values, size)


def _compressed(A: Matrix) -> CSR | CSC:
    assert isinstance(A, CSR | CSC)
    return A
