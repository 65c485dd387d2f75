"""DA2CF, Dijkstra's algorithm adapted to compound frontiers, as matrix equations.

Dijkstra settles one vertex at a time, the nearest. All vertices at the smallest distance may be settled at once [1]:

    μ = ⊕ q                      the minimum over the unresolved vertices, whose distances q holds
    f = q⟨q = μ⟩                  the compound frontier
    d = d ⊕ f                    is resolved, and leaves q
    q = q ⊕ fA⟨unresolved⟩         relax

f is sparse, and only its rows of A are touched.

Any semiring with a unit and an order in which no edge makes a path better will do: MaxMin gives widest paths, MinMax
bottlenecks, LorLand reachability.

[1] P. J. Martín, R. Torres, A. Gavilanes, CUDA solutions for the SSSP problem, ICCS 2009, LNCS 5544.
[2] E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1, 1959.
"""

from __future__ import annotations

from typing import Any, Never, Unpack

from formats import Matrix, SparseVector
from formats.arrays import equals
from semiring import MinPlus, Semiring, ewise_add, reduce, vxm
from semiring.vectors import densified, full, is_empty, masked, scatter, unit

from ..shared.errors import broken_law
from ..shared.signatures import Paths, Shared
from ..shared.single_source import SourceToAll, Until, paths
from ..shared.trace import trace_round

NO_MINIMUM = "the best of some distances is none of them"


@SourceToAll[Never, Never]
def da2cf(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    **query: Unpack[Shared],
) -> Paths:
    """Shortest paths from a source by compound frontiers: all vertices at the smallest distance are settled at once.

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
        >>> da2cf(A, 0)
        array([0., 5., 8.])
        >>> da2cf(A, 0, "max_min")[1:]
        array([5., 9.])

    Source: Martín, Torres, Gavilanes 2009 [1].
    """
    return paths(da2cf, A, source, semiring, **query)


da2cf.in_order = True


@da2cf.equations
def distances(A: Matrix, source: int, s: Semiring, until: Until) -> Any:
    """The distances of one source."""
    q = densified(unit(A, source, s), s)  # q = e_s
    d, resolved = full(q, s.zero(q.dtype), q.dtype), full(q, False, bool)
    while True:
        μ = reduce(q, s)  # μ = ⊕ q
        if until.passed(d, μ):
            return d
        f = masked(q, equals(q, μ))  # f = q⟨q = μ⟩
        if is_empty(f):
            raise ValueError(broken_law(s, NO_MINIMUM))
        resolve(f, q, d, resolved, s)  # d = d ⊕ f
        ewise_add(q, vxm(f, A, s, mask=resolved, complement=True), s, out=q)  # q = q ⊕ fA⟨unresolved⟩
        trace_round(f, minimum=μ)


def resolve(f: SparseVector, q: Any, d: Any, resolved: Any, s: Semiring) -> None:
    """The frontier's distances are final: d = d ⊕ f, and it leaves q."""
    ewise_add(d, f, s, out=d)
    scatter(q, f, s.zero(q.dtype))
    scatter(resolved, f, True)
