"""Steps on whole matrices that the CPU has compiled loops for (`cpu/rows.py`), and that CuPy does in array operations.

united    the union of two matrices' entries      kept    some entries of a matrix      taken    x[at]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSC, CSR
from formats.arrays import Array, namespace

from .. import merge


def united(A: CSR, B: CSR, op: Any) -> CSR:
    """The union of the entries of `A` and `B`; op(a, b) where both have one."""
    if A.device == "cpu":
        from ..cpu import rows

        return rows.united(A, B, op)
    return united_by_arrays(A, B, op)


def united_by_arrays(A: CSR, B: CSR, op: Any) -> CSR:
    """The same by sorting positions, which OverflowError says do not fit where the matrix is too large."""
    merged = merge.union_keys(merge.keys_of(A), A.values, merge.keys_of(B), B.values, op)
    return merge.from_keys(*merged, A.shape)


def kept(A: CSR | CSC, keep: Array) -> CSR | CSC:
    """The entries of `A` at which the Boolean array `keep` is true."""
    if A.device == "cpu":
        from ..cpu import rows

        return rows.kept(A, keep)
    return kept_by_arrays(A, keep)


def kept_by_arrays(A: CSR | CSC, keep: Array) -> CSR | CSC:
    """The same by the places that are true."""
    places = namespace(keep).flatnonzero(keep)
    indptr = kept_before(keep, A.indptr.dtype)[A.indptr]
    return type(A).trusted(indptr, A.indices.take(places), A.values.take(places), A.shape)


def kept_before(keep: Array, dtype: np.dtype) -> Array:
    """How many entries are kept before each place, and in all."""
    xp = namespace(keep)
    before = xp.zeros(keep.size + 1, dtype)
    xp.cumsum(keep, dtype=dtype, out=before[1:])
    return before


def taken(x: Array, at: Array) -> Array:
    """x[at]."""
    if not isinstance(at, np.ndarray) or at.ndim > 1:
        return x[at]
    from ..cpu import rows

    return rows.taken(x, at)
