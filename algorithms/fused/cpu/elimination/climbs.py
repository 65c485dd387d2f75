"""Climbs from a vertex to the root of the elimination tree, and the distance between two by climbs that meet.

    climb:  d_y = d_y ⊕ d_x ⊗ w_xy     for the source x, its parent, the parent's parent …, and all later y
    d_uv = ⊕_x d_x ⊗ e_x               over the positions x above both: d climbs from u, and e against arcs from v

A best path rises to its last position and falls from there, through arcs of the factor [1]. A climb goes through some
supernodes, whose numbers lie side by side. They are rarely in a cache, so those of both ways are fetched ahead.

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
from .trees import ONE

LINE = np.uintp(8)
"""Numbers of 8 bytes in a line of a cache."""


def fetch(x, s, above, arrays, numbers, d):
    """Have all fetched that a climb reads of a supernode, from x on; the next position on the way, and its supernode.

    The position is -1 above the root.
    """
    firsts, row_starts, rows, starts = arrays
    last, own, end = np.uintp(firsts[s + ONE]), np.uintp(row_starts[s]), np.uintp(row_starts[s + ONE])
    at, stop = np.uintp(starts[np.uintp(x)]), np.uintp(starts[last])
    prefetched(d, x)
    while at < stop:
        prefetched(numbers, at)
        at += LINE
    at = own
    while at < end:
        prefetched(rows, at)
        at += LINE
    return (np.int64(rows[own]), np.uintp(above[s])) if own < end else (np.int64(-1), s)


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
    def climb(arrays, down, ranks, d, nearest, pairs):
        """Distances to the nearest target of the targets and all positions above, and which it is, to their ranks.

        d, nearest: of targets themselves the unit and their number, else the zero and no smaller number.  pairs: two
        views of the ranks' distances and numbers, which lie side by side; none is reached before.
        """
        firsts, row_starts, rows, starts = arrays
        for s in range(firsts.size - 1):
            for x in range(np.uintp(firsts[s]), np.uintp(firsts[s + 1])):
                if d[x] == zero:
                    continue
                at, here, target = np.uintp(starts[x]), d[x], nearest[x]
                for y in range(x + ONE, np.uintp(firsts[s + 1])):
                    improve(y, compose(down[at], here), target, d, nearest)
                    at += ONE
                for r in range(np.uintp(row_starts[s]), np.uintp(row_starts[s + 1])):
                    improve(np.uintp(rows[r]), compose(down[at], here), target, d, nearest)
                    at += ONE
                k = np.uintp(2 * ranks[x])
                pairs[0][k], pairs[1][k + ONE] = here, target

    return climb


@lru_cache(maxsize=64)
def climbing(s: Semiring, dtype: np.dtype, lengths: bool) -> tuple[Any, Any, Any]:
    """(climb, meet, between) for a semiring and a dtype."""
    known = algebra(s, dtype, lengths)
    zero, unit, compose, better = known.zero, known.unit, known.compose, known.better

    @compiled
    def climb(x, tree, arrays, numbers, d, forward):
        """d of all positions above x, from d_x.  tree: the supernode of each position, and that above each supernode.

        numbers: of the arcs to later positions; from these, not `forward`.
        """
        (nodes, above), (firsts, row_starts, rows, starts) = tree, arrays
        s = np.uintp(nodes[np.uintp(x)])
        while x >= 0:
            last, own, end = np.uintp(firsts[s + ONE]), np.uintp(row_starts[s]), np.uintp(row_starts[s + ONE])
            at = np.uintp(starts[np.uintp(x)])
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
            x = np.int64(rows[own]) if own < end else np.int64(-1)
            s = np.uintp(above[s])

    @compiled
    def meet(x, parent, d, e):
        """(d_uv, the position where climbs meet that reach x and all above, -1 for none)."""
        best, at = zero, np.int64(-1)
        while x >= 0:
            t = compose(d[np.uintp(x)], e[np.uintp(x)])
            if better(t, best):
                best, at = t, np.int64(x)
            x = np.int64(parent[np.uintp(x)])
        return best, at

    @compiled
    def between(u, v, place, tree, arrays, parent, numbers, rooms):
        """d_uv, of vertices.  numbers: of the arcs to later positions, and from them.  rooms: zeros, as afterwards."""
        (nodes, above), (up, down), (d, e) = tree, numbers, rooms
        x, y = np.int64(place[np.uintp(u)]), np.int64(place[np.uintp(v)])
        a, s, b, r = x, np.uintp(nodes[np.uintp(x)]), y, np.uintp(nodes[np.uintp(y)])
        while a >= 0 or b >= 0:
            if a >= 0:
                a, s = fetch(a, s, above, arrays, up, d)
            if b >= 0:
                b, r = fetch(b, r, above, arrays, down, e)
        d[np.uintp(x)], e[np.uintp(y)] = unit, unit
        climb(x, tree, arrays, up, d, True)
        climb(y, tree, arrays, down, e, False)
        best, _ = meet(x, parent, d, e)
        for way, start in ((d, x), (e, y)):
            at = start
            while at >= 0:
                way[np.uintp(at)] = zero
                at = np.int64(parent[np.uintp(at)])
        return best

    return climb, meet, between
