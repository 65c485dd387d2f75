"""Label propagation: communities, where each vertex takes the label that most of its neighbours have.

    S = A + Aᵀ                 of patterns: the edges of both directions, so that a neighbour may count twice
    C = S H                    h_vl = 1 where v has label l, so c_vl counts the neighbours of v with label l
    f_v = argmax_l c_vl        the smallest of equals; vertices without neighbours keep theirs

At first each vertex's label is its number. All vertices change at once, so that nothing is left to chance or to an
order. Labels may alternate for ever, as on two vertices with an edge, so rounds are counted.

[1] U. N. Raghavan, R. Albert, S. Kumara, Near linear time algorithm to detect community structures in large-scale
    networks, Physical Review E 76, 2007.
[2] A. Iosup et al., LDBC Graphalytics: a benchmark for large-scale graph analysis on parallel and distributed
    platforms, Proc. VLDB 9(13), 2016 (the rule for ties, and all at once).
"""

from __future__ import annotations

from typing import Any

from formats import Matrix
from formats.arrays import IntegerVector
from formats.matrix.notation import is_integer
from formats.storage.orientation import compressed, is_symmetric
from semiring import ewise_add, fusible, mxm, reduce
from semiring.algebra.semirings import find_semiring
from semiring.vectors import all_vertices, either, membership, nonzero, unweighted
from semiring.verbs.checks import check_graph
from semiring.verbs.fusible import MemoryEstimate

from ..shared.trace import trace_round

PlusFirst = find_semiring("plus_first")


@fusible
def label_propagation(A: Matrix, *, max_iter: int = 10, symmetrize: bool = False, fused: bool = True) -> IntegerVector:
    """Communities: the label that most neighbours of each vertex have, the smallest of equals, after some rounds.

    This is CDLP of the benchmark Graphalytics, which runs 10 rounds.

    Args:
        A: (n, n), an entry A[u, v] is an edge, whatever its value. It counts both ways, so that a neighbour with edges
            in both directions counts twice.
        max_iter: how often all labels change at once; it ends earlier where none does.
        symmetrize: let every neighbour count once, in whichever directions the edges are.
        fused: False runs the equations as they are written.

    Returns:
        (n,) integers on A's device: each vertex's label, which was some vertex's number at first.

    Raises:
        ValueError: the matrix is not square, or `max_iter` is negative.
        TypeError: `max_iter` is no integer.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3])
        >>> label_propagation(A).tolist()
        [0, 0, 0, 2, 2, 2]

    Source: Raghavan, Albert, Kumara 2007 [1]; Iosup et al. 2016 [2].
    """
    check_graph(A)
    if not is_integer(max_iter):
        raise TypeError(f"max_iter must be an integer, got {max_iter!r}")
    if max_iter < 0:
        raise ValueError(f"max_iter must not be negative, got {max_iter}")
    return propagated(A, max_iter, symmetrize)


label_propagation.memory = MemoryEstimate(fused=(160, 24), equations=(128, 60))


@label_propagation.equations
def propagated(A: Matrix, max_iter: int, symmetrize: bool) -> Any:
    """f after some rounds."""
    S, f = both_directions(A, "max" if symmetrize else "plus"), all_vertices(A)
    for _ in range(max_iter):
        H = compressed(membership(f, A.nrows), 0).astype(S.dtype)
        _, most = reduce(mxm(S, H, PlusFirst), "max", axis=1, return_argument=True)  # argmax_l c_vl: C = S H
        new = either(most < 0, f, most).astype(f.dtype)
        changed, f = nonzero(new != f), new
        trace_round(changed, phase="propagate", edges=S.nnz)
        if changed.nnz == 0:
            break
    return f


def both_directions(A: Matrix, add: str) -> Matrix:
    """S by rows; of a symmetric pattern half of it, where all count alike.  add: what two directions count together."""
    P = compressed(unweighted(A), 0).astype("int32")
    return P if is_symmetric(A, pattern=True) else ewise_add(P, compressed(unweighted(A).T, 0).astype("int32"), add)
