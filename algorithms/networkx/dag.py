"""Directed graphs: what leads where, and orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from algorithms.equations.transitive_closure import transitive_closure as closure
from algorithms.networkx.order import breadth_first
from formats.arrays import to_device
from formats.storage.compressed import expand
from formats.storage.orientation import compressed
from semiring import AnyPair, mxm

from .answers import late, way
from .graph import Converted, once
from .traversal import from_source


def descendants(G: Converted, source: Any) -> set[Any]:
    return set(G.listed(from_source(G, source).order[1:]))


def ancestors(G: Converted, source: Any) -> set[Any]:
    return set(G.listed(from_source(G, source, reverse=True).order[1:]))


@once
def ordered(G: Converted) -> tuple[np.ndarray, np.ndarray]:
    """The vertices that no cycle leads to, generation by generation; where generations begin."""
    if not G.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    n = len(G)
    waiting = np.bincount(G.rows.vertices, minlength=n)
    queue, starts = np.empty(n, np.int32), np.empty(n + 1, np.int64)
    count, found = breadth_first.generations(*G.rows, waiting, queue, starts)
    return queue[:found], starts[: count + 1]


def cyclic() -> nx.NetworkXUnfeasible:
    return nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


def all_or_cyclic(G: Converted, order: np.ndarray, found: Iterable[Any]) -> Iterator[Any]:
    """Yields what is found, and then raises NetworkX's error if the order is not of all vertices."""
    yield from found
    if order.size < len(G):
        raise cyclic()


@late
def topological_generations(G: Converted) -> Iterator[list[Any]]:
    order, starts = ordered(G)
    named, bounds = G.listed(order), starts.tolist()
    return all_or_cyclic(G, order, (named[a:b] for a, b in pairwise(bounds)))


@late
def topological_sort(G: Converted) -> Iterator[Any]:
    order = ordered(G)[0]
    return all_or_cyclic(G, order, G.listed(order))


def has_cycle(G: Converted) -> bool:
    return ordered(G)[0].size < len(G)


def is_directed_acyclic_graph(G: Converted) -> bool:
    return G.directed and not has_cycle(G)


def longest(G: Converted, weight: Any, default_weight: Any, topo_order: Any) -> tuple[np.ndarray, Any]:
    if G.parallel:
        raise NotImplementedError("parallel edges")
    weights = G.weights(weight, default_weight, backwards=True)
    if topo_order is None:
        order = ordered(G)[0]
        if order.size < len(G):
            raise cyclic()
    else:
        order = np.array([G.index(name) for name in topo_order], np.int64)
        if (np.sort(order) != np.arange(len(G))).any():
            raise NotImplementedError("an order that is not of all vertices")
    best, before = np.zeros(len(G), weights.dtype), np.full(len(G), -1, np.int32)
    v = int(breadth_first.longest(*G.back, weights, order.astype(np.int32), best, before))
    return way(before, v), best[v].item()


def dag_longest_path(G: Converted, weight: Any = "weight", default_weight: Any = 1, topo_order: Any = None) -> Any:
    if len(G) == 0:
        return []
    return G.listed(longest(G, weight, default_weight, topo_order)[0])


def dag_longest_path_length(G: Converted, weight: Any = "weight", default_weight: Any = 1) -> Any:
    if len(G) == 0:
        return 0
    path, length = longest(G, weight, default_weight, None)
    return length if len(path) > 1 else 0


def transitive_closure(G: Converted, reflexive: Any = False) -> Any:
    if reflexive not in (None, True, False):
        raise nx.NetworkXError("Incorrect value for the parameter `reflexive`")
    if reflexive is not None and type(reflexive) is not bool:
        raise NotImplementedError("a number, for which NetworkX adds no edge")
    if G.parallel or (reflexive is False and not G.directed):
        raise NotImplementedError("parallel edges, or cycles of undirected ones")
    T = G.networkx.copy()
    R: Any = compressed(closure(G.matrix(), reflexive=reflexive is True), 0)
    ends, near = to_device(R.indptr, "cpu").tolist(), G.listed(to_device(R.indices, "cpu"))
    for v, name in enumerate(G):
        known = T._adj[name]
        T.add_edges_from(
            (name, u) for u in near[ends[v] : ends[v + 1]] if u not in known and (reflexive is not None or u != name)
        )
    return T


def transitive_closure_dag(G: Converted, topo_order: Any = None) -> Any:
    if G.parallel or topo_order is not None:
        raise NotImplementedError("parallel edges, or an order")
    if has_cycle(G):
        raise cyclic()
    return transitive_closure(G)


def transitive_reduction(G: Converted) -> Any:
    if not is_directed_acyclic_graph(G):
        raise nx.NetworkXError("Directed Acyclic Graph required for transitive_reduction")
    A, n = G.matrix(), len(G)
    longer: Any = compressed(mxm(A, closure(A), AnyPair, mask=A.pattern()), 0)  # (A A⁺)⟨A⟩
    keys = to_device(expand(longer.indptr), "cpu").astype(np.int64) * n + to_device(longer.indices, "cpu")
    tails, heads = G.rows.rows(), G.rows.vertices
    only = ~np.isin(tails.astype(np.int64) * n + heads, keys)
    T = nx.DiGraph()
    T.add_nodes_from(G.names)
    T.add_edges_from(zip(G.listed(tails[only]), G.listed(heads[only]), strict=True))
    return T
