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

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from ..arrays import Array, shortened
from ..hooks import machine_code, side_by_side, threads
from .compressed import index_types
from .pieces import ranges

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


def sorted_by_rows(
    src: Array,
    dst: Array,
    values: Array,
    shape: tuple[int, int],
    both_ways: bool = False,
    dup: str = "min",
    at_once: int | None = None,
    room: Callable[[int], None] = lambda needed: None,
) -> tuple[Array, Array, Array]:
    """Returns rows (indptr, indices, values) of entries in any order, those of one place combined in their order.

    src, dst: (m,), integers within the shape.  values: (m,), or (0,) for entries without; then none come back.
    both_ways: with the reverse of every entry that lies off the diagonal, for a square shape.  dup: see `from_edges`.
    at_once: entries that are sorted at once, about, by default all; the fewer, the less memory.  room: is told the
    bytes that it takes, its result among them.
    """
    row_bits, column_bits = (max(extent - 1, 0).bit_length() for extent in shape)
    most, weighted = src.size * (1 + both_ways), values.size > 0
    size_bits = most.bit_length()
    few = FEW_BLOCKS_BITS if at_once else min(max(size_bits - BLOCK_BITS, 0), FEW_BLOCKS_BITS)
    block_bits = min(max(few, size_bits - LONG_BLOCK_BITS), MOST_BLOCKS_BITS, row_bits)
    most_bits = WORD_BITS - column_bits - row_bits + min(MOST_BLOCKS_BITS, row_bits)  # beside row and column
    in_words = weighted and values.itemsize * 8 == VALUE_BITS <= most_bits
    value_bits = VALUE_BITS if in_words else size_bits if weighted and size_bits <= most_bits else 0
    block_bits = max(block_bits, value_bits + column_bits + row_bits - WORD_BITS)
    layout = np.array((row_bits - block_bits, column_bits, value_bits, both_ways), np.uint64)
    count, pieces = machine_code(count_in_blocks), max(1, min(MAX_PARTS, src.size // ENTRIES_PER_PART))
    cuts = [src.size * k // pieces for k in range(pieces + 1)]
    counts = np.zeros((pieces, (max(shape[0] - 1, 0) >> row_bits - block_bits) + 1), np.uint64)
    side_by_side(lambda k: count((src, dst), cuts[k], cuts[k + 1], layout, counts[k]), pieces)
    begins = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts.sum(axis=0), dtype=np.int64)))
    groups = list(ranges(begins, at_once or most))

    of_indptr, index_type = index_types(shape, most)
    entry, word = index_type.itemsize + values.itemsize, WORD_BITS // 8 + (not in_words) * values.itemsize
    some = max((end - begin for *_, begin, end in groups), default=0)
    blocks = min(threads() * int(np.diff(begins).max()), some) * WORD_BITS // 8
    result = 2 * (shape[0] + 1) * of_indptr.itemsize + int(begins[-1]) * entry
    room(result + some * (word + entry * (len(groups) > 1)) + blocks + 8 * counts.nbytes + (threads() << 15))
    indptr, upto = np.zeros(shape[0] + 1, of_indptr), 0
    made = [np.empty(int(begins[-1]) if len(groups) > 1 else 0, dtype) for dtype in (index_type, values.dtype)]
    for first, last, *_ in groups:
        entries = _dealt_out((src, dst), values, layout, cuts, first, counts[:, first:last], in_words)
        own = begins[first : last + 1] - begins[first]
        found, *parts = _sorted_blocks(entries, layout, first, own, dup, indptr, made)
        del entries
        if len(groups) == 1:
            made = parts if found[-1] == own[-1] else [np.empty(found[-1], part.dtype) for part in parts]
        for whole, part in zip(made, parts, strict=True):
            if whole is not part and part.size:
                _pack(part, own, found, whole[upto:])
        upto += int(found[-1])
        del part, parts
    np.cumsum(indptr, out=indptr)
    return indptr, shortened(made[0], upto), shortened(made[1], upto if weighted else 0)


def _dealt_out(
    edges: tuple[Array, Array], values: Array, layout: Array, cuts: list[int], first: int, counts: Array, in_words: bool
) -> tuple[Array, ...]:
    """Returns (words, places, values not in words) of the blocks from the first one on; counts: by part and block."""
    ends = np.cumsum(counts.T, dtype=np.uint64).reshape(counts.T.shape).T
    starts, total = np.ascontiguousarray(ends - counts), int(ends[-1, -1])
    others = values[: 0 if in_words else values.size]
    words, dealt = np.empty(total, np.uint64), np.empty(total if others.size else 0, values.dtype)
    places = np.empty(total if values.size and layout[2] == 0 else 0, np.int64)
    into = layout, values.view(np.uint32) if in_words else np.empty(0, np.uint32), others, dealt, words, places
    move = machine_code(deal)
    side_by_side(lambda k: move(edges, cuts[k], cuts[k + 1], first, starts[k], into), len(cuts) - 1)
    return words, places, dealt


def _sorted_blocks(
    entries: tuple[Array, ...],
    layout: Array,
    first_block: int,
    begins: Array,
    dup: str,
    indptr: Array,
    made: list[Array],
) -> tuple[Array, Array, Array]:
    """Returns (entries up to each block's end, indices, values), with gaps, and writes each row's number behind it."""
    (shift, column_bits, *_), (words, places, dealt), total = map(int, layout), entries, int(begins[-1])
    in_words = layout[2] == VALUE_BITS and not dealt.size
    weighted = total if in_words or dealt.size else 0
    indices, kept = np.empty(total, made[0].dtype), np.empty(weighted, made[1].dtype)
    of_kept = dealt, kept, kept.view(np.uint32) if in_words else np.empty(0, np.uint32)
    way = MAX if dup == "sum" and kept.dtype == bool else WAYS[dup] + (dup == "sum" and kept.dtype.kind == "f")
    digits = max(1, -(-(shift + column_bits) // DIGIT_BITS))
    counts = digits, 1 << -(-(shift + column_bits) // digits)
    found, wrong = np.zeros(begins.size, np.int64), np.full(begins.size - 1, -1)
    sort, most = machine_code(sort_rows_of_block), int(np.diff(begins).max(initial=0))
    rooms = list[tuple[Array, ...]]()  # of threads that have sorted a block: to map and unmap memory stops all of them

    def sort_one(k: int) -> None:
        own, row = slice(*begins[k : k + 2].tolist()), first_block + k << shift
        try:
            room = rooms.pop()
        except IndexError:
            room = (
                np.empty(most, words.dtype),
                np.empty(most if places.size else 0, places.dtype),
                np.empty(counts, np.uint64),
            )
        size = own.stop - own.start
        some = words[own], places[own], room[0][:size], room[1][:size], room[2]
        found[k + 1], wrong[k] = sort(some, layout, row, own.start, of_kept, way, indptr, indices)
        rooms.append(room)

    side_by_side(sort_one, begins.size - 1)
    bad = int((wrong >= 0).argmax())
    if dup == "error" and wrong[bad] >= 0:
        row = first_block + bad << shift
        row += int(
            np.searchsorted(np.cumsum(indptr[row + 1 : row + 1 + (1 << shift)]), wrong[bad] - begins[bad], "right")
        )
        raise ValueError(f"edge ({row}, {indices[wrong[bad]]}) is given more than once")
    if dup == "sum" and wrong[bad] >= 0:
        refuse_sum(kept.dtype)
    return np.cumsum(found), indices, kept


def refuse_sum(dtype: np.dtype) -> NoReturn:
    """ValueError or OverflowError that says what is wrong with a sum of values."""
    if dtype.kind == "f":
        raise ValueError("the sum of duplicate edges must not be NaN, as that of inf and -inf is")
    raise OverflowError(f"the sum of duplicate edges does not fit {dtype}; pass dtype='float64'")


def _pack(array: Array, begins: Array, ends: Array, packed: Array) -> None:
    """Copy the entries of each block, without the gaps between them."""
    counts = np.diff(ends)
    parts = [(packed[i : i + size], array[j : j + size]) for i, j, size in zip(ends, begins, counts, strict=False)]
    side_by_side(lambda k: np.copyto(*parts[k]), len(parts))


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


def deal(edges, first, stop, first_block, starts, into):
    """Deal entries out to some blocks of rows, as words of row within the block, column and what tells the value.

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
            block = (row >> shift) - np.uint64(first_block)
            if block < np.uint64(starts.size):
                at = starts[block]
                starts[block] = at + np.uint64(1)
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
