"""Near-far relaxation of a matrix: its threads, its Δ, and whether a finite length has saturated.

Δ is the step of `top`, the farthest distance that is relaxed from before the rest is looked at again. Small, it lets a
vertex be relaxed only once; large, it has far looked at less often. Where nobody chooses it is a multiple of the mean
weight, which on road networks is large; where a few vertices have most of the edges, distances lie close together, and
Δ is small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.shared.cycle_watch import ENDLESS
from algorithms.shared.errors import broken_law
from algorithms.shared.single_source import Until
from formats import CSR, Matrix
from formats.arrays import Array, read_only
from formats.matrix.facts import Fact
from semiring import MONOIDS, Semiring
from semiring.algebra.semirings import end_of_range
from semiring.cpu.crew import crew
from semiring.cpu.dealing import MIN_NNZ_FOR_THREADS
from semiring.cpu.threads import get_threads
from semiring.vectors import as_bound

MEANS, MEANS_BY_DEGREE = 3, 12
"""Number of mean weights in Δ, where degrees are alike: at most so many, and so many over the degree.

With fewer a random graph's vertices expand less often; roads and grids then take too many steps."""

MIN_SKEW = 16
"""Minimum of mean degrees in the largest one for degrees not to be alike."""

MIN_THREADS = 4
"""Minimum of threads for one search of a large graph.

Two that share their lists, and tell each other of improvements, are no faster than one alone."""

SAMPLED_WEIGHTS = 1 << 10
"""Number of weights that Δ is made of: a few more or less cost little, and all of them a pass."""

MIN_SHARED_EDGES = 1 << 10
"""Minimum of edges of near entries for other threads to be called."""

EDGES_PER_THREAD = 1 << 10
"""Number of edges in a bucket for which one more thread takes part in the next.

Δ doubles where a bucket has fewer than twice as many for each thread, and is halved from eight times as many on."""

LISTS_PER_THREAD = 2
"""Number of lists of a thread alone: near vertices and far ones."""

LISTS_PER_SHARING_THREAD = 3
"""Number of lists of each thread of a crew: near vertices, and far ones of two buckets."""


Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Type of indptr, indices and values."""


SKEWED_DEGREES: Fact[bool] = Fact("a few vertices have far more edges than others")
VALUES: Fact[np.ndarray] = Fact("values, each at its own place in memory")
STEP: Fact[Any] = Fact("a step that suits weights and degrees")
WORST: Fact[Any] = Fact("the weight that makes a path the worst")
"""The last two facts are kept for a semiring."""


@dataclass(frozen=True)
class Essential:
    """The edges of a matrix that shortest paths may take, see `essential.py`.

    rows: indptr, indices, values.  to_hub, from_hub: D and F, (n,).  useful: (n,), the distance beyond D_s from which
    on a vertex is passed over.  reach: the D_s from which no distance is too large; of worse ones some are.  farthest:
    what no distance may exceed; the zero if there is no such limit.  delta: Δ for these edges.
    """

    rows: Rows
    to_hub: np.ndarray
    from_hub: np.ndarray
    useful: np.ndarray
    reach: Any
    farthest: Any
    delta: Any

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (*self.rows, self.to_hub, self.from_hub, self.useful))

    @property
    def edges(self) -> int:
        return self.rows[1].size

    def bound(self, source: int) -> tuple[np.ndarray, Any]:
        """Return `useful` and D of the source, or nothing and 0 where the source does not lead to the hub."""
        to_hub = self.to_hub[source]
        return (self.useful, to_hub) if self.leads(to_hub) else (self.useful[:0], to_hub.dtype.type(0))

    def serves(self, source: int) -> bool:
        """True if no distance from there is too large, as far as it is known before a search."""
        to_hub = self.to_hub[source]
        return bool(to_hub <= self.reach) or not self.leads(to_hub)

    def leads(self, to_hub: Any) -> bool:
        """True if a vertex with that distance to the hub leads to it."""
        return bool(to_hub != end_of_range(to_hub.dtype, "highest"))


@dataclass(frozen=True)
class Plan:
    """The plan of a search.  delta: None where ⊗ puts nothing ahead.  essential: the edges that matter, if known.

    chosen: True if the caller chose Δ, which then stays.
    """

    threads: int
    delta: Any
    essential: Essential | None = None
    chosen: bool = False


def threads_for(A: Matrix) -> int:
    """Return how many threads A is worth."""
    return get_threads() if A.nnz >= MIN_NNZ_FOR_THREADS and get_threads() >= MIN_THREADS else 1


class Search:
    """One search: its distances d, its lists, and what it counts.

    source: one, or an array of several if the plan has no essential edges.
    top: no distance is worse that was relaxed from.  counts: where far ends, entries relaxed from, edges looked at,
    buckets.
    """

    def __init__(self, A: CSR, source: Any, s: Semiring, until: Until, plan: Plan) -> None:
        self.A, self.s, self.source, self.plan = A, s, source, plan
        self.zero, self.rows = s.zero(A.dtype), self.edges(source)
        self.limit = self.zero if until.limit is None else until.limit
        self.target = -1 if until.target is None else until.target
        self.near, self.far = self.lists(), self.lists()
        self.d, self.counts = np.full(A.nrows, self.zero, A.dtype), np.zeros(4, np.int64)
        self.top = s.unit(A.dtype)

    def edges(self, source: int) -> tuple[Any, ...]:
        """Return the rows to relax along, and by which distances a vertex is passed over."""
        if (found := self.plan.essential) is not None:
            return *found.rows, *found.bound(source)
        return self.A.indptr, self.A.indices, full_values(self.A), np.empty(0, self.A.dtype), self.s.unit(self.A.dtype)

    def farthest(self) -> Any:
        """Return a bound on the distances that were found."""
        if self.plan.essential is None:
            return self.top
        bound = self.s.product(self.top, heaviest(self.A, self.s))
        return bound if bound < self.plan.essential.farthest else self.d[self.d != self.zero].max()

    def lists(self) -> tuple[np.ndarray, np.ndarray]:
        """Make room for entries: vertices, and their distances."""
        room = room_for(self.A.nrows)
        return np.empty(room, self.A.indices.dtype), np.empty(room, self.A.dtype)

    def run(self) -> Any:
        """Find the distances; returns a bound on them."""
        from .relaxation import most_relaxed, search

        s, dtype, delta, limit, best = self.s, self.A.dtype, self.plan.delta, self.limit, self.zero
        loop = search(s, dtype, delta is not None)
        delta = s.unit(dtype) if delta is None else delta
        starts = np.atleast_1d(self.source)
        size = starts.size
        self.d[starts] = self.near[1][:size] = s.unit(dtype)
        self.near[0][:size] = starts
        self.top = delta if limit == self.zero else capped(delta, limit, s)
        many = self.A.nrows * MIN_SHARED_EDGES // max(self.A.nnz, 1) if self.plan.threads > 1 else self.near[0].size
        state = self.rows, self.d, self.near, self.far, self.counts
        size, *found = loop(state, self.target, limit, delta, self.top, best, size, many)
        limit, self.top, best = map(dtype.type, found)
        if size:
            self.top = dtype.type(self.by_crew(size, limit, delta))
        if self.counts[0] < 0 or self.counts[1] > most_relaxed(self.A.nrows):
            raise ValueError(broken_law(s, ENDLESS))
        return self.farthest()

    def by_crew(self, size: int, limit: Any, delta: Any) -> Any:
        """Go on by all threads from the first `size` near entries, and all far ones; returns the last top."""
        from .relaxation import kept
        from .shared_relaxation import FAR, WIDEST, crew_search, room

        A, stepped = self.A, self.plan.delta is not None
        last = kept(*self.far, 0, int(self.counts[0]), self.d)
        lists = room(self.plan.threads, self.near[0].size, A.indices.dtype, A.dtype)
        _, far, (counts, *_), *_ = lists
        for to, near, old in zip(far, self.near, self.far, strict=True):
            to[0, 0, :last], to[0, 0, last : last + size] = old[:last], near[:size]
        counts[0, : FAR + 3] = last + size, *self.counts[1:3]
        widest = delta.item() * WIDEST
        most = 1 if self.plan.chosen or not stepped or as_bound(widest, A.dtype, self.s).item() != widest else WIDEST
        with crew(self.plan.threads) as gate:
            parts = np.array([limit, delta, self.top], A.dtype), np.array([self.target, most, EDGES_PER_THREAD])
            return crew_search(self.s, A.dtype, stepped)(gate, self.rows, self.d, lists, self.counts, *parts)


def capped(x: Any, worst: Any, s: Semiring) -> Any:
    """Return x, or `worst` if that is better."""
    return worst if s.better(worst, x) else x


def room_for(n: int) -> int:
    """Number of entries in a list: at most n count, and those are moved together where it would be full."""
    return 2 * n + 1024


def list_bytes(A: Matrix) -> int:
    """Maximum of bytes of all threads' lists."""
    threads = threads_for(A)
    lists = LISTS_PER_THREAD + (LISTS_PER_SHARING_THREAD * threads if threads > 1 else 0)
    return lists * room_for(A.nrows) * (A._index_dtype.itemsize + A.dtype.itemsize)


def skewed(A: CSR) -> bool:
    """True if a few vertices have far more edges than others; found once."""
    return A.keep(
        SKEWED_DEGREES, lambda: int(np.diff(A.indptr).max(initial=0)) * A.nrows > MIN_SKEW * max(A.nnz, A.nrows)
    )


def step(A: CSR, s: Semiring) -> Any:
    """Return Δ by the weights and degrees of A, found once."""
    return A.keep(STEP, lambda: suitable_step(A, s), s)


def suitable_step(A: CSR, s: Semiring) -> Any:
    """Compute Δ by the weights and degrees of A."""
    usual, weight = max(A.nnz / max(A.nrows, 1), 1), typical(A, s)
    means = 1 / usual if skewed(A) else min(MEANS, MEANS_BY_DEGREE / usual)
    end = math.copysign(float(np.finfo(np.float64).max), weight)
    return as_bound(weight * means if math.isfinite(weight) else end, A.dtype, s)


def typical(A: CSR, s: Semiring) -> float:
    """The mean of a sample of the weights, 0 of no weights."""
    sample = A.values[:: max(A.nnz // SAMPLED_WEIGHTS, 1)]
    present = sample != s.zero(A.dtype)
    sample = sample if present.all() else sample[present]
    with np.errstate(over="ignore"):
        return float(np.add.reduce(sample, dtype=np.float64)) / max(sample.size, 1)


def full_values(A: CSR) -> np.ndarray:
    """Return A's values, each at its own place in memory: of a pattern they are made once."""
    if A.values.flags.c_contiguous:
        return A.values
    return A.keep(VALUES, lambda: read_only(np.ascontiguousarray(A.values)))


def cannot_overflow(A: Matrix, farthest: Any, s: Semiring) -> bool:
    """True if no edge, from no vertex as far as that, can have led out of the dtype's range."""
    if s.add not in (MONOIDS["min"], MONOIDS["max"]) or not s.adds_weights or A.nnz == 0:
        return False
    worst = heaviest(A, s)
    zero = s.zero(A.dtype)
    return worst == zero or bool(s.product(farthest, worst) != zero)


fits = cannot_overflow
"""The name that factors on GPUs import it by."""


def heaviest(A: Any, s: Semiring) -> Any:
    """The weight that makes a path the worst, found once."""
    return A.keep(WORST, lambda: worst_weight(A, s), s)


def worst_weight(A: CSR, s: Semiring) -> Any:
    """The weight that makes a path the worst, of those that are there; the zero if there is none."""
    zero, values = s.zero(A.dtype), A.values
    worst = worst_of(values, s)
    if worst != zero:
        return worst
    present = values[values != zero]
    return worst_of(present, s) if present.size else zero


def worst_of(values: Array, s: Semiring) -> Any:
    """The worst of some values, on the host."""
    return values.dtype.type((values.max() if s.add == MONOIDS["min"] else values.min()).item())
