"""Lines of numbers, read into arrays a block at a time.

One regular expression checks a block, and NumPy converts it. The expression matches the block as a whole, (edge |
comment | blank line)*, so the first bad line begins where the match stops. This reader defines what a file means. A
large file is read by a compiled loop (`compiled.py`), which passes on to this one what it does not take.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, index_dtype
from .edges import narrow
from .source import Buffer, Source

INTEGER = rb"[-+]?+\d++"
REAL = rb"[-+]?+(?:(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?+\d++)?+|(?i:inf(?:inity)?+))"  # NaN is no number here
BLANKS = rb"[ \t]++"
BLANKS_OR_COMMA = rb"(?:[ \t]++(?:,[ \t]*+)?+|,[ \t]*+)"

INTEGER_CHARACTERS = b"0123456789+- \t\n"
COMPILED_FROM_BYTES = 1 << 19
LOADED_FROM_BYTES = 1 << 22
MARGIN = 1.05

EXACT_IN_FLOAT = 2**53
LOWEST, HIGHEST = -(2**63), 2**63 - 1
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
    lowest: int = LOWEST  # the least integer weight

    @property
    def columns(self) -> int:
        return 2 if self.weight is None else 3

    def lines(self) -> re.Pattern[bytes]:
        """The pattern of any number of good lines."""
        numbers = [INTEGER, INTEGER] + ([] if self.weight is None else [self.weight])
        fields = [self.prefix, self.separator.join(numbers)] if self.prefix else [self.separator.join(numbers)]
        edge = BLANKS.join(fields) + rb"[ \t]*+\n"
        other = rb"(?:[%s][^\n]*+)?+\n" % re.escape(self.comment)
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
    source.unread()
    has_weight = columns == 3
    return EdgeLine("u v w" if has_weight else "u v", comment, b"", separator, REAL if has_weight else None)


def read_edge_lines(
    source: Source, line: EdgeLine, first: int, shape: tuple[int, int] | None = None
) -> tuple[Array, Array, Array | None]:
    """(src, dst, weights) of the rest of the file, ids counted from 0; weights int32, int64 or float64, or None.

    first: the file's smallest id, 0 or 1.  shape: the numbers of ids allowed as source and as target; None: any.
    Raises ValueError that names the line which is no edge, or holds an id out of range or a number above 64 bits.
    """
    read: Callable[..., tuple[Array, ...]] = read_block
    columns, read_bytes = [Column(part) for part in _no_edges(line)], 0
    for block in source.blocks():
        if read is read_block and worth_compiling(len(block), read_bytes):
            from .compiled import Reader

            read = Reader().read_block
        parts = read(source, line, block, first, shape)
        read_bytes += len(block)
        share = min(read_bytes / source.size, 1.0) if source.size else 0.5
        for column, part in zip(columns, parts, strict=True):
            column.append(part, share)
    src, dst, *weights = (column.finished() for column in columns)
    return src, dst, weights[0] if weights else None


class Column:
    """An array that grows at its end; its dtype is one that all parts have room in."""

    def __init__(self, part: Array) -> None:
        self._array, self._size = part, part.size

    def append(self, part: Array, share: float) -> None:
        """Add a part. share: how much of all there will be is then there, if more comes at the same rate."""
        size, dtype = self._size + part.size, np.result_type(self._array.dtype, part.dtype)
        if size > self._array.size or dtype != self._array.dtype:
            before, self._array = self._array, np.empty(int(size / share * MARGIN), dtype)
            self._array[: self._size] = before[: self._size]
        self._array[self._size : size] = part
        self._size = size

    def finished(self) -> Array:
        """The array, without room for more."""
        array, self._array = self._array, np.empty(0)
        array.resize(self._size, refcheck=False)  # without a copy
        return array


def worth_compiling(block_bytes: int, read_bytes: int) -> bool:
    """Is a block of a file, after so many bytes of it, the place to go over to the compiled loop?

    Loading the loop takes as long as reading some megabytes without it.
    """
    loaded = f"{__package__}.compiled" in sys.modules
    return read_bytes + block_bytes > (COMPILED_FROM_BYTES if loaded else LOADED_FROM_BYTES)


def read_block(
    source: Source, line: EdgeLine, lines: Buffer, first: int, shape: tuple[int, int] | None
) -> tuple[Array, ...]:
    """(src, dst) or (src, dst, weights) of a block of whole lines; `source.line_number` then counts them, too."""
    block = bytes(lines).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    end = line.lines().match(block).end()  # type: ignore[union-attr]
    end = block.rfind(b"\n", 0, end) + 1  # CPython before 3.11.5 may stop inside the bad line
    part = _read_good_lines(source, line, block[:end], first, shape)
    source.line_number += block.count(b"\n", 0, end)
    if end < len(block):
        raise source.mismatch(line.expected, block[end : block.index(b"\n", end)], source.line_number + 1)
    return part


def _read_good_lines(
    source: Source, line: EdgeLine, block: bytes, first: int, shape: tuple[int, int] | None
) -> tuple[Array, ...]:
    def error(message: str, row: int) -> ValueError:
        return source.error(message, source.line_number + line.line_of(row, block))

    text = line.numbers(block)
    if not text.strip():  # np.fromstring makes a number of nothing
        return _no_edges(line)
    src, dst, *weights = _columns(text, line, error)

    last_src, last_dst = (HIGHEST, HIGHEST) if shape is None else (first + extent - 1 for extent in shape)
    bad_src = (src < first) | (src > last_src)
    bad = bad_src | (dst < first) | (dst > last_dst)
    if bad.any():
        row = int(bad.argmax())
        vertex, last = (src[row], last_src) if bad_src[row] else (dst[row], last_dst)
        raise error(f"vertex {vertex} is {'negative' if shape is None else f'not in {first}..{last}'}", row)
    if weights and weights[0].dtype.kind == "i" and (low := weights[0] < line.lowest).any():
        raise error(f"{line.lowest - 1} has no counterpart of the other sign in 64 bits", int(low.argmax()))
    return narrowed(src, first, shape), narrowed(dst, first, shape), *map(narrow, weights)


def narrowed(ids: Array, first: int, shape: tuple[int, int] | None) -> Array:
    """Ids counted from 0, in 32 bits if the shape or, where there is none, these ids themselves fit."""
    index_type = index_dtype(int(ids.max(initial=0))) if shape is None else index_dtype(*shape)
    return (ids - first if first else ids).astype(index_type)


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
    columns = [text.split()[column :: line.columns] for column in range(line.columns)]
    found: list[Array] = []
    for column, fields in enumerate(columns):
        exact = not real or column < 2
        numbers = []
        for row, field in enumerate(fields):
            is_integer = column < 2 or not (line.always_real or re.fullmatch(INTEGER, field) is None)
            digits = field.lstrip(b"+-0") or b"0"
            number = int(digits[:20]) * (-1 if field[:1] == b"-" else 1) if is_integer else 0
            if not LOWEST <= number <= HIGHEST:
                raise error(f"{field[:30].decode()} does not fit into 64 bits", row)
            numbers.append(number if exact else float(field))
        found.append(np.array(numbers, np.int64 if exact else np.float64))
    return found


def _reach(numbers: Array, limit: int) -> bool:
    return numbers.size > 0 and (numbers.max() >= limit or numbers.min() <= -limit)


def _no_edges(line: EdgeLine) -> tuple[Array, ...]:
    weights = np.empty(0, np.float64 if line.always_real else np.int32)
    return (np.empty(0, np.int32), np.empty(0, np.int32), weights)[: line.columns]
