"""Lines of numbers, read into arrays a block at a time.

One regular expression checks a block, and NumPy converts it. The expression matches the block as a whole, (edge |
comment | blank line)*, so the first bad line begins where the match stops. This reader defines what a file means. The
compiled loop (`compiled.py`) passes on to this one what it does not take.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, index_dtype
from .edges import narrow
from .source import Buffer, Source

INTEGER = rb"[-+]?+\d++"
REAL = rb"[-+]?+(?:(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?+\d++)?+|(?i:inf(?:inity)?+))"  # NaN is no number here
FORTRAN_REAL = REAL.replace(b"[eE]", b"[deDE]")
NAN = re.compile(rb"(?i)\bnan\b")
BLANKS = rb"[ \t]++"
BLANKS_OR_COMMA = rb"(?:[ \t]++(?:,[ \t]*+)?+|,[ \t]*+)"

FROM_FORTRAN = bytes.maketrans(b"dD", b"ee")
INTEGER_CHARACTERS = b"0123456789+- \t\n"

EXACT_IN_FLOAT = 2**53
LOWEST, HIGHEST = -(2**63), 2**63 - 1
EXACT_IN_FROMSTRING = 10**18  # np.fromstring saturates silently at 2**63: look closer well before that


@dataclass(frozen=True)
class EdgeLine:
    """The form of a line that holds an edge: prefix, source, target, weight; or without the first three."""

    expected: str  # such a line, as error messages show it
    comment: bytes  # the characters that open a comment line
    prefix: bytes = b""
    separator: bytes = BLANKS
    weight: bytes | None = REAL  # INTEGER, REAL, FORTRAN_REAL, or None for lines without a weight
    always_real: bool = False  # are weights that look like integers real, too?
    lowest: int = LOWEST  # the least integer weight
    below: str = ""  # what errors say of those below
    ids: int = 2  # 0 for lines of a weight alone

    @property
    def columns(self) -> int:
        return self.ids + (self.weight is not None)

    def lines(self) -> re.Pattern[bytes]:
        """The pattern of any number of good lines."""
        numbers = [INTEGER] * self.ids + ([] if self.weight is None else [self.weight])
        fields = [self.prefix, self.separator.join(numbers)] if self.prefix else [self.separator.join(numbers)]
        edge = BLANKS.join(fields) + rb"[ \t]*+\n"
        other = rb"(?:[%s][^\n]*+)?+\n" % re.escape(self.comment)
        return re.compile(rb"(?:[ \t]*+(?:%s|%s))*+" % (edge, other))

    def numbers(self, block: bytes) -> bytes:
        """Good lines without their comments, prefixes and commas: numbers and blanks only."""
        if any(character in block for character in self.comment):
            block = re.sub(rb"(?m)^[ \t]*+[%s][^\n]*+" % re.escape(self.comment), b"", block)
        block = block.translate(None, self.prefix).replace(b",", b" ")  # no number contains the prefix's letter
        return block.translate(FROM_FORTRAN) if self.weight == FORTRAN_REAL else block

    def line_of(self, row: int, block: bytes) -> int:
        """The line of the block, from 1, that holds edge `row`, from 0."""
        lines = (line.strip() for line in block.split(b"\n"))
        edges = [i for i, line in enumerate(lines, 1) if line and line[0] not in self.comment]
        return edges[row]


def edge_line_like_first(source: Source, comment: bytes, separator: bytes) -> EdgeLine:
    """The kind of line, with or without a weight, that the first data line (left unread) is."""
    first = source.data_line(comment)
    if first is None:
        return EdgeLine("u v", comment, separator=separator, weight=None)
    columns = len(re.split(separator, first))
    if columns not in (2, 3):
        raise source.mismatch("u v [w]", first, source.line_number)
    source.unread()
    has_weight = columns == 3
    return EdgeLine("u v w" if has_weight else "u v", comment, b"", separator, REAL if has_weight else None)


def read_block(
    source: Source, line: EdgeLine, lines: Buffer, first: int, shape: tuple[int, int] | None
) -> tuple[Array, ...]:
    """Reads (src, dst) or (src, dst, weights) from a block of whole lines, which `source.line_number` then counts."""
    block = bytes(lines).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    end = line.lines().match(block).end()  # type: ignore[union-attr]
    end = block.rfind(b"\n", 0, end) + 1  # CPython before 3.11.5 may stop inside the bad line
    part = _read_good_lines(source, line, block[:end], first, shape)
    source.line_number += block.count(b"\n", 0, end)
    if end < len(block):
        bad = block[end : block.index(b"\n", end)]
        error = source.mismatch(line.expected, bad, source.line_number + 1)
        raise ValueError(f"{error} (NaN is no weight: leave the entry out)") if NAN.search(bad) else error
    return part


def _read_good_lines(
    source: Source, line: EdgeLine, block: bytes, first: int, shape: tuple[int, int] | None
) -> tuple[Array, ...]:
    def error(message: str, row: int) -> ValueError:
        return source.error(message, source.line_number + line.line_of(row, block))

    text = line.numbers(block)
    if not text.strip():  # np.fromstring makes a number of nothing
        return no_edges(line)
    columns = _columns(text, line, error)
    ends, weights = columns[: line.ids], columns[line.ids :]
    if ends:
        _check_ends(ends[0], ends[1], first, shape, error)
    if weights and weights[0].dtype.kind == "i" and (low := weights[0] < line.lowest).any():
        row = int(low.argmax())
        raise error(f"{weights[0][row]} {line.below}", row)
    return *(narrowed(each, first, shape) for each in ends), *map(narrow, weights)


def _check_ends(
    src: Array, dst: Array, first: int, shape: tuple[int, int] | None, error: Callable[[str, int], ValueError]
) -> None:
    last_src, last_dst = (HIGHEST, HIGHEST) if shape is None else (first + extent - 1 for extent in shape)
    bad_src = (src < first) | (src > last_src)
    bad = bad_src | (dst < first) | (dst > last_dst)
    if bad.any():
        row = int(bad.argmax())
        vertex, last = (src[row], last_src) if bad_src[row] else (dst[row], last_dst)
        raise error(f"vertex {vertex} is {'negative' if shape is None else f'not in {first}..{last}'}", row)


def narrowed(ids: Array, first: int, shape: tuple[int, int] | None) -> Array:
    """Ids counted from 0, in 32 bits if the shape or, where there is none, these ids themselves fit."""
    index_type = index_dtype(int(ids.max(initial=0))) if shape is None else index_dtype(*shape)
    return (ids - first if first else ids).astype(index_type)


def _columns(text: bytes, line: EdgeLine, error: Callable[[str, int], ValueError]) -> list[Array]:
    """The columns of a table of numbers: int64, but float64 for the weights if any of them is real."""
    real = line.always_real or bool(text.translate(None, INTEGER_CHARACTERS))
    table = np.fromstring(text, np.float64 if real else np.int64, sep=" ").reshape(-1, line.columns)
    ids, weights = table[:, : line.ids], table[:, line.ids :]
    if _reach(ids, EXACT_IN_FLOAT if real else EXACT_IN_FROMSTRING) or _reach(weights, EXACT_IN_FROMSTRING):
        return _columns_of_large_numbers(text, line, real, error)
    return [*ids.T.astype(np.int64), *weights.T.copy()]


def _columns_of_large_numbers(
    text: bytes, line: EdgeLine, real: bool, error: Callable[[str, int], ValueError]
) -> list[Array]:
    """As `_columns`, number by number, for integers that NumPy's text reader might not keep."""
    columns = [text.split()[column :: line.columns] for column in range(line.columns)]
    found: list[Array] = []
    for column, fields in enumerate(columns):
        exact = not real or column < line.ids
        numbers = []
        for row, field in enumerate(fields):
            is_integer = column < line.ids or not (line.always_real or re.fullmatch(INTEGER, field) is None)
            digits = field.lstrip(b"+-0") or b"0"
            number = int(digits[:20]) * (-1 if field[:1] == b"-" else 1) if is_integer else 0
            if not LOWEST <= number <= HIGHEST:
                raise error(f"{field[:30].decode()} does not fit into 64 bits with a sign", row)
            numbers.append(number if exact else float(field))
            if abs(numbers[-1]) == math.inf and field.lstrip(b"+-")[:1] not in b"iI":
                raise error(f"{field[:30].decode()} does not fit a float of 64 bits", row)
        found.append(np.array(numbers, np.int64 if exact else np.float64))
    return found


def _reach(numbers: Array, limit: int) -> bool:
    return numbers.size > 0 and (numbers.max() >= limit or numbers.min() <= -limit)


def no_edges(line: EdgeLine) -> tuple[Array, ...]:
    """Returns (src, dst) or (src, dst, weights) of no line."""
    weights = np.empty(0, np.float64 if line.always_real else np.int32)
    return (np.empty(0, np.int32), np.empty(0, np.int32), weights)[2 - line.ids :][: line.columns]
