"""What is known of a matrix's values as a whole: found once, and kept with it. Absent entries do not count."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import Matrix
from formats.arrays import Array, concatenated, namespace
from formats.matrix.facts import Fact

from .algebra.ops import OPERATORS
from .algebra.semirings import Semiring

MEAN: Fact[float] = Fact("mean value")
MEDIAN: Fact[float] = Fact("median")
LARGEST: Fact[float] = Fact("largest value")
SMALLEST: Fact[float] = Fact("smallest value")
MAGNITUDE: Fact[float] = Fact("largest value without its sign")
MOMENTS: Fact[Any] = Fact("moments, as a GPU finds them in one pass")
"""Given of all: the semiring, whose zeros do not count."""


def mean(A: Matrix, semiring: Semiring) -> float:
    """The mean value, 0 of no entries."""
    return A.keep(MEAN, lambda: _of(A, semiring, lambda xp, values: values.mean(), _mean_of), semiring)


def median(A: Matrix, semiring: Semiring) -> float:
    """The median, 0 of no entries."""
    return A.keep(MEDIAN, lambda: _of(A, semiring, lambda xp, values: xp.median(values)), semiring)


def largest(A: Matrix, semiring: Semiring) -> float:
    """The largest value, 0 of no entries."""
    return A.keep(LARGEST, lambda: _of(A, semiring, lambda xp, values: values.max(), _largest_of), semiring)


def smallest(A: Matrix, semiring: Semiring) -> float:
    """The smallest value, 0 of no entries."""
    return A.keep(SMALLEST, lambda: _of(A, semiring, lambda xp, values: values.min(), _least_of), semiring)


def magnitude(A: Matrix, semiring: Semiring) -> float:
    """The largest value without its sign, 0 of no entries."""
    return A.keep(MAGNITUDE, lambda: _of(A, semiring, _magnitude, _magnitude_of), semiring)


def sums_fit(A: Matrix, x: Array, semiring: Semiring) -> bool:
    """Is ⊗ a sum, and that of any entries of x and of A so small that it cannot have left the dtype's range?"""
    if semiring.mul != OPERATORS["plus"] or A.dtype == bool or A.dtype != x.dtype:
        return False
    there = x[x != semiring.zero(x.dtype)]
    most = max(-float(there.min()), float(there.max())) if there.size else 0.0
    info: Any = np.iinfo(x.dtype) if x.dtype.kind == "i" else np.finfo(x.dtype)
    return most + magnitude(A, semiring) < float(info.max) / 2


def _magnitude(xp: Any, values: Array) -> Any:
    return max(-values.min(), values.max())


def _magnitude_of(moments: Any) -> float:
    return max(-moments["least"], moments["largest"])


def _mean_of(moments: Any) -> float:
    return moments["sum"] / moments["count"]


def _largest_of(moments: Any) -> float:
    return moments["largest"]


def _least_of(moments: Any) -> float:
    return moments["least"]


def _of(A: Matrix, semiring: Semiring, statistic: Any, of_moments: Any = None) -> float:
    """A statistic of the values that are no zeros; of_moments: the same of the moments that a GPU finds in one pass."""
    zero = semiring.zero(A.dtype)
    if not A.place.on_host and of_moments is not None:
        from .cuda.statistics import moments

        found = A.keep(MOMENTS, lambda: moments(concatenated(A.stored_parts), zero), semiring)
        return of_moments(found) if found["count"] else 0.0
    values = concatenated([part[part != zero] for part in A.stored_parts])
    with np.errstate(over="ignore"):  # of the largest floats the sum is infinite
        return float(statistic(namespace(values), values.astype(np.float64))) if values.size else 0.0
