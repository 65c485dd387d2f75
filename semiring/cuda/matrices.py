"""Verbs on compressed matrices other than products, by kernels: row by row or entry by entry, without keys or sorting.

Tests compare them with array programs by keys of positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import CSC, CSR, Matrix, SparseVector
from formats.arrays import Array, astype, cupy, index_dtype
from formats.hooks import BLOCKED, PACKED, RANGES, TURNED, UNPACKED
from formats.matrix.facts import COMPRESSED
from formats.storage.compressed import expand
from formats.storage.orientation import compressed

from ..algebra.ops import BinaryOp, find_op
from ..algebra.predicates import Predicate
from ..algebra.semirings import Monoid
from ..generic.matrices import with_flags, written
from ..verbs.masks import MatrixWrite
from ..verbs.verbs import assign, ewise_add, ewise_mult, extract, select
from . import entries, merging, packing, radix

Combiner = Monoid | BinaryOp

TURNED.answered_by(radix.turned)
BLOCKED.answered_by(radix.blocked)
RANGES.answered_by(packing.ranges)
PACKED.answered_by(packing.pack)
UNPACKED.answered_by(packing.unpack)


@ewise_add.implement(CSR, "cuda")
def _(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    return write(merging.united(A, B, op))


@ewise_mult.implement(CSR, "cuda")
def _(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    by_pattern = isinstance(op, BinaryOp) and op.reads == ""
    return write(merging.common(A, B, op, None if by_pattern else zero))


# --- extract --------------------------------------------------------------------------------------------------------


@extract.implement(CSR, "cuda")
def _(A: CSR, rows: Array | None, cols: Array | None, write: Callable[[CSR], Any]) -> Any:
    if cols is None and isinstance(rows, np.ndarray):  # one row, whose number the host knows
        return SparseVector.trusted(*entries.major_line(A, int(rows[0])), A.ncols)
    return write(_part(A, rows, cols))


@extract.implement(CSC, "cuda")
def _(A: CSC, rows: Array | None, cols: Array | None, write: Callable[[CSR], Any]) -> Any:
    by_row: Any = A.T
    if cols is None and isinstance(rows, np.ndarray):
        at = int(rows[0])
        if by_row.keeps(COMPRESSED, CSC):
            return SparseVector.trusted(*entries.major_line(compressed(A, 0), at), A.ncols)
        return SparseVector.trusted(*entries.minor_line(A, at), A.ncols)
    part: Any = _part(by_row, cols, rows)
    return write(part.T.to(CSR))


def _part(A: CSR, rows: Array | None, cols: Array | None) -> CSR:
    """A(I, J), None for all; never `A` itself."""
    rows, cols = (cupy().asarray(part) if isinstance(part, np.ndarray) else part for part in (rows, cols))
    if cols is None:
        return CSR.trusted(*A.components) if rows is None else entries.picked_rows(A, rows)
    part = entries.picked(A, rows, cols)
    if part is not None:
        return part
    by_column: Any = (A if rows is None else entries.picked_rows(A, rows)).to(CSC)
    turned: Any = entries.picked_rows(by_column.T, cols).T
    return turned.to(CSR)


# --- assign ---------------------------------------------------------------------------------------------------------


@assign.implement(CSR, "cuda")
def _(out: CSR, value: Any, rows: Array | None, cols: Array | None, accum: Combiner | None, write: MatrixWrite) -> CSR:
    new = _placed(out, value, rows, cols)
    if accum is not None:
        return write(merging.united(out, new, accum))
    stays = entries.outside(out, rows, cols) if out.nnz else None
    return write(merging.united(out, new, find_op("second"), stays))


def _placed(out: CSR, value: Any, rows: Array | None, cols: Array | None) -> CSR:
    """The matrix of out's shape that `value` puts into the places, which ascend."""
    extents = (out.nrows if rows is None else rows.size, out.ncols if cols is None else cols.size)
    block: Any = value.to(CSR) if isinstance(value, Matrix) else _filled(value, extents, out)
    indptr = block.indptr if rows is None else entries.spread_rows(block, rows, out.nrows)
    indices = block.indices if cols is None else cols.astype(block.indices.dtype, copy=False).take(block.indices)
    return CSR.trusted(indptr, indices, block.values, out.shape)


def _filled(value: Any, shape: tuple[int, int], out: CSR) -> CSR:
    """The matrix that has the value everywhere."""
    cp, (nrows, ncols) = cupy(), shape
    index = index_dtype(*out.shape, nrows * ncols)
    indptr = cp.arange(nrows + 1, dtype=index) * index.type(ncols)
    indices = cp.broadcast_to(cp.arange(ncols, dtype=index), shape).reshape(-1)
    return CSR.trusted(indptr, cp.ascontiguousarray(indices), cp.full(nrows * ncols, value, out.dtype), shape)


# --- select ---------------------------------------------------------------------------------------------------------


@select.implement(CSR, CSC, "cuda")
def _(A: Any, predicate: Predicate, row: Any, col: Any, write: MatrixWrite) -> Any:
    part = _restricted(A, row) if isinstance(A, CSR) and isinstance(row, SparseVector) else A
    kept = entries.kept(part, _bits(part, predicate, row, col)) if part.nnz else type(part).trusted(*part.components)
    return written(A, kept, write)


def _restricted(A: CSR, row: SparseVector) -> CSR:
    """`A` with only the rows that `row` has: the select looks at their entries alone."""
    part = entries.picked_rows(A, row.indices)
    indptr = entries.spread_rows(part, row.indices, A.nrows)
    return CSR.trusted(indptr, part.indices, part.values, A.shape)


def _bits(A: CSR | CSC, predicate: Predicate, row: Any, col: Any) -> Array:
    """A bit for each entry that the predicate holds for."""
    (row_values, in_row), (col_values, in_col) = with_flags(row), with_flags(col)
    value = A.values if "value" in predicate.reads else None
    found = [x.dtype for x in (value, row_values, col_values) if x is not None]
    dtype = np.result_type(*found) if found else A.indices.dtype
    value, row_values, col_values = (None if x is None else astype(x, dtype) for x in (value, row_values, col_values))
    if predicate.cuda:
        return entries.marked(A, predicate, value, (row_values, in_row), (col_values, in_col))
    minor: Any = A.indices
    major = expand(A.indptr) if predicate.reads != ("value",) or row is not None or col is not None else minor
    i, j = (major, minor) if A.major == 0 else (minor, major)
    at_row, at_col = (None if x is None else x[places] for x, places in ((row_values, i), (col_values, j)))
    keep = predicate(i, j, minor if value is None else value, at_row, at_col)
    for present, places in ((in_row, i), (in_col, j)):
        if present is not None:
            keep = keep & present[places]
    return entries.flagged(A, keep)
