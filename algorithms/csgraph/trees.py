"""Searches and spanning forests with the signatures of `scipy.sparse.csgraph`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from algorithms.equations.bfs_order import bfs_order
from algorithms.equations.boruvka import boruvka
from algorithms.fused.cpu.bfs_order import queued, queued_along
from formats import Matrix
from formats.storage.compressed import expand
from formats.storage.orientation import is_symmetric, known_symmetric

from . import places, small
from .graphs import (
    NONE,
    SOON,
    as_held,
    as_matrix,
    as_predecessors,
    by_rows,
    damaged,
    entries_where,
    graph_of,
    matrix_like,
    other_columns,
    regular_rows,
    rows_as_given,
    stored,
    values_at,
)
from .places import ONE_KERNEL, SEVERAL_KERNELS, sent_to, where


def breadth_first_order(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """The vertices in the order of a breadth-first search.

    Args:
        csgraph: (n, n), a sparse matrix or an array; a stored entry is an edge.
        i_start: where to start, 0 <= i_start < n.
        directed: False lets edges count both ways.
        return_predecessors: also return who found each vertex.

    Returns:
        The vertices that are reached, int32, in order; and (n,) int32 predecessors, -9999 where there is none. Both are
        SciPy's; of CuPy's matrices, if the columns of each row ascend.

    Raises:
        ValueError: the graph is not square, or i_start lies outside it.

    Example:
        >>> breadth_first_order([[0, 1, 2, 0], [0, 0, 0, 1], [2, 0, 0, 3], [0, 0, 0, 0]], 0)
        (array([0, 1, 2, 3], dtype=int32), array([-9999,     0,     0,     1], dtype=int32))

    Source: `bfs_order`.
    """
    start = vertex(i_start)
    if (home := places.at_home(csgraph, ONE_KERNEL)) is not None:
        return sent_to(csgraph, breadth_first_order(home, start, directed, return_predecessors))
    G = as_matrix(csgraph)
    rows = rows_as_given(G, directed)
    if rows is not None and 0 <= start < rows[0].size - 1:
        order, parent = as_queued(*rows[:2], start, None if directed else other_columns(rows))
        return (order, parent) if return_predecessors else order
    A = stored(G, directed, weighted=False)
    _, order, parent = in_order(A, start, not directed)
    return where(A, (order, parent)) if return_predecessors else where(A, order)


def vertex(i_start: Any) -> int:
    """Converts a vertex as SciPy does: an integer, or a float without its fraction."""
    return int(i_start) if isinstance(i_start, float | np.floating) else operator.index(i_start)


def as_queued(indptr: np.ndarray, indices: np.ndarray, start: int, columns: Any = None) -> tuple[Any, Any]:
    """Returns the order and the predecessors in rows as they are given, and in columns, if these count."""
    found = queued_along((indptr, indices), start, NONE, columns, checked=False)
    if found is None:
        raise damaged(indptr, indices)
    return found


def in_order(A: Matrix, start: int, both_ways: bool) -> tuple[Any, Any, Any]:
    """Returns A, or its copy on the host if the order has too many levels; and there the order and predecessors."""
    if (found := places.order_on(A, start, both_ways)) is not None:
        return A, *found
    B: Any = places.on_host(A)
    if B.place.on_host and B.nnz < SOON and 0 <= start < B.nrows:
        return B, *queued(B, start, both_ways, NONE)  # by rows
    order, parent = bfs_order(B, start, both_ways=both_ways)
    return B, order.astype(np.int32, copy=False), as_predecessors(parent)


def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """The tree of a breadth-first search.

    Args:
        csgraph: (n, n), a sparse matrix or an array; a stored entry is an edge.
        i_start: where to start, 0 <= i_start < n.
        directed: False lets edges count both ways, with the smaller weight that is not 0.

    Returns:
        (n, n) sparse matrix: the tree's edges, from predecessors, with their weights.

    Raises:
        ValueError: the graph is not square, or i_start lies outside it.

    Example:
        >>> breadth_first_tree([[0, 8, 0, 3], [0, 0, 2, 5], [0, 0, 0, 6], [0, 0, 0, 0]], 0, directed=False).toarray()
        array([[0., 8., 0., 3.],
               [0., 0., 2., 0.],
               [0., 0., 0., 0.],
               [0., 0., 0., 0.]])

    Source: `bfs_order`.
    """
    start = vertex(i_start)
    if (home := places.at_home(csgraph, ONE_KERNEL)) is not None:
        return sent_to(csgraph, breadth_first_tree(home, start, directed))
    if isinstance(csgraph, np.matrix):  # of which SciPy's tree is an array, though its spanning tree is a matrix
        csgraph = np.asarray(csgraph)
    G = as_matrix(csgraph)
    A: Any = regular_rows(G, directed)
    if A is not None and 0 <= start < A.nrows:
        columns = None if directed else other_columns((A.indptr, A.indices, A.values))
        B, (order, parent) = A, as_queued(A.indptr, A.indices, start, columns)
    else:
        A = stored(G, directed)
        B, order, parent = in_order(A, start, not directed)
    if directed:
        return matrix_like(csgraph, *where(A, entries_where(B, parent[B.indices] == expand(B.indptr))))
    found = order[1:]
    found_by = parent[found]
    values = positive(values_at(B, found_by, found))
    if not known_symmetric(B):
        values = B.xp.minimum(values, positive(values_at(B, found, found_by)))
    return matrix_like(csgraph, *where(A, by_rows(found_by, found, values, B.nrows)))


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """A minimum spanning tree of an undirected graph, or a forest if it is not connected.

    Args:
        csgraph: (n, n), a sparse matrix or an array; of an edge's two directions the lighter counts.
        overwrite: taken, and not used: the graph is never changed.

    Returns:
        (n, n) sparse matrix: each edge once, where the graph has its weight, in row u < v if it has it at both places.
        Edges of weight 0 are left out, as SciPy does.

    Raises:
        ValueError: the graph is not square.

    Example:
        >>> minimum_spanning_tree([[0, 8, 0, 3], [0, 0, 2, 5], [0, 0, 0, 6], [0, 0, 0, 0]]).toarray()
        array([[0., 0., 0., 3.],
               [0., 0., 2., 5.],
               [0., 0., 0., 0.],
               [0., 0., 0., 0.]])

    Source: `boruvka`.
    """
    if (home := places.at_home(csgraph, SEVERAL_KERNELS)) is not None:
        return sent_to(csgraph, minimum_spanning_tree(home))
    G = as_matrix(csgraph)
    if (rows := rows_as_given(G, most=small.LISTED)) is not None:
        return matrix_like(csgraph, *small.forest(rows))
    regular = regular_rows(G)
    A: Any = graph_of(G) if regular is None else regular
    F: Any = boruvka(A if A.place.on_host else graph_of(G, directed=False), symmetrize=True)
    u, v, weights = F.rows, F.cols, F.values
    if bool((weights == 0).any()):
        u, v, weights = (part[weights != 0] for part in (u, v, weights))
    if not is_symmetric(A):
        u, v = as_held(A, u, v, weights)
    return matrix_like(csgraph, *by_rows(u, v, weights, A.nrows))


def positive(values: Any) -> Any:
    """Makes weights infinite where they are 0."""
    values[values == 0] = np.inf
    return values
