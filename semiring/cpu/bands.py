"""The entries between two diagonals: of each row a range, since its columns ascend."""

from __future__ import annotations

import numpy as np

from formats import CSC, CSR

from .kernels import compiled
from .lanes import WIDTH, below
from .rows import ends, ranges
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
    run(lambda *piece: _find((A.indptr, A.indices), first, last, extent, (starts, counts), *piece), pieces)
    indptr = ends(counts, A.indptr.dtype)
    return type(A).trusted(indptr, *ranges(A, starts, indptr), A.shape)


@compiled
def _find(matrix, low, high, extent, found, start, stop):
    (indptr, indices), (starts, counts) = matrix, found
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
