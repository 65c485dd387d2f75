"""Small functions on vectors that algorithms are written with; each works on any device and costs no hidden copy."""

from __future__ import annotations

import operator
from typing import Any

from formats import Matrix, SparseVector
from formats.arrays import Array, index_dtype, namespace

from .algebra import Semiring, end_of_range

VectorLike = Array | SparseVector


def unit(A: Matrix, source: int, semiring: Semiring) -> SparseVector:
    """e_s: the unit of ⊗ at `source`, absent elsewhere.

    Of A's dtype, or bool for a Boolean semiring. ValueError for a matrix that is not square or a source outside it.
    """
    if A.nrows != A.ncols:
        raise ValueError(f"a graph needs a square matrix, got shape {A.shape}")
    s = operator.index(source)
    if not 0 <= s < A.nrows:
        raise ValueError(f"source must be in [0, {A.nrows}), got {s}")
    dtype = A.dtype if A.dtype in semiring.dtypes else semiring.dtypes[0]
    xp = namespace(A.values)
    return SparseVector.trusted(xp.array([s], index_dtype(A.nrows)), xp.array([semiring.unit(dtype)], dtype), A.nrows)


def densified(v: SparseVector, semiring: Semiring) -> Array:
    """The vector as a dense array, absent entries as the semiring's zero."""
    return v.to_dense(semiring.zero(v.dtype))


def vertices(v: SparseVector) -> SparseVector:
    """The present indices of `v`, each with itself as its value."""
    return SparseVector.trusted(v.indices, v.indices, v.size)


def all_vertices(A: Matrix) -> Array:
    """The dense vector 0, 1, …, n-1."""
    return namespace(A.values).arange(A.nrows, dtype=index_dtype(A.nrows))


def full(like: Array, fill: Any, dtype: Any) -> Array:
    """A dense vector of `fill` with the length and on the device of `like`."""
    return namespace(like).full(like.shape, fill, dtype)


def is_empty(v: SparseVector) -> bool:
    """Has `v` no entries? Waits for the device."""
    return v.nnz == 0


def at_the_end(value: Any, semiring: Semiring) -> bool:
    """Is `value` the best of its dtype in ⊕'s order: where a ⊗ that kept improving has stopped?"""
    best = {"highest": "lowest", "lowest": "highest"}.get(semiring.add.identity)  # type: ignore[arg-type]
    return best is not None and value == end_of_range(value.dtype, best)


def present(x: Array, semiring: Semiring) -> SparseVector:
    """The entries of a dense vector that are not the semiring's zero."""
    return SparseVector.from_dense(x, semiring.zero(x.dtype))


def where(flags: Array) -> SparseVector:
    """The indices at which a boolean vector is true, each with itself as its value."""
    return vertices(SparseVector.from_dense(flags, False))


def with_root(parent: Array) -> Array:
    """Parents of n + 1 vertices: vertex n is the parent of all that had none (-1), and of itself."""
    xp, n = namespace(parent), parent.size
    rooted = xp.full(n + 1, n, parent.dtype)
    rooted[:n] = xp.where(parent < 0, n, parent)
    return rooted
