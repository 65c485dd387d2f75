"""Edge lists, `.txt`, `.el`, `.tsv`, `.edges`, `.csv`: one edge a line, any non-negative integers as vertex ids.

    # a comment, also with %
    30 1412           source, target and, in all lines or in none, weight; between them blanks, tabs or a comma

Ids need not be contiguous: the vertices are the ids that occur, in ascending order, so a vertex without edges cannot
be told. A file may open with a line of column names: known ones, as `from` and `to`, or words between commas.

Source: J. Leskovec, A. Krevl, SNAP Datasets: Stanford Large Network Dataset Collection, 2014,
https://snap.stanford.edu/data
"""

from __future__ import annotations

from functools import partial
from typing import BinaryIO

from ..arrays import Array
from ..matrix.base import Matrix
from .compaction import compact
from .edges import Edges
from .headings import WEIGHTS, Roles, folded, is_word, one_of, roles
from .kind import FileKind
from .lines import BLANKS_OR_COMMA, edge_line_like_first
from .reading import read_edge_lines
from .source import Source
from .writing import check_square, write_lines

COMMENT = b"#%"


def read(source: Source) -> Edges:
    _skip_heading(source)
    line = edge_line_like_first(source, COMMENT, BLANKS_OR_COMMA)
    src, dst, weights = read_edge_lines(source, line, first=0)
    labels, src, dst = compact(src, dst)
    return Edges(src, dst, weights, (len(labels), len(labels)), labels)


def _skip_heading(source: Source) -> None:
    """Pass over a line of column names, which stand in the order of the columns; ValueError if they do not.

    They are known ones, or words between commas above numbers.
    """
    opening = source.data_line(COMMENT)
    if opening is None:
        return
    text, line = opening.decode("utf-8", "replace"), source.line_number
    fields = [field.strip(' \t"') for field in (text.split(",") if "," in text else text.split() or [""])]
    if not is_word(fields[0]):
        source.unread()
        return
    if not all(map(is_word, fields)):
        raise source.error(f"expected 'u v [w]', got {text[:60]!r} ({NAMED})", line)
    try:
        known, weight = roles(fields), one_of([folded(field) for field in fields], WEIGHTS, 2)
    except ValueError as error:
        raise source.error(f"{error} ({CHOSEN})", line) from None
    if known not in (None, Roles(0, 1)) or weight not in (None, 2):
        raise source.error(f"the heading {text[:60]!r} does not say source, target, weight ({CHOSEN})", line)
    if known is None:
        following = source.data_line(COMMENT) if "," in text else None
        if following is None:
            raise source.error(f"expected 'u v [w]', got {text[:60]!r} ({NAMED})", line)
        source.unread()


NAMED = "algorithms.Graph.read reads tables of names"
CHOSEN = "algorithms.Graph.read(file, source, target, weight) chooses columns"


def write(stream: BinaryIO, A: Matrix, labels: Array | None, *, heading: str, separator: str) -> None:
    check_square(A.shape, "An edge list")
    rows, cols, values = A.to_edges()
    if labels is not None:
        rows, cols = labels[rows], labels[cols]
    stream.write(heading.format(n=A.nrows, m=len(values)).encode())
    write_lines(stream, separator.join(("{}", "{}", "{}\n")), rows, cols, values)


KIND = FileKind(
    name="edges",
    description="edge list: 'u v' or 'u v w', any ids, comments with # or %",
    suffixes=(".txt", ".el", ".tsv", ".edges"),
    read=read,
    write=partial(write, heading="# {n} vertices, {m} edges: source, target, weight\n", separator="\t"),
    keeps_labels=True,
    by_lines=True,
)
CSV = FileKind(
    name="csv",
    description="edge list with commas: 'u,v' or 'u,v,w', any ids",
    suffixes=(".csv",),
    read=read,
    write=partial(write, heading="source,target,weight\n", separator=","),
    keeps_labels=True,
    by_lines=True,
)
