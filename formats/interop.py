"""The way to and from SciPy, CuPy, NetworkX and python-graphblas, each imported only when it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike

from .adjacency import adjacency_of, are_numbers, attribute_of, has_attribute, near
from .arrays import as_values, check_not_nan, narrowed
from .edges import Duplicates, check_dup, from_edges
from .matrix.base import Matrix
from .storage.compressed import CSR, check_indptr, expand, out_of_order_within
from .storage.coo import out_of_order

if TYPE_CHECKING:
    import cupyx.scipy.sparse
    import graphblas
    import networkx
    import scipy.sparse

Weight: TypeAlias = Hashable | Callable[[Any, Any, Any], float | None]
"""The name of an attribute, or a function of (u, v, data), as NetworkX takes it."""

No: TypeAlias = Literal[False]
Yes: TypeAlias = Literal[True]


def from_scipy(S: scipy.sparse.sparray | scipy.sparse.spmatrix, *, dup: Duplicates = "sum") -> Matrix:
    """A SciPy sparse array as CSR, CSC or COO, whichever it is, and as CSR otherwise.

    Memory is shared where `S` is sorted. Stored zeros stay entries.

    Args:
        S: a sparse array or matrix of scipy. One of CuPy's stays on its GPU, see `from_cupyx`.
        dup: how entries that `S` holds twice combine, by default as SciPy itself has them: see `from_edges`.

    Returns:
        The matrix.

    Raises:
        ValueError: `dup` has no such value, a value is NaN, or an index is out of range.
        OverflowError: a sum does not fit the dtype.

    Example:
        >>> import scipy.sparse
        >>> A = from_scipy(scipy.sparse.csr_array([[0.0, 2.5], [3.5, 0.0]]))
        >>> A
        <CSR 2×2, 2 entries, float64, cpu>
    """
    if _is_cupyx(S):
        return from_cupyx(S, dup=dup)
    from scipy.sparse import issparse

    if not issparse(S):
        raise TypeError(f"expected a SciPy sparse array or matrix, got {type(S).__name__}")
    if S.ndim != 2:
        raise ValueError(f"expected two dimensions, got {S.ndim}")
    check_dup(dup)
    if S.format in ("csr", "csc") and S.has_canonical_format:
        compressed: Any = Matrix.formats[S.format]
        return compressed(S.indptr, S.indices, S.data, S.shape)
    edges = S.tocoo()
    A = from_edges(edges.row, edges.col, edges.data, shape=S.shape, dup=dup)
    return A.to(S.format) if S.format in ("csc", "coo") else A


def _is_cupyx(obj: object) -> bool:
    """True if `obj` is one of CuPy's sparse matrices. Imports nothing."""
    sparse = sys.modules.get("cupyx.scipy.sparse")
    return sparse is not None and bool(sparse.issparse(obj))


def from_cupyx(S: cupyx.scipy.sparse.spmatrix, *, dup: Duplicates = "sum") -> Matrix:
    """A CuPy sparse matrix as CSR, CSC or COO on its GPU, whichever it is, and as CSR otherwise.

    Memory is shared where `S` is sorted. Whether it is sorted is looked up in its arrays, as the flags that it keeps
    can be stale. Stored zeros stay entries.

    Args:
        S: a sparse matrix of cupyx.scipy.
        dup: how entries that `S` holds twice combine, by default as CuPy itself has them: see `from_edges`.

    Returns:
        The matrix, on the GPU.

    Raises:
        ValueError: `dup` has no such value, a value is NaN, or an index is out of range.
        OverflowError: a sum does not fit the dtype.

    Example:
        >>> from formats import DeviceUnavailable, from_edges
        >>> try:
        ...     A = from_edges([0], [1], [2.5]).to(device="cuda")
        ...     assert from_cupyx(A.to_cupyx()).equals(A)
        ... except DeviceUnavailable:
        ...     pass
    """
    if not _is_cupyx(S):
        raise TypeError(f"expected a CuPy sparse matrix (cupyx.scipy.sparse), got {type(S).__name__}")
    if S.ndim != 2:
        raise ValueError(f"expected two dimensions, got {S.ndim}")
    if S.format not in ("csr", "csc", "coo"):
        S = S.tocsr()
    fmt: Any = Matrix.formats[S.format]
    if S.format == "coo":
        if not bool(out_of_order(S.row, S.col).any()):
            return fmt(S.row, S.col, S.data, S.shape)
        rows, cols = S.row, S.col
    else:
        check_indptr(S.indptr, S.data.size, S.shape[fmt.major], fmt.major)
        if not bool(out_of_order_within(S.indptr, S.indices).any()):
            return fmt(S.indptr, S.indices, S.data, S.shape)
        outer = expand(S.indptr)
        rows, cols = (outer, S.indices) if fmt.major == 0 else (S.indices, outer)
    return from_edges(rows, cols, S.data, shape=S.shape, dup=dup).to(fmt)


@overload
def from_networkx(
    G: networkx.Graph, weight: Weight | None = "weight", *, dtype: DTypeLike | None = None, return_labels: No = False
) -> CSR: ...
@overload
def from_networkx(
    G: networkx.Graph, weight: Weight | None = "weight", *, dtype: DTypeLike | None = None, return_labels: Yes
) -> tuple[CSR, list[Hashable]]: ...
@overload
def from_networkx(
    G: networkx.Graph, weight: Weight | None = "weight", *, dtype: DTypeLike | None = None, return_labels: bool
) -> CSR | tuple[CSR, list[Hashable]]: ...
def from_networkx(
    G: networkx.Graph,
    weight: Weight | None = "weight",
    *,
    dtype: DTypeLike | None = None,
    return_labels: bool = False,
) -> CSR | tuple[CSR, list[Hashable]]:
    """The CSR of a NetworkX graph: vertex i is the i-th node of `G`, an undirected edge counts both ways.

    Args:
        G: any NetworkX graph. Parallel edges combine with min.
        weight: the name of an edge attribute; an edge without it weighs 1, as in NetworkX. Or a function of
            (u, v, data), as NetworkX takes it: None means that there is no edge, and data is G[u][v], which in a
            multigraph holds all parallel edges by key. None: every edge weighs 1.
        dtype: the dtype of the weights.
        return_labels: also return the nodes, in order.

    Returns:
        The CSR, or the CSR and the list of nodes.

    Raises:
        ValueError: no edge has the attribute, unless that is "weight"; or a weight is not a number.
        TypeError: G is no graph, or weight is a bool.

    Example:
        >>> import networkx
        >>> G = networkx.DiGraph()
        >>> G.add_edge("Paris", "Lyon", km=465, speed=120)
        >>> A, names = from_networkx(G, lambda u, v, data: data["km"] / data["speed"], return_labels=True)
        >>> names, A[0, 1].item()
        (['Paris', 'Lyon'], 3.875)
    """
    if not hasattr(G, "nodes") or not hasattr(G, "edges"):
        raise TypeError(f"G must be a NetworkX graph, got {G!r}")
    if isinstance(weight, bool):
        raise TypeError(f"weight must be an attribute's name, a function of (u, v, data) or None, got {weight!r}")
    nodes = list(G.nodes)
    adj, present = near(G), None
    found = adjacency_of(adj, None if are_numbers(nodes) else nodes)
    if callable(weight):
        each = [weight(u, v, data) for u, others in adj.items() for v, data in others.items()]
        if None in each:
            present = np.fromiter((w is not None for w in each), bool, len(each))
            each = [w for w in each if w is not None]
    elif weight is not None:
        each = _weights_by_name(G, adj, weight)
    if weight is None or not each:
        weights = np.ones(found.vertices.size if present is None else int(present.sum()), np.int32)
    else:
        try:
            weights = np.asarray(each)
        except ValueError:  # of lists of several lengths
            weights = np.empty(0, object)
        if weights.dtype.kind not in "biuf" or weights.ndim != 1:
            what = "the function's result" if callable(weight) else f"attribute {weight!r}"
            odd = next((w for w in each if not isinstance(w, int | float | np.number | np.bool_)), each[0])
            raise ValueError(f"{what} must be a number on every edge, got {odd!r}")
        weights = narrowed(weights) if dtype is None else weights
    if present is None:
        values = as_values(weights, dtype)
        check_not_nan(values)
        A = found.matrix(values)
    else:
        A = from_edges(found.rows()[present], found.vertices[present], weights, shape=len(nodes), dtype=dtype)
    return (A, nodes) if return_labels else A


def _weights_by_name(G: networkx.Graph, adj: Mapping[Any, Any], name: Hashable) -> list[Any]:
    """The attribute or 1 for each edge, in order; ValueError if no edge has it, unless its name is "weight"."""
    try:
        each = attribute_of(adj, name, 1, G.is_multigraph())
    except TypeError:  # of parallel edges, which have no order
        raise ValueError(f"attribute {name!r} must be a number on every edge") from None
    if each and name != "weight" and not has_attribute(adj, name, G.is_multigraph()):
        seen: dict[Any, None] = {}
        for _, _, data in G.edges(data=True):
            seen.update(dict.fromkeys(data))
        has = f"their attributes are {', '.join(map(repr, seen))}" if seen else "they have no attributes"
        raise ValueError(f"no edge has the attribute {name!r}: {has}; weight=None makes every edge weigh 1")
    return each


def from_graphblas(M: graphblas.Matrix) -> CSR:
    """The CSR of a python-graphblas Matrix, copied.

    Args:
        M: a matrix of numbers, of which int64 holds every unsigned one.

    Returns:
        The CSR, on the host.

    Raises:
        ValueError: a value of 64 bits without a sign does not fit int64.
        TypeError: its values are no real numbers.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1], [1, 0], [2.5, 3.5])
        >>> from_graphblas(A.to_graphblas()).equals(A)
        True
    """
    if not hasattr(M, "ss"):
        raise TypeError(f"from_graphblas takes a python-graphblas Matrix, got {type(M).__name__}")
    arrays = M.ss.export("csr", sort=True)
    values = arrays["values"]
    indptr, indices = arrays["indptr"], arrays["col_indices"]
    if arrays.get("is_iso"):
        values = np.broadcast_to(values, indices.shape)
    return CSR(indptr, indices[: int(indptr[-1])], values[: int(indptr[-1])], (M.nrows, M.ncols))
