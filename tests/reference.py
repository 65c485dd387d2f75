"""The slow, obviously right backend: dense Python loops, registered through the public `Verb.implement`.

    with reference.registered():                      # nothing is registered outside of the block
        expected = mxv(DenseReference.of(A), x, MinPlus, mask=m, accum="min", out=w)

An entry is a Python number or None for absent; the result is an array with the semiring's zero at absent positions, or
a DenseReference. `out` is read and never written. Nothing here is shared with the backends: neither arithmetic, nor
merging, nor the write rule.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product as pairs
from typing import Any

import numpy as np

from formats import Matrix, SparseVector
from formats.matrix.facts import Fact
from semiring import (
    Monoid,
    Semiring,
    Vector,
    Verb,
    apply,
    assign,
    ewise_add,
    ewise_mult,
    ewise_union,
    extract,
    kronecker,
    mxm,
    mxv,
    reduce,
    select,
    transpose,
    vxm,
)
from semiring.verbs.registry import Internal
from semiring.verbs.verbs import dense_mxm

Entry = Any
Entries = list[Entry]


def quotient(a: Any, b: Any) -> Any:
    """a / b, of integers rounded towards 0; of integers a / 0 is an end of int64, and 0 / 0 is 0."""
    if isinstance(a, float):
        with np.errstate(all="ignore"):
            return (np.float64(a) / np.float64(b)).item()
    exact = abs(a) // abs(b) if b else abs(a) and 2**63
    return clamp(-exact if (a < 0) != (b < 0) else exact, np.dtype(np.int64))


def power(a: Any, b: Any) -> Any:
    """a to the power of b, of integers rounded towards 0, to an end of int64 at most."""
    if isinstance(a, float):
        with np.errstate(all="ignore"):
            return np.power(np.float64(a), np.float64(b)).item()
    if b < 0:
        return quotient(1, a) if abs(a) != 1 else a**-b
    return clamp(a ** (b if abs(a) < 2 else min(b, 64 + b % 2)), np.dtype(np.int64))


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "plus": operator.add,
    "minus": operator.sub,
    "rminus": lambda a, b: b - a,
    "times": operator.mul,
    "div": quotient,
    "rdiv": lambda a, b: quotient(b, a),
    "pow": power,
    "min": min,
    "max": max,
    "first": lambda a, b: a,
    "second": lambda a, b: b,
    "pair": lambda a, b: 1,
    "any": lambda a, b: a if a else b,
    "lor": operator.or_,
    "land": operator.and_,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
"""What the shipped operators mean, said once more. An operator of the user's is its own scalar function."""


ENTRIES: Fact[list] = Fact("entries")


@dataclass(frozen=True, eq=False, repr=False)
class _DenseReference(Matrix):
    """values, present: (nrows, ncols). The underscore keeps the class out of Matrix.formats."""

    values: np.ndarray
    present: np.ndarray
    shape: tuple[int, int]
    major: int = 0

    @classmethod
    def of(cls, A: Matrix) -> _DenseReference:
        return cls.from_entries(A.shape, zip(*A.to_edges(), strict=True), A.dtype)

    @classmethod
    def from_entries(cls, shape: tuple[int, int], entries: Any, dtype: np.dtype) -> _DenseReference:
        values, present = np.zeros(shape, dtype), np.zeros(shape, bool)
        for i, j, value in entries:
            values[i, j], present[i, j] = value, True
        return cls(values, present, shape)

    def _transposed(self) -> _DenseReference:
        return _DenseReference(self.values.T, self.present.T, self.shape[::-1])

    def at(self, i: int, j: int) -> Entry:
        return self.keep(ENTRIES, self._entries)[i][j]

    def _entries(self) -> list[Entries]:
        rows = zip(self.values.tolist(), self.present.tolist(), strict=True)
        return [[value if here else None for value, here in zip(*row, strict=True)] for row in rows]

    def to_dense(self, fill: Any = 0) -> np.ndarray:
        return np.where(self.present, self.values, self.dtype.type(fill))


DenseReference = _DenseReference

# --- arithmetic -----------------------------------------------------------------------------------------------------


def clamp(value: Any, dtype: np.dtype) -> Any:
    """The exact `value` as a Python number that `dtype` holds: integers stop at the ends of the range."""
    if dtype.kind == "i":
        return max(np.iinfo(dtype).min, min(np.iinfo(dtype).max, int(value)))
    return dtype.type(value).item()


def combine(op: Any, a: Any, b: Any, dtype: np.dtype) -> Any:
    """op(a, b), exact and then clamped."""
    binary = op.op if isinstance(op, Monoid) else op
    return clamp(FUNCTIONS.get(binary.name, binary.scalar)(a, b), np.dtype(bool) if binary.boolean else dtype)


def total(monoid: Monoid, terms: Entries, dtype: np.dtype) -> Any:
    """⊕ over exact terms, clamped once at the end for a sum or a product, and before for anything else."""
    if monoid.name in ("plus", "times") and dtype.kind == "i":
        return clamp(sum(terms) if monoid.name == "plus" else math.prod(terms), dtype)
    result = monoid.zero(dtype).item()
    for term in terms:
        result = combine(monoid, result, clamp(term, dtype), dtype)
    return result


def multiply(s: Semiring, a: Entry, b: Entry, zero: Any, *, pattern: tuple[bool, bool]) -> Entry:
    """a ⊗ b, exact; None where an operand is absent, or the product has no place in an order, which is NaN.

    A stored zero is absent but to `pair`, which follows patterns.
    """
    for x, by_pattern in zip((a, b), pattern, strict=True):
        if x is None or (x == zero and not (by_pattern and s.mul.reads == "")):
            return None
    result = FUNCTIONS.get(s.mul.name, s.mul.scalar)(a, b)
    return None if s.add.selective and result != result else result


def present(terms: Any) -> Entries:
    return [term for term in terms if term is not None]


def entries_of(x: Any, zero: Any = None) -> Entries:
    """The vector's entries in order; None where a sparse one has none and where a value is `zero`."""
    if isinstance(x, SparseVector):
        found: Entries = [None] * x.size
        for i, value in zip(x.indices.tolist(), x.values.tolist(), strict=True):
            found[i] = value
    else:
        found = x.tolist()
    return [None if zero is not None and value == zero else value for value in found]


# --- the write rule -------------------------------------------------------------------------------------------------


def accumulated(accum: Any, old: Entry, new: Entry, dtype: np.dtype) -> Entry:
    if accum is None or old is None:
        return new
    return old if new is None else combine(accum, old, new, dtype)


def written(write: Any, t: Entries, old: Entries, allowed: list[bool]) -> Entries:
    """out⟨mask⟩ = accum(out, t), position by position; `old` is what `out` holds."""
    return [
        accumulated(write.accum, was, new, write.dtype) if may else None if write.replace else was
        for new, was, may in zip(t, old, allowed, strict=True)
    ]


def write_vector(write: Any, t: Entries) -> np.ndarray:
    zero = write.zero.item()
    if write.mask is None:
        allowed = [True] * write.size
    else:
        allowed = [bool(x) != write.complement for x in entries_of(write.mask)]
    old = [None] * write.size if write.out is None else entries_of(write.out, zero)
    result = written(write, [None if x == zero else x for x in t], old, allowed)
    return np.array([zero if x is None else x for x in result], write.dtype)


def write_matrix(write: Any, t: Callable[[int, int], Entry]) -> _DenseReference:
    places = list(pairs(range(write.shape[0]), range(write.shape[1])))
    if isinstance(write.mask, Matrix):
        mask = DenseReference.of(write.mask)
        allowed = [bool(mask.at(*place)) != write.complement for place in places]
    else:
        allowed = [write.mask is None or bool(write.mask[place]) != write.complement for place in places]
    out = None if write.out is None else DenseReference.of(write.out)
    old = [None if out is None else out.at(*place) for place in places]
    result = written(write, [t(*place) for place in places], old, allowed)
    kept = [(*place, value) for place, value in zip(places, result, strict=True) if value is not None]
    return DenseReference.from_entries(write.shape, kept, write.dtype)


# --- the verbs on matrices --------------------------------------------------------------------------------------------


def _mxv(A: _DenseReference, x: Any, s: Semiring, write: Any) -> np.ndarray:
    zero, vector = s.zero(A.dtype).item(), entries_of(x)
    rows = (
        present(multiply(s, A.at(i, k), vector[k], zero, pattern=(True, False)) for k in range(A.ncols))
        for i in range(A.nrows)
    )
    return write_vector(write, [total(s.add, terms, A.dtype) for terms in rows])


def _vxm(x: Any, A: _DenseReference, s: Semiring, write: Any) -> np.ndarray:
    zero, vector = s.zero(A.dtype).item(), entries_of(x)
    columns = (
        present(multiply(s, vector[k], A.at(k, j), zero, pattern=(False, True)) for k in range(A.nrows))
        for j in range(A.ncols)
    )
    return write_vector(write, [total(s.add, terms, A.dtype) for terms in columns])


def _mxm(A: _DenseReference, B: _DenseReference, s: Semiring, write: Any) -> _DenseReference:
    zero = s.zero(A.dtype).item()

    def entry(i: int, j: int) -> Entry:
        terms = (multiply(s, A.at(i, k), B.at(k, j), zero, pattern=(True, True)) for k in range(A.ncols))
        result = total(s.add, present(terms), A.dtype)
        return None if result == zero else result

    return write_matrix(write, entry)


def _dense_mxm(A: _DenseReference, X: np.ndarray, s: Semiring, matrix_first: bool, argument: bool, allowed: Any) -> Any:
    zero, columns = s.zero(A.dtype).item(), X.T.tolist()
    Y = np.full((A.nrows, X.shape[1]), zero, A.dtype)
    K = np.full(Y.shape, -1, np.int32)
    for i, j in pairs(range(A.nrows), range(X.shape[1])):
        terms = [_term(s, A.at(i, k), columns[j][k], zero, matrix_first) for k in range(A.ncols)]
        Y[i, j] = result = total(s.add, present(terms), A.dtype)
        gave = [k for k, term in enumerate(terms) if term is not None and clamp(term, A.dtype) == result != zero]
        K[i, j] = gave[0] if gave and argument else -1
    return (Y, K) if argument else Y


def _term(s: Semiring, a: Entry, x: Entry, zero: Any, matrix_first: bool) -> Entry:
    operands, pattern = ((a, x), (True, False)) if matrix_first else ((x, a), (False, True))
    return multiply(s, *operands, zero, pattern=pattern)


def _ewise_add(A: _DenseReference, B: _DenseReference, op: Any, zero: Any, write: Any) -> _DenseReference:
    return write_matrix(write, lambda i, j: accumulated(op, A.at(i, j), B.at(i, j), A.dtype))


def _ewise_mult(A: _DenseReference, B: _DenseReference, op: Any, zero: Any, write: Any) -> _DenseReference:
    absent = None if zero is None or getattr(op, "reads", "ab") == "" else zero.item()

    def entry(i: int, j: int) -> Entry:
        a, b = A.at(i, j), B.at(i, j)
        return None if a in (None, absent) or b in (None, absent) else combine(op, a, b, A.dtype)

    return write_matrix(write, entry)


def _kronecker(A: _DenseReference, B: _DenseReference, op: Any, zero: Any, write: Any) -> _DenseReference:
    def entry(i: int, j: int) -> Entry:
        (a_row, b_row), (a_col, b_col) = divmod(i, B.nrows), divmod(j, B.ncols)
        a, b = A.at(a_row, a_col), B.at(b_row, b_col)
        absent = None if zero is None else zero.item()
        return None if a in (None, absent) or b in (None, absent) else combine(op, a, b, A.dtype)

    return write_matrix(write, entry)


def _ewise_union(A: _DenseReference, alpha: Any, B: _DenseReference, beta: Any, op: Any, write: Any) -> _DenseReference:
    return write_matrix(write, lambda i, j: joined(op, A.at(i, j), alpha, B.at(i, j), beta, A.dtype))


def joined(op: Any, a: Entry, alpha: Any, b: Entry, beta: Any, dtype: np.dtype) -> Entry:
    """op(a, b) if one of them is there."""
    if a is None and b is None:
        return None
    return combine(op, alpha.item() if a is None else a, beta.item() if b is None else b, dtype)


def _apply(A: _DenseReference, function: Callable[[Any], Any], write: Any) -> _DenseReference:
    return write_matrix(write, lambda i, j: function(A.values[i, j : j + 1]).item() if A.present[i, j] else None)


def _select(A: _DenseReference, predicate: Any, row: Any, col: Any, write: Any) -> _DenseReference:
    def entry(i: int, j: int) -> Entry:
        at_row, at_col = (None if x is None else entries_of(x)[k] for x, k in ((row, i), (col, j)))
        if A.at(i, j) is None or (row is not None and at_row is None) or (col is not None and at_col is None):
            return None
        seen = [None if x is None else A.dtype.type(x) for x in (A.at(i, j), at_row, at_col)]
        return A.at(i, j) if predicate.array(i, j, *seen) else None

    return write_matrix(write, entry)


def _reduce(A: _DenseReference, monoid: Monoid, axis: int | None, write: Any) -> Any:
    if axis is None:
        return total(monoid, present(A.at(i, j) for i in range(A.nrows) for j in range(A.ncols)), A.dtype)
    lines = A if axis == 1 else A.T
    sums = [total(monoid, present(lines.at(i, j) for j in range(lines.ncols)), A.dtype) for i in range(lines.nrows)]
    return write_vector(write, sums)


def _extract(A: _DenseReference, rows: Any, cols: Any, write: Callable[[Any], Any]) -> _DenseReference:
    chosen_rows = range(A.nrows) if rows is None else rows.tolist()
    chosen_cols = range(A.ncols) if cols is None else cols.tolist()
    return write_matrix(write, lambda i, j: A.at(chosen_rows[i], chosen_cols[j]))


def _transpose(A: _DenseReference, write: Any) -> _DenseReference:
    return write_matrix(write, lambda i, j: A.at(j, i))


# --- the verbs on vectors, as stand-ins for the CPU's -----------------------------------------------------------------


def _vector_ewise_add(u: Any, v: Any, op: Any, zero: Any, write: Any) -> np.ndarray:
    both = zip(entries_of(u, zero), entries_of(v, zero), strict=True)
    return write_vector(write, [accumulated(op, a, b, u.dtype) for a, b in both])


def _vector_ewise_mult(u: Any, v: Any, op: Any, zero: Any, write: Any) -> np.ndarray:
    both = zip(entries_of(u, zero), entries_of(v, zero), strict=True)
    return write_vector(write, [None if a is None or b is None else combine(op, a, b, u.dtype) for a, b in both])


def _vector_ewise_union(u: Any, alpha: Any, v: Any, beta: Any, op: Any, zero: Any, write: Any) -> np.ndarray:
    both = zip(entries_of(u, zero), entries_of(v, zero), strict=True)
    return write_vector(write, [joined(op, a, alpha, b, beta, u.dtype) for a, b in both])


def _vector_apply(u: Any, function: Callable[[Any], Any], zero: Any, write: Any) -> np.ndarray:
    return write_vector(
        write, [None if a is None else function(np.array([a], u.dtype)).item() for a in entries_of(u, zero)]
    )


def _vector_select(u: Any, compare: Any, other: Any, write: Any) -> np.ndarray:
    against = entries_of(other) if isinstance(other, SparseVector) or np.ndim(other) else [other] * u.size
    both = zip(entries_of(u), against, strict=True)
    return write_vector(
        write, [a if a is not None and b is not None and FUNCTIONS[compare.name](a, b) else None for a, b in both]
    )


def _vector_reduce(u: Any, monoid: Monoid) -> Any:
    return total(monoid, present(entries_of(u)), u.dtype)


def _vector_extract(u: Any, indices: np.ndarray, write: Any) -> np.ndarray:
    return write_vector(write, [entries_of(u)[i] for i in indices.tolist()])


def _vector_assign(out: Any, value: Any, indices: Any, accum: Any, write: Any) -> np.ndarray:
    places = range(out.size) if indices is None else indices.tolist()
    many = isinstance(value, SparseVector) or np.ndim(value)
    new = entries_of(value, write.zero) if many else [value] * len(places)
    result = entries_of(out, write.zero)
    for place, entry in zip(places, new, strict=True):
        result[place] = accumulated(accum, result[place], entry, out.dtype)
    return write_vector(write, result)


ON_MATRICES: dict[Verb[..., Any], Callable[..., Any]] = {
    mxv: _mxv,
    vxm: _vxm,
    mxm: _mxm,
    dense_mxm: _dense_mxm,
    ewise_add: _ewise_add,
    ewise_mult: _ewise_mult,
    ewise_union: _ewise_union,
    kronecker: _kronecker,
    apply: _apply,
    select: _select,
    reduce: _reduce,
    extract: _extract,
    transpose: _transpose,
}

ON_VECTORS: dict[Verb[..., Any], Callable[..., Any]] = {
    ewise_add: _vector_ewise_add,
    ewise_mult: _vector_ewise_mult,
    ewise_union: _vector_ewise_union,
    apply: _vector_apply,
    select: _vector_select,
    reduce: _vector_reduce,
    extract: _vector_extract,
    assign: _vector_assign,
}


@contextmanager
def registered(*, vectors: bool = False) -> Iterator[None]:
    """Within the block, verbs take a DenseReference; with `vectors`, the vector verbs are the reference's as well."""
    tables = {verb: dict(verb.cells) for verb in (*Verb.all.values(), *Internal.all.values())}
    for verb, implementation in ON_MATRICES.items():
        verb.implement(DenseReference, "cpu")(implementation)
    for verb, implementation in ON_VECTORS.items() if vectors else ():
        verb.cells.pop((Vector, "cpu"), None)
        verb.implement(Vector, "cpu")(implementation)
    try:
        yield
    finally:
        for verb, table in tables.items():
            verb.cells.clear()
            verb.cells.update(table)
