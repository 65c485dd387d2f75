"""Eccentricities, how far the farthest vertex is, and the diameter, the largest of them.

    e_v = max_u d_vu

In an undirected graph a search from v with distances d bounds those of all others, by the triangle inequality:

    max(d_u, e_v - d_u)  ≤  e_u  ≤  e_v + d_u

So few searches do. They start, in turn, at the vertex with the largest upper bound, which may be the farthest from all,
and at the one with the smallest lower bound, which is in the middle and bounds the others well.

[1] F. W. Takes, W. A. Kosters, Computing the eccentricity distribution of large graphs, Algorithms 6(1), 2013.
"""

from __future__ import annotations

import math
from typing import Any

from formats import Matrix
from formats.arrays import DenseVector, all_of
from formats.storage.orientation import is_symmetric
from semiring import MinPlus, assign, ewise_add
from semiring.vectors import ROUNDING, all_vertices, degrees, either, full, nvals, saturated_sum
from semiring.verbs.checks import check_graph

from ..shared.signatures import Vertices
from .distance_totals import distance_totals
from .distances_in_blocks import blocks_of_distances, has_weights, joined, listed


def eccentricity(A: Matrix, *, vertices: Vertices | None = None, weighted: bool = False) -> DenseVector:
    """The distance from each vertex to the one farthest from it.

    Args:
        A: (n, n), A[u, v] is the edge u -> v.
        vertices: (k,) those whose eccentricity is asked for; None for all.
        weighted: True measures distances by A's values, False by the number of edges.

    Returns:
        (k,) numbers on A's device: int32, or if weighted of A.dtype.

    Raises:
        ValueError: a vertex is not reached from another, the matrix is not square, or a vertex lies outside it.
        NegativeCycle: there are no shortest distances.
        OverflowError: a distance does not fit A.dtype.

    Example:
        >>> from formats import from_edges
        >>> eccentricity(from_edges([0, 1, 1, 2], [1, 0, 2, 1])).tolist()
        [2, 1, 2]

    Source: Takes, Kosters 2013 [1].
    """
    asked, measured = listed(A, vertices), has_weights(A, weighted)
    dtype = A.dtype if measured else "int32"
    if vertices is None and A.nrows and is_symmetric(A, pattern=not measured) and not is_rounded(A, measured):
        return bounded(A, measured, every=True).astype(dtype)
    if vertices is None and not measured:
        reached, _, _, farthest = distance_totals(A)
        if all_of(reached == A.nrows):
            return farthest.astype(dtype)
    found = []
    for sources, d, led in blocks_of_distances(A, asked, weighted):
        check_connected(sources, led)
        found.append(d.max(axis=1))
    return joined(found, A, dtype)


def diameter(A: Matrix, *, weighted: bool = False) -> int | float:
    """The largest distance between two vertices.

    Args:
        A: (n, n), A[u, v] is the edge u -> v.
        weighted: True measures distances by A's values, False by the number of edges.

    Returns:
        A number of Python's.

    Raises:
        ValueError: a vertex is not reached from another, the matrix is not square, or has no vertices.
        NegativeCycle: there are no shortest distances.
        OverflowError: a distance does not fit A.dtype.

    Example:
        >>> from formats import from_edges
        >>> diameter(from_edges([0, 1, 1, 2], [1, 0, 2, 1], [5.0, 5.0, 9.0, 9.0]), weighted=True)
        14.0

    Source: Takes, Kosters 2013 [1].
    """
    check_graph(A)
    if A.nrows == 0:
        raise ValueError("a graph without vertices has no diameter")
    measured = has_weights(A, weighted)
    two_ways = is_symmetric(A, pattern=not measured)
    found: Any = bounded(A, measured, every=False) if two_ways else eccentricity(A, weighted=weighted)
    return found.max().item()


def bounded(A: Matrix, weighted: bool, *, every: bool) -> Any:
    """Lower bounds of all eccentricities in an undirected graph: all exact if `every`, else the largest is."""
    rounded = is_rounded(A, weighted)
    lower = full(all_vertices(A), 0, "float64" if rounded else "int64")
    far = MinPlus.zero(lower.dtype)  # a bound ends there, and then a search says whether the distance does
    upper = full(lower, far, lower.dtype)
    left, turn = full(lower, True, bool), True
    slack = 8 * math.sqrt(A.nrows) * ROUNDING[A.dtype.name] if rounded else 0  # added from the other end, sums differ
    v = int(degrees(A).argmax())
    while True:
        [(sources, [d], led)] = blocks_of_distances(A, [v], weighted)
        check_connected(sources, led)
        d, e = d.astype(lower.dtype), d.max().item()
        lower = ewise_add(lower, ewise_add(d, e - d, "max") - slack * e, "max")  # max(d_u, e_v - d_u) ≤ e_u
        upper = ewise_add(upper, saturated_sum(d, e + slack * e), "min")  # e_u ≤ e_v + d_u
        assign(lower, e, [v])
        assign(upper, e, [v])
        left = (lower < upper) & (every | (upper > lower.max()))
        if not nvals(left):
            return lower
        v = int(either(left, upper, -1).argmax() if turn else either(left, lower, far).argmin())
        turn = not turn


def is_rounded(A: Matrix, weighted: bool) -> bool:
    """True if distances are sums of floats, which depend on the end from which they are added."""
    return weighted and A.dtype.kind == "f"


def check_connected(sources: list[int], led: Any) -> None:
    """ValueError that names a source and a vertex that its row in `led` does not reach."""
    if all_of(led.ravel()):
        return
    for source, row in zip(sources, led, strict=True):
        if not all_of(row):
            v = int(row.argmin())
            raise ValueError(
                f"no path leads from vertex {source} to {v}, so it has no eccentricity: search a component"
            )
