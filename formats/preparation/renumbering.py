"""Vertices renumbered for locality: B = P A Pᵀ, with the permutation that says who is who.

A product reads x at the columns of a row's entries. Where neighbours have numbers close to each other, or the same few
vertices are most vertices' neighbours and stand together, more of these reads hit a cache. Three orders: by degree, by
breadth-first search, and reverse Cuthill-McKee [1, 2]. Each looks at the pattern of A and of its transpose together, so
that A and A.T are renumbered alike, whatever their format and device.

A permutation is an array with old = permutation[new]. A vector d of A's vertices is d[permutation] for B, and one of
B's is d[inverse_permutation(permutation)] for A. `renumber` is two steps, which can be called and timed apart:

    permutation = vertex_order(A, "rcm")
    B = permute(A, permutation)                        # B[i, j] = A[permutation[i], permutation[j]]
    permute(B, inverse_permutation(permutation))       # A again

[1] E. Cuthill, J. McKee, Reducing the bandwidth of sparse symmetric matrices, ACM National Conference 1969.
[2] A. George, Computer implementation of the finite element method, Stanford University, STAN-CS-71-208, 1971.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import (
    Array,
    IntegerVector,
    all_of,
    as_array,
    as_indices,
    counts,
    index_dtype,
    namespace,
    same_place,
    to_device,
)
from ..matrix.base import Matrix
from ..matrix.convert import convert
from ..places import at_home
from ..storage.compressed import CSR, turn
from ..storage.sell import positions_of

if TYPE_CHECKING:
    import scipy.sparse

M = TypeVar("M", bound=Matrix)
Order: TypeAlias = Literal["degree", "bfs", "rcm"]


@at_home
def renumber(A: M, by: Order = "degree") -> tuple[M, IntegerVector]:
    """A with its vertices in another order.

    Args:
        A: (n, n).
        by: the order: "degree", "bfs" or "rcm", see `vertex_order`.

    Returns:
        (B, permutation): B in A's format and options, on its device, and (n,) integers with old = permutation[new].

    Raises:
        ValueError: A is not square, or there is no such order.

    Example:
        >>> from formats import from_edges
        >>> B, permutation = renumber(from_edges([0, 1, 2], [2, 2, 0]), "degree")
        >>> permutation.tolist(), B.to_edges()[0].tolist()
        ([2, 0, 1], [0, 1, 2])
    """
    permutation = vertex_order(A, by)
    return permute(A, permutation), permutation


@at_home
def vertex_order(A: Matrix, by: Order = "degree") -> IntegerVector:
    """The permutation, old = permutation[new], that puts A's vertices in an order.

    Args:
        A: (n, n); entries count in both directions, a stored 0 like any other.
        by: "degree", those with most entries in their row and column first, then by id; computed on A's device. "bfs",
            components by their smallest vertex, from which each is searched, neighbours by id; in SciPy, on the host.
            "rcm", reverse Cuthill-McKee, which makes the bandwidth small, ties as SciPy breaks them; in SciPy, on the
            host, in time that grows with the square of the degrees.

    Returns:
        (n,) integers on A's device.

    Raises:
        ValueError: A is not square, or there is no such order.

    Example:
        >>> from formats import from_edges
        >>> vertex_order(from_edges([0, 1, 2], [2, 2, 0]), "degree").tolist()
        [2, 0, 1]

    Source: E. Cuthill, J. McKee, Reducing the bandwidth of sparse symmetric matrices, ACM National Conference, 1969.
    """
    check_square(A)
    if by not in ORDERS:
        raise ValueError(f"by must be one of {', '.join(ORDERS)}; got {by!r}")
    return ORDERS[by](A).astype(index_dtype(A.nrows), copy=False)


@at_home
def permute(A: M, permutation: ArrayLike | Array) -> M:
    """B with B[i, j] = A[permutation[i], permutation[j]]: A with vertex permutation[i] as its vertex i.

    Args:
        A: (n, n).
        permutation: (n,), each of 0 .. n-1 once, on A's device.

    Returns:
        (n, n), in A's format and options; a Dense chooses its fill anew.

    Raises:
        ValueError: A is not square, or a value of the permutation is wrong; the error names the first.

    Example:
        >>> from formats import from_edges
        >>> B = permute(from_edges([0, 1], [1, 2], [5, 9]), [2, 0, 1])
        >>> B[1, 2].item(), B[2, 0].item()
        (5, 9)
    """
    check_square(A)
    if A.major == 1:
        turned: Any = permute(A.T, permutation).T
        return turned
    old = as_permutation(permutation, A.nrows)
    if A.in_parts:
        new = positions_of(old)
        return A.permuted(new, new)  # type: ignore[attr-defined]
    rows: Any = A.to(CSR)
    same_place(A.values, old)
    new = positions_of(old).astype(rows.indices.dtype, copy=False)
    indptr, indices, values = rows.indptr, rows.indices, rows.values
    for _ in range(2):  # by new column, then by new row, in which the columns still ascend
        indptr, indices, values = turn(indptr, new[indices], values, A.shape)
    return convert(CSR.trusted(indptr, indices, values, A.shape), type(A), **A.options)


@at_home
def inverse_permutation(permutation: ArrayLike | Array) -> IntegerVector:
    """The array with new = inverse[old], where old = permutation[new].

    Args:
        permutation: (n,), each of 0 .. n-1 once.

    Returns:
        (n,) integers on the same device.

    Raises:
        ValueError: a value is out of range or repeated; the error names the first.

    Example:
        >>> inverse_permutation([2, 0, 1]).tolist()
        [1, 2, 0]
    """
    return positions_of(as_permutation(permutation))


def as_permutation(permutation: ArrayLike | Array, n: int | None = None) -> Array:
    """`permutation` as (n,) indices; ValueError names the first that is no vertex, or else that repeats another."""
    given = as_array(permutation)
    if n is not None and given.size != n:
        raise ValueError(f"permutation must have {n} elements, one for each vertex, got {given.size}")
    old = as_indices(given, "permutation", int(given.size))
    seen = namespace(old).zeros(old.size, bool)
    seen[old] = True
    if not all_of(seen):
        host = to_device(old, "cpu")
        again = np.ones(host.size, bool)
        again[np.unique(host, return_index=True)[1]] = False
        at = int(again.argmax())
        raise ValueError(f"permutation must hold each vertex once, but {host[at]} repeats at position {at}")
    return old


def check_square(A: Matrix) -> None:
    """ValueError unless rows and columns are the same vertices."""
    if A.nrows != A.ncols:
        raise ValueError(f"renumbering vertices needs a square matrix, got shape {A.shape}")


# --- orders -------------------------------------------------------------------------------------------------------


def _by_degree(A: Matrix) -> Array:
    rows = _rows(A)
    xp = namespace(rows.indices)
    degree = xp.diff(rows.indptr) + counts(rows.indices, A.nrows)
    return xp.argsort(-degree, kind="stable")


def _by_search(A: Matrix) -> Array:
    """One search, from a root that is joined to each component's smallest vertex; then component by component."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    S, n = _symmetric(A), A.nrows
    component = connected_components(S, directed=False)[1]
    smallest = np.unique(component, return_index=True)[1]
    indices = np.concatenate((S.indices, np.sort(smallest).astype(S.indices.dtype)))
    indptr = np.append(S.indptr, S.indptr.dtype.type(indices.size))
    rooted = csr_array((np.ones(indices.size, bool), indices, indptr), shape=(n + 1, n + 1))
    found = breadth_first_order(rooted, n, return_predecessors=False)[1:]
    order = found[np.argsort(smallest[component[found]], kind="stable")]
    return to_device(order, A.place)


def _by_cuthill_mckee(A: Matrix) -> Array:
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    order = reverse_cuthill_mckee(_symmetric(A), symmetric_mode=True) if A.nrows else np.zeros(0, np.int32)
    return to_device(order, A.place)


ORDERS: dict[str, Callable[[Matrix], Array]] = {"degree": _by_degree, "bfs": _by_search, "rcm": _by_cuthill_mckee}
"""The orders by their names."""


def _rows(A: Matrix) -> Any:
    """The CSR of A or of its transpose, whichever is nearer: the orders see no difference."""
    return (A if A.major == 0 else A.T).to(CSR)


def _symmetric(A: Matrix) -> scipy.sparse.csr_array:
    """The pattern of A and of its transpose together, on the host, columns ascending in each row."""
    from scipy.sparse import csr_array

    rows = _rows(A)
    indptr, indices = (to_device(part, "cpu") for part in (rows.indptr, rows.indices))
    P = csr_array((np.ones(rows.nnz, bool), indices, indptr), shape=rows.shape)
    S = csr_array(P + P.T)
    S.sort_indices()
    return S
