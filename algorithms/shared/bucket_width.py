"""The width Δ of Δ-stepping's buckets: given, or by a rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from formats import DTYPES, Matrix
from semiring import MinPlus
from semiring.statistics import largest, mean, median
from semiring.vectors import as_bound, degrees

FLOAT64 = DTYPES[-1]

WIDE = 32
"""Mean weights over the mean degree that a bucket takes: fewer, larger buckets cost fewer products."""


def bucket_width(A: Matrix, delta: Any) -> Any:
    """Δ as a scalar of A's dtype: a positive number as given, or by the rule of that name.

    "median", "mean": of the weights.  "max/degree": the largest weight over the largest out-degree [1].  None: `WIDE`
    mean weights over the mean degree. Each vertex meets d edges in a bucket whose light ones it relaxes again when it
    improves, so the denser the graph, the smaller Δ.  ValueError for another name or a number that is not positive.

    [1] U. Meyer, P. Sanders, Δ-stepping: a parallelizable shortest path algorithm, Journal of Algorithms 49, 2003.
    """
    check_delta(delta)
    if delta is None or isinstance(delta, str):
        return as_bound(min(RULES[delta](A), math.inf), A.dtype, MinPlus)
    return as_bound(delta, A.dtype, MinPlus, "delta")


def check_delta(delta: Any = None) -> None:
    """TypeError or ValueError unless `delta` is a positive number or the name of a rule."""
    if delta is None or (isinstance(delta, str) and delta in RULES):
        return
    if isinstance(delta, str):
        names = ", ".join(repr(name) for name in RULES)
        raise ValueError(f"unknown rule for delta {delta!r}; there are {names}, and positive numbers")
    as_bound(delta, FLOAT64, MinPlus, "delta")
    if not delta > 0:
        raise ValueError(f"delta must be a positive number, got {delta!r}")


RULES: dict[str | None, Callable[[Matrix], float]] = {
    "median": lambda A: median(A, MinPlus),
    "mean": lambda A: mean(A, MinPlus),
    "max/degree": lambda A: largest(A, MinPlus) / max(int(degrees(A).max()), 1),
    None: lambda A: WIDE * mean(A, MinPlus) * A.nrows / max(A.nnz, 1),
}
"""Δ by the rules' names."""
