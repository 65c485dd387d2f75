"""Kronecker products on the CPU: rows of the result by compiled loops, a piece of them to each thread.

    c = op(a_ij, b_kl) at (i p + k, j q + l): a row of C is, for each entry of a row of A, a row of B

Operands of the operator are written side by side in blocks that stay in a cache, and each block is given to NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype, read_only

from .kernels import compiled
from .rows import BLOCK, arrays, bits, ends
from .threads import cut_evenly, run


def product(A: CSR, B: CSR, op: Any, dtype: np.dtype) -> CSR:
    """The Kronecker product, its values of a dtype."""
    shape, nnz = (A.nrows * B.nrows, A.ncols * B.ncols), A.nnz * B.nnz
    index = index_dtype(*shape, nnz)
    indptr = ends(np.multiply.outer(np.diff(A.indptr).astype(index), np.diff(B.indptr).astype(index)).ravel(), index)
    indices, values = np.empty(nnz, index), np.empty(nnz, dtype)
    a, b, errors = arrays(A), arrays(B), np.geterr()
    where = read_only(indptr)

    def work(start: int, stop: int) -> None:
        while start < stop:
            full = np.searchsorted(indptr, index.type(min(int(indptr[start]) + BLOCK, nnz)), side="right")
            till = min(max(start + 1, int(full) - 1), stop)
            first, last = int(indptr[start]), int(indptr[till])
            left, right = np.empty(last - first, A.dtype), np.empty(last - first, B.dtype)
            _pair(a, b, np.int64(B.ncols), (where, indices, bits(left), bits(right)), start, till)
            with np.errstate(**errors):  # a thread has settings of its own
                values[first:last] = op(left, right)
            start = till

    run(work, cut_evenly(indptr))
    return CSR.trusted(indptr, indices, values, shape)


@compiled
def _pair(a, b, width, result, start, stop):
    """Where the entries of rows [start, stop) are, and the two values of each."""
    indptr, indices, left, right = result
    nrows, first = b[0].size - 1, indptr[start]
    for row in range(start, stop):
        i, k, to = row // nrows, row % nrows, np.uintp(indptr[row])
        begin, end = np.uintp(b[0][k]), np.uintp(b[0][k + 1])
        e, last = np.uintp(a[0][i]), np.uintp(a[0][i + 1])
        while e < last:
            base, value, f = a[1][e] * width, a[2][e], begin
            while f < end:
                indices[to] = base + b[1][f]
                left[to - np.uintp(first)] = value
                right[to - np.uintp(first)] = b[2][f]
                f += np.uintp(1)
                to += np.uintp(1)
            e += np.uintp(1)
