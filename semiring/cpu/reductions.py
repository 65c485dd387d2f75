"""reduce on the CPU, and ⊕ over many values: whole arrays, and runs of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import COO, Dense, Matrix, SparseVector
from formats.arrays import index_dtype

from ..algebra.ops import OPERATORS
from ..algebra.semirings import MONOIDS, Monoid, Semiring
from ..verbs.arguments import present_value
from ..verbs.masks import VectorWrite
from ..verbs.registry import Vector
from ..verbs.verbs import mxv, reduce, reduce_lines, vxm
from .storage import STORED
from .threads import cut, cut_evenly, get_threads, run

MIN_COMPILED_RUNS = 1 << 12
"""Minimum runs for a compiled loop to pay."""

COLUMNS_PER_THREAD = 64
"""Columns of a matrix with all positions that a thread takes at least, where it goes down them."""

MAX_PLACES_PER_ENTRY = 4
"""Places for an entry up to which a format's own storage is folded, not its kept rows."""


@reduce.implement(Vector, "cpu")
def _(u: Any, monoid: Monoid) -> Any:
    return fold(monoid, u.values if isinstance(u, SparseVector) else u)


@reduce.implement(Matrix, "cpu")
def _(A: Matrix, monoid: Monoid, axis: int | None, write: VectorWrite) -> Any:
    if axis is None and monoid.selective and type(A) in STORED and type(A).stored is not Matrix.stored:
        return fold(monoid, reduce(A, monoid, axis=0 if A.major else 1))  # without a copy of the entries alone
    if axis is None:
        whole, *others = A.stored_parts
        return fold(monoid, np.array([fold(monoid, part) for part in (whole, *others)]) if others else whole)
    if isinstance(A, COO) and A.major != axis:
        outer, y = A.outer, np.full(A.shape[1 - axis], monoid.zero(A.dtype), A.dtype)
        starts = np.flatnonzero(np.concatenate((np.ones(min(outer.size, 1), bool), outer[1:] != outer[:-1])))
        if starts.size:
            y[outer[starts]] = fold_runs(monoid, np.ascontiguousarray(A.values), starts)
        return write(y)
    together = A.line_ends is not None and A.major != axis
    exact = monoid.selective or A.dtype.kind != "f"  # sums of floats have an order
    if not together and exact and type(A) in STORED and A.values.size <= MAX_PLACES_PER_ENTRY * A.nnz:
        return _as_product(A, monoid, axis, write)
    # where a result's entries do not lie together, by kept rows or columns, in which they do
    rows: Any = A if together else reduce.rows_of(A, 1 - axis)
    return write(fold_rows(monoid, np.ascontiguousarray(rows.values), rows.indptr))


@reduce_lines.implement(Matrix, "cpu")
def _(A: Matrix, monoid: Monoid, axis: int) -> tuple[np.ndarray, np.ndarray]:
    from .folds import finding, finding_across

    dtype, size = A.dtype, A.shape[1 - axis]
    y, k = np.empty(size, dtype), np.empty(size, index_dtype(A.shape[axis]))
    if isinstance(A, Dense) and A.major == axis:
        down = finding_across(monoid, dtype)
        each = -(-size // (get_threads() * COLUMNS_PER_THREAD)) * COLUMNS_PER_THREAD
        run(lambda *piece: down(A.values, A.fill, y, k, *piece), cut(size, each, A.values.size))
        return y, k
    if isinstance(A, Dense):
        values, fill, columns = A.values.reshape(-1), A.fill, np.empty(0, k.dtype)
        ends = np.arange(size + 1) * A.shape[axis]
    else:
        lines: Any = reduce.rows_of(A, 1 - axis)
        values, fill, columns, ends = np.ascontiguousarray(lines.values), dtype.type(0), lines.indices, lines.indptr
    along = finding(monoid, dtype, isinstance(A, Dense))
    run(lambda *piece: along(values, fill, columns, ends, y, k, *piece), cut_evenly(ends))
    return y, k


def _as_product(A: Matrix, monoid: Monoid, axis: int, write: VectorWrite) -> Any:
    """A ⊗ x or x ⊗ A in A's own storage, where ⊗ gives A's value and x is present everywhere."""
    s = Semiring(monoid, OPERATORS["first" if axis == 1 else "second"], dtypes=monoid.dtypes)
    x = np.full(A.shape[axis], present_value(monoid, A.dtype), A.dtype)
    if axis == 1:
        return mxv.find(type(A), "cpu")(A, x, s, write)
    return vxm.find(type(A), "cpu")(x, A, s, write)


def fold(monoid: Monoid, values: np.ndarray) -> Any:
    """⊕ over all `values`, a scalar of their dtype; the identity if there are none."""
    if values.size == 0:
        return monoid.zero(values.dtype)
    return fold_runs(monoid, values, np.zeros(1, np.intp))[0]


def fold_rows(monoid: Monoid, values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """⊕ over each row, of which `indptr` has the ends; the identity for an empty one."""
    if _has_loop(monoid, values, indptr.size):
        return _folded(monoid, values, indptr)
    y = np.full(indptr.size - 1, monoid.zero(values.dtype), values.dtype)
    filled = np.flatnonzero(np.diff(indptr))
    if filled.size:
        y[filled] = fold_runs(monoid, values, indptr[filled])
    return y


def fold_runs(monoid: Monoid, values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """⊕ over each run of `values` that begins at `starts`; no run is empty.

    Integer sums and products are exact and clamped at the end. NumPy takes 60 ns a run, and nothing to compile.
    """
    dtype = values.dtype
    if _has_loop(monoid, values, starts.size):
        return _folded(monoid, values, np.append(starts, values.size))
    if monoid.op.saturating is not None and dtype.kind == "i":
        if monoid.name != "plus" or not _sums_fit(values):
            return _clamped(monoid.op.array.reduceat(values.astype(object), starts), dtype)  # type: ignore[union-attr]
        return _clamped(_integer_sums(values, starts), dtype)
    if isinstance(monoid.op.array, np.ufunc):
        return monoid.op.array.reduceat(values, starts).astype(dtype, copy=False)
    return _halved_runs(monoid, values, starts)


def _has_loop(monoid: Monoid, values: np.ndarray, runs: int) -> bool:
    """True if there is a compiled loop for the monoid, and it pays for so many runs."""
    if runs < MIN_COMPILED_RUNS or monoid.name == "times" or MONOIDS.get(monoid.name) != monoid:
        return False
    return monoid.op.saturating is None or values.dtype.kind != "i" or _sums_fit(values)


def _sums_fit(values: np.ndarray) -> bool:
    """True if int64 holds every sum of some of the integers."""
    if values.dtype == np.int32:  # of fewer than 2^31 each less than 2^31
        return values.size < 2**31
    return values.size == 0 or max(-int(values.min()), int(values.max())) * values.size < 2**62


def _integer_sums(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The sum of each run, in int64."""
    if starts.size == 1:
        return np.add.reduce(values[int(starts[0]) :], dtype=np.int64, keepdims=True)
    return np.add.reduceat(values, starts, dtype=np.int64)


def _clamped(exact: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Integers of a wider type as those of `dtype`, at its ends where they are beyond."""
    info = np.iinfo(dtype)
    return np.clip(exact, info.min, info.max).astype(dtype)


def _folded(monoid: Monoid, values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """⊕ over runs, compiled, each thread its runs; floating sums in the order in which NumPy adds.

    That order is one of blocks where a run is long: NumPy does these.
    """
    from .folds import PAIRWISE, folding

    y = np.empty(ends.size - 1, values.dtype)
    fold_piece = folding(monoid, values.dtype)
    run(lambda *piece: fold_piece(values, ends, y, *piece), cut_evenly(ends))
    if monoid.name == "plus" and values.dtype.kind == "f":
        long = np.flatnonzero(np.diff(ends) > PAIRWISE)
        between = np.stack((ends[long], ends[long + 1]), 1).reshape(-1)
        if long.size:
            y[long] = np.add.reduceat(values, between[between < values.size])[::2]
    return y


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
