"""Kronecker products and unions with values for what is absent: array programs that NumPy and CuPy both run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from formats import CSR, SparseVector
from formats.arrays import Array, differs, index_dtype, namespace, to_device
from formats.storage.compressed import expand, spread

from ..algebra.ops import BinaryOp, find_op
from ..algebra.semirings import Monoid
from ..verbs import merge, steps
from ..verbs.composed import ewise_union, kronecker
from ..verbs.masks import MatrixWrite, VectorWrite
from ..verbs.registry import Vector

Combiner = Monoid | BinaryOp

BLOCK = 1 << 26
"""Entries of a Kronecker product that are computed at a time."""


@kronecker.implement(CSR, "cpu", "cuda")
def _(A: CSR, B: CSR, op: Combiner, zero: Any, write: MatrixWrite) -> CSR:
    if zero is not None:
        A, B = (steps.kept(M, differs(M.values, zero)) for M in (A, B))  # type: ignore[assignment]
    if A.place.on_host:
        from ..cpu.kronecker import product

        return write(product(A, B, op, write.dtype))
    return write(kronecker_by_arrays(A, B, op, write.dtype))


def kronecker_by_arrays(A: CSR, B: CSR, op: Combiner, dtype: np.dtype) -> CSR:
    """Row by row: a row of C is, for each entry of a row of A, a row of B."""
    xp, shape, nnz = A.xp, (A.nrows * B.nrows, A.ncols * B.ncols), A.nnz * B.nnz
    index = index_dtype(*shape, nnz)
    a_lengths, b_lengths = xp.diff(A.indptr).astype(index), xp.diff(B.indptr).astype(index)
    indptr = xp.zeros(shape[0] + 1, index)
    xp.cumsum((a_lengths[:, None] * b_lengths).reshape(-1), out=indptr[1:])
    indices, values = xp.empty(nnz, index), xp.empty(nnz, dtype)
    filled = xp.flatnonzero(b_lengths)
    b_starts, b_lengths, width = B.indptr[filled].astype(np.int64), b_lengths[filled], index.type(B.ncols)
    for start, stop, first, last in _blocks(A, B.nnz):
        at_a, of_b = _runs(A.indptr[start : stop + 1], filled.size)
        runs = xp.zeros(of_b.size + 1, np.int64)
        xp.cumsum(b_lengths[of_b], out=runs[1:])
        at = xp.arange(last - first) + spread(b_starts[of_b] - runs[:-1], runs)
        indices[first:last] = B.indices[at] + spread(A.indices[at_a].astype(index) * width, runs)
        values[first:last] = op(spread(A.values[at_a], runs), B.values[at])
    return CSR.trusted(indptr, indices, values, shape)


def _blocks(A: CSR, each: int) -> Iterator[tuple[int, int, int, int]]:
    """Rows [start, stop) of `A` and the entries [first, last) that they make, `each` of an entry of `A`."""
    most = max(1, BLOCK // max(each, 1))
    if A.nnz <= most:
        yield 0, A.nrows, 0, A.nnz * each
        return
    indptr = to_device(A.indptr, "cpu")
    start = 0
    while start < A.nrows:
        begin = int(indptr[start])
        stop = max(start + 1, int(np.searchsorted(indptr, begin + most, side="right")) - 1)
        yield start, stop, begin * each, int(indptr[stop]) * each
        start = stop


def _runs(indptr: Array, times: int) -> tuple[Array, Array]:
    """Lists the entries of some rows, each row `times` times over, and the number of the repetition."""
    xp, begins = namespace(indptr), indptr.astype(np.int64)
    ends = (begins - begins[0]) * times
    row = expand(ends)
    offset, length = xp.arange(row.size) - ends[row], xp.diff(begins)[row]
    return begins[row] + offset % length, offset // length


# --- unions ---------------------------------------------------------------------------------------------------------


@ewise_union.implement(CSR, "cpu", "cuda")
def _(A: CSR, alpha: Any, B: CSR, beta: Any, op: Combiner, write: MatrixWrite) -> CSR:
    if A.place.on_host:
        from ..cpu.unions import union

        return write(union(A, alpha, B, beta, op))
    return write(union_by_filling(A, alpha, B, beta, op))


def union_by_filling(A: CSR, alpha: Any, B: CSR, beta: Any, op: Combiner) -> CSR:
    """Each filled where only the other has an entry: then both have one pattern."""
    left, right = _filled(A, B, alpha), _filled(B, A, beta)
    return CSR.trusted(left.indptr, left.indices, op(left.values, right.values), A.shape)


def _filled(A: CSR, B: CSR, value: Any) -> CSR:
    """`A` with the value where only `B` has an entry."""
    return steps.united(A, B.revalued(A.xp.full(B.nnz, value, A.dtype)), find_op("first"))


@ewise_union.implement(Vector, "cpu", "cuda")
def _(u: Any, alpha: Any, v: Any, beta: Any, op: Combiner, zero: Any, write: VectorWrite) -> Any:
    if isinstance(u, SparseVector) and isinstance(v, SparseVector):
        first, xp = find_op("first"), u.place.xp
        u, v = merge.drop(u, zero), merge.drop(v, zero)
        indices, left = merge.union_keys(u.indices, u.values, v.indices, xp.full(v.nnz, alpha, u.dtype), first)
        _, right = merge.union_keys(v.indices, v.values, u.indices, xp.full(u.nnz, beta, v.dtype), first)
        return write(merge.drop(SparseVector.trusted(indices, op(left, right), u.size), zero))
    (left, in_left), (right, in_right) = _present(u, alpha, zero), _present(v, beta, zero)
    xp = namespace(left)
    w = merge.of_all(op, left, right)
    w = w if in_left is None or in_right is None else xp.where(in_left | in_right, w, write.zero)
    return write(w if isinstance(op, Monoid) else op.checked(w))


def _present(u: Any, value: Any, zero: Any) -> tuple[Array, Array | None]:
    """Returns the vector with `value` where it is absent, and flags of where it is present; None for everywhere."""
    if isinstance(u, SparseVector):
        flags, u = u.place.xp.zeros(u.size, bool), merge.drop(u, zero)
        flags[u.indices] = True
        return u.to_dense(value), flags
    if zero is None:
        return u, None
    flags = differs(u, zero)
    return namespace(u).where(flags, u, value), flags
