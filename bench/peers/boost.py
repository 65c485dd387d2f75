"""The Boost Graph Library [1], in C++: the sequential algorithms with which papers on GPUs compare their own.

`boost.cpp` is compiled at its first use (`native`). The graph is built once, untimed; a run is one call from Python
that fills a NumPy array. Weights and distances are doubles.

[1] J. G. Siek, L.-Q. Lee, A. Lumsdaine, The Boost Graph Library, Addison-Wesley 2001.
"""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from formats import CSR

from .forms import check_lengths, undirected
from .native import NativeGraph, built, why_not
from .peer import Peer, Prepared, Unable

SOURCE = Path(__file__).with_suffix(".cpp")
PROBE = """
#if __has_include(<boost/graph/compressed_sparse_row_graph.hpp>)
#include <boost/version.hpp>
found BOOST_LIB_VERSION
#endif
"""
MOST_EDGES = 2**32 - 1
"""Edges are numbered in 32 bits."""


@functools.cache
def boost_version() -> str | None:
    """Returns the version of the headers that the compiler finds; None without a compiler or a Boost Graph Library."""
    if shutil.which("g++") is None:
        return None
    said = subprocess.run(
        ["g++", "-E", "-P", "-x", "c++", "-"], input=PROBE, capture_output=True, text=True, check=False
    )
    lines = [line for line in said.stdout.splitlines() if line.startswith("found ")]
    return lines[0].removeprefix("found ").strip('"').replace("_", ".") if lines else None


def missing() -> str | None:
    """Why Boost cannot be used here."""
    if shutil.which("g++") is not None and boost_version() is None:
        return "libboost-graph-dev is not installed"
    return why_not(compiled, SOURCE)


def library() -> str:
    """Its name and version."""
    return f"Boost Graph Library {boost_version()}"


@functools.cache
def compiled() -> Any:
    """The library made from boost.cpp."""
    return built(SOURCE, str(boost_version()))


def graph(A: CSR) -> NativeGraph:
    """A graph in Boost's form."""
    if A.nnz > MOST_EDGES:
        raise Unable(f"left out: boost.cpp numbers edges in 32 bits, and there are {A.nnz:,}")
    parts = A.indptr.astype(np.int64), A.indices.astype(np.int64), A.values.astype(np.float64)
    return NativeGraph(compiled(), A.nrows, *parts)


def sssp(A: CSR, source: int) -> Prepared:
    """`dijkstra_shortest_paths`."""
    check_lengths(A)
    G = graph(A)
    return Prepared(lambda: G.filled("sssp", A.nrows, np.float64, ctypes.c_int64(source)), lambda d: d)


def bfs(A: CSR, source: int) -> Prepared:
    """`breadth_first_search`."""
    G = graph(A)
    return Prepared(lambda: G.filled("bfs", A.nrows, np.int64, ctypes.c_int64(source)), lambda level: level)


def scc(A: CSR, source: int) -> Prepared:
    """`strong_components`."""
    G = graph(A)
    return Prepared(lambda: G.filled("scc", A.nrows, np.int64), lambda label: label)


def mst(A: CSR, source: int) -> Prepared:
    """`kruskal_minimum_spanning_tree`."""
    G = graph(undirected(A))
    return Prepared(lambda: G.filled("mst", 1, np.float64), lambda weight: float(weight[0]))


BOOST = Peer("Boost", "cpu", missing, {"sssp": sssp, "bfs": bfs, "scc": scc, "mst": mst}, library)
