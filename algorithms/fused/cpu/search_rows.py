"""Rows of levels and of parents, one for each of up to 64 searches, from the digits that levels are counted in.

A vertex has a word for each binary digit of level + 1, with the digit of each search. The parent of v is the first u
whose numbers are those of v less one, digit by digit: each column is gone through once for all searches.

Levels are written row after row, for a new array costs the least where it is written in order: each large page is
cleared when it is written to first, and is still in a cache then. So before, the words of 64 vertices turn: to a word
for each search, with a bit for each vertex [1].

[1] H. S. Warren, Hacker's Delight, 2nd edition, 2013, section 7-3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.cpu.atomics import prefetched
from semiring.cpu.compiler.references import operation, tools
from semiring.cpu.dealing import deal, dealt
from semiring.cpu.kernels import inlined
from semiring.cpu.lanes import across

from .words import lowest_bit

SEARCHES = 64
"""Number of searches in a word."""

DIGITS, WIDTH = 4, 16
"""Numbers of digits of levels, and of vertices, that are written at once."""

TILE, LINE = 512, 32
"""Number of vertices whose words turn at once, and of numbers of WIDTH bits that a search's digit takes of them."""

PART_VERTICES = 1 << 19
"""Number of vertices whose levels a thread writes at a time."""

GRAIN_VERTICES = 128
"""Number of vertices whose parents a thread writes at a time."""

EDGES_AHEAD = np.uintp(16)
"""Entries between one and that whose vertex is prefetched."""

TILES_AHEAD = 4
"""Tiles between one and that whose words are prefetched."""


def levels_of(digits: np.ndarray, levels: np.ndarray, threads: int) -> None:
    """Write the levels, -1 where a search has none. The digits turn in place, and are of no use afterwards."""
    deal(_turn, len(digits) // TILE, 1, threads, digits)
    words, bits = digits.reshape(-1).view(np.uint16), np.uint32(1) << np.arange(WIDTH, dtype=np.uint32)
    pieces = len(levels) * -(-levels.shape[1] // PART_VERTICES)
    deal(_write_levels, pieces, 1, threads, words, digits.shape[1], levels, bits)


def parents_of(digits: np.ndarray, columns: Any, parents: np.ndarray, threads: int) -> None:
    """Write the parents, the smallest predecessors one level nearer, -1 for none."""
    deal(
        _write_parents,
        parents.shape[1],
        GRAIN_VERTICES,
        threads,
        digits,
        (columns.indptr, columns.indices),
        parents,
    )


@inlined
def count_level(digits, v, new, number):
    """Count level number - 1 of v for the searches `new`."""
    digit = np.uintp(0)
    while number:
        if number & np.uint64(1):
            digits[v, digit] |= new
        digit += np.uintp(1)
        number >>= np.uint64(1)


@operation
def turned(typing, words, at):
    """Exchange bit j of word i with bit i of word j, of 64 words from `at` on: halves first, then halves of halves."""

    def emit(context, builder, signature, args):
        ir, (kind, _) = tools.ir, signature.args
        wide = ir.VectorType(ir.IntType(64), SEARCHES)
        lanes = ir.VectorType(ir.IntType(32), SEARCHES)
        to = builder.gep(context.make_array(kind)(context, builder, args[0]).data, [args[1]])
        to = builder.bitcast(to, wide.as_pointer())
        rows = builder.load(to)
        rows.align = 8
        function = ir.FunctionType(wide, [wide, wide, wide])
        rotate = tools.cgutils.get_or_insert_function(builder.module, function, f"llvm.fshl.v{SEARCHES}i64")
        size = SEARCHES // 2
        while size:
            low = sum(1 << bit for bit in range(SEARCHES) if not bit & size)
            keep = [low if not row & size else (1 << SEARCHES) - 1 - low for row in range(SEARCHES)]
            others = builder.shuffle_vector(rows, rows, ir.Constant(lanes, [row ^ size for row in range(SEARCHES)]))
            by = ir.Constant(wide, [SEARCHES - size if row & size else size for row in range(SEARCHES)])
            others = builder.call(rotate, [others, others, by])
            moved = builder.and_(others, ir.Constant(wide, [(1 << SEARCHES) - 1 - kept for kept in keep]))
            rows = builder.or_(builder.and_(rows, ir.Constant(wide, keep)), moved)
            size //= 2
        builder.store(rows, to).align = 8
        return context.get_dummy_value()

    return tools.types.void(words, tools.types.intp), emit


@dealt
def _turn(first, stop, digits):
    """Turn the digits of some tiles to words by (search, digit, 64 vertices)."""
    flat, count, size, most = digits.reshape(digits.size), np.uintp(digits.shape[1]), np.uintp(TILE), np.uintp(SEARCHES)
    words = np.empty(TILE * digits.shape[1], np.uint64)
    columns = count * size // most
    for tile in range(np.uintp(first), np.uintp(stop)):
        at = tile * size * count
        for digit in range(count):
            for i in range(size):
                words[digit * size + i] = flat[at + i * count + digit]
        for column in range(columns):
            turned(words, np.intp(column * most))
        for lane in range(most):
            for column in range(columns):
                flat[at + lane * columns + column] = words[column * most + lane]


def _number(before, bit, ones, twos, fours, eights, digit):
    """Return the number whose four digits have a bit in these words, after lower digits; at first it is less by one."""
    number = np.int32(ones & bit != 0) | np.int32(twos & bit != 0) << 1
    number |= np.int32(fours & bit != 0) << 2 | np.int32(eights & bit != 0) << 3
    return np.int32((number << digit) + (before if digit else np.int32(-1)))


number_all = across(_number, 2, WIDTH)


@dealt
def _write_levels(first, stop, words, digits, levels, bits):
    """Write some pieces of the levels, each PART_VERTICES vertices of a search.  words: as `_turn` leaves them."""
    (_, n), flat = levels.shape, levels.reshape(levels.size)
    parts, each = -(-n // PART_VERTICES), SEARCHES * digits * LINE  # numbers of a tile
    for piece in range(first, stop):
        lane, part = divmod(piece, parts)
        for start in range(part * PART_VERTICES, min((part + 1) * PART_VERTICES, n), TILE):
            at, row, count = start // TILE * each + lane * digits * LINE, lane * n + start, min(TILE, n - start)
            for digit in range(digits):
                prefetched(words, min(at + TILES_AHEAD * each + digit * LINE, words.size - 1))
            whole = count // WIDTH
            for digit in range(0, digits, DIGITS):
                for i in range(whole):
                    a, b = at + digit * LINE + i, at + (digit + 2) * LINE + i
                    four = words[a], words[a + LINE], words[b], words[b + LINE]
                    number_all(flat, row + i * WIDTH, bits, 0, *four, np.int32(digit))
            for i in range(whole * WIDTH, count):
                number = np.int32(-1)
                for digit in range(digits):
                    number += np.int32(words[at + digit * LINE + i // WIDTH] >> (i % WIDTH) & 1) << digit
                flat[row + i] = number


@inlined
def find_parents(columns, digits, v, less, found, place):
    """Write the smallest vertex before v on a way from each source to SEARCHES places of `found` from `place` on.

    digits: of all vertices, flat.  less: room for the digits of v's numbers less one.
    """
    (indptr, indices), one, rest, borrow = columns, np.uintp(1), np.uint64(0), ~np.uint64(0)
    size = np.uintp(less.size)
    for digit in range(less.size):
        has = digits[v * size + np.uintp(digit)]
        less[digit] = has ^ borrow
        borrow &= ~has
        rest |= less[digit]
    rest &= ~borrow
    e, stop, end = np.uintp(indptr[v]), np.uintp(indptr[v + one]), np.uintp(indices.size - 1)
    while e < stop and rest:
        prefetched(digits, np.uintp(indices[min(e + EDGES_AHEAD, end)]) * size)
        u = indices[e]
        e += one
        at = np.uintp(u) * size
        same = rest
        for digit in range(less.size):
            same &= ~(digits[at + np.uintp(digit)] ^ less[digit])
        rest ^= same
        while same:
            found[place + lowest_bit(same)] = u
            same &= same - np.uint64(1)


@dealt
def _write_parents(first, stop, digits, columns, parents):
    """Write the parents of some vertices."""
    (k, n), tree, rows = parents.shape, parents.reshape(parents.size), digits.reshape(digits.size)
    count, less, found = (
        stop - first,
        np.empty(digits.shape[1], np.uint64),
        np.empty(GRAIN_VERTICES * SEARCHES, parents.dtype),
    )
    found[:] = -1
    for i in range(count):
        find_parents(columns, rows, np.uintp(first + i), less, found, i * SEARCHES)
    for lane in range(k):
        for i in range(count):
            tree[lane * n + first + i] = found[i * SEARCHES + lane]
