"""Entries in any order, put into rows by compiled loops; those in one place combine.

Three steps, all of them stable. Entries are dealt out to blocks of consecutive rows, few enough for a processor to
write to all of them at once. Each block is sorted by column and row, digit by digit, from the lowest digit up [1]. Then
equal neighbours become one. Threads deal out a part of the entries each, and sort a block each.

An entry is one word of 64 bits: its row within the block, its column, and what tells its value. That is a value of 32
bits itself, or else its place among values that are dealt out likewise, so that they are fetched from near by. Where
the word has no room, the place lies in an array beside the words.

[1] D. E. Knuth, The Art of Computer Programming, volume 3, section 5.2.5, 1973: radix sort.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from ..arrays import Array
from ..hooks import machine_code, side_by_side, threads
from .compressed import index_types

BLOCK_BITS, LONG_BLOCK_BITS = 16, 19
"""Numbers of entries in a block: 8 bytes each, twice, are a MiB, or 8 where there would be too many blocks."""
FEW_BLOCKS_BITS, MOST_BLOCKS_BITS = 9, 11
"""To write to many more blocks takes far longer, for want of addresses of pages at hand."""
DIGIT_BITS = 8
WORD_BITS, VALUE_BITS = 64, 32
ENTRIES_PER_PART, MAX_PARTS = 1 << 18, 64
"""Entries that a thread deals out at a time, and how many times there are at most."""
MIN, MAX, FIRST, LAST, SUM, SUM_OF_REALS = range(6)
WAYS = {"min": MIN, "max": MAX, "first": FIRST, "last": LAST, "sum": SUM, "error": FIRST}
"""How entries in one place combine."""


def fits_words(shape: tuple[int, int]) -> bool:
    """True if a word has room for the column of an entry and its row within a block."""
    row_bits, column_bits = (max(extent - 1, 0).bit_length() for extent in shape)
    return column_bits + max(row_bits - MOST_BLOCKS_BITS, 0) <= WORD_BITS


def sorting_nbytes(shape: tuple[int, int], size: int, itemsize: int) -> int:
    """Bytes that `sorted_by_rows` takes for so many entries, with its result."""
    of_indptr, index_type = index_types(shape, size)
    dealt = 0 if itemsize * 8 == VALUE_BITS else itemsize
    entry = WORD_BITS // 8 + index_type.itemsize + itemsize + dealt
    block = 1 << max(BLOCK_BITS, size.bit_length() - FEW_BLOCKS_BITS)  # of which each thread sorts one
    return size * entry + WORD_BITS // 8 * min(size, threads() * block) + 2 * (shape[0] + 1) * of_indptr.itemsize


def sorted_by_rows(
    src: Array, dst: Array, values: Array, shape: tuple[int, int], both_ways: bool = False, dup: str = "min"
) -> tuple[Array, Array, Array]:
    """Returns rows (indptr, indices, values) of entries in any order, those of one place combined in their order.

    src, dst: (m,), integers within the shape.  values: (m,), or (0,) for entries without; then none come back.
    both_ways: with the reverse of every entry that lies off the diagonal, for a square shape.  dup: see `from_edges`.
    """
    row_bits, column_bits = (max(extent - 1, 0).bit_length() for extent in shape)
    most, weighted = src.size * (1 + both_ways), values.size > 0
    size_bits = most.bit_length()
    few = min(max(size_bits - BLOCK_BITS, 0), FEW_BLOCKS_BITS)
    block_bits = min(max(few, size_bits - LONG_BLOCK_BITS), MOST_BLOCKS_BITS, row_bits)
    most_bits = WORD_BITS - column_bits - row_bits + min(MOST_BLOCKS_BITS, row_bits)  # beside row and column
    in_words = weighted and values.itemsize * 8 == VALUE_BITS <= most_bits
    value_bits = VALUE_BITS if in_words else size_bits if weighted and size_bits <= most_bits else 0
    block_bits = max(block_bits, value_bits + column_bits + row_bits - WORD_BITS)
    shift = row_bits - block_bits
    layout = np.array((shift, column_bits, value_bits, both_ways), np.uint64)
    way = MAX if dup == "sum" and values.dtype == bool else WAYS[dup] + (dup == "sum" and values.dtype.kind == "f")

    of_indptr, index_type = index_types(shape, most)
    entries, begins = _dealt_out((src, dst), values, layout, (shape[0], of_indptr), in_words)
    indptr, indices = np.zeros(shape[0] + 1, of_indptr), np.empty(begins[-1], index_type)
    kept = np.empty(begins[-1] if weighted else 0, values.dtype)
    of_kept = entries[2], kept, kept.view(np.uint32) if in_words else np.empty(0, np.uint32)
    digits = max(1, -(-(shift + column_bits) // DIGIT_BITS))
    counts = digits, 1 << -(-(shift + column_bits) // digits)
    found, wrong = np.zeros(len(begins), np.int64), np.full(len(begins) - 1, -1)
    sort = machine_code(sort_rows_of_block)

    def sort_one(k: int) -> None:
        first, stop = begins[k : k + 2]
        words, places = (part[first:stop] for part in entries[:2])
        some = words, places, np.empty_like(words), np.empty_like(places), np.empty(counts, np.uint64)
        found[k + 1], wrong[k] = sort(some, layout, k << shift, first, of_kept, way, indptr, indices)

    side_by_side(sort_one, len(begins) - 1)
    entries, of_kept = (), ()
    np.cumsum(indptr, out=indptr)
    if dup == "error" and (wrong >= 0).any():
        block = int((wrong >= 0).argmax())
        row = int(np.searchsorted(indptr, found[: block + 1].sum() + wrong[block] - begins[block], "right")) - 1
        raise ValueError(f"edge ({row}, {indices[wrong[block]]}) is given more than once")
    if dup == "sum" and (wrong >= 0).any():
        refuse_sum(values.dtype)
    return indptr, *(_without_gaps(array, begins, found) for array in (indices, kept))


def _dealt_out(
    edges: tuple[Array, Array], values: Array, layout: Array, rows: tuple[int, np.dtype], in_words: bool
) -> tuple[tuple[Array, ...], list[int]]:
    """Returns (words, places, values that are not in words) by blocks of rows, and where each block begins."""
    size, (nrows, of_indptr), (count, move) = edges[0].size, rows, map(machine_code, (count_in_blocks, deal))
    parts = max(1, min(MAX_PARTS, size // ENTRIES_PER_PART))
    cuts = [size * k // parts for k in range(parts + 1)]
    counts = np.zeros((parts, (max(nrows - 1, 0) >> int(layout[0])) + 1), np.uint64)
    side_by_side(lambda k: count(edges, cuts[k], cuts[k + 1], layout, counts[k]), parts)
    ends = np.cumsum(counts.T, dtype=np.uint64).reshape(counts.T.shape).T
    starts, begins = np.ascontiguousarray(ends - counts), [0, *ends[-1].tolist()]
    others = values[: 0 if in_words else values.size]
    words, dealt = np.empty(begins[-1], np.uint64), np.empty(begins[-1] if others.size else 0, values.dtype)
    places = np.empty(begins[-1] if values.size and layout[2] == 0 else 0, of_indptr)
    into = layout, values.view(np.uint32) if in_words else np.empty(0, np.uint32), others, dealt, words, places
    side_by_side(lambda k: move(edges, cuts[k], cuts[k + 1], starts[k], into), parts)
    return (words, places, dealt), begins


def refuse_sum(dtype: np.dtype) -> NoReturn:
    """ValueError or OverflowError that says what is wrong with a sum of values."""
    if dtype.kind == "f":
        raise ValueError("the sum of duplicate edges must not be NaN, as that of inf and -inf is")
    raise OverflowError(f"the sum of duplicate edges does not fit {dtype}; pass dtype='float64'")


def _without_gaps(array: Array, begins: list[int], found: Array) -> Array:
    """The first entries of every block, as many as were found."""
    ends = np.cumsum(found)
    if ends[-1] >= array.size:
        return array
    packed = np.empty(int(ends[-1]), array.dtype)

    def move(k: int) -> None:
        packed[ends[k] : ends[k + 1]] = array[begins[k] : begins[k] + found[k + 1]]

    side_by_side(move, len(begins) - 1)
    return packed


def in_order(src, dst):
    """True if every entry but the first comes strictly after the one before."""
    for e in range(1, src.size):
        if src[e] < src[e - 1] or (src[e] == src[e - 1] and dst[e] <= dst[e - 1]):
            return False
    return True


def count_in_blocks(edges, first, stop, layout, counts):
    """Count the entries of each block of rows."""
    (src, dst), shift, both_ways = edges, layout[0], layout[3] != 0
    for e in range(first, stop):
        counts[np.uint64(src[e]) >> shift] += np.uint64(1)
        if both_ways and src[e] != dst[e]:
            counts[np.uint64(dst[e]) >> shift] += np.uint64(1)


def deal(edges, first, stop, starts, into):
    """Deal entries out to blocks of rows, as words of row within the block, column and what tells the value.

    starts: where the next entry of each block goes.  into: layout (the bits of a row within the block, of a column and
    of what tells the value; both ways); the values that go into words; others, and where these go, to which words lead,
    or else places; words; places.
    """
    (src, dst), (layout, bits, values, dealt, words, places) = edges, into
    shift, column_bits, value_bits, both_ways = layout[0], layout[1], layout[2], layout[3] != 0
    within = (np.uint64(1) << shift) - np.uint64(1)
    for e in range(first, stop):
        row, column = np.uint64(src[e]), np.uint64(dst[e])
        for _ in range(2):
            at = starts[row >> shift]
            starts[row >> shift] = at + np.uint64(1)
            value = np.uint64(bits[e]) if bits.size else at if value_bits else np.uint64(0)
            words[at] = ((row & within) << column_bits | column) << value_bits | value
            if values.size:
                dealt[at] = values[e]
            if places.size:
                places[at] = at
            if not both_ways or row == column:
                break
            row, column = column, row


def sort_rows_of_block(entries, layout, first_row, first, values, way, indptr, indices):
    """Sort a block by rows and columns and write it; (the number of entries, equal places being one; what is wrong).

    entries: words and places, see `deal`, room for others, and counts, (digits, values of a digit).  values: (dealt,
    kept, kept_bits), the values by place, unless `kept_bits`, the memory of `kept`, takes them from words.  indptr:
    zeros; behind each row, it becomes the number of its entries.  indices and kept: written from `first` on.  Wrong is
    a sum out of range, or else, where the first one stays, that another one is there: the place of one of them, or -1.
    """
    (words, places, other_words, other_places, counts), (dealt, kept, kept_bits) = entries, values
    column_bits, value_bits, found, wrong, exact = layout[1], layout[2], np.uint64(first), np.int64(-1), 0.0
    low_column, off = (np.uint64(1) << column_bits) - np.uint64(1), False
    low_value, last = (np.uint64(1) << value_bits) - np.uint64(1), ~np.uint64(0)
    words, places = sort_block(words, places, value_bits, other_words, other_places, counts)
    for k in range(words.size):
        key, place = words[k] >> value_bits, words[k] & low_value
        if places.size:
            place = np.uint64(places[k])
        if key != last or k == 0:
            if off:
                wrong, off = np.int64(found) - 1, False
            indices[found] = key & low_column
            if kept_bits.size:
                kept_bits[found] = place
            elif kept.size:
                kept[found] = dealt[place]
            if way >= SUM:
                exact = 0.0 + kept[found]
            found += np.uint64(1)
            indptr[np.uint64(first_row + 1) + (key >> column_bits)] += 1
            last = key
            continue
        at = found - np.uint64(1)
        if way == FIRST:
            wrong = np.int64(at) if wrong < 0 else wrong
        elif kept.size:
            before = kept[at]
            if kept_bits.size:
                kept_bits[at] = place
            else:
                kept[at] = dealt[place]
            if way >= SUM:
                exact += kept[at]
                kept[at] = before + kept[at]
                off = kept[at] != kept[at] if way == SUM_OF_REALS else abs(exact - kept[at]) > 1 + 1e-9 * abs(exact)
            elif (way == MIN and not kept[at] < before) or (way == MAX and not kept[at] > before):
                kept[at] = before
    return np.int64(found) - first, np.int64(found) - 1 if off else wrong


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
