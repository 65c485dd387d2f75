"""Label propagation as a compiled loop: a vertex's neighbours are counted by their labels, in a row of counts.

    f'_v = the label that most entries of row v have, the smallest of equals; v's own without any

Each thread has counts of its own, of which a row's labels alone are looked at and cleared. All vertices change at once,
so threads need no order. O(m) a round; 8 bytes a vertex for each thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.equations.label_propagation import both_directions
from formats import CSR
from formats.arrays import index_dtype
from semiring.cpu.dealing import deal, dealt, threads_for

VERTICES_AT_A_TIME = 1 << 9
"""Number of vertices that a thread takes at a time."""


def labels(A: CSR, max_iter: int, symmetrize: bool) -> np.ndarray:
    """Return each vertex's label, as `algorithms.equations.label_propagation.propagated` does."""
    S: Any = both_directions(A, "max" if symmetrize else "plus")
    threads, n = threads_for(S.nnz), A.nrows
    f, counts = np.arange(n, dtype=index_dtype(n)), np.zeros((threads, n), S.dtype)
    for _ in range(max_iter):
        new, changed = np.empty_like(f), np.zeros(1, bool)
        rows = S.indptr, S.indices, S.values
        deal(_propagate, n, VERTICES_AT_A_TIME, threads, counts, rows, f, new, changed)
        f = new
        if not changed[0]:
            break
    return f


@dealt
def _propagate(thread, first, stop, every, rows, f, new, changed):
    """Find the next labels of the vertices from `first` to `stop`.  every: zeros, a row for each thread."""
    counts, (indptr, indices, values), moved = every[thread], rows, False
    for v in range(np.uintp(first), np.uintp(stop)):
        start, end = np.uintp(indptr[v]), np.uintp(indptr[v + np.uintp(1)])
        label, most = f[v], values.dtype.type(0)
        for e in range(start, end):
            other = f[np.uintp(indices[e])]
            count = counts[np.uintp(other)] + values[e]
            counts[np.uintp(other)] = count
            if count > most or (count == most and other < label):
                label, most = other, count
        for e in range(start, end):
            counts[np.uintp(f[np.uintp(indices[e])])] = 0
        new[v] = label
        moved |= label != f[v]
    if moved:
        changed[0] = True
