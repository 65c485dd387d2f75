"""The test whether every entry has its reverse: one pass over a CSR's rows, without its transpose.

Rows are gone through in order, and so are, in every row j, the entries (j, i) that mirror entries (i, j) above the
diagonal: a place in each row moves on by one with each of them. The first entry without its reverse ends the pass, so
that a directed graph costs next to nothing. O(n + m), 4 bytes a vertex (8 of int64).
"""

from __future__ import annotations

import numpy as np

from formats import CSR, CompressedCSR
from formats.matrix.facts import SYMMETRIC
from formats.storage.orientation import known_symmetric
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled
from semiring.cpu.packed import column, columns_of

NOT, PATTERN, VALUES = range(3)


def find_symmetry(A: CSR | CompressedCSR) -> None:
    """Find whether every entry has its reverse, and whether of the same value, for `is_symmetric`, which then knows."""
    if not (known_symmetric(A) or (A.keeps(SYMMETRIC, False) and A.keeps(SYMMETRIC, True))):
        values = A.values if A.values.strides[0] else np.empty(0, bool)  # of a pattern all are alike
        bits = values if values.dtype.kind == "f" else values.view(f"i{values.itemsize}")
        found = _mirrored(A.indptr, columns_of(A), bits, A.indptr.copy())
        A.keep(SYMMETRIC, lambda: found >= PATTERN, True)
        A.keep(SYMMETRIC, lambda: found == VALUES, False)


@compiled
def _mirrored(indptr, columns, values, place):
    """Compare the entries with their reverses.  place: a copy of `indptr`."""
    alike = True
    for i in range(indptr.size - 1):
        if not i & 1023 and interrupted():
            return NOT  # which nobody keeps
        u = np.uintp(i)
        for e in range(np.uintp(place[u]), np.uintp(indptr[u + np.uintp(1)])):
            j = np.uintp(column(columns, e))
            if j < u:
                return NOT  # (i, j) was not asked for by row j
            if j == u:
                continue
            at = np.uintp(place[j])
            if at >= np.uintp(indptr[j + np.uintp(1)]) or np.uintp(column(columns, at)) != u:
                return NOT
            place[j] = at + np.uintp(1)
            if values.size:
                alike &= values[at] == values[e]
    return VALUES if alike else PATTERN
