"""Components: sets of names, in NetworkX's order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from algorithms.equations.scc import scc
from algorithms.networkx.order import depth_first
from formats.arrays import to_device

from .answers import late, sets
from .graph import Converted, once
from .options import option
from .searches import vertex


@once
def weak(G: Converted) -> np.ndarray:
    """Returns the first vertex of the component of each vertex."""
    return to_device(scc(G.matrix(), weak=True), "cpu")


def strong(G: Converted) -> np.ndarray:
    """Returns the number of each vertex's strong component, in the order in which NetworkX's search completes them."""
    return completed(G)[0] if option("exact_order") else G.once("strong", lambda: to_device(scc(G.matrix()), "cpu"))


@once
def completed(G: Converted) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the components, and the vertices in the order in which a search completes them."""
    n, at = len(G), G.rows.ends[:-1].copy()
    component, members = np.full(n, -1, np.int32), np.empty(n, np.int32)
    stack, waiting, preorder, lowlink = np.zeros((4, n), np.int32)
    depth_first.components(tuple(G.rows), at, (stack, waiting), preorder, lowlink, component, members)
    return component, members


def strong_sets(G: Converted) -> list[set[Any]]:
    """The strong components, each filled in NetworkX's order."""
    return sets(G, *completed(G)) if option("exact_order") else sets(G, strong(G))


def number(label: np.ndarray) -> int:
    return int(np.count_nonzero(np.bincount(label)))


def is_one(G: Converted, label: Any) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((label(G) == label(G)[0]).all())


@late
def connected_components(G: Converted) -> Iterator[set[Any]]:
    return iter(sets(G, weak(G)))


def number_connected_components(G: Converted) -> int:
    return number(weak(G))


def is_connected(G: Converted) -> bool:
    return is_one(G, weak)


def node_connected_component(G: Converted, n: Any) -> set[Any]:
    v = G.looked_up(n)
    if v < 0:
        raise KeyError(n)
    label = weak(G)
    return set(G.listed(np.flatnonzero(label == label[v])))


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


@late
def strongly_connected_components(G: Converted) -> Iterator[set[Any]]:
    return iter(strong_sets(G))


@late
def kosaraju_strongly_connected_components(G: Converted, source: Any = None) -> Iterator[set[Any]]:
    n, (ends, near), back = len(G), G.rows, G.back
    missing = "The node {} is not in the digraph."
    hash(source)  # which NetworkX asks a dictionary for
    starts = np.arange(n) if source is None else np.array([vertex(G, source, missing, nx.NetworkXError)])
    heads, kinds = log(back.ends, back.vertices, starts, n)[1:]
    finished = heads[kinds == 2]
    component = np.full(n, -1, np.int32)
    depth_first.from_each(ends, near, finished, finished.size, np.empty(n, np.int32), np.zeros(n, bool), component)
    members = np.flatnonzero(component >= 0)
    return iter(sets(G, component, members[component[members].argsort(kind="stable")]))


def log(ends: np.ndarray, near: np.ndarray, starts: np.ndarray, limit: int) -> tuple[np.ndarray, ...]:
    """The events of a depth-first search: from where, to where, and of which kind."""
    n = ends.size - 1
    found = tuple(np.empty(near.size + 4 * n + 2, kind) for kind in (np.int32, np.int32, np.int8))
    limit = min(limit, 2**31 - 1)
    stack, at, visited = np.empty(n + 1, np.int32), ends[:-1].copy(), np.zeros(n, bool)
    count = depth_first.events(ends, near, starts.astype(np.int32), limit, stack, at, visited, found)
    return tuple(part[:count] for part in found)


def number_strongly_connected_components(G: Converted) -> int:
    return number(strong(G))


def is_strongly_connected(G: Converted) -> bool:
    return is_one(G, strong)


def condensation(G: Converted, scc: Any = None) -> Any:
    C = nx.DiGraph()
    mapping: dict[Any, int] = {}
    C.graph["mapping"] = mapping
    if len(G) == 0:
        return C
    if scc is None:
        label = strong(G)
        members = strong_sets(G)
    else:
        members, label = list(scc), np.full(len(G), -1)
        for i, component in enumerate(members):
            for name in component:
                v = G.index(name)
                if v < 0:
                    raise NotImplementedError("a component of vertices that the graph lacks")
                label[v] = i
        if (label < 0).any():
            raise NotImplementedError("components that are not all of the graph")
    for i, component in enumerate(members):
        mapping.update((name, i) for name in component)
    C.add_nodes_from((i, {"members": component}) for i, component in enumerate(members))
    tails, heads = label[G.rows.rows()], label[G.rows.vertices]
    between = tails != heads
    tails, heads = tails[between], heads[between]
    first = np.sort(np.unique(tails.astype(np.int64) * len(members) + heads, return_index=True)[1])
    C.add_edges_from(zip(tails[first].tolist(), heads[first].tolist(), strict=True))
    return C


def leaving(G: Converted) -> np.ndarray:
    """Returns for each strong component whether an edge leads out of it."""
    label = strong(G)
    tails, heads = label[G.rows.rows()], label[G.rows.vertices]
    out = np.zeros(int(label.max(initial=-1)) + 1, bool)
    out[tails[tails != heads]] = True
    return out


@late
def attracting_components(G: Converted) -> Iterator[set[Any]]:
    out = leaving(G)[np.unique(strong(G))]
    return (members for members, led in zip(strong_sets(G), out.tolist(), strict=True) if not led)


def number_attracting_components(G: Converted) -> int:
    return len(list(attracting_components(G)))


def is_attracting_component(G: Converted) -> bool:
    found = list(attracting_components(G))
    return len(found) == 1 and len(found[0]) == len(G)


def is_semiconnected(G: Converted) -> bool:
    if not is_one(G, weak):
        return False
    label = strong(G)
    k = int(label.max()) + 1
    if not option("exact_order"):
        raise NotImplementedError("components that are not in topological order")
    tails, heads = label[G.rows.rows()], label[G.rows.vertices]
    followed = np.zeros(k, bool)
    followed[heads[tails == heads + 1]] = True  # an edge leads to a component of a smaller number
    return bool(followed[: k - 1].all())
