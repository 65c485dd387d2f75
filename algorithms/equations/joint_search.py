"""Searches that start from several vertices together, as one from a vertex more, which leads to them for nothing.

    A' = | A  0 |        e = the starting points, each with the unit of ⊗
         | e  0 |

d' = d'A' ⊕ e_n holds at every vertex the best over the starting points, with nothing rounded. From all vertices it
gives the potentials of Johnson's algorithm [1], and finds a cycle that improves for ever wherever there is one.

[1] D. B. Johnson, Efficient algorithms for shortest paths in sparse networks, J. ACM 24(1), 1977.
"""

from __future__ import annotations

from typing import Any

from formats import CSR, Matrix
from formats.arrays import concatenated, index_dtype
from formats.storage.orientation import compressed
from semiring import Semiring, fusible
from semiring.vectors import all_vertices, gather, scatter

from ..shared.parents import shortest_path_tree
from .sssp import sssp


@fusible
def joint_search(
    A: Matrix, starts: Any, semiring: Semiring, limit: Any, return_parents: bool, *, fused: bool = True
) -> tuple[Any, Any]:
    """Finds (distances from the nearest starting point, parents by the "nearest" rule, -1 at starting points).

    starts: (k,) ascending vertices, on A's device.  limit: distances beyond it are absent; None for all.
    return_parents: otherwise there are none.
    """
    return search(A, starts, semiring, limit, return_parents)


@joint_search.equations
def search(A: Matrix, starts: Any, s: Semiring, limit: Any, return_parents: bool) -> tuple[Any, Any]:
    """Finds (distances, parents)."""
    J, ids = with_joint_source(A, starts, s), all_vertices(A)
    d: Any = sssp(J, A.nrows, s, limit=limit)  # d' = d'A' ⊕ e_n
    return gather(d, ids), joint_parents(J, d, s) if return_parents else None


def joint_parents(J: CSR, d: Any, s: Semiring) -> Any:
    """The parents of all vertices but the one more, -1 where that was the parent."""
    n = J.nrows - 1
    parent: Any = shortest_path_tree(J, d, n, s, ties="nearest")
    scatter(parent, parent == n, -1)
    return gather(parent, all_vertices(J) < n)


def with_joint_source(A: Matrix, starts: Any, semiring: Semiring) -> CSR:
    """`A` with a vertex n, which leads to each of the ascending vertices `starts` at the unit of the semiring."""
    S: CSR = compressed(A, 0)
    xp, n, entries = A.xp, A.nrows, A.nnz + starts.size
    index = index_dtype(n + 1, entries)
    indptr = concatenated([S.indptr.astype(index, copy=False), xp.array([entries], index)])
    indices = concatenated([S.indices.astype(index, copy=False), starts.astype(index, copy=False)])
    values = concatenated([S.values, xp.full(starts.size, semiring.unit(A.dtype), A.dtype)])
    return CSR.trusted(indptr, indices, values, (n + 1, n + 1))
