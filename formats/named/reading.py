"""Edges in text with separators, as spreadsheets write it: a table whose names are numbered while it is read.

Compiled loops read a large file, Python's csv module every other; the table is the same.
"""

from __future__ import annotations

import csv
import gzip
import mmap
import os
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from typing import Any, TextIO, TypeAlias

import numpy as np

from ..arrays import INT32_MAX, Array, fits
from ..io.source import is_gzip
from .compiled import read_columns
from .names import Coded, did_you_mean
from .tables import Table

Column: TypeAlias = str | int
"""A column by its name in the heading, or by its place, from 0."""

SEPARATORS = ",\t;|"
HEADINGS = {"source", "target", "src", "dst", "from", "to", "u", "v", "start", "end", "tail", "head", "origin"}
LARGE_BYTES = 1 << 23
BLOCK = 1 << 14


def read_table(
    path: str | os.PathLike[str],
    source: Column = 0,
    target: Column = 1,
    weight: Column | None = "auto",
    columns: Sequence[str] = (),
    separator: str | None = None,
    header: bool | None = None,
) -> Table:
    """The edges of a file of text with separators; ValueError says `file:line: what was expected`.

    weight: "auto" takes the third column, if there is one; None takes none.  separator: by default the one of comma,
    tab, semicolon and bar that the first line has most of.  header: is the first line a heading? By default, if columns
    are asked for by name, if what it has for a weight is no number, if it calls them `source`, `from` and the like, or
    if it has words where the next line has numbers.
    """
    name = os.fspath(path)
    with _opened(name) as text:
        first, second = _two_lines(text)
    if not first:
        raise ValueError(f"{name}: the file is empty")
    separator = separator or _separator(name, first)
    if len(separator) != 1:
        raise ValueError(f"separator must be one character, got {separator!r}")
    fields = [each.strip() for each in next(csv.reader([first], delimiter=separator, skipinitialspace=True))]
    if weight == "auto":
        weight = 2 if len(fields) > 2 and "auto" not in fields else None
    asked = [source, target, *([] if weight is None else [weight]), *columns]
    if header is None:
        header = _is_heading(fields, asked, weight) or (_are_words(fields) and _NUMBERS.match(second) is not None)
    layout = Layout(name, separator, header, tuple(_place(name, fields, header, each) for each in asked))
    ends, values, rest = layout.read(weight is not None)
    return Table(
        *_as_integers(*ends),
        values,
        dict(zip(columns, rest, strict=True)),
        (f"source {source!r}", f"target {target!r}", f"weight {weight!r}"),
        layout.where,
    )


@dataclass(frozen=True)
class Layout:
    """Where a file has what. places: of the columns asked for: source, target, weight if there is one, and others."""

    path: str
    separator: str
    header: bool
    places: tuple[int, ...]

    def read(self, weighted: bool) -> tuple[list[Coded], Any, list[Any]]:
        """(both columns of names, the weights, the other columns)."""
        found: Sequence[Any] | None = None
        if os.path.getsize(self.path) >= LARGE_BYTES:
            found = read_columns(self.path, self.separator, self._lines_of_heading(), self.places, weighted)
        if found is None:
            found = self._by_csv(weighted)
        return list(found[:2]), _narrow(found[2]) if weighted else None, list(found[3 if weighted else 2 :])

    def _by_csv(self, weighted: bool) -> list[Any]:
        numbers = [defaultdict[str, int](), defaultdict[str, int]()]
        for number in numbers:
            number.default_factory = number.__len__
        blocks: list[list[Any]] = [[] for _ in self.places]
        take = itemgetter(*self.places)
        with _opened(self.path) as text:
            records = self._records(text)
            done = 0
            while block := list(islice(records, BLOCK)):
                try:
                    columns = list(zip(*map(take, block), strict=True))
                except IndexError:
                    short = next(k for k, record in enumerate(block) if len(record) <= max(self.places))
                    raise ValueError(
                        f"{self.where(done + short)}: expected {max(self.places) + 1} fields, got {len(block[short])}"
                    ) from None
                for k, column in enumerate(columns):
                    if k < 2:
                        blocks[k].append(np.fromiter(map(numbers[k].__getitem__, column), np.int64, len(column)))
                    else:
                        blocks[k].append(self._numbers(column, done) if weighted and k == 2 else column)
                done += len(block)
        empty = np.zeros(0, np.int32)
        taken: list[Any] = [
            self._named(Coded(np.concatenate((empty, *codes)), list(number)))
            for codes, number in zip(blocks[:2], numbers, strict=True)
        ]
        for k, parts in enumerate(blocks[2:], 2):
            values = weighted and k == 2
            taken.append(np.concatenate((empty, *parts)) if values else list(chain.from_iterable(parts)))
        return taken

    def _records(self, text: TextIO) -> Iterator[list[str]]:
        """The lines of data, each as its fields."""
        reader = csv.reader(text, delimiter=self.separator, skipinitialspace=True)
        return islice(filter(None, reader), int(self.header), None)

    def _lines_of_heading(self) -> int:
        if not self.header:
            return 0
        with _opened(self.path) as text:
            reader = csv.reader(text, delimiter=self.separator)
            next(filter(None, reader))
            return reader.line_num

    def _named(self, column: Coded) -> Coded:
        """The column, none of whose names is empty."""
        if "" in column.names:
            row = int((column.codes == column.names.index("")).argmax())
            raise ValueError(f"{self.where(row)}: expected a name, got nothing")
        return column

    def _numbers(self, column: Sequence[str], done: int) -> Array:
        """A column of numbers as text, integers if all are."""
        if not any("_" in text for text in column):  # which Python takes for a separator of thousands
            for kind in (int, float):
                try:
                    return np.array(list(map(kind, column)))
                except ValueError:
                    pass
        bad = next(k for k, text in enumerate(column) if not is_number(text))
        place = self.places[2] + 1
        raise ValueError(
            f"{self.where(done + bad)}: expected a number as weight in column {place}, got {column[bad][:60]!r}"
        )

    def where(self, row: int) -> str:
        """The file and line of a row of data."""
        with _opened(self.path) as text:
            reader = csv.reader(text, delimiter=self.separator, skipinitialspace=True)
            next(islice(filter(None, reader), row + int(self.header), None), None)
            return f"{self.path}:{reader.line_num}"


def is_edge_list(path: str) -> bool:
    """Is the file one for `formats.read`?

    Does it open with a comment, or with two numbers, with or without a heading, and has it no number like 007?
    """
    with _opened(path) as text:
        first, second = _two_lines(text)
    if first[:1] in ("#", "%"):
        return True
    if is_gzip(path) or not _NUMBERS.match(second if _are_words(first.split(",")) and "," in first else first):
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return re.search(rb"(?:^|[,\s])0[0-9]", data) is None


_INTEGER = re.compile(r"0|[1-9][0-9]{,999}")
"""A name that is written as Python writes an integer, and not so long that Python refuses to read it."""

_NUMBERS = re.compile(r"[0-9]+[ \t]*[,;|\s][ \t]*[0-9]+[ \t]*([,;|\s]|$)")
"""The names of two vertices, at the start of a line."""


def _are_words(fields: list[str]) -> bool:
    """Do both names begin with a letter?"""
    return all(each.strip()[:1].isalpha() for each in fields[:2])


def _two_lines(text: TextIO) -> tuple[str, str]:
    """The first two lines that are not blank, without the blanks around them."""
    lines = [*islice((line.strip() for line in text if line.strip()), 2), "", ""]
    return lines[0], lines[1]


@contextmanager
def _opened(path: str) -> Iterator[TextIO]:
    """The text of a file, also compressed; ValueError if it is not in UTF-8."""
    with (gzip.open if is_gzip(path) else open)(path, "rt", encoding="utf-8-sig", newline="") as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: expected text in UTF-8: {error}") from error
        except csv.Error as error:
            raise ValueError(f"{path}: {error}") from error
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path}: the gzip data are damaged or cut short: {error}") from error


def _separator(path: str, line: str) -> str:
    best = max(SEPARATORS, key=line.count)
    return best if best in line else " " if " " in line.strip() else ","


def is_number(text: str) -> bool:
    """Does the text write a number?"""
    try:
        return "_" not in text and bool(float(text) == float(text))
    except ValueError:
        return False


def _is_heading(fields: list[str], asked: list[Column], weight: Column | None) -> bool:
    if any(isinstance(each, str) for each in asked):
        return True
    if isinstance(weight, int) and weight < len(fields):
        return not is_number(fields[weight])
    return any(each.lower() in HEADINGS for each in fields[:2])


def _place(path: str, fields: list[str], header: bool, column: Column) -> int:
    """The place of a column; ValueError lists those that there are."""
    if isinstance(column, int):
        if not 0 <= column < len(fields):
            raise ValueError(f"{path}:1: there is no column {column}: the line has {len(fields)}")
        return column
    if not header:
        raise ValueError(f"{path}: column {column!r} needs a heading, and header=False says that there is none")
    if column not in fields:
        listed = ", ".join(map(repr, fields))
        raise ValueError(f"{path}:1: there is no column {column!r}{did_you_mean(column, fields)}; there are {listed}")
    return fields.index(column)


def _as_integers(source: Coded, target: Coded) -> tuple[Coded, Coded]:
    """The columns with integers as names, if every name is written as one."""
    names = (source.names, target.names)
    if not all(_INTEGER.fullmatch(name) for name in chain(*names)):
        return source, target
    return Coded(source.codes, list(map(int, source.names))), Coded(target.codes, list(map(int, target.names)))


def _narrow(values: Any) -> Any:
    """Integers as int32 where they fit, as `read` has them."""
    if values.dtype.kind != "i" or values.dtype == np.int32 or not fits(values, np.int32) or INT32_MAX in values:
        return values
    return values.astype(np.int32)
