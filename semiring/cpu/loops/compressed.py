"""Loops over compressed rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSC, CSR

from ..storage import Loops, Piece, Terms, loops_for
from ..threads import cut_evenly


@loops_for(CSR, CSC)
class Compressed(Loops):
    """A row ends early where its sum is final, and is left out where a mask excludes it."""

    turned = masks = True

    def __init__(self, t: Terms) -> None:
        zero, add, product, relax, terminal = t.zero, t.add, t.product, t.relax, t.terminal

        @t.compiled
        def gather(matrix, x, y, allowed, masked, start, stop):
            indptr, indices, values = matrix
            for i in range(start, stop):
                total = zero
                if not masked or allowed[i]:
                    for e in range(indptr[i], indptr[i + 1]):
                        total = add(total, product(values[e], x[np.uintp(indices[e])]))
                        if terminal and total != zero:
                            break
                y[i] = total

        @t.compiled
        def scatter(matrix, x, y, start, stop):
            indptr, indices, values = matrix
            for i in range(start, stop):
                if x[i] != zero:
                    for e in range(indptr[i], indptr[i + 1]):
                        k = np.uintp(indices[e])
                        y[k] = add(y[k], product(values[e], x[i]))

        @t.compiled
        def push(matrix, rows, weights, y, reached):
            (indptr, indices, values), count = matrix, 0
            for f in range(rows.size):
                row, weight = np.uintp(rows[f]), weights[f]
                for e in range(np.uintp(indptr[row]), np.uintp(indptr[row + np.uintp(1)])):
                    count = relax(np.uintp(indices[e]), product(values[e], weight), y, reached, count)
            return count

        self._gather, self._scatter, self._push = gather, scatter, push

    def pieces(self, A: Any, per_thread: int) -> list[Piece]:
        return cut_evenly(A.indptr, per_thread)

    def arrays(self, A: Any) -> tuple[Any, ...]:
        return ((A.indptr, A.indices, A.values),)
