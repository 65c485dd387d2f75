"""Functions of the distances between all vertices."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np

from algorithms import harmonic_centrality as harmonic
from algorithms.equations.all_pairs import all_pairs
from algorithms.equations.distance_totals import Totals, distance_totals
from algorithms.equations.distances_in_blocks import blocks_of_distances
from algorithms.equations.eccentricity import eccentricity as eccentricities
from formats import Matrix
from formats.arrays import to_device
from formats.storage.orientation import compressed

from .answers import by_name
from .components import number, strong, weak
from .graph import Converted
from .searches import search
from .trees import is_tree
from .weighted import as_lengths, lengths, not_negative, settle

AT_ONCE = 4096
"""Vertices up to which searches from all of them, many at once, take less time than a few one after the other."""


def connected(G: Converted) -> bool:
    """Returns True if a path leads from each vertex to every other."""
    return number(strong(G) if G.directed else weak(G)) == 1


def check_connected(G: Converted) -> None:
    if not connected(G):
        what = "digraph is not strongly" if G.directed else "graph is not"
        raise nx.NetworkXError(f"Found infinite path length because the {what} connected")


def matrix(G: Converted, weight: Any) -> Matrix:
    if weight is not None:
        not_negative(G, weight)
    return G.matrix(weight)


def plain(G: Converted, x: Any, weight: Any) -> list[Any]:
    """Distances as Python's numbers, with the integer 0 where the source is nearest."""
    values = to_device(x, "cpu").tolist()
    if weight is None or G.weights(weight).dtype == np.int64:
        return [int(value) for value in values]
    return [value or 0 for value in values]


def sums_of(G: Converted) -> Totals:
    """`distance_totals`, by edges, which several functions ask for."""
    return G.once(("totals", G.device), lambda: distance_totals(G.matrix()))


def farness(
    G: Converted, weight: Any, backwards: bool = False, vertices: list[int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Returns each vertex's sum of distances to others, and the number that it leads to, itself included."""
    A = matrix(G, weight)
    if backwards:
        turned = A.T
        A = G.once(("turned", weight, G.device), lambda: compressed(turned, 0))
    total, count = [], []
    for _, d, led in blocks_of_distances(A, vertices or list(range(len(G))), weight is not None):
        kind = np.float64 if d.dtype.kind == "f" else np.int64
        total.append(to_device((d * led if kind is np.int64 else A.xp.where(led, d, 0)).sum(axis=1, dtype=kind), "cpu"))
        count.append(to_device(led.sum(axis=1), "cpu"))
    return np.concatenate(total), np.concatenate(count)


def farthest(G: Converted, weight: Any) -> Any:
    """Returns the distance of the farthest vertex from each vertex of a connected graph."""
    A, weighted = matrix(G, weight), weight is not None
    if A.nrows > AT_ONCE:
        return eccentricities(A, weighted=weighted)
    if not weighted:
        return sums_of(G).farthest
    blocks = blocks_of_distances(A, list(range(A.nrows)), weighted)
    return np.concatenate([to_device(d.max(axis=1), "cpu") for _, d, _ in blocks])


def total_length(G: Converted, weight: Any) -> Any:
    """The sum of all distances, of floats in NetworkX's order."""
    if weight is None:
        return int(sums_of(G).total.sum())
    if not_negative(G, weight).dtype == np.int64:
        return int(farness(G, weight)[0].sum())
    each = (as_lengths(G, settle(G, [v], weight), [v]).values() for v in range(len(G)))
    return sum(chain.from_iterable(each))


def eccentricity(G: Converted, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    if sp is not None or len(G) == 0:
        raise NotImplementedError("distances that are given, or no vertices")
    if weight is not None:
        not_negative(G, weight)
    if v is None:
        check_connected(G)
        return by_name(G, plain(G, farthest(G, weight), weight))
    at = G.index(v)
    if at < 0:
        raise NotImplementedError("several vertices")
    d = search(G, [at]).level if weight is None else lengths(G, [at], weight, None, -1)
    if (d < 0).any():
        check_connected(G)
    return plain(G, d.max(keepdims=True), weight)[0]


def of_all(G: Converted, e: Any, usebounds: bool, weight: Any) -> dict[Any, Any]:
    if e is not None or usebounds:
        raise NotImplementedError("eccentricities that are given, or bounds")
    return eccentricity(G, weight=weight)


def ends(best: Callable[..., Any]) -> tuple[Any, Any]:
    """Returns the functions of the largest or least eccentricity, and of the vertices that have it."""

    def value(G: Converted, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
        return best(of_all(G, e, usebounds, weight).values())

    def vertices(G: Converted, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
        if best is min:
            refuse_trees(G, weight)
        found = of_all(G, e, usebounds, weight)
        wanted = best(found.values())
        return [name for name, each in found.items() if each == wanted]

    return value, vertices


diameter, periphery = ends(max)
radius, center = ends(min)


def refuse_trees(G: Converted, weight: Any) -> None:
    """NetworkX takes trees apart from their leaves, which is fast, and has an order of its own."""
    if weight is None and not G.directed and G.rows.vertices.size == 2 * (len(G) - 1):
        raise NotImplementedError("a tree")


def barycenter(G: Converted, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Any]:
    if attr is not None or sp is not None or len(G) == 0:
        raise NotImplementedError("distances that are given, an attribute to be set, or no vertices")
    if weight is None and not G.directed and is_tree(G):
        return tree_centroid(G)
    if weight is not None and not_negative(G, weight).dtype != np.int64:
        raise NotImplementedError("floats, whose sums depend on their order")
    if not connected(G):
        raise nx.NetworkXNoPath(
            f"Input graph {G.networkx} is disconnected, so every induced subgraph has infinite barycentricity."
        )
    total = farness(G, weight)[0]
    return G.listed(np.flatnonzero(total == total.min()))


def tree_centroid(G: Converted) -> list[Any]:
    """The vertices without which no part has more than half of a tree, the nearest to the first one first."""
    if G.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if not is_tree(G):
        raise nx.NotATree("provided graph is not a tree")
    n, found = len(G), search(G, [0])
    order, parent, size = found.order.tolist(), found.parent.tolist(), [1] * len(G)
    for v in order[:0:-1]:
        size[parent[v]] += size[v]
    middle = next(v for v in reversed(order) if 2 * size[v] > n)
    return G.listed(np.array([middle, *(v for v in order[1:] if parent[v] == middle and 2 * size[v] == n)]))


centroid = barycenter if nx.barycenter.name == "centroid" else tree_centroid
"""From NetworkX 3.7 on the name of `barycenter`; before, that of a function of trees alone."""


def closeness_centrality(G: Converted, u: Any = None, distance: Any = None, wf_improved: bool = True) -> Any:
    if len(G) == 0 or (u is not None and G.index(u) < 0):
        raise NotImplementedError("no vertices, or none of that name")
    if u is None and distance is None:
        sums = sums_of(G)
        count, total = to_device(sums.reached, "cpu"), to_device(sums.total, "cpu")
    else:
        total, count = farness(G, distance, backwards=True, vertices=None if u is None else [G.index(u)])
    reached = count - 1.0
    found = np.divide(reached, total, out=np.zeros(total.size), where=total > 0)
    if wf_improved and len(G) > 1:
        found *= reached / (len(G) - 1)
    return by_name(G, found) if u is None else found.item()


def sums_of_inverses(G: Converted, weight: Any) -> np.ndarray:
    found = to_device(harmonic(matrix(G, weight), weighted=weight is not None), "cpu")
    if not np.isfinite(found).all():
        raise NotImplementedError("edges of length 0")
    return found


def harmonic_centrality(G: Converted, nbunch: Any = None, distance: Any = None, sources: Any = None) -> Any:
    if nbunch is not None or sources is not None:
        raise NotImplementedError("some vertices")
    values = by_name(G, [x or 0 for x in sums_of_inverses(G, distance).tolist()])
    return {name: values[name] for name in set(G.names)}


def harmonic_diameter(G: Converted, sp: Any = None, weight: Any = None) -> float:
    if sp is not None:
        raise NotImplementedError("distances that are given")
    n, total = len(G), float(sums_of_inverses(G, weight).sum())
    return n * (n - 1) / total if total else math.inf if n > 1 else math.nan


def global_efficiency(G: Converted) -> Any:
    n = len(G)
    return float(sums_of_inverses(G, None).sum()) / (n * (n - 1)) if n > 1 else 0


def wiener_index(G: Converted, weight: Any = None) -> Any:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if not connected(G):
        return math.inf
    total = total_length(G, weight)
    return total if G.directed else total / 2


def floyd_warshall_numpy(G: Converted, nodelist: Any = None, weight: Any = "weight") -> Any:
    if nodelist is not None or len(G) == 0:
        raise NotImplementedError("a list of vertices, or none")
    weights = G.floats(weight, combine=min)
    if weights.size and weights.min() < 0:
        raise NotImplementedError("negative weights")
    return to_device(all_pairs(G.array_of(weights)), "cpu")
