"""Closeness and harmonic centrality: how near a vertex is to those that lead to it.

With D the distances, a row for each vertex to which they lead, and r_v the vertices that lead to v, itself not counted:

    closeness_v = r_v / Σ_u d_uv · r_v / (n - 1)        harmonic_v = Σ_u 1 / d_uv

Of all vertices, by the number of edges, searches add up both sums at once (`distance_totals`). Otherwise D is made some
rows at a time, by searches against the edges.

[1] S. Wasserman, K. Faust, Social Network Analysis, Cambridge, 1994 (the factor for graphs that are not connected).
[2] P. Boldi, S. Vigna, Axioms for centrality, Internet Mathematics 10(3-4), 2014.
"""

from __future__ import annotations

from formats import Matrix
from formats.arrays import DenseVector, IntegerVector
from formats.storage.orientation import by_columns
from semiring.vectors import either, row_sums, shares

from ..shared.signatures import Vertices
from .distance_totals import distance_totals
from .distances_in_blocks import blocks_of_distances, has_weights, joined, listed


def closeness_centrality(
    A: Matrix, *, vertices: Vertices | None = None, weighted: bool = False, wf_improved: bool = True
) -> DenseVector:
    """One over the mean distance to each vertex from those that lead to it.

    Args:
        A: (n, n), A[u, v] is the edge u -> v.
        vertices: (k,) those whose centrality is asked for; None for all.
        weighted: True measures distances by A's values, False by the number of edges.
        wf_improved: multiply by the share of the graph that leads to the vertex.

    Returns:
        (k,) float64 on A's device; 0 for a vertex to which no other leads.

    Raises:
        ValueError: the matrix is not square, or a vertex lies outside it.
        NegativeCycle: there are no shortest distances.
        OverflowError: a distance does not fit A.dtype, or a sum float64.

    Example:
        >>> from formats import from_edges
        >>> closeness_centrality(from_edges([0, 1, 2], [1, 2, 3])).round(3).tolist()
        [0.0, 0.333, 0.444, 0.5]

    Source: Wasserman, Faust 1994 [1].
    """

    def closeness(reached: IntegerVector, total: DenseVector) -> DenseVector:
        r = reached - 1.0
        c = r * shares(total)
        return c * r / max(A.nrows - 1, 1) if wf_improved else c

    found, asked = [], listed(A, vertices)
    if vertices is None and not has_weights(A, weighted):
        reached, total, *_ = distance_totals(A)
        return closeness(reached, total.astype("float64"))
    for _, d, led in blocks_of_distances(by_columns(A).T, asked, weighted):
        found.append(closeness(led.sum(axis=1), row_sums(either(led, d, 0), "a sum of distances")))
    return joined(found, A, "float64")


def harmonic_centrality(A: Matrix, *, vertices: Vertices | None = None, weighted: bool = False) -> DenseVector:
    """The sum of one over each distance to a vertex.

    Args:
        A: (n, n), A[u, v] is the edge u -> v.
        vertices: (k,) those whose centrality is asked for; None for all.
        weighted: True measures distances by A's values, False by the number of edges.

    Returns:
        (k,) float64 on A's device. Distances of 0 do not count.

    Raises:
        ValueError: the matrix is not square, or a vertex lies outside it.
        NegativeCycle: there are no shortest distances.
        OverflowError: a distance does not fit A.dtype, or a sum float64.

    Example:
        >>> from formats import from_edges
        >>> harmonic_centrality(from_edges([0, 1, 2], [1, 2, 3])).round(3).tolist()
        [0.0, 1.0, 1.5, 1.833]

    Source: Boldi, Vigna 2014 [2].
    """
    found, asked = [], listed(A, vertices)
    if vertices is None and not has_weights(A, weighted):
        return distance_totals(A).inverse
    for _, d, led in blocks_of_distances(by_columns(A).T, asked, weighted):
        found.append(row_sums(shares(either(led, d, 0).astype("float64")), "a sum of 1 / distance"))
    return joined(found, A, "float64")
