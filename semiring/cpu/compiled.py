"""Products by compiled kernels, over each format's own storage.

COO, ELL, SegmentedCOO and Dense always come here. CSR and CSC do with a sparse operand, with semirings that GraphBLAS
has no name for, and with operands on which SuiteSparse's arithmetic would leave the range (`suitesparse.operand`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from formats import COO, CSC, CSR, ELL, Dense, Matrix, SegmentedCOO, SparseVector
from formats.arrays import index_dtype, read_only
from formats.convert import compressed

from ..algebra import Semiring, counts
from ..masks import VectorWrite
from . import exact
from .plain import Operand, plain_operand
from .ranges import holds_zero
from .threads import PIECES_PER_THREAD, cut, cut_at_segments, cut_evenly, get_threads, run

if TYPE_CHECKING:
    from .kernels import Kernels

GATHER_FROM = 1 / 8
"""Share of present elements from which a sparse operand is gathered as a dense one, where the matrix must be turned."""

SCAN_FROM = 1 / 4
"""Share of y above which finding the reached places by a scan of y is faster than sorting them."""

PADDED_BLOCK = 1 << 14
"""Rows of ELL whose part of y stays in the L1 cache while slots stream by."""


def product(A: Matrix, x: Any, semiring: Semiring, write: VectorWrite, *, matrix_first: bool) -> Any:
    """A ⊗ x (matrix_first) or x ⊗ A, written by the write rule."""
    if exact.needed(A, x, semiring):
        return write(exact.product(A, x, semiring, matrix_first))
    gathers = (A.major == 0) == matrix_first
    if isinstance(x, SparseVector):
        zero = semiring.zero(x.dtype)
        pushes = semiring.add.idempotent or counts(semiring, A.dtype)
        rows = selected_by(A, x, matrix_first, gathers) if pushes else None
        if rows is not None:
            return write(push(rows, x, semiring, matrix_first))
        dense = x.to_dense(zero)
        y = gather(A, dense, semiring, matrix_first, write) if gathers else scatter(A, dense, semiring, matrix_first)
        return write(SparseVector.from_dense(y, zero))
    if gathers:
        return write(gather(A, x, semiring, matrix_first, write))
    return write(scatter(A, x, semiring, matrix_first))


def selected_by(A: Matrix, x: SparseVector, matrix_first: bool, gathers: bool) -> Matrix | None:
    """`A` with the entries that belong to an element of x lying together: itself, or what is kept; None to gather.

    CSR and CSC are turned for it, and SegmentedCOO, in which no element's entries lie together, is compressed.
    """
    if not gathers and not isinstance(A, SegmentedCOO):
        return A
    if isinstance(A, COO | ELL | Dense) or x.nnz >= x.size * GATHER_FROM:
        return None
    return compressed(A, 1 if matrix_first else 0)


def prepared(A: Matrix, x: np.ndarray, semiring: Semiring, matrix_first: bool) -> tuple[Kernels, Operand]:
    """The kernels for a dense operand, and the operand as they take it: the plain ones where they are exact."""
    from .kernels import kernels

    takes_part = semiring.mul.reads != "" and holds_zero(A, semiring.zero(A.dtype))
    operand = None if takes_part else plain_operand(A, x, semiring, matrix_first)
    if operand is None or operand.present is not None:
        return kernels(semiring, A.dtype, matrix_first), Operand(x)
    return kernels(semiring, A.dtype, matrix_first, plain=True), operand


def gather(A: Matrix, x: np.ndarray, semiring: Semiring, matrix_first: bool, write: VectorWrite) -> np.ndarray:
    """y_i = ⊕_k a_ik ⊗ x_k along the stored rows, each thread its own rows."""
    k, operand = prepared(A, x, semiring, matrix_first)
    x, zero = read_only(np.ascontiguousarray(operand.values)), semiring.zero(A.dtype)
    nmajor, masked = A.shape[A.major], write.mask is not None
    rows = read_only(np.ascontiguousarray(write.allowed) if masked else np.ones(1, bool))
    if isinstance(A, Dense):
        y = np.empty(nmajor, A.dtype)
        size = max(1, -(-nmajor // (get_threads() * PIECES_PER_THREAD)))
        pieces = cut(nmajor, size, A.values.size)
        run(lambda *piece: k.gather_dense(A.values, A.fill, x, y, rows, masked, *piece), pieces)
    elif isinstance(A, ELL):
        y = np.empty(nmajor, A.dtype)
        pieces = cut(nmajor, PADDED_BLOCK, A.indices.size)
        run(lambda *piece: k.gather_padded(A.indices, A.values, x, y, *piece), pieces)
    elif isinstance(A, COO):
        y = np.full(nmajor, zero, A.dtype)
        run(
            lambda *piece: k.gather_list(A.outer, A.inner, A.values, x, y, *piece),
            cut_at_segments(A.outer, PIECES_PER_THREAD),
        )
    elif isinstance(A, SegmentedCOO):
        y = np.full(nmajor, zero, A.dtype)
        run(lambda *piece: _gather_segments(k, A, x, y, *piece), cut_evenly(A.starts))
    else:
        C = _compressed(A)
        y = np.empty(nmajor, A.dtype)
        run(
            lambda *piece: k.gather_compressed(C.indptr, C.indices, C.values, x, y, rows, masked, *piece),
            cut_evenly(C.indptr),
        )
    return operand.finished(y, zero)


def scatter(A: Matrix, x: np.ndarray, semiring: Semiring, matrix_first: bool) -> np.ndarray:
    """y_k ⊕= a_ik ⊗ x_i, each thread into a y of its own, added up at the end."""
    k, operand = prepared(A, x, semiring, matrix_first)
    x, zero = read_only(np.ascontiguousarray(operand.values)), semiring.zero(A.dtype)
    nmajor, nminor = A.shape[A.major], A.shape[1 - A.major]
    parts: dict[int, np.ndarray] = {}

    def work(start: int, stop: int) -> None:
        y = np.full(nminor, zero, A.dtype)
        if isinstance(A, Dense):
            k.scatter_dense(A.values, A.fill, x, y, start, stop)
        elif isinstance(A, ELL):
            k.scatter_padded(A.indices, A.values, x, y, start, stop)
        elif isinstance(A, COO):
            k.scatter_list(A.outer, A.inner, A.values, x, y, start, stop)
        elif isinstance(A, SegmentedCOO):
            _scatter_segments(k, A, x, y, start, stop)
        else:
            C = _compressed(A)
            k.scatter_compressed(C.indptr, C.indices, C.values, x, y, start, stop)
        parts[start] = y

    if isinstance(A, COO):
        pieces = cut_at_segments(A.outer, 1)
    elif isinstance(A, SegmentedCOO):
        pieces = cut_evenly(A.starts, 1)
    else:
        pieces = cut(nmajor, -(-nmajor // get_threads()), A.values.size)
    run(work, pieces)
    total, *others = (parts[start] for start in sorted(parts))  # in order, for `any` takes the first
    for part in others:
        total = semiring.add(total, part)
    return operand.finished(total, zero)


def _gather_segments(k: Kernels, A: SegmentedCOO, x: np.ndarray, y: np.ndarray, first: int, last: int) -> None:
    """y_i = ⊕_k a_ik ⊗ x_k for the rows of some segments, one at a time, so that its part of y stays in the cache."""
    for s in range(first, last):
        part = y[s * A.segment : (s + 1) * A.segment]
        k.scatter_list(A.indices, A.offsets, A.values, x, part, int(A.starts[s]), int(A.starts[s + 1]))


def _scatter_segments(k: Kernels, A: SegmentedCOO, x: np.ndarray, y: np.ndarray, first: int, last: int) -> None:
    """y_k ⊕= a_ik ⊗ x_i for the rows of some segments, whose part of x stays in the cache."""
    for s in range(first, last):
        part = x[s * A.segment : (s + 1) * A.segment]
        k.scatter_list(A.offsets, A.indices, A.values, part, y, int(A.starts[s]), int(A.starts[s + 1]))


def push(A: Matrix, x: SparseVector, semiring: Semiring, matrix_first: bool) -> SparseVector:
    """y_k ⊕= a_ik ⊗ x_i over the present x_i, at the cost of their entries.

    ⊕ is idempotent, or counts: no y_k returns to zero.
    y is an array of zeros that is kept with the matrix; the places that were reached are put back to zero at the end.
    Two calls at a time never share it: whoever finds it taken makes a new one.
    """
    from .kernels import kernels

    k = kernels(semiring, A.dtype, matrix_first)
    size, zero = A.shape[1 - A.major], semiring.zero(A.dtype)
    if isinstance(A, Dense):  # rows reach everywhere
        y = np.full(size, zero, A.dtype)
        k.push_dense(A.values, A.fill, read_only(np.ascontiguousarray(x.indices)), read_only(x.values.copy()), y)
        return SparseVector.from_dense(y, zero)
    key = ("scratch", A.major, A.dtype, zero)
    y, reached = A.take(key) or (np.full(size, zero, A.dtype), np.empty(size + 1, index_dtype(size)))
    rows, weights = read_only(np.ascontiguousarray(x.indices)), read_only(np.ascontiguousarray(x.values))
    if isinstance(A, ELL):
        count = k.push_padded(A.indices, A.values, rows, weights, y, reached)
    elif isinstance(A, COO):
        count = k.push_list(A.outer, A.inner, A.values, rows, weights, y, reached)
    else:
        C = _compressed(A)
        count = k.push_compressed(C.indptr, C.indices, C.values, rows, weights, y, reached)
    if count > size * SCAN_FROM:
        indices = np.flatnonzero(y != zero).astype(reached.dtype)
    else:
        indices = np.sort(reached[:count])
    places = indices.astype(np.intp)  # NumPy takes twice as long to look up by int32
    values = y.take(places)
    y[places] = zero
    A.keep(key, lambda: (y, reached))
    return SparseVector.trusted(indices, values, size)


def _compressed(A: Matrix) -> CSR | CSC:
    assert isinstance(A, CSR | CSC)
    return A
