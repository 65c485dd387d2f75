"""Which k gave each entry of C = A ⊗ B: the rows of A once more, from their ends, so that the smallest k is the last.

    k_ij = k where a_ik ⊗ b_kj = c_ij        for k = n - 1, n - 2, … of the row a_i

Each thread has a dense row of what C has, and one of arguments. What they hold at places without an entry is not read.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype

from ..algebra.semirings import Semiring
from ..verbs.arguments import NONE, of_sparse_products
from ..verbs.verbs import matrix_arguments
from .threads import cut_evenly, run


@matrix_arguments.implement(CSR, "cpu")
def _(A: CSR, B: CSR, C: CSR, semiring: Semiring) -> CSR:
    from .spgemm import ROOMY, is_plain

    if B.ncols > max(ROOMY, 4 * B.nnz) or not is_plain(A, B, semiring):
        return of_sparse_products(A, B, C, semiring)
    found, kernel = np.empty(C.nnz, index_dtype(A.ncols)), _kernel(semiring, A.dtype)
    products = np.zeros(A.nnz + 1, np.int64)
    np.cumsum(np.diff(B.indptr)[A.indices], out=products[1:])

    def work(start: int, stop: int) -> None:
        room = np.empty(B.ncols, A.dtype), np.empty(B.ncols, found.dtype)
        kernel(A.components[:3], B.components[:3], C.components[:3], found, room, start, stop)

    run(work, cut_evenly(products[A.indptr]))
    return CSR.trusted(C.indptr, C.indices, found, C.shape)


@lru_cache(maxsize=256)
def _kernel(semiring: Semiring, dtype: np.dtype) -> Any:
    """The loop over rows [start, stop)."""
    from .kernels import compiled, terms

    multiply, one = terms(semiring, dtype, matrix_first=True, plain=True).product, np.uintp(1)

    @compiled
    def rows(a, b, c, found, room, start, stop):
        (a_indptr, a_indices, a_values), (b_indptr, b_indices, b_values), (indptr, indices, values) = a, b, c
        y, k = room
        for i in range(np.uintp(start), np.uintp(stop)):
            first, last = np.uintp(indptr[i]), np.uintp(indptr[i + one])
            if first == last:
                continue
            for p in range(first, last):
                j = np.uintp(indices[p])
                y[j], k[j] = values[p], NONE
            begin, e = np.uintp(a_indptr[i]), np.uintp(a_indptr[i + one])
            while e > begin:
                e -= one
                u, x = a_indices[e], a_values[e]
                for f in range(np.uintp(b_indptr[np.uintp(u)]), np.uintp(b_indptr[np.uintp(u) + one])):
                    j = np.uintp(b_indices[f])
                    k[j] = u if multiply(x, b_values[f]) == y[j] else k[j]
            for p in range(first, last):
                found[p] = k[np.uintp(indices[p])]

    return rows
