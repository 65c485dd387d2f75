"""The order of a breadth-first search with a queue, found level by level.

A queue puts a vertex behind those that were found before, so the level after a frontier stands in the order of each
vertex's first neighbour in the queue, and within one neighbour's row in the order of the columns. With f the positions
in the queue of the last level's vertices,

    t = f A⟨¬visited⟩ over (min, first)        the position of each new vertex's first neighbour
    the next positions are by (t_v, v)          the parent stands at t_v

Where edges count both ways a vertex looks through its row before its column: positions count double, and one more for
neighbours in columns.

[1] E. F. Moore, The shortest path through a maze, Int. Symposium on the Theory of Switching, 1959.
"""

from __future__ import annotations

from typing import Any

from formats import Matrix, SparseVector
from formats.arrays import IntegerVector, concatenated
from formats.storage.orientation import by_columns, is_symmetric
from semiring import MinFirst, ewise_add, fusible, vxm
from semiring.vectors import all_vertices, arange, full, gather, scatter, unweighted
from semiring.verbs.checks import as_vertex
from semiring.verbs.fusible import MemoryEstimate

from ..shared.trace import trace_round


@fusible
def bfs_order(
    A: Matrix, source: int, *, both_ways: bool = False, fused: bool = True
) -> tuple[IntegerVector, IntegerVector]:
    """The vertices in the order in which a breadth-first search with a queue finds them, and who found each.

    Args:
        A: (n, n), an entry A[u, v] is the edge u -> v, whatever its value.
        source: the vertex to start from, 0 <= source < n.
        both_ways: let edges count both ways: a vertex looks along its row, and then along its column.
        fused: False runs the equations as they are written.

    Returns:
        The vertices that are reached, in order, the source first; and (n,) integers: the vertex that found each, -1
        for none.

    Raises:
        ValueError: the matrix is not square, or the source lies outside it.

    Example:
        >>> from formats import from_edges
        >>> order, parent = bfs_order(from_edges([0, 0, 2, 3], [2, 3, 1, 1], shape=5), 0)
        >>> order.tolist(), parent.tolist()
        ([0, 2, 3, 1], [-1, 2, 0, 0, -1])

    Source: Moore 1959 [1].
    """
    return queued(A, as_vertex(A, source), both_ways)


bfs_order.memory = MemoryEstimate(fused=(17, 9), equations=(64, 20))
bfs_order.interruptible_from_nnz = 1 << 22  # as each edge is looked at once


@bfs_order.equations
def queued(A: Matrix, source: int, both_ways: bool) -> tuple[Any, Any]:
    """Finds (the order, the parents)."""
    P, n, ids = unweighted(A), A.nrows, all_vertices(A)
    turned = unweighted(by_columns(A)).T if both_ways and not is_symmetric(A, pattern=True) else None
    visited, parent = full(ids, False, bool), full(ids, -1, ids.dtype)
    level, levels = arange(ids, 1) + source, []
    while level.size:
        scatter(visited, level, True)
        levels.append(level)
        position = 2 * arange(ids, level.size).astype("int64")
        f = SparseVector(level, position, n)
        t = vxm(f, P, MinFirst, mask=visited, complement=True)  # t = f A⟨¬visited⟩
        if turned is not None:
            f = SparseVector(level, position + 1, n)
            t = ewise_add(t, vxm(f, turned, MinFirst, mask=visited, complement=True), MinFirst)
        trace_round(f)
        scatter(parent, t, gather(level, t.values // 2))
        keys = t.values * n + t.indices
        keys.sort()
        level = (keys % n).astype(ids.dtype)
    return concatenated(levels), parent
