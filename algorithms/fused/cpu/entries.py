"""Entries of a CSR at many places at once, a CSR of entries in any order, and whether arrays hold the same bits.

Columns of a row ascend, so half of what is left of it goes with each comparison [1]. Nothing branches on what is
compared. O(k log of the longest row) for k places, 8 bytes each for the answer.

[1] D. E. Knuth, The Art of Computer Programming 3: Sorting and Searching, 2nd edition, 1998, section 6.2.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from semiring.cpu.kernels import compiled
from semiring.cpu.packed import Columns, column

BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""Unsigned dtypes by the bytes of an element."""

Side = tuple[np.ndarray, Columns, np.ndarray]
"""Type of indptr, columns and values of rows, or of columns."""

ELEMENTS_AT_ONCE = np.uintp(4096)
"""Number of elements that are compared without a branch."""


def places_at(A: CSR, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """Return the places of the entries (rows[k], cols[k]) among A's, -1 where it has none.

    rows, cols: (k,) integers within A.
    """
    found = np.full(rows.size, -1, A.indptr.dtype)
    _look_up(A.indptr, A.indices, rows, cols, found)
    return found


def values_at(side: Side, rows: np.ndarray, cols: np.ndarray, none: Any) -> np.ndarray:
    """Return the values of entries (rows[k], cols[k]), and `none` where there are none."""
    indptr, columns, values = side
    found = np.full(rows.size, -1, indptr.dtype)
    _look_up(indptr, columns, rows, cols, found)
    there, out = found >= 0, np.full(rows.size, none, values.dtype)
    out[there] = values[found[there]]
    return out


def held(A: CSR, rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of edges: as given where A has the edge with its value, and turned elsewhere."""
    place = places_at(A, rows, cols)
    given = (place >= 0) & (A.values[place] == values)
    return np.where(given, rows, cols), np.where(given, cols, rows)


def by_rows(rows: np.ndarray, cols: np.ndarray, values: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    """Return indptr, indices and values of an n × n matrix of these entries, of which no two are at one place."""
    order, _ = sorted_by(cols, n)
    order, ends = sorted_by(rows, n, order)
    return np.append(0, ends).astype(np.int32), cols[order].astype(np.int32), values[order]


def sorted_by(keys: np.ndarray, n: int, order: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Sort numbers by the keys of each, which are below n, and keep the order of equal ones: a counting sort.

    order: the numbers, 0, 1, … if it is not given.  Returns them and where those of each key end.
    """
    order = np.arange(keys.size, dtype=keys.dtype) if order is None else order
    ends, found = np.zeros(n + 1, np.int64), np.empty_like(order)
    _sort(keys, order, ends, found)
    return found, ends[:n]


def same_bits(x: np.ndarray, y: np.ndarray) -> bool:
    """True if two arrays of one dtype and size hold the same bits."""
    bits = BITS.get(x.itemsize, np.uint8)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    return bool(_same(x.view(bits), y.view(bits)))


@compiled
def _same(x, y):
    for start in range(np.uintp(0), np.uintp(x.size), ELEMENTS_AT_ONCE):
        differing = x[0] ^ x[0]
        for e in range(start, min(start + ELEMENTS_AT_ONCE, np.uintp(x.size))):
            differing |= x[e] ^ y[e]
        if differing:
            return False
    return True


@compiled
def _sort(keys, order, ends, found):
    """Sort by counting.  ends: zeros, a number more than there are keys."""
    one = np.uintp(1)
    for key in keys:
        ends[np.uintp(key) + one] += 1
    for k in range(1, ends.size):
        ends[k] += ends[k - 1]
    for number in order:
        key = np.uintp(keys[np.uintp(number)])
        found[np.uintp(ends[key])] = number
        ends[key] += 1


@compiled
def _look_up(indptr, columns, rows, cols, found):
    """Write the place of each entry to `found`, which is -1."""
    for k in range(np.uintp(rows.size)):
        i, j = np.uintp(rows[k]), cols[k]
        low, end = np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)])
        size = end - low
        while size > np.uintp(0):
            half = size >> np.uintp(1)
            before = column(columns, low + half) < j
            low = low + half + np.uintp(1) if before else low
            size = size - half - np.uintp(1) if before else half
        if low < end and column(columns, low) == j:
            found[k] = low
