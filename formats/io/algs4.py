"""Graphs of the textbook Algorithms, `.txt`: vertices counted from 0.

    8                 vertices
    15                edges
    4 5 0.35          source, target and, in all lines or in none, weight

The same layout holds digraphs (tinyEWD.txt) and undirected graphs (tinyEWG.txt: read it with directed=False).

Source: R. Sedgewick, K. Wayne, Algorithms, 4th edition, Addison-Wesley, 2011, chapter 4, https://algs4.cs.princeton.edu
"""

from __future__ import annotations

from typing import BinaryIO

from ..arrays import Array
from ..matrix.base import Matrix
from .edges import Edges, check_found, check_header
from .kind import FileKind
from .lines import BLANKS, edge_line_like_first
from .reading import read_edge_lines
from .source import Source
from .writing import check_square, write_lines

COMMENT = b"#"


def read(source: Source) -> Edges:
    (n,) = source.header(rb"(\d{1,18})", "n", COMMENT)
    vertices_line = source.line_number
    (m,) = source.header(rb"(\d{1,18})", "m", COMMENT)
    check_header(source, vertices_line, n, m)
    line = edge_line_like_first(source, COMMENT, BLANKS)
    src, dst, weights = read_edge_lines(source, line, first=0, shape=(n, n))
    check_found(source, vertices_line, promised=m, found=len(src))
    return Edges(src, dst, weights, (n, n), labels=range(n))


def write(stream: BinaryIO, A: Matrix, labels: Array | None) -> None:
    check_square(A.shape, "algs4")
    rows, cols, values = A.to_edges()
    stream.write(f"{A.nrows}\n{len(values)}\n".encode())
    write_lines(stream, "{} {} {}\n", rows, cols, values)


KIND = FileKind(
    name="algs4",
    description="algs4 graph: n, m, then 'u v' or 'u v w', from 0",
    suffixes=(".txt",),
    read=read,
    write=write,
    by_lines=True,
    comment=COMMENT,
    opening=rb"[ \t]*+\d++[ \t]*+[\r\n]\s*+\d++[ \t]*+[\r\n]",
)
