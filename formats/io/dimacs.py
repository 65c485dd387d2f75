"""DIMACS shortest path graphs, `.gr`: directed, weighted, vertices counted from 1.

    c a comment
    p sp 6 8          vertices and arcs, once, before the first arc
    a 1 2 17          source, target, weight

The definition asks for integer weights; real ones are read too, not written.

Source: C. Demetrescu, A. V. Goldberg, D. S. Johnson (eds.), 9th DIMACS Implementation Challenge: Shortest Paths,
2006, "File formats", http://www.diag.uniroma1.it/challenge9/format.shtml
"""

from __future__ import annotations

from typing import BinaryIO

from ..arrays import Array
from ..matrix.base import Matrix
from .edges import Edges, check_found, check_header
from .kind import FileKind
from .lines import REAL, EdgeLine
from .reading import read_edge_lines
from .source import Source
from .writing import check_square, write_lines

ARC = EdgeLine("a u v w", comment=b"c", prefix=b"a", weight=REAL)


def read(source: Source) -> Edges:
    n, m = source.header(rb"p\s+sp\s+(\d{1,18})\s+(\d{1,18})", "p sp n m", ARC.comment)
    header_line = source.line_number
    check_header(source, header_line, n, m)
    src, dst, weights = read_edge_lines(source, ARC, first=1, shape=(n, n))
    check_found(source, header_line, promised=m, found=len(src))
    return Edges(src, dst, weights, (n, n), labels=range(1, n + 1))


def write(stream: BinaryIO, A: Matrix, labels: Array | None) -> None:
    check_square(A.shape, "DIMACS .gr")
    if A.dtype.kind == "f":
        raise ValueError(f"DIMACS .gr holds integer weights only, these are {A.dtype}: use .mtx, .txt or .npz")
    rows, cols, values = A.to_edges()
    stream.write(f"p sp {A.nrows} {len(values)}\n".encode())
    write_lines(stream, "a {} {} {}\n", rows + 1, cols + 1, values)


KIND = FileKind(
    name="dimacs",
    description="DIMACS 9 shortest path graph: 'p sp n m', 'a u v w', from 1",
    suffixes=(".gr",),
    read=read,
    write=write,
    by_lines=True,
)
