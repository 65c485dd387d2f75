"""Conversions of a matrix: to another format, a list of edges, a dense array, or another library's matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..arrays import Array, contiguous, filled_dtype, namespace, optional
from ..undisturbed import imported
from .contract import Storage
from .footprint import check_conversion
from .routes import CONVERSIONS, route, stays

if TYPE_CHECKING:
    import cupyx.scipy.sparse
    import graphblas
    import networkx
    import scipy.sparse

F = TypeVar("F", bound=Storage)


def convert(A: Storage, target: type[F], **options: Any) -> F:
    """`A` in the `target` format: itself, by a direct conversion, or by way of CSR and COO.

    Before any work, ValueError if padding is out of proportion, OutOfHostMemory or OutOfDeviceMemory if the conversion
    is predicted not to fit.
    """
    target._check_options(options)
    if stays(A, target, options):
        return A  # type: ignore[return-value]  # it is one of the target's
    if not options.get("force"):
        target._check_padding(A, options)
    check_conversion(A, target, options)
    steps = route(type(A), target)
    for step in steps[:-1]:
        A = CONVERSIONS[type(A), step](A)
    return CONVERSIONS[type(A), target](A, **options)


def to_edges(A: Storage) -> tuple[Array, Array, Array]:
    """See `Matrix.to_edges`."""
    listed = convert(A, Storage.formats["coo"])
    return listed.rows, listed.cols, listed.values


def to_dense(A: Storage, fill: Any) -> Array:
    """See `Matrix.to_dense`."""
    dtype = filled_dtype(A.dtype, fill)
    A.place.check_room(f"{A!r} as an array", A.nrows * A.ncols * dtype.itemsize)
    rows, cols, values = to_edges(A)
    dense = namespace(values).full(A.shape, fill, dtype)
    dense[rows, cols] = values
    return dense


# --- other libraries' -----------------------------------------------------------------------------------------------


def listed_or_compressed(A: Storage) -> Any:
    """`A` where it is a COO, a CSC or a CSR, else as CSR."""
    known = tuple(Storage.formats[name] for name in ("coo", "csc", "csr"))
    return A if isinstance(A, known) else convert(A, Storage.formats["csr"])


def to_scipy(A: Storage) -> scipy.sparse.sparray:
    """See `Matrix.to_scipy`."""
    from scipy import sparse

    check_on_cpu(A)
    stored = listed_or_compressed(A)
    if hasattr(stored, "rows"):
        return sparse.coo_array((stored.values, (stored.rows, stored.cols)), shape=A.shape)
    make = sparse.csr_array if stored.major == 0 else sparse.csc_array
    return make((stored.values, stored.indices, stored.indptr), shape=A.shape)


def to_cupyx(A: Storage) -> cupyx.scipy.sparse.spmatrix:
    """See `Matrix.to_cupyx`."""
    if A.place.on_host:
        raise ValueError("to_cupyx needs a matrix on a GPU, and this one is on the CPU: say .to(device='cuda') first")
    if A.dtype.kind == "i":
        raise TypeError(f"CuPy's sparse matrices hold no {A.dtype}: say .astype('float64') first")
    from cupyx.scipy import sparse

    stored = listed_or_compressed(A)
    if hasattr(stored, "rows"):
        return sparse.coo_matrix((contiguous(stored.values), (stored.rows, stored.cols)), shape=A.shape)
    make = sparse.csr_matrix if stored.major == 0 else sparse.csc_matrix
    return make((contiguous(stored.values), stored.indices, stored.indptr), shape=A.shape)


def to_networkx(A: Storage, labels: Any = None) -> networkx.DiGraph:
    """See `Matrix.to_networkx`."""
    nx = optional("networkx", "a NetworkX graph")
    check_on_cpu(A)
    if A.nrows != A.ncols:
        raise ValueError(f"a graph needs a square matrix, got shape {A.shape}")
    names = range(A.nrows) if labels is None else list(labels)
    if len(names) != A.nrows:
        raise ValueError(f"labels must name all {A.nrows} vertices, got {len(names)}")
    if len(set(names)) != len(names):
        raise ValueError("labels must name each vertex differently, but one repeats")
    G = nx.DiGraph()
    G.add_nodes_from(names)
    rows, cols, values = (part.tolist() for part in to_edges(A))
    G.add_weighted_edges_from((names[u], names[v], w) for u, v, w in zip(rows, cols, values, strict=True))
    return G


def to_graphblas(A: Storage) -> graphblas.Matrix:
    """See `Matrix.to_graphblas`."""
    check_on_cpu(A)
    try:
        gb = imported("graphblas")
    except ImportError as error:
        raise ImportError(f"to_graphblas needs python-graphblas, which cannot be imported here: {error}") from error
    rows: Any = convert(A, Storage.formats["csr"])
    give, shape = gb.Matrix.ss.import_csr, {"nrows": A.nrows, "ncols": A.ncols, "sorted_cols": True}
    indptr, indices = rows.indptr.astype(np.uint64), rows.indices.astype(np.uint64)
    return given(give, shape, indptr=indptr, col_indices=indices, values=np.array(rows.values))


def given(give: Callable[..., Any], facts: dict[str, Any], **arrays: np.ndarray) -> Any:
    """A python-graphblas object that owns the arrays' memory: `give` imports them.

    An exception, as of Ctrl-C, may come when both own it: then nobody frees it, where NumPy would free it once more.
    """
    try:
        return give(**arrays, **facts, take_ownership=True)
    except BaseException:
        from suitesparse_graphblas.utils import unclaim_buffer  # type: ignore[import-untyped]

        for array in arrays.values():
            unclaim_buffer(array)
        raise


def check_on_cpu(A: Storage) -> None:
    """ValueError for a matrix on the GPU: the libraries here work in the memory of the CPU."""
    if not A.place.on_host:
        raise ValueError(f"the matrix is on {A.device}, and this works on the CPU: move it with .to(device='cpu')")
