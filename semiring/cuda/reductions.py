"""reduce on the GPU: ⊕ over everything, or along the rows or columns of a matrix."""

from __future__ import annotations

from typing import Any

from formats import Dense, Matrix, SparseVector
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, index_dtype
from formats.places import kept_by_place

from ..algebra.codegen import types_of
from ..algebra.ops import OPERATORS
from ..algebra.semirings import Monoid, Semiring
from ..generic.dense import lines_by_product
from ..verbs.masks import VectorWrite
from ..verbs.registry import Vector
from ..verbs.verbs import reduce, reduce_lines
from . import tiles
from .kernels import ARGUMENTS, FOLDS, SHORT_ROWS, WHOLE, Kernels, Shape, kernels_for, shape_for


@reduce.implement(Vector, "cuda")
def _(u: Any, monoid: Monoid) -> Any:
    return _folded(monoid, u.values if isinstance(u, SparseVector) else u)


@reduce.implement(Matrix, "cuda")
def _(A: Matrix, monoid: Monoid, axis: int | None, write: VectorWrite) -> Any:
    if axis is None:
        whole, *others = A.stored_parts
        if others:
            whole = A.xp.stack([A.xp.asarray(_folded(monoid, part)) for part in A.stored_parts])
        return _folded(monoid, whole)
    along = A.line_ends is not None and A.major != axis  # else a result's entries do not lie together
    lines: Any = A if along else reduce.rows_of(A, 1 - axis)
    y = cupy().empty(A.shape[1 - axis], A.dtype)
    k = _kernels(monoid, A.dtype, lines.indptr.dtype, FOLDS, shape_for(lines.nnz, y.size))
    tiles.fold_compressed(k, lines, y)
    return write(y)


@reduce_lines.implement(Matrix, "cuda")
def _(A: Matrix, monoid: Monoid, axis: int) -> tuple[Array, Array]:
    if isinstance(A, Dense):
        return lines_by_product(A, monoid, axis)
    cp, lines = cupy(), reduce.rows_of(A, 1 - axis)
    size = A.shape[1 - axis]
    y, which = cp.empty(size, A.dtype), cp.empty(size, lines.indptr.dtype)
    k = _kernels(monoid, A.dtype, types_of(lines), ARGUMENTS, shape_for(lines.nnz, size))
    tiles.fold_arguments(k, lines, y, which)
    return y, which.astype(index_dtype(A.shape[axis]), copy=False)


def _folded(monoid: Monoid, values: Array) -> Any:
    """⊕ over all values, as a scalar of their dtype. Waits for the device."""
    if values.size == 0:
        return monoid.zero(values.dtype)
    if 0 not in values.strides:
        values = cupy().ascontiguousarray(values)
    k = _kernels(monoid, values.dtype, index_dtype(values.size), WHOLE)
    return tiles.fold_all(k, values).get()[0]


def fold_blocks(monoid: Monoid, values: Array) -> Array:
    """⊕ over the values that each block of a grid takes: the first of the two passes of `reduce`. ⊕ selects."""
    if values.size == 0:
        return values
    k = _kernels(monoid, values.dtype, index_dtype(values.size), WHOLE)
    return tiles.fold_blocks(k, cupy().ascontiguousarray(values))


@kept_by_place(128)
def _kernels(monoid: Monoid, dtype: Any, index: Any, unit: str, shape: Shape = SHORT_ROWS) -> Kernels:
    """The kernels of a semiring with this ⊕. Its ⊗ is not used."""
    return kernels_for(Semiring(monoid, OPERATORS["first"], dtypes=(dtype,)), dtype, index, True, shape, unit)
