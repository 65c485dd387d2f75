"""Shortest paths by weights that are not negative, settled in the order of Dijkstra's algorithm with a heap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from algorithms.equations.joint_search import joint_search
from algorithms.equations.sssp import sssp
from algorithms.networkx.order import weighted as loops
from formats.arrays import to_device
from semiring import MinPlus

from .answers import late, lists, paths, way
from .graph import Converted
from .options import option
from .searches import before_each, by_size, vertex

FEW_EDGES = 1 << 17
"""Edges up to which vertices are settled one by one."""


class Settled(NamedTuple):
    """order: the vertices that are settled, in order.  d: (n,) distances.  parent: (n,), a source's is itself."""

    order: np.ndarray
    d: np.ndarray
    parent: np.ndarray
    rows: tuple[np.ndarray, np.ndarray, np.ndarray]
    limit: Any


def not_negative(G: Converted, weight: Any) -> np.ndarray:
    weights = G.weights(weight)
    if G.once(("least", weight), lambda: weights.min(initial=0)) < 0:
        raise NotImplementedError("negative weights, with which Dijkstra's algorithm may find other lengths")
    return weights


def bound(cutoff: Any, weights: np.ndarray) -> Any:
    """The largest length that counts, of the weights' type; None for all."""
    if cutoff is None or not isinstance(cutoff, int | float | np.number):
        if cutoff is not None:
            raise NotImplementedError(f"a cutoff of {cutoff!r}")
        return None
    if math.isnan(cutoff) or cutoff == math.inf:
        return None
    if weights.dtype == np.float64:
        return float(cutoff)
    if cutoff >= 2**62 or cutoff < 0:
        return None if cutoff > 0 else -1
    return math.floor(cutoff)


def settle(
    G: Converted, sources: list[int], weight: Any, cutoff: Any = None, target: int = -1, ties: bool = False
) -> Settled:
    """The vertices in the order in which they are settled, up to a length, or until the target is.

    ties: True if more than the first of equal paths is asked for.
    """
    weights = not_negative(G, weight)
    limit = bound(cutoff, weights)
    if weights.size < FEW_EDGES and G.device == "cpu":
        found = by_heap(G, sources, weights, limit, target)
        return found if target >= 0 or ties or option("exact_order") else found._replace(order=np.sort(found.order))
    d = lengths(G, sources, weight, limit, target)
    reached = np.flatnonzero(d >= 0)
    by = reached[by_size(d[reached])]
    place, next_one = np.full(len(G), -1, np.int64), np.empty(by.size, np.int64)
    loops.places(d, by, place, next_one)
    order, parent = np.full(by.size, -1, np.int32), np.full(len(G), -1, np.int32)
    rows = (*G.rows, weights)
    count = loops.replay(rows, d, np.array(sources, np.int32), place, next_one, order, parent)
    if count < by.size:
        raise NotImplementedError("sums of floats that depend on their order")
    if target >= 0:
        order = order[: int((order == target).argmax()) + 1] if d[target] >= 0 else order
    elif not option("exact_order") and not ties:
        order = np.sort(order)
    return Settled(order, d, parent, rows, limit)


def by_heap(G: Converted, sources: list[int], weights: np.ndarray, limit: Any, target: int) -> Settled:
    """The same by Dijkstra's algorithm itself, which is over before it is known what other ways need to know."""
    n, m, dtype, rows = len(G), weights.size + len(sources), weights.dtype, (*G.rows, weights)
    heap = np.empty(m, dtype), np.empty(m, np.int64), np.empty(m, np.int32)
    d, order, parent = np.full(n, -1, dtype), np.empty(n, np.int32), np.full(n, -1, np.int32)
    most = dtype.type(np.inf if dtype.kind == "f" else np.iinfo(dtype).max) if limit is None else dtype.type(limit)
    starts, settled = np.array(sources, np.int32), np.zeros(n, bool)
    count = loops.dijkstra(rows, starts, most, target, heap, settled, (order, d, parent))
    return Settled(order[:count], d, parent, rows, limit)


def lengths(G: Converted, sources: list[int], weight: Any, limit: Any, target: int) -> np.ndarray:
    """Returns (n,) distances of the weights' type, -1 where no path leads."""
    dtype = G.weights(weight).dtype
    if limit is not None and limit < 0:
        d = np.full(len(G), -1, dtype)
        d[sources] = 0
        return d
    A = G.matrix(weight)
    if limit is not None and A.dtype == np.int32:
        limit = min(limit, 2**31 - 2)
    try:
        if len(sources) == 1:
            found: Any = sssp(A, sources[0], limit=limit, target=None if target < 0 else target)
        else:
            starts = A.xp.asarray(sorted(set(sources)))
            found, _ = joint_search(A, starts, MinPlus, limit, False)
    except OverflowError:
        raise NotImplementedError("lengths that do not fit") from None
    d = to_device(found, "cpu")
    absent = d == MinPlus.zero(d.dtype)
    d = d.astype(dtype)
    d[absent] = -1
    return d


def as_lengths(G: Converted, found: Settled, sources: list[int]) -> dict[Any, Any]:
    """The lengths by name; a source's is the integer 0."""
    answer = dict(zip(G.listed(found.order), found.d[found.order].tolist(), strict=True))
    if found.d.dtype == np.float64:
        for s in sources:
            answer[G.names[s]] = 0
    return answer


def single(G: Converted, source: Any) -> list[int]:
    hash(source)  # which NetworkX asks a dictionary for
    return [vertex(G, source, "Node {} not found in graph")]


def several(G: Converted, sources: Iterable[Any]) -> list[int]:
    """The numbers of sources; they must be listed, for a length and to be looked through twice."""
    if not hasattr(sources, "__len__"):
        raise NotImplementedError("sources that are no collection")
    if not sources:
        raise ValueError("sources must not be empty")
    found = [vertex(G, s, "Node {} not found in graph") for s in sources]
    if len(set(found)) < len(found):
        raise NotImplementedError("a source that is given twice")
    return found


def to_target(G: Converted, sources: list[int], target: Any, cutoff: Any, weight: Any) -> tuple[Any, list[Any]]:
    """The length of the shortest path, and the path."""
    t = G.looked_up(target)
    if t in sources:
        return 0, [target]
    found = settle(G, sources, weight, cutoff, max(t, 0)) if t >= 0 else settle(G, sources, weight, cutoff)
    if t < 0 or found.d[t] < 0:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return found.d[t].item(), G.listed(way(found.parent, t))


def multi_source_dijkstra(
    G: Converted, sources: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    return from_sources(G, several(G, sources), target, cutoff, weight)


def from_sources(G: Converted, sources: list[int], target: Any, cutoff: Any, weight: Any) -> tuple[Any, Any]:
    if target is not None:
        return to_target(G, sources, target, cutoff, weight)
    found = settle(G, sources, weight, cutoff)
    lengths = as_lengths(G, found, sources)
    return lengths, paths(G, found.order, found.parent, lengths=lengths)


def multi_source_dijkstra_path(G: Converted, sources: Any, cutoff: Any = None, weight: Any = "weight") -> Any:
    return from_sources(G, several(G, sources), None, cutoff, weight)[1]


def multi_source_dijkstra_path_length(G: Converted, sources: Any, cutoff: Any = None, weight: Any = "weight") -> Any:
    starts = several(G, sources)
    return as_lengths(G, settle(G, starts, weight, cutoff), starts)


def single_source_dijkstra(
    G: Converted, source: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    return from_sources(G, single(G, source), target, cutoff, weight)


def single_source_dijkstra_path(G: Converted, source: Any, cutoff: Any = None, weight: Any = "weight") -> Any:
    found = settle(G, single(G, source), weight, cutoff)
    return paths(G, found.order, found.parent)


def single_source_dijkstra_path_length(G: Converted, source: Any, cutoff: Any = None, weight: Any = "weight") -> Any:
    starts = single(G, source)
    return as_lengths(G, settle(G, starts, weight, cutoff), starts)


def dijkstra_path(G: Converted, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    if target is None:
        return from_sources(G, single(G, source), None, None, weight)[1]
    return to_target(G, single(G, source), target, None, weight)[1]


def dijkstra_path_length(G: Converted, source: Any, target: Any, weight: Any = "weight") -> Any:
    s = vertex(G, source, "Node {} not found in graph")
    if source == target:
        return 0
    t = G.looked_up(target)
    found = settle(G, [s], weight, target=t)
    if t < 0 or found.d[t] < 0:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return found.d[t].item()


@late
def all_pairs_dijkstra(G: Converted, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    return ((name, from_sources(G, [v], None, cutoff, weight)) for v, name in checked(G, weight))


@late
def all_pairs_dijkstra_path(G: Converted, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    return ((name, from_sources(G, [v], None, cutoff, weight)[1]) for v, name in checked(G, weight))


@late
def all_pairs_dijkstra_path_length(G: Converted, cutoff: Any = None, weight: Any = "weight") -> Iterator[Any]:
    bound(cutoff, not_negative(G, weight))
    return ((name, as_lengths(G, settle(G, [v], weight, cutoff), [v])) for v, name in checked(G, weight))


def checked(G: Converted, weight: Any) -> Iterator[tuple[int, Any]]:
    """The vertices and their names, once the weights have been found to be fit."""
    not_negative(G, weight)
    return enumerate(G)


def dijkstra_predecessor_and_distance(
    G: Converted, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    starts = [vertex(G, source, "Node {} is not found in the graph")]
    found = settle(G, starts, weight, cutoff, ties=True)
    unbounded = np.inf if found.d.dtype == np.float64 else np.iinfo(np.int64).max
    limit = unbounded if found.limit is None else found.limit
    met, slots, before = before_each(found.rows, found.order, found.d, limit, np.array(starts))
    return lists(G, met, slots, before), as_lengths(G, found, starts)


def bidirectional_dijkstra(G: Converted, source: Any, target: Any, weight: Any = "weight") -> tuple[Any, Any]:
    s, t = vertex(G, source, "Source {} is not in G"), vertex(G, target, "Target {} is not in G")
    if s == t:
        return 0, [source]
    rows = (*G.rows, not_negative(G, weight))
    back = (*G.back, G.weights(weight, backwards=True))
    n, m, dtype = len(G), rows[1].size + 1, rows[2].dtype
    heaps = tuple((np.empty(m, dtype), np.empty(m, np.int64), np.empty(m, np.int32)) for _ in range(2))
    seen, settled = (np.zeros(n, dtype), np.zeros(n, dtype)), (np.zeros(n, bool), np.zeros(n, bool))
    before = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    met, length = loops.meet(rows, back, s, t, heaps, seen, settled, before)
    if met < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return length, G.listed(np.concatenate((way(before[0], met), way(before[1], met)[-2::-1])))


def voronoi_cells(G: Converted, center_nodes: Any, weight: Any = "weight") -> dict[Any, set[Any]]:
    found = settle(G, several(G, center_nodes), weight, ties=True)
    nearest = np.arange(len(G))
    cells: dict[Any, set[Any]] = {}
    parent = found.parent
    for v in found.order.tolist():
        nearest[v] = nearest[parent[v]]
    for v, name in zip(nearest[found.order].tolist(), G.listed(found.order), strict=True):
        cells.setdefault(G.names[v], set()).add(name)
    if found.order.size < len(G):
        cells["unreachable"] = set(G.names) - set(G.listed(found.order))
    return cells
