"""Graphs as csgraph takes them, and matrices as it gives them."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from algorithms.shared.entries import entry_places
from formats import CSC, CSR, Matrix, from_edges, from_scipy
from formats.arrays import is_array, namespace, to_device
from formats.matrix.facts import COMPRESSED, Fact
from formats.storage.orientation import compressed, is_symmetric
from semiring import ewise_add

T = TypeVar("T")

EITHER_WAY: Fact[Matrix] = Fact("the lighter of both directions of each edge")

MOST_KEPT, MOST_BYTES = 4, 1 << 28
"""Matrices that are kept with what is known of them; larger ones are looked at again at each call."""

SOON = 1 << 17
"""Entries of a graph whose calls are over before it is known what is worth knowing of it."""

NEARLY_ZERO = 1e-8
"""What SciPy takes for 0 in an array."""


@dataclass(frozen=True)
class Kept:
    """A user's matrix, by a weak reference, copies of its arrays as they were, and what was made of them."""

    source: weakref.ref[Any]
    arrays: tuple[Any, ...]
    made: Any


KEPT: OrderedDict[tuple[int, str], Kept] = OrderedDict()
"""By the identity of the user's matrix and the name of what was made, the last used at the end."""

GRAPH = "a graph"

SEEN: OrderedDict[int, weakref.ref[Any]] = OrderedDict()
"""Matrices on which there was a call that did not keep them."""

LOCK = RLock()


def graph_of(csgraph: Any, directed: bool = True, *, weighted: bool = True) -> Matrix:
    """The graph in float64 by rows, or with directed=False the lighter of both directions of each edge.

    weighted: False where values do not count, and may be old ones.
    """
    A = stored(csgraph, directed, weighted=weighted)
    if directed or is_symmetric(A):
        return A
    return A.keep(EITHER_WAY, lambda: ewise_add(A, compressed(A, 1).T, "min"))


def stored(csgraph: Any, directed: bool = True, *, weighted: bool = True) -> Matrix:
    """The graph in float64 by rows; with directed=False its columns are the rows if they lie together, as in SciPy."""
    A = from_sparse(csgraph, weighted) if is_sparse(csgraph) else from_array(csgraph)
    return compressed(A, 0) if directed or A.major == 0 else A.T


def as_given(csgraph: Any, most: int | None = None) -> CSR | None:
    """The rows of a SciPy CSR as they are, for loops that need no order and check what they read; or None.

    most: entries of the largest matrix that is asked for.
    """
    rows = rows_as_given(csgraph, most)
    return None if rows is None else CSR.trusted(*rows, csgraph.shape)


def rows_as_given(csgraph: Any, most: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The arrays of `as_given`: indptr, indices and values."""
    if getattr(csgraph, "format", "") != "csr" or csgraph.ndim != 2 or type(csgraph.data) is not np.ndarray:
        return None
    n, columns = csgraph.shape
    if n != columns or csgraph.dtype.kind not in "biuf" or (most is not None and csgraph.data.size >= most):
        return None
    S = csgraph if csgraph.dtype == np.float64 else csgraph.astype(np.float64)  # which adds duplicates, as SciPy does
    indptr, indices, values = S.indptr, S.indices, S.data
    if indptr.size != n + 1 or indices.size != values.size or not indices.flags.c_contiguous:
        return None
    return indptr, indices, values


def is_first_call(csgraph: Any) -> bool:
    """Is this the first call on a SciPy CSR? Then nothing is known of it, nor worth finding out."""
    if getattr(csgraph, "format", "") != "csr" or type(csgraph.data) is not np.ndarray:
        return False
    key = id(csgraph)
    with LOCK:
        sources = SEEN.get(key), KEPT[key, GRAPH].source if (key, GRAPH) in KEPT else None
        if any(source is not None and source() is csgraph for source in sources):
            return False
        SEEN[key] = weakref.ref(csgraph, lambda _: SEEN.pop(key, None))
        if len(SEEN) > MOST_KEPT:
            SEEN.popitem(last=False)
    return True


def is_new(csgraph: Any) -> bool:
    """Is this the first call on a SciPy CSR with sorted rows?"""
    return is_first_call(csgraph) and bool(csgraph.has_sorted_indices)


def new_rows(csgraph: Any) -> CSR | None:
    """The rows of a SciPy CSR as they are, for the first call on it; None if they are not in order, or not numbers."""
    A = as_given(csgraph) if is_first_call(csgraph) else None
    if A is None:
        return None
    from algorithms.fused.cpu.as_given import DAMAGED, regular

    found = regular(A.indptr, A.indices, A.values)
    if found == DAMAGED:
        raise damaged(A.indptr, A.indices)
    return A if found else None


def with_columns(A: CSR, csgraph: Any) -> CSR:
    """A, the rows of a SciPy CSR; if it is small, with columns by SciPy, which come sooner than by a conversion."""
    from algorithms.fused.cpu.forest import is_joined_in_order
    from algorithms.fused.cpu.symmetry import find_symmetry

    find_symmetry(A)
    if not is_symmetric(A) and A.nnz < SOON and not is_joined_in_order(A):
        S = csgraph.tocsc()
        A.keep(COMPRESSED, lambda: CSC.trusted(S.indptr, S.indices, S.data.astype(A.dtype, copy=False), A.shape), CSC)
    return A


def given_both_ways(csgraph: Any, most: int) -> CSR | None:
    """Each row of a SciPy CSR, as it is, followed by its column: the edges both ways."""
    A = as_given(csgraph, most)
    if A is None:
        return None
    from algorithms.fused.cpu.as_given import DAMAGED, both_ways

    begins, places = np.zeros((2, A.nrows + 1), np.int32)
    heads, weights = np.empty(2 * A.values.size, np.int32), np.empty(2 * A.values.size)
    if both_ways((A.indptr, A.indices, A.values), begins, places, heads, weights) == DAMAGED:
        raise damaged(A.indptr, A.indices)
    return CSR.trusted(places, heads, weights, A.shape)


def columns_as_given(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Where the columns of rows as they are begin, and their rows; None if these are the same as those of the rows."""
    from algorithms.fused.cpu.as_given import DAMAGED, columns

    starts, moving = np.zeros((2, indptr.size), indptr.dtype)
    rows = np.empty(indices.size, indices.dtype)
    if columns((indptr, indices), starts, moving, rows) == DAMAGED:
        raise damaged(indptr, indices)
    same = np.array_equal(starts, indptr) and np.array_equal(rows, indices)
    return None if same else (starts, rows)


def damaged(indptr: np.ndarray, indices: np.ndarray) -> ValueError:
    """The error of rows of which a loop has read one, or a column, that lies outside."""
    return ValueError(f"indptr must ascend to the {indices.size} entries, and indices be in [0, {indptr.size - 1})")


def checked(A: CSR) -> CSR:
    """The matrix; ValueError if its rows or columns lie outside."""
    from algorithms.fused.cpu.as_given import sound

    if A.place.on_host and not sound(A.indptr, A.indices, A.nrows):
        raise damaged(A.indptr, A.indices)
    return A


def is_sparse(csgraph: Any) -> bool:
    """Is it a sparse matrix of SciPy or CuPy?"""
    return hasattr(csgraph, "tocsr") and hasattr(csgraph, "nnz")


def from_sparse(S: Any, weighted: bool) -> Matrix:
    """The CSR or CSC of a sparse matrix: the one that is kept, if its arrays are as they were."""
    if S.ndim != 2:
        raise ValueError("graph should have two dimensions")
    if S.shape[0] != S.shape[1]:
        raise ValueError("graph should be a square array")
    if S.format == "bsr":  # whose blocks have zeros where nothing is
        S = S.tocsr()
        S.eliminate_zeros()
        return converted(S)
    return converted(S.tocsr()) if compressed_arrays(S) is None else remembered(S, GRAPH, converted, weighted)


def compressed_arrays(S: Any) -> tuple[Any, ...] | None:
    """The arrays of a CSR or CSC that may be kept; None of a larger one, and of other formats."""
    if S.format not in ("csr", "csc") or S.data.nbytes + S.indices.nbytes > MOST_BYTES:
        return None
    return S.indptr, S.indices, S.data


def is_remembered(S: Any, name: str) -> bool:
    """Is something of this name kept, of S as it is or was?"""
    return (id(S), name) in KEPT


def remembered(S: Any, name: str, make: Callable[[Any], T], weighted: bool = True) -> T:
    """What is made of a copy of a CSR or CSC, kept under a name while S lives and its arrays are as they were.

    weighted: False if values may be old ones.
    """
    arrays, key = (S.indptr, S.indices, S.data), (id(S), name)
    with LOCK:
        kept = KEPT.get(key)
        if kept is not None:
            KEPT.move_to_end(key)
    if kept is not None and kept.source() is S and unchanged(kept.arrays, arrays if weighted else arrays[:2]):
        return kept.made
    copies = tuple(array.copy() for array in arrays)
    made = make(type(S)(copies[::-1], shape=S.shape))
    with LOCK:
        KEPT[key] = Kept(weakref.ref(S, lambda _: KEPT.pop(key, None)), copies, made)
        KEPT.move_to_end(key)
        if len(KEPT) > MOST_KEPT:
            KEPT.popitem(last=False)
    return made


def unchanged(kept: tuple[Any, ...], arrays: tuple[Any, ...]) -> bool:
    """Are these arrays as they were, to the bit?"""
    if any(x.dtype != y.dtype or x.shape != y.shape for x, y in zip(kept, arrays, strict=False)):
        return False
    if isinstance(arrays[0], np.ndarray):
        from algorithms.fused.cpu.entries import same_bits

        return all(map(same_bits, kept, arrays))
    from algorithms.fused.cuda.same import same_bits as same_bits_there

    return same_bits_there([*zip(kept, arrays, strict=False)])


def converted(S: Any) -> Matrix:
    """A CSR or CSC of another library as ours, in float64; of duplicates the least counts."""
    S = S if S.dtype == np.float64 else S.astype(np.float64)
    xp = namespace(S.data)
    if bool(xp.isnan(S.data).any()):
        S = type(S)((xp.where(xp.isnan(S.data), np.inf, S.data), S.indices, S.indptr), shape=S.shape)
    A = from_scipy(S, dup="min")
    return A if A.major == 1 else compressed(A, 0)


def from_array(csgraph: Any) -> Matrix:
    """The CSR of an array of two dimensions, in which 0, infinity, NaN and what is masked are no edges."""
    G = csgraph if is_array(csgraph) else np.asarray(csgraph)
    if G.ndim != 2:
        raise ValueError("graph should have two dimensions")
    if G.shape[0] != G.shape[1]:
        raise ValueError("graph should be a square array")
    xp = namespace(G)
    if isinstance(G, np.ma.MaskedArray):
        values = np.asarray(G.data, np.float64)
        present = ~np.ma.getmaskarray(G)
    else:
        values = xp.asarray(G, np.float64)
        present = xp.isfinite(values) & (abs(values) > NEARLY_ZERO)
    u, v = present.nonzero()
    A = from_edges(u, v, values[u, v], shape=G.shape, dtype=np.float64)
    return compressed(A, 0)


def starts_of(A: Matrix, indices: Any) -> tuple[list[int], tuple[int, ...]]:
    """(the vertices to start from, the shape that they were given in)."""
    if indices is None:
        return list(range(A.nrows)), (A.nrows,)
    given = np.array(to_device(indices, "cpu") if is_array(indices) else indices).astype(np.int64)
    starts = given.ravel()
    starts[starts < 0] += A.nrows
    if bool(((starts < 0) | (starts >= A.nrows)).any()):
        raise ValueError("indices out of range 0...N")
    return starts.tolist(), given.shape


def by_rows(rows: Any, cols: Any, values: Any, n: int) -> tuple[Any, Any, Any]:
    """indptr, indices and values of (n, n) of these entries."""
    xp = namespace(values)
    if xp is np:
        from algorithms.fused.cpu import entries

        indptr, indices, sorted_values = entries.by_rows(rows, cols, values, n)
        return indptr, indices, sorted_values
    keys = rows.astype(np.int64) * n + cols
    if not bool((keys[1:] > keys[:-1]).all()):
        order = keys.argsort()
        rows, cols, values = rows[order], cols[order], values[order]
    indptr = xp.zeros(n + 1, np.int32)
    indptr[1:] = xp.cumsum(xp.bincount(rows, minlength=n))[:n]
    return indptr, cols, values


def entries_where(A: Any, kept: Any) -> tuple[Any, Any, Any]:
    """indptr, indices and values of A's entries, by rows, at which the Boolean vector is true."""
    xp = A.xp
    before = xp.zeros(A.nnz + 1, np.int32)
    xp.cumsum(kept, out=before[1:], dtype=np.int32)
    return before[A.indptr], A.indices[kept], A.values[kept]


def matrix_like(csgraph: Any, indptr: Any, indices: Any, values: Any) -> Any:
    """A CSR of csgraph's library: a matrix where `csgraph` is one, else an array."""
    shape = (indptr.size - 1, indptr.size - 1)
    if not isinstance(values, np.ndarray):
        from cupyx.scipy.sparse import csr_matrix
    else:
        from scipy.sparse import csr_array, csr_matrix, isspmatrix

        if not isspmatrix(csgraph) and not isinstance(csgraph, np.matrix):
            return csr_array((values, indices, indptr), shape=shape)
    return csr_matrix((values, indices, indptr), shape=shape)


def as_held(A: Any, rows: Any, cols: Any, values: Any) -> tuple[Any, Any]:
    """(rows, columns) of edges: as given where A has the edge with its value, and turned elsewhere."""
    if A.place.on_host:
        from algorithms.fused.cpu.entries import held

        return held(A, rows, cols, values)
    here = values_at(A, rows, cols) == values
    return A.xp.where(here, rows, cols), A.xp.where(here, cols, rows)


def values_at(A: Matrix, rows: Any, cols: Any) -> Any:
    """A's values at these places, infinity where it has none."""
    S: CSR = compressed(A, 0)
    if not S.nnz:
        return A.xp.full(rows.shape, np.inf)
    place = entry_places(S, rows, cols)
    found = S.values.take(place)
    found[place < 0] = np.inf
    return found
