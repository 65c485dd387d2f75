"""The lightest edges of a graph, sorted, and which of them Kruskal's algorithm chooses.

Of few edges all are listed, of many only the lightest, about one a vertex: their forest is a part of the whole one, as
in filter-Kruskal [2], and connects most of the vertices. The limit is a quantile of some weights; that edges of its
very weight are all in makes the list a beginning of the sorted edges, whatever their number.

Sorting is by radix, of keys that are a weight's leading bits and the edge's number, so that ties go by (u, v). 8 bytes
an entry for the list (of int32, 6) and 8 for sorting it.

[1] J. B. Kruskal, On the shortest spanning subtree of a graph and the traveling salesman problem, Proceedings of the
    AMS 7(1), 1956.
[2] V. Osipov, P. Sanders, J. Singler, The filter-Kruskal minimum spanning tree algorithm, ALENEX 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formats.arrays import index_dtype
from formats.preparation.weights import ordinals
from semiring.algebra.semirings import end_of_range
from semiring.cpu.atomics import prefetched
from semiring.cpu.dealing import deal, dealt, threads_for
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.packed import column

from .components import find
from .entries import Side

MIN_MEAN_NNZ = 12
"""Minimum of entries a vertex with which only light ones are listed."""

LIGHT_NNZ_PER_VERTEX = 2
"""Number of entries a vertex that are about as many as the light ones."""

MAX_EDGES = 2**32 - 1
"""Maximum of edges that are sorted: they are numbered in 32 bits."""

SAMPLED_WEIGHTS = 1 << 12
"""Number of weights by which it is seen which are light."""

DIGIT_BITS = 11
"""Number of bits by which keys are sorted at a time: the 2048 counts lie in the L1 cache."""

EDGES_AHEAD = 8
"""Edges between one and that whose ends' trees are prefetched; the edge itself is as far ahead of that."""

VERTICES_AT_A_TIME = 256
"""Number of vertices that a thread takes at a time."""


@dataclass(frozen=True)
class LightEdges:
    """Edges u < v, each once, sorted by (u, v), of two directions the lighter. all: True if no edge is heavier."""

    u: np.ndarray
    v: np.ndarray
    weights: np.ndarray
    all: bool


def light_edges(sides: list[Side], most: int = MAX_EDGES) -> LightEdges | None:
    """List the edges of the lightest weights, all with these weights; None where that would not be few of many.

    most: edges that there is memory for.
    """
    values, n = sides[0][2], sides[0][0].size - 1
    entries = values.size * len(sides)
    if entries == 0:
        return None
    every = entries < MIN_MEAN_NNZ * n
    if every:
        limit = end_of_range(values.dtype, "highest")
    else:
        limit = light_weight(np.sort(sample(values, values.size)), entries, n)
    return None if limit is None else edges_up_to(sides, limit, every, most)


def sample(values: np.ndarray, entries: int) -> np.ndarray:
    """Return some of the values, of `entries` in all, by which it is seen which are light."""
    return values[:: -(-entries // SAMPLED_WEIGHTS)]


def light_weight(some: np.ndarray, entries: int, n: int) -> Any:
    """Find the weight up to which edges are light, by a sorted sample of all; None where those would not be few."""
    limit = some[int(some.size * LIGHT_NNZ_PER_VERTEX * n / entries)]
    return None if (some <= limit).sum() * 2 > some.size else limit


def edges_up_to(sides: list[Side], limit: Any, every: bool, most: int = MAX_EDGES) -> LightEdges | None:
    """List the edges whose weight is no more than a limit; None if there are none, or more than `most`.

    every: True if that is all of them.
    """
    values, n = sides[0][2], sides[0][0].size - 1
    ends = np.zeros(-(-n // VERTICES_AT_A_TIME) + 1, np.int64)
    parts = sides[0], sides[-1], len(sides) == 2, limit
    deal(_count, n, VERTICES_AT_A_TIME, threads_for(values.size), *parts, ends, (ends, ends, values))
    np.cumsum(ends, out=ends)
    if not 0 < ends[-1] <= min(most, MAX_EDGES):
        return None
    u, v = (np.empty(ends[-1], index_dtype(n)) for _ in range(2))
    w = np.empty(ends[-1], values.dtype)
    deal(_write, n, VERTICES_AT_A_TIME, threads_for(values.size), *parts, ends, (u, v, w))
    return LightEdges(u, v, w, every)


def chosen_of(edges: LightEdges, f: np.ndarray) -> np.ndarray:
    """Number the edges that make a forest of the lightest, ascending; f, a union-find, is joined along them."""
    chosen = np.zeros(edges.u.size, bool)
    kruskal(ascending(edges.weights), edges.u, edges.v, f, chosen)
    return np.flatnonzero(chosen)


def ascending(weights: np.ndarray) -> np.ndarray:
    """Return, in the low 32 bits, the numbers of the weights from the lightest to the heaviest, equal ones in order.

    weights: fewer than 2^32.  32 bits of each are sorted; should others be needed to tell two apart, all bits are.
    """
    ranks = ordinals(weights).astype(np.int64)
    low, high = (int(ranks.min()), int(ranks.max())) if ranks.size else (0, 0)
    width = (high - low).bit_length()
    ranks -= low
    keys = ranks.view(np.uint64)
    if width > 32:
        keys = keys >> np.uint64(width - 32)
    keys <<= np.uint64(32)
    keys |= np.arange(weights.size, dtype=np.uint64)
    spare = np.empty_like(keys)
    if _sort(keys, spare, min(width, 32), np.empty(1 << DIGIT_BITS, np.int64)):
        keys = spare
    exact = ranks.view(np.uint64)
    if width > 32 and not ascends(exact[keys & np.uint64(0xFFFFFFFF)]):
        return np.argsort(exact, kind="stable").astype(np.uint64)
    return keys


def ascends(numbers: np.ndarray) -> bool:
    """True if no number is smaller than the one before."""
    return bool((numbers[1:] >= numbers[:-1]).all())


@compiled
def kruskal(keys, u, v, f, chosen):
    """Marks the edges that join two trees of a union-find f, in the order of the keys' low 32 bits [1]."""
    left, low = f.size - 1, np.uint64(0xFFFFFFFF)
    for at in range(keys.size):
        if at + 2 * EDGES_AHEAD < keys.size:
            later = np.uintp(keys[at + 2 * EDGES_AHEAD] & low)
            prefetched(u, later)
            prefetched(v, later)
            soon = np.uintp(keys[at + EDGES_AHEAD] & low)
            prefetched(f, np.uintp(u[soon]))
            prefetched(f, np.uintp(v[soon]))
        e = np.uintp(keys[at] & low)
        a, b = find(f, np.uintp(u[e])), find(f, np.uintp(v[e]))
        if a != b:
            f[max(a, b)] = min(a, b)
            chosen[e] = True
            left -= 1
            if left == 0:
                break


@compiled
def _sort(keys, spare, bits, counts):
    """Sort the keys by bits from the 33rd on; True if they are in the spare array now.  counts: a number a digit."""
    low, moved = np.uint64(counts.size - 1), False
    for shift in range(32, 32 + bits, DIGIT_BITS):
        for digit in range(counts.size):
            counts[digit] = 0
        for key in keys:
            counts[(key >> np.uint64(shift)) & low] += 1
        total = 0
        for digit in range(counts.size):
            counts[digit], total = total, total + counts[digit]
        for key in keys:
            digit = (key >> np.uint64(shift)) & low
            spare[counts[digit]] = key
            counts[digit] += 1
        keys, spare, moved = spare, keys, not moved
    return moved


@inlined
def _next(columns, values, e, stop, u, limit):
    """Find the first place from e on of an entry beyond the diagonal that is light enough."""
    while e < stop and (np.uintp(column(columns, e)) <= u or values[e] > limit):
        e += np.uintp(1)
    return e


def _listing(writes):
    """Make the loop that lists edges beyond the diagonal, of both sides together each once.

    writes: True to write those of a block of rows from ends[block] on, False to count them to ends[block + 1] before.
    """

    @dealt
    def loop(first, stop, side, other, both, limit, ends, edges):
        (indptr, columns, values), (other_indptr, other_columns, other_values) = side, other
        (edge_u, edge_v, weight), one, block = edges, np.uintp(1), np.uintp(first // VERTICES_AT_A_TIME)
        to, end = np.uintp(ends[block] if writes else 0), np.uintp(ends[block + one])
        for u in range(np.uintp(first), np.uintp(stop)):
            e, last = np.uintp(indptr[u]), np.uintp(indptr[u + one])
            if not both and writes:
                while e < last and to < end:  # written in any case, and kept by moving on
                    edge_u[to], edge_v[to], weight[to] = u, column(columns, e), values[e]
                    to += np.uintp((np.uintp(column(columns, e)) > u) & (values[e] <= limit))
                    e += one
            elif not both:
                for place in range(e, last):
                    to += np.uintp((np.uintp(column(columns, place)) > u) & (values[place] <= limit))
            else:
                e = _next(columns, values, e, last, u, limit)
                x, beyond = np.uintp(other_indptr[u]), np.uintp(other_indptr[u + one])
                x = _next(other_columns, other_values, x, beyond, u, limit)
                while e < last or x < beyond:
                    in_rows = e < last and (x == beyond or column(columns, e) <= column(other_columns, x))
                    in_columns = x < beyond and (e == last or column(other_columns, x) <= column(columns, e))
                    if writes:
                        edge_u[to], edge_v[to] = u, column(columns, e) if in_rows else column(other_columns, x)
                        if in_rows and in_columns:
                            weight[to] = min(values[e], other_values[x])
                        else:
                            weight[to] = values[e] if in_rows else other_values[x]
                    to += one
                    e = _next(columns, values, e + one, last, u, limit) if in_rows else e
                    x = _next(other_columns, other_values, x + one, beyond, u, limit) if in_columns else x
        if not writes:
            ends[block + one] = to

    return loop


_count, _write = _listing(False), _listing(True)
