"""NetworKit: a C++ library. Its sort in Kruskal's algorithm is parallel; a search from one vertex is not."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from semiring.cpu.threads import get_threads

from .forms import check_lengths, finite_below, undirected
from .peer import Prepared, of_package

UNREACHED = np.finfo(np.float64).max
"""NetworKit's infinite distance."""


def graph(A: CSR, *, directed: bool = True) -> Any:
    """The graph with its weights; NetworKit gets as many threads as we use."""
    import networkit

    networkit.setNumberOfThreads(get_threads())
    u, v, weights = A.to_edges()
    edges = (weights.astype(np.float64), (u.astype(np.int64), v.astype(np.int64)))
    return networkit.GraphFromCoo(edges, n=A.nrows, weighted=True, directed=directed)


def sssp(A: CSR, source: int) -> Prepared:
    """`distance.Dijkstra`, without paths."""
    from networkit.distance import Dijkstra

    check_lengths(A)
    G = graph(A)
    return Prepared(
        lambda: Dijkstra(G, source, storePaths=False).run(),
        lambda found: finite_below(np.array(found.getDistances()), UNREACHED),
    )


def bfs(A: CSR, source: int) -> Prepared:
    """`distance.BFS`, without paths."""
    from networkit.distance import BFS

    G = graph(A)

    def levels(found):
        steps = np.array(found.getDistances())
        return np.where(steps < UNREACHED, steps, -1).astype(np.int64)

    return Prepared(lambda: BFS(G, source, storePaths=False).run(), levels)


def scc(A: CSR, source: int) -> Prepared:
    """`components.StronglyConnectedComponents`."""
    from networkit.components import StronglyConnectedComponents

    G = graph(A)
    return Prepared(
        lambda: StronglyConnectedComponents(G).run(), lambda found: np.array(found.getPartition().getVector(), np.int64)
    )


def mst(A: CSR, source: int) -> Prepared:
    """`graph.KruskalMSF`."""
    from networkit.graph import KruskalMSF

    G = graph(undirected(A), directed=False)
    return Prepared(lambda: KruskalMSF(G).run(), lambda found: float(found.getTotalWeight()))


NETWORKIT = of_package("NetworKit", "networkit", {"sssp": sssp, "bfs": bfs, "scc": scc, "mst": mst}, get_threads)
