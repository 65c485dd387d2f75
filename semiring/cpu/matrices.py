"""Verbs on matrices other than products: element-wise ones on CSR, and on every format what algorithms need of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import COO, CSC, CSR, ELL, Matrix, SparseVector
from formats.convert import compress, expand

from .. import merge
from ..algebra import Monoid
from ..masks import MatrixWrite, VectorWrite
from ..ops import BinaryOp, find_op
from ..predicates import Predicate
from ..verbs import apply, assign, ewise_add, ewise_mult, extract, reduce, select, transpose
from .ranges import entries
from .reductions import fold, fold_runs

Combiner = Monoid | BinaryOp


@ewise_add.implement(CSR, "cpu")
def _(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    merged = merge.union_keys(merge.keys_of(A), A.values, merge.keys_of(B), B.values, op)
    return write(merge.from_keys(*merged, A.shape))


@ewise_mult.implement(CSR, "cpu")
def _(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    by_pattern = isinstance(op, BinaryOp) and op.reads == ""
    absent = None if by_pattern else zero
    merged = merge.intersect_keys(*_entries(A, absent), *_entries(B, absent), op)
    return write(merge.from_keys(*merged, A.shape))


def _entries(A: CSR, zero: Any) -> tuple[np.ndarray, np.ndarray]:
    """(keys, values) of A's entries other than `zero`."""
    present = slice(None) if zero is None else A.values != zero
    return merge.keys_of(A)[present], A.values[present]


@apply.implement(CSR, "cpu")
def _(A: CSR, function: Callable[[Any], Any], write: MatrixWrite) -> CSR:
    return write(A.with_values(np.ascontiguousarray(function(A.values))))


@reduce.implement(CSR, CSC, COO, ELL, "cpu")
def _(A: Matrix, monoid: Monoid, axis: int | None, write: VectorWrite) -> Any:
    if axis is None:
        return fold(monoid, entries(A))
    if isinstance(A, ELL) or A.major == axis:  # entries of one result do not lie together
        rows: Any = A.to(CSR if axis == 1 else CSC)
        outer, values = expand(rows.indptr), rows.values
    else:
        outer, values = _outer(A), A.values
    y = np.full(A.shape[1 - axis], monoid.zero(A.dtype), A.dtype)
    starts = np.flatnonzero(np.concatenate((np.ones(min(outer.size, 1), bool), outer[1:] != outer[:-1])))
    if starts.size:
        y[outer[starts]] = fold_runs(monoid, np.ascontiguousarray(values), starts)
    return write(y)


def _outer(A: Any) -> np.ndarray:
    return A.outer if isinstance(A, COO) else expand(A.indptr)


@extract.implement(CSR, CSC, "cpu")
def _(A: Any, rows: np.ndarray | None, cols: np.ndarray | None, write: Callable[[CSR], Any]) -> Any:
    by_row: Any = A.to(CSR)
    part = by_row if rows is None else _rows(by_row, rows)
    if cols is not None:
        turned: Any = part.to(CSC)
        part = _rows(turned.T, cols).T.to(CSR)
    return write(part)


def _rows(A: CSR, rows: np.ndarray) -> CSR:
    """The given rows of `A`, in their order."""
    lengths = np.diff(A.indptr)[rows]
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(A.indptr.dtype)
    at = np.arange(indptr[-1]) + np.repeat(A.indptr[rows] - indptr[:-1], lengths)
    return CSR.trusted(indptr, A.indices[at], A.values[at], (rows.size, A.ncols))


@assign.implement(CSR, "cpu")
def _(
    out: CSR, value: Any, rows: np.ndarray | None, cols: np.ndarray | None, accum: Combiner | None, write: MatrixWrite
) -> CSR:
    row_places = np.arange(out.nrows) if rows is None else rows
    col_places = np.arange(out.ncols) if cols is None else cols
    keys, values = _placed(out, value, row_places, col_places)
    old_keys, old_values = merge.keys_of(out), out.values
    if accum is None:  # what was in the places goes, also where the value has no entry
        in_rows, in_cols = np.zeros(out.nrows, bool), np.zeros(out.ncols, bool)
        in_rows[row_places], in_cols[col_places] = True, True
        outside = ~(in_rows[expand(out.indptr)] & in_cols[out.indices])
        old_keys, old_values = old_keys[outside], old_values[outside]
    combiner = accum if accum is not None else find_op("second")
    return write(merge.from_keys(*merge.union_keys(old_keys, old_values, keys, values, combiner), out.shape))


def _placed(out: CSR, value: Any, rows: np.ndarray, cols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The (keys, values) that `value` puts into `out`, ascending."""
    if isinstance(value, Matrix):
        if value.shape != (rows.size, cols.size):
            raise ValueError(f"value must have the places' shape {(rows.size, cols.size)}, got {value.shape}")
        at_rows, at_cols, values = value.to_edges()
        keys = rows[at_rows].astype(np.int64) * out.ncols + cols[at_cols]
        values = values.astype(out.dtype)
    else:
        keys = (rows[:, None].astype(np.int64) * out.ncols + cols).reshape(-1)
        values = np.full(keys.size, value, out.dtype)
    order = np.argsort(keys, kind="stable")
    return keys[order], values[order]


@transpose.implement(CSR, CSC, COO, ELL, "cpu")
def _(A: Matrix, write: MatrixWrite) -> Matrix:
    turned: Any = A.T.to(type(A))
    if write.mask is None and write.out is None:
        return turned
    return write(turned.to(CSR)).to(type(A)) if write.out is None else write(turned.to(CSR))


# --- select ---------------------------------------------------------------------------------------------------------


@select.implement(CSR, CSC, COO, ELL, "cpu")
def _(A: Any, predicate: Predicate, row: Any, col: Any, write: MatrixWrite) -> Any:
    part = _restricted(A, row) if isinstance(A, CSR) and isinstance(row, SparseVector) else A
    keep = _holds(part, predicate, row, col)
    kept: Matrix
    if isinstance(part, ELL):
        kept = _squeezed(part, keep)
    elif isinstance(part, COO):
        kept = COO.trusted(part.rows[keep], part.cols[keep], part.values[keep], part.shape, part.major)
    else:
        outer = expand(part.indptr)[keep]
        indptr = compress(outer, part.shape[part.major], part.indptr.dtype)
        kept = type(part).trusted(indptr, part.indices[keep], part.values[keep], part.shape)
    if write.mask is None and write.out is None:
        return kept
    by_row: Any = kept.to(CSR)
    return write(by_row) if write.out is not None else write(by_row).to(type(A))


def _restricted(A: CSR, row: SparseVector) -> CSR:
    """`A` with only the rows that `row` has: what the select costs is these rows' entries."""
    part = _rows(A, row.indices)
    indptr = np.zeros(A.nrows + 1, A.indptr.dtype)
    indptr[row.indices + 1] = np.diff(part.indptr)
    return CSR.trusted(np.cumsum(indptr, dtype=A.indptr.dtype), part.indices, part.values, A.shape)


def _holds(A: Any, predicate: Predicate, row: Any, col: Any) -> np.ndarray:
    """For each stored place of `A`: is it an entry that is kept?"""
    if isinstance(A, ELL):
        major = np.broadcast_to(np.arange(A.indices.shape[1]), A.indices.shape)
        minor, present = np.maximum(A.indices, 0), A.indices >= 0
    else:
        major, minor, present = _outer(A), A.inner if isinstance(A, COO) else A.indices, None
    i, j = (major, minor) if A.major == 0 else (minor, major)
    row_values, in_row = _looked_up(row, i)
    col_values, in_col = _looked_up(col, j)
    value, row_values, col_values = _common(A.values, row_values, col_values)
    with np.errstate(over="ignore", invalid="ignore"):  # as the products: infinity is a value, padding is none
        keep = np.asarray(predicate.array(i, j, value, row_values, col_values))
    for condition in (present, in_row, in_col):
        if condition is not None:
            keep = keep & condition
    return keep


def _looked_up(x: Any, at: np.ndarray) -> tuple[Any, Any]:
    """(x[at], where x has an entry): None for no vector, and None for a vector that has them all."""
    if x is None:
        return None, None
    if not isinstance(x, SparseVector):
        return x[at], None
    flags = np.zeros(x.size, bool)
    flags[x.indices] = True
    return x.to_dense(x.dtype.type(0))[at], flags[at]


def _common(*values: Any) -> list[Any]:
    """The arrays among `values` in NumPy's common dtype."""
    dtype = np.result_type(*(v.dtype for v in values if v is not None))
    return [None if v is None else v.astype(dtype, copy=False) for v in values]


def _squeezed(A: ELL, keep: np.ndarray) -> ELL:
    """The kept entries of `A`, moved up to the first slots of their rows."""
    slots = np.cumsum(keep, axis=0) - 1
    width = int(keep.sum(axis=0).max(initial=0))
    indices = np.full((width, A.indices.shape[1]), -1, A.indices.dtype)
    values = np.zeros((width, A.indices.shape[1]), A.dtype)
    _, columns = np.nonzero(keep)
    indices[slots[keep], columns] = A.indices[keep]
    values[slots[keep], columns] = A.values[keep]
    return ELL.trusted(indices, values, A.shape, A.major)
