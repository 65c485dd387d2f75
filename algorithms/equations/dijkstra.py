"""Dijkstra's algorithm: settle the nearest unsettled vertex, and relax its edges.

    μ = ⊕ q                      ExtractMin: a reduction over the unsettled vertices, whose distances q holds
    f = the first of q⟨q = μ⟩     one vertex
    d = d ⊕ f                    is settled, and leaves q
    q = q ⊕ fA⟨unsettled⟩         relax

The reduction takes O(n) work, all of it in parallel [2]. With the whole of q⟨q = μ⟩ for f this is DA2CF. Any semiring
with a unit and an order in which no edge makes a path better.

[1] E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1, 1959.
[2] P. Harish, P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA, HiPC 2007.
"""

from __future__ import annotations

from typing import Any, Never, Unpack

from formats import Matrix
from formats.arrays import equals
from semiring import MinPlus, Semiring, ewise_add, reduce, vxm
from semiring.vectors import densified, first_entry, full, is_empty, masked, unit

from ..shared.errors import broken_law
from ..shared.signatures import Paths, Shared
from ..shared.single_source import SourceToAll, Until, paths
from ..shared.trace import trace_round
from .da2cf import NO_MINIMUM, resolve


@SourceToAll[Never, Never]
def dijkstra(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    **query: Unpack[Shared],
) -> Paths:
    """Shortest paths from a source, one vertex a round as written: n rounds of O(n) work. Fused, it relaxes as `sssp`.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v, non-negative.
        source: the vertex to start from, 0 <= source < n.
        semiring: what a path's length is and which is better; any in which no edge improves a path, or its name.

    Raises:
        OverflowError: a finite distance does not fit the dtype.
        ValueError: the matrix is not square, the source is no vertex, a weight improves paths (is negative), or
            the semiring has no unit or no order.
        TypeError: the semiring is not defined on A's dtype, or both or neither of source and sources are given.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [1, 2, 2], [5.0, 9.0, 3.0])
        >>> dijkstra(A, 0, limit=6)
        array([ 0.,  5., inf])

    Source: Dijkstra 1959 [1].
    """
    return paths(dijkstra, A, source, semiring, **query)


@dijkstra.equations
def distances(A: Matrix, source: int, s: Semiring, until: Until) -> Any:
    """The distances of one source."""
    q = densified(unit(A, source, s), s)  # q = e_s
    d = full(q, s.zero(q.dtype), q.dtype)
    settled = full(q, False, bool)
    while True:
        μ = reduce(q, s)  # μ = ⊕ q
        if until.passed(d, μ):
            return d
        f = first_entry(masked(q, equals(q, μ)))
        if is_empty(f):
            raise ValueError(broken_law(s, NO_MINIMUM))
        resolve(f, q, d, settled, s)
        t = vxm(f, A, s, mask=settled, complement=True)
        ewise_add(q, t, s, out=q)  # q = q ⊕ fA⟨unsettled⟩
        trace_round(f, minimum=μ)
