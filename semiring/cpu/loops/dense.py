"""Loops over every position of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import Dense

from ..lanes import across, filled, on_stack
from ..storage import Loops, Piece, Terms, loops_for
from ..threads import cut, get_threads


@loops_for(Dense)
class EveryPosition(Loops):
    """A piece is rows. Booleans are bytes, hence `number`."""

    masks = True

    def __init__(self, t: Terms) -> None:
        zero, add, product, terminal, number = t.zero, t.add, t.product, t.terminal, t.number
        lanes, room, clear = t.lanes, on_stack(t.lanes), filled(t.lanes)
        several = across(
            lambda y, a, x, fill: add(y, product(number(a), x) if (a != fill) & (a == a) else zero),
            3, lanes, vectors=lanes > 1,
        )  # fmt: skip

        @t.compiled
        def gather(values, fill, x, y, allowed, masked, start, stop):
            flat, width, totals = values.reshape(values.size), values.shape[1], room(y)
            for i in range(start, stop):
                total, k = zero, 0
                if not masked or allowed[i]:
                    if lanes > 1:
                        clear(totals, zero)
                        while k + lanes <= width:
                            several(totals, 0, flat, i * width + k, x, k, fill)
                            k += lanes
                        for lane in range(lanes):
                            total = add(total, totals[lane])
                    while k < width:
                        a = values[i, k]
                        t = product(number(a), x[k])
                        total = add(total, t if (a != fill) & (a == a) else zero)
                        if terminal and total != zero:
                            break
                        k += 1
                y[i] = total

        @t.compiled
        def scatter(values, fill, x, y, start, stop):
            for i in range(start, stop):
                if x[i] != zero:
                    for k in range(values.shape[1]):
                        a = values[i, k]
                        t = product(number(a), x[i])
                        y[k] = add(y[k], t if (a != fill) & (a == a) else zero)

        @t.compiled
        def push(values, fill, rows, weights, y, reached):
            for f in range(rows.size):
                i = np.uintp(rows[f])
                for k in range(values.shape[1]):
                    a = values[i, k]
                    t = product(number(a), weights[f])
                    y[k] = add(y[k], t if (a != fill) & (a == a) else zero)
            return y.size  # rows reach everywhere

        self._gather, self._scatter, self._push = gather, scatter, push

    def pieces(self, A: Dense, per_thread: int) -> list[Piece]:
        nrows = A.values.shape[0]
        return cut(nrows, max(1, -(-nrows // (get_threads() * per_thread))), A.values.size)

    def arrays(self, A: Any) -> tuple[Any, ...]:
        return A.values, A.fill
