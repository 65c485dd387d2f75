"""Climbs from a vertex to the root of the elimination tree, and the distance between two by climbs that meet.

    climb:  d_y = d_y ⊕ d_x ⊗ w_xy     for the source x, its parent, the parent's parent …, and all later y
    d_uv = ⊕_x d_x ⊗ e_x               over the positions x above both: d climbs from u, and e against arcs from v

A best path rises to its last position and falls from there, through arcs of the factor [1]. A climb goes through some
supernodes, whose numbers lie side by side. They are rarely in a cache, so those of both ways are fetched ahead. What
says where they are is a record of each supernode, so that one wait for memory leads to the next.

[1] J. Dibbelt, B. Strasser, D. Wagner, Customizable contraction hierarchies, ACM J. Exp. Algorithmics 21, 2016.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from semiring import Semiring
from semiring.cpu.kernels import compiled
from semiring.cpu.lanes import prefetched

from .algebra import algebra
from .pattern import Pattern
from .trees import ONE

LINE = np.uintp(8)
"""Numbers of 8 bytes in a line of a cache."""

WORDS = 4
"""Words of a supernode's record.

They are: where the next one's arcs begin; where its rows begin; its end and how many rows it has, as two halves; the
supernode above it and its first row, -1 for none, likewise."""

LOW = np.int64(2**32 - 1)
HALF: Any = np.int64(32)


def records(p: Pattern) -> np.ndarray:
    """Packs what a climb reads of each supernode side by side, into half a line of a cache."""
    counts, found = np.diff(p.row_starts), np.empty((p.above.size, WORDS), np.int64)
    above = np.full(p.above.size, -1, np.int64)
    above[counts > 0] = p.rows[p.row_starts[:-1][counts > 0]]
    found[:, 0], found[:, 1] = p.starts[p.firsts[1:]], p.row_starts[:-1]
    found[:, 2] = p.firsts[1:] | counts << HALF
    found[:, 3] = p.above & LOW | above << HALF
    return found.ravel()


def read_record(supernodes, s, x):
    """Returns where x's arcs in supernode s begin, the end of s, where its rows begin and end, its first row, above."""
    k = np.uintp(WORDS * s)
    stop, own, ends, up = supernodes[k], supernodes[k + ONE], supernodes[k + ONE + ONE], supernodes[k + ONE + ONE + ONE]
    last, count = ends & LOW, ends >> HALF
    width = last - x
    at = stop - width * count - ((width * (width - 1)) >> np.int64(1))
    return np.uintp(at), np.uintp(last), np.uintp(own), np.uintp(own + count), up >> HALF, up & LOW


def fetch(x, s, supernodes, rows, numbers, d):
    """Have all fetched that a climb reads of a supernode, from x on; the next position on the way, and its supernode.

    The position is -1 above the root.
    """
    at, last, own, end, following, above = read_record(supernodes, s, x)
    stop = np.uintp(supernodes[np.uintp(WORDS * s)])
    here = np.uintp(x)
    while here < last:
        prefetched(d, here)
        here += LINE
    while at < stop:
        prefetched(numbers, at)
        at += LINE
    while own < end:
        prefetched(rows, own)
        own += LINE
    return following, above


@lru_cache(maxsize=64)
def climbing_from_targets(s: Semiring, dtype: np.dtype, lengths: bool) -> Any:
    """The climb against arcs from several targets at once, for a semiring and a dtype."""
    known = algebra(s, dtype, lengths)
    zero, compose, better = known.zero, known.compose, known.better

    def improve(y, t, target, d, nearest):
        before = d[y]
        if t != zero and (better(t, before) or (t == before and target < nearest[y])):
            d[y], nearest[y] = t, target

    @compiled
    def climb(above, lists, down, ranks, d, nearest, pairs):
        """Distances to the nearest target of all positions above targets, and which it is, to their ranks.

        above: these positions, ascending, the targets' own among them.  lists: the supernode of each position, records,
        and rows.  d, nearest: of targets the unit and their number, else the zero and no smaller number.  pairs: two
        views of the ranks' distances and numbers, which lie side by side; none is reached before.
        """
        nodes, supernodes, rows = lists
        for place in range(above.size):
            x = np.int64(above[place])
            at, last, own, end, _, _ = read_record(supernodes, nodes[np.uintp(x)], x)
            here, target = d[np.uintp(x)], nearest[np.uintp(x)]
            k = np.uintp(2 * np.int64(ranks[np.uintp(x)]))
            pairs[0][k], pairs[1][k + ONE] = here, target
            if here == zero:
                continue
            for y in range(np.uintp(x) + ONE, last):
                improve(y, compose(down[at], here), target, d, nearest)
                at += ONE
            for r in range(own, end):
                improve(np.uintp(rows[r]), compose(down[at], here), target, d, nearest)
                at += ONE

    return climb


@lru_cache(maxsize=64)
def climbing(s: Semiring, dtype: np.dtype, lengths: bool) -> tuple[Any, Any, Any]:
    """Makes the loops `climb`, `meet` and `between` for a semiring and a dtype."""
    known = algebra(s, dtype, lengths)
    zero, unit, compose, better = known.zero, known.unit, known.compose, known.better

    @compiled
    def climb(x, s, supernodes, rows, numbers, d, forward):
        """d of all positions above x, in supernode s, from d_x.  supernodes: see `records`.

        numbers: of the arcs to later positions; from these, not `forward`.
        """
        while x >= 0:
            at, last, own, end, x_above, s_above = read_record(supernodes, s, x)
            for here_at in range(np.uintp(x), last):
                here = d[here_at]
                if here == zero:
                    at += last - here_at - ONE + end - own
                    continue
                y: Any = here_at
                for y in range(here_at + ONE, last):
                    w, before = numbers[at], d[y]
                    t = compose(here, w) if forward else compose(w, here)
                    d[y] = t if better(t, before) else before
                    at += ONE
                for k in range(own, end):
                    y = np.uintp(rows[k])
                    w, before = numbers[at], d[y]
                    t = compose(here, w) if forward else compose(w, here)
                    d[y] = t if better(t, before) else before
                    at += ONE
            x, s = x_above, s_above

    @compiled
    def meet(x, s, supernodes, d, e):
        """Returns d_uv, and the position where climbs meet that reach x, in supernode s, and all above; -1 for none."""
        best, at = zero, np.int64(-1)
        while x >= 0:
            _, last, _, _, x_above, s_above = read_record(supernodes, s, x)
            for here in range(np.uintp(x), last):
                t = compose(d[here], e[here])
                if better(t, best):
                    best, at = t, np.int64(here)
            x, s = x_above, s_above
        return best, at

    @compiled
    def between(u, v, place, nodes, supernodes, rows, numbers, rooms):
        """d_uv, of vertices.  numbers: of the arcs to later positions, and from them.  rooms: zeros, as afterwards."""
        (up, down), (d, e) = numbers, rooms
        x, y = np.int64(place[np.uintp(u)]), np.int64(place[np.uintp(v)])
        s, r = np.int64(nodes[np.uintp(x)]), np.int64(nodes[np.uintp(y)])
        a, of_a, b, of_b = x, s, y, r
        while a >= 0 or b >= 0:
            if a >= 0:
                a, of_a = fetch(a, of_a, supernodes, rows, up, d)
            if b >= 0:
                b, of_b = fetch(b, of_b, supernodes, rows, down, e)
        d[np.uintp(x)], e[np.uintp(y)] = unit, unit
        climb(x, s, supernodes, rows, up, d, True)
        climb(y, r, supernodes, rows, down, e, False)
        best, _ = meet(x, s, supernodes, d, e)
        for way, start, of_start in ((d, x, s), (e, y, r)):
            at, of_at = start, of_start
            while at >= 0:
                _, last, _, _, x_above, s_above = read_record(supernodes, of_at, at)
                for here in range(np.uintp(at), last):
                    way[here] = zero
                at, of_at = x_above, s_above
        return best

    return climb, meet, between
