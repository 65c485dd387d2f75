"""Shortest paths by any method, and all of them where there are ties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
from networkx.algorithms.shortest_paths.generic import _build_paths_from_predecessors as ways

from . import label_correcting, unweighted, weighted
from .answers import late
from .distances import connected, total_length
from .graph import Converted


def method_of(weight: Any, method: str) -> str:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    return "unweighted" if weight is None else method


def turned(G: Converted) -> Converted:
    """The graph with its edges turned around, as NetworkX lists them."""
    if not G.directed:
        return G
    return G.once("turned", lambda: _turned(G))


def _turned(G: Converted) -> Converted:
    T = Converted(G.names, G.number, G.back, (True, G.parallel))
    T.weights = lambda name, *a, **k: G.weights(name, *a, **{**k, "backwards": not k.get("backwards", False)})  # type: ignore[method-assign]
    return T


def shortest_path(
    G: Converted, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    method = method_of(weight, method)
    if source is not None and target is not None:
        if method == "unweighted":
            return unweighted.bidirectional_shortest_path(G, source, target)
        if method == "dijkstra":
            return weighted.bidirectional_dijkstra(G, source, target, weight)[1]
        return label_correcting.bellman_ford_path(G, source, target, weight)
    if source is None and target is None:
        if method == "unweighted":
            return unweighted.all_pairs_shortest_path(G)
        if method == "dijkstra":
            return weighted.all_pairs_dijkstra_path(G, weight=weight)
        return label_correcting.all_pairs_bellman_ford_path(G, weight)
    H, start = (turned(G), target) if source is None else (G, source)
    if method == "unweighted":
        found = unweighted.single_source_shortest_path(H, start)
    elif method == "dijkstra":
        found = weighted.single_source_dijkstra_path(H, start, weight=weight)
    else:
        found = label_correcting.single_source_bellman_ford_path(H, start, weight)
    return {name: path[::-1] for name, path in found.items()} if source is None else found


def shortest_path_length(
    G: Converted, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    method = method_of(weight, method)
    if source is not None and target is not None:
        if method == "unweighted":
            return len(unweighted.meeting(G, source, target)) - 1
        if method == "dijkstra":
            return weighted.dijkstra_path_length(G, source, target, weight)
        return label_correcting.bellman_ford_path_length(G, source, target, weight)
    if source is None and target is None:
        if method == "unweighted":
            return unweighted.all_pairs_shortest_path_length(G)
        if method == "dijkstra":
            return weighted.all_pairs_dijkstra_path_length(G, weight=weight)
        return label_correcting.all_pairs_bellman_ford_path_length(G, weight)
    H, start = (turned(G), target) if source is None else (G, source)
    if method == "unweighted":
        return unweighted.single_source_shortest_path_length(H, start)
    if method == "dijkstra":
        return weighted.single_source_dijkstra_path_length(H, start, weight=weight)
    return label_correcting.single_source_bellman_ford_path_length(H, start, weight)


def average_shortest_path_length(G: Converted, weight: Any = None, method: str | None = None) -> Any:
    if method is None:
        method = "unweighted" if weight is None else "dijkstra"
    if method not in ("unweighted", "dijkstra", "bellman-ford"):
        raise NotImplementedError(f"the method {method!r}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    if not connected(G):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    return total_length(G, None if method == "unweighted" else weight) / (n * (n - 1))


def has_path(G: Converted, source: Any, target: Any) -> bool:
    try:
        shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


def before_each(G: Converted, source: Any, weight: Any, method: str) -> dict[Any, list[Any]]:
    """Of each vertex all that are before it on shortest paths."""
    method = "unweighted" if weight is None else method
    if method == "unweighted":
        return unweighted.predecessor(G, source)  # type: ignore[return-value]
    if method == "dijkstra":
        return weighted.dijkstra_predecessor_and_distance(G, source, weight=weight)[0]
    if method == "bellman-ford":
        return label_correcting.bellman_ford_predecessor_and_distance(G, source, weight=weight)[0]
    raise ValueError(f"method not supported: {method}")


@late
def all_shortest_paths(
    G: Converted, source: Any, target: Any, weight: Any = None, method: str = "dijkstra"
) -> Iterator[list[Any]]:
    return ways({source}, target, before_each(G, source, weight, method))


@late
def single_source_all_shortest_paths(
    G: Converted, source: Any, weight: Any = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, list[list[Any]]]]:
    before = before_each(G, source, weight, method)
    return ((name, list(ways({source}, name, before))) for name in before)


@late
def all_pairs_all_shortest_paths(
    G: Converted, weight: Any = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    if weight is not None:
        G.weights(weight)
    if weight is not None and method == "dijkstra":
        weighted.not_negative(G, weight)
    return ((name, dict(single_source_all_shortest_paths(G, name, weight, method))) for name in G)
