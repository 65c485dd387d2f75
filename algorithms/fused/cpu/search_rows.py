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

from semiring.cpu.compiler.references import interrupted, operation, tools
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import run

from .atomics import added, prefetched

MOST = 64
"""Searches in a word."""

DIGITS, WIDTH = 4, 16
"""Digits of levels, and vertices, whose levels are written at once."""

HELD = 4
"""Levels whose words may wait to be counted."""

GRAIN = 512
"""Vertices that a thread counts them of at a time."""

TILE, LINE = 512, 32
"""Vertices whose words turn at once, and a digit of a search takes of them, in numbers of WIDTH bits."""

PART = 1 << 19
"""Vertices whose levels a thread writes at a time."""

WRITTEN = 128
"""Vertices whose parents a thread writes at a time."""

FAR = np.uintp(16)
"""Entries from one to that whose vertex is fetched meanwhile."""

AHEAD = 4
"""Tiles likewise."""


Held = list[tuple[int, np.ndarray]]
"""(level + 1, for each vertex the searches that have it) of levels that are not counted yet."""


def fold(digits: np.ndarray, held: Held, threads: int) -> None:
    """Count levels that are held."""
    taken = np.zeros(1, np.int64)
    numbers, words = _padded(held)
    run(lambda _, __: _count(digits, numbers, words, taken), [(i, i) for i in range(threads)])


def levels_of(digits: np.ndarray, held: Held, levels: np.ndarray, counted: bool, threads: int) -> None:
    """Write the levels, -1 where a search has none. The digits are of no use afterwards: they turn in place.

    counted: otherwise all digits are 0.
    """
    shares = [(i, i) for i in range(threads)]
    taken = np.zeros(2, np.int64)
    numbers, uncounted = _padded(held)
    run(lambda _, __: _turn(digits, counted, numbers, uncounted, taken), shares)
    words = digits.reshape(-1).view(np.uint16)
    run(lambda _, __: _write_levels(words, digits.shape[1], levels, taken), shares)


def _padded(held: Held) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The numbers and the words of HELD levels, those beyond without words."""
    none = HELD - len(held)
    numbers = np.array([number for number, _ in held] + [0] * none, np.uint64)
    return numbers, tuple(words for _, words in held) + (np.empty(0, np.uint64),) * none


def parents_of(digits: np.ndarray, columns: Any, parents: np.ndarray, threads: int) -> None:
    """Write the parents, the smallest predecessors one level nearer, -1 for none."""
    taken = np.zeros(1, np.int64)

    def share(_: int, __: int) -> None:
        less, found = np.zeros(digits.shape[1], np.uint64), np.empty(WRITTEN * MOST, parents.dtype)
        _write_parents(digits, (columns.indptr, columns.indices), parents, less, found, taken)

    run(share, [(i, i) for i in range(threads)])


@inlined
def count_level(digits, v, new, number):
    """The searches `new` have a level of v: number - 1."""
    digit = np.uintp(0)
    while number:
        if number & np.uint64(1):
            digits[v, digit] |= new
        digit += np.uintp(1)
        number >>= np.uint64(1)


@compiled
def _count(digits, numbers, held, taken):
    """A thread's share of counting levels, GRAIN vertices at a time."""
    while True:
        first = added(taken, 0, GRAIN)
        if first >= held[0].size or interrupted():
            break
        for v in range(first, min(first + GRAIN, held[0].size)):
            for level in range(HELD):
                if v < held[level].size and held[level][v]:
                    count_level(digits, v, held[level][v], numbers[level])


@operation
def turned(typing, words, at):
    """Exchange bit j of word i with bit i of word j, of 64 words from `at` on: halves first, then halves of halves."""

    def emit(context, builder, signature, args):
        ir, (kind, _) = tools.ir, signature.args
        wide = ir.VectorType(ir.IntType(64), MOST)
        lanes = ir.VectorType(ir.IntType(32), MOST)
        to = builder.gep(context.make_array(kind)(context, builder, args[0]).data, [args[1]])
        to = builder.bitcast(to, wide.as_pointer())
        rows = builder.load(to)
        rows.align = 8
        function = ir.FunctionType(wide, [wide, wide, wide])
        rotate = tools.cgutils.get_or_insert_function(builder.module, function, f"llvm.fshl.v{MOST}i64")
        size = MOST // 2
        while size:
            low = sum(1 << bit for bit in range(MOST) if not bit & size)
            keep = [low if not row & size else (1 << MOST) - 1 - low for row in range(MOST)]
            others = builder.shuffle_vector(rows, rows, ir.Constant(lanes, [row ^ size for row in range(MOST)]))
            by = ir.Constant(wide, [MOST - size if row & size else size for row in range(MOST)])
            others = builder.call(rotate, [others, others, by])
            moved = builder.and_(others, ir.Constant(wide, [(1 << MOST) - 1 - kept for kept in keep]))
            rows = builder.or_(builder.and_(rows, ir.Constant(wide, keep)), moved)
            size //= 2
        builder.store(rows, to).align = 8
        return context.get_dummy_value()

    return tools.types.void(words, tools.types.intp), emit


@compiled
def _turn(digits, counted, numbers, held, taken):
    """A thread's share of the digits, TILE vertices at a time: to words by (search, digit, 64 vertices).

    counted: otherwise the digits are 0, but for the levels that are held.
    """
    flat, count, size, most = digits.reshape(digits.size), np.uintp(digits.shape[1]), np.uintp(TILE), np.uintp(MOST)
    words = np.empty(TILE * digits.shape[1], np.uint64)
    columns = count * size // most
    while True:
        v = np.uintp(added(taken, 0, 1)) * size
        at = v * count
        if at >= np.uintp(flat.size):
            break
        for digit in range(count):
            for i in range(size):
                words[digit * size + i] = flat[at + i * count + digit] if counted else np.uint64(0)
        for level in range(HELD):
            own, number = held[level], numbers[level]
            stop = np.uintp(min(TILE, max(own.size - np.int64(v), 0)))
            for digit in range(count):
                if number >> np.uint64(digit) & np.uint64(1):
                    for i in range(stop):
                        words[digit * size + i] |= own[v + i]
        for column in range(columns):
            turned(words, np.intp(column * most))
        for lane in range(most):
            for column in range(columns):
                flat[at + lane * columns + column] = words[column * most + lane]


@operation
def numbered(typing, words, at, out, place, digit):
    """Add the numbers of sixteen vertices to `out`, or to -1 where `digit` is 0: of four digits, LINE words apart."""

    def emit(context, builder, signature, args):
        ir, (words_type, _, out_type, _, _) = tools.ir, signature.args
        flag, number = ir.VectorType(ir.IntType(1), WIDTH), ir.IntType(32)
        narrow = ir.VectorType(number, WIDTH)
        data = context.make_array(words_type)(context, builder, args[0]).data
        to = builder.gep(context.make_array(out_type)(context, builder, args[2]).data, [args[3]])
        to = builder.bitcast(to, narrow.as_pointer())
        before = builder.load(to)
        before.align = 4
        first = builder.icmp_unsigned("==", args[4], ir.IntType(64)(0))
        before = builder.select(first, ir.Constant(narrow, [-1] * WIDTH), before)
        none = total = ir.Constant(narrow, [0] * WIDTH)
        for k in range(DIGITS):
            loaded = builder.load(builder.gep(data, [builder.add(args[1], ir.IntType(64)(k * LINE))]))
            has = builder.bitcast(loaded, flag)
            total = builder.or_(total, builder.select(has, ir.Constant(narrow, [1 << k] * WIDTH), none))
        shift = builder.insert_element(ir.Constant(narrow, ir.Undefined), builder.trunc(args[4], number), number(0))
        shift = builder.shuffle_vector(shift, shift, none)
        builder.store(builder.add(before, builder.shl(total, shift)), to).align = 4
        return context.get_dummy_value()

    types = tools.types
    return types.void(words, types.intp, out, types.intp, types.intp), emit


@compiled
def _write_levels(words, digits, levels, taken):
    """A thread's share of the levels: of a search, PART vertices at a time.  words: as `_turn` leaves them."""
    (lanes, n), flat = levels.shape, levels.reshape(levels.size)
    parts, each = -(-n // PART), MOST * digits * LINE  # numbers of a tile
    while True:
        lane, part = divmod(added(taken, 1, 1), parts)
        if lane >= lanes or interrupted():
            break
        for start in range(part * PART, min((part + 1) * PART, n), TILE):
            at, row, count = start // TILE * each + lane * digits * LINE, lane * n + start, min(TILE, n - start)
            for digit in range(digits):
                prefetched(words, min(at + AHEAD * each + digit * LINE, words.size - 1))
            whole = count // WIDTH * WIDTH
            for digit in range(0, digits, DIGITS):
                for i in range(whole // WIDTH):
                    numbered(words, at + digit * LINE + i, flat, row + i * WIDTH, digit)
            for i in range(whole, count):
                number = np.int32(-1)
                for digit in range(digits):
                    number += np.int32(words[at + digit * LINE + i // WIDTH] >> (i % WIDTH) & 1) << digit
                flat[row + i] = number


@operation
def differing(typing, words, at, others):
    """The bits in which any of four words differs from another's: words[at], … and others[0], …"""

    def emit(context, builder, signature, args):
        ir, word = tools.ir, tools.ir.IntType(64)
        wide = ir.VectorType(word, DIGITS)

        def loaded(kind, array, places):
            data = context.make_array(kind)(context, builder, array).data
            four = builder.load(builder.bitcast(builder.gep(data, places), wide.as_pointer()))
            four.align = 8
            return four

        ours, theirs = loaded(signature.args[0], args[0], [args[1]]), loaded(signature.args[2], args[2], [word(0)])
        kind = ir.FunctionType(word, [wide])
        name = f"llvm.vector.reduce.or.v{DIGITS}i64"
        reduce = tools.cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(reduce, [builder.xor(ours, theirs)])

    return tools.types.uint64(words, tools.types.intp, others), emit


@operation
def written_where(typing, out, at, word, value):
    """out[at + i] = value for each bit i of a word."""

    def emit(context, builder, signature, args):
        ir, (out_type, _, _, value_type) = tools.ir, signature.args
        item = context.get_data_type(out_type.dtype)
        lanes = ir.VectorType(item, MOST)
        to = builder.gep(context.make_array(out_type)(context, builder, args[0]).data, [args[1]])
        to = builder.bitcast(to, lanes.as_pointer())
        before = builder.load(to)
        before.align = item.width // 8
        bits = builder.bitcast(args[2], ir.VectorType(ir.IntType(1), MOST))
        number = context.cast(builder, args[3], value_type, out_type.dtype)
        value = builder.insert_element(ir.Constant(lanes, ir.Undefined), number, ir.IntType(32)(0))
        first = ir.Constant(ir.VectorType(ir.IntType(32), MOST), [0] * MOST)
        value = builder.shuffle_vector(value, ir.Constant(lanes, ir.Undefined), first)
        builder.store(builder.select(bits, value, before), to).align = item.width // 8
        return context.get_dummy_value()

    types = tools.types
    return types.void(out, types.intp, types.uint64, value), emit


@inlined
def find_parents(columns, digits, v, less, found, place):
    """The smallest vertices before v on a way from each source, to MOST places of `found` from `place` on.

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
        prefetched(digits, np.uintp(indices[min(e + FAR, end)]) * size)
        u = indices[e]
        e += one
        at = np.uintp(u) * size
        same = rest & ~differing(digits, at, less)
        for digit in range(DIGITS, less.size):
            same &= ~(digits[at + np.uintp(digit)] ^ less[digit])
        if same:
            rest ^= same
            written_where(found, place, same, u)


@compiled
def _write_parents(digits, columns, parents, less, found, taken):
    """A thread's share of the parents: WRITTEN vertices at a time.

    less: room for the digits of a vertex.  found: room for parents, by vertices and searches.
    """
    (k, n), tree, rows = parents.shape, parents.reshape(parents.size), digits.reshape(digits.size)
    while True:
        start = added(taken, 0, WRITTEN)
        if start >= n or interrupted():
            break
        count = min(WRITTEN, n - start)
        for i in range(count * MOST):
            found[i] = -1
        for i in range(count):
            find_parents(columns, rows, np.uintp(start + i), less, found, i * MOST)
        for lane in range(k):
            for i in range(count):
                tree[lane * n + start + i] = found[i * MOST + lane]
