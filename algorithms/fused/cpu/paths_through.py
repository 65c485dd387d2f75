"""Brandes's sums over sources as compiled loops, a source at a time for each thread.

    σ_v = Σ σ_u        δ_v = σ_v Σ (1 + δ_w) / σ_w        over edges u -> v, and v -> w, of shortest paths

Vertices are looked at in the order of their distances, and backwards. An edge is one of shortest paths if its ends'
distances say so, which is looked up again on the way back. Vertices that lead nowhere, most of them in a graph of few
levels, are noted on the way out, and their edges left out on the way back.

Unweighted, a queue is the order. Where rows are short, whether an edge is one of shortest paths can hardly be foretold,
so nothing branches on it: every edge is put at the end of a list, which moves on by those of shortest paths alone, and
is read backwards. Weighted, the distances come from the search for shortest paths, several sources at a time, and are
sorted. O(n + m) a source and what the search takes; for each thread 32 bytes a vertex, and of short rows 8 an edge.

[1] U. Brandes, A faster algorithm for betweenness centrality, J. Math. Sociology 25(2), 2001.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.distances_in_blocks import blocks_of_distances
from formats import CSR
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import get_threads, run

from .bfs_order import SHORT

ALONE = 1 << 14
"""Edges looked at in all below which one thread does it."""

MOST_PACKED = 1 << 31
"""Vertices of which two are put into one number of 64 bits."""

AT_ONCE = 64
"""Sources from which a thread looks without asking Python, which would let another thread wait."""


def dependencies(A: CSR, sources: list[int], weighted: bool, endpoints: bool) -> np.ndarray:
    """The sums for each vertex, as `algorithms.betweenness.dependencies` has them."""
    count = get_threads() if len(sources) * (A.nnz + A.nrows) > ALONE else 1
    threads = [_Thread(A, endpoints) for _ in range(min(count, max(1, len(sources))))]
    starts = np.array(sources, np.int64)
    if not weighted:
        run(lambda k, _: threads[k].unweighted(starts[k :: len(threads)]), [(k, k) for k in range(len(threads))])
    else:
        for _, rows, led in blocks_of_distances(A, sources, True):
            run(lambda k, _, d=rows, r=led: threads[k].weighted(d, r, len(threads), k), _each(threads))
    return np.sum([thread.total for thread in threads], axis=0)


def _each(threads: list[Any]) -> list[tuple[int, int]]:
    return [(k, k) for k in range(len(threads))]


class _Thread:
    """What a thread works with, and its sums so far."""

    def __init__(self, A: CSR, endpoints: bool) -> None:
        self.A, self.endpoints = A, endpoints
        n = A.nrows
        self.total, self.paths, self.share = np.zeros(n), np.zeros(n), np.zeros(n)
        self.order, self.leads = np.empty(n + 1, A.indices.dtype), np.empty(n, bool)

    def unweighted(self, sources: np.ndarray) -> None:
        """Add those of some sources, by levels."""
        A, n = self.A, self.A.nrows
        rows, level, by_levels = (A.indptr, A.indices), np.full(n, -1, np.int32), _by_levels
        state: tuple[np.ndarray, ...] = (self.order, self.leads, self.paths, self.share, self.total)
        if A.nnz < SHORT * n and n < MOST_PACKED:
            edges, inverse = np.empty(A.nnz + 1, np.uintp), np.empty(n)
            by_levels, state = (
                _by_levels_of_short_rows,
                (self.order, edges, self.paths, inverse, self.share, self.total),
            )
        for first in range(0, sources.size, AT_ONCE):
            by_levels(rows, level, state, sources[first : first + AT_ONCE], self.endpoints)

    def weighted(self, rows: np.ndarray, led: np.ndarray, step: int, first: int) -> None:
        """Add those of every so manieth row of distances, from the `first` on."""
        A, state = self.A, (self.order, self.leads, self.paths, self.share, self.total)
        for k in range(first, len(rows), step):
            near = np.flatnonzero(led[k])
            self.order[: near.size] = near[np.argsort(rows[k, near])]
            _by_distances((A.indptr, A.indices, A.values), rows[k], state, near.size, self.endpoints)


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
def _by_levels_of_short_rows(rows, level, state, sources, endpoints):
    """level: -1, and paths: 0, both again in the end.  edges: those of shortest paths, (u, v) in one number."""
    (indptr, indices), (order, edges, paths, inverse, share, total) = rows, state
    one, half = np.uintp(1), np.uintp(32)
    low = (one << half) - one
    for k in range(sources.size):
        source, count, place, listed = np.uintp(sources[k]), np.uintp(1), np.uintp(0), np.uintp(0)
        order[0], level[source], paths[source] = source, 0, 1.0
        while place < count:
            if interrupted():
                return
            u = np.uintp(order[place])
            next_level, mine = level[u] + np.int32(1), paths[u]
            for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                v = np.uintp(indices[e])
                found = level[v]
                new = found < 0
                tight = new | (found == next_level)
                order[count], edges[listed] = v, u << half | v
                count += np.uintp(new)
                listed += np.uintp(tight)
                level[v] = next_level if new else found
                paths[v] += mine if tight else 0.0
            place += one
        for at in range(count):
            v = np.uintp(order[at])
            inverse[v], share[v], level[v] = 1.0 / paths[v], 0.0, -1
        while listed:
            listed -= one
            u, v = edges[listed] >> half, edges[listed] & low
            share[u] += inverse[v] + share[v]
        for at in range(one, count):
            v = np.uintp(order[at])
            total[v] += paths[v] * share[v] + endpoints
            paths[v] = 0.0
        paths[source] = 0.0
        total[source] += np.intp(count - one) * endpoints


@compiled
def _by_distances(rows, distance, state, count, endpoints):
    (indptr, indices, weights), (order, leads, paths, share, total) = rows, state
    one = np.uintp(1)
    for place in range(count):
        paths[np.uintp(order[np.uintp(place)])] = 0.0
    paths[np.uintp(order[np.uintp(0)])] = 1.0
    for place in range(count):
        u = np.uintp(order[np.uintp(place)])
        here, mine, leading = distance[u], paths[u], False
        if interrupted():
            return
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
            v = np.uintp(indices[e])
            if here + weights[e] == distance[v]:
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
                if here + weights[e] == distance[v]:
                    sums += share[v]
        through = paths[u] * sums
        share[u] = (1.0 + through) / paths[u]
        if place:
            total[u] += through + endpoints
    total[np.uintp(order[np.uintp(0)])] += (count - 1) * endpoints
