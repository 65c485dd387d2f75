"""Graphs as files: where the published ones lie, a few written out, and how what is read or refused is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from formats import Matrix, from_edges, read
from formats.io import reading

DATA = Path(__file__).parent / "data"

MATRIX_MARKET = "%%MatrixMarket matrix coordinate "
A_SMALL = from_edges([0, 1, 1], [1, 2, 1], [3, 4, 5], shape=4)

THE_GRAPH = [(0, 1, 5), (0, 2, 2), (2, 1, -7)]
THE_GRAPH_AS = {  # the same three vertices and edges, in every text format
    "graph.gr": "c a comment\np sp 3 3\na 3 2 -7\na 1 2 5\na 1 3 2\n",
    "graph.txt": "# a comment\n10 20 5\n30 20 -7\n10 30 2\n",
    "graph.el": "% a comment\n\n1\t2\t5\n\n3 2\t -7\n1 3 2\n",
    "graph.tsv": "0\t1\t5\n2\t1\t-7\n0\t2\t2\n",
    "graph.edges": "0 1 5\n  # an indented comment\n2 1 -7\n0 2 2\n",
    "graph.csv": "from,to,weight\n0,1,5\n2, 1, -7\n0 ,2 ,+2\n",
    "algs4.txt": "3\n3\n 0  1   5\n 2  1  -7\n 0  2   2\n",
    "graph.mtx": MATRIX_MARKET + "integer general\n% a comment\n3 3 3\n1 2 5\n3 2 -7\n1 3 2\n",
}


def edges(A: Matrix) -> list[tuple]:
    return list(zip(*(column.tolist() for column in A.to_edges()), strict=True))


def read_by(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all text read by the "careful" or the "compiled" loop, whatever the file's size."""
    monkeypatch.setattr(reading, "worth_compiling", lambda block_bytes, read_bytes: loop == "compiled")


def error_of(path: Path, **options) -> str:
    """What `read` says about a file it refuses, after the file's name."""
    with pytest.raises(ValueError, match=r"\S") as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "\n" not in message
    return message.removeprefix(f"{path}:")
