"""Graphs and answers in the forms that peers take and give, all untimed.

Peers differ in what they call an answer: a dictionary, a list of sets, the order of a search. Here it becomes an array
over the vertices. A forest's edges count both ways, and of two directions the lighter one, as in
`boruvka(A, symmetrize=True)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from formats import CSR, from_edges

from .peer import Unable


def undirected(A: CSR) -> CSR:
    """Every edge once, above the diagonal, without self-loops: the lighter of its two directions."""
    u, v, weights = A.to_edges()
    apart = u != v
    u, v = u[apart], v[apart]
    return from_edges(np.minimum(u, v), np.maximum(u, v), weights[apart], shape=A.nrows)


def symmetric(A: CSR) -> bool:
    """True if every edge has a reverse."""
    reverse: Any = A.pattern().T.to(CSR)
    return np.array_equal(A.indptr, reverse.indptr) and np.array_equal(A.indices, reverse.indices)


def check_lengths(A: CSR) -> None:
    """Unable where Dijkstra's algorithm does not apply."""
    if A.nnz and A.values.min() < 0:
        raise Unable("left out: Dijkstra's algorithm takes no negative weights")


def distances(n: int, vertices: Iterable[int], lengths: Iterable[float], source: int) -> np.ndarray:
    """Returns distances, (n,) float64, from the vertices that were reached, the source among them or not."""
    d = np.full(n, np.inf)
    reached = np.fromiter(vertices, np.int64)
    d[reached] = np.fromiter(lengths, np.float64, reached.size)
    d[source] = 0
    return d


def finite_below(d: np.ndarray, unreached: float) -> np.ndarray:
    """Distances as float64, infinite where the peer says `unreached`."""
    return np.where(d < unreached, d.astype(np.float64), np.inf)


def levels_of_layers(n: int, layers: Iterable[Sequence[int]]) -> np.ndarray:
    """Returns levels, (n,) int64, from the layers of a search, nearest first."""
    level = np.full(n, -1, np.int64)
    for depth, vertices in enumerate(layers):
        level[np.asarray(vertices, np.int64)] = depth
    return level


def levels_of_order(n: int, order: np.ndarray, predecessor: np.ndarray) -> np.ndarray:
    """Returns levels, (n,) int64, from the order of a search and its tree: a vertex's depth in that tree.

    In a queue's order predecessors ascend, too, so a layer is a slice of it.
    """
    place = np.full(n, -1, np.int64)
    place[order] = np.arange(order.size)
    by = place[predecessor[order[1:]]]  # by[i]: the place of the vertex that found order[i + 1]
    level = np.full(n, -1, np.int64)
    level[order[:1]] = 0
    start, end, depth = 0, 1, 0
    while start < end < order.size:
        start, end, depth = end, 1 + int(np.searchsorted(by, end)), depth + 1
        level[order[start:end]] = depth
    return level


def labels_of_sets(n: int, components: Iterable[Iterable[int]]) -> np.ndarray:
    """Returns labels, (n,), from the components as collections of vertices; -1 for a vertex that is in none."""
    label = np.full(n, -1, np.int64)
    for number, component in enumerate(components):
        label[np.fromiter(component, np.int64)] = number
    return label
