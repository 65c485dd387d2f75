"""Fixpoints from any distances on, relaxed on a GPU by the kernels of shortest paths (fixpoint.cu)."""

from __future__ import annotations

from typing import Any

from formats import CSR
from formats.arrays import Array
from semiring import MinPlus, Semiring, reduce
from semiring.verbs.registry import Declined

from . import kernels
from .paths import MIN_STEPS, STEPS_PER_VERTEX, Run, Schedule, buckets, deep, narrow


def from_distances(A: CSR, d: Array, frontier: Array, s: Semiring, limit: Any) -> Array | Declined:
    """Relax in place until nothing improves; every vertex that has a distance is active at first."""
    if why := kernels.too_large(A):
        return why
    how = buckets(A) if s == MinPlus else Schedule("frontier", None, deep(A), deepens=narrow(A))
    run = Run(A, s, how, start=d, best=reduce(d[frontier], s.add), limit=limit)
    run.go_on(STEPS_PER_VERTEX * A.nrows + MIN_STEPS)
    run.known()
    return d if run.done else Declined(f"after {run.steps} steps something still changed")
