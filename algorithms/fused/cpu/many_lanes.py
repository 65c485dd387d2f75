"""Shortest paths from many sources in a graph with a hub: a row of distances for each vertex, a lane for each source.

    d_j = min(d_j, d_i + a_ij)        in all lanes at once, for the vertices i that have improved in any

Most paths lead by way of the hub, so from all sources the vertices come in about one order, that of their distances F
from the hub. They are numbered in this order, and swept: first backwards, from the sources to the hub, and then
forwards, until none improves. A sweep relaxes from what has improved since it was last relaxed from.

By way of the hub j is as near as D_s + F_j: what is longer is no distance, and is dropped at once. Only edges that
matter are looked at, and vertices that improve no other are passed over; `essential` has D, F and both rules. The lanes
of 16 sources are relaxed at little more than the cost of one, in sweeps that look at four times as many edges as one
search.

[1] M. Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2015 (sources side by side).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from formats import CSR
from semiring import Semiring
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.lanes import across
from semiring.cpu.threads import get_threads, run

from .atomics import added, prefetched
from .essential import BYTES
from .near_far import Essential, Rows

LANES = 16
"""Sources in a group at most."""

FEWEST = 24
"""Sources from which on groups are worth their numbers: below, a search after the other is as fast."""

TILE = 64
"""Vertices whose distances are written at a time."""

AHEAD = np.uintp(16)
"""Edges from one to that whose head's row is fetched meanwhile."""

ONE, TWO = np.uintp(1), np.uintp(2)


def by_lanes(A: CSR, sources: list[int], rows: list[int], d: np.ndarray, s: Semiring, found: Essential) -> Any:
    """Fill some rows of d, whose sources lead to the hub; (by row the farthest distance, vertices and edges relaxed).

    A row whose farthest distance is beyond `found.farthest` is not right.
    """
    threads = get_threads()
    graph, settle, zero = Numbered(found), settling(s, A.dtype), s.zero(A.dtype)
    starts, counts = np.array(sources, np.int64)[rows], np.zeros((len(rows), 2), np.int64)
    farthest = np.zeros(len(rows), A.dtype)
    each = min(LANES, -(-len(rows) // threads))
    groups = [(start, min(start + each, len(rows))) for start in range(0, len(rows), each)]
    taken = np.zeros(1, np.int64)

    def piece(_: int, __: int) -> None:
        x, flags = np.empty(graph.size * LANES, A.dtype), np.zeros(-(-graph.size // 8) * 8, np.uint8)
        while (number := take(taken)) < len(groups):
            part = slice(*groups[number])
            few, hub, far = starts[part], np.zeros(LANES, A.dtype), np.zeros(LANES, A.dtype)
            hub[: few.size] = found.to_hub[few]
            x.fill(zero)
            flagged = flags, flags.view(np.uint64)
            settle(graph.rows, graph.bounds, x, hub, graph.place[few], flagged, counts[part.start])
            write(x, graph.place, few, np.array(rows[part], np.int64), d, zero, far)
            farthest[part] = far[: few.size]

    run(piece, [(k, k) for k in range(min(threads, len(groups)))])
    return farthest, *counts.sum(axis=0).tolist()


def bytes_needed(A: CSR, k: int) -> int:
    """What k sources take: the lanes of each thread, the numbered edges, and what numbers them."""
    lanes = A.nrows * (LANES * A.dtype.itemsize + 1) * min(get_threads(), -(-k // LANES))
    return lanes + BYTES * A.nnz + A.nrows * (A.indptr.itemsize + 2 * A.indices.itemsize + 16)


class Numbered:
    """The edges that matter, their vertices numbered by F, those first that improve others.

    place: (n,), each vertex's number.  size: how many have edges; the others have larger numbers.  bounds: F and
    `useful` of each, side by side.
    """

    def __init__(self, found: Essential) -> None:
        indptr, indices, values = found.rows
        last, ends = np.uint16((1 << 16) - 1), indptr[1:] > indptr[:-1]
        ends[indices] = True
        with np.errstate(over="ignore"):
            key = (found.from_hub.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)  # ascends as F does
        key[found.useful <= 0] |= 1 << 15
        key[~ends] = last
        self.size = int(np.count_nonzero(ends))
        order = np.argsort(key, kind="stable").astype(indices.dtype)
        self.place = np.empty_like(order)
        self.place[order] = np.arange(order.size, dtype=order.dtype)
        order = order[: self.size]
        self.rows: Rows = np.zeros(self.size + 1, indptr.dtype), np.empty_like(indices), np.empty_like(values)
        renumber(found.rows, order, self.place, self.rows)
        self.bounds = np.stack((found.from_hub[order], found.useful[order]), axis=1).reshape(-1)


@compiled
def take(taken):
    """The number of a group that nobody has taken."""
    return added(taken, 0, 1)


@compiled
def renumber(rows, order, place, new):
    """The rows of the vertices in `order`, with their heads' new numbers."""
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


FARTHER = across(lambda most, y, zero: most if (y == zero) | (y < most) else y, 2, LANES)
"""The larger of two distances, in each lane."""


@compiled
def write(x, place, sources, rows, d, zero, farthest):
    """Lanes to rows of d, and the farthest distance of each lane."""
    (k, n), size = d.shape, x.size // LANES
    flat = d.reshape(k * n)
    for v in range(size):
        FARTHER(farthest, 0, x, v * LANES, zero)
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        for v in range(stop, min(stop + TILE, n)):
            prefetched(x, min(np.intp(place[v]), size - 1) * LANES)
        for lane in range(rows.size):
            row = rows[lane] * n
            for v in range(start, stop):
                at = np.intp(place[v])
                flat[row + v] = x[at * LANES + lane] if at < size else zero
    for lane in range(rows.size):
        d[rows[lane], sources[lane]] = x.dtype.type(0)


@lru_cache(maxsize=64)
def settling(semiring: Semiring, dtype: np.dtype) -> Any:
    """The sweeps for a semiring and a dtype."""
    from semiring.cpu.lanes import on_stack, total

    from .relaxation import length, orders, passed_over

    unit, convert = semiring.unit(dtype), dtype.type
    better_than, no_worse_than = orders(semiring)
    lengthened, is_passed_over = length(semiring, dtype), passed_over(semiring, dtype)

    def improved(flag, y, x, hub, weight, from_hub):
        t = lengthened(weight, x)
        return np.int32(better_than(t, y) & no_worse_than(t, lengthened(from_hub, hub)))

    def shortened(y, x, weight):
        t = lengthened(weight, x)
        return convert(t) if better_than(t, y) else y

    def led_on(flag, y, hub, useful):
        return flag & np.int32(not is_passed_over(y, hub, useful))

    improve, shorten, lead_on = across(improved, 4, LANES), across(shortened, 2, LANES), across(led_on, 3, LANES)
    room = on_stack(LANES)

    @inlined
    def relax(rows, bounds, x, hub, found, flags, u):
        """Relax from a vertex; how many vertices have been flagged."""
        (indptr, indices, values), at, count = rows, np.intp(u) * LANES, 0
        last = np.uintp(indices.size - 1)
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + ONE])):
            ahead = np.intp(indices[min(e + AHEAD, last)])
            prefetched(x, ahead * LANES)
            prefetched(bounds, ahead * 2)
            v = np.uintp(indices[e])
            to = np.intp(v) * LANES
            improve(found, 0, x, to, x, at, hub, 0, values[e], bounds[v * TWO])
            if total(found, 0, LANES) == 0:
                continue
            shorten(x, to, x, at, values[e])
            if not flags[v]:
                lead_on(found, 0, x, to, hub, 0, bounds[v * TWO + ONE])
                if total(found, 0, LANES):
                    flags[v] = 1
                    count += 1
        return count

    @compiled
    def settle(rows, bounds, x, to_hub, sources, flagged, counts):
        """Relax until nothing improves.  flagged: flags of who has improved, and the same by eights; zeros."""
        (flags, words), indptr = flagged, rows[0]
        hub, found, left, forwards = room(x), room(np.zeros(1, np.int32)), 0, False
        for lane in range(LANES):
            hub[lane] = to_hub[lane]
        for lane in range(sources.size):
            v = np.uintp(sources[lane])
            if v < indptr.size - 1:
                x[v * np.uintp(LANES) + np.uintp(lane)] = unit
                left += flags[v] == 0
                flags[v] = 1
        while left:
            for k in range(words.size):
                word = k if forwards else words.size - 1 - k
                if words[word] == 0:
                    continue
                for j in range(8):
                    u = np.uintp(8 * word + (j if forwards else 7 - j))
                    if flags[u]:
                        flags[u] = 0
                        left += relax(rows, bounds, x, hub, found, flags, u) - 1
                        counts[0] += 1
                        counts[1] += np.int64(indptr[u + ONE]) - np.int64(indptr[u])
            forwards = True

    return settle
