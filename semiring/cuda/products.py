"""mxv, vxm and mxm on the GPU: which kernel serves which format and operand.

    dense operand     gather along the stored rows; across them, through the kept transpose (CSR, CSC), or scatter from
                      the format's own storage (the others). Sums, whose order must not change: gather, if need be
                      through kept rows or columns
    masked, and ⊕     along the stored rows of CSR and CSC, each as far as its first term
      is terminal
    sparse operand    push along the stored rows, or along those that are kept (CSR, CSC, SegmentedCOO); a dense one
                      gathers

Kept rows or columns are made at the first product that wants them, and count in `kept_nbytes`.
"""

from __future__ import annotations

from typing import Any

from formats import COO, CSC, CSR, ELL, Dense, Matrix, SegmentedCOO, SparseVector
from formats.arrays import Array, cupy, index_dtype, is_array
from formats.convert import compressed

from .. import merge
from ..algebra import Semiring, counts
from ..masks import MatrixWrite, VectorWrite
from ..schedules import pull_kernel
from ..verbs import mxm, mxv, vxm
from . import dense, segments, tiles
from .expand import expand_and_combine
from .kernels import SHORT_ROWS, Kernels, Shape, kernels_for, shape_for
from .push import push
from .tiles import step_of

GATHER_FROM = 1 / 8
"""Share of present elements from which a sparse operand is gathered as a dense one."""


@mxv.implement(CSR, CSC, COO, ELL, SegmentedCOO, Dense, "cuda")
def _(A: Matrix, x: Any, semiring: Semiring, write: VectorWrite) -> Any:
    return write(_product(A, x, semiring, write, matrix_first=True))


@vxm.implement(CSR, CSC, COO, ELL, SegmentedCOO, Dense, "cuda")
def _(x: Any, A: Matrix, semiring: Semiring, write: VectorWrite) -> Any:
    return write(_product(A, x, semiring, write, matrix_first=False))


@mxm.implement(CSR, "cuda")
def _(A: CSR, B: CSR, semiring: Semiring, write: MatrixWrite) -> CSR:
    return write(expand_and_combine(A, B, semiring))


@mxm.implement(CSC, "cuda")
def _(A: CSC, B: CSC, semiring: Semiring, write: MatrixWrite) -> CSR:
    rows: Any = (A.to(CSR), B.to(CSR))
    return mxm.find(CSR, "cuda")(*rows, semiring, write)


def _product(A: Matrix, x: Any, semiring: Semiring, write: VectorWrite, *, matrix_first: bool) -> Array | SparseVector:
    """A ⊗ x (matrix_first) or x ⊗ A, dense or sparse as `x` is."""
    gathers = (A.major == 0) == matrix_first
    if gathers and isinstance(A, CSR | CSC) and is_array(x) and write.mask is not None:
        kernel = pull_kernel() or ("gather_until_found" if semiring.add.terminal else None)
        if kernel is not None:
            return _pulled(A, x, semiring, write.allowed, matrix_first, kernel)
    if isinstance(x, SparseVector):
        return _sparse_product(A, x, semiring, write, matrix_first, gathers)
    return _dense_product(A, x, semiring, write, matrix_first, gathers)


def _dense_product(
    A: Matrix, x: Array, semiring: Semiring, write: VectorWrite, matrix_first: bool, gathers: bool
) -> Array:
    cp = cupy()
    if not x.flags.c_contiguous:
        x = cp.ascontiguousarray(x)
    if not _has_kernel(A, semiring, gathers):
        A, gathers = compressed(A, 0 if matrix_first else 1), True
    k = _kernels(A, semiring, matrix_first)
    size = A.shape[A.major if gathers else 1 - A.major]
    if isinstance(A, Dense):
        return dense.gather(k, A, x, write.allowed) if gathers else dense.fold_rows(k, A, x)
    if isinstance(A, CSR | CSC):
        y = cp.empty(size, A.dtype)
        tiles.gather_compressed(k, A, x, y)
    elif isinstance(A, ELL) and gathers:
        y = cp.empty(size, A.dtype)
        if size:
            k.gather_padded((-(-size // k.block[0]),), k.block, (*_slots(k, A), x, y))
    else:
        y = cp.full(size, semiring.zero(A.dtype), A.dtype)
        if isinstance(A, SegmentedCOO):
            (segments.gather if gathers else segments.scatter)(k, A, x, y)
        elif gathers:
            assert isinstance(A, COO)
            tiles.gather_list(k, A, x, y)
        else:
            _scatter(k, A, x, y)
    return y


def _pulled(A: CSR | CSC, x: Array, semiring: Semiring, allowed: Array, matrix_first: bool, kernel: str) -> Array:
    """The product for the allowed rows, by a kernel that leaves out the others."""
    cp = cupy()
    k, y = _kernels(A, semiring, matrix_first), cp.empty(A.shape[A.major], A.dtype)
    if y.size:
        rows = (A.indptr, k.index(y.size), A.indices, A.values, step_of(A.values, k.index))
        launch = getattr(k, kernel)
        launch(k.grid(y.size), k.block, (*rows, cp.ascontiguousarray(x), cp.ascontiguousarray(allowed), y))
    return y


def _has_kernel(A: Matrix, semiring: Semiring, gathers: bool) -> bool:
    """Is there a kernel for this product on the format's own storage?"""
    if isinstance(A, CSR | CSC):
        return gathers
    if isinstance(A, SegmentedCOO):
        return in_any_order(semiring) and (not gathers or segments.fits(A))
    if isinstance(A, Dense):  # whose lanes take turns along a row, where `any` wants the first entry
        return not gathers or semiring.add.name != "any"
    return gathers or in_any_order(semiring)


def _scatter(k: Kernels, A: Matrix, x: Array, y: Array) -> None:
    """y_k ⊕= a_ik ⊗ x_i by atomics, from a list's or an ELL's own storage. y is the zero at first."""
    if A.nnz == 0:
        return
    if isinstance(A, COO):
        entries = (A.outer, A.inner, A.values, step_of(A.values, k.index), k.index(A.nnz))
        k.scatter_list(k.grid(A.nnz), k.block, (*entries, x, y))
    else:
        k.scatter_padded((-(-A.shape[A.major] // k.block[0]),), k.block, (*_slots(k, A), x, y))


def _sparse_product(
    A: Matrix, x: SparseVector, semiring: Semiring, write: VectorWrite, matrix_first: bool, gathers: bool
) -> SparseVector:
    zero = semiring.zero(A.dtype)
    if isinstance(A, Dense) and not gathers:
        y = dense.fold_rows(_kernels(A, semiring, matrix_first), A, x)
        return SparseVector.from_dense(y, zero)
    selects = not gathers and not isinstance(A, SegmentedCOO)  # do an element's entries lie together?
    if x.nnz < x.size * GATHER_FROM and (selects or not isinstance(A, COO | ELL | Dense)):
        rows = A if selects else compressed(A, 1 if matrix_first else 0)
        if in_any_order(semiring) or counts(semiring, A.dtype):
            return push(_kernels(rows, semiring, matrix_first), rows, x, semiring)
        if isinstance(rows, CSR | CSC):
            return _combined(rows, x, semiring, matrix_first)
    y = _dense_product(A, x.to_dense(zero), semiring, write, matrix_first, gathers)
    return SparseVector.from_dense(y, zero)


def _combined(A: Any, x: SparseVector, semiring: Semiring, matrix_first: bool) -> SparseVector:
    """The rows that x selects, by expanding and sorting them: for sums, in an order that is always the same."""
    x = merge.drop(x, semiring.zero(A.dtype))
    index = A.indices.dtype
    xp = cupy()
    as_row = CSR.trusted(xp.array([0, x.nnz], index), x.indices.astype(index, copy=False), x.values, (1, x.size))
    rows = A if A.major == 0 else A.T
    y = expand_and_combine(as_row, rows, semiring, swapped=matrix_first)
    return SparseVector.trusted(y.indices, y.values, y.ncols)


def in_any_order(semiring: Semiring) -> bool:
    """Does ⊕ give the same whatever the order, so that atomics may decide it? `any` takes what comes first."""
    return semiring.add.idempotent and not (semiring.add.name == "any" and semiring.mul.reads)


def _kernels(A: Any, semiring: Semiring, matrix_first: bool) -> Kernels:
    shape, index_dtype = A.keep("shape", lambda: _shape(A))
    return kernels_for(semiring, A.dtype, index_dtype, matrix_first, shape)


def _shape(A: Any) -> tuple[Shape, Any]:
    """The kernels' shape and index type for a matrix."""
    if isinstance(A, Dense):
        return SHORT_ROWS, index_dtype(*A.shape)
    if isinstance(A, ELL | SegmentedCOO):
        return SHORT_ROWS, A.indices.dtype
    return shape_for(A.nnz, A.shape[A.major]), (A.outer if isinstance(A, COO) else A.indices).dtype


def _slots(k: Kernels, A: Any) -> tuple[Any, ...]:
    """What kernels on padded rows take first."""
    width, nrows = A.indices.shape
    return A.indices, A.values, step_of(A.values, k.index), k.index(width), k.index(nrows)
