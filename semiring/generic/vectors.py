"""Verbs on vectors: dense arrays and SparseVectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from formats import SparseVector
from formats.arrays import Array, equals, namespace
from formats.vector import is_scalar

from ..algebra.ops import BinaryOp, find_op
from ..algebra.semirings import Monoid
from ..verbs import merge
from ..verbs.masks import VectorWrite
from ..verbs.registry import Vector
from ..verbs.verbs import apply, assign, ewise_add, ewise_mult, extract, select

Combiner = Monoid | BinaryOp


@ewise_add.implement(Vector, "cpu", "cuda")
def _(u: Any, v: Any, op: Combiner, zero: Any, write: VectorWrite) -> Any:
    if isinstance(u, SparseVector) and isinstance(v, SparseVector):
        return write(merge.union_sparse(u, v, op, zero))
    if isinstance(v, SparseVector):  # only where v has something to add
        in_place = write.out is u and write.mask is None and write.accum is None
        w, places = u if in_place else u.copy(), v.indices.astype("intp")
        w[places] = merge.union_dense(u.take(places), v.values, op, zero)
        return w if in_place else write(w)
    if isinstance(u, SparseVector):
        w, places = v.copy(), u.indices.astype("intp")
        w[places] = merge.union_dense(u.values, v.take(places), op, zero)
        return write(w)
    return write(merge.union_dense(u, v, op, zero))


@ewise_mult.implement(Vector, "cpu", "cuda")
def _(u: Any, v: Any, op: Combiner, zero: Any, write: VectorWrite) -> Any:
    if isinstance(u, SparseVector) and isinstance(v, SparseVector):
        return write(merge.intersect_sparse(u, v, op, zero))
    if isinstance(u, SparseVector):
        values = merge.intersect_dense(u.values, v[u.indices], op, zero)
        return write(merge.drop(SparseVector.trusted(u.indices, values, u.size), zero))
    if isinstance(v, SparseVector):
        values = merge.intersect_dense(u[v.indices], v.values, op, zero)
        return write(merge.drop(SparseVector.trusted(v.indices, values, v.size), zero))
    return write(merge.intersect_dense(u, v, op, zero))


@apply.implement(Vector, "cpu", "cuda")
def _(u: Any, function: Callable[[Any], Any], zero: Any, write: VectorWrite) -> Any:
    if isinstance(u, SparseVector):
        u = merge.drop(u, zero)
        return write(SparseVector.trusted(u.indices, u.place.xp.asarray(function(u.values)), u.size))
    w = namespace(u).array(function(u), dtype=write.dtype)
    if zero is not None:
        w[equals(u, zero)] = write.zero
    return write(w)


@select.implement(Vector, "cpu", "cuda")
def _(u: Any, compare: BinaryOp, other: Any, write: VectorWrite) -> Any:
    if isinstance(u, SparseVector):
        xp = u.place.xp
        if isinstance(other, SparseVector):  # where other is absent there is nothing to compare with
            u = _at(u, xp.flatnonzero(merge.contains(other.indices, u.indices)))
            other = other.values.take(xp.searchsorted(other.indices, u.indices))
        elif not is_scalar(other):
            other = other.take(u.indices)
        return write(_at(u, xp.flatnonzero(compare(u.values, other))))
    xp = namespace(u)
    if isinstance(other, SparseVector):
        keep = xp.zeros(u.size, bool)
        keep[other.indices] = compare(u[other.indices], other.values)
    else:
        keep = compare(u, other)
    return write(xp.where(keep, u, write.zero))


def _at(u: SparseVector, positions: Array) -> SparseVector:
    """The entries of `u` at the given positions of its arrays."""
    return SparseVector.trusted(u.indices.take(positions), u.values.take(positions), u.size)


@extract.implement(Vector, "cpu", "cuda")
def _(u: Any, indices: Array, write: VectorWrite) -> Any:
    if not isinstance(u, SparseVector):
        return write(u[indices])
    xp = u.place.xp
    present = merge.contains(u.indices, indices)
    at = xp.searchsorted(u.indices, indices[present])
    return write(SparseVector.trusted(xp.flatnonzero(present), u.values[at], indices.size))


@assign.implement(Vector, "cpu", "cuda")
def _(out: Any, value: Any, indices: Array | None, accum: Combiner | None, write: VectorWrite) -> Any:
    xp = namespace(out.values if isinstance(out, SparseVector) else out)
    places = xp.arange(out.size) if indices is None else indices
    if isinstance(out, SparseVector):
        return write(_assigned_sparse(out, value, places, accum, write.zero))
    w = out.copy()
    new = value.to_dense(write.zero) if isinstance(value, SparseVector) else value
    if accum is not None and is_scalar(new):  # which is present, also where it equals the zero
        old = out[places]
        new = xp.where(equals(old, write.zero), new, accum(old, xp.full(places.shape, new, out.dtype)))
    elif accum is not None:
        new = merge.union_dense(out[places], new, accum, write.zero)
    w[places] = new
    return write(w)


def _assigned_sparse(out: SparseVector, value: Any, places: Array, accum: Combiner | None, zero: Any) -> SparseVector:
    """`out` with the value in the given places, before the mask."""
    xp = out.place.xp
    if not isinstance(value, SparseVector) and not is_scalar(value):
        value = SparseVector.from_dense(value, zero)
    scalar = not isinstance(value, SparseVector)
    if scalar:
        indices, values = places, xp.full(places.shape, value, out.dtype)
    else:
        indices, values = places[value.indices], value.values
    order = xp.argsort(indices, kind="stable")
    new = SparseVector.trusted(indices[order].astype(out.indices.dtype, copy=False), values[order], out.size)
    if accum is not None:
        return merge.accumulated(out, new, accum, zero, present=scalar)  # a scalar is, also where it equals the zero
    outside = ~merge.contains(xp.sort(places), out.indices)
    merged = merge.union_keys(out.indices[outside], out.values[outside], new.indices, new.values, find_op("first"))
    return SparseVector.trusted(*merged, out.size)
