"""Functions of degrees and of single edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from algorithms.networkx.order import breadth_first
from formats.adjacency import edges, near

from .answers import by_name
from .graph import Converted, once


def multiplicity(G: Converted) -> np.ndarray:
    """Returns how many edges each listed one stands for."""
    if not G.parallel:
        return np.ones(G.rows.vertices.size, np.int64)
    return G.once("multiplicity", lambda: np.fromiter(map(len, edges(near(G.source))), np.int64))


def summed(at: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """Integers summed by vertices."""
    found = np.zeros(n, np.int64)
    np.add.at(found, at, values)
    return found


@once
def loops(G: Converted) -> np.ndarray:
    """Returns for each listed edge whether it is a self-loop."""
    return G.rows.rows() == G.rows.vertices


def out_degrees(G: Converted) -> np.ndarray:
    return np.diff(G.rows.ends) if not G.parallel else summed(G.rows.rows(), multiplicity(G), len(G))


def in_degrees(G: Converted) -> np.ndarray:
    return summed(G.rows.vertices, multiplicity(G), len(G))


def degrees(G: Converted) -> np.ndarray:
    """The degrees as NetworkX counts: in and out, and self-loops twice."""
    if G.directed:
        return out_degrees(G) + in_degrees(G)
    own = loops(G)
    return out_degrees(G) + summed(G.rows.vertices[own], multiplicity(G)[own], len(G))


def edge_count(G: Converted) -> int:
    total = int(out_degrees(G).sum() if G.directed else degrees(G).sum())
    return total if G.directed else total // 2


def shares(counts: Callable[[Converted], np.ndarray]) -> Callable[[Converted], dict[Any, Any]]:
    """Returns the function of the degrees as shares of the other vertices."""

    def centrality(G: Converted) -> dict[Any, Any]:
        return by_name(G, [1] * len(G) if len(G) <= 1 else counts(G) * (1.0 / (len(G) - 1.0)))

    return centrality


degree_centrality, in_degree_centrality, out_degree_centrality = map(shares, (degrees, in_degrees, out_degrees))


def isolates(G: Converted) -> Iterator[Any]:
    return iter(G.listed(np.flatnonzero(degrees(G) == 0)))


def number_of_isolates(G: Converted) -> int:
    return int((degrees(G) == 0).sum())


def number_of_selfloops(G: Converted) -> int:
    own = loops(G)
    return int(multiplicity(G)[own].sum()) if G.parallel else int(np.count_nonzero(own))


def is_regular(G: Converted) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    each = (in_degrees(G), out_degrees(G)) if G.directed else (degrees(G),)
    return all(bool((d == d[0]).all()) for d in each)


def s_metric(G: Converted) -> float:
    d, u, v = degrees(G), G.rows.rows(), G.rows.vertices
    once = slice(None) if G.directed else v >= u
    return float((d[u] * d[v] * multiplicity(G))[once].sum())


def overall_reciprocity(G: Converted) -> float:
    if G.parallel:
        raise NotImplementedError("parallel edges")
    u, v, m = G.rows.rows().astype(np.int64), G.rows.vertices.astype(np.int64), G.rows.vertices.size
    if m == 0:
        raise nx.NetworkXError("Not defined for empty graphs")
    if not G.directed:
        return 0.0
    pairs = np.unique(np.minimum(u, v) * len(G) + np.maximum(u, v)).size
    return (m - pairs) * 2 / m


def reciprocity(G: Converted, nodes: Any = None) -> float:
    if nodes is not None:
        raise NotImplementedError("the reciprocity of some nodes")
    return overall_reciprocity(G)


def average_neighbor_degree(
    G: Converted, source: str = "out", target: str = "out", nodes: Any = None, weight: Any = None
) -> dict[Any, float]:
    if G.directed or nodes is not None or weight is not None or (source, target) != ("out", "out"):
        raise NotImplementedError("directed graphs, some nodes, or weights")
    d = degrees(G)
    total = summed(G.rows.rows(), d[G.rows.vertices], len(G))
    return by_name(G, total / np.maximum(d, 1))


def color(G: Converted) -> dict[Any, int]:
    n = len(G)
    back = G.back if G.directed else G.rows._replace(ends=G.rows.ends[:0], vertices=G.rows.vertices[:0])
    stack, colour, order = np.empty(n, np.int32), np.full(n, -1, np.int8), np.empty(n, np.int32)
    found = breadth_first.two_coloured(*G.rows, *back, stack, colour, order)
    if found < 0:
        raise nx.NetworkXError("Graph is not bipartite.")
    order = order[:found]
    answer = dict(zip(G.listed(order), colour[order].tolist(), strict=True))
    answer.update(dict.fromkeys(isolates(G), 0))
    return answer


def is_bipartite(G: Converted) -> bool:
    try:
        color(G)
    except nx.NetworkXError:
        return False
    return True
