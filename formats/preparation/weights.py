"""Weights put in order: each row's entries from the lightest to the heaviest, and weights as integer ranks.

Sorted by weight, a vertex's first neighbour outside its own component is the nearest one, so a round of Boruvka's
algorithm need not look at the others. Ranks are the numbers 0 .. k-1 of the k distinct weights: what compares weights
and does not add them (min-max, max-min, spanning trees) chooses the same edges by ranks, which are exact.

Floats are compared by their bits, as integers, so that both devices agree: CuPy's own arithmetic takes a subnormal
float32 for zero. -0.0 and 0.0 are one weight. Every step stays on the matrix's device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import (
    Array,
    DenseVector,
    as_values,
    check_not_nan,
    check_range,
    index_dtype,
    namespace,
    read_only,
    same_place,
)
from ..matrix.base import Matrix
from ..matrix.convert import convert
from ..places import at_home
from ..storage.compressed import CSR, expand, turn

M = TypeVar("M", bound=Matrix)


@dataclass(frozen=True, eq=False)
class NeighboursByWeight:
    """The entries of a matrix, those of row u at indptr[u] .. indptr[u+1]-1, from the lightest to the heaviest.

    Attributes:
        indptr: (nrows + 1,).
        indices: (nnz,), columns.
        values: (nnz,), weights, ascending in each row, equal ones by column.
        order: (nnz,); entry e here is entry order[e] of `A.to_edges()`, so indices = cols[order].

    Example:
        >>> from formats import by_weight, from_edges
        >>> by_weight(from_edges([0, 0], [1, 2], [9, 5])).indices.tolist()
        [2, 1]
    """

    indptr: Array
    indices: Array
    values: Array
    order: Array


@at_home
def by_weight(A: Matrix) -> NeighboursByWeight:
    """Every row's entries sorted by weight, equal ones by column; by_weight(A.T) sorts the columns'.

    Args:
        A: (nrows, ncols), any format.

    Returns:
        Arrays on A's device, with the permutation in `order`. They are no CSR, whose columns ascend.

    Example:
        >>> from formats import from_edges
        >>> N = by_weight(from_edges([0, 0, 0], [1, 2, 3], [9, 5, 7]))
        >>> N.indices.tolist(), N.values.tolist(), N.order.tolist()
        ([2, 3, 1], [5, 7, 9], [1, 2, 0])
    """
    rows: Any = A.to(CSR)
    xp = namespace(rows.values)
    index_type = rows.indices.dtype
    order = xp.argsort(ordinals(rows.values), kind="stable").astype(index_type, copy=False)
    whole = xp.asarray([0, rows.nnz], index_type)
    row = expand(rows.indptr)[order]
    indptr, _, order = turn(whole, row, order, (1, rows.nrows))  # one long row, sorted stably by what were rows
    return NeighboursByWeight(*map(read_only, (indptr, rows.indices[order], rows.values[order], order)))


@at_home
def to_ranks(A: M) -> tuple[M, DenseVector]:
    """A with each weight's rank among the distinct ones, 0 for the least.

    Args:
        A: (nrows, ncols), any format.

    Returns:
        (R, weights). R has A's pattern and format, int32 (int64 if the number of weights k needs it), and weights[R[u,
        v]] is A[u, v]. weights: (k,) of A.dtype, ascending, on A's device. -0.0 and 0.0 are one weight, 0.0.

    Example:
        >>> from formats import from_edges
        >>> R, weights = to_ranks(from_edges([0, 0, 1], [1, 2, 2], [9.5, 2.5, 9.5]))
        >>> R.values.tolist(), weights.tolist()
        ([1, 0, 1], [2.5, 9.5])
    """
    entries = _entries(A)
    ranks, weights = distinct(entries.values)
    return _like(entries.revalued(ranks), A), weights


@at_home
def from_ranks(R: M, weights: ArrayLike | Array) -> M:
    """The matrix with weights[R[u, v]] at (u, v): A of `to_ranks(A)`, to the last bit, but with 0.0 for -0.0.

    Args:
        R: integers, any format.
        weights: (k,), on R's device.

    Returns:
        A matrix in R's format and options.

    Raises:
        TypeError: R holds no integers.
        ValueError: a rank lies outside [0, k); the error names the first.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [1, 2, 2], [9.5, 2.5, 9.5])
        >>> from_ranks(*to_ranks(A)).equals(A)
        True
    """
    if R.dtype.kind != "i":
        raise TypeError(f"ranks must be integers, got a matrix of {R.dtype}")
    known = as_values(weights)
    check_not_nan(known)
    same_place(R.values, known)
    entries = _entries(R)
    check_range(entries.values, "ranks", int(known.size))
    return _like(entries.revalued(known[entries.values]), R)


def distinct(values: Array) -> tuple[Array, Array]:
    """Returns (ranks, weights): the distinct values, ascending, and each value's position among them."""
    xp = namespace(values)
    keys = ordinals(values)
    order = xp.argsort(keys, kind="stable")
    ascending = keys[order]
    first = xp.ones(values.size, bool)
    first[1:] = ascending[1:] != ascending[:-1]
    weights = values[order[first]]
    weights[ascending[first] == 0] = 0  # for -0.0
    ranks = xp.empty(values.size, index_dtype(int(weights.size)))
    ranks[order] = xp.cumsum(first) - 1
    return ranks, weights


def edge_keys(values: Array) -> Array:
    """One int64 for each edge, (weight, number of the edge): keys compare by weight first, and are all different.

    values: (m,) weights.  OverflowError from 2^32 - 1 edges on. `edge_numbers` gives the numbers back.
    """
    if values.size >= 2**32 - 1:
        raise OverflowError(f"edges are numbered in 32 bits: there are {values.size:,}, and may be {2**32 - 2:,}")
    narrow = values.dtype.itemsize <= 4
    keys = (ordinals(values) if narrow else distinct(values)[0]).astype(np.int64)
    if not narrow:
        keys -= 2**31  # ranks of as many as 2^32 weights
    keys <<= 32
    keys += namespace(values).arange(values.size)
    return keys


def edge_numbers(keys: Array) -> Array:
    """The numbers of the edges in their keys."""
    return keys & 0xFFFFFFFF


def ordinals(values: Array) -> Array:
    """Integers that compare as the values do: their own, or of floats the bits, with 0 for both zeros."""
    if values.dtype.kind != "f":
        return values
    bits = values.view(np.dtype(f"i{values.dtype.itemsize}"))
    magnitude = bits & np.iinfo(bits.dtype).max
    return namespace(bits).where(bits < 0, -magnitude, bits)


def _entries(A: Matrix) -> Matrix:
    """A itself, or the compressed form of a format that has places for what is absent: one value for each entry."""
    if A.values.shape == (A.nnz,):
        return A
    return A.to(CSR) if A.major == 0 else A.T.to(CSR).T


def _like(B: Matrix, A: M) -> M:
    """B in the format, orientation and options of A."""
    made: Any = convert(B, type(A), **A.options) if A.major == 0 else convert(B.T, type(A.T), **A.options).T
    return made
