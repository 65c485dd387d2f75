"""Operands with which plain arithmetic, which wraps and knows nothing of absent values, gives the exact product.

Testing every product for an absent operand and clamping it costs more than the product. One pass over x instead:

- entries equal to the zero need nothing where ⊗ keeps the zero by itself; where ⊗ = plus on integers they are clamped
  to a value from which no sum wraps; otherwise they are told apart in a bitmap;
- where interval arithmetic cannot exclude that a result leaves the range, or is infinity minus infinity, there is no
  such operand, and the product is computed with every test.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from formats import Matrix

from ..algebra.ops import OPERATORS
from ..algebra.semirings import MONOIDS, Law, Semiring
from .ranges import all_finite, exact_bounds, fits_dtype, interval, matrix_interval, most_terms


@dataclass(frozen=True)
class Operand:
    """A dense operand with which plain arithmetic is exact.

    present: where it has entries, None for everywhere.  beyond: results on the zero's side of this mean absent.
    """

    values: np.ndarray
    present: np.ndarray | None = None
    beyond: int | None = None

    def finished(self, y: np.ndarray, zero: Any) -> np.ndarray:
        """The result `y` with `zero` where it means absent, in place."""
        if self.beyond is not None:
            np.putmask(y, y > self.beyond if zero > self.beyond else y < self.beyond, zero)
        return y


def plain_operand(A: Matrix, x: np.ndarray, semiring: Semiring, matrix_first: bool) -> Operand | None:
    """x as plain arithmetic may be given it; None if something could wrap or become NaN, or if ⊗ is the user's.

    Of A's entries equal to the zero it is taken that they do not take part.
    """
    if not is_shipped(semiring) or semiring.mul.partial:
        return None
    if semiring.add.name == "times":  # products of integers are soon beyond every range
        return None
    zero = semiring.zero(A.dtype)
    if A.dtype.kind == "f":
        if semiring.mul.saturating is not None and not all_finite(A, zero):
            return None
        if semiring.may_lack_order(A.dtype) and not np.isfinite(x).all():
            return None
    elif semiring.mul.name == "plus" and semiring.add.name in ("min", "max"):
        return _clamped(A, x, zero, sign=1 if semiring.add.name == "min" else -1)
    elif could_saturate(semiring):
        bounds = exact_bounds(semiring, matrix_interval(A, zero), interval(x, zero), terms(A, semiring))
        if not fits_dtype(bounds, A.dtype):
            return None
    if (Law.ANNIHILATES_RIGHT if matrix_first else Law.ANNIHILATES_LEFT) not in semiring.laws:
        present = x != zero
        if not present.all():
            return Operand(x, present)
    return Operand(x)


def could_saturate(semiring: Semiring) -> bool:
    """True if an integer result can leave its range."""
    return semiring.mul.saturating is not None or semiring.add.op.saturating is not None


def terms(A: Matrix, semiring: Semiring) -> int:
    """How many products ⊕ may add up."""
    return most_terms(A) if semiring.add.name == "plus" else 1


def _clamped(A: Matrix, x: np.ndarray, zero: Any, sign: int) -> Operand | None:
    """x for integer min-plus (sign 1) or max-plus (sign -1): absent entries clamped to where no sum wraps.

    For min-plus, absent becomes c, the highest value for which no c + a wraps; and no present x may exceed the limit
    beneath which every x + a is less than every c + a. So results tell absent from present, at the price of one pass.
    """
    low, high = matrix_interval(A, zero)
    clamp: Any
    exceeds: Any
    if sign == 1:
        c = int(zero) - max(high, 0)
        limit, clamp, exceeds = c + low - high - 1, np.minimum, np.greater
        wraps = low < 0 and x.size > 0 and int(x.min()) + low < np.iinfo(x.dtype).min
        beyond = limit + high
    else:
        c = int(zero) - min(low, 0)
        limit, clamp, exceeds = c + high - low + 1, np.maximum, np.less
        wraps = high > 0 and x.size > 0 and int(x.max()) + high > np.iinfo(x.dtype).max
        beyond = limit + low
    absent = np.count_nonzero(x == zero)
    if wraps or np.count_nonzero(exceeds(x, limit)) != absent:
        return None
    return Operand(clamp(x, x.dtype.type(c)), beyond=beyond) if absent else Operand(x)


def sums_stay_within(x: np.ndarray, y: np.ndarray, semiring: Semiring) -> bool:
    """True if no sum of integers in x ⊗ y, and no part of one, leaves their dtype. x and y have two dimensions."""
    if x.dtype.kind != "i" or semiring.add.op.saturating is None:
        return True
    if semiring.add.name != "plus" or not is_shipped(semiring):
        return False
    zero = semiring.zero(x.dtype)
    return fits_dtype(exact_bounds(semiring, interval(x, zero), interval(y, zero), x.shape[1]), x.dtype)


def plain_pair(x: np.ndarray, y: np.ndarray, semiring: Semiring) -> tuple[np.ndarray, np.ndarray, int | None] | None:
    """Returns x, y and `beyond` for plain arithmetic of x ⊗ y; None if something could wrap or become NaN.

    beyond: results on the zero's side of this mean absent.
    """
    if not is_shipped(semiring) or semiring.add.name == "times":
        return None
    zero, both = semiring.zero(x.dtype), (x, y)
    if x.dtype.kind == "f":
        if semiring.mul.saturating is not None and not all((np.isfinite(p) | (p == zero)).all() for p in both):
            return None
        if semiring.may_lack_order(x.dtype) and not all(np.isfinite(part).all() for part in both):
            return None
    elif semiring.mul.name == "plus" and semiring.add.name in ("min", "max"):
        return _clamped_pair(x, y, zero, sign=1 if semiring.add.name == "min" else -1)
    elif could_saturate(semiring):
        terms = x.shape[1] if semiring.add.name == "plus" else 1
        if not fits_dtype(exact_bounds(semiring, interval(x, zero), interval(y, zero), terms), x.dtype):
            return None
    for law, part in ((Law.ANNIHILATES_LEFT, x), (Law.ANNIHILATES_RIGHT, y)):
        if law not in semiring.laws and (part == zero).any():
            return None
    return x, y, None


def _clamped_pair(
    x: np.ndarray, y: np.ndarray, zero: Any, sign: int
) -> tuple[np.ndarray, np.ndarray, int | None] | None:
    """x and y for integer min-plus (sign 1) or max-plus (sign -1), absent entries clamped.

    Beside the present values of the other operand, a clamped one gives more than every sum of present ones.
    """
    (a, b), (c, d) = ((sign * low, sign * high) for low, high in (interval(x, zero), interval(y, zero)))
    (a, b), (c, d) = sorted((a, b)), sorted((c, d))
    clamps = b + (d - c) + 1, d + (b - a) + 1
    absent = [part == zero for part in (x, y)]
    some = [bool(where.any()) for where in absent]
    most = sum(clamps) if any(some) else b + d
    if not fits_dtype((a + c, most) if sign == 1 else (-most, -(a + c)), x.dtype):
        return None
    x, y = (
        np.where(where, x.dtype.type(sign * clamp), part) if there else part
        for part, where, there, clamp in zip((x, y), absent, some, clamps, strict=True)
    )
    return x, y, sign * (b + d) if any(some) else None


@lru_cache(maxsize=128)
def is_shipped(semiring: Semiring) -> bool:
    """True if ⊕ and ⊗ are from our tables, so that the bounds of their results are known."""
    return MONOIDS.get(semiring.add.name) == semiring.add and OPERATORS.get(semiring.mul.name) == semiring.mul
