"""Verbs on matrices other than products: element-wise ones on CSR, and on every format what algorithms need of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from formats import CSC, CSR, Matrix, SparseVector
from formats.arrays import Array, astype, differs, namespace
from formats.storage.compressed import expand, spread

from ..algebra.ops import BinaryOp, find_op
from ..algebra.predicates import Predicate
from ..algebra.semirings import Monoid
from ..verbs import merge, steps
from ..verbs.arguments import of_sparse_products
from ..verbs.masks import MatrixWrite
from ..verbs.verbs import apply, mxm, product_with_arguments, select, transpose

Combiner = Monoid | BinaryOp


@product_with_arguments.implement(CSR, "cuda")
def _(A: CSR, B: CSR, semiring: Any, mask: Any, complement: bool) -> tuple[CSR, CSR]:
    C = mxm(A, B, semiring, mask=mask, complement=complement)
    return C, of_sparse_products(A, B, C, semiring)


def union_by_keys(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    return write(steps.united_by_arrays(A, B, op))


def intersection_by_keys(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    by_pattern = isinstance(op, BinaryOp) and op.reads == ""
    absent = None if by_pattern else zero
    merged = merge.intersect_keys(*_entries(A, absent), *_entries(B, absent), op)
    return write(merge.from_keys(*merged, A.shape))


def _entries(A: CSR, zero: Any) -> tuple[Array, Array]:
    """Returns the keys and the values of A's entries other than `zero`."""
    present = slice(None) if zero is None else differs(A.values, zero)
    return merge.keys_of(A)[present], A.values[present]


@apply.implement(CSR, "cpu", "cuda")
def _(A: CSR, function: Callable[[Any], Any], write: MatrixWrite) -> CSR:
    values = A.xp.ascontiguousarray(function(A.values))
    return write(CSR.trusted(A.indptr, A.indices, values, A.shape))


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


@transpose.implement(Matrix, "cpu", "cuda")
def _(A: Matrix, write: MatrixWrite) -> Matrix:
    turned: Any = A.T.to(type(A), **A.options)
    if write.mask is None and write.out is None:
        return turned
    return write(turned.to(CSR)).to(type(A), **A.options) if write.out is None else write(turned.to(CSR))


# --- select ---------------------------------------------------------------------------------------------------------


@select.implement(Matrix, "cpu", "cuda")
def _(A: Matrix, predicate: Predicate, row: Any, col: Any, write: MatrixWrite) -> Any:
    """Over the format's own places, where it lists them; else by its rows."""
    of_major, of_minor = (_dense(x) for x in ((row, col) if A.major == 0 else (col, row)))
    listed = A.coordinates()
    if listed is None:
        chosen = select.find(CSR, A.place)(select.rows_of(A), predicate, row, col, write)
        return chosen if write.out is not None else chosen.to(type(A), **A.options)
    majors, minors, there = listed
    places = Places(A.major, minors, astype(A.values, A.dtype), lambda: majors, lambda x: steps.taken(x, majors))
    keep = _holds(places, predicate, of_major, of_minor)
    return _written(A, A.keeping(keep if there is None else keep & there), write)


@select.implement(CSR, CSC, "cpu")
def selected_by_blocks(A: CSR | CSC, predicate: Predicate, row: Any, col: Any, write: MatrixWrite) -> Any:
    """Block by block of rows, or by a band's ends in each row."""
    if predicate.band is not None and row is None and col is None:
        from ..cpu import bands

        return _written(A, bands.banded(A, *predicate.band), write)
    part = _restricted(A, row) if isinstance(A, CSR) and isinstance(row, SparseVector) else A
    of_major, of_minor = (_dense(x) for x in ((row, col) if A.major == 0 else (col, row)))

    def holds(block: Any, first: int, last: int) -> Array:
        of_block = tuple(None if x is None else x[first:last] for x in of_major)
        numbers, along = partial(steps.row_numbers, block.indptr, first), partial(spread, indptr=block.indptr)
        return _holds(Places(A.major, block.indices, block.values, numbers, along), predicate, of_block, of_minor)

    return _written(A, steps.kept(part, steps.flagged(part, holds)), write)


def _written(A: Matrix, kept: Any, write: MatrixWrite) -> Any:
    """Writes the kept entries of `A` by the write rule, in A's format."""
    if write.mask is None and write.out is None:
        return kept
    by_row: Any = kept.to(CSR)
    return write(by_row) if write.out is not None else write(by_row).to(type(A), **A.options)


def _restricted(A: CSR, row: SparseVector) -> CSR:
    """`A` with only the rows that `row` has: the select looks at their entries, and passes over `indptr`."""
    xp, part = A.xp, _rows(A, row.indices)
    indptr = xp.zeros(A.nrows + 1, A.indptr.dtype)
    indptr[row.indices + 1] = xp.diff(part.indptr)
    return CSR.trusted(xp.cumsum(indptr, dtype=A.indptr.dtype), part.indices, part.values, A.shape)


@dataclass(frozen=True)
class Places:
    """The stored places that a predicate is asked of.

    minor: of each, its column.  numbers: its row, when asked.  along: what a vector over the rows holds for each. Rows
    and columns change roles where columns lie together, as `major` says.
    """

    major: int
    minor: Array
    values: Array
    numbers: Callable[[], Array]
    along: Callable[[Array], Array]


def _holds(A: Places, predicate: Predicate, of_major: Any, of_minor: Any) -> Array:
    """Returns flags of the places where the predicate holds.

    of_major, of_minor: a vector's values along the axis, and flags of its entries; None for no vector, or everywhere.
    """
    major_values, in_major = (None if x is None else A.along(x) for x in of_major)
    minor_values, in_minor = (None if x is None else steps.taken(x, A.minor) for x in of_minor)
    numbers = A.numbers() if {"i", "j"} & set(predicate.reads) else A.minor
    i, j = (numbers, A.minor) if A.major == 0 else (A.minor, numbers)
    values = (major_values, minor_values) if A.major == 0 else (minor_values, major_values)
    value = A.values if "value" in predicate.reads else next((x for x in values if x is not None), A.minor)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # infinity is a value, padding is none
        keep = namespace(A.minor).asarray(predicate(i, j, *_common(value, *values)))
    for condition in (in_major, in_minor):
        if condition is not None:
            keep = keep & condition
    return keep


def _dense(x: Any) -> tuple[Array | None, Array | None]:
    """Returns x as an array, and flags of its entries: None for no vector, and for a vector that has them all."""
    if not isinstance(x, SparseVector):
        return x, None
    flags = x.place.xp.zeros(x.size, bool)
    flags[x.indices] = True
    return x.to_dense(x.dtype.type(0)), flags


def _common(*values: Any) -> list[Any]:
    """The arrays among `values` in NumPy's common dtype."""
    dtype = np.result_type(*(v.dtype for v in values if v is not None))
    return [None if v is None else astype(v, dtype) for v in values]
