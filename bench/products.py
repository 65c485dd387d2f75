"""Expected products, by the array library alone, and the two of other libraries that ours are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import Array, namespace
from formats.matrix.facts import Fact

from .measure import Contender

BARE = "bare python-graphblas"
CUSPARSE = "cuSPARSE plus-times"
SUM_TOLERANCE = 1e-4


IMPORTED: Fact[Any] = Fact("GraphBLAS matrix as a user makes it")


def min_plus(A: CSR, x: Array, transposed: bool = False) -> Array:
    """y_i = min_k (a_ik + x_k), or y_k = min_i (x_i + a_ik). No sum may leave the range."""
    xp = namespace(x)
    sources, targets = (rows_of(A), A.indices) if transposed else (A.indices, rows_of(A))
    absent = np.inf if A.dtype.kind == "f" else np.iinfo(A.dtype).max
    y = xp.full(A.shape[1 if transposed else 0], absent, A.dtype)
    xp.minimum.at(y, targets, A.values + x[sources])
    return y


def plus_times(A: CSR, x: Array) -> Array:
    """y_i = Σ_k a_ik x_k, summed in float64, as A's dtype."""
    xp = namespace(x)
    products = A.values.astype(np.float64) * x[A.indices]
    return xp.bincount(rows_of(A), weights=products, minlength=A.nrows).astype(A.dtype)


def rows_of(A: CSR) -> Array:
    """The row of every entry: the last one that starts at it or before."""
    xp = namespace(A.indptr)
    return xp.searchsorted(A.indptr, xp.arange(A.nnz, dtype=A.indptr.dtype), side="right") - 1


def bare(A: CSR, x: np.ndarray, fill: Any) -> np.ndarray:
    """Min-plus as a user of python-graphblas writes it; the matrix is imported once. It knows no absent value of x."""
    import graphblas as gb

    M = A.keep(IMPORTED, A.to_graphblas)
    return M.mxv(gb.Vector.from_dense(x), gb.semiring.min_plus).new().to_dense(fill, dtype=A.dtype)


def cusparse(A: CSR, x: Array) -> Contender:
    """`csr_matrix @ x`, as a user of CuPy calls it, on A's arrays: over plus-times, since cuSPARSE has no other."""
    from cupyx.scipy.sparse import csr_matrix

    M = csr_matrix((A.values, A.indices, A.indptr), shape=A.shape)
    return Contender(CUSPARSE, lambda: M @ x, plus_times(A, x), SUM_TOLERANCE, device="cuda", batched=True)
