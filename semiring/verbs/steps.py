"""Steps on whole matrices: the CPU has compiled loops for them (`cpu/rows.py`), the GPU kernels or array operations.

united    the union of two matrices' entries      kept    some entries of a matrix      taken    x[at]
shared    which entries of a matrix have another one at their place      flagged  which entries a function flags
row_numbers  the row of each entry               distinct  that no index repeats
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from formats import CSC, CSR
from formats.arrays import Array, namespace, starts_of
from formats.places import place_of
from formats.storage.compressed import expand

from . import merge


def united(A: CSR, B: CSR, op: Any) -> CSR:
    """The union of the entries of `A` and `B`; op(a, b) where both have one."""
    if A.place.on_host:
        from ..cpu import rows

        return rows.united(A, B, op)
    from ..cuda import merging

    return merging.united(A, B, op)


def kept(A: CSR | CSC, keep: Array) -> CSR | CSC:
    """The entries of `A` at which the Boolean array `keep` is true."""
    if A.place.on_host:
        from ..cpu import rows

        return rows.kept(A, keep)
    if A.nnz:
        from ..cuda import entries

        return entries.kept(A, entries.flagged(A, keep))
    return kept_by_arrays(A, keep)


def kept_by_arrays(A: CSR | CSC, keep: Array) -> CSR | CSC:
    """The same by the places that are true."""
    places = namespace(keep).flatnonzero(keep)
    indptr = starts_of(keep, A.indptr.dtype)[A.indptr]
    return type(A).trusted(indptr, A.indices.take(places), A.values.take(places), A.shape)


def shared(A: CSR, B: CSR) -> Array:
    """True for each entry of `A` at whose place `B` has one."""
    if A.place.on_host:
        from ..cpu import rows

        return rows.shared(A, B)
    return shared_by_arrays(A, B)


def shared_by_arrays(A: CSR, B: CSR) -> Array:
    """The same by looking positions up."""
    return merge.contains(merge.keys_of(B), merge.keys_of(A))


def flagged(A: CSR | CSC, flags: Callable[[Any, int, int], Array]) -> Array:
    """For each entry of `A`, what flags(block, first, last) says of it, a block having the rows [first, last) of `A`.

    On the CPU blocks stay in a cache, may begin and end within a row, and are shared by threads.
    """
    if A.place.on_host:
        from ..cpu import rows

        return rows.flagged(A, flags)
    return flags(A, 0, A.indptr.size - 1)


def row_numbers(indptr: Array, first: int) -> Array:
    """For each entry, its row, the rows being numbered from `first` on."""
    if place_of(indptr).on_host:
        from ..cpu import rows

        return rows.row_numbers(indptr, first)
    return expand(indptr) + indptr.dtype.type(first) if first else expand(indptr)


def taken(x: Array, at: Array) -> Array:
    """x[at]."""
    if at.ndim == 2 and 0 in at.strides:  # the same in each line: looked up once
        line = at[:1] if at.strides[0] == 0 else at[:, :1]
        return namespace(x).broadcast_to(x[line], at.shape)
    if not place_of(at).on_host or at.ndim > 1:
        return x[at]
    from ..cpu import rows

    return rows.taken(x, at)
