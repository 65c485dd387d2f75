"""Near-far relaxation of a matrix: its threads, its Δ, and whether a finite length has saturated.

Δ is the step of `top`, the farthest distance that is relaxed from before the rest is looked at again. Small, it lets a
vertex be relaxed only once; large, it gives threads more to share. Where nobody chooses it is a multiple of the mean
weight, which on road networks is large; where a few vertices have most of the edges, distances lie close together, and
Δ is small.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from algorithms.single_source import Exact, Until
from formats import CSR
from formats.arrays import read_only
from semiring import MONOIDS, OPERATORS, Semiring
from semiring.cpu.threads import SMALL, get_threads, run
from semiring.explanation import explained, facts
from semiring.statistics import mean
from semiring.vectors import as_bound

MEANS = 10
"""Mean weights in Δ, where degrees are alike."""

SKEWED = 16
"""Mean degrees in the largest one from which on degrees are not alike."""

ON_ONE_THREAD = 1 << 40
"""Own near vertices with which a thread goes on where there is no other; and where there are others."""
SHARED = 64


def near_far(A: CSR, source: int, s: Semiring, until: Until, delta: Any) -> Any:
    """Distances from `source`; `Exact` if no finite length has saturated.  delta: None for one that suits the graph."""
    stepped = s.mul == OPERATORS["plus"]
    if stepped and delta is None:
        delta = step(A, s)
    threads = get_threads() if A.nnz >= SMALL else 1
    d, buckets, relaxed, farthest = solve(A, source, s, until, delta if stepped else None, threads)
    if buckets < 0:  # a list was full: of one thread it never is
        threads = 1
        d, buckets, relaxed, farthest = solve(A, source, s, until, delta if stepped else None, threads)
    if explained():
        facts(schedule="near-far", threads=threads, delta=delta, buckets=buckets, relaxed=relaxed)
    return Exact(d) if fits(A, farthest, s) else d


def solve(A: CSR, source: int, s: Semiring, until: Until, delta: Any, threads: int) -> tuple[Any, int, int, Any]:
    """(distances, buckets, relaxed vertices, the worst distance relaxed from), with that many threads."""
    from .relaxation import COLUMNS, OWN, RELAXED, kernels

    n, dtype, zero, unit = A.nrows, A.dtype, s.zero(A.dtype), s.unit(A.dtype)
    loops = kernels(s, dtype, delta is not None, threads > 1)
    room = 2 * n + 1024  # at most n entries count, wherever they are; half of a list may be read
    if threads > 2:
        room = min(room, 8 * n // threads + (1 << 16))
    d = np.full(n, zero, dtype)
    vertices, distances = np.empty((4 * threads, room), A.indices.dtype), np.empty((4 * threads, room), dtype)
    counts, marks = np.zeros((OWN + threads, COLUMNS), np.int64), np.full((1 + threads, 16), zero, dtype)
    marks[:, 1] = unit
    arrays = (A.indptr, A.indices, full_values(A), d, vertices, distances, counts, marks)
    limit = zero if until.limit is None else until.limit
    target = -1 if until.target is None else until.target
    fuse = ON_ONE_THREAD if threads == 1 else SHARED
    buckets = 0

    def piece(thread: int, _: int) -> None:
        nonlocal buckets
        if thread == 0:
            step = unit if delta is None else delta
            buckets = loops.lead(source, unit, step, limit, target, fuse, *arrays)
        else:
            loops.help(thread, fuse, *arrays)

    run(piece, [(thread, threads) for thread in range(threads)])
    return d, buckets, int(counts[OWN:, RELAXED].sum()), marks[0, 1]


def step(A: CSR, s: Semiring) -> Any:
    """Δ by the weights and degrees of A, found once."""
    return A.keep(("step", s), lambda: _step(A, s))


def _step(A: CSR, s: Semiring) -> Any:
    degrees = np.diff(A.indptr)
    usual = A.nnz / max(A.nrows, 1)
    skewed = degrees.size and int(degrees.max()) > SKEWED * max(usual, 1)
    means = 1.5 / max(usual, 1) if skewed else MEANS
    Δ = mean(A, s) * means
    return as_bound(Δ if math.isfinite(Δ) else math.copysign(np.finfo(A.dtype).max, Δ), A.dtype, s)


def full_values(A: CSR) -> np.ndarray:
    """A's values, each at its own place in memory: of a pattern they are made once."""
    if A.values.flags.c_contiguous:
        return A.values
    return A.keep("values in full", lambda: read_only(np.ascontiguousarray(A.values)))


def fits(A: CSR, farthest: Any, s: Semiring) -> bool:
    """Can no edge, from no vertex as far as that, have led out of the dtype's range?"""
    if s.add not in (MONOIDS["min"], MONOIDS["max"]) or s.mul != OPERATORS["plus"] or A.nnz == 0:
        return False
    worst = A.keep(("worst", s), lambda: worst_weight(A, s))
    zero = s.zero(A.dtype)
    return worst == zero or bool(s.mul(np.asarray([farthest]), np.asarray([worst]))[0] != zero)


def worst_weight(A: CSR, s: Semiring) -> Any:
    """The weight that makes a path the worst, of those that are there; the zero if there is none."""
    zero = s.zero(A.dtype)
    present = A.values[A.values != zero]
    if present.size == 0:
        return zero
    return present.max() if s.add == MONOIDS["min"] else present.min()
