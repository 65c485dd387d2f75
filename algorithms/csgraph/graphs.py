"""Graphs as csgraph takes them, and matrices as it gives them."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import and_
from threading import RLock
from typing import Any, TypeAlias, TypeVar

import numpy as np

from algorithms.fused.cpu import entries
from algorithms.fused.cpu import unchecked_csr as loops
from algorithms.shared.entries import entry_places
from formats import CSC, CSR, Matrix, from_scipy
from formats.arrays import is_array, namespace, to_device
from formats.matrix.facts import Fact
from formats.storage.orientation import compressed, is_symmetric
from semiring import ewise_add
from semiring.vectors import roots

T = TypeVar("T")
Rows: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The arrays indptr, indices and values."""

EITHER_WAY: Fact[Matrix] = Fact("the lighter of both directions of each edge")

MOST_KEPT, MOST_BYTES = 4, 1 << 28
"""The number of matrices that are kept with facts about them, and the size of the largest that is kept."""

SOON = 1 << 17
"""Entries of a graph from which on facts about it are worth finding out and keeping."""

NONE = -9999
"""SciPy's predecessor of a vertex that has none."""

NEARLY_ZERO = 1e-8
"""The largest absolute value that SciPy takes for 0 in an array."""


@dataclass(frozen=True)
class Kept:
    """A weak reference to a user's matrix, copies of its arrays, and the object that was made of them."""

    source: weakref.ref[Any]
    arrays: tuple[Any, ...]
    made: Any


KEPT: OrderedDict[tuple[int, str], Kept] = OrderedDict()
"""Kept objects by the identity of the user's matrix and their name, the last used at the end."""

GRAPH = "a graph"

SEEN: OrderedDict[int, weakref.ref[Any]] = OrderedDict()
"""Matrices that a call has seen and not kept."""

LOCK = RLock()


def as_matrix(csgraph: Any) -> Any:
    """Returns SciPy's or CuPy's CSR or CSC as it is, and all else as our CSR in float64."""
    if not is_sparse(csgraph):
        return csgraph if isinstance(csgraph, CSR) else from_array(csgraph)
    if csgraph.ndim != 2:
        raise ValueError("graph should have two dimensions")
    if csgraph.shape[0] != csgraph.shape[1]:
        raise ValueError("graph should be a square array")
    if csgraph.format in ("csr", "csc"):
        return csgraph
    S = csgraph.tocsr()
    if csgraph.format == "bsr":  # whose blocks have zeros where nothing is
        S.eliminate_zeros()
    return converted(S)


def graph_of(G: Any, directed: bool = True, *, weighted: bool = True) -> Matrix:
    """Returns the graph in float64 by rows, or with directed=False the lighter of both directions of each edge.

    weighted: False where values do not count, and may be old ones.
    """
    A = stored(G, directed, weighted=weighted)
    if directed or is_symmetric(A):
        return A
    return A.keep(EITHER_WAY, lambda: ewise_add(A, compressed(A, 1).T, "min"))


def stored(G: Any, directed: bool = True, *, weighted: bool = True) -> Matrix:
    """Returns the graph in float64 by rows; with directed=False the columns of a CSC serve as rows, as in SciPy."""
    if not is_sparse(G):
        A = G
    elif compressed_arrays(G) is None:
        A = converted(G)
    else:
        A = remembered(G, GRAPH, converted, weighted)
    return compressed(A, 0) if directed or A.major == 0 else A.T


def rows_as_given(G: Any, directed: bool = True, most: int | None = None) -> Rows | None:
    """Returns the rows of SciPy's matrices or ours as they are, for loops that check what they read; None of others.

    directed: False lets columns of a CSC stand for its rows.  most: a matrix of so many entries is refused.
    """
    if isinstance(G, CSR):
        suits = G.place.on_host and (most is None or G.nnz < most)
        return (G.indptr, G.indices, G.values) if suits else None
    if type(G.data) is not np.ndarray or (most is not None and G.data.size >= most):
        return None
    turns = directed and G.format == "csc"
    if turns and G.data.size >= SOON:
        return None
    twice = G.dtype != np.float64 and not G.has_canonical_format
    S = G.astype(np.float64) if twice else G  # which adds duplicates, as SciPy does
    if not S.indices.flags.c_contiguous:
        return None
    return turned(arrays_of(S)) if turns else arrays_of(S)


def arrays_of(S: Any) -> Rows:
    """Returns indptr, and indices and values up to its end; ValueError if there are fewer."""
    indptr, indices, values = S.indptr, S.indices, S.data.astype(np.float64, copy=False)
    end = int(indptr[-1])
    if end == indices.size == values.size and indptr.size == S.shape[0] + 1:
        return indptr, indices, values
    if not 0 <= end <= min(indices.size, values.size) or indptr.size != S.shape[0] + 1:
        raise damaged(indptr, indices)
    return indptr, indices[:end], values[:end]


def regular_rows(G: Any, directed: bool = True) -> CSR | None:
    """Returns the rows of a small matrix, or of a large one at the first call, if columns ascend and no value is NaN.

    Nothing more is known of the matrix. At a first call it is not worth finding out.
    """
    rows = rows_as_given(G, directed, SOON)
    if rows is None and is_first_call(G):
        rows = rows_as_given(G, directed)
    return CSR.trusted(*rows, G.shape) if rows is not None and is_regular(*rows) else None


def is_first_call(G: Any) -> bool:
    """Returns True at the first call on a SciPy CSR, and notes that there was one."""
    if getattr(G, "format", "") != "csr" or type(G.data) is not np.ndarray:
        return False
    key = id(G)
    with LOCK:
        sources = SEEN.get(key), KEPT[key, GRAPH].source if (key, GRAPH) in KEPT else None
        if any(source is not None and source() is G for source in sources):
            return False
        SEEN[key] = weakref.ref(G, lambda _: SEEN.pop(key, None))
        if len(SEEN) > MOST_KEPT:
            SEEN.popitem(last=False)
    return True


def is_regular(indptr: np.ndarray, indices: np.ndarray, values: np.ndarray) -> bool:
    """Returns True if the columns of each row ascend, and no value is NaN; ValueError if one lies outside."""
    found = loops.regular(indptr, indices, values)
    if found == loops.DAMAGED:
        raise damaged(indptr, indices)
    return bool(found)


def turned(rows: Rows, weighted: bool = True) -> Rows:
    """Returns where columns begin, their rows, and their values, or with weighted=False none."""
    indptr, indices, values = rows
    starts, moving = np.zeros((2, indptr.size), indptr.dtype)
    heads, weights = np.empty(indices.size, indices.dtype), np.empty(values.size if weighted else 0)
    if loops.columns(rows, starts, moving, heads, weights) == loops.DAMAGED:
        raise damaged(indptr, indices)
    return starts, heads, weights


def other_columns(rows: Rows) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns where columns begin, and their rows; None if these are the same as those of the rows."""
    starts, heads, _ = turned(rows, weighted=False)
    return None if np.array_equal(starts, rows[0]) and np.array_equal(heads, rows[1]) else (starts, heads)


def damaged(indptr: np.ndarray, indices: np.ndarray) -> ValueError:
    """Returns the error of a matrix of which a row or a column lies outside."""
    return ValueError(f"indptr must ascend to the {indices.size} entries, and indices be in [0, {indptr.size - 1})")


def checked(A: CSR) -> CSR:
    """Returns the matrix; ValueError if its rows or columns lie outside."""
    if A.place.on_host and not loops.sound(A.indptr, A.indices, A.nrows):
        raise damaged(A.indptr, A.indices)
    return A


def is_sparse(csgraph: Any) -> bool:
    return hasattr(csgraph, "tocsr") and hasattr(csgraph, "format")


def compressed_arrays(S: Any) -> tuple[Any, ...] | None:
    """Returns the arrays of a CSR or CSC that may be kept; None of a larger one, and of other formats."""
    if S.format not in ("csr", "csc") or S.data.nbytes + S.indices.nbytes > MOST_BYTES:
        return None
    return S.indptr, S.indices, S.data


def remembered(S: Any, name: str, make: Callable[[Any], T], weighted: bool = True) -> T:
    """Returns make(a copy of S), which is kept under a name while S lives and its arrays do not change.

    S: a CSR or CSC.  weighted: False if values may be old ones.
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
    """Returns True if these arrays hold the bits that were kept."""
    if any(x.dtype != y.dtype or x.shape != y.shape for x, y in zip(kept, arrays, strict=False)):
        return False
    if isinstance(arrays[0], np.ndarray):
        return all(map(entries.same_bits, kept, arrays))
    words = [[array.view(f"u{array.itemsize}") for array in pair] for pair in zip(kept, arrays, strict=False)]
    return bool(reduce(and_, [(x == y).all() for x, y in words]))  # the GPU is waited for once


def converted(S: Any) -> Matrix:
    """Converts a CSR or CSC of another library to ours, in float64; of duplicates the least counts."""
    S = S if S.dtype == np.float64 else S.astype(np.float64)
    indptr, indices, values = arrays_of(S)
    xp = namespace(values)
    if xp is np and indptr.dtype == indices.dtype and is_regular(indptr, indices, values):
        own: Any = CSR if S.format == "csr" else CSC
        return own.trusted(indptr, indices, values, S.shape)
    if bool(xp.isnan(values).any()):
        S = type(S)((xp.where(xp.isnan(values), np.inf, values), indices, indptr), shape=S.shape)
    A = from_scipy(S, dup="min")
    return A if A.major == 1 else compressed(A, 0)


def from_array(csgraph: Any) -> CSR:
    """Converts an array of two dimensions to CSR; 0, infinity, NaN and masked places are no edges."""
    G = csgraph if is_array(csgraph) else np.asarray(csgraph)
    if G.ndim != 2:
        raise ValueError("graph should have two dimensions")
    if G.shape[0] != G.shape[1]:
        raise ValueError("graph should be a square array")
    if G.dtype.kind not in "biufc":
        raise TypeError(f"graph should hold numbers, got an array of {G.dtype}")
    xp = namespace(G)
    if isinstance(G, np.ma.MaskedArray):
        values = np.asarray(G.data, np.float64)
        present = ~np.ma.getmaskarray(G)
    else:
        values = xp.asarray(G, np.float64)
        present = xp.isfinite(values) & (abs(values) > NEARLY_ZERO)
    u, v = present.nonzero()
    indptr = xp.zeros(G.shape[0] + 1, np.int32)
    indptr[1:] = present.sum(axis=1).cumsum()
    return CSR.trusted(indptr, v.astype(np.int32), values[u, v], G.shape)


def starts_of(n: int, indices: Any) -> tuple[np.ndarray, tuple[int, ...]]:
    """Returns the vertices to start from, and the shape that they were given in."""
    if indices is None:
        return np.arange(n, dtype=np.int32), (n,)
    given = np.array(to_device(indices, "cpu") if is_array(indices) else indices, np.int32)  # which SciPy says, too
    starts = given.ravel()
    if starts.size and starts.min() < 0:
        starts[starts < 0] += n
    if starts.size and not 0 <= starts.min() <= starts.max() < n:
        raise ValueError("indices out of range 0...N")
    return starts, given.shape


def by_rows(rows: Any, cols: Any, values: Any, n: int) -> tuple[Any, Any, Any]:
    """Returns indptr, indices and values of an (n, n) CSR of these entries."""
    xp = namespace(values)
    if xp is np:
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
    """Returns indptr, indices and values of those entries of A at which a Boolean vector is true."""
    xp = A.xp
    before = xp.zeros(A.nnz + 1, np.int32)
    xp.cumsum(kept, out=before[1:], dtype=np.int32)
    return before[A.indptr], A.indices[kept], A.values[kept]


def matrix_like(csgraph: Any, indptr: Any, indices: Any, values: Any) -> Any:
    """Makes a CSR of csgraph's library: a matrix where `csgraph` is one, else an array."""
    shape = (indptr.size - 1, indptr.size - 1)
    if not isinstance(values, np.ndarray):
        from cupyx.scipy.sparse import csr_matrix
    else:
        from scipy.sparse import csr_array, csr_matrix, isspmatrix

        if not isspmatrix(csgraph) and not isinstance(csgraph, np.matrix):
            return csr_array((values, indices, indptr), shape=shape)
    return csr_matrix((values, indices, indptr), shape=shape)


def as_held(A: Any, rows: Any, cols: Any, values: Any) -> tuple[Any, Any]:
    """Returns rows and columns of edges, exchanged where A does not have the edge with its value."""
    if A.place.on_host:
        return entries.held(A, rows, cols, values)
    here = values_at(A, rows, cols) == values
    return A.xp.where(here, rows, cols), A.xp.where(here, cols, rows)


def values_at(A: Matrix, rows: Any, cols: Any) -> Any:
    """Returns A's values at these places, infinity where it has none."""
    S: CSR = compressed(A, 0)
    if not S.nnz:
        return A.xp.full(rows.shape, np.inf)
    place = entry_places(S, rows, cols)
    found = S.values.take(place)
    found[place < 0] = np.inf
    return found


def as_predecessors(parent: Any) -> Any:
    """Writes parents, of which -1 stands for none, as SciPy does."""
    parent = parent.astype(np.int32, copy=False)
    parent += (parent < 0) * np.int32(NONE + 1)
    return parent


def origins(d: Any, parent: Any) -> Any:
    """Returns the starting point of each path, int32, by the distances and the parents."""
    xp = namespace(d)
    found = roots(xp.where(parent < 0, xp.arange(d.size, dtype=parent.dtype), parent)).astype(np.int32, copy=False)
    found[d == np.inf] = NONE
    return found
