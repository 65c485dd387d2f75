"""Verbs on CSR as array programs over keys, which NumPy and CuPy both run: what kernels for matrices must equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import CSC, CSR, Matrix
from formats.arrays import Array, differs
from formats.storage.compressed import expand, spread
from semiring import BinaryOp, Monoid
from semiring.algebra.ops import find_op
from semiring.verbs import merge
from semiring.verbs.masks import MatrixWrite

Combiner = Monoid | BinaryOp


def united_by_arrays(A: CSR, B: CSR, op: Any) -> CSR:
    """What `steps.united` returns, by sorting positions."""
    merged = merge.union_keys(merge.keys_of(A), A.values, merge.keys_of(B), B.values, op)
    return merge.from_keys(*merged, A.shape)


def union_by_keys(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    return write(united_by_arrays(A, B, op))


def intersection_by_keys(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    by_pattern = isinstance(op, BinaryOp) and op.reads == ""
    absent = None if by_pattern else zero
    merged = merge.intersect_keys(*_entries(A, absent), *_entries(B, absent), op)
    return write(merge.from_keys(*merged, A.shape))


def _entries(A: CSR, zero: Any) -> tuple[Array, Array]:
    """Returns the keys and the values of A's entries other than `zero`."""
    present = slice(None) if zero is None else differs(A.values, zero)
    return merge.keys_of(A)[present], A.values[present]


def part_by_gathers(A: Any, rows: Array | None, cols: Array | None, write: Callable[[CSR], Any]) -> Any:
    by_row: Any = A.to(CSR)
    part: Any = CSR.trusted(*by_row.components) if rows is None else _rows(by_row, rows)  # never A itself
    if cols is not None:
        turned: Any = part.to(CSC)
        part = _rows(turned.T, cols).T.to(CSR)
    return write(part)


def _rows(A: CSR, rows: Array) -> CSR:
    """The given rows of `A`, in their order."""
    xp = A.xp
    indptr = xp.zeros(rows.size + 1, A.indptr.dtype)
    if rows.size:
        indptr[1:] = xp.cumsum(xp.diff(A.indptr)[rows])
    shifts = spread(A.indptr[rows] - indptr[:-1], indptr)
    at = xp.arange(shifts.size) + shifts
    return CSR.trusted(indptr, A.indices[at], A.values[at], (rows.size, A.ncols))


def assigned_by_keys(
    out: CSR, value: Any, rows: Array | None, cols: Array | None, accum: Combiner | None, write: MatrixWrite
) -> CSR:
    xp = out.xp
    row_places = xp.arange(out.nrows) if rows is None else rows
    col_places = xp.arange(out.ncols) if cols is None else cols
    keys, values = _placed(out, value, row_places, col_places)
    old_keys, old_values = merge.keys_of(out), out.values
    if accum is None:  # what was in the places goes, also where the value has no entry
        in_rows, in_cols = xp.zeros(out.nrows, bool), xp.zeros(out.ncols, bool)
        in_rows[row_places], in_cols[col_places] = True, True
        outside = ~(in_rows[expand(out.indptr)] & in_cols[out.indices])
        old_keys, old_values = old_keys[outside], old_values[outside]
    combiner = accum if accum is not None else find_op("second")
    return write(merge.from_keys(*merge.union_keys(old_keys, old_values, keys, values, combiner), out.shape))


def _placed(out: CSR, value: Any, rows: Array, cols: Array) -> tuple[Array, Array]:
    """The (keys, values) that `value` puts into `out`, ascending."""
    xp = out.xp
    if isinstance(value, Matrix):
        if value.shape != (rows.size, cols.size):
            raise ValueError(f"value must have the places' shape {(rows.size, cols.size)}, got {value.shape}")
        at_rows, at_cols, values = value.to_edges()
        keys = rows[at_rows].astype(np.int64) * out.ncols + cols[at_cols]
    else:
        keys = (rows[:, None].astype(np.int64) * out.ncols + cols).reshape(-1)
        values = xp.full(keys.size, value, out.dtype)
    order = xp.argsort(keys, kind="stable")
    return keys[order], values[order]
