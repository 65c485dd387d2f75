"""Within what range values lie, and so whether arithmetic on them stays within their dtype.

SuiteSparse:GraphBLAS wraps integers, and infinity minus infinity is NaN. Both are excluded beforehand by interval
arithmetic on the operands: the matrix's interval is found once and kept, the vector's costs one pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from formats import CSC, CSR, Matrix
from formats.matrix.facts import Fact
from formats.storage.orientation import compressed

from ..algebra.ops import Interval
from ..algebra.semirings import Semiring

INTERVAL: Fact[Interval] = Fact("least and largest value")
FINITE: Fact[bool] = Fact("all values are finite")
HOLDS_ZERO: Fact[bool] = Fact("a stored value is the zero")
"""Given of all three: the zero, which stands for an absent entry."""

MOST_TERMS: Fact[int] = Fact("entries of the longest row or column")


PIECE = 1 << 20
"""Values that are looked at a time, so that what is found out about each takes little memory."""


def pieces(values: np.ndarray) -> Iterator[np.ndarray]:
    """The values in pieces; of one value that is seen many times, that one."""
    if values.ndim == 1 and values.strides == (0,):
        values = values[:1]
    yield from (values[start : start + PIECE] for start in range(0, len(values), PIECE))


def interval(values: np.ndarray, zero: Any) -> Interval:
    """Returns the least and greatest value other than `zero`; (0, 0) if there are none."""
    return _hull([_interval(piece, zero) for piece in pieces(values)] or [(0, 0)])


def _interval(values: np.ndarray, zero: Any) -> Interval:
    low, high = int(values.min()), int(values.max())
    if zero not in (low, high):
        return low, high
    present = values[values != zero]
    return (int(present.min()), int(present.max())) if present.size else (0, 0)


def _hull(intervals: Iterable[Interval]) -> Interval:
    """The least interval with all of them in it; (0, 0), which stands for no values, is in each."""
    lows, highs = zip(*intervals, strict=True)
    return (lows[0], highs[0]) if len(lows) == 1 else (min(*lows), max(*highs))


def matrix_interval(A: Matrix, zero: Any) -> Interval:
    """Returns the least and greatest of A's entries other than `zero`, found once."""
    return _base(A).keep(INTERVAL, lambda: _hull(interval(part, zero) for part in A.stored_parts), zero)


def all_finite(A: Matrix, zero: Any) -> bool:
    """True if A's entries other than `zero` are finite; found once."""
    return _base(A).keep(
        FINITE, lambda: all(bool((np.isfinite(x) | (x == zero)).all()) for p in A.stored_parts for x in pieces(p)), zero
    )


def holds_zero(A: Matrix, zero: Any) -> bool:
    """True if `A` stores an entry equal to `zero`; found once."""
    return _base(A).keep(
        HOLDS_ZERO, lambda: any(bool((x == zero).any()) for p in A.stored_parts for x in pieces(p)), zero
    )


def most_terms(A: Matrix) -> int:
    """The number of entries of A's longest row or column: so many products are added at most."""

    def count() -> int:
        listed = A.coordinates()
        if listed is None:
            rows: Any = A if isinstance(A, CSR | CSC) else compressed(A, 0)
            lengths = [np.diff(rows.indptr), np.bincount(rows.indices, minlength=1)]
        else:
            ends = [part if listed[2] is None else part[listed[2]] for part in listed[:2]]
            lengths = [np.bincount(part, minlength=1) for part in ends]
        return max((int(part.max()) for part in lengths if part.size), default=0)

    return _base(A).keep(MOST_TERMS, count)


def exact_bounds(semiring: Semiring, a: Interval, b: Interval, terms: int) -> Interval:
    """Bounds ⊕ over at most `terms` products of values in `a` and `b`, in Python's integers."""
    if semiring.mul.saturating is not None:
        low, high = semiring.mul.saturating.bounds(a, b)
    else:
        low, high = (min(*a, *b), max(*a, *b)) if semiring.mul.reads else (1, 1)
    return (min(low * terms, low, 0), max(high * terms, high, 0)) if semiring.add.name == "plus" else (low, high)


def fits_dtype(bounds: Interval, dtype: np.dtype) -> bool:
    """True if the integer `dtype` holds every value between the bounds."""
    info = np.iinfo(dtype)
    return info.min <= bounds[0] and bounds[1] <= info.max


def _base(A: Matrix) -> Matrix:
    """Returns the one of a matrix and its transpose that keeps the facts of both."""
    return A if A.major == 0 else A.T
