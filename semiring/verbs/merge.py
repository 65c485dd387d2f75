"""Unions and intersections of sorted positions: what element-wise verbs and the write rule are made of.

A matrix position is one integer key, row * ncols + col. Merging two sorted runs is one stable sort, which takes linear
time on such input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import CSR, SparseVector
from formats.arrays import Array, all_of, differs, equals, index_dtype, namespace
from formats.storage.compressed import compress, expand

from ..algebra.ops import BinaryOp
from ..algebra.semirings import Monoid

Combiner = Monoid | BinaryOp


def keys_of(A: CSR) -> Array:
    """The positions of A's entries as ascending int64 keys; OverflowError where 64 bits cannot number all positions."""
    if A.nrows * A.ncols >= 2**63:
        raise OverflowError(f"the positions of a {A.nrows}×{A.ncols} matrix do not fit 64 bits")
    return expand(A.indptr).astype(np.int64) * A.ncols + A.indices


def from_keys(keys: Array, values: Array, shape: tuple[int, int]) -> CSR:
    """The CSR with `values` at ascending `keys`."""
    index_type = index_dtype(*shape, keys.size)
    rows, cols = (part.astype(index_type) for part in namespace(keys).divmod(keys, max(shape[1], 1)))
    return CSR.trusted(compress(rows, shape[0], index_type), cols, values, shape)


def contains(sorted_keys: Array, keys: Array) -> Array:
    """True for each of `keys` that is among `sorted_keys`."""
    xp = namespace(keys)
    if sorted_keys.size == 0:
        return xp.zeros(keys.shape, bool)
    at = xp.minimum(xp.searchsorted(sorted_keys, keys), sorted_keys.size - 1)
    return sorted_keys[at] == keys


def union_keys(
    keys: Array, values: Array, more_keys: Array, more_values: Array, op: Callable[[Array, Array], Array]
) -> tuple[Array, Array]:
    """The union of two sorted sets of entries; op(first, second) where both have one."""
    xp = namespace(values)
    both = xp.concatenate((keys, more_keys))
    order = xp.argsort(both, kind="stable")  # of equal keys, the first set's comes first
    both, merged = both[order], xp.concatenate((values, more_values))[order]
    twice = xp.flatnonzero(both[1:] == both[:-1])
    merged[twice] = op(merged[twice], merged[twice + 1])
    keep = xp.ones(both.size, bool)
    keep[twice + 1] = False
    return both[keep], merged[keep]


def intersect_keys(
    keys: Array, values: Array, more_keys: Array, more_values: Array, op: Combiner
) -> tuple[Array, Array]:
    """The intersection of two sorted sets of entries, op(first, second) each."""
    inside = contains(more_keys, keys)
    at = namespace(keys).searchsorted(more_keys, keys[inside])
    return keys[inside], op(values[inside], more_values[at])


def union_sparse(u: SparseVector, v: SparseVector, op: Combiner, zero: Any) -> SparseVector:
    """op over the union of two sparse vectors, in which a stored `zero` is absent, as it is from the result."""
    if not keeps(op, u.dtype, zero):
        u, v = drop(u, zero), drop(v, zero)
    return drop(SparseVector.trusted(*union_keys(u.indices, u.values, v.indices, v.values, op), u.size), zero)


def accumulated(u: SparseVector, v: SparseVector, op: Combiner, zero: Any, *, present: bool = False) -> SparseVector:
    """The union, op where both have an entry, and the other where one is `zero`. No entry goes.

    present: are all of v's present, also if they are `zero`?
    """

    def combined(x: Array, y: Array) -> Array:
        return namespace(x).where(equals(x, zero), y, op(x, y)) if present else union_dense(x, y, op, zero)

    return SparseVector.trusted(*union_keys(u.indices, u.values, v.indices, v.values, combined), u.size)


def intersect_sparse(u: SparseVector, v: SparseVector, op: Combiner, zero: Any) -> SparseVector:
    """op over the intersection of two sparse vectors, in which a stored `zero` is absent, as it is from the result."""
    u, v = drop(u, zero), drop(v, zero)
    return drop(SparseVector.trusted(*intersect_keys(u.indices, u.values, v.indices, v.values, op), u.size), zero)


def union_dense(x: Array, y: Array, op: Combiner, zero: Any) -> Array:
    """op where both are present, whichever is present elsewhere; present means different from `zero`.

    zero None: all are present.
    """
    combined = of_all(op, x, y)
    if zero is not None and not keeps(op, x.dtype, zero):
        xp = namespace(x)
        combined = xp.where(equals(x, zero), y, xp.where(equals(y, zero), x, combined))
    return combined if isinstance(op, Monoid) else op.checked(combined)


def intersect_dense(x: Array, y: Array, op: Combiner, zero: Any) -> Array:
    """op where both are present, `zero` elsewhere; zero None: all are present."""
    combined = of_all(op, x, y)
    if zero is not None:
        combined = namespace(x).where(equals(x, zero) | equals(y, zero), zero, combined)
    return combined if isinstance(op, Monoid) else op.checked(combined)


def of_all(op: Combiner, x: Array, y: Array) -> Array:
    """op on all elements, present or not. What an absent ∞ makes of the other operand is not used."""
    if isinstance(op, Monoid) and op.selective:  # one of the two
        return op(x, y)
    with np.errstate(invalid="ignore"):
        return op(x, y) if isinstance(op, Monoid) else op.computed(x, y)


def keeps(op: Combiner, dtype: np.dtype, zero: Any) -> bool:
    """True if `op` gives back the other operand where one is `zero`."""
    return isinstance(op, Monoid) and op.zero(dtype) == zero


def drop(v: SparseVector, zero: Any) -> SparseVector:
    """`v` without the entries that are `zero`; zero None: `v`."""
    if zero is None:
        return v
    present = differs(v.values, zero)
    if all_of(present):
        return v
    return SparseVector.trusted(v.indices[present], v.values[present], v.size)
