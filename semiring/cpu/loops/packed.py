"""Loops over compressed rows whose columns are packed: `compressed`, with each column decoded where it is used."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CompressedCSR, Matrix
from formats.storage.orientation import by_columns, by_rows

from ..storage import Loops, Piece, Terms, loops_for
from ..threads import cut_evenly


@loops_for(CompressedCSR)
class Packed(Loops):
    """A row ends early where its sum is final, and is left out where a mask excludes it."""

    turned = masks = True

    def __init__(self, t: Terms) -> None:
        from ..packed import group, offset

        zero, add, product, relax, terminal = t.zero, t.add, t.product, t.relax, t.terminal
        one = np.uintp(1)

        @t.compiled
        def gather(matrix, x, y, allowed, masked, start, stop):
            indptr, words, bases, starts, values = matrix
            for i in range(start, stop):
                total = zero
                if not masked or allowed[i]:
                    e, end = np.uintp(indptr[i]), np.uintp(indptr[i + 1])
                    while e < end:
                        base, bit, width, last = group(bases, starts, e, end)
                        while e < last:
                            total = add(total, product(values[e], x[base + offset(words, bases, bit, width)]))
                            e, bit = e + one, bit + width
                            if terminal and total != zero:
                                last = end = e
                y[i] = total

        @t.compiled
        def scatter(matrix, x, y, start, stop):
            indptr, words, bases, starts, values = matrix
            for i in range(start, stop):
                if x[i] != zero:
                    e, end = np.uintp(indptr[i]), np.uintp(indptr[i + 1])
                    while e < end:
                        base, bit, width, last = group(bases, starts, e, end)
                        while e < last:
                            k = base + offset(words, bases, bit, width)
                            y[k] = add(y[k], product(values[e], x[i]))
                            e, bit = e + one, bit + width

        @t.compiled
        def push(matrix, rows, weights, y, reached):
            indptr, words, bases, starts, values = matrix
            count = 0
            for f in range(rows.size):
                row, weight = np.uintp(rows[f]), weights[f]
                e, end = np.uintp(indptr[row]), np.uintp(indptr[row + one])
                while e < end:
                    base, bit, width, last = group(bases, starts, e, end)
                    while e < last:
                        k = base + offset(words, bases, bit, width)
                        count = relax(k, product(values[e], weight), y, reached, count)
                        e, bit = e + one, bit + width
            return count

        self._gather, self._scatter, self._push = gather, scatter, push

    def pieces(self, A: Any, per_thread: int) -> list[Piece]:
        return cut_evenly(A.indptr, per_thread)

    @classmethod
    def along(cls, A: Matrix, axis: int) -> Matrix:
        return by_rows(A) if axis == 0 else by_columns(A)

    def arrays(self, A: Any) -> tuple[Any, ...]:
        return ((A.indptr, A.words, A.bases, A.starts, A.values),)
