"""reduce on the CPU, and ⊕ over many values: whole arrays, and runs of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import COO, CSC, CSR, CompressedCSR, Matrix, SparseVector
from formats.convert import compressed, expand

from ..algebra import Monoid
from ..masks import VectorWrite
from ..registry import Vector
from ..verbs import reduce


@reduce.implement(Vector, "cpu")
def _(u: Any, monoid: Monoid) -> Any:
    return fold(monoid, u.values if isinstance(u, SparseVector) else u)


@reduce.implement(Matrix, "cpu")
def _(A: Matrix, monoid: Monoid, axis: int | None, write: VectorWrite) -> Any:
    if axis is None:
        return fold(monoid, A.stored)
    outer: np.ndarray
    if not isinstance(A, CSR | CSC | CompressedCSR | COO) or A.major == axis:  # a result's do not lie together
        rows: Any = compressed(A, 1 - axis)
        outer, values = expand(rows.indptr), rows.values
    else:
        grouped: Any = A
        outer, values = grouped.outer if isinstance(A, COO) else expand(grouped.indptr), A.values
    y = np.full(A.shape[1 - axis], monoid.zero(A.dtype), A.dtype)
    starts = np.flatnonzero(np.concatenate((np.ones(min(outer.size, 1), bool), outer[1:] != outer[:-1])))
    if starts.size:
        y[outer[starts]] = fold_runs(monoid, np.ascontiguousarray(values), starts)
    return write(y)


def fold(monoid: Monoid, values: np.ndarray) -> Any:
    """⊕ over all `values`, a scalar of their dtype; the identity if there are none."""
    if values.size == 0:
        return monoid.zero(values.dtype)
    return fold_runs(monoid, values, np.zeros(1, np.intp))[0]


def fold_runs(monoid: Monoid, values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """⊕ over each run of `values` that begins at `starts`; no run is empty.

    Integer sums and products are exact and clamped at the end.
    """
    dtype = values.dtype
    if monoid.op.saturating is not None and dtype.kind == "i":
        return _exact_runs(monoid, values, starts)
    if isinstance(monoid.op.array, np.ufunc):
        return monoid.op.array.reduceat(values, starts).astype(dtype, copy=False)
    return _halved_runs(monoid, values, starts)


def _exact_runs(monoid: Monoid, values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Integer plus or times: in int64 if a bound allows it, else in Python's integers; clamped to the dtype."""
    dtype, info = values.dtype, np.iinfo(values.dtype)
    assert isinstance(monoid.op.array, np.ufunc)
    largest = float(np.abs(values.astype(np.float64)).max())
    fits = monoid.name == "plus" and largest * values.size < 2.0**62
    exact = monoid.op.array.reduceat(values.astype(np.int64 if fits else object), starts)
    return np.clip(exact, info.min, info.max).astype(dtype)


def _halved_runs(monoid: Monoid, values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """A monoid that NumPy has no reduction for: neighbours combine until each run is one value."""
    run = np.repeat(np.arange(starts.size), np.diff(np.append(starts, values.size)))
    while values.size > starts.size:
        first_of_pair = (np.arange(values.size) - starts[run]) % 2 == 0
        pairs = np.flatnonzero(first_of_pair[:-1] & (run[1:] == run[:-1]))
        merged = values.copy()
        merged[pairs] = monoid(values[pairs], values[pairs + 1])
        values, run = merged[first_of_pair], run[first_of_pair]
        starts = np.flatnonzero(np.concatenate((np.ones(1, bool), run[1:] != run[:-1])))
    return values
