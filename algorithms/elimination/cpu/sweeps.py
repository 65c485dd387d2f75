"""Distances from many sources side by side: the sweep of `descent` with a row of distances for each position.

    d_x = d_x ⊕ d_y ⊗ w_yx     for x from the last position to the first, and all later y

It reads an arc's number once for LANES sources, which take longer than a misjudged loop: positions stay in the order of
elimination, in which a supernode's lie together. Subtrees are swept by one thread each. Rows are not filled before.
Those that climbs reach are marked, and all others begin as the zero.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from semiring import Semiring
from semiring.cpu.columns import vectorizes
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled
from semiring.cpu.lanes import across, copied, on_stack, prefetched

from .algebra import algebra
from .trees import ONE

LANES = 16
"""Sources side by side."""

TILE = 64
"""Vertices whose distances are written at a time."""


@lru_cache(maxsize=64)
def lanes(s: Semiring, dtype: np.dtype, lengths: bool) -> tuple[Any, Any, Any]:
    """Makes the loops `put`, `sweep` and `write` of LANES sources side by side: a position has a row of distances."""
    known = algebra(s, dtype, lengths)
    zero, unit, compose, better = known.zero, known.unit, known.compose, known.better
    vectors = vectorizes(s)

    def relaxed(y, x, w):
        t = compose(x, w)
        return t if better(t, y) else y

    relax = across(relaxed, 2, LANES, vectors=vectors)
    farther = across(lambda y, x: x if (x != zero) & better(y, x) else y, 2, LANES, vectors=vectors)
    copy, room = copied(LANES), on_stack(LANES)

    @compiled
    def put(x, lane, parent, place, d, rows, marks):
        """Move d of x and all positions above to a lane: the zero stays.  place: of positions among the rows, -1."""
        while x >= 0:
            at = np.uintp(x)
            if place[at] >= 0:
                row = np.int64(place[at])
                if not marks[np.uintp(row)]:
                    marks[np.uintp(row)] = True
                    for other in range(LANES):
                        rows[np.uintp(row * LANES + other)] = zero
                rows[np.uintp(row * LANES + lane)] = d[at]
            d[at] = zero
            x = np.int64(parent[at])

    @compiled
    def sweep(todo, arrays, numbers, d, marks):
        """Rows of the positions of supernodes, ascending, from those above.

        numbers: of arcs from later positions.  marks: of rows that hold what climbs have found; none afterwards.
        """
        firsts, row_starts, rows, starts = arrays
        best, nothing = room(d), room(d)
        for lane in range(LANES):
            nothing[lane] = zero
        for k in range(todo.size - 1, -1, -1):
            if interrupted():
                break
            s = np.uintp(todo[np.uintp(k)])
            first, last = np.int64(firsts[s]), np.int64(firsts[s + ONE])
            own, end = np.uintp(row_starts[s]), np.uintp(row_starts[s + ONE])
            for x in range(last - 1, first - 1, -1):
                at = np.uintp(starts[np.uintp(x)])
                if marks[np.uintp(x)]:
                    copy(best, 0, d, x * LANES)
                    marks[np.uintp(x)] = False
                else:
                    copy(best, 0, nothing, 0)
                for y in range(x + 1, last):
                    relax(best, 0, d, y * LANES, numbers[at])
                    at += ONE
                for r in range(own, end):
                    relax(best, 0, d, np.int64(rows[r]) * LANES, numbers[at])
                    at += ONE
                copy(d, x * LANES, best, 0)

    @compiled
    def write(place, d, lane_rows, out, worst):
        """Rows of `out` from lanes, by each column's place among d's rows; and the worst that is not the zero."""
        k, n = out.shape
        flat, most = out.reshape(k * n), room(d)
        for lane in range(LANES):
            most[lane] = unit
        for start in range(0, n, TILE):
            stop = min(start + TILE, n)
            for v in range(stop, min(stop + TILE, n)):
                prefetched(d, np.int64(place[np.uintp(v)]) * LANES)
            for v in range(start, stop):
                farther(most, 0, d, np.int64(place[np.uintp(v)]) * LANES)
            for lane in range(lane_rows.size):
                row = lane_rows[lane] * n
                for v in range(start, stop):
                    flat[np.uintp(row + v)] = d[np.uintp(np.int64(place[np.uintp(v)]) * LANES + lane)]
        for lane in range(lane_rows.size):
            worst[lane_rows[lane]] = most[lane]

    return put, sweep, write
