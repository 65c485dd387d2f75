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

from .peer import Peer, Prepared, absent, released


def graph(A: CSR) -> Any:
    """The matrix as python-graphblas's; SuiteSparse gets as many threads as we use."""
    configure_graphblas()
    return A.to_graphblas()


def sssp(A: CSR, source: int) -> Prepared:
    """Bellman-Ford: d = d min (d min.+ A)."""
    from graphblas import Vector, binary, semiring

    M = graph(A)

    def run():
        d = Vector(M.dtype, M.nrows)
        d[source] = 0
        for _ in range(M.nrows):
            before = d.dup()
            d(binary.min) << d.vxm(M, semiring.min_plus)
            if d.isequal(before):
                return d
        raise ValueError("there is a negative cycle")

    return Prepared(run, lambda d: d.to_dense(fill_value=np.inf, dtype=np.float64))


def bfs(A: CSR, source: int) -> Prepared:
    """Breadth-first search: level⟨frontier⟩ = depth; frontier⟨¬level⟩ = frontier any.pair A."""
    from graphblas import Vector, dtypes, semiring

    M = graph(A.pattern())

    def run():
        level = Vector(dtypes.INT64, M.nrows)
        frontier = Vector(dtypes.BOOL, M.nrows)
        frontier[source] = True
        depth = 0
        while frontier.nvals:
            level(frontier.S)[:] = depth
            frontier(~level.S, replace=True) << frontier.vxm(M, semiring.any_pair)
            depth += 1
        return level

    return Prepared(run, lambda level: level.to_dense(fill_value=-1, dtype=np.int64))


def prepare_mxv(A: CSR, x: Array) -> Prepared:
    """A x over plus-times."""
    from graphblas import Vector, semiring

    M, v = graph(A), Vector.from_dense(x)
    return Prepared(lambda: M.mxv(v, semiring.plus_times).new(), lambda y: y.to_dense(fill_value=0))


GRAPHBLAS = Peer(
    "python-graphblas",
    "cpu",
    absent("graphblas", "python-graphblas"),
    {"sssp": sssp, "bfs": bfs},
    released("python-graphblas"),
    get_threads,
)
