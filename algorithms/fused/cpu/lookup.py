"""Values of a CSR at many places, by a binary search in the row of each."""

from __future__ import annotations

import numpy as np

from formats import CSR
from semiring.cpu.kernels import compiled

from .near_far import full_values


def values_at(A: CSR, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """The values of float64, infinity where there is none."""
    found = np.full(rows.size, np.inf)
    _look_up(A.indptr, A.indices, full_values(A), rows, cols, found)
    return found


@compiled
def _look_up(indptr, indices, values, rows, cols, found):
    for k in range(np.uintp(rows.size)):
        i, j = np.uintp(rows[k]), cols[k]
        low, end = np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)])
        size = end - low
        while size > np.uintp(0):
            half = size >> np.uintp(1)
            before = indices[low + half] < j
            low = low + half + np.uintp(1) if before else low
            size = size - half - np.uintp(1) if before else half
        if low < end and indices[low] == j:
            found[k] = values[low]
