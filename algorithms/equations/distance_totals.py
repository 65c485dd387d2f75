"""How far vertices are from each other by the number of edges, added up over all pairs.

With d_uv the edges on a shortest path, and sums over the vertices u that lead to v:

    reached_v = Σ_u 1        total_v = Σ_u d_uv        inverse_v = Σ_u 1 / d_uv, u ≠ v        farthest_u = max_v d_uv

A search from u adds a term to each sum of the vertices that it finds, so that no rows of distances are kept.

[1] M. Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2015.
"""

from __future__ import annotations

from typing import NamedTuple

from formats import Matrix
from formats.arrays import DenseVector, IntegerVector
from semiring import fusible
from semiring.vectors import all_vertices, either, full, shares
from semiring.verbs.checks import check_graph
from semiring.verbs.fusible import MemoryEstimate

from .distances_in_blocks import blocks_of_distances, joined


class Totals(NamedTuple):
    """Totals of each vertex, (n,) each, on the matrix's device; int64, but `inverse`, which is float64."""

    reached: IntegerVector
    total: IntegerVector
    inverse: DenseVector
    farthest: IntegerVector


@fusible
def distance_totals(A: Matrix, *, fused: bool = True) -> Totals:
    """Counts the vertices that lead to each one, sums their distances, and one over these; finds how far it leads.

    Args:
        A: (n, n), an entry A[u, v] is the edge u -> v, whatever its value.
        fused: False runs the equations as they are written.

    Returns:
        `reached` counts the vertex itself; `farthest` is of those to which it leads.

    Raises:
        ValueError: the matrix is not square.

    Example:
        >>> from formats import from_edges
        >>> found = distance_totals(from_edges([0, 1, 2], [1, 2, 3]))
        >>> found.reached.tolist(), found.total.tolist(), found.inverse.tolist()[:3], found.farthest.tolist()
        ([1, 2, 3, 4], [0, 1, 3, 6], [0.0, 1.0, 1.5], [3, 2, 1, 0])

    Source: Then et al. 2015 [1].
    """
    check_graph(A)
    return totals(A)


distance_totals.memory = MemoryEstimate(fused=(700, 9), equations=(640, 20))


@distance_totals.equations
def totals(A: Matrix) -> Totals:
    """The sums, from the rows of some searches at a time."""
    vertices = all_vertices(A)
    reached, total = (full(vertices, 0, "int64") for _ in range(2))
    inverse, farthest = full(vertices, 0, "float64"), []
    for _, level, led in blocks_of_distances(A, list(range(A.nrows)), False):
        d = either(led, level, 0)
        reached += led.sum(axis=0)
        total += d.sum(axis=0, dtype="int64")
        inverse += shares(d.astype("float64")).sum(axis=0)
        farthest.append(level.max(axis=1))
    return Totals(reached, total, inverse, joined(farthest, A, "int64").astype("int64"))
