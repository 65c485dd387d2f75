"""Shortest paths from many sources in a graph with hubs: a row of distances for each vertex, a lane for each source.

    d_j = d_j ⊕ d_i ⊗ a_ij        in all lanes at once, for the vertices i that have improved in any

Most paths lead by way of the hubs, so from all sources the vertices come in about one order. They are swept in this
order, until none improves; a sweep relaxes from what has improved since it was last relaxed from. The first one goes
backwards, in which the sources find their ways to the hubs. The lanes of 16 sources are relaxed at little more than the
cost of one. They look at two to five times as many edges as one search, and give up where there are more.

The order is that of degrees. Where few edges matter, see `essential`, no others are looked at, and the order is that of
F, the distance from a hub, by which vertices are numbered. By way of the hub j is as near as D_s + F_j: what is longer
is no distance, and is dropped at once, and vertices that improve no other are passed over.

[1] M. Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2015 (sources side by side).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from formats import CSR
from formats.matrix.facts import Fact
from semiring import Semiring
from semiring.cpu.atomics import added, prefetched
from semiring.cpu.columns import vectorizes
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.lanes import across, on_stack, total
from semiring.cpu.threads import get_threads, run

from ..essential import BYTES
from .near_far import Essential, Rows, full_values, skewed
from .relaxation import length, orders, passed_over

LANES = 16
"""Maximum of sources in a group."""

MIN_SOURCES = 24
"""Minimum of sources for groups to pay: below, a search after the other is as fast."""

VERTICES_AT_A_TIME = 64
"""Number of vertices whose distances are written at a time."""

EDGES_AHEAD = np.uintp(16)
"""Edges between one and that whose head's row is prefetched."""

MAX_LOOKS_PER_EDGE = 8
"""Mean number of looks at an edge before lanes are given up: a search looks at each once at most."""

ONE, TWO = np.uintp(1), np.uintp(2)


APART: Fact[bool] = Fact("sources side by side share too little")
"""The fact is kept for a semiring."""


def suits(A: CSR, s: Semiring) -> bool:
    """True if A has hubs, and lanes have not been given up before."""
    return skewed(A) and A.dtype.kind != "b" and vectorizes(s) and not A.keeps(APART, s)


def by_lanes(A: CSR, sources: list[int], rows: list[int], d: np.ndarray, s: Semiring, found: Essential | None) -> Any:
    """Fill some rows of d; returns which are done, by row the farthest distance, and vertices and edges relaxed.

    found: the edges that matter, with a hub that the sources lead to. A row whose farthest distance is beyond
    `found.farthest` is not right.
    """
    threads = get_threads()
    graph = in_order(A) if found is None else numbered(found)
    settle, write, zero = settling(s, A.dtype, found is not None), writing(s, A.dtype), s.zero(A.dtype)
    edges, most = (graph.rows, graph.order, graph.bounds), MAX_LOOKS_PER_EDGE * (graph.rows[1].size + graph.size)
    starts, counts = np.array(sources, np.int64)[rows], np.zeros((len(rows), 2), np.int64)
    farthest, done = np.full(len(rows), s.unit(A.dtype), A.dtype), np.zeros(len(rows), bool)
    each = min(LANES, -(-len(rows) // threads))
    groups = [(start, min(start + each, len(rows))) for start in range(0, len(rows), each)]
    taken = np.zeros(1, np.int64)

    def piece(_: int, __: int) -> None:
        x, flags = np.empty(graph.size * LANES, A.dtype), np.zeros(graph.size, np.uint8)
        while (number := take(taken)) < len(groups):
            part = slice(*groups[number])
            few, hub, far = starts[part], np.zeros(LANES, A.dtype), np.full(LANES, s.unit(A.dtype), A.dtype)
            if found is not None:
                hub[: few.size] = found.to_hub[few]
            x.fill(zero)
            places = few if found is None else graph.place[few]
            if settle(edges, x, hub, places, flags, counts[part.start], most):
                write(x, graph.place, few, np.array(rows[part], np.int64), d, far)
                farthest[part], done[part] = far[: few.size], True
            else:
                A.keep(APART, lambda: True, s)

    run(piece, [(k, k) for k in range(min(threads, len(groups)))])
    return done, farthest, *counts.sum(axis=0).tolist()


def bytes_needed(A: CSR, k: int) -> int:
    """Bytes that k sources take: the lanes of each thread, and the numbered edges or the order."""
    lanes = A.nrows * (LANES * A.dtype.itemsize + 1) * min(get_threads(), -(-k // LANES))
    return lanes + BYTES * A.nnz + A.nrows * (A.indptr.itemsize + 2 * A.indices.itemsize + 24)


@dataclass(frozen=True)
class Graph:
    """A graph's edges, and its vertices in the order of the sweeps.

    place: (n,), each vertex's number in `rows`; () where it has its own.  size: how many vertices have numbers; others
    have larger ones.  bounds: F and `useful` of each, side by side.
    """

    rows: Rows
    order: np.ndarray
    place: np.ndarray
    size: int
    bounds: np.ndarray


def in_order(A: CSR) -> Graph:
    """Return all edges, and the vertices in the order of their degrees, the largest first."""
    degrees, most = np.diff(A.indptr), (1 << 16) - 1
    order = np.argsort((most - np.minimum(degrees, most)).astype(np.uint16), kind="stable")
    order = order.astype(A.indices.dtype)
    return Graph((A.indptr, A.indices, full_values(A)), order, order[:0], A.nrows, np.empty(0, A.dtype))


def numbered(found: Essential) -> Graph:
    """Number the vertices of the edges that matter by F, those first that improve others."""
    indptr, indices, values = found.rows
    last, ends = np.uint16((1 << 16) - 1), indptr[1:] > indptr[:-1]
    ends[indices] = True
    with np.errstate(over="ignore"):
        key = (found.from_hub.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)  # ascends as F does
    key[found.useful <= 0] |= 1 << 15
    key[~ends] = last
    size = int(np.count_nonzero(ends))
    order = np.argsort(key, kind="stable").astype(indices.dtype)
    place = np.empty_like(order)
    place[order] = np.arange(order.size, dtype=order.dtype)
    order = order[:size]
    rows: Rows = np.zeros(size + 1, indptr.dtype), np.empty_like(indices), np.empty_like(values)
    renumber(found.rows, order, place, rows)
    bounds = np.stack((found.from_hub[order], found.useful[order]), axis=1).reshape(-1)
    return Graph(rows, np.arange(size, dtype=order.dtype), place, size, bounds)


@compiled
def take(taken):
    """Take the number of a group that nobody has taken."""
    return added(taken, 0, 1)


@compiled
def renumber(rows, order, place, new):
    """Write the rows of the vertices in `order`, with their heads' new numbers."""
    (indptr, indices, values), (starts, heads, lengths), count = rows, new, np.uintp(0)
    for i in range(order.size):
        ahead = np.uintp(indptr[np.uintp(order[min(i + 8, order.size - 1)])])
        prefetched(indices, ahead)
        prefetched(values, ahead)
        prefetched(indptr, np.uintp(order[min(i + 16, order.size - 1)]))
        u = np.uintp(order[i])
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + ONE])):
            heads[count], lengths[count] = place[np.uintp(indices[e])], values[e]
            count += ONE
        starts[i + 1] = count


@lru_cache(maxsize=64)
def writing(semiring: Semiring, dtype: np.dtype) -> Any:
    """Make the loop that writes lanes, for a semiring and a dtype."""
    zero, unit = semiring.zero(dtype), semiring.unit(dtype)
    better_than, _ = orders(semiring)
    farther = across(lambda most, y: y if (y != zero) & better_than(most, y) else most, 2, LANES)

    @compiled
    def write(x, place, sources, rows, d, farthest):
        """Write lanes to rows of d, and the farthest distance of each lane."""
        (k, n), size = d.shape, x.size // LANES
        flat = d.reshape(k * n)
        for v in range(size):
            farther(farthest, 0, x, v * LANES)
        for start in range(0, n, VERTICES_AT_A_TIME):
            stop = min(start + VERTICES_AT_A_TIME, n)
            for v in range(stop, min(stop + VERTICES_AT_A_TIME, n) if place.size else stop):
                prefetched(x, min(np.intp(place[v]), size - 1) * LANES)
            for lane in range(rows.size):
                row = rows[lane] * n
                for v in range(start, stop):
                    at = np.intp(place[v]) if place.size else v
                    flat[row + v] = x[at * LANES + lane] if at < size else zero
        for lane in range(rows.size):
            d[rows[lane], sources[lane]] = unit

    return write


@lru_cache(maxsize=64)
def settling(semiring: Semiring, dtype: np.dtype, bounded: bool) -> Any:
    """Make the sweeps for a semiring and a dtype.  bounded: True if there are D, F and `useful`."""
    unit = semiring.unit(dtype)
    relax, room = relaxing(semiring, dtype, bounded), on_stack(LANES)

    @compiled
    def settle(graph, x, to_hub, sources, flags, counts, most):
        """Sweep until nothing improves; False, with the work undone, once more than `most` edges were looked at.

        graph: rows, order and bounds of a `Graph`.  flags: zeros, and of vertices that have improved ones.
        """
        (rows, order, bounds), left = graph, 0
        indptr = rows[0]
        hub, found = room(x), room(np.zeros(1, np.int32))
        for lane in range(LANES):
            hub[lane] = to_hub[lane]
        for lane in range(sources.size):
            v = np.uintp(sources[lane])
            if v < flags.size:
                x[v * np.uintp(LANES) + np.uintp(lane)] = unit
                left += flags[v] == 0
                flags[v] = 1
        backwards, last = True, order.size - 1
        while left and counts[0] + counts[1] <= most and not interrupted():
            for place in range(order.size):
                u = np.uintp(order[last - place if backwards else place])
                if not flags[u]:
                    continue
                if interrupted():
                    break
                left += relax(rows, bounds, x, hub, found, flags, u) - 1
                counts[0] += 1
                counts[1] += np.int64(indptr[u + ONE]) - np.int64(indptr[u])
            backwards = False
        if left:
            flags[:] = 0
        return left == 0

    return settle


def relaxing(semiring: Semiring, dtype: np.dtype, bounded: bool) -> Any:
    """Make the function that relaxes from a vertex."""
    convert, (better_than, no_worse_than) = dtype.type, orders(semiring)
    lengthened, is_passed_over = length(semiring, dtype), passed_over(semiring, dtype)

    def improved(flag, y, x, weight):
        return np.int32(better_than(lengthened(weight, x), y))

    def near(flag, y, x, hub, weight, from_hub):
        t = lengthened(weight, x)
        return np.int32(better_than(t, y) & no_worse_than(t, lengthened(from_hub, hub)))

    def shortened(y, x, weight):
        t = lengthened(weight, x)
        return convert(t) if better_than(t, y) else y

    def led_on(flag, y, hub, useful):
        return flag & np.int32(not is_passed_over(y, hub, useful))

    improve, improve_near, shorten = across(improved, 3, LANES), across(near, 4, LANES), across(shortened, 2, LANES)
    lead_on = across(led_on, 3, LANES)

    @inlined
    def relax(rows, bounds, x, hub, found, flags, u):
        """Relax from a vertex, flag those that improve, and count the new flags."""
        (indptr, indices, values), count, at = rows, 0, np.intp(u) * LANES
        last = np.uintp(indices.size - 1)
        flags[u] = 0
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + ONE])):
            ahead = np.intp(indices[min(e + EDGES_AHEAD, last)])
            prefetched(x, ahead * LANES)
            v = np.uintp(indices[e])
            to = np.intp(v) * LANES
            if bounded:
                prefetched(bounds, ahead * 2)
                improve_near(found, 0, x, to, x, at, hub, 0, values[e], bounds[v * TWO])
            else:
                improve(found, 0, x, to, x, at, values[e])
            if total(found, 0, LANES) == 0:
                continue
            shorten(x, to, x, at, values[e])
            if flags[v]:
                continue
            if bounded:
                lead_on(found, 0, x, to, hub, 0, bounds[v * TWO + ONE])
                if total(found, 0, LANES) == 0:
                    continue
            flags[v] = 1
            count += 1
        return count

    return relax
