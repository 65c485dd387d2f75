"""Integer sums that may leave the dtype on the way: computed exactly, then clamped.

min and max of clamped values are the clamped min and max, but sums are not: with both signs, a running sum that stops at
the end of the range gives an answer that depends on the order. So where bounds say that a ⊕ = plus product could leave
the dtype, the sum is exact, in int64 or, where that could overflow too, in Python's integers, and the result is clamped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import Matrix, SparseVector

from ..algebra import Semiring
from ..ops import Interval
from .ranges import exact_bounds, interval, longest, matrix_interval, within


def needed(A: Matrix, x: np.ndarray | SparseVector, semiring: Semiring) -> bool:
    """Could a sum of products leave A's integer dtype?"""
    if semiring.add.name != "plus" or A.dtype.kind != "i":
        return False
    return not within(_bounds(A, x, semiring), A.dtype)


def _bounds(A: Matrix, x: np.ndarray | SparseVector, semiring: Semiring) -> Interval:
    zero = semiring.zero(A.dtype)
    values = x.values if isinstance(x, SparseVector) else x
    return exact_bounds(semiring, matrix_interval(A, zero), interval(values, zero), longest(A))


def product(A: Matrix, x: np.ndarray | SparseVector, semiring: Semiring, matrix_first: bool) -> Any:
    """A ⊗ x or x ⊗ A with ⊕ = plus: exact sums, clamped to A's dtype. Dense or sparse as `x` is."""
    rows, cols, values = A.to_edges()
    dense = x.to_dense() if isinstance(x, SparseVector) else x
    to, at = (rows, cols) if matrix_first else (cols, rows)
    wide = np.int64 if within(_bounds(A, x, semiring), np.dtype(np.int64)) else object
    left, right = values.astype(wide), dense.astype(wide)[at]
    multiply = semiring.mul if wide is np.int64 else np.frompyfunc(semiring.mul.scalar, 2, 1)
    terms = multiply(left, right) if matrix_first else multiply(right, left)
    absent = dense[at] == 0
    terms[absent if semiring.mul.reads == "" else absent | (values == 0)] = 0
    sums = np.zeros(A.shape[0 if matrix_first else 1], wide)
    np.add.at(sums, to, terms)
    info = np.iinfo(A.dtype)
    y = np.clip(sums, info.min, info.max).astype(A.dtype)
    return SparseVector.from_dense(y, A.dtype.type(0)) if isinstance(x, SparseVector) else y
