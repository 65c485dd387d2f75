"""The entries between two diagonals: of each row a range, since its columns ascend."""

from __future__ import annotations

import numpy as np

from formats import CSC, CSR

from .kernels import compiled
from .lanes import WIDTH, below, moved
from .rows import bits, ends
from .threads import cut_evenly, run


def banded(A: CSR | CSC, low: int | None, high: int | None) -> CSR | CSC:
    """The entries of `A` with low <= j - i <= high; None for no bound."""
    if A.major == 1:
        low, high = (None if bound is None else -bound for bound in (high, low))
    nmajor, extent = A.shape[A.major], A.shape[1 - A.major]
    first = -nmajor if low is None else max(-nmajor, min(low, extent))
    last = extent if high is None else max(-nmajor - 1, min(high, extent))
    starts, counts = (np.empty(nmajor, A.indptr.dtype) for _ in range(2))
    pieces = cut_evenly(A.indptr)
    run(lambda *piece: _find(A.indptr, A.indices, first, last, extent, starts, counts, *piece), pieces)
    indptr = ends(counts, A.indptr.dtype)
    indices, values = np.empty(indptr[-1], A.indices.dtype), np.empty(indptr[-1], A.dtype)
    source, target = (starts, A.indices, bits(A.values)), (indptr, indices, bits(values))
    run(lambda *piece: _copy(*source, *target, *piece), cut_evenly(indptr))
    return type(A).trusted(indptr, indices, values, A.shape)


@compiled
def _find(indptr, indices, low, high, extent, starts, counts, start, stop):
    for i in range(start, stop):
        e, end = np.intp(indptr[i]), np.intp(indptr[i + 1])
        e = place(indices, e, end, min(max(i + low, 0), extent))
        starts[i] = e
        counts[i] = place(indices, e, end, min(max(i + high + 1, 0), extent)) - e


def place(indices, e, end, bound):
    """Where the first index that is not below the bound stands among ascending ones."""
    while end - e > WIDTH:
        middle = (e + end) >> 1
        if indices[np.uintp(middle)] < bound:
            e = middle + 1
        else:
            end = middle
    if e + WIDTH <= indices.size:
        return e + below(indices, e, end - e, bound)
    while e < end and indices[np.uintp(e)] < bound:
        e += 1
    return e


@compiled
def _copy(starts, indices, values, new_indptr, new_indices, new_values, start, stop):
    limit = min(new_indptr[stop], new_indices.size)
    for i in range(start, stop):
        e, to, end = np.intp(starts[i]), np.intp(new_indptr[i]), np.intp(new_indptr[i + 1])
        while to < end and to + WIDTH <= limit and e + WIDTH <= indices.size:  # beyond the row, where the next one goes
            moved(indices, e, new_indices, to)
            moved(values, e, new_values, to)
            e += WIDTH
            to += WIDTH
        while to < end:
            new_indices[np.uintp(to)], new_values[np.uintp(to)] = indices[np.uintp(e)], values[np.uintp(e)]
            e += 1
            to += 1
