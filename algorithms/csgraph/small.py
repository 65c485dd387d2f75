"""Dijkstra's algorithm on small matrices, and on SciPy's as they are: not sorted, compared with before, or kept.

What `paths` would have to learn of such a matrix takes longer than the search. The answers are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR, Matrix
from semiring import MinPlus

from .graphs import SOON, as_given, damaged, given_both_ways, starts_of
from .places import NONE
from .trees import as_predecessors, origins

FEW = 16
"""Starting points up to which trees are found one after the other; distances alone are sooner found together."""


def suits(A: Matrix, starts: int, trees: bool) -> bool:
    """Is it a small matrix on the host, of which so few searches are asked for?"""
    return A.place.on_host and 0 < A.nnz < SOON and 0 < starts <= (FEW if trees else 1)


def dijkstra(
    csgraph: Any,
    directed: bool,
    indices: Any,
    return_predecessors: bool,
    unweighted: bool,
    limit: float,
    min_only: bool,
) -> Any:
    """As `paths.dijkstra`, or None of a large matrix, another format, a negative weight or many starting points."""
    few = FEW if return_predecessors or min_only else 1
    if indices is None or not 0 < np.size(indices) <= few or not limit >= 0:
        return None
    A = as_given(csgraph, SOON) if directed else given_both_ways(csgraph, SOON)
    if A is None or not A.nnz or not A.values.min() >= 0:  # a NaN is not
        return None
    return searched(A, *starts_of(A, indices), return_predecessors, unweighted, limit, min_only)


def searched(
    A: Any,
    starts: list[int],
    shape: tuple[int, ...],
    return_predecessors: bool,
    unweighted: bool,
    limit: float,
    min_only: bool = False,
) -> Any:
    """What `dijkstra` gives; None where edges of weight 0 leave predecessors from several points open.

    A: (n, n), rows without negative weights; the other arguments as in `paths`.
    """
    n, groups = A.nrows, [starts] if min_only else [[start] for start in starts]
    d, parent = np.full((len(groups), n), np.inf), np.full((len(groups), n), NONE, np.int32)
    for each in zip(groups, d, parent, strict=True):
        if not found_from(A, *each, unweighted, float(limit), return_predecessors):
            return None
    if not min_only:
        return (d.reshape(*shape, n), parent.reshape(*shape, n)) if return_predecessors else d.reshape(*shape, n)
    return (d[0], parent[0], origins(A, d[0], parent[0])) if return_predecessors else d[0]


def found_from(A: CSR, starts: list[int], d: Any, parent: Any, unweighted: bool, limit: float, ties: bool) -> bool:
    """Search from these points together; is everything found, with the parents if `ties` count?

    d: (n,), infinity.  parent: (n,), NONE.
    """
    from algorithms.fused.cpu.as_given import DAMAGED, DIGIT, HEAP, levels, settle
    from algorithms.fused.cpu.trees import parents

    points, n, rows = np.array(starts), d.size, (A.indptr, A.indices)
    counts, lists = np.empty(int(DIGIT) + 1, np.int32), tuple(np.empty((2, n), np.int32))
    if unweighted:
        met = levels(points, limit, rows, d, parent, lists, counts)
    else:
        d[points] = 0
        heap = np.empty(n + HEAP, np.int32), np.full(n + HEAP, np.inf), np.full(n, -1, np.int32)
        met = settle(points, limit, (*rows, A.values), d, parent, heap, lists, counts)
    if met == DAMAGED:
        raise damaged(A.indptr, A.indices)
    if met and ties and points.size > 1:
        return False
    if met and ties:
        parent[:] = as_predecessors(parents(A, d, starts[0], MinPlus, nearest=True))
    return True
