"""Verbs on matrices other than products, on the CPU: the compiled loops of `rows`, put together.

    ewise_add, ewise_mult   a merge of two rows at a time
    extract                 a row costs its entries; a column a search in each row, or what is kept by columns
    assign                  the rows that it writes are merged, and those between them are copied whole

Tests compare them with array programs by keys of positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import CSC, CSR, Matrix
from formats.matrix.facts import COMPRESSED
from formats.storage.compressed import turned

from ..algebra.ops import BinaryOp, find_op
from ..algebra.semirings import Monoid
from ..verbs.masks import MatrixWrite
from ..verbs.verbs import assign, ewise_add, ewise_mult, extract
from .ranges import holds_zero

Combiner = Monoid | BinaryOp


@ewise_add.implement(CSR, "cpu")
def _(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    from . import rows

    return write(rows.united(A, B, op))


@ewise_mult.implement(CSR, "cpu")
def _(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    from . import rows

    if zero is not None and not (isinstance(op, BinaryOp) and op.reads == ""):
        A, B = _without(A, zero), _without(B, zero)
    return write(rows.intersected(A, B, op))


def _without(A: CSR, zero: Any) -> Any:
    """`A` without entries equal to `zero`."""
    from . import rows

    return rows.kept(A, A.values != zero) if holds_zero(A, zero) else A


@extract.implement(CSR, "cpu")
def _(A: CSR, at_rows: Any, at_cols: Any, write: Callable[[CSR], Any]) -> Any:
    return write(_part(A, at_rows, at_cols))


@extract.implement(CSC, "cpu")
def _(A: CSC, at_rows: Any, at_cols: Any, write: Callable[[CSR], Any]) -> Any:
    by_row: Any = A.T
    if at_rows is not None and at_rows.size == 1 and at_cols is None:
        found, values = _column(by_row, int(at_rows[0]))
        indptr = np.array([0, found.size], found.dtype)
        return write(CSR.trusted(indptr, found, values, (1, A.ncols)))
    return write(turned(_part(by_row, at_cols, at_rows)))


def _part(A: CSR, at_rows: np.ndarray | None, at_cols: np.ndarray | None) -> CSR:
    """The entries of `A` at the given rows and columns, in their order; None for all. Never `A` itself."""
    from . import rows

    if at_cols is None:
        if at_rows is None:
            return CSR.trusted(*A.components)
        return _row(A, int(at_rows[0])) if at_rows.size == 1 else rows.picked(A, at_rows)
    if _ascends(at_cols):
        return rows.picked(A, at_rows, at_cols)
    distinct, order = np.unique(at_cols, return_inverse=True)
    columns = turned(rows.picked(A, at_rows, distinct))
    return turned(rows.picked(columns, order))


def _row(A: CSR, i: int) -> CSR:
    """One row of `A`."""
    start, stop = A.indptr[i : i + 2].tolist()
    indptr = np.array([0, stop - start], A.indptr.dtype)
    return CSR.trusted(indptr, A.indices[start:stop].copy(), A.values[start:stop].copy(), (1, A.ncols))


def _column(A: CSR, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns rows and values of one column of `A`."""
    from . import rows

    if A.keeps(COMPRESSED, CSC):
        columns: Any = A.keep(COMPRESSED, lambda: A.to(CSC), CSC)
        return _row(columns.T, j).components[1:3]
    return rows.column(A, j)


def _ascends(indices: np.ndarray) -> bool:
    """True if the indices ascend strictly."""
    return bool((indices[1:] > indices[:-1]).all())


@assign.implement(CSR, "cpu")
def _(out: CSR, value: Any, rows: Any, cols: Any, accum: Combiner | None, write: MatrixWrite) -> CSR:
    return write(_assigned(out, value, rows, cols, accum))


def _assigned(out: CSR, value: Any, at_rows: Any, at_cols: Any, accum: Combiner | None) -> CSR:
    """`out` with the value in the given places."""
    from . import rows

    placed = _placed(out, value, at_rows, at_cols)
    outside = np.full(out.ncols, at_cols is not None)
    outside[at_cols if at_cols is not None else []] = False
    found = rows.positions(out, at_rows, placed, None if accum is not None else outside)
    if found is not None:
        return rows.replaced(out, found, placed.values, accum)
    old = out if at_rows is None else rows.picked(out, at_rows)
    if accum is not None:
        merged = rows.united(old, placed, accum)
    elif at_cols is None:
        merged = placed
    else:  # what was in the places goes, also where the value has no entry
        rest: Any = rows.kept(old, rows.taken(outside, old.indices))
        merged = rows.united(rest, placed, find_op("first"))
    return merged if at_rows is None else rows.spliced(out, at_rows, merged)


def _placed(out: CSR, value: Any, at_rows: np.ndarray | None, at_cols: np.ndarray | None) -> CSR:
    """`value` by the given rows and all of out's columns. Rows and columns ascend."""
    from . import rows

    shape = (out.nrows if at_rows is None else at_rows.size, out.ncols if at_cols is None else at_cols.size)
    if not isinstance(value, Matrix):
        cols = np.arange(out.ncols, dtype=out.indices.dtype) if at_cols is None else at_cols
        indptr = np.arange(shape[0] + 1) * shape[1]
        return CSR.trusted(
            indptr.astype(out.indptr.dtype),
            np.tile(cols, shape[0]).astype(out.indices.dtype, copy=False),
            np.full(shape[0] * shape[1], value, out.dtype),
            (shape[0], out.ncols),
        )
    given: Any = value.to(CSR)
    if at_cols is None:
        return given
    indices = rows.taken(at_cols, given.indices).astype(out.indices.dtype, copy=False)
    return CSR.trusted(given.indptr, indices, given.values, (shape[0], out.ncols))
