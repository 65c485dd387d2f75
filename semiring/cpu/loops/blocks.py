"""Loops over compressed sparse blocks: a row of blocks at a time, one block after the other.

A block meets one short part of x and one of y, which both stay in the cache. A scatter that takes columns of blocks
instead would need no y for each thread, but jumps from block to block in memory, which costs more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSB

from ..storage import Loops, Piece, Terms, loops_for
from ..threads import cut_evenly


@loops_for(CSB)
class Blocks(Loops):
    """A piece is rows of blocks."""

    fills, push_below = False, 0.0
    turned = True

    def __init__(self, t: Terms) -> None:
        add, product = t.add, t.product

        @t.compiled
        def gather(matrix, width, block, x, y, start, stop):
            starts, rows, cols, values = matrix
            for r in range(start, stop):
                for c in range(width):
                    first, origin = np.uintp(r * block), np.uintp(c * block)
                    for e in range(starts[r * width + c], starts[r * width + c + 1]):
                        i = first + np.uintp(rows[e])
                        y[i] = add(y[i], product(values[e], x[origin + np.uintp(cols[e])]))

        @t.compiled
        def scatter(matrix, width, block, x, y, start, stop):
            starts, rows, cols, values = matrix
            for r in range(start, stop):
                for c in range(width):
                    first, origin = np.uintp(c * block), np.uintp(r * block)
                    for e in range(starts[r * width + c], starts[r * width + c + 1]):
                        k = first + np.uintp(cols[e])
                        y[k] = add(y[k], product(values[e], x[origin + np.uintp(rows[e])]))

        self._gather, self._scatter = gather, scatter

    def pieces(self, A: CSB, per_thread: int) -> list[Piece]:
        return cut_evenly(A.strips, per_thread)

    def arrays(self, A: Any) -> tuple[Any, ...]:
        return (A.starts, *A.offsets, A.values), A.grid[1], A.block
