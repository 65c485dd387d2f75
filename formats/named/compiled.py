"""Edges in text with separators, read by compiled loops: one pass over the bytes.

The loop takes what is common. Where anything else is met, it is given up, and Python's csv module reads the file: a
quotation mark within a name, a line with too few fields, a name of no letters, a weight like `inf`. So there is
one definition of what is right, and one place that says what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..hooks import machine_code
from ..io.compiled import (
    FEED,
    NO_BYTE,
    NUMBERS,
    RETURN,
    SPACE,
    byte,
    ends_line,
    past_blanks,
    powers_of_ten,
    weight_from,
)
from ..io.digits import TENS
from ..io.opening import Held, compression_of, open_content
from ..io.source import BYTE_ORDER_MARK, LINE_BYTES, SPARE_BYTES
from .hashing import Table
from .names import Coded

QUOTE = ord('"')
ROWS = 1 << 18
UNUSED, WEIGHT, FIRST_TEXT = -2, -1, 2
"""Uses of a field: nothing, a weight, or from 0 on a column of text, of which the first two are names."""


def read_columns(
    path: str, separator: str, skip: int, places: Sequence[int], weighted: bool, width: int, marks: str
) -> list[Any] | None:
    """Both columns of names, the weights, if there are any, and columns of text; None if csv is to read the file.

    skip: lines before the data.  places: of the columns, in this order.  width: the most fields that a line has.
    marks: what may begin a comment, at most two characters.
    """
    if len(set(places)) < len(places) or not separator.isascii():
        return None
    uses = np.full(max(places) + 1, UNUSED, np.int64)
    texts = [place for k, place in enumerate(places) if not weighted or k != 2]
    uses[texts] = range(len(texts))
    if weighted:
        uses[places[2]] = WEIGHT
    text, end = _text_of(path)
    at = _behind_heading(text, end, skip)
    if at < 0:
        return None
    starts, lengths = np.empty((2, len(texts), ROWS), np.int64)
    weights = np.empty(ROWS, np.int64)
    tables = Table(), Table()
    blocks: list[list[Any]] = [[] for _ in range(len(texts) + 1)]
    scan, letters = machine_code(read_rows), text.data
    mark, other_mark = [*map(ord, marks), NO_BYTE, NO_BYTE][:2]
    syntax = uses, ord(separator), width, mark, other_mark
    while at < end:
        columns = starts, lengths, weights, weights.view(np.float64)
        at, rows, real, usual = scan(text, at, end, syntax, columns, powers_of_ten(), TENS)
        if not usual:
            return None
        for k, block in enumerate(blocks[:-1]):
            ends = starts[k, :rows], lengths[k, :rows]
            block.append(tables[k].numbers(text, *ends) if k < FIRST_TEXT else _texts(letters, *ends))
        blocks[-1].append((weights.view(np.float64) if real else weights)[:rows].copy())
    try:
        found: list[Any] = [
            Coded(np.concatenate((np.zeros(0, np.int32), *codes)), table.names())
            for codes, table in zip(blocks[:2], tables, strict=True)
        ]
        more = [[each.decode() for block in column for each in block] for column in blocks[2:-1]]
    except UnicodeDecodeError:
        return None
    return [*found, *([np.concatenate((np.zeros(0, np.int32), *blocks[-1]))] if weighted else []), *more]


def _text_of(path: str) -> tuple[Array, int]:
    """Returns (the bytes of a file, and spare ones behind a last line feed, where the text ends)."""
    with open_content(path) as stream:
        if compression_of(path) or isinstance(path, Held):
            content = np.frombuffer(stream.read(), np.uint8)
        else:
            content = np.memmap(stream, np.uint8, "r")
        text = np.empty(content.size + SPARE_BYTES, np.uint8)
        text[: content.size] = content
    text[content.size :] = FEED
    return text, content.size


def _behind_heading(text: Array, end: int, skip: int) -> int:
    """Where the data begins, behind so many lines; -1 if a line has no usual end."""
    start = len(BYTE_ORDER_MARK) if text[: len(BYTE_ORDER_MARK)].tobytes() == BYTE_ORDER_MARK else 0
    for _ in range(skip):
        line, feed, _ = text[start : start + LINE_BYTES].tobytes().partition(b"\n")
        if not feed or b"\r" in line[:-1]:
            return -1
        start += len(line) + 1
    return min(start, end)


def _texts(letters: memoryview, starts: Array, lengths: Array) -> list[bytes]:
    return [bytes(letters[i : i + n]) for i, n in zip(starts.tolist(), lengths.tolist(), strict=True)]


def read_rows(text, start, end, syntax, columns, powers, tens):
    """Reads lines from `start` on, at most as many as there is room for.

    Returns (where it stopped, rows, if weights are real, if all was as usual).

    syntax: the use of each field, the separator, the most fields of a line, and what may begin a comment.
    columns: starts and lengths of texts, and weights as integers and as reals, in one memory.
    """
    uses, separator, width, mark, other_mark = syntax
    starts, lengths, integers, reals = columns
    i, rows, real = start, 0, False
    while i < end and rows < integers.size:
        if byte(text, i) == FEED or (byte(text, i) == RETURN and byte(text, i + 1) == FEED):
            i += 1 if byte(text, i) == FEED else 2
            continue
        field, c = 0, byte(text, past_blanks(text, i))
        if c == mark or c == other_mark:
            return i, rows, real, False
        while True:
            begin, stop, i, plain = field_from(text, i, end, separator)
            use = uses[field] if field < uses.size else UNUSED
            if stop < 0 or not (plain or use == UNUSED):
                return i, rows, real, False
            if use >= 0:
                if stop == begin and use < FIRST_TEXT:
                    return i, rows, real, False
                starts[use, rows], lengths[use, rows] = begin, stop - begin
            elif use == WEIGHT:
                after, usual, is_real, integer, value = weight_from(text, begin, NUMBERS, powers, tens)
                while byte(text, after) == SPACE:
                    after += 1
                if not usual or after != stop:
                    return i, rows, real, False
                if is_real and not real:
                    real = True
                    for k in range(rows):
                        reals[k] = integers[k]
                if real:
                    reals[rows] = value if is_real else integer
                else:
                    integers[rows] = integer
            field += 1
            if byte(text, i) != separator:
                break
            i += 1
        if field < uses.size or field > width or (byte(text, i) == RETURN and byte(text, i + 1) != FEED):
            return i, rows, real, False
        i += 1 if byte(text, i) == FEED else 2
        rows += 1
    return i, rows, real, True


def field_from(text, i, end, separator):
    """Finds the content of the field at text[i].

    Returns (where it begins, where it stops, where the field ends, if it has no quotation mark of its own); where it
    stops is -1 if it is unusual.
    """
    while byte(text, i) == SPACE:
        i += 1
    if byte(text, i) != QUOTE:
        begin = i
        while byte(text, i) != separator and not ends_line(byte(text, i)):
            i += 1
        return begin, i, i, True
    begin, plain = i + 1, True
    i = begin
    while i < end and (byte(text, i) != QUOTE or byte(text, i + 1) == QUOTE):
        plain = plain and byte(text, i) != QUOTE
        i += 1 if byte(text, i) != QUOTE else 2
    usual = i < end and (byte(text, i + 1) == separator or ends_line(byte(text, i + 1)))
    return begin, i if usual else -1, i + 1, plain
