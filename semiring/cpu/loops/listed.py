"""Loops over a sorted list of entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import COO

from ..storage import Loops, Piece, Terms, loops_for
from ..threads import cut_at_segments

BLOCK = 2048
"""Entries that are multiplied before they are added up: 8 to 16 KiB of products."""


@loops_for(COO)
class Listed(Loops):
    """A piece is a part of the list that cuts no row."""

    fills = False

    def __init__(self, t: Terms) -> None:
        zero, add, product, relax = t.zero, t.add, t.product, t.relax

        @t.compiled
        def gather(outer, inner, values, x, y, start, stop):
            products = np.empty(BLOCK, values.dtype)
            row, total = -1, zero
            for first in range(start, stop, BLOCK):
                count = min(BLOCK, stop - first)
                for i in range(count):  # multiply a block, so that gathers of x overlap
                    products[i] = product(values[first + i], x[np.uintp(inner[first + i])])
                for i in range(count):  # then add up its segments, without a branch
                    total = add(total, products[i]) if outer[first + i] == row else products[i]
                    row = outer[first + i]
                    y[row] = total

        @t.compiled
        def push(outer, inner, values, rows, weights, y, reached):
            count, low = 0, 0
            for f in range(rows.size):
                high, step = low, 1
                while high < outer.size and outer[high] < rows[f]:  # rows ascend: gallop on from the one before
                    low, high, step = high + 1, high + step, 2 * step
                high = min(high, outer.size)
                while low < high:  # the first entry of the row
                    middle = (low + high) // 2
                    if outer[middle] < rows[f]:
                        low = middle + 1
                    else:
                        high = middle
                while low < outer.size and outer[low] == rows[f]:
                    count = relax(np.uintp(inner[low]), product(values[low], weights[f]), y, reached, count)
                    low += 1
            return count

        self._gather, self._scatter, self._push = gather, scatter_list(t), push

    def pieces(self, A: Any, per_thread: int) -> list[Piece]:
        return cut_at_segments(A.outer, per_thread)

    def arrays(self, A: Any) -> tuple[Any, ...]:
        return A.outer, A.inner, A.values


def scatter_list(t: Terms) -> Callable[..., None]:
    """The loop over a list's entries [start, stop) that combines the product of each into y."""
    add, product = t.add, t.product

    @t.compiled
    def scatter(outer, inner, values, x, y, start, stop):
        for e in range(start, stop):
            k = np.uintp(inner[e])
            y[k] = add(y[k], product(values[e], x[np.uintp(outer[e])]))

    return scatter
