"""The layout of a table of edges: its separator, its comments, whether it has a heading, and which columns count."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO, TypeAlias

from ..io.headings import OTHERS, SOURCES, TARGETS, WEIGHTS, Roles, folded, is_number, is_word, one_of, roles
from ..io.opening import open_content, suffix_of
from .names import did_you_mean

Column: TypeAlias = str | int
"""A column by its name in the heading, or by its place, from 0."""

SEPARATORS = ",\t;|"
TO_SAY = "say source=, target= and weight= (None for no weights), the columns to take"
"""Words in which errors ask; the command line has others for them."""

TEXT, GRAPHML = (".csv", ".tsv", ".tab", ".psv"), ".graphml"
"""Endings of files of tables, and of GraphML's."""

MARKS = ("#", "%")
"""Marks that comments begin with, unless a table says otherwise."""


def may_have_names(file: str) -> bool:
    """True if the vertices in a file may have other names than the numbers that `formats.read` knows."""
    return suffix_of(file) in (*TEXT, GRAPHML)


@contextmanager
def opened(path: str) -> Iterator[TextIO]:
    """The text of a file, also compressed; ValueError if it is not in UTF-8."""
    with open_content(path) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: expected text in UTF-8: {error}") from error
        except csv.Error as error:
            raise ValueError(f"{path}: {error}") from error


@dataclass(frozen=True)
class Syntax:
    """How lines of a table are read.

    comment: what a comment begins with, "" for no comments.  By default (None) "#" and "%" begin one where the line
    cannot be an edge: a blank follows, or there are fewer than `fields`.
    """

    path: str
    separator: str
    comment: str | None
    fields: int = 2

    def is_comment(self, line: str, number: int) -> bool:
        """True if the line is a comment; ValueError if it can be one, or an edge of a vertex whose name begins so."""
        begin = line.lstrip(" \t")
        if self.comment is not None:
            return bool(self.comment) and begin.startswith(self.comment)
        if not begin.startswith(MARKS):
            return False
        after = begin[1:2]
        if not after.strip() or after in MARKS or len(self.split(begin)) < self.fields or self.heading_of(begin):
            return True
        raise ValueError(
            f"{self.path}:{number}: this line can be a comment, or an edge of a vertex {self.split(begin)[0]!r}: "
            f"say comment={begin[0]!r} to skip such lines, or comment='' to read them"
        )

    def split(self, line: str) -> list[str]:
        """The fields of a line, without the blanks around them."""
        record = next(csv.reader([line], delimiter=self.separator, skipinitialspace=True), [])
        return [field.strip() for field in record]

    def heading_of(self, line: str) -> list[str] | None:
        """The fields of a heading within a comment, as in `#source,target`; None if it is none."""
        fields = self.split(line.lstrip("#% \t"))
        return fields if _roles(self.path, 0, fields) is not None else None


class Rows:
    """The records of a table, one after the other. number: the line that was read last."""

    def __init__(self, text: TextIO, syntax: Syntax) -> None:
        self.number = 0
        self.last_comment = ""
        self._text, self._syntax = text, syntax
        self._begins = True  # does the next line begin a record?

    def _lines(self) -> Iterator[str]:
        odd = "#% \t" + (self._syntax.comment or "")[:1]
        for line in self._text:
            self.number += 1
            if self._begins and line[0] in odd:
                if self._syntax.is_comment(line, self.number):
                    self.last_comment = line
                    continue
                if not line.strip(" \r\n"):
                    continue
            self._begins = False
            yield line

    def __iter__(self) -> Iterator[list[str]]:
        for record in csv.reader(self._lines(), delimiter=self._syntax.separator, skipinitialspace=True):
            self._begins = True
            if record:
                yield record


@dataclass(frozen=True)
class Layout:
    """Where a table has what. header: is the first record a heading? None: it may be one, or an edge.

    places: of the source, the target, the weight if there is one, and of more columns.  width: fields of a record.
    """

    syntax: Syntax
    header: bool | None
    places: tuple[int, ...]
    weighted: bool
    width: int
    names: tuple[str, ...] = ()

    @property
    def is_by_place(self) -> bool:
        """True if the columns are the first, the second, and for weights the third."""
        return self.places == tuple(range(2 + self.weighted))


def layout_of(
    path: str,
    source: Column,
    target: Column,
    weight: Column | None,
    columns: Sequence[str],
    separator: str | None,
    header: bool | None,
    comment: str | None,
) -> tuple[Layout, list[str]]:
    """Returns (where the file has what, its first record); ValueError where it cannot be told."""
    if separator is not None and len(separator) != 1:
        raise ValueError(f"separator must be one character, got {separator!r}")
    syntax = Syntax(path, separator or _separator(path, comment), comment)
    with opened(path) as text:
        rows = Rows(text, syntax)
        records = iter(rows)
        first = [field.strip() for field in next(records, [])]
        line, said = rows.number, rows.last_comment
        second = [field.strip() for field in next(records, [])]
    if not first:
        raise ValueError(f"{path}: the file has comments only, and no edge")
    place = f"{path}:{line}"
    within = syntax.heading_of(said) if said and header is None else None
    heading = within if within is not None and len(within) == len(first) else first
    by_name = any(isinstance(each, str) for each in (source, target, *columns)) or (
        isinstance(weight, str) and (weight != "auto" or "auto" in heading)
    )
    if heading is within:
        header = False
    elif header is None:
        header = True if by_name else is_heading(place, first, second)
    if by_name and not header and heading is first:
        bad = next(each for each in (source, target, weight, *columns) if isinstance(each, str) and each != "auto")
        raise ValueError(f"{path}: column {bad!r} needs a heading, and header=False says that there is none")
    named, sample = heading if header or heading is within else None, second if header else first
    ends, weight = _chosen(place, named, sample, source, target, weight, len(first))
    asked = [*ends, *([] if weight is None else [weight]), *columns]
    places = tuple(_place(place, heading, each) for each in asked)
    syntax = Syntax(path, syntax.separator, comment, max(places) + 1)
    return Layout(syntax, header, places, weight is not None, len(first), tuple(map(str, asked))), first


def _separator(path: str, comment: str | None) -> str:
    """The one of comma, tab, semicolon and bar that the first line of data has most of; else a blank."""
    marks = MARKS if comment is None else (comment,) if comment else ()
    first = ""
    with opened(path) as text:
        for line in text:
            if line.strip() and (not first or not line.lstrip().startswith(marks)):
                first = line.strip(" \r\n")
                if not marks or not line.lstrip().startswith(marks):
                    break
    if not first.strip():
        raise ValueError(f"{path}: the file is empty")
    best = max(SEPARATORS, key=first.count)
    return best if best in first else " " if " " in first.strip() else ","


def _roles(place: str, line: int, fields: Sequence[str]) -> Roles | None:
    try:
        return roles(fields)
    except ValueError as error:
        where = f"{place}:{line}" if line else place
        raise ValueError(f"{where}: {error}: {TO_SAY}") from None


def is_heading(place: str, first: Sequence[str], second: Sequence[str]) -> bool | None:
    """True if the first record is a heading; None if it may be one, or an edge between vertices that are called so.

    A heading is words. They are known ones, such as `from` and `km`, or stand above numbers.
    """
    if any(map(is_number, first)) or not any(map(is_word, first)):
        return False
    known = _roles(place, 0, first)
    if known is not None:
        short = max(len(first[known.source]), len(first[known.target])) == 1
        return None if short and second and max(map(len, second[:2])) == 1 and not any(map(is_number, second)) else True
    if first[0] == "" and all(map(is_word, first[1:])):
        return True  # as pandas writes a table with its index
    ends = [folded(field) for field in first[:2]]
    if all(map(is_word, first)) and any(len(end) > 1 and end in SOURCES | TARGETS for end in ends):
        return True
    above = [is_number(below) for below in second[: len(first)]]
    if all(map(is_word, first)) and above and (all(above[:2]) or any(_weights(above, first))):
        return True
    return None if all(map(is_word, first)) else False


def _weights(above: Sequence[bool], first: Sequence[str]) -> Iterator[bool]:
    """Tells for each column if a word for weights, or for numbers of rows, stands above a number."""
    return (number and folded(field) in WEIGHTS | OTHERS for number, field in zip(above, first, strict=False))


def _chosen(
    place: str,
    heading: Sequence[str] | None,
    sample: Sequence[str],
    source: Column,
    target: Column,
    weight: Column | None,
    width: int,
) -> tuple[tuple[Column, Column], Column | None]:
    """Returns (the columns of both ends, that of the weights).

    Known words of the heading say it where nobody else does.
    """
    automatic = weight == "auto" and (heading is None or "auto" not in heading)
    if heading is None:
        return (source, target), (2 if width > 2 else None) if automatic else weight
    known = _roles(place, 0, heading)
    if (source, target) == (0, 1):
        if known is not None:
            source, target = known.source, known.target
        else:
            _check_ends(place, heading)
    if not automatic:
        return (source, target), weight
    ends = [_place(place, heading, each) for each in (source, target)]
    return (source, target), _weight(place, heading, sample, ends)


def _check_ends(place: str, heading: Sequence[str]) -> None:
    """ValueError if known words say that the first two columns are not the source and the target."""
    for at, (own, what) in enumerate(((SOURCES, "source"), (TARGETS, "target"))):
        for k, field in enumerate(heading):
            word = folded(field)
            elsewhere = word in own and k != at and not (len(word) == 1 and k > 1)
            if elsewhere or (k == at and (field == "" or word in (WEIGHTS | OTHERS))):
                raise ValueError(
                    f"{place}: the heading {', '.join(map(repr, heading))} does not say that column {at + 1} is the "
                    f"{what}: {TO_SAY}"
                )


def _weight(place: str, heading: Sequence[str], sample: Sequence[str], ends: Sequence[int]) -> int | None:
    """The column of weights: the one that is called so, or the third if nothing speaks against it."""
    try:
        named = one_of([folded(field) for field in heading], WEIGHTS, 2, ends)
    except ValueError as error:
        raise ValueError(f"{place}: {error}: {TO_SAY}") from None
    if named is not None:
        return named
    left = [k for k, field in enumerate(heading) if k not in ends and field and folded(field) not in OTHERS]
    if not left:
        return None
    if left[0] == 2 and sorted(ends) == [0, 1] and (not sample or is_number(sample[2]) or not is_word(sample[2])):
        return 2
    listed = ", ".join(repr(heading[k]) for k in left)
    raise ValueError(f"{place}: it is not clear whether {listed} has the weights: {TO_SAY}")


def _place(place: str, fields: Sequence[str], column: Column) -> int:
    """The place of a column; ValueError lists those that there are."""
    if isinstance(column, int):
        if not 0 <= column < len(fields):
            raise ValueError(f"{place}: there is no column {column}: the line has {len(fields)}")
        return column
    if column not in fields:
        listed = ", ".join(map(repr, fields))
        raise ValueError(f"{place}: there is no column {column!r}{did_you_mean(column, fields)}; there are {listed}")
    return fields.index(column)
