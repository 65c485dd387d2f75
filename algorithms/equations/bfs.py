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

from formats import Matrix, SparseVector
from formats.arrays import Array, index_dtype
from formats.matrix.notation import is_integer
from semiring.vectors import all_vertices, element, empty_rows, excluded, fill, full, one_hot, scatter
from semiring.verbs.checks import as_vertex, starting_points
from semiring.verbs.fusible import MemoryEstimate
from semiring.verbs.registry import Declined

from ..shared.signatures import Search, Searches, Vertices
from ..shared.traversal import Direction, frontiers

LEVEL = "int32"


@Search
def bfs(
    A: Matrix,
    source: int | None = None,
    *,
    sources: Vertices | None = None,
    return_parents: bool = False,
    direction: Literal["auto", "push", "pull"] = "auto",
    alpha: float = 15,
    beta: float = 18,
    mask: Array | SparseVector | None = None,
    complement: bool = False,
    max_level: int | None = None,
    target: int | None = None,
    fused: bool = True,
) -> Searches:
    """Breadth-first search: the number of edges on a shortest way from a source to every vertex.

    Args:
        A: (n, n), an entry A[u, v] is the edge u -> v, whatever its value.
        source: the vertex to start from, 0 <= source < n.
        sources: several sources, (k,) integers, instead of one: the answer then has a row for each.
        return_parents: also return the tree of the search.
        direction: "push" a frontier along its edges, let the unvisited "pull", or "auto", by Beamer's rule. Pulls need
            A by columns, which are kept with it.
        alpha: pull once the frontier's edges are more than one in alpha of those that no large frontier has had yet.
        beta: push again once the frontier is less than one in beta of the vertices.
        mask: (n,) the vertices of the subgraph to search.
        complement: search the vertices that are not in the mask.
        max_level: how far to look, in edges.
        target: look no farther than this vertex: what is more edges away counts as not reached. On the CPU a search
            from one source ends there.
        fused: False runs the equations as they are written.

    Returns:
        (n,) int32 levels on A's device, -1 where the source does not lead. With `return_parents` also (n,) integers:
        each vertex's smallest predecessor one level nearer, -1 for none.

    Raises:
        ValueError: a source lies outside A or its subgraph, a target lies outside A, or a
            parameter has a value that it cannot have.
        TypeError: both or neither of source and sources are given.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 2], [1, 2, 3], shape=5)
        >>> bfs(A, 0).tolist()
        [0, 1, 2, 3, -1]

    Source: Beamer, Asanović, Patterson 2012 [1].
    """
    how = Direction(direction, alpha, beta)
    if max_level is not None and not is_integer(max_level):
        raise TypeError(f"max_level must be an integer, got {max_level!r}")
    deepest = None if max_level is None else operator.index(max_level)
    if deepest is not None and deepest < 0:
        raise ValueError(f"max_level must not be negative, got {max_level}")
    starts = starting_points(A, source, sources)
    end = None if target is None else as_vertex(A, target, "target")
    stop = () if end is None or not A.place.on_host else (end,)  # a kernel on a GPU runs to its end
    outside = excluded(A, mask, complement) if mask is not None else None
    for start in starts:
        if outside is not None and element(outside, start):
            raise ValueError(f"source {start} is not in the subgraph that the mask leaves")
    if sources is None:
        [start] = starts
        level, parent = search(A, start, outside, how, deepest, return_parents, *stop)
        if end is not None and not stop:
            cut(level, parent, end)
        return (level, parent) if return_parents else level
    rows = empty_rows(A, len(starts), "bfs", LEVEL, index_dtype(A.nrows) if return_parents else None)
    for block in bfs.batch.blocks(A, starts, rows, outside, how, deepest, return_parents):
        if isinstance(block.answer, Declined):
            [start] = block.sources
            fill(block.rows, search(A, start, outside, how, deepest, return_parents, *stop))
    level, parent = rows
    if end is not None:
        for each in zip(level, parent if return_parents else [None] * len(starts), strict=True):
            cut(*each, end)
    return (level, parent) if return_parents else level


bfs.memory = MemoryEstimate(fused=(17, 9), equations=(32, 20))
bfs.in_order = True
bfs.interruptible_from_nnz = 1 << 24  # as each edge is looked at once


def cut(level: Any, parent: Any, target: int) -> None:
    """Take off what is farther than the target, if that is reached."""
    last = element(level, target)
    if last >= 0:
        far = level > last
        scatter(level, far, -1)
        if parent is not None:
            scatter(parent, far, -1)


@bfs.equations
def search(
    A: Matrix,
    source: int,
    outside: Any,
    how: Direction,
    deepest: int | None,
    return_parents: bool,
    target: int | None = None,
) -> tuple[Any, Any]:
    """Finds (levels, parents) from one source; no parents where nobody asked for them.

    outside: (n,) Booleans, where not to go; None for everywhere.  deepest: the last level to find, None for all.
    target: the vertex whose level is the last.
    """
    visited = full(all_vertices(A), False, bool) if outside is None else outside.copy()
    level = full(visited, -1, LEVEL)
    parent = full(visited, -1, all_vertices(A).dtype) if return_parents else None
    for k, f in enumerate(frontiers(A, one_hot(A, source), visited, how, parent)):  # f' = fA⟨¬visited⟩
        scatter(level, f, k)
        if k == deepest or (target is not None and element(level, target) >= 0):
            break
    return level, parent
