"""Products of sparse matrices by expansion, sorting and folding, as cuSPARSE's third algorithm and CUSP do it.

Every product a_ik ⊗ b_kj becomes an entry with its position; entries are sorted by position, and entries of one
position are folded in order. Rows of A come in batches whose products fit in memory.

[1] S. Dalton, L. Olson, N. Bell, Optimizing sparse matrix-matrix multiplication for the GPU, ACM TOMS 41(4), 2015.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import Array, cupy, differs, index_dtype
from formats.storage.compressed import expand

from ..algebra.semirings import Semiring
from ..verbs import merge
from . import tiles
from .kernels import kernels_for, shape_for

BATCH = 1 << 26
"""Products at a time: 2^26 take 3 GiB while they are sorted. A single row may need more."""


def expand_and_combine(A: CSR, B: CSR, semiring: Semiring, *, swapped: bool = False) -> CSR:
    """A ⊗ B, c_ij = ⊕_k a_ik ⊗ b_kj (swapped: b_kj ⊗ a_ik), without entries equal to the zero."""
    cp = cupy()
    zero = semiring.zero(A.dtype)
    if not semiring.mul.reads:  # by the pattern: an entry counts, whatever its value
        A, B = (M.revalued(cp.full(M.values.shape, other_than(zero), M.dtype)) for M in (A, B))
    shape = (A.nrows, B.ncols)
    lengths = cp.diff(B.indptr)[A.indices]
    before = cp.zeros(A.nnz + 1, np.int64)
    cp.cumsum(lengths, out=before[1:])
    flops = before[A.indptr].get()  # products before each row of A
    keys, values = [cp.zeros(0, np.int64)], [cp.zeros(0, A.dtype)]
    start = 0
    while start < A.nrows:
        stop = max(start + 1, int(np.searchsorted(flops, flops[start] + BATCH, side="right")) - 1)
        if flops[stop] > flops[start]:
            batch = _batch(A, B, before, start, stop, semiring, swapped)
            keys.append(batch[0])
            values.append(batch[1])
        start = stop
    all_keys, all_values = cp.concatenate(keys), cp.concatenate(values)
    present = differs(all_values, zero)
    return merge.from_keys(all_keys[present], all_values[present], shape)


def _batch(
    A: CSR, B: CSR, before: Array, start: int, stop: int, semiring: Semiring, swapped: bool
) -> tuple[Array, Array]:
    """Returns the keys, ascending, and the values of rows start..stop-1 of the product."""
    cp = cupy()
    first, last = int(A.indptr[start]), int(A.indptr[stop])
    offsets = before[first : last + 1] - before[first]
    entry = expand(offsets)  # of each product, the entry of A, counted from `first`
    at = cp.arange(entry.size) - offsets[entry] + B.indptr[A.indices[first:last]][entry]
    row = (expand(A.indptr[start : stop + 1] - A.indptr[start]) + start)[entry].astype(np.int64)
    key = row * B.ncols + B.indices[at]
    order = cp.argsort(key, kind="stable")
    key, at, entry = key[order], at[order], entry[order]
    heads = cp.flatnonzero(cp.concatenate((cp.ones(1, bool), key[1:] != key[:-1])))
    index = index_dtype(key.size, B.nnz)
    indptr = cp.concatenate((heads, cp.array([key.size]))).astype(index)
    runs: Any = CSR.trusted(indptr, at.astype(index), A.values[first:last][entry], (heads.size, B.nnz))
    y = cp.empty(heads.size, A.dtype)
    k = kernels_for(semiring, A.dtype, index, not swapped, shape_for(key.size, heads.size))
    tiles.gather_compressed(k, runs, cp.ascontiguousarray(B.values), y)
    return key[heads], y


def other_than(zero: Any) -> Any:
    """A value that is present."""
    return 1 if zero != 1 else 0
