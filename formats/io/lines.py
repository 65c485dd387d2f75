"""Lines of numbers, read into arrays: one regular expression checks them, NumPy converts them, a block at a time.

A block of about a megabyte is matched as a whole, (edge | comment | blank line)*. Where the match stops before the
block ends, there the first bad line begins; no second, careful reader is needed to find it. Cost: a few passes in C
over the text, and memory for one block beside the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, index_dtype
from .source import Source

INTEGER = rb"[-+]?+\d++"
REAL = rb"[-+]?+(?:(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?+\d++)?+|(?i:inf(?:inity)?+))"  # NaN is no number here
BLANKS = rb"[ \t]++"
BLANKS_OR_COMMA = rb"(?:[ \t]++(?:,[ \t]*+)?+|,[ \t]*+)"

INTEGER_CHARACTERS = b"0123456789+- \t\r\n"
EXACT_IN_FLOAT = 2**53
EXACT_IN_FROMSTRING = 10**18  # np.fromstring saturates silently at 2**63: look closer well before that


@dataclass(frozen=True)
class EdgeLine:
    """What a line that holds an edge looks like: prefix, source, target, weight."""

    expected: str  # such a line, as error messages show it
    comment: bytes  # the characters that open a comment line
    prefix: bytes = b""
    separator: bytes = BLANKS
    weight: bytes | None = REAL  # INTEGER, REAL, or None for lines without a weight
    always_real: bool = False  # are weights that look like integers real, too?

    @property
    def columns(self) -> int:
        return 2 if self.weight is None else 3

    def lines(self) -> re.Pattern[bytes]:
        """The pattern of any number of good lines."""
        numbers = [INTEGER, INTEGER] + ([] if self.weight is None else [self.weight])
        fields = [self.prefix, self.separator.join(numbers)] if self.prefix else [self.separator.join(numbers)]
        edge = BLANKS.join(fields) + rb"[ \t]*+\r?+\n"
        other = rb"(?:[%s][^\n]*+)?+\r?+\n" % re.escape(self.comment)
        return re.compile(rb"(?:[ \t]*+(?:%s|%s))*+" % (edge, other))

    def numbers(self, block: bytes) -> bytes:
        """Good lines without their comments, prefixes and commas: numbers and blanks only."""
        if any(character in block for character in self.comment):
            block = re.sub(rb"(?m)^[ \t]*+[%s][^\n]*+" % re.escape(self.comment), b"", block)
        return block.translate(None, self.prefix).replace(b",", b" ")  # no number contains the prefix's letter

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
    source.unread(first)
    has_weight = columns == 3
    return EdgeLine("u v w" if has_weight else "u v", comment, b"", separator, REAL if has_weight else None)


def read_edge_lines(
    source: Source, line: EdgeLine, first: int, shape: tuple[int, int] | None = None
) -> tuple[Array, Array, Array | None]:
    """(src, dst, weights) of the rest of the file, ids counted from 0; weights int64 or float64, or None.

    first: the file's smallest id, 0 or 1.  shape: the numbers of ids allowed as source and as target; None: any.
    Raises ValueError that names the line which is no edge, or holds an id out of range or a number above 64 bits.
    """
    parts = [read_block(source, line, block, first, shape) for block in good_blocks(source, line)]
    if not parts:
        parts.append(_no_edges(line))
    src, dst, *weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return src, dst, weights[0] if weights else None


def good_blocks(source: Source, line: EdgeLine) -> Iterator[bytes]:
    """The rest of the file in blocks of whole lines, all as `line` says; ValueError names the first that is not."""
    good_lines = line.lines()
    for block in source.blocks():
        end = good_lines.match(block).end()  # type: ignore[union-attr]
        end = block.rfind(b"\n", 0, end) + 1  # CPython before 3.11.5 may stop inside the bad line
        yield block[:end]
        if end < len(block):
            bad = block[end : block.index(b"\n", end)]
            raise source.mismatch(line.expected, bad, source.line_number + block.count(b"\n", 0, end) + 1)


def read_block(
    source: Source, line: EdgeLine, block: bytes, first: int, shape: tuple[int, int] | None
) -> tuple[Array, ...]:
    def error(message: str, row: int) -> ValueError:
        return source.error(message, source.line_number + line.line_of(row, block))

    text = line.numbers(block)
    if not text.strip():  # np.fromstring makes a number of nothing
        return _no_edges(line)
    src, dst, *weights = _columns(text, line, error)

    last_src, last_dst = (np.inf, np.inf) if shape is None else (first + extent - 1 for extent in shape)
    bad_src = (src < first) | (src > last_src)
    bad = bad_src | (dst < first) | (dst > last_dst)
    if bad.any():
        row = int(bad.argmax())
        vertex, last = (src[row], last_src) if bad_src[row] else (dst[row], last_dst)
        raise error(f"vertex {vertex} is {'negative' if shape is None else f'not in {first}..{last}'}", row)
    index_type = np.int64 if shape is None else index_dtype(*shape)
    return (src - first).astype(index_type), (dst - first).astype(index_type), *weights


def _columns(text: bytes, line: EdgeLine, error: Callable[[str, int], ValueError]) -> list[Array]:
    """The columns of a table of numbers: int64, but float64 for the weights if any of them is real."""
    real = line.always_real or bool(text.translate(None, INTEGER_CHARACTERS))
    table = np.fromstring(text, np.float64 if real else np.int64, sep=" ").reshape(-1, line.columns)
    ids, weights = table[:, :2], table[:, 2:]
    if _reach(ids, EXACT_IN_FLOAT if real else EXACT_IN_FROMSTRING) or _reach(weights, EXACT_IN_FROMSTRING):
        return _columns_of_large_numbers(text, line, real, error)
    return [*ids.T.astype(np.int64), *weights.T.copy()]


def _columns_of_large_numbers(
    text: bytes, line: EdgeLine, real: bool, error: Callable[[str, int], ValueError]
) -> list[Array]:
    """As `_columns`, number by number, for integers that NumPy's text reader might not keep."""
    fields = text.split()
    for i, field in enumerate(fields):
        is_integer = i % line.columns < 2 or not (line.always_real or re.fullmatch(INTEGER, field) is None)
        if is_integer and (len(field.lstrip(b"+-0")) > 19 or not -(2**63) <= int(field) < 2**63):
            raise error(f"{field[:30].decode()} does not fit into 64 bits", i // line.columns)
    src, dst, *weights = (fields[column :: line.columns] for column in range(line.columns))
    ids = [np.array([int(field) for field in column], dtype=np.int64) for column in (src, dst)]
    number, dtype = (float, np.float64) if real else (int, np.int64)
    return ids + [np.array([number(field) for field in column], dtype=dtype) for column in weights]


def _reach(numbers: Array, limit: int) -> bool:
    return numbers.size > 0 and (numbers.max() >= limit or numbers.min() <= -limit)


def _no_edges(line: EdgeLine) -> tuple[Array, ...]:
    return tuple(np.empty(0, dtype=np.int64) for _ in range(line.columns))
