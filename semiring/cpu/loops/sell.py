"""Loops over SELL's chunks of sorted rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import SELL

from ..storage import Loops, Piece, Terms, loops_for
from ..threads import cut_evenly


@loops_for(SELL)
class Sell(Loops):
    """A piece is chunks. The totals of a chunk's rows stay in a cache while its slots stream by."""

    def __init__(self, t: Terms) -> None:
        zero, add, product, relax = t.zero, t.add, t.product, t.relax
        self._in_order = t.terminal  # `any` takes the term of the first row

        @t.compiled
        def gather(matrix, chunk, x, y, start, stop):
            indices, values, starts, rows = matrix
            products, totals = np.empty(chunk, values.dtype), np.empty(chunk, values.dtype)
            for c in range(start, stop):
                for lane in range(chunk):
                    totals[lane] = zero
                for first in range(starts[c], starts[c + 1], chunk):
                    for lane in range(chunk):  # multiply a slot, so that gathers of x overlap, and then add it up
                        k = indices[first + lane]
                        products[lane] = product(values[first + lane], x[np.uintp(k)]) if k >= 0 else zero
                    for lane in range(chunk):
                        totals[lane] = add(totals[lane], products[lane])
                for lane in range(min(chunk, rows.size - c * chunk)):
                    y[np.uintp(rows[c * chunk + lane])] = totals[lane]

        @t.compiled
        def scatter(matrix, chunk, x, y, start, stop):
            indices, values, starts, rows = matrix
            weights = np.full(chunk, zero, values.dtype)
            for c in range(start, stop):
                for lane in range(min(chunk, rows.size - c * chunk)):
                    weights[lane] = x[np.uintp(rows[c * chunk + lane])]
                for first in range(starts[c], starts[c + 1], chunk):
                    for lane in range(chunk):
                        k = indices[first + lane]
                        if k >= 0:
                            y[np.uintp(k)] = add(y[np.uintp(k)], product(values[first + lane], weights[lane]))

        @t.compiled
        def scatter_in_order(matrix, chunk, x, y, start, stop):
            indices, values, starts, positions = matrix
            for i in range(start, stop):
                c, lane = divmod(positions[i], chunk)
                for e in range(starts[c] + lane, starts[c + 1], chunk):
                    k = indices[e]
                    if k < 0:
                        break
                    y[np.uintp(k)] = add(y[np.uintp(k)], product(values[e], x[i]))

        @t.compiled
        def push(matrix, chunk, rows, weights, y, reached):
            indices, values, starts, positions = matrix
            count = 0
            for f in range(rows.size):
                c, lane = divmod(positions[np.uintp(rows[f])], chunk)
                for e in range(starts[c] + lane, starts[c + 1], chunk):
                    k = indices[e]
                    if k < 0:
                        break
                    count = relax(np.uintp(k), product(values[e], weights[f]), y, reached, count)
            return count

        self._gather, self._scatter, self._scatter_in_order, self._push = gather, scatter, scatter_in_order, push

    def pieces(self, A: Any, per_thread: int) -> list[Piece]:
        return cut_evenly(A.starts, per_thread)

    def arrays(self, A: Any) -> tuple[Any, ...]:
        return (A.indices, A.values, A.starts, A.rows), A.chunk

    def scatter(self, A: Any, x: np.ndarray, y: np.ndarray, start: int, stop: int) -> None:
        if self._in_order:  # of as many rows as the chunks have
            start, stop = (min(c * A.chunk, A.rows.size) for c in (start, stop))
            self._scatter_in_order((A.indices, A.values, A.starts, A.positions), A.chunk, x, y, start, stop)
        else:
            super().scatter(A, x, y, start, stop)

    def push(self, A: Any, rows: np.ndarray, weights: np.ndarray, y: np.ndarray, reached: np.ndarray) -> int:
        return self._push((A.indices, A.values, A.starts, A.positions), A.chunk, rows, weights, y, reached)
