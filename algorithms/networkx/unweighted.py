"""Shortest paths by the number of edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from algorithms.networkx.order import breadth_first

from .answers import in_order, late, lists, paths, way
from .graph import Converted
from .searches import before_each, lengths, levels, search, searched, vertex


def single_source_shortest_path_length(G: Converted, source: Any, cutoff: Any = None) -> dict[Any, int]:
    return lengths(G, vertex(G, source, "Source {} is not in G"), levels(cutoff))


def single_target_shortest_path_length(G: Converted, target: Any, cutoff: Any = None) -> dict[Any, int]:
    return lengths(G, vertex(G, target, "Target {} is not in G"), levels(cutoff), backwards=True)


def single_source_shortest_path(G: Converted, source: Any, cutoff: Any = None) -> dict[Any, list[Any]]:
    found = search(G, [vertex(G, source, "Source {} not in G")], levels(cutoff))
    return paths(G, found.order, found.parent)


def single_target_shortest_path(G: Converted, target: Any, cutoff: Any = None) -> dict[Any, list[Any]]:
    found = search(G, [vertex(G, target, "Target {} not in G")], levels(cutoff), backwards=True)
    return paths(G, found.order, found.parent, turned=True)


@late
def all_pairs_shortest_path_length(G: Converted, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, int]]]:
    for name, (order, level) in zip(G, searched(G, levels(cutoff)), strict=True):
        yield name, dict(zip(G.listed(order), level.tolist(), strict=True))


@late
def all_pairs_shortest_path(G: Converted, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    limit = levels(cutoff)
    for v, name in enumerate(G):
        found = search(G, [v], limit)
        yield name, paths(G, found.order, found.parent)


def meeting(G: Converted, source: Any, target: Any) -> np.ndarray:
    """A shortest path, by searches from both ends."""
    s, t = vertex(G, source, "Source {} is not in G"), vertex(G, target, "Target {} is not in G")
    n = len(G)
    before, after = np.full(n, -2, np.int32), np.full(n, -2, np.int32)
    queues = np.empty(n, np.int32), np.empty(n, np.int32)
    met = breadth_first.meet(tuple(G.rows), tuple(G.back), s, t, queues, before, after)
    if met < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return np.concatenate((way(before, met), way(after, met)[-2::-1]))


def bidirectional_shortest_path(G: Converted, source: Any, target: Any) -> list[Any]:
    return G.listed(meeting(G, source, target))


def predecessor(
    G: Converted, source: Any, target: Any = None, cutoff: Any = None, return_seen: Any = None
) -> dict[Any, list[Any]] | list[Any] | tuple[Any, Any]:
    s = vertex(G, source, "Source {} not in G")
    found = search(G, [s], max(levels(cutoff), 1) if cutoff else levels(None))
    rows, farthest = (*G.rows, G.weights(None)), int(found.level[found.order[-1]])  # beyond nobody has searched
    _, slots, tight = before_each(rows, found.order, found.level.astype(np.int64), farthest, found.order[:1])
    before = lists(G, found.order, slots, tight)
    if target is None:
        return (before, in_order(G, found.order, found.level)) if return_seen else before
    t = G.looked_up(target)
    if t < 0 or found.level[t] < 0:
        return ([], -1) if return_seen else []
    return (before[target], int(found.level[t])) if return_seen else before[target]
