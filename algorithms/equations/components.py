"""Connected components, edges counting both ways, by the smallest label next door.

    n_i = min f_j over the neighbours j of i      m_r = min n_i over the members i of tree r
    f' = f ∧ n ∧ m,   f'' = f'∘f' until nothing changes

Every vertex points at a smaller one of its component, f. A tree hooks onto the smallest label that any of its members
sees, and trees are flattened by pointer jumping. It takes about log n rounds in practice, where a search takes as many
as the graph is wide; a round costs two products.

[1] Y. Zhang, A. Azad, Z. Hu, FastSV: a distributed-memory connected component algorithm with fast convergence, SIAM PP
    2020.
"""

from __future__ import annotations

from formats import Matrix
from formats.arrays import IntegerVector
from formats.storage.orientation import is_symmetric
from semiring import MinFirst, MinSecond, ewise_add, mxv, vxm
from semiring.vectors import all_vertices, membership, nonzero, roots, unweighted
from semiring.verbs.checks import check_graph

from ..shared.trace import trace_round


def components(A: Matrix) -> IntegerVector:
    """The smallest vertex that each vertex is connected with, along edges of either direction.

    Args:
        A: (n, n), an entry A[u, v] is an edge between u and v, whatever its value.

    Returns:
        (n,) integers on A's device.

    Raises:
        ValueError: the matrix is not square.

    Example:
        >>> from formats import from_edges
        >>> components(from_edges([1, 3], [0, 4])).tolist()
        [0, 0, 2, 3, 3]

    Source: Zhang, Azad, Hu 2020 [1].
    """
    check_graph(A)
    P, n = unweighted(A), A.nrows
    both_ways = is_symmetric(A, pattern=True)
    f = all_vertices(A)
    while True:
        near = mxv(P, f, MinSecond)  # n_i = min f_j: p_ij
        if not both_ways:
            near = ewise_add(near, vxm(f, P, MinFirst), MinFirst)  # … or p_ji
        hooks = vxm(near, membership(f, n), MinFirst)  # m_r = min n_i: f_i = r
        lower = ewise_add(f, ewise_add(near, hooks, MinFirst), MinFirst)  # f ∧ n ∧ m
        improved = nonzero(lower != f)
        trace_round(improved, phase="components", edges=P.nnz)
        if improved.nnz == 0:
            return f
        f = roots(lower)
