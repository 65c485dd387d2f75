"""Loops over ELL's padded rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import ELL

from ..storage import Loops, Piece, Terms, loops_for
from ..threads import cut, get_threads

BLOCK = 1 << 14
"""Rows whose part of y stays in the L1 cache while slots stream by."""


@loops_for(ELL)
class Padded(Loops):
    """A piece is rows; slot by slot of all of them, or row by row where the first term decides."""

    def __init__(self, t: Terms) -> None:
        zero, add, product, relax, terminal = t.zero, t.add, t.product, t.relax, t.terminal

        @t.compiled
        def gather(indices, values, x, y, start, stop):
            for first in range(start, stop, BLOCK):
                last = min(first + BLOCK, stop)
                for i in range(first, last):
                    y[i] = zero
                for s in range(indices.shape[0]):
                    for i in range(first, last):
                        k = indices[s, i]
                        t = product(values[s, i], x[np.uintp(max(k, 0))])
                        y[i] = add(y[i], zero if k < 0 else t)

        @t.compiled
        def scatter(indices, values, x, y, start, stop):
            rows = 1 if terminal else stop - start
            for first in range(start, stop, max(rows, 1)):
                for s in range(indices.shape[0]):
                    for i in range(first, first + rows):
                        k = indices[s, i]
                        if k >= 0:
                            y[np.uintp(k)] = add(y[np.uintp(k)], product(values[s, i], x[i]))

        @t.compiled
        def push(indices, values, rows, weights, y, reached):
            count = 0
            for f in range(rows.size):
                for s in range(indices.shape[0]):
                    k = indices[s, rows[f]]
                    if k < 0:
                        break
                    count = relax(np.uintp(k), product(values[s, rows[f]], weights[f]), y, reached, count)
            return count

        self._gather, self._scatter, self._push = gather, scatter, push

    def pieces(self, A: ELL, per_thread: int) -> list[Piece]:
        nrows = A.indices.shape[1]
        return cut(nrows, max(1, -(-nrows // (get_threads() * per_thread))), A.indices.size)

    def arrays(self, A: Any) -> tuple[Any, ...]:
        return A.indices, A.values
