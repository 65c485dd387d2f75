"""Integer sums that may leave the dtype on the way: computed exactly, then clamped.

min and max of clamped values are the clamped min and max, but sums are not: with both signs, a running sum that stops
at the end of the range gives an answer that depends on the order. So where bounds say that a ⊕ = plus product could
leave the dtype, the sum is exact, in int64 or, where that could overflow too, in Python's integers, and the result is
clamped. The same holds for ⊕ = times, whose bounds leave any dtype after a few factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import Matrix, SparseVector

from ..algebra.ops import Interval
from ..algebra.semirings import Semiring
from .plain import is_shipped
from .ranges import exact_bounds, fits_dtype, interval, matrix_interval, most_terms


def needed(A: Matrix, x: np.ndarray | SparseVector, semiring: Semiring) -> bool:
    """True if ⊕ over the products could leave A's integer dtype on the way."""
    if semiring.add.op.saturating is None or A.dtype.kind != "i":
        return False
    return not _stays_within(A.dtype, A, x, semiring)


def _edges(A: Matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns rows, columns and values in any order."""
    listed = A.coordinates()
    if listed is None or listed[2] is not None:
        return A.to_edges()
    majors, minors, _ = listed
    return (majors, minors, A.values) if A.major == 0 else (minors, majors, A.values)


def sums_stay_within(dtype: np.dtype, A: Matrix, B: Matrix, semiring: Semiring) -> bool:
    """True if no sum in a product of two matrices, and no part of one, leaves the range of `dtype`."""
    if semiring.add.name != "plus" or not is_shipped(semiring):
        return False
    zero = semiring.zero(A.dtype)
    intervals = matrix_interval(A, zero), matrix_interval(B, zero)
    return fits_dtype(exact_bounds(semiring, *intervals, most_terms(A)), dtype)


def _stays_within(dtype: np.dtype, A: Matrix, x: np.ndarray | SparseVector, semiring: Semiring) -> bool:
    return semiring.add.name == "plus" and fits_dtype(_bounds(A, x, semiring), dtype)


def _bounds(A: Matrix, x: np.ndarray | SparseVector, semiring: Semiring) -> Interval:
    zero = semiring.zero(A.dtype)
    values = x.values if isinstance(x, SparseVector) else x
    return exact_bounds(semiring, matrix_interval(A, zero), interval(values, zero), most_terms(A))


def product(A: Matrix, x: np.ndarray | SparseVector, semiring: Semiring, matrix_first: bool) -> Any:
    """A ⊗ x or x ⊗ A with ⊕ = plus or times: exact, then clamped to A's dtype. Dense or sparse as `x` is."""
    zero, ufunc = semiring.zero(A.dtype), semiring.add.op.array
    assert isinstance(ufunc, np.ufunc)
    rows, cols, values = _edges(A)
    dense = x.to_dense(zero) if isinstance(x, SparseVector) else x
    to, at = (rows, cols) if matrix_first else (cols, rows)
    wide = np.int64 if _stays_within(np.dtype(np.int64), A, x, semiring) else object
    left, right = values.astype(wide), dense.astype(wide)[at]
    multiply = semiring.mul if wide is np.int64 else np.frompyfunc(semiring.mul.unbounded, 2, 1)
    terms = multiply(left, right) if matrix_first else multiply(right, left)
    absent = dense[at] == zero
    terms[absent if semiring.mul.reads == "" else absent | (values == zero)] = int(zero)
    sums = np.full(A.shape[0 if matrix_first else 1], int(zero), wide)
    ufunc.at(sums, to, terms)
    info = np.iinfo(A.dtype)
    y = np.clip(sums, info.min, info.max).astype(A.dtype)
    return SparseVector.from_dense(y, zero) if isinstance(x, SparseVector) else y
