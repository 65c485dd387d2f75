"""Brandes's sums over sources as compiled loops, a source at a time for each thread.

    σ_v = Σ σ_u        δ_v = σ_v Σ (1 + δ_w) / σ_w        over edges u -> v, and v -> w, of shortest paths

Vertices are looked at in the order of their distances, and backwards. An edge is one of shortest paths if its ends'
distances say so, which is looked up again on the way back. Vertices that lead nowhere, most of them in a graph of few
levels, are noted on the way out, and their edges left out on the way back.

Unweighted, a queue is the order. Weighted, the distances come from the search for shortest paths, several sources at a
time, and are sorted. O(n + m) a source and what the search takes; for each thread 32 bytes a vertex.

[1] U. Brandes, A faster algorithm for betweenness centrality, J. Math. Sociology 25(2), 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from algorithms.equations.betweenness import exact_below
from algorithms.equations.distances_in_blocks import blocks_of_distances
from formats import CSR
from semiring import MinPlus
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import cut, get_threads, run, share

MIN_EDGES_FOR_THREADS = 1 << 14
"""Minimum of edges looked at in all for several threads."""

SOURCES_PER_CALL = 64
"""Number of sources of one compiled call: a call of Python's would let another thread wait."""

PARTS = 32
"""Parts whose sums are added one after the other, unless each has `SOURCES_PER_CALL` sources, or is small work."""

ROOM_BYTES = 1 << 25
"""Bytes of sums of parts that are kept at a time, if threads do not need more."""


def dependencies(A: CSR, sources: list[int], weighted: bool, endpoints: bool) -> np.ndarray:
    """The sums for each vertex, as `algorithms.betweenness.dependencies` has them."""
    starts, total = np.array(sources, np.int64), np.zeros(A.nrows)
    if not sources:
        return total
    count = get_threads() if len(sources) * (A.nnz + A.nrows) > MIN_EDGES_FOR_THREADS else 1
    threads = [_Thread(A, endpoints) for _ in range(min(count, len(sources)))]
    if not weighted:
        _sum_up(total, threads, _Thread.unweighted, starts)
    else:
        for _, d, led in blocks_of_distances(A, sources, True):
            _sum_up(total, threads, _Thread.weighted, d, led)
    return total


def _sum_up(total: np.ndarray, threads: list[_Thread], work: Callable[..., None], *sources: np.ndarray) -> None:
    """Add to the total what `work` finds of the sources, of which threads take parts side by side.

    sources: arrays with a row for each.

    Which parts there are, and their order in the sum, does not hang on the number of threads, nor do the last bits.
    """
    A, step, count = threads[0].A, len(threads), len(sources[0])
    each = max(min(-(-count // PARTS), SOURCES_PER_CALL), MIN_EDGES_FOR_THREADS // (A.nnz + A.nrows + 1))
    parts = [slice(first, first + each) for first in range(0, count, each)]
    rounds = max(1, ROOM_BYTES // (step * total.nbytes + 1))  # in which each thread has a part
    sums = np.zeros((min(len(parts), rounds * step), total.size))
    at_once, free = len(sums), list(threads)
    for first in range(0, len(parts), at_once):
        now = parts[first : first + at_once]

        def of_part(k: int, now: list[slice] = now) -> None:
            thread = free.pop()
            thread.total = sums[k]
            work(thread, *(x[now[k]] for x in sources))
            free.append(thread)

        if step > 1:
            share(of_part, len(now))
        else:
            for k in range(len(now)):
                of_part(k)
        run(lambda *piece: _move(sums, total, *piece), cut(total.size, -(-total.size // step), total.size))


class _Thread:
    """The arrays of one thread, and the sums of the part that it looks at."""

    def __init__(self, A: CSR, endpoints: bool) -> None:
        self.A, self.endpoints = A, endpoints
        n = A.nrows
        self.total, self.paths, self.share = np.zeros(0), np.zeros(n), np.zeros(n)
        self.order, self.leads = np.empty(n + 1, A.indices.dtype), np.empty(n, bool)

    @cached_property
    def level(self) -> np.ndarray:
        """The vertices' levels, none of them known: made by the thread that is the first to use them."""
        return np.full(self.A.nrows, -1, np.int32)

    def unweighted(self, sources: np.ndarray) -> None:
        """Add the sums of some sources, by levels."""
        rows, state = (self.A.indptr, self.A.indices), (self.order, self.leads, self.paths, self.share, self.total)
        for first in range(0, sources.size, SOURCES_PER_CALL):
            _by_levels(rows, self.level, state, sources[first : first + SOURCES_PER_CALL], self.endpoints)

    def weighted(self, rows: np.ndarray, led: np.ndarray) -> None:
        """Add the sums of some rows of distances."""
        A, state = self.A, (self.order, self.leads, self.paths, self.share, self.total, self.level)
        never, exact = MinPlus.zero(A.dtype), exact_below(A)
        for d, reached in zip(rows, led, strict=True):
            near = np.flatnonzero(reached)
            self.order[: near.size] = near[np.argsort(d[near])]
            _by_distances((A.indptr, A.indices, A.values), d, never, exact, state, near.size, self.endpoints)


@compiled
def _move(sums, total, start, stop):
    """Add the sums to the total, row by row, and clear them."""
    for k in range(sums.shape[0]):
        for v in range(np.uintp(start), np.uintp(stop)):
            total[v] += sums[k, v]
            sums[k, v] = 0.0


@inlined
def _from(source, rows, level, state, endpoints):
    (indptr, indices), (order, leads, paths, share, total) = rows, state
    order[0], level[source], paths[source] = source, 0, 1.0
    one, count, place = np.uintp(1), np.uintp(1), np.uintp(0)
    while place < count:
        if interrupted():
            break
        u = np.uintp(order[place])
        next_level, mine, leading = level[u] + np.int32(1), paths[u], False
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
            v = np.uintp(indices[e])
            found = level[v]
            if found == -1:
                level[v] = next_level
                order[count] = v
                count += one
                paths[v] = mine
                leading = True
            elif found == next_level:
                paths[v] += mine
                leading = True
        leads[place] = leading
        place += one
    while place:
        place -= one
        u = np.uintp(order[place])
        sums = 0.0
        if leads[place]:
            next_level = level[u] + np.int32(1)
            for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                v = np.uintp(indices[e])
                if level[v] == next_level:
                    sums += share[v]
        through = paths[u] * sums
        share[u] = (1.0 + through) / paths[u]
        if place:
            total[u] += through + endpoints
    total[source] += np.intp(count - one) * endpoints
    for at in range(count):
        level[np.uintp(order[at])] = -1


@compiled
def _by_levels(rows, level, state, sources, endpoints):
    for k in range(sources.size):
        if interrupted():
            return
        _from(np.uintp(sources[k]), rows, level, state, endpoints)


@compiled
def _by_distances(rows, distance, never, exact, state, count, endpoints):
    """Sum by distances.

    order: sorted by distances; of equally far ones come those that nearer ones lead to, then round by round.
    """
    (indptr, indices, weights), (order, leads, paths, share, total, rounds) = rows, state
    one, far = np.uintp(1), distance[np.uintp(order[np.uintp(count - 1)])]
    end = 0 if far >= exact else count
    for place in range(count):
        v = np.uintp(order[np.uintp(place)])
        paths[v] = 0.0
        if not end:
            rounds[v] = -1
    paths[np.uintp(order[np.uintp(0)])] = 1.0
    for place in range(count):
        u = np.uintp(order[np.uintp(place)])
        if place == end:  # what nearer ones lead to has paths, and begins
            here, stop = distance[u], place
            while stop < count and distance[np.uintp(order[np.uintp(stop)])] == here:
                v = np.uintp(order[np.uintp(stop)])
                if paths[v] > 0:
                    order[np.uintp(end)], rounds[v] = v, 0
                    end += 1
                stop += 1
            u = np.uintp(order[np.uintp(place)])
        here, mine, leading = distance[u], paths[u], False
        if interrupted():
            return
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
            v = np.uintp(indices[e])
            if here + weights[e] == distance[v] and distance[v] != never:
                if here == distance[v] and rounds[v] < 0:
                    order[np.uintp(end)], rounds[v] = v, rounds[u] + 1
                    end += 1
                if here < distance[v] or rounds[v] == rounds[u] + 1:
                    paths[v] += mine
                    leading = True
        leads[np.uintp(place)] = leading
    for place in range(count - 1, -1, -1):
        u = np.uintp(order[np.uintp(place)])
        sums = 0.0
        if leads[np.uintp(place)]:
            here = distance[u]
            for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                v = np.uintp(indices[e])
                if here + weights[e] == distance[v] and distance[v] != never:
                    if here < distance[v] or rounds[v] == rounds[u] + 1:
                        sums += share[v]
        through = paths[u] * sums
        share[u] = (1.0 + through) / paths[u]
        if place:
            total[u] += through + endpoints
    total[np.uintp(order[np.uintp(0)])] += (count - 1) * endpoints
