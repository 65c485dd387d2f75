"""Entries of a CSR at many places at once, a CSR of entries in any order, and whether arrays hold the same bits.

Columns of a row ascend, so half of what is left of it goes with each comparison [1]. Nothing branches on what is
compared. O(k log of the longest row) for k places, 8 bytes each for the answer. Where places ascend, and are many
beside the entries, all rows are looked through once.

[1] D. E. Knuth, The Art of Computer Programming 3: Sorting and Searching, 2nd edition, 1998, section 6.2.1.
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from semiring.cpu.kernels import compiled

BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""By the bytes of an element."""

AT_ONCE = np.uintp(4096)
"""Elements that are compared without a branch."""

MANY = 16
"""Entries of the matrix for each place, up to which it is looked through along its rows."""


def places_at(A: CSR, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """The places of the entries (rows[k], cols[k]) among A's, -1 where it has none.

    rows, cols: (k,) integers within A.
    """
    found = np.full(rows.size, -1, A.indptr.dtype)
    if A.nnz > MANY * rows.size or not _look_along(A.indptr, A.indices, rows, cols, found):
        _look_up(A.indptr, A.indices, rows, cols, found)
    return found


def held(A: CSR, rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(rows, columns) of edges: as given where A has the edge with its value, and turned elsewhere."""
    place, ends = places_at(A, rows, cols), np.empty((2, rows.size), rows.dtype)
    _turn(A.values, place, rows, cols, values, ends)
    return ends[0], ends[1]


def by_rows(rows: np.ndarray, cols: np.ndarray, values: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    """(indptr, indices, values) of an n × n matrix of these entries, of which no two are at one place."""
    indptr, indices = np.zeros(n + 1, np.int32), np.empty(rows.size, np.int32)
    found, by_column = np.empty_like(values), np.empty(rows.size, np.int64)
    _sort(rows, cols, values, indptr, indices, found, np.zeros(n + 1, np.int32), by_column)
    return indptr, indices, found


def same_bits(x: np.ndarray, y: np.ndarray) -> bool:
    """Do two arrays of one dtype and size hold the same bits?"""
    bits = BITS.get(x.itemsize, np.uint8)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    return bool(_same(x.view(bits), y.view(bits)))


@compiled
def _same(x, y):
    for start in range(np.uintp(0), np.uintp(x.size), AT_ONCE):
        differing = x[0] ^ x[0]
        for e in range(start, min(start + AT_ONCE, np.uintp(x.size))):
            differing |= x[e] ^ y[e]
        if differing:
            return False
    return True


@compiled
def _turn(held, place, rows, cols, values, ends):
    for k in range(np.uintp(rows.size)):
        here = place[k] >= 0 and held[np.uintp(place[k])] == values[k]
        ends[0, k], ends[1, k] = (rows[k], cols[k]) if here else (cols[k], rows[k])


@compiled
def _sort(rows, cols, values, indptr, indices, found, starts, by_column):
    """Two counting sorts, by columns and by rows.  indptr, starts: zeros."""
    one = np.uintp(1)
    for k in range(rows.size):
        indptr[np.uintp(rows[k]) + one] += 1
        starts[np.uintp(cols[k]) + one] += 1
    for i in range(1, indptr.size):
        indptr[i] += indptr[i - 1]
        starts[i] += starts[i - 1]
    for k in range(rows.size):
        j = np.uintp(cols[k])
        by_column[np.uintp(starts[j])] = k
        starts[j] += 1
    starts[:] = indptr
    for at in range(rows.size):
        entry = np.uintp(by_column[at])
        row = np.uintp(rows[entry])
        place = np.uintp(starts[row])
        indices[place], found[place] = cols[entry], values[entry]
        starts[row] += 1


@compiled
def _look_along(indptr, indices, rows, cols, found):
    """Do rows and columns ascend? Then all places; if not, some.  found: -1."""
    row, e, end = np.uintp(0), np.uintp(0), np.uintp(0)
    for k in range(rows.size):
        i, j = np.uintp(rows[k]), cols[k]
        if i != row or k == 0:
            if k > 0 and i < row:
                return False
            row, e, end = i, np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)])
        elif j <= cols[k - 1]:
            return False
        while e < end and indices[e] < j:
            e += np.uintp(1)
        if e < end and indices[e] == j:
            found[k] = e
    return True


@compiled
def _look_up(indptr, indices, rows, cols, found):
    """found: -1."""
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
            found[k] = low
