"""Verbs on matrices other than products: element-wise ones on CSR, and on every format what algorithms need of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from formats import CSC, CSR, Matrix, SparseVector
from formats.arrays import Array, astype, namespace
from formats.storage.compressed import spread

from ..algebra.predicates import Predicate
from ..verbs import steps
from ..verbs.arguments import of_sparse_products
from ..verbs.masks import MatrixWrite
from ..verbs.verbs import apply, mxm, product_with_arguments, select, transpose


@product_with_arguments.implement(CSR, "cuda")
def _(A: CSR, B: CSR, semiring: Any, mask: Any, complement: bool) -> tuple[CSR, CSR]:
    C = mxm(A, B, semiring, mask=mask, complement=complement)
    return C, of_sparse_products(A, B, C, semiring)


@apply.implement(CSR, "cpu", "cuda")
def _(A: CSR, function: Callable[[Any], Any], write: MatrixWrite) -> CSR:
    values = A.xp.ascontiguousarray(function(A.values))
    return write(CSR.trusted(A.indptr, A.indices, values, A.shape))


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
    of_major, of_minor = (with_flags(x) for x in ((row, col) if A.major == 0 else (col, row)))
    listed = A.coordinates()
    if listed is None:
        chosen = select.find(CSR, A.place)(select.rows_of(A), predicate, row, col, write)
        return chosen if write.out is not None else chosen.to(type(A), **A.options)
    majors, minors, there = listed
    places = Places(A.major, minors, astype(A.values, A.dtype), lambda: majors, lambda x: steps.taken(x, majors))
    keep = _holds(places, predicate, of_major, of_minor)
    return written(A, A.keeping(keep if there is None else keep & there), write)


@select.implement(CSR, CSC, "cpu")
def selected_by_blocks(A: CSR | CSC, predicate: Predicate, row: Any, col: Any, write: MatrixWrite) -> Any:
    """Block by block of rows, or by a band's ends in each row."""
    if predicate.band is not None and row is None and col is None:
        from ..cpu import bands

        return written(A, bands.banded(A, *predicate.band), write)
    part = _restricted(A, row) if isinstance(A, CSR) and isinstance(row, SparseVector) else A
    of_major, of_minor = (with_flags(x) for x in ((row, col) if A.major == 0 else (col, row)))

    def holds(block: Any, first: int, last: int) -> Array:
        of_block = tuple(None if x is None else x[first:last] for x in of_major)
        numbers, along = partial(steps.row_numbers, block.indptr, first), partial(spread, indptr=block.indptr)
        return _holds(Places(A.major, block.indices, block.values, numbers, along), predicate, of_block, of_minor)

    return written(A, steps.kept(part, steps.flagged(part, holds)), write)


def written(A: Matrix, kept: Any, write: MatrixWrite) -> Any:
    """Writes the kept entries of `A` by the write rule, in A's format."""
    if write.mask is None and write.out is None:
        return kept
    by_row: Any = kept.to(CSR)
    return write(by_row) if write.out is not None else write(by_row).to(type(A), **A.options)


def _restricted(A: CSR, row: SparseVector) -> CSR:
    """`A` with only the rows that `row` has: the select looks at their entries, and passes over `indptr`."""
    from ..cpu.rows import picked

    part, indptr = picked(A, row.indices), np.zeros(A.nrows + 1, A.indptr.dtype)
    indptr[row.indices + 1] = np.diff(part.indptr)
    return CSR.trusted(np.cumsum(indptr, dtype=A.indptr.dtype), part.indices, part.values, A.shape)


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


def with_flags(x: Any) -> tuple[Array | None, Array | None]:
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
