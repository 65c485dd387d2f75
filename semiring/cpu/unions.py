"""Unions of two matrices with a value for what either lacks, on the CPU: one compiled pass over the rows of both."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR

from .kernels import compiled
from .overlaps import count_shared
from .rows import Part, bits, combined, paired, same_pattern


def union(A: CSR, alpha: Any, B: CSR, beta: Any, op: Any) -> CSR:
    """op(a, b) where `A` or `B` has an entry; `alpha` stands for what `A` lacks, `beta` for what `B` lacks."""
    if same_pattern(A, B):
        return CSR.trusted(A.indptr, A.indices, combined(op, A.values, B.values), A.shape)
    a, b, work = paired(A, B)

    def count(counts: np.ndarray, start: int, stop: int) -> int:
        return int(work[stop] - work[start]) - int(count_shared(*a[:2], *b[:2], counts, start, stop))

    part = Part(work, work.dtype, A.dtype, A.nnz + B.nnz, count)
    right, absent = np.empty(part.values.size, B.dtype), bits(np.array([alpha, beta], A.dtype))
    part.fill(lambda start, stop, to, _: _unite(a, b, part.arrays, bits(right), absent, start, stop, to))
    indptr, indices, left = part.finished()
    return CSR.trusted(indptr, indices, combined(op, left, right[: left.size]), A.shape)


@compiled
def _unite(matrix, other, part, right, absent, start, stop, to):
    """The entries of both side by side: the values of one in `part`, of the other in `right`."""
    (a_indptr, a_indices, a_values), (b_indptr, b_indices, b_values) = matrix, other
    counts, indices, left = part
    alpha, beta, one, to = absent[0], absent[1], np.uintp(1), np.uintp(to)
    for i in range(start, stop):
        a, a_end = np.uintp(a_indptr[i]), np.uintp(a_indptr[i + 1])
        b, b_end, begin = np.uintp(b_indptr[i]), np.uintp(b_indptr[i + 1]), to
        while a < a_end and b < b_end:  # without a branch: which of the two comes first is random
            u, v, x, y = a_indices[a], b_indices[b], a_values[a], b_values[b]
            indices[to], left[to], right[to] = min(u, v), x if u <= v else alpha, y if v <= u else beta
            a += np.uintp(u <= v)
            b += np.uintp(v <= u)
            to += one
        while a < a_end:
            indices[to], left[to], right[to] = a_indices[a], a_values[a], beta
            a += one
            to += one
        while b < b_end:
            indices[to], left[to], right[to] = b_indices[b], alpha, b_values[b]
            b += one
            to += one
        counts[i] = to - begin
