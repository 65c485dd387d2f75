"""X ⊗ Y of two dense operands: tiles of the result in registers.

    z_ij = ⊕_k x_ik ⊗ y_kj        for ROWS rows i at a time, and for as many columns j as the lanes of some registers

Y is copied into panels of as many columns, each of which stays in a cache while the rows of X stream by. A tile looks
at all of k, so that nothing is added up outside of registers. For its arguments it notes the CHUNK of k that has
improved an element last: the smallest k is found in that chunk at the end, in a copy of Y by columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from formats import Dense
from formats.arrays import index_dtype, read_only

from ..algebra.semirings import Semiring
from ..generic.dense import by_columns
from ..verbs.arguments import NONE
from ..verbs.registry import Vector
from ..verbs.verbs import dense_dense
from .columns import Steps, lanes, vectorizes
from .compiler.references import interrupted
from .kernels import compiled
from .plain import plain_pair, sums_stay_within
from .threads import MIN_ENTRIES_FOR_THREADS, PIECES_PER_THREAD, get_threads, run

ROWS = 4
"""Rows of a tile: the loop names each."""

CHUNK = 32
"""Terms after which a tile notes which of its elements have improved."""

SQUARE = 16
"""Rows and columns of Y that are turned at a time."""


@dense_dense.implement(Vector, "cpu")
def _(X: np.ndarray, Y: np.ndarray, semiring: Semiring, argument: bool) -> Any:
    zero, (m, n), columns = semiring.zero(X.dtype), X.shape, Y.shape[1]
    patterns = semiring.mul.reads == "" and (X == zero).any()  # the loop's terms take what a matrix has for present
    if patterns or not sums_stay_within(X, Y, semiring):
        return by_columns(Dense(X, zero), Y, semiring, True, argument, None)
    pair = plain_pair(X, Y, semiring)
    width = lanes(columns, X.dtype)
    multiply = _tiles(semiring, X.dtype, pair is not None, width, argument)
    x, y, beyond = pair if pair is not None else (X, Y, None)
    panels = -(-columns // width)
    if panels > 1:
        y = np.stack([y[:, first : first + width] for first in _firsts(columns, width)])
    Z = np.empty((m, columns), X.dtype)
    K = np.empty(Z.shape if argument else (0, columns), index_dtype(n))
    turned = _turned(pair[1] if pair is not None else Y) if argument else np.empty(0, x.dtype)
    operands = tuple(read_only(np.ascontiguousarray(part)).reshape(-1) for part in (x, y, turned))
    results, by_rows = (Z.reshape(-1), K.reshape(-1)), m >= 2 * ROWS * get_threads() or panels == 1

    def work(start: int, stop: int) -> None:
        rows, of_panels = ((start, stop), (0, panels)) if by_rows else ((0, m), (start, stop))
        multiply(operands, results, n, columns, *rows, *of_panels)

    run(work, _pieces(m if by_rows else panels, ROWS if by_rows else 1, m * n * columns))
    if beyond is not None:
        absent = Z > beyond if zero > beyond else Z < beyond
        Z[absent] = zero
        K[absent if argument else ...] = NONE
    return (Z, K) if argument else Z


def _firsts(columns: int, width: int) -> list[int]:
    """The first column of each panel; the last panel shares some with the one before."""
    return [min(first, columns - width) for first in range(0, columns, width)]


def _pieces(total: int, unit: int, terms: int) -> list[tuple[int, int]]:
    """[0, total) in pieces for the threads, of whole units but the last."""
    if terms < MIN_ENTRIES_FOR_THREADS or get_threads() == 1:
        return [(0, total)]
    size = unit * max(1, -(-total // (unit * get_threads() * PIECES_PER_THREAD)))
    return [(start, min(start + size, total)) for start in range(0, total, size)]


def _turned(Y: np.ndarray) -> np.ndarray:
    """A copy of Y by columns."""
    by_columns = np.empty(Y.shape[::-1], Y.dtype)
    run(lambda start, stop: _turn(Y, by_columns, start, stop), _pieces(len(Y), SQUARE, Y.size))
    return by_columns


@compiled
def _turn(Y, turned, start, stop):
    for row in range(start, stop, SQUARE):
        for column in range(0, Y.shape[1], SQUARE):
            for j in range(column, min(column + SQUARE, Y.shape[1])):
                for i in range(row, min(row + SQUARE, stop)):
                    turned[j, i] = Y[i, j]


@lru_cache(maxsize=512)
def _tiles(semiring: Semiring, dtype: np.dtype, plain: bool, lanes: int, argument: bool) -> Callable[..., None]:
    """The loop over the tiles of some rows and panels. A tile beyond the last row computes that again."""
    from .kernels import terms
    from .lanes import across, first_equal, on_stack

    t = terms(semiring, dtype, True, plain)
    row, tile = (Steps(t, lanes, rows, vectorizes(semiring)) for rows in (1, ROWS))
    room, room_for_chunk, first_among = on_stack(ROWS * lanes), on_stack(CHUNK), first_equal(CHUNK)
    add, moved, product = row.add, row.moved, t.product
    clear, none, copied, noted = tile.clear, tile.none, tile.moved, tile.noted

    multiplied = across(lambda _, a, b: product(a, b), 3, CHUNK, vectors=vectorizes(semiring))

    def smallest(x, row, y, column, n, chunk, value, given):
        """The smallest k within the chunk that gives the value. None before it does.  given: room for a chunk."""
        if n < CHUNK:
            found = n
            for k in range(n - 1, -1, -1):
                found = k if product(x[np.uintp(row + k)], y[np.uintp(column + k)]) == value else found
            return found
        start = min(chunk, n - CHUNK)
        multiplied(given, 0, x, row + start, y, column + start)
        return start + first_among(given, value)

    @t.compiled
    def multiply(operands, results, n, columns, start, stop, first_panel, last_panel):
        (x, panels, y), (z, k) = operands, results
        totals, before, chunks, given = room(x), room(x), room(k), room_for_chunk(x)
        for panel in range(first_panel, last_panel):
            first, base = min(panel * lanes, columns - lanes), panel * n * lanes
            for i in range(start, stop, ROWS):
                if interrupted():
                    break
                rows = i, min(i + 1, stop - 1), min(i + 2, stop - 1), min(i + 3, stop - 1)
                clear(totals)
                none(chunks)
                for chunk in range(0, n, CHUNK if argument else n):
                    copied(before, 0, totals, 0)
                    for e in range(chunk, min(chunk + CHUNK, n) if argument else n):
                        at = base + e * lanes
                        add(totals, 0, panels, at, x[np.uintp(rows[0] * n + e)])
                        add(totals, lanes, panels, at, x[np.uintp(rows[1] * n + e)])
                        add(totals, 2 * lanes, panels, at, x[np.uintp(rows[2] * n + e)])
                        add(totals, 3 * lanes, panels, at, x[np.uintp(rows[3] * n + e)])
                    noted(chunks, 0, totals, 0, before, 0, chunk)
                moved(z, rows[0] * columns + first, totals, 0)
                moved(z, rows[1] * columns + first, totals, lanes)
                moved(z, rows[2] * columns + first, totals, 2 * lanes)
                moved(z, rows[3] * columns + first, totals, 3 * lanes)
                if argument:
                    moved(k, rows[0] * columns + first, chunks, 0)
                    moved(k, rows[1] * columns + first, chunks, lanes)
                    moved(k, rows[2] * columns + first, chunks, 2 * lanes)
                    moved(k, rows[3] * columns + first, chunks, 3 * lanes)
                    for row in range(i, min(i + ROWS, stop)):
                        for lane in range(lanes):
                            place = row * columns + first + lane
                            noted_last = np.intp(k[place])
                            if noted_last >= 0:
                                column = (first + lane) * n
                                k[place] = smallest(x, row * n, y, column, n, noted_last, z[place], given)

    return multiply
