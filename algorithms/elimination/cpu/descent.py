"""The sweep from one source: distances of all positions by those above, in an order that processors foresee.

    d_x = d_x ⊕ d_y ⊗ w_yx     for x from the roots to the leaves, and all later y

Positions are ranked anew: first those above the pieces that threads take, then piece after piece. In each come those
first that are the highest above the leaves, and of a height those with the fewest arcs. Positions of a height wait for
none of one another, so a processor works on some at once; and it foresees the ends of loops that are equally long. A
run is of positions with as many arcs each. Each arc takes 8 bytes, its number and the rank it leads from, side by side.

The positions of a wide supernode share their rows, which are gathered once, and its numbers stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from semiring import Semiring
from semiring.cpu.kernels import compiled

from .algebra import Algebra, algebra
from .pattern import Pattern, Tree, Work
from .trees import ONE

MIN_RUN_POSITIONS = 8
"""Minimum positions of a supernode for a run of its own."""


@dataclass(frozen=True)
class Descent:
    """The order of a sweep.

    vertices: (n,) at each rank.  ranks: (n,) of each position.  runs: (the first rank of each, and n; the arcs of each
    of its positions, or the rows of a wide supernode; which that is, or -1; where its ranks begin among `later`).
    later: the ranks that arcs lead from.  parts: where the runs of each piece begin, after those above the pieces.
    room: positions and rows of the largest wide supernode.
    """

    vertices: np.ndarray
    ranks: np.ndarray
    runs: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    later: np.ndarray
    parts: list[int]
    room: int

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in (self.vertices, self.ranks, self.later, *self.runs))


def descent(t: Tree, p: Pattern, w: Work) -> Descent:
    """The order of the sweeps of a factor."""
    n, widths, rows = t.order.size, np.diff(p.firsts), np.diff(p.row_starts)
    wide, heights = widths >= MIN_RUN_POSITIONS, np.zeros(n, np.int32)
    measure_heights(t.parent, heights)
    units = np.flatnonzero(~wide[p.nodes] | (np.arange(n) == p.firsts[p.nodes]))  # a position, or a supernode's first
    nodes = p.nodes[units]
    whole, piece_of = wide[nodes], np.zeros(widths.size, np.int32)
    for piece, (first, last) in enumerate(w.pieces.tolist(), 1):
        piece_of[first:last] = piece
    sizes = np.where(whole, widths[nodes], 1)
    counts, height = np.where(whole, rows[nodes], t.counts[units]), heights[units + sizes - 1]
    order = np.arange(units.size)
    for key in (counts, height.max(initial=0) - height, piece_of[nodes]):
        order = by_key(key, order)
    units, nodes, whole, sizes, counts = (each[order] for each in (units, nodes, whole, sizes, counts))
    ranks, positions = np.empty(n, np.int32), np.empty(n, np.int32)
    rank_units(units, sizes, ranks, positions)
    begins = np.ones(units.size, bool)
    begins[1:] = whole[1:] | whole[:-1] | (np.diff(counts) != 0) | (np.diff(piece_of[nodes]) != 0)
    counts, whole, nodes = (each[begins] for each in (counts, whole, nodes))
    firsts = np.append((sizes.cumsum() - sizes)[begins], n)
    lengths = np.where(whole, 1, np.diff(firsts)) * counts
    firsts, counts, which = (each.astype(np.int32) for each in (firsts, counts, np.where(whole, nodes, -1)))
    runs = firsts, counts, which, lengths.cumsum() - lengths
    later = np.empty(int(lengths.sum()), np.int32)
    list_later(runs, positions, ranks, p.nodes, p.arrays, later)
    parts = np.searchsorted(piece_of[nodes], np.arange(len(w.pieces) + 2)).tolist()
    room = int((widths + rows).max(initial=0, where=wide))
    return Descent(t.order[positions], ranks, runs, later, parts, room)


def by_key(key: np.ndarray, order: np.ndarray) -> np.ndarray:
    """An order sorted by small keys: what has the same key keeps its order."""
    counts = np.bincount(key)
    sorted_order = np.empty_like(order)
    deal(key, order, counts.cumsum() - counts, sorted_order)
    return sorted_order


@compiled
def deal(key, order, places, sorted_order):
    """Put each thing of an order at the next place of its key."""
    for thing in order:
        to = np.uintp(key[np.uintp(thing)])
        sorted_order[np.uintp(places[to])] = thing
        places[to] += 1


@compiled
def measure_heights(parent, heights):
    """Writes the height of each position above the leaves.  heights: 0 before."""
    for x in range(parent.size):
        if parent[x] >= 0:
            above = np.uintp(parent[x])
            heights[above] = max(heights[above], heights[x] + 1)


@compiled
def rank_units(units, sizes, ranks, positions):
    """The rank of each position, and the position at each: those of a unit from its last to its first."""
    k = 0
    for u in range(units.size):
        for x in range(units[u] + sizes[u] - 1, units[u] - 1, -1):
            ranks[np.uintp(x)], positions[np.uintp(k)] = k, x
            k += 1


@compiled
def list_later(runs, positions, ranks, nodes, arrays, later):
    """The ranks of later neighbours: of each position by its arcs, or of the rows of a wide supernode."""
    (firsts, counts, wide, begins), (first_of, row_starts, rows, _) = runs, arrays
    for run in range(counts.size):
        at, stop = np.uintp(begins[run]), np.uintp(firsts[run + 1] if wide[run] < 0 else firsts[run] + 1)
        for k in range(np.uintp(firsts[run]), stop):
            x = np.uintp(positions[k])
            s = np.uintp(nodes[x])
            for y in range(x + ONE, np.uintp(first_of[s + ONE])):
                later[at] = ranks[y]
                at += ONE
            for r in range(np.uintp(row_starts[s]), np.uintp(row_starts[s + ONE])):
                later[at] = ranks[np.uintp(rows[r])]
                at += ONE


@compiled
def list_numbers(runs, vertices, place, starts, down, numbers):
    """The numbers of arcs in the order of `later`, but for those of wide supernodes."""
    firsts, counts, wide, begins = runs
    for run in range(counts.size):
        at = np.uintp(begins[run])
        for k in range(np.uintp(firsts[run]), np.uintp(firsts[run + 1] if wide[run] < 0 else firsts[run])):
            start = np.uintp(starts[np.uintp(place[np.uintp(vertices[k])])])
            for j in range(np.uintp(counts[run])):
                numbers[at] = down[start + j]
                at += ONE


@dataclass(frozen=True)
class Elements:
    """Accessors of a sweep's element at a rank, for compiled code: a distance, or one with the target it leads to.

    get, put: at a place of an array.  give: to the answers.  by_way: of what is at another rank, and the arc's number.
    choose: the better of two, the second of equal ones.  length: the distance alone.
    """

    get: Any
    put: Any
    give: Any
    by_way: Any
    choose: Any
    length: Any


def distances(known: Algebra) -> Elements:
    """Distances from a source."""
    compose, better = known.compose, known.better

    def get(d, k):
        return d[k]

    def put(d, k, value):
        d[k] = value

    def by_way(value, number):
        return compose(value, number)

    def choose(t, best):
        return t if better(t, best) else best

    def length(value):
        return value

    return Elements(get, put, put, by_way, choose, length)


def distances_to_targets(known: Algebra) -> Elements:
    """Distances to the nearest target, and which it is, the smallest of equal ones: side by side in memory.

    An array is two views of the same memory, as distances and as integers; answers are two arrays.
    """
    zero, compose, better = known.zero, known.compose, known.better

    def get(d, k):
        return d[0][k + k], d[1][k + k + ONE]

    def put(d, k, value):
        d[0][k + k], d[1][k + k + ONE] = value

    def give(out, v, value):
        out[0][v], out[1][v] = value[0], value[1] if value[0] != zero else -1

    def by_way(value, number):
        return compose(number, value[0]), value[1]

    def choose(t, best):
        nearer, alike = better(t[0], best[0]), t[0] == best[0]
        first, its = min(t[1], best[1]), t[1] if nearer else best[1]
        return t[0] if nearer else best[0], first if alike else its  # one condition each: selections, no branch

    def length(value):
        return value[0]

    return Elements(get, put, give, by_way, choose, length)


@lru_cache(maxsize=64)
def descending(s: Semiring, dtype: np.dtype, lengths: bool, to_targets: bool = False) -> tuple[Any, Any]:
    """Makes the loops `rank` and `sweep` for a semiring and a dtype.  to_targets: against the arcs, with targets."""
    known = algebra(s, dtype, lengths)
    zero, unit, better = known.zero, known.unit, known.better
    has = distances_to_targets(known) if to_targets else distances(known)
    get, put, give, by_way, choose, length = has.get, has.put, has.give, has.by_way, has.choose, has.length

    @compiled
    def rank(x, parent, ranks, climbed, d):
        """Move the distances of x and all positions above to their ranks; the zero stays."""
        while x >= 0:
            at = np.uintp(x)
            d[np.uintp(ranks[at])], climbed[at] = climbed[at], zero
            x = np.int64(parent[at])

    @compiled
    def sweep(start, stop, runs, lists, supernodes, d, out):
        """d of the ranks in some runs from those before, and out_v = d of each vertex; the worst that is not the zero.

        lists: vertices, later, and the numbers of its arcs.  supernodes: their first positions, where the arcs of each
        position begin, their numbers, and room.
        """
        (ranks, counts, wide, begins), (vertices, later, numbers), worst = runs, lists, unit
        firsts, starts, down, room = supernodes
        for run in range(np.uintp(start), np.uintp(stop)):
            k, last = np.uintp(ranks[run]), np.uintp(ranks[run + ONE])
            count, at = np.uintp(counts[run]), np.uintp(begins[run])
            if wide[run] < 0:
                while k < last:
                    best = get(d, k)
                    for _ in range(count):
                        best = choose(by_way(get(d, np.uintp(later[at])), numbers[at]), best)
                        at += ONE
                    put(d, k, best)
                    k += ONE
            else:
                local, x = last - k, np.uintp(firsts[np.uintp(wide[run]) + ONE])
                for j in range(count):
                    put(room, local + j, get(d, np.uintp(later[at + j])))
                while k < last:
                    x -= ONE
                    best, at = get(d, k), np.uintp(starts[x])
                    for j in range(count):
                        best = choose(by_way(get(room, local + j), down[at + j]), best)
                    local, count = local - ONE, count + ONE
                    put(room, local, best)
                    put(d, k, best)
                    k += ONE
            k = np.uintp(ranks[run])
            while k < last:
                best = get(d, k)
                give(out, np.uintp(vertices[k]), best)
                far = length(best)
                worst = far if (far != zero) & better(worst, far) else worst
                k += ONE
        return worst

    return rank, sweep
