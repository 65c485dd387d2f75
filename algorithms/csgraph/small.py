"""Searches and forests of small matrices as they are given: not sorted, compared with before, or kept.

Other algorithms would have to find out about such a matrix what takes longer than the loops here. The answers are the
same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.fused.cpu.light_edges import LightEdges, chosen_of
from algorithms.fused.cpu.unchecked_csr import CHILDREN, DAMAGED, settle_each, sound

from .graphs import NONE, SOON, Rows, by_rows, damaged, origins, rows_as_given, starts_of, turned

SMALL, MEDIUM = 1 << 14, 1 << 16
"""Sizes, in vertices and entries, up to which the loop is over before others have looked at a matrix, or turned it."""

DISTANCES, TREES = 1 << 16, 1 << 23
"""Vertices and entries that all searches together may read; distances from many sources are faster found together."""

LISTED = 1 << 14
"""Entries of a matrix from which on all its edges are no longer sorted to find a forest."""


@dataclass(frozen=True)
class Query:
    """The arguments of a search for paths, as `dijkstra` names them."""

    directed: bool = True
    indices: Any = None
    return_predecessors: bool = False
    unweighted: bool = False
    limit: float = math.inf
    min_only: bool = False

    @property
    def bound(self) -> float | None:
        """The limit; None for all distances."""
        return None if self.limit == math.inf else self.limit

    @property
    def deepest(self) -> int | None:
        """The last level within the limit, where edges have length 1."""
        return None if self.bound is None else math.floor(self.bound)


def suits(rows: Rows, searches: int, query: Query) -> bool:
    """Returns True for few searches in a small matrix without negative weights."""
    size, together = rows[0].size + rows[2].size, searches > 1 and not query.return_predecessors
    few = 0 < searches * size <= (DISTANCES if together else TREES)
    return few and size <= largest(query) and bool(rows[2].min(initial=0) >= 0)  # a NaN is not


def largest(query: Query) -> int:
    """Returns the size up to which a matrix is small, by the time of the loop and of others."""
    if not math.isinf(query.limit):
        return SOON
    return SMALL if query.directed and not query.unweighted else MEDIUM


def paths(G: Any, query: Query) -> Any:
    """Returns what `dijkstra` returns; None for a large matrix, a negative weight or many starting points.

    Edges of weight 0 leave predecessors open. Where there are such, None is returned, too.
    """
    trees, min_only = bool(query.return_predecessors), query.min_only
    rows = rows_as_given(G, query.directed, largest(query))
    if rows is None or query.limit < 0:
        return None
    n = rows[0].size - 1
    starts, shape = starts_of(n, query.indices)
    count = min(starts.size, 1) if min_only else starts.size
    if not suits(rows, count, query):
        return None
    begins = np.array((0, starts.size)) if min_only else np.arange(count + 1)
    d, parent = np.full((count, n), np.inf), np.full((count if trees else 1, n), NONE, np.int32)
    heap = np.empty(n + CHILDREN, np.int32), np.full(n + CHILDREN, np.inf), np.full(n, -1, np.int32)
    found, front = (d, parent, np.zeros(count, bool)), np.empty(n, np.int32)
    if settle_each(starts, begins, float(query.limit), lists_of(rows, query), found, heap, front, trees) == DAMAGED:
        raise damaged(*rows[:2])
    if trees and found[2].any():
        return None
    if min_only:
        return (d[0], parent[0], origins(d[0], parent[0])) if trees else d[0]
    d = d.reshape(*shape, n)
    return (d, parent.reshape(d.shape)) if trees else d


def lists_of(rows: Rows, query: Query) -> Rows:
    """Returns the lists that `settle` reads: each row, and with directed=False each column."""
    indptr, indices, values = rows
    if query.unweighted:
        values = np.ones(values.size)
    if query.directed:
        return indptr[None], indices, values
    starts, *others = turned((indptr, indices, values))
    heads, weights = map(np.concatenate, zip((indices, values), others, strict=True))
    return np.stack((indptr, starts + indices.size)), heads, weights


def forest(rows: Rows) -> Rows:
    """Returns the rows of a minimum spanning forest, whose edges are sorted and joined in that order [1].

    Edges of one weight are taken by (smaller end, larger end), and of two directions the one with u < v.

    [1] J. B. Kruskal, On the shortest spanning subtree of a graph and the traveling salesman problem, Proceedings of
        the AMS 7(1), 1956.
    """
    indptr, indices, values = rows
    n = indptr.size - 1
    if indptr[0] or not sound(indptr, indices, n):
        raise damaged(indptr, indices)
    u, v = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr)), indices.astype(np.int32, copy=False)
    order = by_rows(np.minimum(u, v), np.maximum(u, v), np.arange(u.size), n)[2]
    u, v, weights = u[order], v[order], values[order]
    weights[np.isnan(weights)] = np.inf
    chosen = chosen_of(LightEdges(u, v, weights, all=True), np.arange(n, dtype=np.int32))
    chosen = chosen[weights[chosen] != 0]
    return by_rows(u[chosen], v[chosen], weights[chosen], n)
