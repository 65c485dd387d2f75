"""Core numbers: how far an undirected graph can be peeled before a vertex falls off.

The k-core is the largest subgraph in which every vertex has k neighbours or more. A vertex's core number is the
largest k whose k-core has it. Peeling, with d = S 1 the degrees in what is left:

    k = max(k, min d)        f = vertices with d ≤ k, whose core number is k
    d = d - f S               they leave, and others may follow for the same k

[1] S. B. Seidman, Network structure and minimum degree, Social Networks 5(3), 1983.
[2] V. Batagelj, M. Zaversnik, An O(m) algorithm for cores decomposition of networks, arXiv cs/0310049, 2003.
"""

from __future__ import annotations

from typing import Any

from formats import Matrix
from formats.arrays import IntegerVector
from semiring import fusible, reduce, vxm
from semiring.algebra.semirings import find_semiring
from semiring.vectors import degrees, full, gather, indices, masked, nonzero, nvals, ones, scatter, scatter_sub
from semiring.verbs.checks import check_graph
from semiring.verbs.fusible import MemoryEstimate

from ..shared.edges import undirected_pattern
from ..shared.trace import trace_round

PlusPair = find_semiring("plus_pair")


@fusible
def core_number(A: Matrix, *, symmetrize: bool = False, fused: bool = True) -> IntegerVector:
    """The largest k for which each vertex is in the k-core: a subgraph where all have k neighbours or more.

    Args:
        A: (n, n), undirected: with every edge in both directions, whatever their values. Self-loops do not count.
        symmetrize: take any matrix; edges count both ways, and two of opposite directions are one.
        fused: False runs the equations as they are written.

    Returns:
        (n,) int64 on A's device.

    Raises:
        ValueError: the matrix is not square, or an edge has no reverse.

    Example:
        >>> from formats import from_edges
        >>> core_number(from_edges([0, 1, 2, 2], [1, 2, 0, 3]), symmetrize=True).tolist()
        [2, 2, 2, 1]

    Source: Seidman 1983 [1]; Batagelj, Zaversnik 2003 [2].
    """
    check_graph(A)
    return cores(A, symmetrize)


core_number.memory = MemoryEstimate(fused=(112, 16), equations=(96, 32))
core_number.interruptible_from_nnz = 1 << 22  # as each edge is looked at once


@core_number.equations
def cores(A: Matrix, symmetrize: bool) -> Any:
    """The core number of each vertex."""
    S = undirected_pattern(A, symmetrize)
    d = degrees(S).copy()
    core, alive, k = full(d, 0, d.dtype), full(d, True, bool), 0
    while nvals(alive):
        k = max(k, int(reduce(masked(d, alive), "min")))
        f = nonzero(alive & (d <= k))
        while f.nnz:
            scatter(core, f, k)
            scatter(alive, f, False)
            fewer = vxm(ones(f), S, PlusPair, mask=alive)
            scatter_sub(d, fewer)  # d = d - f S
            trace_round(f, phase="peel")
            f = indices(gather(fewer.indices, gather(d, fewer.indices) <= k), len(d))
    return core
