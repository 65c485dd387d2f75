"""The exchange: y = ⊕ over what the participants bring, in the order of ranks, and whole on each of them.

A list of what is not the zero travels where all lists together are shorter than the vector. Else each participant folds
a slice of all vectors, and everybody gets all slices: the bytes of two vectors, however many participants there are.
Both ways fold in the order of ranks, so that sums of floats are the same in every run with as many participants, and ⊕
may be a user's own.

Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH,
International Journal of High Performance Computing Applications 19(1), 2005 (the slices).
"""

from __future__ import annotations

from functools import reduce as fold
from typing import Any

import numpy as np

from formats import SparseVector
from formats.arrays import Array, concatenated, differs, index_dtype, namespace
from formats.parts.group import Group

from ..algebra.semirings import Monoid
from ..verbs import merge

MIN_DENSE_SHARE = 1 / 8
"""Minimum share of present elements for lists to be merged by way of a dense vector."""


def combined(group: Group, what: str, y: Array | SparseVector, monoid: Monoid, zero: Any) -> Any:
    """⊕ over the participants' vectors, or arrays: dense or sparse, as they are. A step of the group, or two."""
    if group.size == 1:
        return y
    if isinstance(y, SparseVector):
        return of_lists(group, what, y, monoid, zero)
    flat = y.reshape(-1)
    if not isinstance(flat, np.ndarray):
        if (found := group.folded(what, monoid.name, flat)) is not None:
            return found.reshape(y.shape)
        return of_slices(group, what, flat, monoid, zero).reshape(y.shape)
    at = np.flatnonzero(differs(flat, zero))
    dense = 2 * flat.nbytes * (group.size - 1) // group.size
    lists = group.everyone(what, listed(at, flat[at], flat.size), most=dense)
    if lists is None:
        return of_slices(group, what, flat, monoid, zero).reshape(y.shape)
    return scattered(lists, flat.size, monoid, zero, y.dtype).reshape(y.shape)


def listed(at: Array, values: Array, size: int) -> Array:
    """Places and values as one array of pairs."""
    pairs = np.empty(at.size, [("at", index_dtype(size)), ("value", values.dtype)])
    pairs["at"], pairs["value"] = at, values
    return pairs


def scattered(lists: list[Array], size: int, monoid: Monoid, zero: Any, dtype: np.dtype) -> Array:
    """⊕ over lists of pairs, as a dense vector."""
    y = np.full(size, zero, dtype)
    for pairs in lists:
        at = pairs["at"]
        y[at] = merge.union_dense(y[at], np.ascontiguousarray(pairs["value"]), monoid, zero)
    return y


def of_slices(group: Group, what: str, flat: Array, monoid: Monoid, zero: Any) -> Array:
    """⊕ over dense vectors: each participant folds a slice of all."""
    slices = namespace(flat).array_split(flat, group.size)
    mine = group.exchange(f"{what}, slices", slices)
    with group.guarded(what):
        folded = fold(lambda u, v: merge.union_dense(u, v, monoid, zero), mine)
    return concatenated(group.everyone(f"{what}, whole", folded))


def of_lists(group: Group, what: str, y: SparseVector, monoid: Monoid, zero: Any) -> SparseVector:
    """⊕ over sparse vectors."""
    if not isinstance(y.values, np.ndarray):
        both = zip(group.everyone(what, y.indices), group.everyone(what, y.values), strict=True)
        pieces = [SparseVector.trusted(*each, y.size) for each in both]
        return fold(lambda u, v: merge.union_sparse(u, v, monoid, zero), pieces)
    lists = group.everyone(what, listed(y.indices, y.values, y.size))
    if sum(pairs.size for pairs in lists) > MIN_DENSE_SHARE * y.size:
        return SparseVector.from_dense(scattered(lists, y.size, monoid, zero, y.dtype), zero)
    index = y.indices.dtype
    vectors = [
        SparseVector.trusted(pairs["at"].astype(index), np.ascontiguousarray(pairs["value"]), y.size) for pairs in lists
    ]
    return fold(lambda u, v: merge.union_sparse(u, v, monoid, zero), vectors)


def stacked(group: Group, what: str, mine: list[Any], starts: list[int], size: int) -> Any:
    """The vectors, or rows of arrays, that strips give, one after the other: whole on each participant.

    mine: of the strips of this process.  starts: where each begins.  size: of the whole. A step of the group.
    """
    if not isinstance(mine[0], SparseVector):
        rows, others = concatenated(mine), mine[0].shape[1:]
        return concatenated(group.everyone(what, rows.reshape(-1))).reshape(size, *others)
    index = index_dtype(size)
    places = concatenated(
        [part.indices.astype(index) + index.type(start) for part, start in zip(mine, starts, strict=True)]
    )
    values = concatenated([part.values for part in mine])
    if not isinstance(values, np.ndarray):
        at, x = (concatenated(group.everyone(what, part)) for part in (places, values))
        return SparseVector.trusted(at, x, size)
    lists = group.everyone(what, listed(places, values, size))
    every = concatenated(lists)
    return SparseVector.trusted(every["at"].astype(index), np.ascontiguousarray(every["value"]), size)
