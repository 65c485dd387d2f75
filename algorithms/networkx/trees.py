"""Spanning forests in Kruskal's order, and whether a graph is a tree.

Edges are sorted as NetworkX sorts them, and taken one by one where they join two trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import getitem
from typing import Any

import networkx as nx
import numpy as np

from algorithms.fused.cpu.light_edges import kruskal
from formats import adjacency

from .components import number, weak
from .degrees import edge_count, in_degrees
from .graph import Converted
from .searches import by_size

FEW = 8
"""An edge in so many is found by its ends in less time than it takes to list all edges."""


def forest(G: Converted, weight: Any, minimum: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges u, v of the forest, in the order in which Kruskal's algorithm takes them, and their places."""
    if G.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if G.parallel:
        raise NotImplementedError("parallel edges")
    tails, heads, places = G.once(("sorted", weight, minimum), lambda: by_weight(G, weight, minimum))
    chosen = np.zeros(tails.size, bool)
    kruskal(np.arange(tails.size, dtype=np.uint64), tails, heads, np.arange(len(G), dtype=heads.dtype), chosen)
    taken = np.flatnonzero(chosen)
    return tails[taken], heads[taken], places[taken]


def by_weight(G: Converted, weight: Any, minimum: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each edge once, as Kruskal's algorithm sorts them: its ends, and its place among all."""
    tails, heads = G.rows.rows(), G.rows.vertices
    once = np.flatnonzero(heads >= tails)
    weights = G.weights(weight)[once]
    places = once[by_size(weights if minimum else -weights)]
    return tails[places], heads[places], places


def edges(G: Converted, algorithm: str, weight: Any, data: bool, minimum: bool) -> Iterator[Any]:
    """Returns an iterator over the forest's edges, with their attributes if `data` is true."""
    if algorithm not in ("boruvka", "kruskal", "prim", "borůvka"):
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    if algorithm != "kruskal":
        raise NotImplementedError("the order of another algorithm")
    *ends, places = forest(G, weight, minimum)
    u, v = map(G.listed, ends)
    if not data:
        return iter(list(zip(u, v, strict=True)))  # all now, while nobody looks for garbage
    near = adjacency.near(G.networkx)
    if len(u) * FEW < G.rows.vertices.size:
        each = map(getitem, map(near.__getitem__, u), v)
    else:
        each = map(list(adjacency.edges(near)).__getitem__, places.tolist())
    return iter(list(zip(u, v, each, strict=True)))


def spanning(minimum: bool) -> tuple[Any, Any]:
    """Returns the functions of the edges and of the tree, of least or of largest weight."""

    def spanning_edges(
        G: Converted,
        algorithm: str = "kruskal",
        weight: Any = "weight",
        keys: Any = True,
        data: bool = True,
        ignore_nan: Any = False,
    ) -> Iterator[Any]:
        return edges(G, algorithm, weight, data, minimum)

    def spanning_tree(
        G: Converted, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
    ) -> Any:
        source = G.networkx
        T = source.__class__()
        T.graph.update(source.graph)
        T.add_nodes_from(source.nodes.items())
        T.add_edges_from(edges(G, algorithm, weight, True, minimum))
        return T

    return spanning_edges, spanning_tree


minimum_spanning_edges, minimum_spanning_tree = spanning(minimum=True)
maximum_spanning_edges, maximum_spanning_tree = spanning(minimum=False)


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
