"""Answers that are checked by what they must satisfy, where there is no second answer to compare them with.

Every entry of the matrix is looked at, a block of them at a time, on the matrix's device.

    product     y = A ⊕.⊗ x of min-plus: no term is less than its y, and each y is one of its terms
    distances   no edge improves its end, and each vertex that is reached hangs on a tight edge; weights are positive
    forest      its edges are A's, the lighter of two directions; without a cycle; every edge of A lies within a tree,
                and, at some weights, within a tree of the edges that are no heavier. With that at every weight, no
                forest is lighter (J. B. Kruskal, 1956).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from algorithms import scc
from bench.graphs.randomness import blocks, rows_of
from formats import COO, CSR, from_edges
from formats.arrays import Array, all_of

Entries = tuple[Array, Array, Array]
"""Rows, columns and values."""


def entries(A: CSR) -> Iterator[Entries]:
    """All entries, a block at a time, each read once: they may lie beyond a bus."""
    for block in blocks(A.nnz, A.place.backend):  # type: ignore[arg-type]
        yield rows_of(A.indptr, block), A.indices[block].copy(), A.values[block].copy()


def is_product(A: CSR, x: Array, y: Array) -> bool:
    """True if y_i = min_k (a_ik + x_k), of finite x, infinite for rows without entries."""
    xp, attained = A.xp, A.xp.zeros(A.nrows, bool)
    for row, col, value in entries(A):
        term = value + x[col]
        if not all_of(term >= y[row]):
            return False
        attained[row[term == y[row]]] = True
    empty = xp.diff(A.indptr) == 0
    return all_of(attained | (empty & xp.isinf(y)))


def are_distances(A: CSR, source: int, d: Array) -> bool:
    """True if d has the lengths of shortest paths from a source, infinite where there is none."""
    hangs = A.xp.isinf(d)
    hangs[source] = True
    for row, col, value in entries(A):
        term = value + d[row]
        if not (all_of(term >= d[col]) and all_of(value > 0)):
            return False
        hangs[col[term == d[col]]] = True
    return float(d[source]) == 0 and all_of(hangs)


def are_levels(A: CSR, source: int, level: Array) -> bool:
    """True if `level` is the least number of edges of a path from a source, -1 where there is none."""
    d = level.astype(np.float32)
    d[level < 0] = np.inf
    hops = A.with_values(A.xp.broadcast_to(A.xp.ones(1, np.float32), A.nnz))
    return all_of(level >= -1) and are_distances(hops, source, d)


def is_forest(A: CSR, F: COO, thresholds: Sequence[float]) -> bool:
    """True if F is a spanning forest of A's edges, taken both ways, as light as any at these weights."""
    xp, n = A.xp, A.nrows
    u, v, weight = F.to_edges()
    key = u.astype(np.int64) * n + v
    if not (all_of(u < v) and all_of(key[1:] > key[:-1])):
        return False
    trees = [components(u, v, n), *(components(*(end[weight <= t] for end in (u, v)), n) for t in thresholds)]
    if n - u.size != int((trees[0] == xp.arange(n)).sum()):  # a cycle
        return False
    found = xp.zeros(u.size, bool)
    for row, col, value in entries(A):
        for tree, most in zip(trees, (np.inf, *thresholds), strict=True):
            if not all_of((tree[row] == tree[col]) | (value > most)):
                return False
        edge = xp.minimum(row, col).astype(np.int64) * n + xp.maximum(row, col)
        at = xp.minimum(xp.searchsorted(key, edge), max(key.size - 1, 0))
        same = key[at] == edge if key.size else xp.zeros(edge.size, bool)
        at, value = at[same], value[same]
        if not all_of(value >= weight[at]):
            return False
        found[at[value == weight[at]]] = True
    return all_of(found)


def components(u: Array, v: Array, n: int) -> Any:
    """The smallest vertex of each vertex's component."""
    return scc(from_edges(u, v, shape=n, dtype=bool), weak=True)
