"""What is known of a matrix's values as a whole: found once, and kept with it. Absent entries do not count."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import Matrix
from formats.arrays import Array, concatenated, namespace

from .algebra.ops import OPERATORS
from .algebra.semirings import Semiring


def mean(A: Matrix, semiring: Semiring) -> float:
    """The mean value, 0 of no entries."""
    return A.keep(("mean", semiring), lambda: _of(A, semiring, lambda xp, values: values.mean(), _mean_of))


def median(A: Matrix, semiring: Semiring) -> float:
    """The median, 0 of no entries."""
    return A.keep(("median", semiring), lambda: _of(A, semiring, lambda xp, values: xp.median(values)))


def largest(A: Matrix, semiring: Semiring) -> float:
    """The largest value, 0 of no entries."""
    return A.keep(
        ("largest", semiring), lambda: _of(A, semiring, lambda xp, values: values.max(), lambda m: m["largest"])
    )


def smallest(A: Matrix, semiring: Semiring) -> float:
    """The smallest value, 0 of no entries."""
    return A.keep(
        ("smallest", semiring), lambda: _of(A, semiring, lambda xp, values: values.min(), lambda m: m["least"])
    )


def magnitude(A: Matrix, semiring: Semiring) -> float:
    """The largest value without its sign, 0 of no entries."""
    return A.keep(
        ("magnitude", semiring),
        lambda: _of(
            A,
            semiring,
            lambda xp, values: max(-values.min(), values.max()),
            lambda m: max(-m["least"], m["largest"]),
        ),
    )


def sums_fit(A: Matrix, x: Array, semiring: Semiring) -> bool:
    """Is ⊗ a sum, and that of any entries of x and of A so small that it cannot have left the dtype's range?"""
    if semiring.mul != OPERATORS["plus"] or A.dtype == bool or A.dtype != x.dtype:
        return False
    there = x[x != semiring.zero(x.dtype)]
    most = max(-float(there.min()), float(there.max())) if there.size else 0.0
    info: Any = np.iinfo(x.dtype) if x.dtype.kind == "i" else np.finfo(x.dtype)
    return most + magnitude(A, semiring) < float(info.max) / 2


def _mean_of(moments: Any) -> float:
    return moments["sum"] / moments["count"]


def _of(A: Matrix, semiring: Semiring, statistic: Any, of_moments: Any = None) -> float:
    """A statistic of the values that are no zeros; of_moments: the same of the moments that a GPU finds in one pass."""
    zero = semiring.zero(A.dtype)
    if not A.place.on_host and of_moments is not None:
        from .cuda.statistics import moments

        found = A.keep(("moments", semiring), lambda: moments(concatenated(A.stored_parts), zero))
        return of_moments(found) if found["count"] else 0.0
    values = concatenated([part[part != zero] for part in A.stored_parts])
    with np.errstate(over="ignore"):  # of the largest floats the sum is infinite
        return float(statistic(namespace(values), values.astype(np.float64))) if values.size else 0.0
