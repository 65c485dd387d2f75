"""Kronecker products and unions with values for what is absent: array programs that NumPy and CuPy both run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import Array, differs, index_dtype, namespace, to_device
from formats.storage.compressed import expand, spread

from ..algebra.ops import BinaryOp
from ..algebra.semirings import Monoid
from ..verbs import steps
from ..verbs.composed import kronecker
from ..verbs.masks import MatrixWrite

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
    """(which entry, which time) of the entries of some rows in order, those of each row so many times."""
    xp, begins = namespace(indptr), indptr.astype(np.int64)
    ends = (begins - begins[0]) * times
    row = expand(ends)
    offset, length = xp.arange(row.size) - ends[row], xp.diff(begins)[row]
    return begins[row] + offset % length, offset // length
