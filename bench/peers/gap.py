"""The methods of the GAP benchmark suite [1] on one thread, in C++ of our own (`gap.cpp`): the bar for CPU code.

GAP's programs read graphs from files and cannot be called with one. These have its methods, data layout and constants.
Δ-stepping takes the best of a few widths, found untimed, as the suite asks of its users.

[1] S. Beamer, K. Asanović, D. Patterson, The GAP benchmark suite, arXiv:1508.03619, 2015.
"""

from __future__ import annotations

import ctypes
import functools
import time
from pathlib import Path
from typing import Any

import numpy as np

from formats import CSC, CSR

from .forms import check_lengths, finite_below
from .native import NativeGraph, built, why_not
from .peer import Peer, Prepared, Unable

SOURCE = Path(__file__).with_suffix(".cpp")
FAR = (2**31 - 1) // 2
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Widths of Δ-stepping's bins, in mean weights over 16."""


def missing() -> str | None:
    """Why it cannot be used here."""
    return why_not(compiled, SOURCE)


@functools.cache
def compiled() -> Any:
    """The library made from gap.cpp."""
    return built(SOURCE)


class Graph(NativeGraph):
    """A graph by rows and by columns, with integer lengths."""

    def __init__(self, A: CSR) -> None:
        lengths = A.values.astype(np.int32)
        if not np.array_equal(lengths, A.values):
            raise Unable("left out: gap.cpp takes integer lengths")
        columns: Any = A.to(CSC)
        self.n, self.mean = A.nrows, float(lengths.mean()) if A.nnz else 1.0
        rows = A.indptr.astype(np.int64), A.indices.astype(np.int32), lengths
        by_columns = columns.indptr.astype(np.int64), columns.indices.astype(np.int32)
        super().__init__(compiled(), A.nrows, *rows, *by_columns)

    def fill(self, function: str, *arguments: Any) -> np.ndarray:
        """A new array (n,) that a function of the library has filled."""
        return self.filled(function, self.n, np.int32, *arguments)


def sssp(A: CSR, source: int) -> Prepared:
    """Δ-stepping with the best width of WIDTHS."""
    check_lengths(A)
    G = Graph(A)

    def run(width: int) -> np.ndarray:
        return G.fill("sssp", ctypes.c_int64(source), ctypes.c_int32(width))

    def seconds(width: int) -> float:
        start = time.perf_counter()
        run(width)
        return time.perf_counter() - start

    best = min(sorted({max(1, int(G.mean * width / 16)) for width in WIDTHS}), key=seconds)
    return Prepared(lambda: run(best), lambda d: finite_below(d, FAR))


def bfs(A: CSR, source: int, both_ways: bool = True) -> Prepared:
    """Direction-optimizing search, or, without the edges in, one that is top-down throughout."""
    G = Graph(A.pattern().astype(np.int32))
    call = lambda: G.fill("bfs", ctypes.c_int64(source), ctypes.c_int32(both_ways))  # noqa: E731
    return Prepared(call, lambda level: level.astype(np.int64))


def weak_components(A: CSR) -> Prepared:
    """Afforest."""
    G = Graph(A.pattern().astype(np.int32))
    return Prepared(lambda: G.fill("wcc"), lambda label: label.astype(np.int64))


def strong_components(A: CSR, source: int = 0) -> Prepared:
    """Trims, two searches from the vertex of most edges in and out, and Tarjan's search for the rest."""
    G = Graph(A.pattern().astype(np.int32))
    return Prepared(lambda: G.fill("scc"), lambda label: label.astype(np.int64))


GAP = Peer(
    "GAP's methods",
    "cpu",
    missing,
    {"sssp": sssp, "bfs": bfs, "scc": strong_components},
    lambda: "gap.cpp, after GAP 1.5",
)
