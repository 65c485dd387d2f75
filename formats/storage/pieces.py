"""The entries of rows by columns where the device has no room for the whole: made piece by piece, in pinned memory.

    spread     entries in pieces: sorted by the range of columns in which they lie, and written behind those before them
    settle     each range, which fits on the device: sorted by column, or by column and weight, and written back

An entry crosses the bus twice each way, in long runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..arrays import MAGNITUDE, Array, namespace, starts_of
from ..progress import Bar
from .compressed import CSR, expand

BYTES_AN_ENTRY = 72
"""That a piece takes on the device for each of its entries, at most."""
MOST_ENTRIES, FEWEST_ENTRIES = 1 << 25, 1 << 10
"""Bounds of the entries of a piece."""
COUNTED = 1 << 26
"""Entries that are counted at a time."""

Allocate = Callable[[int, np.dtype], Array]
"""A function (size, dtype) -> an array in memory that does not count: pinned memory of the host."""


class Columns(NamedTuple):
    """Entries by column: where each column begins, on the device, and in memory that was allocated for it their rows.

    rows: a column's in their order.  pairs: with weights instead, 32 bits of the weight above 32 of the row, a column's
    in the order of their weights, those of one weight by their rows.
    """

    indptr: Array
    rows: Array | None = None
    pairs: Array | None = None


def piece_of(room: int) -> int:
    """Entries of a piece where the device has so many bytes left."""
    return max(FEWEST_ENTRIES, min(MOST_ENTRIES, room // BYTES_AN_ENTRY))


def column_starts(A: CSR) -> Array:
    """Finds where each column would begin, (ncols + 1,)."""
    xp = A.xp
    found = xp.zeros(A.ncols, np.uint64)
    for start in range(0, A.nnz, COUNTED):
        xp.add.at(found, A.indices[start : start + COUNTED], 1)
    return starts_of(found, A.indptr.dtype)


def ranges(starts: Array, most: int) -> Iterator[tuple[int, int, int, int]]:
    """Yields (first, last, begin, end) of ranges of columns with at most so many entries, or of one with more."""
    ncols, nnz, first, begin = starts.size - 1, int(starts[-1]), 0, 0
    while first < ncols:
        last = max(_place(starts, min(begin + most, nnz), "right") - 1, first + 1)
        end = int(starts[last])
        if end > begin:
            yield first, last, begin, end
        first, begin = last, end


def turned_in_pieces(A: CSR, room: int, allocate: Allocate, *, by_weight: bool = False) -> Columns | None:
    """A's entries by column, with so many bytes of the device beside `column_starts`.

    by_weight: with their weights, of 4 bytes and not negative.  None where one column's entries do not fit, and are to
    be sorted.
    """
    xp, most, starts = A.xp, piece_of(room), column_starts(A)
    cuts = list(ranges(starts, most))
    if by_weight and any(end - begin > most for *_, begin, end in cuts):
        return None
    columns = allocate(A.nnz, A.indices.dtype)
    moved = allocate(A.nnz, np.dtype(np.int64) if by_weight else A.indices.dtype)
    firsts = xp.asarray(np.array([first for first, *_ in cuts], A.indices.dtype))
    upto = [begin for *_, begin, _ in cuts]
    done = 0
    with Bar("sorting entries by column", 2 * A.nnz, lambda: done) as bar:
        for start in range(0, A.nnz, most):
            bar.update()
            done = min(start + most, A.nnz)
            _spread(A, start, done, firsts, upto, columns, moved)
        for first, last, begin, end in cuts:
            bar.update()
            done = A.nnz + end
            if last - first > 1 or by_weight:
                _settle(columns[begin:end], moved[begin:end])
    return Columns(starts, pairs=moved) if by_weight else Columns(starts, moved)


def _spread(A: CSR, start: int, end: int, firsts: Array, upto: list[int], columns: Array, moved: Array) -> None:
    """Write the entries of one piece behind those before them, each in its range of columns."""
    xp = A.xp
    column = xp.array(A.indices[start:end])
    low, high = _place(A.indptr, start, "right") - 1, _place(A.indptr, end, "left")
    local = xp.clip(A.indptr[low : high + 1], start, end) - A.indptr.dtype.type(start)
    row = expand(local.astype(A.indptr.dtype, copy=False)).astype(A.indices.dtype, copy=False)
    row += A.indices.dtype.type(low)
    if moved.dtype != A.indices.dtype:
        row = paired(xp.array(A.values[start:end]), row)
    order = xp.argsort(column, kind="stable")
    column, row = column[order], row[order]
    bounds = [*map(int, _on_host(xp.searchsorted(column, firsts))), end - start]
    for k, (begin, stop) in enumerate(zip(bounds, bounds[1:], strict=False)):
        if stop > begin:
            into = slice(upto[k], upto[k] + stop - begin)
            moved[into], columns[into] = row[begin:stop], column[begin:stop]
            upto[k] = into.stop


def _settle(columns: Array, moved: Array) -> None:
    """Sort the entries of one range of columns."""
    entries: Any = moved.copy()
    key: Any = columns.copy()
    if moved.dtype != columns.dtype:
        key = key.astype(np.int64) << np.int64(32) | entries >> np.int64(32)
    moved[:] = entries[key.argsort(kind="stable")]


def paired(weights: Array, rows: Array) -> Array:
    """Weights of 4 bytes, none of which is negative, above rows: ordered as (weight, row)."""
    return (weights.view(np.uint32) & MAGNITUDE).astype(np.int64) << np.int64(32) | rows


def _place(ascending: Any, value: int, side: str) -> int:
    """Where a value would lie among ascending ones."""
    xp = namespace(ascending)
    return int(xp.searchsorted(ascending, xp.full(1, value, ascending.dtype), side=side)[0])


def _on_host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array
