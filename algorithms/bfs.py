"""Breadth-first search: how many edges away every vertex is.

    level⟨f⟩ = k,   f' = fA⟨¬visited⟩   for k = 0, 1, 2, …

A stored entry is an edge, whatever its value. Each vertex is visited once and each edge looked at at most once where
frontiers are pushed; `traversal` says when they are pulled. The number of rounds is the depth of the tree.

[1] S. Beamer, K. Asanović, D. Patterson, Direction-optimizing breadth-first search, SC 2012.
[2] A. Buluç, K. Madduri, Parallel breadth-first search on distributed memory systems, SC 2011.
"""

from __future__ import annotations

import operator
from typing import Any, Literal

from formats import Matrix
from semiring import fusible
from semiring.registry import Holds
from semiring.vectors import all_vertices, excluded, flag, full, places, starting_points

from .single_source import as_rows
from .trace import running
from .traversal import Direction, frontiers

LEVEL = "int32"


@fusible
def bfs(
    A: Matrix,
    source: int | None = None,
    *,
    sources: Any = None,
    return_parents: bool = False,
    direction: Literal["auto", "push", "pull"] = "auto",
    alpha: float = 15,
    beta: float = 18,
    mask: Any = None,
    complement: bool = False,
    max_level: int | None = None,
) -> Any:
    """The number of edges on a shortest way from `source` to every vertex.

    A: (n, n), an entry A[u, v] is the edge u -> v.  source: 0 <= s < n; or sources, several, a row of the answer each.
    direction, alpha, beta: see `traversal.Direction`; pulls keep A by columns with it, pushes by rows.  mask,
    complement: (n,) the vertices of the subgraph to search, as in the write rule.  max_level: how far to look.
    Returns (n,) int32 levels on A's device, -1 where the source does not lead; with `return_parents` also (n,)
    integers, each vertex's smallest predecessor one level nearer, -1 for none.
    Raises ValueError for a source outside A or its subgraph, or values that a parameter cannot have.  Source: [1].
    """
    how = Direction(direction, alpha, beta)
    deepest = None if max_level is None else operator.index(max_level)
    if deepest is not None and deepest < 0:
        raise ValueError(f"max_level must not be negative, got {max_level}")
    starts = starting_points(A, source, sources)
    outside = excluded(A, mask, complement) if mask is not None else None
    for start in starts:
        if outside is not None and bool(outside[start]):
            raise ValueError(f"source {start} is not in the subgraph that the mask leaves")
    answers = []
    for start in starts:
        with running("bfs", A):
            answers.append(search(A, start, outside, how, deepest, return_parents))
    return as_rows(answers, A, LEVEL, several=sources is not None, trees=return_parents)


bfs.holds = Holds(fused=(17, 9), written=(32, 20))


@bfs.core
def search(
    A: Matrix, source: int, outside: Any, how: Direction, deepest: int | None, return_parents: bool
) -> tuple[Any, Any]:
    """(levels, parents) from one source; no parents where nobody asked for them.

    outside: (n,) Booleans, where not to go; None for everywhere.  deepest: the last level to find, None for all.
    """
    visited = full(all_vertices(A), False, bool) if outside is None else outside.copy()
    level = full(visited, -1, LEVEL)
    parent = full(visited, -1, all_vertices(A).dtype) if return_parents else None
    for k, f in enumerate(frontiers(A, flag(A, source), visited, how, parent)):  # f' = fA⟨¬visited⟩
        level[places(f)] = k
        if k == deepest:
            break
    return level, parent
