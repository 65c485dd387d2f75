"""Entries in any order, put into rows by compiled loops; of those in one place the least value stays.

Three steps, all of them stable. Entries are dealt out to blocks of consecutive rows, so few that writing to all of them
at once stays in the caches. A block has some 2^14 entries, unless rows are long, and is sorted where it lies in the
cache: by column and row, digit by digit, from the lowest digit up [1]. Then equal neighbours become one.

[1] D. E. Knuth, The Art of Computer Programming, volume 3, section 5.2.5, 1973: radix sort.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array
from .hooks import machine_code

BLOCK_BITS = 14
"""Of the number of entries in a block: 16 bytes each, twice, are half of an L2 cache of a MiB."""
MOST_BLOCKS_BITS = 11
DIGIT_BITS = 11
KEY_BITS = 63


def sorted_by_rows(
    src: Array, dst: Array, values: Array, shape: tuple[int, int], both_ways: bool = False
) -> tuple[Array, Array, Array]:
    """(indptr, indices, values) of the rows, of entries in any order; of those in one place the least value stays.

    src, dst: (m,), of one index type, which has room for all.  both_ways: with the reverse of every entry that lies
    off the diagonal, for a square shape.
    """
    row_bits, column_bits = (max(extent - 1, 0).bit_length() for extent in shape)
    most = src.size * (1 + both_ways)
    block_bits = min(max(most.bit_length() - BLOCK_BITS, 0), MOST_BLOCKS_BITS)
    shift = max(0, min(row_bits - block_bits, KEY_BITS - column_bits))
    ends = np.zeros((max(shape[0] - 1, 0) >> shift) + 2, np.int64)
    keys, dealt = np.empty(most, np.int64), np.empty(most, values.dtype)
    machine_code(deal)(src, dst, values, both_ways, shift, column_bits, ends, keys, dealt)

    total, longest = int(ends[-1]), int(np.diff(ends, prepend=0).max())
    digits = max(1, -(-(shift + column_bits) // DIGIT_BITS))
    digit_bits = -(-(shift + column_bits) // digits)
    scratch = np.empty(longest, np.int64), np.empty(longest, values.dtype), np.empty(1 << digit_bits, np.int64)
    indptr, indices = np.zeros(shape[0] + 1, src.dtype), np.empty(total, src.dtype)
    found = machine_code(sort_blocks)(
        *(ends, keys, dealt, shift, column_bits, digits, digit_bits, *scratch, indptr, indices)
    )
    for entries in (indices, dealt):
        entries.resize(found, refcheck=False)  # without a copy
    return indptr, indices, dealt


def deal(src, dst, values, both_ways, shift, column_bits, ends, keys, dealt):
    """Deal entries out to blocks of 2^shift rows, as keys of row within the block and column; ends[b]: of block b.

    ends: zeros, one more than blocks; the last becomes the number of entries.
    """
    last = ends.size - 1
    for e in range(src.size):
        ends[src[e] >> shift] += 1
        if both_ways and src[e] != dst[e]:
            ends[dst[e] >> shift] += 1
    total = 0
    for block in range(last):
        total, ends[block] = total + ends[block], total
    ends[last] = total
    within = (1 << shift) - 1
    for e in range(src.size):
        row, column, value = np.int64(src[e]), np.int64(dst[e]), values[e]
        at = ends[row >> shift]
        ends[row >> shift] = at + 1
        keys[at], dealt[at] = (row & within) << column_bits | column, value
        if both_ways and row != column:
            at = ends[column >> shift]
            ends[column >> shift] = at + 1
            keys[at], dealt[at] = (column & within) << column_bits | row, value


def sort_blocks(
    # fmt: off
    ends,
    keys,
    values,
    shift,
    column_bits,
    digits,
    digit_bits,
    other_keys,
    other_values,
    counts,
    indptr,
    indices,
    # fmt: on
):
    """Sort each block by its keys and write its rows; the number of entries, equal places being one.

    ends to column_bits: see `deal`.  digits, of so many bits: together a key.  other_keys, other_values: room for the
    longest block.  counts: room for a digit's values.  indptr: zeros; it, indices and values become the rows'.
    """
    found, start = 0, 0
    for block in range(ends.size - 1):
        size = ends[block] - start
        from_keys, from_values = keys[start : start + size], values[start : start + size]
        to_keys, to_values = other_keys[:size], other_values[:size]
        for digit in range(digits):
            down = digit * digit_bits
            counts[:] = 0
            for k in range(size):
                counts[(from_keys[k] >> down) & (counts.size - 1)] += 1
            total = 0
            for value in range(counts.size):
                total, counts[value] = total + counts[value], total
            for k in range(size):
                value = (from_keys[k] >> down) & (counts.size - 1)
                at = counts[value]
                counts[value] = at + 1
                to_keys[at], to_values[at] = from_keys[k], from_values[k]
            from_keys, to_keys = to_keys, from_keys
            from_values, to_values = to_values, from_values
        last, first_row = -1, (block << shift) + 1
        for k in range(size):
            key = from_keys[k]
            if key != last:
                indices[found], values[found] = key & ((1 << column_bits) - 1), from_values[k]
                indptr[first_row + (key >> column_bits)] += 1
                found += 1
                last = key
            elif from_values[k] < values[found - 1]:
                values[found - 1] = from_values[k]
        start += size
    for row in range(1, indptr.size):
        indptr[row] += indptr[row - 1]
    return found
