"""Small matrices as they are given: not sorted, compared with before, or kept.

What the other algorithms would have to learn of such a matrix takes longer than the loops here. The answers are the
same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from algorithms.fused.cpu.trees import parents
from algorithms.fused.cpu.unchecked_csr import CHILDREN, DAMAGED, settle_each
from formats import CSR
from semiring import MinPlus

from .graphs import SOON, Rows, both_ways, damaged, rows_as_given, starts_of
from .places import NONE
from .trees import as_predecessors, origins

SMALL = 1 << 14
"""Vertices and entries of a matrix in which the heap is over before other algorithms have looked at it."""

DISTANCES, TREES = 1 << 16, 1 << 23
"""Those that all searches together may look at; of many, distances are sooner found together."""


def suits(rows: Rows, searches: int, trees: bool, limit: float = math.inf) -> bool:
    """Are these few searches in a small matrix without negative weights? With a limit, it may be larger."""
    size, small = rows[0].size + rows[2].size, SMALL if math.isinf(limit) else SOON
    few = 0 < searches * size <= (TREES if trees or searches == 1 else DISTANCES)
    return few and size <= small and bool(rows[2].min(initial=0) >= 0)  # a NaN is not


def paths(
    G: Any,
    directed: bool,
    indices: Any,
    return_predecessors: bool,
    unweighted: bool = False,
    limit: float = math.inf,
    min_only: bool = False,
) -> Any:
    """As `paths.dijkstra`, or None of a large matrix, a negative weight or many starting points."""
    rows = rows_as_given(G, SMALL if math.isinf(limit) else SOON, directed)
    if rows is None or limit < 0:
        return None
    starts, shape = starts_of(rows[0].size - 1, indices)
    if not suits(rows, min(starts.size, 1) if min_only else starts.size, return_predecessors, limit):
        return None
    rows = rows if directed else both_ways(rows)
    return searched(rows, starts, shape, return_predecessors, unweighted, limit, min_only)


def searched(
    rows: Rows,
    starts: np.ndarray,
    shape: tuple[int, ...],
    return_predecessors: bool,
    unweighted: bool,
    limit: float,
    min_only: bool = False,
) -> Any:
    """What `dijkstra` gives; None where edges of weight 0 leave predecessors from several points open.

    rows: of an (n, n) matrix without negative weights; the other arguments as in `paths`.
    """
    n, count = rows[0].size - 1, 1 if min_only else starts.size
    begins = np.array((0, starts.size)) if min_only else np.arange(count + 1)
    d, parent = np.full((count, n), np.inf), np.full((count if return_predecessors else 1, n), NONE, np.int32)
    heap = np.empty(n + CHILDREN, np.int32), np.full(n + CHILDREN, np.inf), np.full(n, -1, np.int32)
    rows, met = (*rows[:2], np.ones(rows[2].size) if unweighted else rows[2]), np.zeros(count, bool)
    found = settle_each(starts, begins, float(limit), rows, (d, parent, met), heap, np.empty(n, np.int32))
    if found == DAMAGED:
        raise damaged(*rows[:2])
    if not return_predecessors:
        return d[0] if min_only else d.reshape(*shape, n)
    if (open_at := met.nonzero()[0]).size:
        if count < starts.size:
            return None
        A = CSR.trusted(*rows, (n, n))
        for k in open_at.tolist():
            parent[k] = as_predecessors(parents(A, d[k], int(starts[k]), MinPlus, nearest=True))
    if min_only:
        return d[0], parent[0], origins(d[0], parent[0])
    return d.reshape(*shape, n), parent.reshape(*shape, n)
