"""PageRank: where a surfer is who follows links at random, and jumps at random now and then.

    x' = α ((x ⊘ r) A + (Σ x⟨r = 0⟩) v) + (1 - α) v          r = A 1, the weights that leave each vertex

v says where a jump leads, and Σ v = 1. A surfer in a vertex without links jumps. The power iteration starts with equal
shares. It ends when a round has moved less than the tolerance in all, Σ |x' - x|: then x is within α / (1 - α) times
that of the ranks.

[1] L. Page, S. Brin, R. Motwani, T. Winograd, The PageRank citation ranking: bringing order to the Web, Stanford
    InfoLab 1999-66, 1999.
"""

from __future__ import annotations

from typing import Any

from formats import Matrix
from formats.arrays import Array, DenseVector, all_of, as_array, to_device
from formats.storage.orientation import by_columns
from semiring import PlusTimes, fusible, mxv, vxm
from semiring.algebra.semirings import find_semiring
from semiring.statistics import largest, smallest
from semiring.vectors import all_vertices, full, gather, nonzero, shares, unweighted
from semiring.verbs.checks import check_graph
from semiring.verbs.fusible import MemoryEstimate

SMALLEST = 1e-307
"""The smallest degree above which one over it is finite."""

PlusFirst, PlusSecond = find_semiring("plus_first"), find_semiring("plus_second")


@fusible
def pagerank(
    A: Matrix,
    *,
    alpha: float = 0.85,
    personalization: Array | None = None,
    weighted: bool = True,
    tol: float = 1e-6,
    max_iter: int = 100,
    fused: bool = True,
) -> DenseVector:
    """The share of time that a random surfer spends in each vertex.

    Args:
        A: (n, n), A[u, v] = weight of the link u -> v, not negative.
        alpha: how often the surfer follows a link, instead of jumping; within [0, 1].
        personalization: (n,) how often each vertex is where a jump leads, in any unit; None for all alike.
        weighted: False lets all links of a vertex count the same.
        tol: the power iteration ends when a round changes the shares by less than this in all, Σ |x' - x|. NetworkX
            stops at n · tol.
        max_iter: rounds after which it gives up.
        fused: False runs the equations as they are written.

    Returns:
        (n,) float64 on A's device, with a sum of 1.

    Raises:
        ValueError: the matrix is not square, a weight is negative or infinite, or a parameter cannot have its value.
        ArithmeticError: the iteration has not ended after `max_iter` rounds.
        OverflowError: the weights that leave a vertex are so large, or so small, that shares of them do not fit.

    Example:
        >>> from formats import from_edges
        >>> pagerank(from_edges([0, 1, 2, 3], [1, 2, 0, 0])).round(3).tolist()
        [0.333, 0.32, 0.31, 0.038]

    Source: Page, Brin, Motwani, Winograd 1999 [1].
    """
    check_graph(A)
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must be within [0, 1], got {alpha}")
    v, counted = jumps(A, personalization), weighted and A.dtype != bool
    if counted and smallest(A, PlusTimes) < 0:
        raise ValueError(f"pagerank needs weights that are not negative, got {smallest(A, PlusTimes)}")
    if counted and largest(A, PlusTimes) == float("inf"):
        raise ValueError("pagerank needs finite weights, got inf")
    if A.nrows == 0:
        return full(all_vertices(A), 0, "float64")
    x = ranks(A if counted else unweighted(A), v, alpha, tol, max_iter)
    if x is None:
        raise ArithmeticError(f"pagerank has not settled within {tol} after {max_iter} rounds: allow more by max_iter=")
    return x


pagerank.memory = MemoryEstimate(fused=(64, 20), equations=(96, 32))


@pagerank.equations
def ranks(A: Matrix, v: Any, alpha: float, enough: float, max_iter: int) -> Any:
    """The shares once a round moves less than `enough`, or None.  A: Boolean where links count alike."""
    W = by_columns(A)
    x = full(all_vertices(A), 1 / A.nrows, "float64")
    r = weight_leaving(W)
    ends, followed = nonzero(r == 0).indices, alpha * shares(r)  # α ⊘ r, 0 where nothing leaves
    for _ in range(max_iter):
        y = vxm(x * followed, W, PlusTimes if A.dtype != bool else PlusFirst)
        y += (alpha * gather(x, ends).sum() + (1 - alpha)) * v
        x -= y
        moved, x = float(abs(x).sum()), y
        if moved < enough:
            return x
    return None


def weight_leaving(A: Matrix) -> DenseVector:
    """r = A 1; of a pattern, which has no values, the number of entries."""
    one = full(all_vertices(A), 1, "float64")
    r = mxv(A, one, PlusTimes if A.dtype != bool else PlusSecond)
    if not all_of((r == 0) | (r > SMALLEST) & (r < float("inf"))):
        raise OverflowError(f"the weights that leave a vertex must add up to 0, or to between {SMALLEST} and 1.7e308")
    return r


def jumps(A: Matrix, personalization: Array | None) -> DenseVector | float:
    """v: how often a jump leads to each vertex, with a sum of 1; one number if it is the same for all."""
    if personalization is None:
        return 1 / max(A.nrows, 1)
    v = to_device(as_array(personalization).astype("float64"), A.place)
    if v.shape != (A.nrows,):
        raise ValueError(f"personalization must have a number for each of {A.nrows} vertices, got shape {v.shape}")
    if A.nrows and (not bool((v >= 0).all()) or not 0 < float(v.sum()) < float("inf")):
        raise ValueError("personalization must be numbers that are not negative, with a finite sum above 0")
    return v / v.sum() if A.nrows else v
