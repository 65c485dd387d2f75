"""Breadth-first and depth-first traversals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from algorithms.networkx.order import depth_first

from .answers import late
from .components import log
from .graph import Converted
from .searches import DEEPEST, Found, levels, search, vertex

KINDS = ("forward", "nontree", "reverse", "reverse-depth_limit")


def start(G: Converted, source: Any) -> int:
    """Returns the number of a vertex; the error of a missing one is that of G.neighbors."""
    hash(source)  # which NetworkX asks a dictionary for
    return vertex(G, source, f"The node {{}} is not in the {'digraph' if G.directed else 'graph'}.", nx.NetworkXError)


def from_source(G: Converted, source: Any, reverse: bool = False, depth_limit: Any = None) -> Found:
    return search(G, [start(G, source)], levels(depth_limit), backwards=reverse and G.directed)


def edges(G: Converted, found: Found) -> Iterator[tuple[Any, Any]]:
    """Yields parents and children, in order."""
    children = found.order[1:]
    return zip(G.listed(found.parent[children]), G.listed(children), strict=True)


@late
def bfs_edges(G: Converted, source: Any, reverse: bool = False, depth_limit: Any = None) -> Iterator[tuple[Any, Any]]:
    return edges(G, from_source(G, source, reverse, depth_limit))


@late
def generic_bfs_edges(G: Converted, source: Any, depth_limit: Any = None) -> Iterator[tuple[Any, Any]]:
    return edges(G, from_source(G, source, False, depth_limit))


def bfs_tree(G: Converted, source: Any, reverse: bool = False, depth_limit: Any = None) -> Any:
    T = nx.DiGraph()
    T.add_node(source)
    T.add_edges_from(bfs_edges(G, source, reverse, depth_limit))
    return T


@late
def bfs_successors(G: Converted, source: Any, depth_limit: Any = None) -> Iterator[tuple[Any, list[Any]]]:
    found = from_source(G, source, False, depth_limit)
    children = found.order[1:]
    if not children.size:
        return iter([(source, [])])
    parents = found.parent[children]
    cuts = np.flatnonzero(np.diff(parents)) + 1
    firsts = G.listed(parents[np.concatenate(([0], cuts))])
    named = G.listed(children)
    bounds = [0, *cuts.tolist(), len(named)]
    return ((name, named[a:b]) for name, a, b in zip(firsts, bounds[:-1], bounds[1:], strict=True))


def layers(G: Converted, sources: Any) -> list[list[Any]]:
    """The names of each level, from one vertex or from several together."""
    starts = [sources] if sources in G else list(set(sources))
    found = [vertex(G, name, "The node {} is not in the graph.", nx.NetworkXError) for name in starts]
    if not found:
        return []
    met = search(G, found)
    by = met.level[met.order]
    named = G.listed(met.order)
    bounds = [0, *(np.flatnonzero(np.diff(by)) + 1).tolist(), len(named)]
    return [named[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]


@late
def bfs_layers(G: Converted, sources: Any) -> Iterator[list[Any]]:
    return iter(layers(G, sources))


def descendants_at_distance(G: Converted, source: Any, distance: Any) -> set[Any]:
    v = vertex(G, source, "The node {} is not in the graph.", nx.NetworkXError)
    if not isinstance(distance, int) or distance < 0 or distance >= DEEPEST:
        raise NotImplementedError(f"a distance of {distance!r}")
    level = search(G, [v], distance).level
    return set(G.listed(np.flatnonzero(level == distance)))


def begun(G: Converted, source: Any, depth_limit: Any) -> tuple[np.ndarray, int]:
    """Where a depth-first search starts, and how deep it goes: from a vertex, or from all."""
    limit = len(G) if depth_limit is None else levels(depth_limit)
    if source is None:
        return np.arange(len(G)), limit
    return np.array([start(G, source)]), limit


def events(G: Converted, source: Any, depth_limit: Any) -> tuple[np.ndarray, ...]:
    """Those of a depth-first search from a vertex, or from all."""
    return log(*G.rows, *begun(G, source, depth_limit))


def tree(G: Converted, source: Any, depth_limit: Any) -> tuple[list[Any], list[Any]]:
    """The parents and the children, in order."""
    starts, limit = begun(G, source, depth_limit)
    n, (ends, near) = len(G), G.rows
    found = np.empty(n, np.int32), np.empty(n, np.int32)
    stack, at, visited = np.empty(n + 1, np.int32), ends[:-1].copy(), np.zeros(n, bool)
    limit = min(limit, 2**31 - 1)
    count = depth_first.tree(ends, near, starts.astype(np.int32), limit, stack, at, visited, found)
    parents, children = found
    return G.listed(parents[:count]), G.listed(children[:count])


@late
def dfs_edges(G: Converted, source: Any = None, depth_limit: Any = None) -> Iterator[tuple[Any, Any]]:
    return zip(*tree(G, source, depth_limit), strict=True)


def dfs_tree(G: Converted, source: Any = None, depth_limit: Any = None) -> Any:
    T = nx.DiGraph()
    if source is None:
        T.add_nodes_from(G)
    else:
        T.add_node(source)
    T.add_edges_from(dfs_edges(G, source, depth_limit))
    return T


def dfs_predecessors(G: Converted, source: Any = None, depth_limit: Any = None) -> dict[Any, Any]:
    parents, children = tree(G, source, depth_limit)
    return dict(zip(children, parents, strict=True))


def dfs_successors(G: Converted, source: Any = None, depth_limit: Any = None) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for parent, child in dfs_edges(G, source, depth_limit):
        found.setdefault(parent, []).append(child)
    return found


def nodes_of(kind: int) -> Any:
    """Returns the function of the vertices of one kind of events."""

    @late
    def nodes(G: Converted, source: Any = None, depth_limit: Any = None) -> Iterator[Any]:
        _, vertices, kinds = events(G, source, depth_limit)
        return iter(G.listed(vertices[kinds == kind]))

    return nodes


dfs_preorder_nodes, dfs_postorder_nodes = map(nodes_of, (0, 2))


@late
def dfs_labeled_edges(G: Converted, source: Any = None, depth_limit: Any = None) -> Iterator[tuple[Any, Any, str]]:
    u, v, kinds = events(G, source, depth_limit)
    return zip(G.listed(u), G.listed(v), (KINDS[kind] for kind in kinds.tolist()), strict=True)
