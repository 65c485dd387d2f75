"""A matrix's rows, and its columns: made once and kept; and symmetry.

A pull looks down columns, a push along rows, so an algorithm that does both wants both. Of a symmetric matrix the one
is the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..arrays import all_of, counts, equals, namespace
from ..hooks import SAME_REVERSES
from ..matrix.base import Matrix
from ..matrix.convert import convert
from ..matrix.facts import COMPRESSED, SYMMETRIC, Fact
from ..performance import warn_slow
from ..places import at_home
from .compressed import CSC, CSR

BY_COLUMNS: Fact[Matrix] = Fact("the transpose, a row's entries together, in the format's own storage")


def known_symmetric(A: Matrix, *, pattern: bool = False) -> bool:
    """True if every entry is known, without looking, to have its reverse: of the same value, or (pattern) of any."""
    base = A if A.major == 0 else A.T
    return base.known(SYMMETRIC, False) is True or (pattern and base.known(SYMMETRIC, True) is True)


def compressed(A: Matrix, axis: int, *, inside: str = "algorithms") -> Any:
    """The entries of `A` by rows, as CSR (axis 0), or by columns, as CSC (axis 1): made once, and kept with `A`.

    inside: a package among whose calls nothing is said of a conversion between formats, see `warn_slow`. A matrix in
    parts stays in parts.
    """
    if A.in_parts:
        return by_rows(A) if axis == 0 else by_columns(A)
    base, of_base = (A, axis) if A.major == 0 else (A.T, 1 - axis)  # a matrix and its transpose keep one
    target: type[Matrix] = CSR if of_base == 0 else CSC
    if isinstance(base, target):
        made = base
    elif isinstance(base, CSR) and known_symmetric(base):
        made = base.T
    else:
        made = base.keep(COMPRESSED, lambda: _converted_aside(base, target, CSR if axis == 0 else CSC, inside), target)
    return made if base is A else made.T


def _converted_aside(A: Matrix, target: type[Matrix], asked: type[Matrix], inside: str) -> Matrix:
    """`A` in the compressed format that a product needs; says so if A is in a format of another kind.

    asked: the same format, as the caller sees A, whose transpose may be what is converted.
    """
    if not isinstance(A, CSR):
        warn_slow(
            f"this call converts the {type(A).__name__} of {A.nnz:,} entries to {asked.__name__} and keeps the copy "
            f"with the matrix; convert it yourself, once: A.to({asked.__name__})",
            A.nnz,
            inside=inside,
        )
    return convert(A, target)


def has_columns(A: Matrix) -> bool:
    """True if `by_columns` costs nothing."""
    kept = A.keeps(COMPRESSED, CSC) if isinstance(A, CSR) else A.keeps(BY_COLUMNS)
    return A.major == 1 or known_symmetric(A) or kept


_unasked: ContextVar[bool] = ContextVar("unasked", default=True)


@contextmanager
def nothing_unasked() -> Iterator[None]:
    """Let `has_room_for_columns` be False within the block: what is free has turned out to lie in pieces."""
    token = _unasked.set(False)
    try:
        yield
    finally:
        _unasked.reset(token)


def has_room_for_columns(A: Matrix) -> bool:
    """True if `by_columns` may be made unasked: A is in memory, with room for as much again."""
    return all(A.of_each(_unasked.get() and not A.on_disk and A.footprint(CSC).fits))


def by_columns(A: Matrix) -> Matrix:
    """`A` in its own storage with a column's entries together: made once, and kept with it.

    Of a symmetric matrix that is its transpose. Where the own storage would be refused (an ELL with a full column),
    it is CSC.
    """
    if A.major == 1:
        return A
    if known_symmetric(A):
        return A.T
    return compressed(A, 1) if isinstance(A, CSR) else A.keep(BY_COLUMNS, lambda: _turned(A)).T


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
    """True if every entry has its reverse, of the same value. Found once, and kept with `A`.

    pattern: compare the positions alone.  On the host `A` by columns is made for it, and kept if it is not symmetric.
    """
    base = A if A.major == 0 else A.T
    return known_symmetric(A, pattern=pattern) or base.keep(SYMMETRIC, lambda: _mirrored(base, pattern), pattern)


@at_home
def _mirrored(A: Matrix, pattern: bool) -> bool:
    if A.nrows != A.ncols:
        return False
    if A.in_parts:
        positions, values = A.mirrored()  # type: ignore[attr-defined]
        if values:
            A.keep(SYMMETRIC, lambda: True, False)
        return values or (positions and pattern)
    rows = compressed(A, 0)
    by_kernel = SAME_REVERSES.answer if not A.place.on_host else None
    looks = not pattern or rows.all_resident  # at values, unless these would cross the bus for nothing
    positions, values = by_kernel(rows, looks) if by_kernel is not None else _same_reverses(rows)
    if values:
        A.keep(SYMMETRIC, lambda: True, False)
    return values or (positions and pattern)


def _same_reverses(A: CSR) -> tuple[bool, bool]:
    """Tells if every entry has its reverse, and if it has the same value. If not, A's columns, which tell, are kept."""
    if not all_of(counts(A.indices, A.nrows) == namespace(A.indptr).diff(A.indptr)):
        return False, False
    columns: Any = compressed(A, 1) if A.keeps(COMPRESSED, CSC) else convert(A, CSC)
    positions = all_of(columns.indices == A.indices)
    values = positions and all_of(equals(columns.values, A.values))
    if not values:
        A.keep(COMPRESSED, lambda: columns, CSC)
    return positions, values
