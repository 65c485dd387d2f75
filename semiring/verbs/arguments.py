"""Which term gave each element of a product: `return_argument` of mxv, vxm, mxm and reduce, as array programs.

Of y_i = ⊕_k t_k, where ⊕ selects, the argument is the smallest k with t_k = y_i, and -1 where y_i is the zero. Whoever
computes products may find it on the way; what is here finds it afterwards, from the entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR, Matrix
from formats.arrays import Array, astype, concatenated, differs, equals, index_dtype, namespace
from formats.storage.compressed import expand

from ..algebra.semirings import Monoid, Semiring

NONE = -1
"""The argument of an element that no term gave."""

BATCH = 1 << 22
"""Terms of a product of sparse matrices that are held at a time."""


def check_argument(monoid: Monoid, accum: Any) -> None:
    """TypeError unless ⊕ selects one of its terms, ValueError with an accumulator."""
    if not monoid.selective:
        raise TypeError(
            f"return_argument needs an ⊕ that selects one of its terms, as min, max, any, lor and land do: an element "
            f"of {monoid.name} comes of all of them"
        )
    if accum is not None:
        raise ValueError(
            "return_argument takes no accum, for what out held came of no term: take the product without out, and "
            "combine them then"
        )


def present_value(monoid: Monoid, dtype: np.dtype) -> Any:
    """A value that is not the monoid's zero."""
    return dtype.type(0) if monoid.zero(dtype) != dtype.type(0) else dtype.type(1)


def of_products(A: Matrix, X: Array, Y: Array, semiring: Semiring, matrix_first: bool) -> Array:
    """Finds (m, columns) of A ⊗ X = Y, or with `matrix_first` False of x ⊗ a, from A's entries, column by column."""
    rows, cols, values = A.to_edges()
    found = A.xp.full(Y.shape, NONE, index_dtype(A.ncols))
    for j in range(X.shape[1]):
        gives = _gives(values, X[:, j][cols], Y[:, j][rows], semiring, matrix_first)
        found[:, j] = _smallest(rows[gives], cols[gives], *A.shape)
    return found


def _gives(a: Array, b: Array, y: Array, s: Semiring, matrix_first: bool, *, patterns: bool = False) -> Array:
    """True for each term that is y.  patterns: both a and b are entries of matrices."""
    zero = s.zero(y.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = s.mul.computed(a, b) if matrix_first else s.mul.computed(b, a)
    gives = equals(astype(terms, y.dtype), y) & differs(y, zero)
    if s.mul.reads != "":
        gives &= differs(a, zero)
    if s.mul.reads != "" or not patterns:
        gives &= differs(b, zero)
    return gives


def _smallest(lines: Array, others: Array, size: int, extent: int) -> Array:
    """The smallest number that is listed with each line; NONE for a line that is not listed."""
    xp = namespace(lines)
    if size * extent >= 2**63:
        raise OverflowError(f"the positions of a {size}×{extent} matrix do not fit 64 bits")
    keys = xp.sort(lines.astype(np.int64) * extent + others)
    found = xp.full(size, NONE, index_dtype(extent))
    if keys.size:
        own = keys // extent
        first = xp.flatnonzero(xp.concatenate((xp.ones(1, bool), own[1:] != own[:-1])))
        found[own[first]] = (keys[first] % extent).astype(found.dtype)
    return found


def of_sparse_products(A: CSR, B: CSR, C: CSR, semiring: Semiring) -> CSR:
    """The argument of each entry of C = A ⊗ B, in a CSR of C's pattern: from the terms of some rows at a time."""
    xp = A.xp
    flops = xp.zeros(A.nnz + 1, np.int64)
    flops[1:] = xp.cumsum(xp.diff(B.indptr)[A.indices])
    before = flops[A.indptr]  # the terms of the rows above each
    host = before.get() if hasattr(before, "get") else before
    parts, start = [], 0
    while start < A.nrows:
        stop = max(start + 1, int(np.searchsorted(host, host[start] + BATCH, side="right")) - 1)
        parts.append(_of_rows(A, B, C, semiring, start, stop))
        start = stop
    found = concatenated(parts) if parts else xp.empty(0, index_dtype(A.ncols))
    return CSR.trusted(C.indptr, C.indices, found, C.shape)


def _of_rows(A: CSR, B: CSR, C: CSR, semiring: Semiring, start: int, stop: int) -> Array:
    """Likewise of the rows start … stop - 1, as an array."""
    xp = A.xp
    (first, last), (own, end) = ((int(M.indptr[start]), int(M.indptr[stop])) for M in (A, C))
    inner, rows = A.indices[first:last], expand(A.indptr[start : stop + 1] - A.indptr[start])
    lengths = xp.diff(B.indptr)[inner]
    ends = xp.zeros(inner.size + 1, np.int64)
    ends[1:] = xp.cumsum(lengths)
    entry = expand(ends)  # of A, for each term
    at = xp.arange(entry.size) - ends[entry] + B.indptr[inner[entry]]
    wanted = rows[entry].astype(np.int64) * C.ncols + B.indices[at]
    there = expand(C.indptr[start : stop + 1] - C.indptr[start]).astype(np.int64) * C.ncols + C.indices[own:end]
    if not there.size:
        return xp.empty(0, index_dtype(A.ncols))
    place = xp.minimum(xp.searchsorted(there, wanted), there.size - 1)
    gives = there[place] == wanted  # C may be masked
    a, b, y = A.values[first:last][entry], B.values[at], C.values[own:end][place]
    gives &= _gives(a, b, y, semiring, True, patterns=True)
    return _smallest(place[gives], inner[entry][gives], there.size, A.ncols)
