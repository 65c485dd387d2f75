"""Shortest paths by any method, and all of them where there are ties."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import networkx as nx
from networkx.algorithms.shortest_paths.generic import _build_paths_from_predecessors as ways

from . import label_correcting, unweighted, weighted
from .answers import late
from .distances import connected, total_length
from .graph import Converted, once


class Method(NamedTuple):
    """Functions of (G, vertices, weight): paths and lengths between two vertices, from one, and between all.

    before: (G, source, weight) -> of each vertex all that are before it on shortest paths.
    """

    path: Callable[..., Any]
    length: Callable[..., Any]
    paths: Callable[..., Any]
    lengths: Callable[..., Any]
    all_paths: Callable[..., Any]
    all_lengths: Callable[..., Any]
    before: Callable[..., Any]


METHODS = {
    "unweighted": Method(
        lambda G, s, t, _: unweighted.bidirectional_shortest_path(G, s, t),
        lambda G, s, t, _: len(unweighted.meeting(G, s, t)) - 1,
        lambda G, s, _: unweighted.single_source_shortest_path(G, s),
        lambda G, s, _: unweighted.single_source_shortest_path_length(G, s),
        lambda G, _: unweighted.all_pairs_shortest_path(G),
        lambda G, _: unweighted.all_pairs_shortest_path_length(G),
        lambda G, s, _: unweighted.predecessor(G, s),
    ),
    "dijkstra": Method(
        lambda G, s, t, weight: weighted.bidirectional_dijkstra(G, s, t, weight)[1],
        weighted.dijkstra_path_length,
        lambda G, s, weight: weighted.single_source_dijkstra_path(G, s, weight=weight),
        lambda G, s, weight: weighted.single_source_dijkstra_path_length(G, s, weight=weight),
        lambda G, weight: weighted.all_pairs_dijkstra_path(G, weight=weight),
        lambda G, weight: weighted.all_pairs_dijkstra_path_length(G, weight=weight),
        lambda G, s, weight: weighted.dijkstra_predecessor_and_distance(G, s, weight=weight)[0],
    ),
    "bellman-ford": Method(
        label_correcting.bellman_ford_path,
        label_correcting.bellman_ford_path_length,
        label_correcting.single_source_bellman_ford_path,
        label_correcting.single_source_bellman_ford_path_length,
        label_correcting.all_pairs_bellman_ford_path,
        label_correcting.all_pairs_bellman_ford_path_length,
        lambda G, s, weight: label_correcting.bellman_ford_predecessor_and_distance(G, s, weight=weight)[0],
    ),
}


def method_of(weight: Any, method: str) -> Method:
    """The functions of a method; without weights all methods are one."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    return METHODS["unweighted" if weight is None else method]


def turned(G: Converted) -> Converted:
    """The graph with its edges turned around, as NetworkX lists them."""
    return _turned(G) if G.directed else G


@once
def _turned(G: Converted) -> Converted:
    T = Converted(G.names, G.number, G.back, (True, G.parallel))
    T.weights = lambda name, *a, **k: G.weights(name, *a, **{**k, "backwards": not k.get("backwards", False)})  # type: ignore[method-assign]
    return T


def shortest_path(
    G: Converted, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    by = method_of(weight, method)
    if source is not None and target is not None:
        return by.path(G, source, target, weight)
    if source is not None:
        return by.paths(G, source, weight)
    if target is not None:
        return {name: path[::-1] for name, path in by.paths(turned(G), target, weight).items()}
    return by.all_paths(G, weight)


def shortest_path_length(
    G: Converted, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    by = method_of(weight, method)
    if source is not None and target is not None:
        return by.length(G, source, target, weight)
    if source is not None:
        return by.lengths(G, source, weight)
    return by.all_lengths(G, weight) if target is None else by.lengths(turned(G), target, weight)


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
    """Returns for each vertex all those before it on shortest paths."""
    by = METHODS["unweighted"] if weight is None or method == "unweighted" else method_of(weight, method)
    return by.before(G, source, weight)


@late
def all_shortest_paths(
    G: Converted, source: Any, target: Any, weight: Any = None, method: str = "dijkstra"
) -> Iterator[list[Any]]:
    before = before_each(G, source, weight, method)
    return ways({source}, target, before)


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
    if weight is not None and method != "unweighted":
        G.weights(weight)
    if weight is not None and method == "dijkstra":
        weighted.not_negative(G, weight)
    return ((name, dict(single_source_all_shortest_paths(G, name, weight, method))) for name in G)
