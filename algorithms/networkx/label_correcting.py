"""Shortest paths by weights of any sign, with ties and order of the label-correcting algorithm with a queue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from networkx.classes.function import frozen

from algorithms.equations.bellman_ford import bellman_ford
from algorithms.equations.joint_search import with_joint_source
from algorithms.networkx.order import weighted as loops
from algorithms.shared.errors import NegativeCycle
from semiring import MinPlus

from .answers import late, lists, paths, way
from .graph import Converted
from .searches import vertex
from .weighted import bound, settle


class Corrected(NamedTuple):
    """met: the vertices that are reached, in order.  d: (n,) distances.  parent: (n,), -1 at sources.

    heads, values, links: of each vertex the list of those before it, from heads[v] on along the links, -1 at the end.
    cycle: a vertex at which a negative cycle shows, or -1.
    """

    met: np.ndarray
    d: np.ndarray
    parent: np.ndarray
    heads: np.ndarray
    values: np.ndarray
    links: np.ndarray
    cycle: int


def correct(G: Converted, sources: list[int], weight: Any, watch: bool = True) -> Corrected:
    """Distances, and who is before each vertex on which paths."""
    weights = G.weights(weight)
    n, room = len(G), weights.size + len(G) + 2
    d, met, queue = np.zeros(n, weights.dtype), np.empty(n, np.int32), np.empty(max(n, 1), np.int32)
    flags = np.zeros(n, bool), np.zeros(n, bool)
    heads, tails = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    values, links = np.empty(room, np.int32), np.full(room, -1, np.int64)
    last = tuple(np.full(n, -1, np.int32) for _ in range(3))
    pool, times, starts = (heads, tails, values, links), np.zeros(n, np.int64), np.array(sources, np.int32)
    cycle, found = loops.corrected((*G.rows, weights), starts, watch, d, (met, queue, times), flags, pool, last)
    return Corrected(met[:found], d, last[0], heads, values, links, int(cycle))


def distances(G: Converted, source: Any, weight: Any, watch: bool = True) -> Corrected:
    """From one source; NetworkXUnbounded if there is a negative cycle."""
    hash(source)  # which NetworkX asks a dictionary for
    found = correct(G, [vertex(G, source, "Source {} not in G")], weight, watch)
    if found.cycle >= 0:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return found


def as_lengths(G: Converted, found: Corrected, source: Any) -> dict[Any, Any]:
    answer = dict(zip(G.listed(found.met), found.d[found.met].tolist(), strict=True))
    answer[source] = 0
    return answer


def listed(found: Corrected, v: int) -> list[int]:
    """Those before a vertex."""
    before, k = [], int(found.heads[v])
    while k >= 0:
        before.append(int(found.values[k]))
        k = int(found.links[k])
    return before


def single_source_bellman_ford(
    G: Converted, source: Any, target: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    if source == target:  # also where both are None, which is no vertex
        vertex(G, source, "Node {} is not found in the graph")
        return 0, [source]
    found = distances(G, source, weight)
    if target is None:
        lengths = as_lengths(G, found, source)
        return lengths, paths(G, found.met, found.parent, lengths=lengths)
    t = G.looked_up(target)
    if t not in found.met:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    return found.d[t].item(), G.listed(way(found.parent, t))


def single_source_bellman_ford_path(G: Converted, source: Any, weight: Any = "weight") -> dict[Any, list[Any]]:
    return single_source_bellman_ford(G, source, None, weight)[1]


def single_source_bellman_ford_path_length(G: Converted, source: Any, weight: Any = "weight") -> dict[Any, Any]:
    return as_lengths(G, distances(G, source, weight), source)


def bellman_ford_path(G: Converted, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    return single_source_bellman_ford(G, source, target, weight)[1]


def bellman_ford_path_length(G: Converted, source: Any, target: Any, weight: Any = "weight") -> Any:
    if source == target:
        vertex(G, source, "Node {} not found in graph")
        return 0
    found = distances(G, source, weight)
    t = G.looked_up(target)
    if t not in found.met:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
    return found.d[t].item()


@late
def all_pairs_bellman_ford_path(G: Converted, weight: Any = "weight") -> Iterator[Any]:
    G.weights(weight)
    return ((name, single_source_bellman_ford_path(G, name, weight)) for name in G)


@late
def all_pairs_bellman_ford_path_length(G: Converted, weight: Any = "weight") -> Iterator[Any]:
    G.weights(weight)
    return ((name, single_source_bellman_ford_path_length(G, name, weight)) for name in G)


def bellman_ford_predecessor_and_distance(
    G: Converted, source: Any, target: Any = None, weight: Any = "weight", heuristic: bool = False
) -> tuple[Any, Any]:
    vertex(G, source, "Node {} is not found in the graph")
    weights = G.weights(weight)
    if bool((weights[G.rows.rows() == G.rows.vertices] < 0).any()):
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    if len(G) == 1:
        return {source: []}, {source: 0}
    found = distances(G, source, weight, heuristic)
    order = found.met.tolist()
    each = [listed(found, v) for v in order]
    ends = np.zeros(len(G) + 1, np.int64)
    ends[np.array(order) + 1] = list(map(len, each))
    starts = np.cumsum(ends)
    by_vertex = [u for _, before in sorted(zip(order, each, strict=True)) for u in before]
    before = lists(G, found.met, starts, np.array(by_vertex, np.int64))
    return before, as_lengths(G, found, source)


def negative_edge_cycle(G: Converted, weight: Any = "weight", heuristic: bool = True) -> bool:
    if not G.rows.vertices.size:
        return False
    if nx.is_frozen(G.source):  # NetworkX adds a vertex to the graph, and takes it away again
        frozen()
    weights = G.weights(weight)
    if weights.min() >= 0:
        return False
    A = G.matrix(weight)
    try:
        bellman_ford(with_joint_source(A, A.xp.arange(len(G)), MinPlus), len(G))
    except NegativeCycle:
        return True
    except OverflowError:
        raise NotImplementedError("lengths that do not fit") from None
    return False


def find_negative_cycle(G: Converted, source: Any, weight: Any = "weight") -> list[Any]:
    hash(source)  # which NetworkX asks a dictionary for
    found = correct(G, [vertex(G, source, "Source {} not in G")], weight)
    v = found.cycle
    if v < 0:
        raise nx.NetworkXError("No negative cycles detected.")
    cycle: list[int] = []
    stack, seen = [(v, listed(found, v))], {v}
    while stack:  # back along the lists, the last of each first
        u, before = stack[-1]
        if v in before:
            return G.listed(np.array([v, u, *cycle[::-1]], np.int64))
        if before:
            w = before.pop()
            if w not in seen:
                stack.append((w, listed(found, w)))
                cycle.append(u)
                seen.add(w)
        else:
            stack.pop()
            if cycle:
                cycle.pop()
            else:
                raise NotImplementedError("a cycle that shows no way around")
    raise nx.NetworkXUnbounded("negative cycle detected but not identified")


def johnson(G: Converted, weight: Any = "weight") -> dict[Any, dict[Any, list[Any]]]:
    weights = G.weights(weight)
    if weights.dtype != np.int64:
        raise NotImplementedError("floats, which potentials round")
    found = correct(G, list(range(len(G))), weight)
    if found.cycle >= 0:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    h = found.d
    reduced = Converted(G.names, G.number, G.rows, (G.directed, G.parallel), G.source, G.given)
    key = ("weights", weight, 1, min, False)
    reduced.once(key, lambda: weights + h[G.rows.rows()] - h[G.rows.vertices])
    bound(None, weights)
    each = (settle(reduced, [v], weight) for v in range(len(G)))
    return {name: paths(G, one.order, one.parent) for name, one in zip(G, each, strict=True)}
