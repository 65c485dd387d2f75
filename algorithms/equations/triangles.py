"""Triangles of an undirected graph, and how many of those that there could be.

With U the edges, each once, and its vertices in the order of falling degrees, i < k < j:

    C = UU⟨U⟩        c_ij = how many k are between i and j, next to both
    D = UUᵀ⟨U⟩       d_ij = how many k come after i and j, next to both
    t = C 1 + 1 C + 1 D        the triangles in which a vertex is the first, the last, the one between

Each product counts each triangle once. In the order of degrees that costs O(m√m) [2].

    c_v = 2 t_v / (deg_v (deg_v - 1))        the share of a vertex's pairs of neighbours that are next to each other [3]

[1] A. Azad, A. Buluç, J. Gilbert, Parallel triangle counting and enumeration using matrix algebra, IPDPS Workshops,
    2015.
[2] N. Chiba, T. Nishizeki, Arboricity and subgraph listing algorithms, SIAM J. Comput. 14(1), 1985.
[3] D. Watts, S. Strogatz, Collective dynamics of small-world networks, Nature 393, 1998.
"""

from __future__ import annotations

from typing import Any

from formats import Matrix, inverse_permutation, permute, vertex_order
from formats.arrays import DenseVector, IntegerVector
from semiring import fusible, mxm, reduce, select, transpose
from semiring.vectors import degrees, gather, longest_row
from semiring.verbs.checks import check_graph
from semiring.verbs.fusible import MemoryEstimate

from ..shared.edges import undirected_pattern

SHORT = 32
"""Entries of the longest row up to which the vertices' own order serves: renumbering takes longer than it saves."""


@fusible
def triangles(A: Matrix, *, symmetrize: bool = False, fused: bool = True) -> IntegerVector:
    """How many triangles each vertex is in; a third of their sum is the number of triangles.

    Args:
        A: (n, n), undirected: with every edge in both directions, whatever their values. Self-loops do not count.
        symmetrize: take any matrix; edges count both ways.
        fused: False runs the equations as they are written.

    Returns:
        (n,) int64 on A's device.

    Raises:
        ValueError: the matrix is not square, or an edge has no reverse.

    Example:
        >>> from formats import from_edges
        >>> t = triangles(from_edges([0, 1, 2, 2], [1, 2, 0, 3]), symmetrize=True)
        >>> t.tolist(), t.sum().item() // 3
        ([1, 1, 1, 0], 1)

    Source: Azad, Buluç, Gilbert 2015 [1]; the order of degrees [2].
    """
    check_graph(A)
    return of_each(A, symmetrize)


triangles.memory = MemoryEstimate(fused=(160, 20), equations=(96, 60))


@triangles.equations
def of_each(A: Matrix, symmetrize: bool) -> Any:
    """t of a symmetric pattern without self-loops."""
    S = undirected_pattern(A, symmetrize)
    order = vertex_order(S, "degree") if longest_row(S) > SHORT else None
    U = select(S if order is None else permute(S, order), "triu", 1).astype("int32")
    P = U.pattern()
    C = mxm(U, U, "plus_pair", mask=P).astype("int64")  # C = UU⟨U⟩
    D = mxm(U, transpose(U), "plus_pair", mask=P).astype("int64")  # D = UUᵀ⟨U⟩
    t = reduce(C, "plus", axis=1) + reduce(C, "plus", axis=0) + reduce(D, "plus", axis=0)
    return t if order is None else gather(t, inverse_permutation(order))


def clustering(A: Matrix, *, symmetrize: bool = False) -> DenseVector:
    """The share of each vertex's pairs of neighbours that are neighbours of each other.

    Args:
        A: (n, n), undirected: with every edge in both directions, whatever their values. Self-loops do not count.
        symmetrize: take any matrix; edges count both ways.

    Returns:
        (n,) float64 on A's device; 0 for a vertex with less than two neighbours.

    Raises:
        ValueError: the matrix is not square, or an edge has no reverse.

    Example:
        >>> from formats import from_edges
        >>> clustering(from_edges([0, 1, 2, 2], [1, 2, 0, 3]), symmetrize=True).round(3).tolist()
        [1.0, 1.0, 0.333, 0.0]

    Source: Watts, Strogatz 1998 [3].
    """
    t, d = triangles(A, symmetrize=symmetrize), degrees(undirected_pattern(A, symmetrize))
    return 2.0 * t / (d * (d - 1) + (d < 2))
