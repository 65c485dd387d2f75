"""Edges in text with separators, as spreadsheets write it: a table whose names are numbered while it is read.

Compiled loops read a large file, Python's csv module every other; the table is the same.
"""

from __future__ import annotations

import mmap
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from typing import Any

import numpy as np

from ..arrays import Array, narrowed
from ..io.headings import is_number
from ..io.opening import Held, compression_of, size_of
from .compiled import read_columns
from .layout import MARKS, Column, Layout, Rows, layout_of, opened
from .names import Coded, renamed
from .tables import Table

LARGE_BYTES = 1 << 23
BLOCK = 1 << 14
BLANKS = " \t"


def read_table(
    path: str,
    source: Column = 0,
    target: Column = 1,
    weight: Column | None = "auto",
    columns: Sequence[str] = (),
    separator: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
) -> Table:
    """The edges of a file of text with separators; ValueError says `file:line: what was expected`.

    weight: "auto" takes the column whose heading says so, or the third, if there is one; None takes none.  separator,
    header, comment: see `layout_of`; by default the file tells.
    """
    layout, first = layout_of(path, source, target, weight, columns, separator, header, comment)
    reader = Reader(layout)
    ends, values, rest = reader.read()
    if layout.header is None:
        _check_first_edge(layout, first, ends)
    return Table(
        *_as_integers(*ends),
        values,
        dict(zip(columns, rest, strict=True)),
        reader.what,
        reader.where,
    )


def _check_first_edge(layout: Layout, first: Sequence[str], ends: Sequence[Coded]) -> None:
    """ValueError if the first line may be a heading: words alone, which are the names of no other edge."""
    size = len(ends[0].codes)
    codes = [end.codes for end in ends]
    names = [{name: code for code, name in enumerate(end.names)} for end in ends]
    for at in layout.places[:2]:
        rows = [code == number[first[at]] for code, number in zip(codes, names, strict=True) if first[at] in number]
        if size < 2 or sum(int(each.sum()) for each in rows) > 1:
            return
    shown = layout.syntax.separator.join(first)
    raise ValueError(
        f"{layout.syntax.path}:1: {shown[:60]!r} can be a heading, or an edge: say header=True or header=False"
    )


@dataclass(frozen=True)
class Reader:
    """Reads the rows of a table."""

    layout: Layout

    @property
    def what(self) -> tuple[str, str, str]:
        """The words by which errors call the columns of the edges."""
        names = [*self.layout.names, "none"]
        return f"source {names[0]!r}", f"target {names[1]!r}", f"weight {names[2]!r}"

    def read(self) -> tuple[list[Coded], Any, list[Any]]:
        """Reads (both columns of names, the weights, the other columns)."""
        layout, syntax = self.layout, self.layout.syntax
        found: Sequence[Any] | None = None
        marks = "".join(MARKS) if syntax.comment is None else syntax.comment
        usual = len(marks) < 3 and (syntax.comment is None or len(marks) < 2) and marks.isascii()
        if size_of(syntax.path) >= LARGE_BYTES and usual:
            skipped = self._line_before_data()
            found = read_columns(
                syntax.path, syntax.separator, skipped, layout.places, layout.weighted, layout.width, marks
            )
        if found is None:
            found = self._by_csv()
        values = narrowed(found[2]) if layout.weighted else None
        return [_cleaned(end) for end in found[:2]], values, list(found[3 if layout.weighted else 2 :])

    def _by_csv(self) -> list[Any]:
        layout = self.layout
        numbers = [defaultdict[str, int](), defaultdict[str, int]()]
        for number in numbers:
            number.default_factory = number.__len__
        blocks: list[list[Any]] = [[] for _ in layout.places]
        take = itemgetter(*layout.places)
        with opened(layout.syntax.path) as text:
            records = islice(Rows(text, layout.syntax), int(bool(layout.header)), None)
            done = 0
            while block := list(islice(records, BLOCK)):
                if max(map(len, block)) > layout.width:
                    self._check_width(block, done)
                try:
                    columns = list(zip(*map(take, block), strict=True))
                except IndexError:
                    needed = max(layout.places) + 1
                    short = next(k for k, record in enumerate(block) if len(record) < needed)
                    raise ValueError(
                        f"{self.where(done + short)}: expected {needed} fields, got {len(block[short])}"
                    ) from None
                for k, column in enumerate(columns):
                    if k < 2:
                        blocks[k].append(np.fromiter(map(numbers[k].__getitem__, column), np.int64, len(column)))
                    else:
                        blocks[k].append(self._numbers(column, done) if layout.weighted and k == 2 else column)
                done += len(block)
        empty = np.zeros(0, np.int32)
        taken: list[Any] = [
            self._named(Coded(np.concatenate((empty, *codes)), list(number)))
            for codes, number in zip(blocks[:2], numbers, strict=True)
        ]
        for k, parts in enumerate(blocks[2:], 2):
            values = layout.weighted and k == 2
            taken.append(np.concatenate((empty, *parts)) if values else list(chain.from_iterable(parts)))
        return taken

    def _check_width(self, block: list[list[str]], done: int) -> None:
        """ValueError for a record with more fields than the first one, unless the others are empty."""
        for k, record in enumerate(block):
            if any(field.strip() for field in record[self.layout.width :]):
                raise ValueError(
                    f"{self.where(done + k)}: expected {self.layout.width} fields, as in the first line, got "
                    f"{len(record)} (a comma within a field needs quotation marks, and decimals a point)"
                )

    def _line_before_data(self) -> int:
        """The last line of the heading and of comments before the data."""
        syntax, header = self.layout.syntax, bool(self.layout.header)
        with opened(syntax.path) as text:
            rows = Rows(text, syntax)
            records = iter(rows)
            if header:
                next(records)
                return rows.number
            begin = next(records, None)
            return rows.number - 1 if begin is not None and not any("\n" in field for field in begin) else 0

    def _named(self, column: Coded) -> Coded:
        """The column, none of whose names is empty."""
        for place, name in enumerate(column.names):
            if not name.strip(BLANKS):
                row = int((column.codes == place).argmax())
                raise ValueError(f"{self.where(row)}: expected a name, got nothing")
        return column

    def _numbers(self, column: Sequence[str], done: int) -> Array:
        """A column of numbers as text, integers if all are."""
        if not any("_" in text for text in column):  # which Python takes for a separator of thousands
            for kind in (int, float):
                try:
                    numbers = np.array(list(map(kind, column)))
                except ValueError:
                    continue
                infinite = np.isinf(numbers).nonzero()[0].tolist() if kind is float else []
                if far := [k for k in infinite if "i" not in column[k].lower()]:  # which is not spelt as infinity is
                    text = column[far[0]][:60]
                    raise ValueError(f"{self.where(done + far[0])}: {text} does not fit a float of 64 bits")
                if kind is int or not np.isnan(numbers).any():
                    return numbers
        bad = next(k for k, text in enumerate(column) if not is_number(text))
        place = self.layout.places[2] + 1
        why = _hint(column[bad])
        if done + bad == 0 and self.layout.header is not True:
            why += "; if this line is a heading, say header=True"
        raise ValueError(
            f"{self.where(done + bad)}: expected a number as weight in column {place}, got {column[bad][:60]!r}{why}"
        )

    def where(self, row: int) -> str:
        """The file and line of a row of data."""
        layout = self.layout
        with opened(layout.syntax.path) as text:
            rows = Rows(text, layout.syntax)
            next(islice(rows, row + int(bool(layout.header)), None), None)
            return f"{layout.syntax.path}:{rows.number}"


def _hint(text: str) -> str:
    """Hints at what may be wrong with a text that is no number."""
    if re.fullmatch(r"[-+]?[0-9][0-9.,_ '\u00a0\u202f]*", text.strip()):
        return ": numbers have a decimal point, and nothing between thousands"
    return ""


def _cleaned(column: Coded) -> Coded:
    """The column, with names without the blanks around them."""
    names = [name.strip(BLANKS) for name in column.names]
    return column if names == column.names else renamed(column, names)


def is_edge_list(path: str) -> bool:
    """True if `formats.read`, whose compiled loops take integers, can read a table of which nothing is asked.

    Then its columns are in the usual order, and its first edge has two integers. No name is written like 007, and no
    line can be either a comment or an edge. A later line may still be of another kind.
    """
    if isinstance(path, Held) or compression_of(path):
        return False
    layout, _ = layout_of(path, 0, 1, "auto", (), None, None, None)
    if not layout.is_by_place or layout.syntax.separator not in ", \t":
        return False
    with opened(path) as text:
        edge = next(islice(Rows(text, layout.syntax), int(bool(layout.header)), None), [])
    if not all(_INTEGER.fullmatch(field.strip()) for field in edge[:2]) or len(edge) > 3:
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        marked = data.find(b"#") >= 0 or data.find(b"%") >= 0
        return not (_ODD_NUMBER.search(data) or (marked and _MARKED.search(data)))


_ODD_NUMBER = re.compile(rb"0(?<=[,\s]0)[0-9]")
"""A number like 007, behind the first line. It begins with its rarest letter, which makes the search fast."""

_MARKED = re.compile(rb"(?<=[\r\n])[ \t]*[#%][^#%\s]")
"""The start of a line that can be a comment, or an edge of a vertex whose name begins so."""

_INTEGER = re.compile(r"0|[1-9][0-9]{,999}")
"""A name that is written as Python writes an integer, and not so long that Python refuses to read it."""


def _as_integers(source: Coded, target: Coded) -> tuple[Coded, Coded]:
    """The columns with integers as names, if every name is written as one."""
    names = (source.names, target.names)
    if not all(_INTEGER.fullmatch(name) for name in chain(*names)):
        return source, target
    return Coded(source.codes, list(map(int, source.names))), Coded(target.codes, list(map(int, target.names)))
