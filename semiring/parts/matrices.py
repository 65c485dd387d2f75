"""Verbs on matrices in parts other than products: strip by strip, and what needs all rows by an exchange.

A strip of rows is looked at as a matrix of the whole's shape that has no other rows, so that positions are what they
are in the whole. A result is in parts, too, but for what `extract` takes out: that comes whole, as CSR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce as fold
from typing import Any

import numpy as np

from formats import CSR, Matrix, from_edges
from formats.arrays import Array, brought, concatenated, contiguous, index_dtype
from formats.parts.partitioned import Partitioned, assembled, strip_of, there
from formats.storage.orientation import compressed

from ..algebra.ops import BinaryOp
from ..algebra.predicates import Predicate
from ..algebra.semirings import Monoid
from ..verbs.composed import ewise_union, kronecker
from ..verbs.masks import MatrixWrite, VectorWrite
from ..verbs.strips import check_out, strips_of
from ..verbs.verbs import apply, assign, ewise_add, ewise_mult, extract, reduce, reduce_lines, select, transpose
from .exchange import combined, stacked
from .products import first_of, own_strips, travelling

Combiner = Monoid | BinaryOp


@select.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, predicate: Predicate, row: Any, col: Any, write: MatrixWrite) -> Partitioned:
    check_out(write, A)
    base = compressed(A, 0)
    with A.group.guarded("select"):
        parts = []
        for strip, each, part in zip(own_strips(base), base.rows, base.parts, strict=True):
            cell, bounds = select.find(CSR, strip.place), [brought(x, strip.place) for x in (row, col)]
            kept = there(strip.place, cell, strip, predicate, *bounds, MatrixWrite(base.shape, base.dtype))
            parts.append(alike(there(strip.place, strip_of, kept, *each), part))
    return write(base.with_parts(parts))


def alike(strip: CSR, part: Matrix) -> Matrix:
    """A strip in the format of another."""
    return strip if isinstance(part, CSR) else strip.to(type(part), **part.options)


@apply.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, function: Callable[[Any], Any], write: MatrixWrite) -> Partitioned:
    check_out(write, A)
    T = A.mapped(lambda values: contiguous(function(values)))
    return T if write.mask is None and write.out is None else write(compressed(T, 0))


@transpose.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, write: MatrixWrite) -> Partitioned:
    check_out(write, A)
    return write(compressed(A.T, 0))


@ewise_add.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, B: Partitioned, op: Combiner, zero: Any, write: MatrixWrite) -> Partitioned:
    return strip_by_strip(ewise_add, A, B, write, lambda cell, a, b, rule: cell(a, b, op, zero, rule))


@ewise_mult.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, B: Partitioned, op: Combiner, zero: Any, write: MatrixWrite) -> Partitioned:
    return strip_by_strip(ewise_mult, A, B, write, lambda cell, a, b, rule: cell(a, b, op, zero, rule))


@ewise_union.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, alpha: Any, B: Partitioned, beta: Any, op: Combiner, write: MatrixWrite) -> Partitioned:
    return strip_by_strip(ewise_union, A, B, write, lambda cell, a, b, rule: cell(a, alpha, b, beta, op, rule))


def strip_by_strip(
    verb: Any, A: Partitioned, B: Partitioned, write: MatrixWrite, compute: Callable[..., CSR]
) -> Partitioned:
    """An element-wise verb on strips of the same rows.  compute: (cell of CSR, two strips, write rule) -> a strip."""
    check_out(write, A)
    A = compressed(A, 0)
    others, masks = strips_of(B, A), strips_of(write.mask, A)
    with A.group.guarded(verb.name):
        parts = []
        for part, other, mask in zip(A.parts, others, masks, strict=True):
            cell, rule = verb.find(CSR, part.place), replace(write, shape=part.shape, mask=mask, accum=None, out=None)
            parts.append(there(part.place, compute, cell, part.to(CSR), other.to(CSR), rule))
    return write(A.with_parts(parts), masked=True)


@kronecker.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, B: Partitioned, op: Combiner, zero: Any, write: MatrixWrite) -> Partitioned:
    """Each strip of A takes the strips of B one by one: of each row of A come B's rows."""
    check_out(write, A)
    A, B = compressed(A, 0), compressed(B, 0)
    shape, parts = (A.nrows * B.nrows, A.ncols * B.ncols), list[Any]([None] * len(A.parts))
    for k in range(len(B.entries)):
        rows = travelling(B, k)
        with A.group.guarded("kronecker"):
            for i, part in enumerate(A.parts):
                rule = MatrixWrite((part.nrows * B.nrows, shape[1]), write.dtype)
                own: Any = part.to(CSR)
                cell = kronecker.find(CSR, part.place)
                C = there(part.place, cell, own, brought(rows, part.place), op, zero, rule)
                parts[i] = C if parts[i] is None else ewise_add(parts[i], C, "first")
    starts = tuple(start * B.nrows for start in A.starts)
    return write(assembled(A.group, parts, starts, A.first, shape))


@assign.implement(Partitioned, "cpu", "cuda")
def _(
    out: Partitioned, value: Any, rows: Array | None, cols: Array | None, accum: Combiner | None, write: MatrixWrite
) -> Partitioned:
    """Each strip takes the value's rows that lie in it: those of a value in parts travel there."""
    ends = out.starts if rows is None else tuple(out.xp.searchsorted(rows, out.xp.asarray(out.starts)).tolist())
    values = [value] * len(out.parts)
    if isinstance(value, Matrix):
        values = [brought(x, own.place) for x, own in zip(out.alike(value, ends).parts, out.parts, strict=True)]
    masks = strips_of(write.mask, out)
    with out.group.guarded("assign"):
        parts = []
        for k, (part, mask, own) in enumerate(zip(out.parts, masks, values, strict=True)):
            start, (first, last) = out.rows[k][0], ends[out.first + k : out.first + k + 2]
            at = None if rows is None else (rows[first:last] - start).astype(index_dtype(part.nrows))
            into = CSR.trusted(*part.to(CSR).components)
            rule = replace(write, shape=part.shape, dtype=part.dtype, mask=mask, out=into)
            places = [brought(x, part.place) for x in (at, cols)]
            own = own.to(CSR) if isinstance(own, Matrix) else own
            there(part.place, assign.find(CSR, part.place), into, own, *places, accum, rule)
            parts.append(there(part.place, alike, into, part))
    out.overwrite(out.with_parts(parts))
    return out


@reduce.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, monoid: Monoid, axis: int | None, write: VectorWrite) -> Any:
    group, zero = A.group, monoid.zero(A.dtype)
    if axis is None:
        with group.guarded("reduce"):
            mine = np.array([reduce(part, monoid) for part in A.parts], A.dtype)
        return reduce(concatenated(group.everyone("reduce", mine)), monoid)
    along: Any = axis if A.major == 0 else 1 - axis
    with group.guarded("reduce"):
        found = [brought(reduce(part, monoid, axis=along), A.place) for part in A.parts]
    if along == 1:
        return write(stacked(group, "reduce", found, [start for start, _ in A.rows], A.starts[-1]))
    return write(combined(group, "reduce", fold(lambda y, other: ewise_add(y, other, monoid), found), monoid, zero))


@reduce_lines.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, monoid: Monoid, axis: int) -> tuple[Array, Array]:
    along = axis if A.major == 0 else 1 - axis
    with A.group.guarded("reduce"):
        lines = [there(part.place, reduce_lines, part, monoid, along) for part in A.parts]
        found = [(brought(y, A.place), brought(k, A.place)) for y, k in lines]
    if along == 0:
        return first_of(A, found, monoid, "reduce")
    starts = [start for start, _ in A.rows]
    y, k = (stacked(A.group, "reduce", list(each), starts, A.starts[-1]) for each in zip(*found, strict=True))
    return y, k


@extract.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, rows: Array | None, cols: Array | None, write: Callable[[CSR], Any]) -> Any:
    base: Any = A if A.major == 0 else A.T
    at_rows, at_cols = (rows, cols) if A.major == 0 else (cols, rows)
    with A.group.guarded("extract"):
        pieces: list[Any] = []
        for strip in own_strips(base):
            cell, at = extract.find(CSR, strip.place), [brought(x, strip.place) for x in (at_rows, at_cols)]
            pieces.append(brought(there(strip.place, cell, strip, *at, lambda T: T), A.place))
        listed = [concatenated(list(each)) for each in zip(*(piece.to_edges() for piece in pieces), strict=True)]
        shape = pieces[0].shape
    u, v, w = (concatenated(A.group.everyone("extract", x)) for x in listed)
    u, v, shape = (u, v, shape) if A.major == 0 else (v, u, shape[::-1])
    return write(from_edges(u, v, w, shape=shape, dup="error"))
