"""Statistics of a matrix's values as a whole, found once and kept with it. Absent entries do not count."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from formats import Matrix
from formats.arrays import Array, brought, concatenated, namespace
from formats.matrix.facts import Fact
from formats.places import HOST, place_of

from .algebra.semirings import Semiring

MEAN: Fact[float] = Fact("mean value")
MEDIAN: Fact[float] = Fact("median")
LARGEST: Fact[float] = Fact("largest value")
SMALLEST: Fact[float] = Fact("smallest value")
MAGNITUDE: Fact[float] = Fact("largest value without its sign")
MOMENTS: Fact[dict[str, float]] = Fact("least, largest, sum and number of values")
"""Given of all: the semiring, whose zeros do not count."""

PIECE = 1 << 20
"""Values that are looked at a time on the host."""


def mean(A: Matrix, semiring: Semiring) -> float:
    """The mean value, 0 of no entries."""
    return A.keep(MEAN, lambda: _of(A, semiring, lambda found: found["sum"] / found["count"]), semiring)


def median(A: Matrix, semiring: Semiring) -> float:
    """The median, 0 of no entries."""

    def middle() -> float:
        listed = []
        for part in A.stored_parts:
            with place_of(part).scope():
                listed.append(brought(part[part != semiring.zero(A.dtype)], HOST if A.in_parts else A.place))
        values = concatenated(listed)
        if A.in_parts:
            return _median_of_parts(A, np.sort(values.astype(np.float64)))
        return float(namespace(values).median(values.astype(np.float64))) if values.size else 0.0

    return A.keep(MEDIAN, middle, semiring)


def _median_of_parts(A: Matrix, mine: Array) -> float:
    """The median of sorted values that lie with several processes: bits are halved until one value is left."""
    count = sum(A.of_each(mine.size))
    if not count:
        return 0.0
    bits = mine.view(np.int64) ^ ((mine.view(np.int64) >> 63) & 2**63 - 1)  # integers in the order of the values

    def ranked(k: int) -> float:
        low, high = -(2**63), 2**63 - 1
        while low < high:
            middle = (low + high) // 2
            if sum(A.of_each(int(np.searchsorted(bits, middle, side="right")))) > k:
                high = middle
            else:
                low = middle + 1
        found = np.array(low)
        return float((found ^ ((found >> 63) & 2**63 - 1)).view(np.float64))

    return (ranked((count - 1) // 2) + ranked(count // 2)) / 2


def largest(A: Matrix, semiring: Semiring) -> float:
    """The largest value, 0 of no entries."""
    return A.keep(LARGEST, lambda: _of(A, semiring, itemgetter("largest")), semiring)


def smallest(A: Matrix, semiring: Semiring) -> float:
    """The smallest value, 0 of no entries."""
    return A.keep(SMALLEST, lambda: _of(A, semiring, itemgetter("least")), semiring)


def magnitude(A: Matrix, semiring: Semiring) -> float:
    """The largest value without its sign, 0 of no entries."""
    return A.keep(MAGNITUDE, lambda: _of(A, semiring, lambda found: max(-found["least"], found["largest"])), semiring)


def sums_fit(A: Matrix, x: Array, semiring: Semiring) -> bool:
    """True if ⊗ is a sum, and that of any entries of x and of A so small that it cannot have left the dtype's range."""
    if not semiring.adds_weights or A.dtype == bool or A.dtype != x.dtype:
        return False
    there = x[x != semiring.zero(x.dtype)]
    most = max(-float(there.min()), float(there.max())) if there.size else 0.0
    info: Any = np.iinfo(x.dtype) if x.dtype.kind == "i" else np.finfo(x.dtype)
    return most + magnitude(A, semiring) < float(info.max) / 2


def _of(A: Matrix, semiring: Semiring, of_moments: Callable[[dict[str, float]], float]) -> float:
    """A statistic of the values that are no zeros; of none it is 0."""
    found = A.keep(MOMENTS, lambda: _moments(A, semiring.zero(A.dtype)), semiring)
    return of_moments(found) if found["count"] else 0.0


def _moments(A: Matrix, zero: Any) -> dict[str, float]:
    """Statistics of the values other than `zero` after one pass: on a GPU by a kernel, on the host in pieces."""
    if not A.place.on_host:
        from .cuda.statistics import moments

        each = []
        for part in A.stored_parts:
            with place_of(part).scope():
                each.append(moments(part, zero))
        return _of_all(A.of_each(_of_all(each)))
    found = {"count": 0, "sum": 0.0, "least": np.inf, "largest": -np.inf}
    for part in A.stored_parts:
        for start in range(0, part.size, PIECE):
            piece = part[start : start + PIECE]
            values = piece[piece != zero].astype(np.float64)
            if values.size:
                with np.errstate(over="ignore", invalid="ignore"):  # of the largest floats the sum is infinite, or none
                    found["sum"] += float(values.sum())
                found["count"] += values.size
                found["least"] = min(found["least"], float(values.min()))
                found["largest"] = max(found["largest"], float(values.max()))
    return _of_all(A.of_each(found))


def _of_all(every: list[dict[str, float]]) -> dict[str, float]:
    """Statistics of the values of all parts of a matrix."""
    fold: dict[str, Callable[..., float]] = {"count": sum, "sum": sum, "least": min, "largest": max}
    return {name: of([found[name] for found in every]) for name, of in fold.items()} if len(every) > 1 else every[0]
