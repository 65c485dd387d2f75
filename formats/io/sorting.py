"""Entries in any order, put into rows by compiled loops; of those in one place the least value stays.

Three steps, all of them stable. Entries are dealt out to blocks of consecutive rows, few enough for a processor to
write to all of them at once. Each block is sorted by column and row, digit by digit, from the lowest digit up [1]. Then
equal neighbours become one.

An entry is one word of 64 bits: its row within the block, its column, and what tells its value. That is a value of 32
bits itself, or else its place among values that are dealt out likewise, so that they are fetched from near by. Where
the word has no room, the place lies in an array beside the words.

[1] D. E. Knuth, The Art of Computer Programming, volume 3, section 5.2.5, 1973: radix sort.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..hooks import machine_code

BLOCK_BITS, LONG_BLOCK_BITS = 16, 19
"""Numbers of entries in a block: 8 bytes each, twice, are a MiB, or 8 where there would be too many blocks."""
FEW_BLOCKS_BITS, MOST_BLOCKS_BITS = 6, 11
"""To write to many more blocks takes far longer, for want of addresses of pages at hand."""
DIGIT_BITS = 8
WORD_BITS, VALUE_BITS = 64, 32


def sorted_by_rows(
    src: Array, dst: Array, values: Array, shape: tuple[int, int], both_ways: bool = False
) -> tuple[Array, Array, Array]:
    """Returns rows (indptr, indices, values) of entries in any order; of equal places the least value stays.

    src, dst: (m,), of one index type, which has room for all.  values: (m,), or (0,) for entries without; then none
    come back.  both_ways: with the reverse of every entry that lies off the diagonal, for a square shape.
    """
    row_bits, column_bits = (max(extent - 1, 0).bit_length() for extent in shape)
    most, weighted, none = src.size * (1 + both_ways), values.size > 0, np.empty(0, np.uint32)
    size_bits = most.bit_length()
    few = min(max(size_bits - BLOCK_BITS, 0), FEW_BLOCKS_BITS)
    block_bits = min(max(few, size_bits - LONG_BLOCK_BITS), MOST_BLOCKS_BITS, row_bits)
    most_bits = WORD_BITS - column_bits - row_bits + min(MOST_BLOCKS_BITS, row_bits)  # beside row and column
    in_words = weighted and values.itemsize * 8 == VALUE_BITS <= most_bits
    value_bits = VALUE_BITS if in_words else size_bits if weighted and size_bits <= most_bits else 0
    block_bits = max(block_bits, value_bits + column_bits + row_bits - WORD_BITS)
    shift = row_bits - block_bits

    starts = np.zeros((max(shape[0] - 1, 0) >> shift) + 2, np.uint64)
    machine_code(find_blocks)(src, dst, both_ways, shift, starts)
    dealt = np.empty(most if weighted and not in_words else 0, values.dtype)
    if dealt.size:
        machine_code(deal_values)(src, dst, values, both_ways, shift, starts.copy(), dealt)
    words, places = np.empty(most, np.uint64), np.empty(most if weighted and value_bits == 0 else 0, src.dtype)
    ends, bits = starts, values.view(np.uint32) if in_words else none
    layout = ends, shift, column_bits, value_bits
    machine_code(deal)(src, dst, bits, both_ways, layout, words, places)
    total, longest = int(ends[-1]), int(np.diff(ends.astype(np.int64), prepend=0).max())
    digits = max(1, -(-(shift + column_bits) // DIGIT_BITS))
    counts = np.empty((digits, 1 << -(-(shift + column_bits) // digits)), np.uint64)
    scratch = np.empty(longest, np.uint64), np.empty(min(longest, places.size), src.dtype), counts
    indptr, indices = np.zeros(shape[0] + 1, src.dtype), np.empty(total, src.dtype)
    kept = np.empty(total if weighted else 0, values.dtype)
    of_kept = dealt, kept, kept.view(np.uint32) if in_words else none
    sort = machine_code(sort_blocks)
    found = int(sort(layout, words, places, scratch, of_kept, indptr, indices))
    for array in (indices, kept):
        array.resize(min(array.size, found), refcheck=False)  # without a copy
    return indptr, indices, kept


def in_order(src, dst):
    """True if every entry but the first comes strictly after the one before."""
    for e in range(1, src.size):
        if src[e] < src[e - 1] or (src[e] == src[e - 1] and dst[e] <= dst[e - 1]):
            return False
    return True


def find_blocks(src, dst, both_ways, shift, starts):
    """Find where each block of 2^shift rows starts among all entries. starts: zeros, one more than blocks."""
    for e in range(src.size):
        starts[np.uint64(src[e]) >> np.uint64(shift)] += np.uint64(1)
        if both_ways and src[e] != dst[e]:
            starts[np.uint64(dst[e]) >> np.uint64(shift)] += np.uint64(1)
    total = np.uint64(0)
    for block in range(starts.size):
        total, starts[block] = total + starts[block], total


def deal_values(src, dst, values, both_ways, shift, ends, dealt):
    """Deal the values out to blocks of 2^shift rows. ends: where these start; what it becomes is where they end."""
    for e in range(src.size):
        row, column = np.uint64(src[e]), np.uint64(dst[e])
        for _ in range(2):
            at = ends[row >> np.uint64(shift)]
            ends[row >> np.uint64(shift)] = at + np.uint64(1)
            dealt[at] = values[e]
            if not both_ways or row == column:
                break
            row, column = column, row


def deal(src, dst, bits, both_ways, layout, words, places):
    """Deal entries out to blocks of 2^shift rows, as words of row within the block, column and what tells the value.

    bits: the values, if these go into the words; else their places in `dealt` do, or into `places`, if there is room.
    layout: ends, as for `deal_values`, shift, and the bits of a column and of what tells the value.
    """
    ends, shift, column_bits, value_bits = layout
    within = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    for e in range(src.size):
        row, column = np.uint64(src[e]), np.uint64(dst[e])
        for _ in range(2):
            at = ends[row >> np.uint64(shift)]
            ends[row >> np.uint64(shift)] = at + np.uint64(1)
            value = np.uint64(bits[e]) if bits.size else at if value_bits else np.uint64(0)
            words[at] = ((row & within) << np.uint64(column_bits) | column) << np.uint64(value_bits) | value
            if places.size:
                places[at] = at
            if not both_ways or row == column:
                break
            row, column = column, row


def sort_blocks(layout, words, places, scratch, values, indptr, indices):
    """Sort each block by its rows and columns and write its rows; the number of entries, equal places being one.

    layout, words, places: see `deal`.  scratch: room for the longest block's words and places, and counts, (digits,
    values of a digit).  values: (dealt, kept, kept_bits), the values by place, unless `kept_bits`, the memory of
    `kept`, takes them from words.  indptr: zeros; it, indices and kept become the rows'.
    """
    ends, shift, column_bits, value_bits = layout
    (other_words, other_places, counts), (dealt, kept, kept_bits) = scratch, values
    found, start = np.uint64(0), np.uint64(0)
    low_column = (np.uint64(1) << np.uint64(column_bits)) - np.uint64(1)
    low_value = (np.uint64(1) << np.uint64(value_bits)) - np.uint64(1)
    for block in range(ends.size - 1):
        size, first_row = ends[block] - start, np.uint64((block << shift) + 1)
        some, others = words[start : ends[block]], places[start : ends[block]]
        some, others = sort_block(some, others, value_bits, other_words[:size], other_places[:size], counts)
        last = ~np.uint64(0)
        for k in range(size):
            key, place = some[k] >> np.uint64(value_bits), some[k] & low_value
            if others.size:
                place = np.uint64(others[k])
            if key != last:
                indices[found] = key & low_column
                if kept_bits.size:
                    kept_bits[found] = place
                elif kept.size:
                    kept[found] = dealt[place]
                found += np.uint64(1)
                indptr[first_row + (key >> np.uint64(column_bits))] = found
                last = key
            elif kept.size:
                before, at = kept[found - np.uint64(1)], found - np.uint64(1)
                if kept_bits.size:
                    kept_bits[at] = place
                else:
                    kept[at] = dealt[place]
                if not kept[at] < before:
                    kept[at] = before
        start = ends[block]
    for row in range(1, indptr.size):
        indptr[row] = max(indptr[row], indptr[row - 1])
    return found


def sort_block(words, places, value_bits, other_words, other_places, counts):
    """Sorts (words, places) by what words hold above `value_bits`, here or in the other memory."""
    counts[:] = 0
    digits, digit_bits = counts.shape[0], np.uint64(0)
    while (1 << digit_bits) < counts.shape[1]:
        digit_bits += np.uint64(1)
    mask = np.uint64(counts.shape[1] - 1)
    for k in range(words.size):
        key = words[k] >> np.uint64(value_bits)
        for digit in range(digits):
            counts[digit, key & mask] += np.uint64(1)
            key >>= digit_bits
    for digit in range(digits):
        starts, total = counts[digit], np.uint64(0)
        for value in range(starts.size):
            total, starts[value] = total + starts[value], total
        down = np.uint64(value_bits) + np.uint64(digit) * digit_bits
        for k in range(words.size):
            word = words[k]
            value = (word >> down) & mask
            at = starts[value]
            starts[value] = at + np.uint64(1)
            other_words[at] = word
            if places.size:
                other_places[at] = places[k]
        words, other_words = other_words, words
        places, other_places = other_places, places
    return words, places
