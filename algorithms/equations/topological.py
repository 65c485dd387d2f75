"""Strong components, numbered against the edges: every edge between two of them leads to the smaller number.

    D = Mᵀ A M                     the components, m_vc = 1 where v is in component c; D has no cycle
    waiting = D 1                  to how many others each leads
    f = those of height 0          that lead to none; waiting = waiting - D f, and who waits for none is one higher

A component's height is the longest way from it. An edge leads to a smaller height, so components are numbered by
heights, and at one height by their smallest vertices.

[1] A. B. Kahn, Topological sorting of large networks, Comm. ACM 5(11), 1962.
"""

from __future__ import annotations

from typing import Any

from formats import Matrix
from formats.arrays import IntegerVector
from formats.preparation.renumbering import inverse_permutation
from formats.storage.orientation import compressed
from semiring import AnyPair, fusible, mxm, select, vxm
from semiring.algebra.semirings import find_semiring
from semiring.vectors import (
    all_vertices,
    degrees,
    full,
    gather,
    indices,
    membership,
    nonzero,
    ones,
    renumbered,
    scatter,
    scatter_sub,
    unweighted,
)
from semiring.verbs.checks import check_graph
from semiring.verbs.fusible import MemoryEstimate

from ..shared.trace import trace_round
from .scc import scc

PlusPair = find_semiring("plus_pair")


@fusible
def topological_components(A: Matrix, *, fused: bool = True) -> IntegerVector:
    """Strong components by numbers, in reverse topological order: an edge leads to the smaller number.

    Args:
        A: (n, n), an entry A[u, v] is the edge u -> v, whatever its value.
        fused: False runs the equations as they are written.

    Returns:
        (n,) integers on A's device: of every vertex the number of its component, 0 to the number of components less 1.
        A graph without cycles is sorted by them.

    Raises:
        ValueError: the matrix is not square.

    Example:
        >>> from formats import from_edges
        >>> topological_components(from_edges([0, 1, 2, 2], [1, 2, 1, 3])).tolist()
        [2, 1, 1, 0]

    Source: Kahn 1962 [1].
    """
    check_graph(A)
    component, k = renumbered(scc(A))
    return gather(numbered(A, component, k), component) if k > 1 else component


topological_components.memory = MemoryEstimate(fused=(70, 9), equations=(90, 60))
topological_components.interruptible_from_nnz = 1 << 22  # as each edge is looked at a few times


@topological_components.equations
def numbered(A: Matrix, component: Any, k: int) -> Any:
    """The place of each component in the order, (k,) integers."""
    M: Any = compressed(membership(component, k), 0)
    contracted = mxm(mxm(compressed(M.T, 0), compressed(unweighted(A), 0), AnyPair), M, AnyPair)
    D = select(contracted, "offdiag")  # D = Mᵀ A M
    ids, turned = all_vertices(D), compressed(D.T, 0)
    height, waiting, step = full(ids, 0, "int64"), degrees(D).copy(), 0
    f = nonzero(waiting == 0)
    while f.nnz:
        scatter(height, f, step)
        met = vxm(ones(f), turned, PlusPair)
        scatter_sub(waiting, met)  # waiting = waiting - D f
        trace_round(f, matrix=turned)
        f = indices(gather(met.indices, gather(waiting, met.indices) == 0), k)
        step += 1
    return inverse_permutation((height * k + ids).argsort().astype(ids.dtype))
