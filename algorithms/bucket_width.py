"""The width Δ of Δ-stepping's buckets: given, or by a rule."""

from __future__ import annotations

import math
from typing import Any

from formats import Matrix
from semiring import MinPlus
from semiring.checks import is_scalar
from semiring.statistics import largest, mean, median
from semiring.vectors import as_bound, degrees

WIDE = 32
"""Mean weights over the mean degree that a bucket takes: fewer, larger buckets cost fewer products."""


def bucket_width(A: Matrix, delta: Any) -> Any:
    """Δ as a scalar of A's dtype: a positive number as given, or by the rule of that name.

    "median", "mean": of the weights.  "max/degree": the largest weight over the largest out-degree [1].  None: `WIDE`
    mean weights over the mean degree. Each vertex meets d edges in a bucket whose light ones it relaxes again when it
    improves, so the denser the graph, the smaller Δ.  ValueError for another name or a number that is not positive.

    [1] U. Meyer, P. Sanders, Δ-stepping: a parallelizable shortest path algorithm, Journal of Algorithms 49, 2003.
    """
    rules = {
        "median": lambda: median(A, MinPlus),
        "mean": lambda: mean(A, MinPlus),
        "max/degree": lambda: largest(A, MinPlus) / max(int(degrees(A).max()), 1),
        None: lambda: WIDE * mean(A, MinPlus) * A.nrows / max(A.nnz, 1),
    }
    if delta is None or isinstance(delta, str):
        if delta not in rules:
            names = ", ".join(repr(name) for name in rules)
            raise ValueError(f"unknown rule for delta {delta!r}; there are {names}, and positive numbers")
        return as_bound(min(rules[delta](), math.inf), A.dtype, MinPlus)
    if not is_scalar(delta) or not delta > 0:
        raise ValueError(f"delta must be a positive number, got {delta!r}")
    return as_bound(delta, A.dtype, MinPlus)
