"""igraph: a C library. Weights and answers are Python lists, whose conversion is part of a call, as for its users."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from formats import CSR

from .forms import check_lengths, levels_of_layers, undirected
from .peer import Prepared, of_package


def graph(A: CSR, *, directed: bool = True, weighted: bool = True) -> Any:
    """The graph; weighted: with an attribute "weight" on its edges."""
    import igraph

    u, v, weights = A.to_edges()
    G = igraph.Graph(n=A.nrows, edges=list(zip(u.tolist(), v.tolist(), strict=True)), directed=directed)
    if weighted:
        G.es["weight"] = weights.astype(np.float64).tolist()
    return G


def sssp(A: CSR, source: int) -> Prepared:
    """`Graph.distances`, by Dijkstra's algorithm."""
    check_lengths(A)
    G = graph(A)
    return Prepared(
        lambda: G.distances(source, weights="weight", algorithm="dijkstra", mode="out"),
        lambda found: np.array(found[0], np.float64),
    )


def bfs(A: CSR, source: int) -> Prepared:
    """`Graph.bfs`: vertices in order, and where each layer starts."""
    G = graph(A, weighted=False)

    def levels(found):
        order, starts, _ = found
        return levels_of_layers(A.nrows, (order[start:end] for start, end in pairwise(starts)))

    return Prepared(lambda: G.bfs(source, mode="out"), levels)


def scc(A: CSR, source: int) -> Prepared:
    """`Graph.connected_components`."""
    G = graph(A, weighted=False)
    return Prepared(lambda: G.connected_components("strong"), lambda found: np.array(found.membership, np.int64))


def mst(A: CSR, source: int) -> Prepared:
    """`Graph.spanning_tree`, the numbers of its edges."""
    E = undirected(A)
    G = graph(E, directed=False)
    return Prepared(
        lambda: G.spanning_tree(weights="weight", return_tree=False),
        lambda edges: float(E.values[np.array(edges, np.int64)].sum(dtype=np.float64)),
    )


IGRAPH = of_package("igraph", "igraph", {"sssp": sssp, "bfs": bfs, "scc": scc, "mst": mst})
