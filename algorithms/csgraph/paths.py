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
from typing import Any

import numpy as np

from algorithms.all_pairs import all_pairs
from algorithms.bfs import bfs
from algorithms.joint_search import joint_search, with_joint_source
from algorithms.shared.errors import NegativeCycle
from algorithms.shared.parents import gains_by_length, shortest_path_tree
from algorithms.sssp import sssp
from formats import Matrix
from formats.matrix.facts import Fact
from formats.storage.compressed import expand
from formats.storage.orientation import compressed
from semiring import MinPlus, select
from semiring.vectors import all_vertices

from . import places, small
from .graphs import SOON, as_matrix, graph_of, rows_as_given, starts_of
from .places import ALL_PAIRS, BOTH_WAYS, DISTANCES, LEVELS, NEAREST, TREES, sent_to
from .trees import as_predecessors, origins

POTENTIALS: Fact[tuple[Any, Matrix]] = Fact("Johnson's potentials, and the weights that they leave")

NEGATIVE = (
    "Graph has negative weights: dijkstra will give inaccurate results if the graph contains negative cycles. "
    "Consider johnson or bellman_ford."
)
DENSE = 1 / 4
"""Share of the n² places from which on `shortest_path` takes all pairs at once, as SciPy does."""


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
    how = return_predecessors, unweighted, limit
    if (home := home_of(csgraph, directed, indices, return_predecessors, unweighted, min_only)) is not None:
        return sent_to(csgraph, dijkstra(home, directed, indices, *how, min_only))
    G = as_matrix(csgraph)
    if (found := small.paths(G, directed, indices, *how, min_only)) is not None:
        return found
    A = graph_of(G, directed)
    if gains_by_length(A, MinPlus):
        warnings.warn(NEGATIVE, UserWarning, stacklevel=2)
    starts, shape = starts_of(A.nrows, indices)
    if limit < 0:
        raise ValueError("limit must be >= 0")
    if math.isnan(limit):  # within which SciPy finds nothing
        A, limit = select(A, "<", -math.inf), 0
    if min_only:
        return from_nearest(A, starts, return_predecessors, unweighted, limit)
    return from_each(A, starts, shape, return_predecessors, unweighted, limit)


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
    if (home := home_of(csgraph, directed, indices, return_predecessors, unweighted)) is not None:
        return sent_to(csgraph, bellman_ford(home, directed, indices, return_predecessors, unweighted))
    G = as_matrix(csgraph)
    if (found := small.paths(G, directed, indices, return_predecessors, unweighted)) is not None:
        return found
    A = graph_of(G, directed)
    return from_each(A, *starts_of(A.nrows, indices), return_predecessors, unweighted)


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
    if (home := home_of(csgraph, directed, indices, return_predecessors, unweighted)) is not None:
        return sent_to(csgraph, johnson(home, directed, indices, return_predecessors, unweighted))
    G = as_matrix(csgraph)
    if (found := small.paths(G, directed, indices, return_predecessors, unweighted)) is not None:
        return found
    A = graph_of(G, directed)
    starts, shape = starts_of(A.nrows, indices)
    if unweighted or not gains_by_length(A, MinPlus):
        return from_each(A, starts, shape, return_predecessors, unweighted)
    h, W = A.keep(POTENTIALS, lambda: potentials(A))
    found = from_each(W, starts, (len(starts),), return_predecessors)
    d = found[0] if return_predecessors else found
    d -= h[starts.tolist()][:, None]
    d += h
    d = d.reshape(*shape, A.nrows)
    return (d, found[1].reshape(d.shape)) if return_predecessors else d


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
    if (home := places.at_home(csgraph, ALL_PAIRS, None)) is not None:
        return sent_to(csgraph, floyd_warshall(home, directed, return_predecessors, unweighted))
    if isinstance(csgraph, np.ma.MaskedArray):  # in which zeros are edges elsewhere
        csgraph = csgraph.filled(0)
    G = as_matrix(csgraph)
    found = None if unweighted else small.paths(G, directed, None, return_predecessors)
    if found is not None:
        return found
    A = graph_of(G, directed)
    if gains_by_length(A, MinPlus):
        A = select(A, "offdiag")
    if unweighted:
        A = select(A, "<", math.inf)  # what is infinite is no edge, as in an array
    if return_predecessors or unweighted:
        return from_each(A, *starts_of(A.nrows, None), return_predecessors, unweighted)
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
    if (home := home_of(csgraph, directed, indices, return_predecessors, unweighted)) is not None:
        found = shortest_path(home, method, directed, return_predecessors, unweighted, overwrite, indices)
        return sent_to(csgraph, found)
    G = as_matrix(csgraph)
    if method == "auto":
        method = suiting(G, indices)
    how = (directed, indices, return_predecessors, unweighted)
    if method == "D":
        return dijkstra(G, *how)
    if method == "BF":
        return bellman_ford(G, *how)
    if method == "J":
        return johnson(G, *how)
    if method != "FW":
        raise ValueError(f"unrecognized method {method!r}")
    if indices is not None:
        raise ValueError("Cannot specify indices with method == 'FW'.")
    return floyd_warshall(csgraph, directed, return_predecessors, unweighted)


def suiting(G: Any, indices: Any) -> str:
    """The method that `shortest_path` chooses by itself."""
    if (rows := rows_as_given(G, SOON)) is not None:
        entries, negative = rows[2].size, rows[2].min(initial=0) < 0
    else:
        A = graph_of(G)
        entries, negative = A.nnz, gains_by_length(A, MinPlus)
    if indices is None and entries >= G.shape[0] ** 2 * DENSE:
        return "FW"
    return "J" if negative else "D"


def home_of(
    csgraph: Any,
    directed: bool,
    indices: Any,
    return_predecessors: bool,
    unweighted: bool,
    min_only: bool = False,
) -> Any:
    """As `at_home`, for searches from these vertices."""
    if not places.on_gpu(csgraph):
        return None
    sources = 1 if min_only else None if indices is None else max(int(np.size(indices)), 1)
    cost = LEVELS if unweighted else NEAREST if min_only else TREES if return_predecessors else DISTANCES
    return places.at_home(csgraph, cost if directed or cost is not DISTANCES else BOTH_WAYS, sources)


def from_each(
    A: Matrix,
    starts: np.ndarray,
    shape: tuple[int, ...],
    return_predecessors: bool,
    unweighted: bool = False,
    limit: float = math.inf,
) -> Any:
    """Distances, or distances and predecessors, of shape (*shape, n)."""
    shape, xp = (*shape, A.nrows), A.xp
    if not starts.size:
        d = xp.empty(shape, np.float64)
        return (d, xp.empty(shape, np.int32)) if return_predecessors else d
    if A.place.on_host:
        C: Any = compressed(A, 0)
        rows = C.indptr, C.indices, C.values
        if small.suits(rows, starts.size, return_predecessors):
            return small.searched(rows, starts, shape[:-1], return_predecessors, unweighted, limit)
    starts = starts.tolist()
    if unweighted:
        found: Any = bfs(A, sources=starts, return_parents=return_predecessors, max_level=deepest(limit))
        level = found[0] if return_predecessors else found
        d = lengths(level).reshape(shape)
        return (d, as_predecessors(found[1]).reshape(shape)) if return_predecessors else d
    bound = None if limit == math.inf else limit
    with cycles_as_scipy_does():
        if len(starts) == 1:
            d = sssp(A, starts[0], limit=bound)[None]
        else:
            d = sssp(A, sources=starts, limit=bound)
    if not return_predecessors:
        return d.reshape(shape)
    parents = xp.empty(d.shape, np.int32)
    for start, row, parent in zip(starts, d, parents, strict=True):
        parent[:] = as_predecessors(shortest_path_tree(A, row, start, MinPlus, ties="nearest"))
    return d.reshape(shape), parents.reshape(shape)


def from_nearest(A: Matrix, starts: np.ndarray, return_predecessors: bool, unweighted: bool, limit: float) -> Any:
    """(n,) distances from the nearest starting point, or with them the predecessors, and which point it is."""
    xp, n = A.xp, A.nrows
    points = xp.asarray(np.unique(starts), np.int64)
    if unweighted:
        most = deepest(limit)
        joint = with_joint_source(A, points, MinPlus)
        level, parent = bfs(joint, n, return_parents=True, max_level=None if most is None else most + 1)
        d, parent = lengths(level[:n] - 1), xp.where(parent == n, -1, parent)[:n]
    else:
        with cycles_as_scipy_does():
            d, parent = joint_search(A, points, MinPlus, None if limit == math.inf else limit, return_predecessors)
    if not return_predecessors:
        return d
    return d, as_predecessors(parent), origins(d, parent)


def deepest(limit: float) -> int | None:
    """The last level within a distance, where edges have length 1."""
    return None if limit == math.inf else math.floor(limit)


def lengths(level: Any) -> Any:
    """Levels as distances."""
    d = level.astype(np.float64)
    d[level < 0] = np.inf
    return d


def potentials(A: Matrix) -> tuple[Any, Matrix]:
    """(h, the matrix of w_uv + h_u - h_v), which rounding must not make negative."""
    S: Any = compressed(A, 0)
    with cycles_as_scipy_does():
        h = sssp(with_joint_source(S, all_vertices(S), MinPlus), S.nrows)[: S.nrows]
    return h, S.revalued(A.xp.maximum(S.values + h[expand(S.indptr)] - h[S.indices], 0))


@contextmanager
def cycles_as_scipy_does() -> Iterator[None]:
    """Raise SciPy's error where there is a negative cycle."""
    try:
        yield
    except NegativeCycle as error:
        from scipy.sparse.csgraph import NegativeCycleError

        raise NegativeCycleError(f"Negative cycle detected: {error}") from error
