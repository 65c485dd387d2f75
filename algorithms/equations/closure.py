"""The closure of a matrix: walks of every length, added up.

    A* = I ⊕ A ⊕ A² ⊕ …        a*_uv = the ⊕ of what all walks from u to v are worth

It ends where 1 ⊕ a = 1 for all edges. Then 1 ⊕ ab = 1 ⊕ a ⊕ ab = 1 ⊕ a(1 ⊕ b) = 1, so that a cycle adds nothing, and
walks of n - 1 edges are enough [1]. ⊕ need not select one of two values for that, as the best path does: it may join
them, as in sets of labels. Where it selects, these are the distances of `all_pairs`, of whatever sign.

[1] B. A. Carré, An algebra for network routing problems, IMA J. Applied Mathematics 7(3), 1971.
"""

from __future__ import annotations

from formats import Matrix
from formats.arrays import DenseRows, all_of, equals
from semiring import Law, MinPlus, Semiring
from semiring.algebra.semirings import find_semiring
from semiring.verbs.checks import check_graph
from semiring.verbs.operands import common_dtype, typed_matrix

from ..shared.single_source import order_matters
from .all_pairs import SMALLEST, all_pairs, check_memory, close


def closure(A: Matrix, semiring: Semiring | str = MinPlus) -> DenseRows:
    """All walks of each length between every two vertices, as one matrix of n × n numbers.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v.
        semiring: in which walks are added up, or its name. ⊗ has a unit and distributes over ⊕. ⊕ selects, as min, or
            a ⊕ a = a and every edge keeps 1 ⊕ a = 1.

    Returns:
        (n, n) numbers on A's device, the semiring's zero where no path leads.

    Raises:
        NegativeCycle: a cycle improves paths for ever; the error has it.
        OverflowError: a finite distance does not fit the dtype.
        OutOfHostMemory, OutOfDeviceMemory: n × n numbers do not fit.
        ValueError: the matrix is not square, or longer walks add more for ever.
        TypeError: the semiring is not defined on A's dtype.

    Example:
        >>> from formats import from_edges
        >>> closure(from_edges([0, 1], [1, 2], [5, 2])).tolist()[0]
        [0, 5, 7]

    Source: Carré 1971 [1].
    """
    s = find_semiring(semiring)
    check_graph(A)
    if Law.SELECTIVE in s.laws:
        return all_pairs(A, s)
    A = typed_matrix(A, s, common_dtype(s, A))
    one = s.unit(A.dtype)
    if Law.IDEMPOTENT not in s.laws:
        raise ValueError(f"{s.name} adds more for every longer walk: a closure needs a ⊕ with a ⊕ a = a, as min or max")
    if why := order_matters(s, A.dtype):
        raise ValueError(why)
    check_memory(A, True, False)
    D: DenseRows = A.to_dense(s.zero(A.dtype))
    if not all_of(equals(s.add(D, one), one).ravel()):
        raise ValueError(f"an edge a has 1 ⊕ a other than 1 in {s.name}, so longer walks may add more for ever")
    close(D, s, SMALLEST[A.place.backend])
    return D
