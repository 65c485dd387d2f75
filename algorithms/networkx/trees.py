"""Spanning forests in Kruskal's order, and whether a graph is a tree.

Weights are replaced by their places in NetworkX's sorted list of edges. So no two are equal, the forest is the one that
Kruskal's algorithm finds, and its places tell the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from algorithms.boruvka import boruvka
from formats.arrays import to_device

from .components import number, weak
from .degrees import edge_count, in_degrees
from .graph import Converted


def forest(G: Converted, weight: Any, minimum: bool) -> tuple[np.ndarray, np.ndarray]:
    """The edges u, v of the forest, in the order in which Kruskal's algorithm takes them."""
    if G.parallel:
        raise NotImplementedError("parallel edges")
    tails, heads = G.rows.rows(), G.rows.vertices
    once = heads >= tails
    weights = G.weights(weight)[once]
    order = (weights if minimum else -weights).argsort(kind="stable")
    u, v = tails[once][order], heads[once][order]
    ranks = np.arange(u.size, dtype=np.int32)
    reduced = Converted(G.names, G.number, G.rows._replace(ends=row_ends(u, len(G)), vertices=v), (True, False))
    by_row = u.argsort(kind="stable")
    reduced.rows = reduced.rows._replace(vertices=v[by_row])
    F = boruvka(reduced.matrix_of(ranks[by_row]), symmetrize=True)
    taken = np.sort(to_device(F.values, "cpu"))
    return u[taken], v[taken]


def row_ends(rows: np.ndarray, n: int) -> np.ndarray:
    ends = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=ends[1:])
    return ends


def edges(G: Converted, algorithm: str, weight: Any, data: bool, ignore_nan: bool, minimum: bool) -> Iterator[Any]:
    if algorithm not in ("boruvka", "kruskal", "prim", "borůvka"):
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    if algorithm != "kruskal":
        raise NotImplementedError("the order of another algorithm")
    u, v = forest(G, weight, minimum)
    named = zip(G.listed(u), G.listed(v), strict=True)
    if not data:
        return named
    adj = G.networkx._adj
    return ((a, b, adj[a][b]) for a, b in named)


def minimum_spanning_edges(
    G: Converted,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    return edges(G, algorithm, weight, data, ignore_nan, True)


def maximum_spanning_edges(
    G: Converted,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    return edges(G, algorithm, weight, data, ignore_nan, False)


def tree(G: Converted, found: Iterator[Any]) -> Any:
    source = G.networkx
    T = source.__class__()
    T.graph.update(source.graph)
    T.add_nodes_from(source.nodes.items())
    T.add_edges_from(found)
    return T


def minimum_spanning_tree(
    G: Converted, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    return tree(G, edges(G, algorithm, weight, True, ignore_nan, True))


def maximum_spanning_tree(
    G: Converted, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    return tree(G, edges(G, algorithm, weight, True, ignore_nan, False))


def is_forest(G: Converted) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return edge_count(G) == len(G) - number(weak(G))


def is_tree(G: Converted) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return edge_count(G) == len(G) - 1 and number(weak(G)) == 1


def is_arborescence(G: Converted) -> bool:
    return is_tree(G) and bool(in_degrees(G).max() <= 1)


def is_branching(G: Converted) -> bool:
    return is_forest(G) and bool(in_degrees(G).max() <= 1)
