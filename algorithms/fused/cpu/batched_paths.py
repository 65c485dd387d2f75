"""Shortest paths from several sources: each thread takes a search after the other, with lists that it keeps.

A search has no steps that threads share, so none waits for another, and what a call costs is paid once for all. All of
them are near-far relaxations, see `relaxation`, along the edges that matter where these are known, see `essential`.
There many sources go side by side, see `batched_lanes`. Where paths gain by length, each search has a queue, see
`label_correcting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from algorithms.shared.cycle_watch import ENDLESS
from algorithms.shared.errors import NegativeCycle, broken_law
from algorithms.shared.parents import gains_by_length
from algorithms.shared.single_source import Exact, Until
from formats import CSR
from semiring import MONOIDS, Semiring
from semiring.algebra.semirings import end_of_range
from semiring.cpu.atomics import added
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.dealing import MIN_WORK_FOR_THREADS
from semiring.cpu.threads import get_threads, run
from semiring.verbs.batch import Rows
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from . import batched_lanes
from .distances import planned
from .label_correcting import by_queue
from .near_far import (
    LISTS_PER_THREAD,
    Essential,
    Plan,
    cannot_overflow,
    capped,
    full_values,
    heaviest,
    room_for,
    skewed,
    threads_for,
)

MIN_SOURCES_PER_THREAD = 2
"""Minimum of sources for each thread: with fewer, threads that can had better share each search."""


def each(A: CSR, sources: list[int], rows: Rows, s: Semiring, until: Until, delta: Any) -> Any:
    """Fill a row of distances from each source; `Exact` if no finite length has saturated."""
    d, _ = rows
    if gains_by_length(A, s):
        return by_queues(A, sources, d, s, until)
    if threads_for(A) > 1 and len(sources) * MIN_SOURCES_PER_THREAD < get_threads():
        return Declined("all threads share each search")
    searches, plan = Searches(A, sources, d, s, until), planned(A, sources, s, until, delta)
    farthest = searches.run_all(plan)
    if plan.essential is not None:
        details(essential=plan.essential.edges)
    _, relaxed, edges, buckets = searches.counts.tolist()
    details(schedule=searches.schedule, threads=searches.threads, delta=plan.delta)
    details(buckets=buckets, relaxed=relaxed, edges=edges)
    worst = farthest.max() if s.add == MONOIDS["min"] else farthest.min()
    return Exact(d) if cannot_overflow(A, worst, s) else d


def by_queues(A: CSR, sources: list[int], d: np.ndarray, s: Semiring, until: Until) -> Any:
    """Fill the rows where paths gain by length; `Declined` if a search must be told about, as of a cycle."""
    if until.limit is not None or until.target is not None:
        return Declined("paths gain by length, and may lead back within a bound")
    exact, left = np.zeros(len(sources), bool), list[int]()

    def one(k: int, _: int) -> None:
        try:
            answer: Any = Declined("another one is") if left else by_queue(A, sources[k], s, until)
        except NegativeCycle:
            answer = Declined("it has a cycle that gains")
        if isinstance(answer, Declined):
            left.append(k)
            return
        exact[k] = isinstance(answer, Exact)
        d[k] = answer.d if exact[k] else answer

    run(one, [(k, k) for k in range(len(sources))])
    if left:
        return Declined("a search meets a cycle, or sums that do not fit")
    details(schedule="a queue for each source", threads=min(get_threads(), len(sources)))
    return Exact(d) if exact.all() else d


def bytes_needed(A: CSR, k: int) -> int:
    """Bytes that k searches take beside their rows: lists of each thread, or a queue and a tree, or lanes."""
    lists = LISTS_PER_THREAD * room_for(A.nrows) * (A.indices.itemsize + A.dtype.itemsize)
    tree = (A.nrows + 1) * (5 * A.indices.itemsize + 2 * A.dtype.itemsize + 9)
    lists = min(get_threads(), k) * max(lists, tree)
    return lists + (batched_lanes.bytes_needed(A, k) if k >= batched_lanes.MIN_SOURCES and skewed(A) else 0)


class Searches:
    """Searches that threads take one after the other.  counts: as a `Search` has them, of all together."""

    def __init__(self, A: CSR, sources: list[int], d: np.ndarray, s: Semiring, until: Until) -> None:
        self.A, self.sources, self.d, self.s = A, sources, d, s
        self.zero = s.zero(A.dtype)
        self.limit = self.zero if until.limit is None else until.limit
        self.target = -1 if until.target is None else until.target
        self.threads = min(get_threads(), len(sources)) if A.nnz * len(sources) >= MIN_WORK_FOR_THREADS else 1
        self.counts, self.schedule = np.zeros(4, np.int64), "a search for each thread"

    def run_all(self, plan: Plan) -> np.ndarray:
        """Fill all rows, along the edges that matter where these are enough; returns a bound on each's distances."""
        found, every = plan.essential, range(len(self.sources))
        if found is None:
            farthest, left = self.side_by_side([*every], None)
            farthest[left] = self.run(left, plan)[left]
            return farthest
        served = [row for row in every if found.serves(self.sources[row])]
        led = [row for row in served if found.leads(found.to_hub[self.sources[row]])]
        farthest, left = self.side_by_side(led, found)
        left = sorted({*served} - {*led} | {*left})
        farthest[left] = self.bounds(self.run(left, plan))[left]
        left = self.not_near(farthest, found)
        farthest[left] = self.run(left, replace(plan, essential=None))[left]
        return farthest

    def side_by_side(self, rows: list[int], found: Essential | None) -> tuple[np.ndarray, list[int]]:
        """Fill rows by lanes, if many in a graph with hubs; returns each's farthest distance, and what is left."""
        A, s, farthest = self.A, self.s, np.full(len(self.sources), self.zero, self.A.dtype)
        whole = self.limit == self.zero and self.target < 0
        if not whole or len(rows) < batched_lanes.MIN_SOURCES or not batched_lanes.suits(A, s):
            return farthest, rows
        done, farthest[rows], *counts = batched_lanes.by_lanes(A, self.sources, rows, self.d, s, found)
        self.schedule = "a lane for each source"
        self.counts[1:3] += counts
        return farthest, [row for row, is_done in zip(rows, done.tolist(), strict=True) if not is_done]

    def run(self, rows: Sequence[int], plan: Plan) -> np.ndarray:
        """Fill some rows; returns for each a bound on the distances that were relaxed from, and the zero for others."""
        A, s, found, stepped = self.A, self.s, plan.essential, plan.delta is not None
        tops, taken = np.full(len(self.sources), self.zero, A.dtype), np.zeros(1, np.int64)
        loop, unit = searching(s, A.dtype, stepped), s.unit(A.dtype)
        delta = plan.delta if stepped else unit
        top = delta if self.limit == self.zero else capped(delta, self.limit, s)
        edges, landmark = (A.indptr, A.indices, full_values(A)), (np.empty(0, A.dtype),) * 2
        if found is not None:
            edges, landmark = found.rows, (found.useful, found.to_hub)
        each = np.array(rows, np.int64), np.array(self.sources, np.int64), self.d, tops
        absent = end_of_range(A.dtype, "highest") if found is not None else unit
        ends = np.array([self.limit, delta, top, absent], A.dtype)

        def piece(_: int, __: int) -> None:
            room, counts = room_for(A.nrows), np.zeros((2, 4), np.int64)
            near, far = ((np.empty(room, A.indices.dtype), np.empty(room, A.dtype)) for _ in range(2))
            loop((edges, landmark), each, self.target, ends, (near, far), taken, counts)
            if counts[0, 0] < 0:
                raise ValueError(broken_law(s, ENDLESS))
            np.add(self.counts, counts[1], out=self.counts)

        run(piece, [(k, k) for k in range(self.threads)])
        return tops

    def bounds(self, tops: np.ndarray) -> np.ndarray:
        """Return a bound on the distances of each row."""
        with np.errstate(over="ignore"):
            return self.s.mul(tops, np.full_like(tops, heaviest(self.A, self.s)))

    def not_near(self, farthest: np.ndarray, found: Essential) -> list[int]:
        """Return the rows to be found along all edges; for others, make `farthest` no worse than `found` allows."""
        far = []
        for row, source in enumerate(self.sources):
            if farthest[row] >= found.farthest and found.serves(source):
                d = self.d[row]
                farthest[row] = d[d != self.zero].max()
            if farthest[row] > found.farthest or not found.serves(source):
                far.append(row)
        return far


@lru_cache(maxsize=64)
def searching(semiring: Semiring, dtype: np.dtype, stepped: bool) -> Any:
    """Make the loop of a thread, for a semiring and a dtype."""
    from semiring.cpu.kernels import compiled

    from .relaxation import search

    zero, unit, loop = semiring.zero(dtype), semiring.unit(dtype), search(semiring, dtype, stepped)

    @compiled
    def searches(matrix, each, target, ends, lists, taken, counts):
        """Run searches that nobody has taken, until there are none, or counts[0, 0] says that a law must be broken.

        matrix: (rows, (`useful` and D, or nothing)).  each: (rows to be filled, sources, distances, tops).  ends:
        (limit, Δ, the first top, a D that leads nowhere).  counts: of one search, and of all.
        """
        (indptr, indices, values), (useful, to_hub) = matrix
        (rows, sources, distances, tops), (near, far) = each, lists
        limit, delta, first, absent = ends[0], ends[1], ends[2], ends[3]
        while True:
            k = added(taken, 0, 1)
            if k >= rows.size or interrupted():
                break
            source, d = sources[rows[k]], distances[rows[k]]
            for v in range(d.size):
                d[v] = zero
            d[source] = near[1][0] = unit
            near[0][0] = source
            counts[0, :] = 0
            passed, hub = useful[:0], unit
            if useful.size and to_hub[source] != absent:
                passed, hub = useful, to_hub[source]
            state = (indptr, indices, values, passed, hub), d, near, far, counts[0]
            _, _, top, _ = loop(state, target, limit, delta, first, zero, 1, near[0].size)
            tops[rows[k]] = top
            for i in range(counts.shape[1]):
                counts[1, i] += counts[0, i]
            if counts[0, 0] < 0:
                break

    return searches
