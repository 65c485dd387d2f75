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
from formats import adjacency, from_edges
from formats.arrays import to_device

from .components import number, weak
from .degrees import edge_count, in_degrees
from .graph import Converted


def forest(G: Converted, weight: Any, minimum: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges u, v of the forest, in the order in which Kruskal's algorithm takes them, and their places."""
    if G.parallel:
        raise NotImplementedError("parallel edges")
    tails, heads = G.rows.rows(), G.rows.vertices
    once = np.flatnonzero(heads >= tails)
    weights = G.weights(weight)[once]
    order = (weights if minimum else -weights).argsort(kind="stable")
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    F = boruvka(from_edges(tails[once], heads[once], rank, shape=len(G)), symmetrize=True)
    taken = once[order[np.sort(to_device(F.values, "cpu"))]]
    return tails[taken], heads[taken], taken


def edges(G: Converted, algorithm: str, weight: Any, data: bool, ignore_nan: bool, minimum: bool) -> Iterator[Any]:
    if algorithm not in ("boruvka", "kruskal", "prim", "borůvka"):
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    if algorithm != "kruskal":
        raise NotImplementedError("the order of another algorithm")
    u, v, places = forest(G, weight, minimum)
    if not data:
        return zip(G.listed(u), G.listed(v), strict=True)
    each = list(adjacency.edges(adjacency.near(G.networkx)))
    return zip(G.listed(u), G.listed(v), map(each.__getitem__, places.tolist()), strict=True)


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
