"""Shortest paths with the signatures of `scipy.sparse.csgraph`.

Dijkstra's algorithm and Bellman's are what `sssp` chooses. Johnson's [1] first finds potentials h, by one search from
everywhere: with w'_uv = w_uv + h_u - h_v no weight is negative, and d_uv = d'_uv - h_u + h_v.

[1] D. B. Johnson, Efficient algorithms for shortest paths in sparse networks, J. ACM 24(1), 1977.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from algorithms.equations.all_pairs import all_pairs
from algorithms.equations.bfs import bfs
from algorithms.equations.joint_search import joint_search, with_joint_source
from algorithms.equations.sssp import sssp
from algorithms.shared.errors import NegativeCycle
from algorithms.shared.parents import gains_by_length, shortest_path_tree
from formats import Matrix
from formats.matrix.facts import Fact
from formats.storage.compressed import expand
from formats.storage.orientation import compressed
from semiring import MinPlus, select
from semiring.vectors import all_vertices

from . import places, small
from .graphs import SOON, as_matrix, as_predecessors, graph_of, origins, rows_as_given, starts_of
from .places import ALL_PAIRS, ONE_KERNEL, SEVERAL_KERNELS, sent_to
from .small import Query

POTENTIALS: Fact[tuple[Any, Matrix]] = Fact("Johnson's potentials, and the weights that they leave")

NEGATIVE = (
    "Graph has negative weights: dijkstra will give inaccurate results if the graph contains negative cycles. "
    "Consider johnson or bellman_ford."
)
DENSE = 1 / 4
"""The share of entries among the n² places from which on `shortest_path` takes all pairs at once, as SciPy does."""


def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = math.inf,
    min_only: bool = False,
) -> Any:
    """Distances from some vertices, or from all.

    Args:
        csgraph: (n, n), a sparse matrix or an array of weights that are not negative.
        directed: False lets edges count both ways; of two directions the lighter counts.
        indices: the vertices to start from, of any shape; negative ones count from the end. None: all.
        return_predecessors: also return the vertex before each on its path.
        unweighted: every edge has length 1.
        limit: vertices farther away are not reached.
        min_only: the least over the starting points.

    Returns:
        float64 distances of shape (*indices.shape, n), infinite where no path leads; with `return_predecessors` also
        int32 predecessors, -9999 where there is none. With `min_only` (n,) each, and with both also (n,) int32: the
        starting point of each path, -9999 for none.

    Raises:
        ValueError: the graph is not square, an index lies outside it, or the limit is negative.
        NegativeCycleError: SciPy's, of a cycle of negative length. Other negative weights are warned of.

    Example:
        >>> dijkstra([[0, 1, 2, 0], [0, 0, 0, 1], [2, 0, 0, 3], [0, 0, 0, 0]], indices=0, return_predecessors=True)
        (array([0., 1., 2., 2.]), array([-9999,     0,     0,     1], dtype=int32))

    Source: `sssp`.
    """
    return answer(csgraph, Query(directed, indices, return_predecessors, unweighted, limit, min_only), "D")


def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Distances from some vertices, or from all, with weights of any sign.

    Args:
        csgraph: (n, n), a sparse matrix or an array of weights.
        directed: False lets edges count both ways; of two directions the lighter counts.
        indices: the vertices to start from, of any shape; negative ones count from the end. None: all.
        return_predecessors: also return the vertex before each on its path.
        unweighted: every edge has length 1.

    Returns:
        As `dijkstra`.

    Raises:
        ValueError: the graph is not square, or an index lies outside it.
        NegativeCycleError: SciPy's, if a cycle of negative length can be reached.

    Example:
        >>> bellman_ford([[0, 1, 2, 0], [0, 0, 0, 1], [2, 0, 0, -3], [0, 0, 0, 0]], indices=0)
        array([ 0.,  1.,  2., -1.])

    Source: `sssp`.
    """
    return answer(csgraph, Query(directed, indices, return_predecessors, unweighted), "BF")


def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Distances from some vertices, or from all, with weights of any sign but no negative cycle anywhere.

    Args:
        csgraph: (n, n), a sparse matrix or an array of weights.
        directed: False lets edges count both ways; of two directions the lighter counts.
        indices: the vertices to start from, of any shape; negative ones count from the end. None: all.
        return_predecessors: also return the vertex before each on its path.
        unweighted: every edge has length 1.

    Returns:
        As `dijkstra`.

    Raises:
        ValueError: the graph is not square, or an index lies outside it.
        NegativeCycleError: SciPy's, if there is a cycle of negative length.

    Example:
        >>> johnson([[0, 1, 2, 0], [0, 0, 0, 1], [2, 0, 0, -3], [0, 0, 0, 0]], indices=0)
        array([ 0.,  1.,  2., -1.])

    Source: Johnson 1977 [1].
    """
    return answer(csgraph, Query(directed, indices, return_predecessors, unweighted), "J")


def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
) -> Any:
    """Distances between all vertices, with weights of any sign.

    Args:
        csgraph: (n, n), a sparse matrix or an array of weights.
        directed: False lets edges count both ways; of two directions the lighter counts.
        return_predecessors: also return the vertex before each on its path.
        unweighted: every edge has length 1.
        overwrite: taken, and not used: the graph is never changed.

    Returns:
        (n, n) float64, infinite where no path leads, and 0 from a vertex to itself, whatever its loop weighs; with
        `return_predecessors` also (n, n) int32 predecessors, -9999 where there is none.

    Raises:
        ValueError: the graph is not square.
        NegativeCycleError: SciPy's, if there is a cycle of negative length.

    Example:
        >>> floyd_warshall([[0, 1, 2], [0, 0, -4], [0, 0, 0]])
        array([[ 0.,  1., -3.],
               [inf,  0., -4.],
               [inf, inf,  0.]])

    Source: `all_pairs`.
    """
    if (home := places.at_home(csgraph, ALL_PAIRS, searches=None)) is not None:
        return sent_to(csgraph, floyd_warshall(home, directed, return_predecessors, unweighted))
    if isinstance(csgraph, np.ma.MaskedArray):  # in which zeros are edges elsewhere
        csgraph = csgraph.filled(0)
    G = as_matrix(csgraph)
    found = None if unweighted else small.paths(G, Query(directed, return_predecessors=return_predecessors))
    if found is not None:
        return found
    A = graph_of(G, directed)
    if gains_by_length(A, MinPlus):
        A = select(A, "offdiag")
    if unweighted:
        A = select(A, "<", math.inf)  # what is infinite is no edge, as in an array
    if return_predecessors or unweighted:
        return from_each(A, *starts_of(A.nrows, None), Query(directed, None, return_predecessors, unweighted))
    with cycles_as_scipy_does():
        return all_pairs(A)


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """Distances from some vertices, or from all, by the method that suits the graph.

    Args:
        csgraph: (n, n), a sparse matrix or an array of weights.
        method: "D" for `dijkstra`, "BF" for `bellman_ford`, "J" for `johnson`, "FW" for `floyd_warshall`, or "auto".
        directed: False lets edges count both ways; of two directions the lighter counts.
        return_predecessors: also return the vertex before each on its path.
        unweighted: every edge has length 1.
        overwrite: taken, and not used: the graph is never changed.
        indices: the vertices to start from, not with "FW".

    Returns:
        As `dijkstra`.

    Raises:
        ValueError: the graph is not square, an index lies outside it, there is no such method, or it is "FW" with
            indices.
        NegativeCycleError: SciPy's, of a cycle of negative length.

    Example:
        >>> shortest_path([[0, 0, 7, 0], [0, 0, 8, 5], [7, 8, 0, 0], [0, 5, 0, 0]], directed=False, indices=[0, 2])
        array([[ 0., 15.,  7., 20.],
               [ 7.,  8.,  0., 13.]])

    Source: `sssp` and `all_pairs`.
    """
    query = Query(directed, indices, return_predecessors, unweighted)
    if (home := home_of(csgraph, query)) is not None:
        found = shortest_path(home, method, directed, return_predecessors, unweighted, overwrite, indices)
        return sent_to(csgraph, found)
    G = as_matrix(csgraph)
    if method == "auto":
        method = suiting(G, indices)
    if method in ("D", "BF", "J"):
        return answer(G, query, method)
    if method != "FW":
        raise ValueError(f"unrecognized method {method!r}")
    if indices is not None:
        raise ValueError("Cannot specify indices with method == 'FW'.")
    return floyd_warshall(csgraph, directed, return_predecessors, unweighted)


def suiting(G: Any, indices: Any) -> str:
    """Returns the method that `shortest_path` chooses by itself."""
    if (rows := rows_as_given(G, most=SOON)) is not None:
        entries, negative = rows[2].size, rows[2].min(initial=0) < 0
    else:
        A = graph_of(G)
        entries, negative = A.nnz, gains_by_length(A, MinPlus)
    if indices is None and entries >= G.shape[0] ** 2 * DENSE:
        return "FW"
    return "J" if negative else "D"


def home_of(csgraph: Any, query: Query) -> Any:
    """Returns what `at_home` returns for these searches."""
    if not places.on_gpu(csgraph):
        return None
    if query.min_only or query.unweighted or query.return_predecessors:
        most, together = SEVERAL_KERNELS, query.min_only or not query.unweighted
    else:
        most, together = ONE_KERNEL if query.directed else ONE_KERNEL // 2, False
    return places.at_home(csgraph, most, 1 if together else None if query.indices is None else np.size(query.indices))


def answer(csgraph: Any, query: Query, method: str) -> Any:
    """Answers a query by `method`, which is "D", "BF" or "J" as in `shortest_path`."""
    if (home := home_of(csgraph, query)) is not None:
        return sent_to(csgraph, answer(home, query, method))
    G = as_matrix(csgraph)
    if (found := small.paths(G, query)) is not None:
        return found
    A = graph_of(G, query.directed)
    negative = method != "BF" and gains_by_length(A, MinPlus)
    starts, shape = starts_of(A.nrows, query.indices)
    if negative and method == "D":
        warnings.warn(NEGATIVE, UserWarning, stacklevel=3)
    elif negative and not query.unweighted:
        return by_potentials(A, starts, shape, query.return_predecessors)
    if query.limit < 0:
        raise ValueError("limit must be >= 0")
    if math.isnan(query.limit):  # within which SciPy finds nothing
        A, query = select(A, "<", -math.inf), replace(query, limit=0)
    return from_nearest(A, starts, query) if query.min_only else from_each(A, starts, shape, query)


def by_potentials(A: Matrix, starts: np.ndarray, shape: tuple[int, ...], return_predecessors: bool) -> Any:
    """Returns distances, or distances and predecessors, by Johnson's algorithm."""
    h, W = A.keep(POTENTIALS, lambda: potentials(A))
    found = answer(W, Query(indices=starts, return_predecessors=return_predecessors), "BF")
    d = found[0] if return_predecessors else found
    d -= h[starts.tolist()][:, None]
    d += h
    d = d.reshape(*shape, A.nrows)
    return (d, found[1].reshape(d.shape)) if return_predecessors else d


def from_each(A: Matrix, starts: np.ndarray, shape: tuple[int, ...], query: Query) -> Any:
    """Returns distances, or distances and predecessors, of shape (*shape, n)."""
    shape, xp, return_predecessors = (*shape, A.nrows), A.xp, query.return_predecessors
    if not starts.size:
        d = xp.empty(shape, np.float64)
        return (d, xp.empty(shape, np.int32)) if return_predecessors else d
    starts = starts.tolist()
    if query.unweighted:
        found: Any = bfs(A, sources=starts, return_parents=return_predecessors, max_level=query.deepest)
        d = lengths(found[0] if return_predecessors else found).reshape(shape)
        return (d, as_predecessors(found[1]).reshape(shape)) if return_predecessors else d
    with cycles_as_scipy_does():
        if len(starts) == 1:
            d = sssp(A, starts[0], limit=query.bound)[None]
        else:
            d = sssp(A, sources=starts, limit=query.bound)
    if not return_predecessors:
        return d.reshape(shape)
    parents = xp.empty(d.shape, np.int32)
    for start, row, parent in zip(starts, d, parents, strict=True):
        parent[:] = as_predecessors(shortest_path_tree(A, row, start, MinPlus, ties="nearest"))
    return d.reshape(shape), parents.reshape(shape)


def from_nearest(A: Matrix, starts: np.ndarray, query: Query) -> Any:
    """Returns (n,) distances from the nearest starting point, or with them the predecessors and that point."""
    xp, n = A.xp, A.nrows
    points = xp.asarray(np.unique(starts), np.int64)
    if query.unweighted:
        most = query.deepest
        joint = with_joint_source(A, points, MinPlus)
        level, parent = bfs(joint, n, return_parents=True, max_level=None if most is None else most + 1)
        d, parent = lengths(level[:n] - 1), xp.where(parent == n, -1, parent)[:n]
    else:
        with cycles_as_scipy_does():
            d, parent = joint_search(A, points, MinPlus, query.bound, query.return_predecessors)
    return (d, as_predecessors(parent), origins(d, parent)) if query.return_predecessors else d


def lengths(level: Any) -> Any:
    """Converts levels to distances."""
    d = level.astype(np.float64)
    d[level < 0] = np.inf
    return d


def potentials(A: Matrix) -> tuple[Any, Matrix]:
    """Returns h, and the matrix of w_uv + h_u - h_v, which rounding must not make negative."""
    S: Any = compressed(A, 0)
    with cycles_as_scipy_does():
        h = sssp(with_joint_source(S, all_vertices(S), MinPlus), S.nrows)[: S.nrows]
    return h, S.revalued(A.xp.maximum(S.values + h[expand(S.indptr)] - h[S.indices], 0))


@contextmanager
def cycles_as_scipy_does() -> Iterator[None]:
    """Raises SciPy's error where there is a negative cycle."""
    try:
        yield
    except NegativeCycle as error:
        from scipy.sparse.csgraph import NegativeCycleError

        raise NegativeCycleError(f"Negative cycle detected: {error}") from error
