"""Shortest-path trees from several sources: a row of distances for each vertex, and in it a lane for each source.

    p_j = min i with d_i ⊗ a_ij = d_j and d_i nearer than d_j        in all lanes at once, an edge after the other

A pass for sixteen sources so costs little more than one for a single source. Where few edges matter, and they are
known, no others are looked at: all of a shortest path are among them, see `essential`. Threads take groups of sources,
or single ones where these are few. What is left after that, on plateaus, is found source by source.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from algorithms.shared.parents import gains_by_length
from formats import CSR
from formats.arrays import index_dtype
from semiring import Semiring
from semiring.cpu.columns import vectorizes
from semiring.cpu.dealing import MIN_WORK_FOR_THREADS
from semiring.cpu.kernels import compiled
from semiring.cpu.threads import get_threads, run
from semiring.verbs.batch import Rows
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from . import trees
from .essential import edges_for

LANES = 16
"""Maximum of sources in a group."""

MIN_SOURCES = 4
"""Minimum of sources for a pass over all of them to pay."""

VERTICES_AT_A_TIME = 64
"""Number of vertices whose rows are turned at a time."""

EDGES_AHEAD = np.uintp(12)
"""Edges between one and that whose head's row is prefetched."""

LATER_BYTES_PER_VERTEX = 48
"""Bytes for each vertex that later rounds take."""


def together(A: CSR, sources: list[int], rows: Rows, s: Semiring) -> Any:
    """Fill rows of parents by rows of settled distances; `Declined` if these are no fixpoint."""
    if gains_by_length(A, s):
        return Declined("paths gain by length")
    threads = get_threads() if A.nnz * len(sources) >= MIN_WORK_FOR_THREADS else 1
    each = min(LANES, -(-len(sources) // threads))
    if each < MIN_SOURCES or A.dtype.kind == "b" or not vectorizes(s):
        each = 1
    found, left = Trees(A, sources, rows, s), [0] * len(sources)
    pieces = [(start, min(start + each, len(sources))) for start in range(0, len(sources), each)]

    def piece(number: int, last: int) -> None:
        room = found.room() if each > 1 else ()
        for start, stop in pieces[number:last]:
            left[start:stop] = found.group(start, stop, room) if each > 1 else [found.alone(start)]

    share = -(-len(pieces) // threads)
    run(piece, [(k, min(k + share, len(pieces))) for k in range(0, len(pieces), share)])
    if any(left):
        return Declined("the distances are no fixpoint")
    details(schedule="a lane for each source" if each > 1 else "a source for each thread", threads=threads)
    return rows


def bytes_needed(A: CSR, k: int) -> int:
    """Bytes that the trees of k sources take beside their rows: each thread's lanes, and lists of the later rounds."""
    lanes = LANES * (A.dtype.itemsize + index_dtype(A.nrows).itemsize)
    return min(get_threads(), k) * A.nrows * (lanes + LATER_BYTES_PER_VERTEX)


class Trees:
    """Rows of distances and of parents, and the edges that shortest paths take."""

    def __init__(self, A: CSR, sources: list[int], rows: Rows, s: Semiring) -> None:
        self.A, self.sources, self.s, (self.d, self.parents) = A, sources, s, rows
        self.zero = s.zero(A.dtype)

    def room(self) -> tuple[np.ndarray, np.ndarray]:
        """Make room for a thread's distances and parents, by vertices and lanes."""
        size = self.A.nrows * LANES
        return np.empty(size, self.A.dtype), np.empty(size, self.parents.dtype)

    def group(self, start: int, stop: int, room: Any) -> list[int]:
        """Fill the parents of a group of sources; returns how many vertices of each are without one."""
        (d, parents), few, (gather, sweep, scatter) = room, self.sources[start:stop], loops(self.s, self.A.dtype)
        unsigned = parents.view(np.uint32 if parents.itemsize == 4 else np.uint64)
        farthest, waiting = np.full(LANES, self.s.unit(self.A.dtype)), np.zeros(LANES, np.int32)
        gather(self.d[start:stop], d, farthest)
        edges = edges_for(self.A, few, farthest.max(), self.s)
        parents.fill(-1)
        sweep(edges, d, unsigned)
        scatter(unsigned, d, waiting, self.parents[start:stop])
        return [self.later(start + lane, edges) if count > 1 else 0 for lane, count in enumerate(waiting[: len(few)])]

    def alone(self, i: int) -> int:
        """Fill the parents of one source; returns how many vertices are without one."""
        row_round, _, _ = trees.loops(self.s, self.A.dtype)
        d, parent = self.d[i], self.parents[i]
        edges = edges_for(self.A, [self.sources[i]], trees.farthest(d, self.s), self.s)
        parent.fill(-1)
        bits = parent.view(np.uint32 if parent.itemsize == 4 else np.uint64)
        row_round(True, *edges, d, bits, 0, d.size)
        return self.later(i, edges)

    def later(self, i: int, edges: Any) -> int:
        """Run the rounds after the first for one source; returns how many vertices are without a parent."""
        _, later_rounds, hanging = trees.loops(self.s, self.A.dtype)
        source, d, parent = self.sources[i], self.d[i], self.parents[i]
        parent[source] = -1
        left = hanging(source, d, parent)
        return later_rounds(source, left, *edges, d, parent)[0] if left else 0


@lru_cache(maxsize=64)
def loops(semiring: Semiring, dtype: np.dtype) -> tuple[Any, ...]:
    """Make three loops: rows of distances to lanes, the sweep over the edges, and lanes to rows of parents."""
    from semiring.cpu.lanes import across, on_stack, prefetched

    from .relaxation import length, orders

    zero = semiring.zero(dtype)
    better_than, _ = orders(semiring)
    lengthened, room = length(semiring, dtype), on_stack(LANES)

    def hung(p, y, x, weight, i):
        t = lengthened(weight, x)
        return min(p, i) if (t == y) & (t != zero) & (x != zero) & better_than(x, t) else p

    hang = across(hung, 3, LANES)
    reach = across(lambda most, y: most if (y == zero) | (y < most) else y, 2, LANES)
    wait = across(lambda count, p, y, none: count + np.int32((p == none) & (y != zero)), 3, LANES)

    @compiled
    def gather(rows, d, farthest):
        """Write rows of distances to lanes.  farthest: becomes the largest distance in each lane."""
        k, n = rows.shape
        flat, most = rows.reshape(k * n), room(d)
        for lane in range(LANES):
            most[lane] = farthest[lane]
        for start in range(0, n, VERTICES_AT_A_TIME):
            stop = min(start + VERTICES_AT_A_TIME, n)
            for lane in range(LANES):
                for v in range(start, stop):
                    d[v * LANES + lane] = flat[lane * n + v] if lane < k else zero
            for v in range(start, stop):
                reach(most, 0, d, v * LANES)
        for lane in range(LANES):
            farthest[lane] = most[lane]

    @compiled
    def sweep(edges, d, parents):
        """Find the smallest parents.  parents: without a sign, so that none is the largest."""
        indptr, indices, values = edges
        last = np.uintp(max(indices.size, 1) - 1)
        for i in range(indptr.size - 1):
            me = parents.dtype.type(i)
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + 1])):
                ahead = np.intp(indices[min(e + EDGES_AHEAD, last)]) * LANES
                prefetched(d, ahead)
                prefetched(parents, ahead)
                to = np.intp(indices[e]) * LANES
                hang(parents, to, d, to, d, i * LANES, values[e], me)

    @compiled
    def scatter(parents, d, waiting, out):
        """Write lanes to rows.  waiting: becomes each lane's number of reached vertices without a parent."""
        k, n = out.shape
        flat, none = out.reshape(k * n), ~parents.dtype.type(0)
        for start in range(0, n, VERTICES_AT_A_TIME):
            stop = min(start + VERTICES_AT_A_TIME, n)
            for v in range(start, stop):
                wait(waiting, 0, parents, v * LANES, d, v * LANES, none)
            for lane in range(k):
                for v in range(start, stop):
                    flat[lane * n + v] = parents[v * LANES + lane]

    return gather, sweep, scatter
