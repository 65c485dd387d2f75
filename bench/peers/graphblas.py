"""python-graphblas alone, on SuiteSparse:GraphBLAS: the loops that its users write.

Bellman-Ford relaxes every edge from what is reached until nothing changes, so a graph of many levels takes many
products. A sparse vector has no entry where nothing is reached, so integers do not wrap as long as distances fit.
Components and forests are no loop of a few lines, and are left to others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import Array
from semiring.cpu.threads import configure_graphblas, get_threads

from .peer import Peer, Prepared, Unable, absent, released

MOST_WORK = 5_000_000_000
"""Entries that all products of Bellman-Ford look at: what takes some seconds."""


def graph(A: CSR) -> Any:
    """The matrix as python-graphblas's; SuiteSparse gets as many threads as we use."""
    configure_graphblas()
    return A.to_graphblas()


def sssp(A: CSR, source: int) -> Prepared:
    """Bellman-Ford: d = d min (d min.+ A). Unable where a graph's levels make it too much work."""
    rounds = int(searched(graph(A.pattern()), source).reduce("max").get(0)) + 1
    if rounds * A.nnz > MOST_WORK:
        raise Unable(f"left out: Bellman-Ford's {rounds:,} products or more of {A.nnz:,} entries each")
    M = graph(A)
    return Prepared(lambda: relaxed(M, source), lambda d: d.to_dense(fill_value=np.inf, dtype=np.float64))


def relaxed(M: Any, source: int) -> Any:
    """The distances, as a sparse vector."""
    from graphblas import Vector, binary, semiring

    d = Vector(M.dtype, M.nrows)
    d[source] = 0
    for _ in range(M.nrows):
        before = d.dup()
        d(binary.min) << d.vxm(M, semiring.min_plus)
        if d.isequal(before):
            return d
    raise ValueError("a negative cycle can be reached")


def bfs(A: CSR, source: int) -> Prepared:
    """Breadth-first search."""
    M = graph(A.pattern())
    return Prepared(lambda: searched(M, source), lambda level: level.to_dense(fill_value=-1, dtype=np.int64))


def searched(M: Any, source: int) -> Any:
    """The levels, as a sparse vector: level⟨frontier⟩ = depth; frontier⟨¬level⟩ = frontier any.pair A."""
    from graphblas import Vector, dtypes, semiring

    level = Vector(dtypes.INT64, M.nrows)
    frontier = Vector(dtypes.BOOL, M.nrows)
    frontier[source] = True
    depth = 0
    while frontier.nvals:
        level(frontier.S)[:] = depth
        frontier(~level.S, replace=True) << frontier.vxm(M, semiring.any_pair)
        depth += 1
    return level


def prepare_mxv(A: CSR, x: Array) -> Prepared:
    """A x over plus-times."""
    from graphblas import Vector, semiring

    M, v = graph(A), Vector.from_dense(x)
    return Prepared(lambda: M.mxv(v, semiring.plus_times).new(), lambda y: y.to_dense(fill_value=0, dtype=A.dtype))


GRAPHBLAS = Peer(
    "python-graphblas",
    "cpu",
    absent("graphblas", "python-graphblas"),
    {"sssp": sssp, "bfs": bfs},
    released("python-graphblas"),
    get_threads,
)
