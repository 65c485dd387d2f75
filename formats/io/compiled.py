"""Lines of numbers, read by a compiled loop: one pass over the bytes, without a copy or a Python object.

The loop takes what is common and stops at the first line that is anything else: a bad one, an id with a sign or out of
range, `inf`, an integer of more than 19 digits. The reader in `lines.py` reads that line. So there is one definition of
what is right, and one place that says what is wrong.

Reals are rounded correctly. A number is m * 10^e with an integer m < 2^64. Both factors are held as sums of two float64
each, exact to some 105 bits, and so is their product [1]. If an error in its 98th bit could change the float64 next to
it, the loop stops there, too; else that float64 is the number [2]. A longer number lies between that of its first 19
digits and the next. Where both of these round alike, so does the number.

[1] T. J. Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18, 1971.
[2] W. D. Clinger, How to read floating point numbers accurately, PLDI 1990: the same test with extended precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ..arrays import Array, index_dtype
from ..hooks import machine_code, side_by_side, threads
from .digits import TENS, digits_from
from .edges import narrow
from .lines import BLANKS_OR_COMMA, INTEGER, EdgeLine
from .lines import read_block as read_carefully
from .source import LINE_END, Buffer, Source

LARGEST_POWER = 270  # of ten: within these no product leaves the range of normal numbers
SPLIT = 2.0**27 + 1
DOUBT = 2.0**-98
SHORTEST_LINE = len("0 1\n")
CAREFUL_BYTES = 1 << 12
PIECE_BYTES = 1 << 16
"""Bytes of lines that are worth a thread."""
ZERO, NINE, PLUS, MINUS, POINT, SMALL_E, SPACE, TAB, FEED, RETURN = b"09+-.e \t\n\r"
TO_SMALL = 32
NO_BYTE = -1
"""A number that no byte equals: the comma, prefix or second comment character of a format that has none."""
MOST_DIGITS = 19
NOTHING = np.uint64(0)
INTEGERS, NUMBERS, REALS = range(3)
"""The kinds of weights: integers; integers or reals; reals, whatever they look like."""


class Reader:
    """Reads blocks, one after the other into the same memory."""

    def __init__(self) -> None:
        self._memory = np.empty((3, 0), np.int64)

    def read_block(
        self, source: Source, line: EdgeLine, lines: Buffer, first: int, shape: tuple[int, int] | None
    ) -> tuple[Array, ...]:
        """As `lines.read_block`, of lines with `source.SPARE_BYTES` behind them. The next call takes the arrays."""
        block, text = memoryview(lines), np.frombuffer(lines, np.uint8)
        comment, other_comment = [*line.comment, NO_BYTE][:2]
        comma = ord(",") if line.separator == BLANKS_OR_COMMA else NO_BYTE
        kind = REALS if line.always_real else INTEGERS if line.weight == INTEGER else NUMBERS
        prefix = line.prefix[0] if line.prefix else NO_BYTE
        syntax = powers_of_ten(), TENS, comment, other_comment, prefix, comma, line.columns, kind
        id_type = index_dtype(*shape or ())
        parts: list[Sequence[Array]] = []
        at, careful_bytes = 0, CAREFUL_BYTES
        while True:
            top = np.iinfo(id_type).max
            last_src, last_dst = (top, top) if shape is None else (first + extent - 1 for extent in shape)
            cuts, new = [at, len(block)] if at else pieces_of(block), list[Sequence[Array]]()
            start, bounds = at, (first, last_src, last_dst, line.lowest)
            for stop, found in zip(cuts[1:], self._read(text, cuts, syntax, id_type, bounds), strict=True):
                at, (src, dst, weights), ended, real = found
                source.line_number += ended
                weighted = (weights.view(np.float64) if real else narrow(weights),) if line.columns > 2 else ()
                new.append((src, dst, *weighted))
                if at < stop:
                    break
            if at == len(block):
                parts += new
                return tuple(map(np.concatenate, zip(*parts, strict=True))) if parts[1:] else tuple(*parts)
            parts += [[column.copy() for column in part] for part in new]
            if id_type == np.int32 and shape is None:  # the line that it stopped at may hold but a larger id
                id_type = np.dtype(np.int64)
                continue
            # where one odd line follows the other, ever more of them go to the careful reader at once
            careful_bytes = 2 * careful_bytes if at - start < careful_bytes else CAREFUL_BYTES
            start, end = at, LINE_END.search(block, min(at + careful_bytes, len(block)) - 1)
            assert end is not None
            at = end.end()
            parts.append(read_carefully(source, line, block[start:at], first, shape))
            id_type = index_dtype(*shape or ())

    def _read(
        self, text: Array, cuts: list[int], syntax: tuple[Any, ...], id_type: np.dtype, bounds: tuple[int, ...]
    ) -> list[tuple[int, list[Array], int, bool]]:
        """Read each piece into its own memory: where it stopped, columns, lines, and whether weights are real."""
        rooms = [(cut - cuts[0]) // SHORTEST_LINE + k for k, cut in enumerate(cuts)]
        if rooms[-1] > self._memory.shape[1]:
            self._memory = np.empty((3, rooms[-1]), np.int64)
        read, found = machine_code(read_lines), list[Any]([None] * (len(cuts) - 1))

        def piece(k: int) -> None:
            src, dst, weights = self._memory[:, rooms[k] : rooms[k + 1]]
            columns = src.view(id_type), dst.view(id_type), weights
            at, edges, ended, real = read(
                text[: cuts[k + 1]], cuts[k], syntax, (*columns, weights.view(np.float64), *bounds)
            )
            found[k] = at, [column[:edges] for column in columns], ended, real

        side_by_side(piece, len(found))
        return found


def pieces_of(block: memoryview) -> list[int]:
    """Where pieces of whole lines begin and end that threads read."""
    count = max(1, min(threads(), len(block) // PIECE_BYTES))
    ends = [LINE_END.search(block, len(block) * k // count - 1) for k in range(1, count)]
    return [0, *(end.end() for end in ends if end is not None), len(block)]


@cache
def powers_of_ten() -> Array:
    """Row e + LARGEST_POWER: the float64 next to 10^e, its two halves of 26 bits, and what it lacks."""
    table = np.empty((2 * LARGEST_POWER + 1, 4))
    for row, exponent in zip(table, range(-LARGEST_POWER, LARGEST_POWER + 1), strict=True):
        exact = Fraction(10) ** exponent
        nearest = float(exact)
        upper = nearest * SPLIT - (nearest * SPLIT - nearest)
        row[:] = nearest, upper, nearest - upper, float(exact - Fraction(nearest))
    return table


def read_lines(text, start, syntax, columns):
    """Read lines from `start` on; (where it stopped, edges, lines, whether weights are real).

    text: whole lines.  syntax, columns: see `read_block`; of the latter, integers and reals are one memory, for either
    kind of weight, and numbers must lie within the bounds that follow.
    """
    powers, tens, comment, other_comment, prefix, comma, fields, kind = syntax
    src, dst, integers, reals, first, last_src, last_dst, lowest = columns
    i, edges, lines, real = start, 0, 0, kind == REALS
    while i < text.size:
        line, i = i, past_blanks(text, i)
        c = byte(text, i)
        if c == comment or c == other_comment:
            while not ends_line(byte(text, i)):
                i += 1
        elif not ends_line(c):
            if prefix != NO_BYTE:
                after = i + 1
                i = past_blanks(text, after)
                if c != prefix or i == after:
                    return line, edges, lines, real
            u, end = digits_from(text, i, NOTHING, tens)
            i, digits = past_separator(text, end, comma), end - i
            if digits == 0 or digits > MOST_DIGITS or i == end or not first <= np.int64(u) <= last_src:
                return line, edges, lines, real
            v, end = digits_from(text, i, NOTHING, tens)
            digits = end - i
            if digits == 0 or digits > MOST_DIGITS or not first <= np.int64(v) <= last_dst:
                return line, edges, lines, real
            src[edges], dst[edges] = np.int64(u) - first, np.int64(v) - first
            i = end
            if fields > 2:
                begin = past_separator(text, end, comma)
                i, usual, is_real, integer, value = weight_from(text, begin, kind, powers, tens)
                if begin == end or not usual or not (is_real or integer >= lowest):
                    return line, edges, lines, real
                if is_real and not real:
                    real = True
                    for k in range(edges):
                        reals[k] = integers[k]
                if is_real:
                    reals[edges] = value
                elif real:
                    reals[edges] = integer
                else:
                    integers[edges] = integer
            i = past_blanks(text, i)
            if not ends_line(byte(text, i)):
                return line, edges, lines, real
            edges += 1
        lines += 1
        i += 2 if byte(text, i) == RETURN and i + 1 < text.size and byte(text, i + 1) == FEED else 1
    return i, edges, lines, real


def byte(text, i):
    """text[i], i not being negative."""
    return text[np.uint64(i)]


def ends_line(c):
    """True for a line feed or a carriage return."""
    return c == FEED or c == RETURN


def past_blanks(text, i):
    """Where the blanks at text[i], if any, end."""
    while byte(text, i) == SPACE or byte(text, i) == TAB:
        i += 1
    return i


def past_separator(text, i, comma):
    """Where the blanks and at most one comma at text[i], if any, end."""
    i = past_blanks(text, i)
    return past_blanks(text, i + 1) if byte(text, i) == comma else i


def weight_from(text, i, kind, powers, tens):
    """Returns (where the number at text[i] ends, if it is a usual one, if it is real, the integer, the real)."""
    negative = byte(text, i) == MINUS
    if negative or byte(text, i) == PLUS:
        i += 1
    begin, exponent, real = i, np.int64(0), kind == REALS
    if byte(text, i + 1) == POINT and byte(text, i) >= ZERO and byte(text, i) <= NINE:
        number, i = np.uint64(byte(text, i) - ZERO), i + 1
    else:
        number, i = digits_from(text, i, NOTHING, tens)
    digits = i - begin
    if kind != INTEGERS and byte(text, i) == POINT:
        real, after = True, i + 1
        number, i = digits_from(text, after, number, tens)
        exponent = after - i
        digits -= exponent
    while digits > MOST_DIGITS and (byte(text, begin) == ZERO or byte(text, begin) == POINT):
        digits -= byte(text, begin) == ZERO
        begin += 1
    if digits == 0:
        return i, False, real, 0, 0.0
    if kind != INTEGERS and byte(text, i) | TO_SMALL == SMALL_E:
        real, after = True, i + 1
        shrinks = byte(text, after) == MINUS
        if shrinks or byte(text, after) == PLUS:
            after += 1
        power, i = digits_from(text, after, NOTHING, tens)
        if i == after or i > after + 6:
            return i, False, real, 0, 0.0
        exponent += -np.int64(power) if shrinks else np.int64(power)
    cut = digits - MOST_DIGITS if digits > MOST_DIGITS else 0
    if real:
        exponent += cut
        if exponent < -LARGEST_POWER or exponent > LARGEST_POWER:
            return i, False, real, 0, 0.0
        number = first_digits_from(text, begin) if cut > 0 else number
        value, sure = 0.0, True
        for more in range(2 if cut > 0 else 1):  # of a longer number, that of its first digits and the next one
            before = value
            value, certain = product(number + np.uint64(more), powers[exponent + LARGEST_POWER])
            sure = sure and certain and (more == 0 or value == before)
        return i, sure, True, 0, -value if negative else value
    integer = np.int64(number)
    return i, integer >= 0 and cut == 0, False, -integer if negative else integer, 0.0


def first_digits_from(text, i):
    """The number that MOST_DIGITS digits from text[i] on are; there may be a point among them."""
    number, digits = NOTHING, 0
    while digits < MOST_DIGITS:
        if byte(text, i) != POINT:
            number = number * np.uint64(10) + np.uint64(byte(text, i) - ZERO)
            digits += 1
        i += 1
    return number


def product(number, power_of_ten):
    """Returns (number * power_of_ten, a row of `powers_of_ten`, rounded; if it is sure to be rounded correctly)."""
    high = float(number)
    low = float(np.int64(number - np.uint64(high)))
    upper = high * SPLIT - (high * SPLIT - high)
    lower = high - upper
    p, p_upper, p_lower, p_rest = power_of_ten[0], power_of_ten[1], power_of_ten[2], power_of_ten[3]
    value = high * p
    lacks = upper * p_upper - value + upper * p_lower + lower * p_upper + lower * p_lower
    lacks += high * p_rest + low * p
    return value + (lacks + value * DOUBT), value + (lacks + value * DOUBT) == value + (lacks - value * DOUBT)
