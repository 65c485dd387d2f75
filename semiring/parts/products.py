"""Products of a matrix in parts: with vectors and dense matrices, which every participant has whole, and with others.

y = A x     each strip gives its rows of y
y = x A     each strip takes its rows of x, and the exchange folds what the strips give
C = A B     each strip of A takes the strips of B one by one, which travel to everybody, one at a time
"""

from __future__ import annotations

from functools import reduce as fold
from typing import Any

import numpy as np

from formats import CSR, Matrix, SparseVector
from formats.arrays import Array, brought, concatenated, contiguous, differs, namespace, position_of
from formats.parts.partitioned import Partitioned, there
from formats.places import Place
from formats.storage.compressed import index_types
from formats.storage.orientation import compressed

from ..algebra.semirings import Semiring
from ..verbs import steps
from ..verbs.arguments import NONE
from ..verbs.masks import MatrixWrite, VectorWrite
from ..verbs.strips import check_out, strips_of
from ..verbs.verbs import dense_mxm, ewise_add, ewise_mult, mxm, mxv, product_with_arguments, vxm
from .exchange import combined, stacked


@mxv.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, x: Any, semiring: Semiring, write: VectorWrite) -> Any:
    return write((own_rows if A.major == 0 else all_rows)(A, x, semiring, write, "mxv", matrix_first=True))


@vxm.implement(Partitioned, "cpu", "cuda")
def _(x: Any, A: Partitioned, semiring: Semiring, write: VectorWrite) -> Any:
    return write((own_rows if A.major == 1 else all_rows)(A, x, semiring, write, "vxm", matrix_first=False))


def own_rows(A: Partitioned, x: Any, s: Semiring, write: VectorWrite, what: str, *, matrix_first: bool) -> Any:
    """Each strip's part of y, one after the other."""
    with A.group.guarded(what):
        wanted = [None if write.mask is None else rows_of(write.mask, *each) for each in A.rows]
        rule = [{} if mask is None else {"mask": mask, "complement": write.complement} for mask in wanted]
        mine = []
        for part, rest in zip(A.parts, rule, strict=True):
            own, rest = brought(x, part.place), rest and rest | {"mask": brought(rest["mask"], part.place)}
            mine.append(mxv(part, own, s, **rest) if matrix_first else vxm(own, part.T, s, **rest))
        mine = [brought(y, A.place) for y in mine]
    return stacked(A.group, what, mine, [start for start, _ in A.rows], A.starts[-1])


def all_rows(A: Partitioned, x: Any, s: Semiring, write: VectorWrite, what: str, *, matrix_first: bool) -> Any:
    """⊕ over what each strip makes of its part of x."""
    with A.group.guarded(what):
        found = []
        for part, each in zip(A.parts, A.rows, strict=True):
            own, mask = brought(rows_of(x, *each), part.place), brought(write.mask, part.place)
            rule: Any = {} if mask is None else {"mask": mask, "complement": write.complement}
            found.append(mxv(part.T, own, s, **rule) if matrix_first else vxm(own, part, s, **rule))
        found = [brought(y, A.place) for y in found]
        y = fold(lambda y, part: ewise_add(y, part, s), found)
    return combined(A.group, what, y, s.add, s.zero(A.dtype))


def rows_of(x: Any, start: int, stop: int) -> Any:
    """The elements start … stop - 1 of a vector, or such rows of an array."""
    if not isinstance(x, SparseVector):
        return x[start:stop]
    first, last = (position_of(i, x.indices) for i in (start, stop))
    return SparseVector.trusted(x.indices[first:last] - x.indices.dtype.type(start), x.values[first:last], stop - start)


@dense_mxm.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, X: Array, semiring: Semiring, matrix_first: bool, argument: bool, allowed: Array | None) -> Any:
    starts, size = [start for start, _ in A.rows], A.starts[-1]
    if A.major == 0:
        with A.group.guarded("mxm"):
            mine = [
                of_part(part, X, semiring, matrix_first, argument, None if allowed is None else allowed[start:stop])
                for part, (start, stop) in zip(A.parts, A.rows, strict=True)
            ]
            mine = [at_one_place(each, A.place) for each in mine]
        if not argument:
            return stacked(A.group, "mxm", mine, starts, size)
        return tuple(stacked(A.group, "mxm", list(each), starts, size) for each in zip(*mine, strict=True))
    with A.group.guarded("mxm"):
        found = [
            of_part(part.T, contiguous(X[start:stop]), semiring, matrix_first, argument, allowed)
            for part, (start, stop) in zip(A.parts, A.rows, strict=True)
        ]
        found = [at_one_place(each, A.place) for each in found]
        zero = semiring.zero(A.dtype)
        if not argument:
            Y = fold(lambda Y, Z: ewise_add(Y.reshape(-1), Z.reshape(-1), semiring), found).reshape(found[0].shape)
    return combined(A.group, "mxm", Y, semiring.add, zero) if not argument else first_of(A, found, semiring, "mxm")


def of_part(part: Matrix, X: Array, s: Semiring, matrix_first: bool, argument: bool, allowed: Array | None) -> Any:
    """A product with a part, where that is."""
    X, allowed = brought(X, part.place), brought(allowed, part.place)
    return there(part.place, dense_mxm, part, X, s, matrix_first, argument, allowed)


def at_one_place(found: Any, place: Place) -> Any:
    """Moves the result for a part, an array or two, to a place."""
    return tuple(brought(x, place) for x in found) if isinstance(found, tuple) else brought(found, place)


def first_of(A: Partitioned, found: list[tuple[Array, Array]], s: Any, what: str) -> tuple[Array, Array]:
    """⊕ over what strips give with their arguments, which count from the strip's first row: of equals the smallest."""
    shape, add = found[0][0].shape, getattr(s, "add", s)
    xp = A.xp
    mine = [
        (y.reshape(-1), xp.where(k < 0, NONE, k + start).reshape(-1))
        for (y, k), (start, _) in zip(found, A.rows, strict=True)
    ]
    ys = [each.reshape(len(mine), -1) for each in A.group.everyone(what, concatenated([y for y, _ in mine]))]
    ks = [each.reshape(len(mine), -1) for each in A.group.everyone(what, concatenated([k for _, k in mine]))]
    (y, *others), (k, *places) = (concatenated(each) for each in (ys, ks))
    for other, place in zip(others, places, strict=True):
        better = (place >= 0) & ((k < 0) | differs(add(y, other), y))
        y, k = xp.where(better, other, y), xp.where(better, place, k)
    return y.reshape(shape), k.astype(found[0][1].dtype).reshape(shape)


# --- of two matrices ------------------------------------------------------------------------------------------------


@mxm.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, B: Partitioned, semiring: Semiring, write: MatrixWrite) -> Partitioned:
    check_out(write, A)
    A, B = compressed(A, 0), compressed(B, 0)
    masks = strips_of(write.mask, A)
    parts: list[Any] = [None] * len(A.parts)
    for k in range(len(B.entries)):
        rows = travelling(B, k)
        with A.group.guarded("mxm"):
            for i, (part, mask) in enumerate(zip(A.parts, masks, strict=True)):
                C = mxm(part.to(CSR), brought(rows, part.place), semiring, **allowing(mask, write.complement))
                parts[i] = C if parts[i] is None else ewise_add(parts[i], C, semiring.add)
    with A.group.guarded("mxm"):
        zero = semiring.zero(A.dtype)
        parts = [there(C.place, without, C, zero) if len(B.entries) > 1 else C for C in parts]
    return write(A.with_parts(parts, B.ncols), masked=True)


def allowing(mask: Any, complement: bool) -> dict[str, Any]:
    """The arguments of a verb that keep to a mask, if there is one."""
    return {} if mask is None else {"mask": mask, "complement": complement}


@product_with_arguments.implement(Partitioned, "cpu", "cuda")
def _(A: Partitioned, B: Partitioned, semiring: Semiring, mask: Any, complement: bool) -> tuple[Partitioned, ...]:
    """Adds up the products with the strips of B; of equal values the first strip's argument stays."""
    masks = strips_of(mask, A)
    found: list[Any] = [None] * len(A.parts)
    for k in range(len(B.entries)):
        rows = travelling(B, k)
        with A.group.guarded("mxm"):
            for i, (part, own) in enumerate(zip(A.parts, masks, strict=True)):
                there_rows = brought(rows, part.place)
                more = there(part.place, product_with_arguments, part.to(CSR), there_rows, semiring, own, complement)
                found[i] = more if found[i] is None else there(part.place, better_of, found[i], more, semiring.add)
    C, K = ([pair[which] for pair in found] for which in (0, 1))
    return A.with_parts(C, B.ncols), A.with_parts(K, B.ncols)


def better_of(found: tuple[CSR, CSR], more: tuple[CSR, CSR], add: Any) -> tuple[Any, Any]:
    """Combines two products with their arguments: ⊕ of the values, and the first argument of equals."""
    (C, K), (D, L) = found, more
    T = ewise_add(C, D, add)
    stays: Any = ewise_mult(C, T, "eq")
    return T, ewise_add(steps.kept(K, stays.values), L, "first")


def without(C: CSR, zero: Any) -> Any:
    """The entries that are not the zero."""
    return steps.kept(C, differs(C.values, zero))


def travelling(B: Partitioned, k: int) -> CSR:
    """The k-th of all strips, on every participant, as a matrix of B's shape without other rows. A step, or three."""
    group, here = B.group, k - B.first
    index = np.dtype(np.int64)
    if 0 <= here < len(B.parts):
        with group.guarded("mxm"):
            strip: Any = B.parts[here].to(CSR)
            if group.size == 1:
                return there(strip.place, padded, strip.indptr, strip.indices, strip.values, B, k)
            mine = [strip.indptr.astype(index), strip.indices.astype(index), contiguous(strip.values)]
    else:
        mine = [B.xp.empty(0, index), B.xp.empty(0, index), B.xp.empty(0, B.dtype)]
    indptr, indices, values = (concatenated(group.everyone("mxm, a strip", each)) for each in mine)
    return padded(indptr, indices, values, B, k)


def padded(indptr: Array, indices: Array, values: Array, B: Partitioned, k: int) -> CSR:
    """A strip's rows at their places in a matrix of the whole's shape."""
    start, stop = B.starts[k : k + 2]
    shape = B.shape if B.major == 0 else B.shape[::-1]
    counting, index = index_types(shape, values.size)
    ends = namespace(values).zeros(shape[0] + 1, counting)
    ends[start : stop + 1], ends[stop + 1 :] = indptr, indptr[-1]
    return CSR.trusted(ends, indices.astype(index, copy=False), values, shape)


def own_strips(A: Partitioned) -> list[CSR]:
    """The strips of this process, each as a matrix of the whole's shape without other rows: no step."""
    found = []
    for k, part in enumerate(A.parts, A.first):
        strip: Any = part.to(CSR)
        found.append(there(part.place, padded, strip.indptr, strip.indices, strip.values, A, k))
    return found
