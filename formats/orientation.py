"""A matrix's other orientation: its entries by columns where they lie by rows, made once and kept; and symmetry.

A pull looks down columns, a push along rows, so an algorithm that does both wants both. Of a symmetric matrix the one
is the other.
"""

from __future__ import annotations

from typing import Any

from .arrays import Array, all_of, counts, equals, namespace
from .base import Matrix
from .convert import compressed, convert, from_edges, known_symmetric
from .csc import CSC
from .csr import CSR


def has_columns(A: Matrix) -> bool:
    """Would `by_columns` cost nothing?"""
    return A.major == 1 or known_symmetric(A) or A.keeps(CSC if isinstance(A, CSR) else "by columns")


def by_columns(A: Matrix) -> Matrix:
    """`A` in its own storage with a column's entries together: made once, and kept with it.

    Of a symmetric matrix that is its transpose. Where the own storage would be refused (an ELL with a full column),
    it is CSC.
    """
    if A.major == 1:
        return A
    if known_symmetric(A):
        return A.T
    return compressed(A, 1) if isinstance(A, CSR) else A.keep("by columns", lambda: _turned(A)).T


def by_rows(A: Matrix) -> Matrix:
    """`A` in its own storage with a row's entries together, as `by_columns`."""
    return A if A.major == 0 else by_columns(A.T).T


def _turned(A: Matrix) -> Matrix:
    """The transpose of `A` with its rows' entries together, in A's storage or as CSR."""
    options = {name: value for name, value in A.options.items() if name != "force"}
    try:
        return convert(A.T, type(A), **options)
    except ValueError:  # too much padding
        return compressed(A, 1).T


def is_symmetric(A: Matrix, *, pattern: bool = False) -> bool:
    """Has every entry its reverse, of the same value? Found once, and kept with `A`.

    pattern: compare the positions alone.  `A` by columns is made for it, and kept if it is not symmetric.
    """
    base = A if A.major == 0 else A.T
    return base.keep(("symmetric", pattern), lambda: _mirrored(base, pattern))


def _mirrored(A: Matrix, pattern: bool) -> bool:
    if A.nrows != A.ncols:
        return False
    rows, xp = compressed(A, 0), namespace(A.values)
    if not all_of(counts(rows.indices, A.nrows) == xp.diff(rows.indptr)):
        return False
    columns: Any = compressed(rows, 1) if rows.keeps(CSC) else convert(rows, CSC)
    positions = all_of(columns.indices == rows.indices)
    values = positions and all_of(equals(columns.values, rows.values))
    if values:
        A.keep(("symmetric", False), lambda: True)
    else:
        rows.keep(CSC, lambda: columns)
    return values or (positions and pattern)


def with_edges(A: Matrix, src: Array, dst: Array) -> Matrix:
    """The pattern of `A` with more edges, in A's own format; one that is there already changes nothing."""
    rows, cols, _ = A.to_edges()
    xp = namespace(src)
    more: Any = from_edges(xp.concatenate((rows, src)), xp.concatenate((cols, dst)), shape=A.shape, dtype=bool)
    return convert(more, type(A), **A.options)
