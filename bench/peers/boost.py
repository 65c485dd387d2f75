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
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from formats import CSR

from .forms import check_lengths, undirected
from .native import built, pointer, why_not
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
    if shutil.which("g++") is None:
        return "there is no C++ compiler (g++)"
    if boost_version() is None:
        return "libboost-graph-dev is not installed"
    try:
        compiled()
    except (OSError, subprocess.CalledProcessError) as error:
        return why_not(error, SOURCE)
    return None


def library() -> str:
    """Its name and version."""
    return f"Boost Graph Library {boost_version()}"


@functools.cache
def compiled() -> Any:
    """The library made from boost.cpp."""
    return built(SOURCE, str(boost_version()))


class Graph:
    """A graph in Boost's form, which goes when nobody holds it any more."""

    def __init__(self, A: CSR) -> None:
        if A.nnz > MOST_EDGES:
            raise Unable(f"left out: boost.cpp numbers edges in 32 bits, and there are {A.nnz:,}")
        self.functions = compiled()
        self.handle = ctypes.c_void_p()
        parts = (A.indptr.astype(np.int64), A.indices.astype(np.int64), A.values.astype(np.float64))
        made = ctypes.byref(self.handle)
        check(self.functions.make(ctypes.c_int64(A.nrows), *(pointer(part) for part in parts), made))
        release = self.functions.release
        release.restype = None
        weakref.finalize(self, release, self.handle)

    def fill(self, function: str, *arguments: Any) -> None:
        """Call a function of the library on the graph."""
        check(getattr(self.functions, function)(self.handle, *arguments))


def check(status: int) -> None:
    """MemoryError, the only one there is, for a call that failed."""
    if status:
        raise MemoryError("Boost has no memory for it")


def sssp(A: CSR, source: int) -> Prepared:
    """`dijkstra_shortest_paths`."""
    check_lengths(A)
    G = Graph(A)

    def run():
        d = np.empty(A.nrows, np.float64)
        G.fill("sssp", ctypes.c_int64(source), pointer(d))
        return d

    return Prepared(run, lambda d: d)


def bfs(A: CSR, source: int) -> Prepared:
    """`breadth_first_search`."""
    G = Graph(A)

    def run():
        level = np.empty(A.nrows, np.int64)
        G.fill("bfs", ctypes.c_int64(source), pointer(level))
        return level

    return Prepared(run, lambda level: level)


def scc(A: CSR, source: int) -> Prepared:
    """`strong_components`."""
    G = Graph(A)

    def run():
        label = np.empty(A.nrows, np.int64)
        G.fill("scc", pointer(label))
        return label

    return Prepared(run, lambda label: label)


def mst(A: CSR, source: int) -> Prepared:
    """`kruskal_minimum_spanning_tree`."""
    G = Graph(undirected(A))

    def run():
        weight = np.empty(1, np.float64)
        G.fill("mst", pointer(weight))
        return weight

    return Prepared(run, lambda weight: float(weight[0]))


BOOST = Peer("Boost", "cpu", missing, {"sssp": sssp, "bfs": bfs, "scc": scc, "mst": mst}, library)
