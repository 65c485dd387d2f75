"""Lines of numbers, read by a compiled loop: one pass over the bytes, without a copy or a Python object.

The loop takes what is common and stops at the first line that is anything else: a bad one, an id out of range, `inf`, a
number of more than 19 digits. The reader in `lines.py` reads that line. So there is one definition of what is right,
and one place that says what is wrong.

Reals are rounded correctly. A number is m * 10^e with an integer m < 2^64. Both factors are held as sums of two float64
each, exact to some 105 bits, and so is their product [1]. If an error in its 98th bit could change the float64 next to
it, the loop stops there, too; else that float64 is the number [2].

[1] T. J. Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18, 1971.
[2] W. D. Clinger, How to read floating point numbers accurately, PLDI 1990: the same test with extended precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from ..arrays import Array
from ..hooks import machine_code
from .edges import narrow
from .lines import BLANKS_OR_COMMA, HIGHEST, INTEGER, EdgeLine, narrowed
from .lines import read_block as read_carefully
from .source import LINE_END, Buffer, Source

LARGEST_POWER = 270  # of ten: within these no product leaves the range of normal numbers
SPLIT = 2.0**27 + 1
DOUBT = 2.0**-98
SHORTEST_LINE = len("0 1\n")
CAREFUL_BYTES = 1 << 12
ZERO, NINE, PLUS, MINUS, POINT, SMALL_E, SPACE, TAB, FEED, RETURN = b"09+-.e \t\n\r"
TO_SMALL = 32
NO_BYTE = -1
"""What no byte of a text equals: the comma, prefix or second comment character of a format that has none."""
INTEGERS, NUMBERS, REALS = range(3)
"""What weights may be: integers; integers or reals; reals, whatever they look like."""


def read_block(
    source: Source, line: EdgeLine, lines: Buffer, first: int, shape: tuple[int, int] | None
) -> tuple[Array, ...]:
    """As `lines.read_block`."""
    block, text = memoryview(lines), np.frombuffer(lines, np.uint8)
    comment, other_comment = [*line.comment, NO_BYTE][:2]
    comma = ord(",") if line.separator == BLANKS_OR_COMMA else NO_BYTE
    kind = REALS if line.always_real else INTEGERS if line.weight == INTEGER else NUMBERS
    form = comment, other_comment, line.prefix[0] if line.prefix else NO_BYTE, comma, line.columns, kind
    last_src, last_dst = (HIGHEST, HIGHEST) if shape is None else (first + extent - 1 for extent in shape)
    limits = first, last_src, last_dst, line.lowest

    room = len(block) // SHORTEST_LINE + 1
    src, dst, weights = (np.empty(room, np.int64) for _ in range(3))
    parts: list[Sequence[Array]] = []
    at, careful_bytes = 0, CAREFUL_BYTES
    while True:
        start = at
        at, edges, ended, real = machine_code(read_lines)(
            *(text, start, *form, *limits), powers_of_ten(), src, dst, weights, weights.view(np.float64)
        )
        source.line_number += ended
        part = [narrowed(src[:edges], 0, shape), narrowed(dst[:edges], 0, shape)]
        if line.weight is not None:
            part.append(weights[:edges].view(np.float64).copy() if real else narrow(weights[:edges]).copy())
        parts.append(part)
        if at == len(block):
            return tuple(np.concatenate(column) for column in zip(*parts, strict=True))
        # where one odd line follows the other, ever more of them go to the careful reader at once
        careful_bytes = 2 * careful_bytes if at - start < careful_bytes else CAREFUL_BYTES
        start, end = at, LINE_END.search(block, min(at + careful_bytes, len(block)) - 1)
        assert end is not None
        at = end.end()
        parts.append(read_carefully(source, line, block[start:at], first, shape))


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


def read_lines(
    # fmt: off
    text,
    start,
    comment,
    other_comment,
    prefix,
    comma,
    fields,
    kind,
    first,
    last_src,
    last_dst,
    lowest,
    powers,
    src,
    dst,
    integers,
    reals,
    # fmt: on
):
    """Read lines from `start` on; (where it stopped, edges, lines, whether weights are real).

    text: whole lines.  comment to lowest: see `read_block`.  integers, reals: one memory, for either kind of weight.
    """
    i, edges, lines, real = max(start, 0), 0, 0, kind == REALS
    while i < text.size:
        line = i
        while text[i] == SPACE or text[i] == TAB:
            i += 1
        c = text[i]
        if c == comment or c == other_comment:
            while text[i] != FEED and text[i] != RETURN:
                i += 1
        elif c != FEED and c != RETURN:
            if c == prefix:
                i += 1
            field = 0
            while field < fields:
                before = i
                while text[i] == SPACE or text[i] == TAB:
                    i += 1
                if field > 0 and text[i] == comma:
                    i += 1
                    while text[i] == SPACE or text[i] == TAB:
                        i += 1
                if i == before and (field > 0 or prefix != NO_BYTE):
                    break

                negative = text[i] == MINUS
                if negative or text[i] == PLUS:
                    i += 1
                begin, point, number = i, 0, 0
                may_be_real = field == 2 and kind != INTEGERS
                while True:
                    digit = text[i] - ZERO
                    if digit >= 0 and digit <= 9:
                        number = number * 10 + digit  # of 19 digits: modulo 2^64
                    elif may_be_real and text[i] == POINT and point == 0:
                        point = i + 1
                    else:
                        break
                    i += 1
                digits = i - begin - (point > 0)
                exponent = point - i if point > 0 else 0
                while digits > 19 and (text[begin] == ZERO or text[begin] == POINT):
                    digits -= text[begin] == ZERO
                    begin += 1
                if digits == 0 or digits > 19:
                    break

                if may_be_real:
                    scientific = text[i] | TO_SMALL == SMALL_E
                    if scientific:
                        i += 1
                        shrinks = text[i] == MINUS
                        if shrinks or text[i] == PLUS:
                            i += 1
                        begin, power = i, 0
                        while text[i] >= ZERO and text[i] <= NINE:
                            power = power * 10 + text[i] - ZERO
                            i += 1
                        if i == begin or i > begin + 6:
                            break
                        exponent += -power if shrinks else power
                    if scientific or point > 0 or kind == REALS:
                        if exponent < -LARGEST_POWER or exponent > LARGEST_POWER:
                            break
                        high = float(np.uint64(number))
                        low = float(number - np.int64(np.uint64(high)))
                        upper = high * SPLIT - (high * SPLIT - high)
                        lower = high - upper
                        power_of_ten = powers[exponent + LARGEST_POWER]
                        p, p_upper, p_lower, p_rest = power_of_ten[0], power_of_ten[1], power_of_ten[2], power_of_ten[3]
                        product = high * p
                        lacks = upper * p_upper - product + upper * p_lower + lower * p_upper + lower * p_lower
                        lacks += high * p_rest + low * p
                        value = product + (lacks + product * DOUBT)
                        if value != product + (lacks - product * DOUBT):
                            break
                        if not real:
                            real = True
                            for k in range(edges):
                                reals[k] = integers[k]
                        reals[edges] = -value if negative else value
                        field += 1
                        break

                if negative:
                    number = -number
                if digits == 19 and number != 0 and negative != (number < 0):
                    break
                if field == 0:
                    if number < first or number > last_src:
                        break
                    src[edges] = number - first
                elif field == 1:
                    if number < first or number > last_dst:
                        break
                    dst[edges] = number - first
                elif real:
                    reals[edges] = number
                elif number < lowest:
                    break
                else:
                    integers[edges] = number
                field += 1
            while text[i] == SPACE or text[i] == TAB:
                i += 1
            if field < fields or (text[i] != FEED and text[i] != RETURN):
                i = line
                break
            edges += 1
        lines += 1
        i += 2 if text[i] == RETURN and i + 1 < text.size and text[i + 1] == FEED else 1
    return i, edges, lines, real
