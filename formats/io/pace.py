"""PACE graphs, `.gr`: undirected, without weights, vertices counted from 1.

    c a comment
    p tw 5 4          vertices and edges, once, before the first edge
    1 2               an edge, once, in either direction

Source: H. Dell, T. Husfeldt, B. M. P. Jansen, P. Kaski, C. Komusiewicz, F. A. Rosamond, The First Parameterized
Algorithms and Computational Experiments Challenge, IPEC 2016; format: https://pacechallenge.org/2016/treewidth/
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from ..arrays import Array
from ..matrix.base import Matrix
from .edges import Edges, check_found, check_header
from .kind import FileKind
from .lines import EdgeLine
from .reading import read_edge_lines
from .source import Source
from .writing import check_square, write_lines

EDGE = EdgeLine("u v", comment=b"c", weight=None)


def read(source: Source) -> Edges:
    n, m = source.header(rb"p\s+tw\s+(\d{1,18})\s+(\d{1,18})", "p tw n m", EDGE.comment)
    header_line = source.line_number
    check_header(source, header_line, n, m)
    src, dst, _ = read_edge_lines(source, EDGE, first=1, shape=(n, n))
    check_found(source, header_line, promised=m, found=len(src))
    return Edges(src, dst, None, (n, n), labels=range(1, n + 1), both_ways=True)


def write(stream: BinaryIO, A: Matrix, labels: Array | None) -> None:
    check_square(A.shape, "PACE")
    rows, cols, values = A.to_edges()
    if (values != 1).any():
        raise ValueError(f"PACE holds no weights, but one of these is {values[values != 1][0]}: use .mtx, .txt or .npz")
    mirrored_rows, mirrored_cols, _ = A.T.to_edges()
    if not (np.array_equal(rows, mirrored_rows) and np.array_equal(cols, mirrored_cols)):
        raise ValueError("PACE holds undirected graphs only, but this matrix is not symmetric: use .mtx, .txt or .npz")
    upper = rows <= cols
    stream.write(f"p tw {A.nrows} {np.count_nonzero(upper)}\n".encode())
    write_lines(stream, "{} {}\n", rows[upper] + 1, cols[upper] + 1)


KIND = FileKind(
    name="pace",
    description="PACE graph: 'p tw n m', 'u v', from 1, undirected",
    suffixes=(".gr",),
    read=read,
    write=write,
    comment=EDGE.comment,
    opening=rb"[ \t]*+p[ \t]+tw[ \t]",
)
