"""Entries by columns from entries by rows, by a stable radix sort of the columns: launches of radix.cu.

    turned    all entries, sorted by column        blocked    each segment of rows by itself, sorted by column

A digit has up to 11 bits, so 2^22 columns take two passes, and one reads the rows from `indptr`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy

from ..algebra.codegen import index_of, types_of
from .entries import cut
from .steps import NOTHING, RADIX, SUM, letters, steps_for, totals, value_words

SORTERS = 512
"""Threads of a block, as in radix.cu."""

SORTED = 16 * SORTERS
"""Entries of a tile."""

MOST_BITS = 11
"""Most bits of a digit: the counters of 16 warps fit in shared memory."""

WARPS = SORTERS // 32


@dataclass(frozen=True)
class Passes:
    """How columns are cut into digits: `count` of `bits` bits each."""

    bits: int
    count: int

    @classmethod
    def of(cls, ncols: int) -> Passes:
        all_bits = max((ncols - 1).bit_length(), 1)
        count = -(-all_bits // MOST_BITS)
        return cls(-(-all_bits // count), count)

    @property
    def last_shift(self) -> int:
        return self.bits * (self.count - 1)


@dataclass
class Sorted:
    """Entries by column: what the last pass wrote. before: its scanned counts; first_tile: of each segment."""

    keys: Any
    rows: Any
    values: Array
    before: Array
    first_tile: Any
    passes: Passes


def sort_columns(
    indptr: Array,
    indices: Array,
    values: Array,
    ncols: int,
    *,
    starts: Array | None = None,
    segment: int = 0,
    block: int = 0,
) -> Sorted:
    """The entries of compressed rows by column, those of a column by row. There are some.

    starts: where segments of rows begin, each of which is sorted by itself.  segment: rows are written as 16 bits,
    within their segments of so many.  block: and columns, within blocks of so many.
    """
    cp, nnz = cupy(), indices.size
    index, words = indptr.dtype, value_words(values)
    k = steps_for(RADIX, index_of(indptr, indices), values.dtype.itemsize)
    passes = Passes.of(ncols)
    radix = 1 << passes.bits
    if starts is None:
        tiles, segments, first_tile = -(-nnz // SORTED), 1, NOTHING
    else:
        segments = starts.size - 1
        first_tile = cp.empty(segments + 1, index)
        k.loop("count_tiles", segments, (starts, np.int64(segments), first_tile))
        totals(first_tile, segments, first_tile, told=letters().open(SUM))
        (tiles,) = letters().read(SUM)
    cuts = (NOTHING if starts is None else starts, first_tile, np.int32(segments), np.int64(nnz))
    counts = cp.empty(tiles * radix + 1, index)
    staged = max(SORTED * values.dtype.itemsize, (SORTED + SORTED // 16) * index.itemsize)
    shared = radix * index.itemsize + max(staged, 2 * WARPS * radix)
    keys, rows = indices, NOTHING
    moving: Any = words
    found = (indptr, cut(indptr, nnz, k))
    for number in range(passes.count):
        last = number == passes.count - 1
        digit = (np.int32(number * passes.bits), np.int32(radix))
        k.launch("count_digits", tiles, (keys, *cuts, *digit, counts), 4 * radix, SORTERS)
        totals(counts, tiles * radix, counts)
        new_keys = NOTHING if last and block else cp.empty(nnz, indices.dtype)
        new_rows = NOTHING if last and segment else cp.empty(nnz, indices.dtype)
        new_values = NOTHING if words is None else cp.empty(nnz, values.dtype)
        short_keys = cp.empty(nnz, np.uint16) if last and block else NOTHING
        short_rows = cp.empty(nnz, np.uint16) if last and segment else NOTHING
        masks = (k.index(block - 1 if block else 0), k.index(segment if last else 0))
        source = (keys, rows, NOTHING if moving is None else moving, *found)
        target = (new_keys, new_rows, new_values, short_keys, short_rows)
        k.launch("place_digits", tiles, (*source, *cuts, *digit, counts, *masks, *target), shared, SORTERS)
        keys, rows, moving = new_keys, new_rows, None if words is None else new_values
    result = cp.broadcast_to(values[:1], nnz) if words is None else moving
    keys, rows = (short_keys if block else keys), (short_rows if segment else rows)
    return Sorted(keys, rows, result, counts, first_tile, passes)


def turned(indptr: Array, indices: Array, values: Array, ncols: int) -> tuple[Array, Array, Array]:
    """Returns indptr, indices and values of the other orientation."""
    cp = cupy()
    starts = cp.zeros(ncols + 1, indptr.dtype) if indices.size == 0 else cp.empty(ncols + 1, indptr.dtype)
    if indices.size == 0:
        return starts, indices[:0].copy(), values[:0].copy()
    by_column = sort_columns(indptr, indices, values, ncols)
    k = steps_for(RADIX, index_of(indptr, indices), values.dtype.itemsize)
    tiles, shift = -(-indices.size // SORTED), by_column.passes.last_shift
    places = (np.int32(shift), by_column.before, np.int64(tiles))
    k.loop("cut_sorted", ncols + 1, (by_column.keys, np.int64(ncols), *places, starts))
    return starts, by_column.rows, by_column.values


def blocked(A: CSR, segment: int, block: int = 0) -> tuple[Array, Array, Array, Array] | None:
    """Sorts `A` by segments of rows, in each by column, then by row: rows within segments, columns, values, starts.

    block: columns are numbers within blocks of so many, a power of two, and `starts` is where blocks begin; else where
    segments do.  None where segments are so short that their counts would outnumber the entries, or blocks so narrow
    that the last digit does not tell them.
    """
    cp, nnz = cupy(), A.nnz
    passes, segments = Passes.of(A.ncols), -(-A.nrows // segment)
    tiles = -(-nnz // SORTED) + segments
    if nnz == 0 or tiles << passes.bits > 2 * nnz or (block and block >> passes.last_shift == 0):
        return None
    rows = cp.minimum(cp.arange(segments + 1, dtype=np.int64) * segment, A.nrows)
    starts = A.indptr.take(rows)
    by_segment = sort_columns(A.indptr, A.indices, A.values, A.ncols, starts=starts, segment=segment, block=block)
    if block:
        blocks = -(-A.ncols // block)
        segment_starts, starts = starts, cp.empty(segments * blocks + 1, starts.dtype)
        k = steps_for(RADIX, types_of(A), A.dtype.itemsize)
        digits = block >> passes.last_shift
        extents = (np.int64(segments), np.int64(blocks), np.int64(digits), np.int32(1 << passes.bits))
        arguments = (segment_starts, by_segment.first_tile, *extents, by_segment.before, starts)
        k.loop("cut_blocks", starts.size, arguments)
    return by_segment.rows, by_segment.keys, by_segment.values, starts
