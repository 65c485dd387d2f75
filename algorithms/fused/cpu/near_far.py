"""Near-far relaxation of a matrix: its threads, its Δ, and whether a finite length has saturated.

Δ is the step of `top`, the farthest distance that is relaxed from before the rest is looked at again. Small, it lets a
vertex be relaxed only once; large, it gives threads more to share. Where nobody chooses it is a multiple of the mean
weight, which on road networks is large; where a few vertices have most of the edges, distances lie close together, and
Δ is small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.single_source import Exact, Until
from formats import CSR, Matrix
from formats.arrays import read_only
from formats.orientation import by_columns
from semiring import MONOIDS, OPERATORS, Semiring
from semiring.cpu.threads import SMALL, get_threads, run
from semiring.explanation import explained, facts
from semiring.statistics import mean
from semiring.vectors import as_bound, product

from .light_rows import LightRows, light_rows

MEANS, MEANS_BY_DEGREE = 3, 12
"""Mean weights in Δ, where degrees are alike: at most so many, and so many over the degree. Fewer expand a vertex of a
random graph less often; of roads and grids there are then too many steps."""

SKEWED = 16
"""Mean degrees in the largest one from which on degrees are not alike."""

LARGE = 1 << 22
"""Entries from which on threads share a graph whose degrees are alike: of road networks with fewer, the near vertices
are too few at a time."""

ON_ONE_THREAD = 1 << 40
"""Own near vertices with which a thread goes on where there is no other; and where there are others."""
SHARED = 64
LISTS = 4
"""Of each thread: two of near vertices and two of far ones, one to read and one to write."""


@dataclass(frozen=True)
class Plan:
    """threads: how many.  delta: None where ⊗ puts nothing ahead.  light: for a search in two parts, with `short` for Δ
    in the first.
    """

    threads: int
    delta: Any
    light: LightRows | None = None
    short: Any = None


def near_far(A: CSR, source: int, s: Semiring, until: Until, delta: Any) -> Any:
    """Distances from `source`; `Exact` if no finite length has saturated.  delta: None for one that suits the graph."""
    plan = planned(A, s, delta)
    answer = solve(A, source, s, until, plan)
    if answer is None:  # a list was full: of one thread it never is
        plan = Plan(1, plan.delta)
        answer = solve(A, source, s, until, plan)
    d, buckets, relaxed, edges, farthest = answer
    if explained():
        how = "near-far" if plan.light is None else "lazy along light edges, pulled once, near-far"
        facts(schedule=how, threads=plan.threads, delta=plan.delta, buckets=buckets, relaxed=relaxed, edges=edges)
    return Exact(d) if fits(A, farthest, s) else d


def planned(A: CSR, s: Semiring, delta: Any) -> Plan:
    """How to search A.

    What a search in two parts needs costs more than a search: it is made for the second one, and kept.
    """
    threads = get_threads() if A.nnz >= (SMALL if skewed(A) else LARGE) else 1
    if s.mul != OPERATORS["plus"]:
        return Plan(threads, None)
    if delta is not None:
        return Plan(threads, delta)
    delta, *lazily = steps(A, s)
    if not lazily or A.nnz < SMALL:
        return Plan(threads, delta)
    if not A.keeps("paths found"):
        A.keep("paths found", lambda: True)
        return Plan(threads, delta)
    light = light_rows(A, s)
    return Plan(threads, delta) if light is None else Plan(threads, lazily[1], light, lazily[0])


def solve(A: CSR, source: int, s: Semiring, until: Until, plan: Plan) -> Any:
    """(distances, buckets, relaxed vertices, edges looked at, the worst distance relaxed from); None if it failed."""
    from .relaxation import COLUMNS, DONE, EDGES, LAZY, OWN, RELAXED, STATE, kernel

    n, dtype, zero, unit, threads = A.nrows, A.dtype, s.zero(A.dtype), s.unit(A.dtype), plan.threads
    loop = kernel(s, dtype, plan.delta is not None, threads > 1)
    room = room_for(n, threads)
    d = np.full(n, zero, dtype)
    shape = (LISTS * threads, room)
    vertices, distances = np.empty(shape, A.indices.dtype), np.empty(shape, dtype)
    counts, marks = np.zeros((OWN + threads, COLUMNS), np.int64), np.full((1 + threads, 16), zero, dtype)
    marks[:, 1] = unit
    rows = light = columns = (A.indptr, A.indices, full_values(A))
    scalars = np.full(5, unit, dtype)
    scalars[4] = zero if until.limit is None else until.limit
    if plan.delta is not None:
        scalars[1] = plan.delta
    if plan.light is not None:
        counts[STATE, LAZY] = A.nnz
        scalars[2:4] = plan.short, plan.light.heaviest
        light, columns = plan.light.arrays, columns_of(A)
    target = -1 if until.target is None else until.target
    fuse = ON_ONE_THREAD if threads == 1 else SHARED
    buckets = 0

    def piece(thread: int, _: int) -> None:
        nonlocal buckets
        try:
            arrays = (*rows, *light, *columns, d, vertices, distances, counts, marks)
            found = loop(thread, source, target, fuse, scalars, *arrays)
            buckets = buckets if thread else found
        finally:
            if thread == 0:
                counts[STATE, DONE] = 1  # also where the loop could not be compiled: nobody may wait for it

    run(piece, [(thread, threads) for thread in range(threads)])
    if buckets < 0:
        return None
    return d, buckets, int(counts[OWN:, RELAXED].sum()), int(counts[OWN:, EDGES].sum()), marks[0, 1]


def in_two_parts(A: CSR, s: Semiring, near: int) -> Any:
    """(a distance of so many short steps, light edges, columns), if these have been kept with A; else None."""
    light = light_rows(A, s) if A.keeps(("light rows", s)) else None
    if light is None:
        return None
    top, step = s.unit(A.dtype), steps(A, s)[1]
    with np.errstate(over="ignore"):
        for _ in range(near):
            top = product(top, step, s)
    return capped(top, light.heaviest, s), light.arrays, columns_of(A)


def capped(x: Any, worst: Any, s: Semiring) -> Any:
    """x, or `worst` if that is better."""
    return worst if s.better(worst, x) else x


def columns_of(A: CSR) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(indptr, indices, values) of A by columns, made once."""
    C: Any = by_columns(A)
    return C.indptr, C.indices, C.values


def room_for(n: int, threads: int) -> int:
    """Entries in a list: at most n count, wherever they are, and half of a list may be read while it is written to."""
    room = 2 * n + 1024
    return room if threads <= 2 else min(room, 8 * n // threads + (1 << 16))


def list_bytes(A: Matrix) -> int:
    """Bytes of all threads' lists at most."""
    threads = get_threads() if A.nnz >= SMALL else 1
    return LISTS * threads * room_for(A.nrows, threads) * (A._index_dtype.itemsize + A.dtype.itemsize)


def skewed(A: CSR) -> bool:
    """Have a few vertices far more edges than others? Found once."""
    return A.keep("skewed", lambda: int(np.diff(A.indptr).max(initial=0)) * A.nrows > SKEWED * max(A.nnz, A.nrows))


def steps(A: CSR, s: Semiring) -> tuple[Any, ...]:
    """Δ by the weights and degrees of A, found once; if degrees are not alike, also for both parts of a lazy search."""
    return A.keep(("steps", s), lambda: _steps(A, s))


def _steps(A: CSR, s: Semiring) -> tuple[Any, ...]:
    usual, weight = max(A.nnz / max(A.nrows, 1), 1), mean(A, s)
    means = (1 / usual, 1 / usual, 1) if skewed(A) else (min(MEANS, MEANS_BY_DEGREE / usual),)
    end = math.copysign(float(np.finfo(np.float64).max), weight)
    return tuple(as_bound(weight * k if math.isfinite(weight) else end, A.dtype, s) for k in means)


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
    with np.errstate(over="ignore"):
        return worst == zero or bool(product(farthest, worst, s) != zero)


def worst_weight(A: CSR, s: Semiring) -> Any:
    """The weight that makes a path the worst, of those that are there; the zero if there is none."""
    zero = s.zero(A.dtype)
    present = A.values[A.values != zero]
    if present.size == 0:
        return zero
    return present.max() if s.add == MONOIDS["min"] else present.min()
