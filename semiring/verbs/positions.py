"""Operators of positions: ⊗ that gives where a term of a product comes from, and functions that give where an entry is.

    firsti  the row of a                 firstj   the column of a, which is the term's k
    secondi the row of b, which is k     secondj  the column of b               each with 1 behind it: counted from 1

Values count only as present or absent, so that such a product is one of other values: y_i = min k over the terms is the
min-second product of A's pattern and of the x whose elements are their own indices. Every format and device has it.

Source: T. Davis, Algorithm 1037: SuiteSparse:GraphBLAS, ACM Trans. Math. Softw. 49(3), 2023, section 3.2.
"""

from __future__ import annotations

import operator
from typing import Any

from formats import CSR, Matrix, SparseVector
from formats.arrays import Array, differs, namespace
from formats.matrix.facts import PATTERN
from formats.places import place_of
from formats.storage.compressed import expand

from ..algebra.ops import OPERATORS
from ..algebra.semirings import BOOL, INT64, Semiring
from . import merge, steps
from .masks import MatrixWrite, Rule, VectorWrite
from .operands import typed_matrix
from .registry import Verb
from .strips import by_strips

FUNCTIONS = ("rowindex", "colindex", "diagindex")
"""The positions that `apply` knows, by GraphBLAS's names: the row, the column, and the column minus the row."""

COUNT = "plus_pair"


def check_alone(s: Semiring, return_argument: bool, *operands: Any) -> None:
    """TypeError for what products of positions are not."""
    if return_argument:
        raise TypeError(f"{s.name} gives positions already: ask for them, or pass return_argument, not both")
    if not all(isinstance(X, Matrix) for X in operands):
        raise TypeError(f"{s.name} is for two matrices, or a matrix and a vector, not for arrays of two dimensions")


def product(verb: Verb[..., Any], A: Matrix, x: Any, s: Semiring, rule: Rule, *, matrix_first: bool) -> Any:
    """A ⊗ x (matrix_first) or x ⊗ A, by `verb`, of a semiring of positions, in int64."""
    (axis, first), zero = _position(s), s.zero(INT64)
    P = _pattern(A, s)

    def multiply(x: Any, semiring: Semiring | str, **rule: Any) -> Any:
        return verb(P, x, semiring, **rule) if matrix_first else verb(x, P, semiring, **rule)

    if axis == "k":
        own = Semiring(s.add, OPERATORS["second" if matrix_first else "first"])
        return multiply(_numbered(x, s, first, zero), own, **rule)
    size = A.nrows if matrix_first else A.ncols
    write = VectorWrite.checked(size, INT64, zero, A.place, rule)
    counts = multiply(_ones(x, s), COUNT)
    along = axis == ("i" if matrix_first else "j")  # else there is one row, or column
    if isinstance(counts, SparseVector):
        places = counts.indices.astype(INT64) if along else A.xp.zeros(counts.nnz, INT64)
        values = _summed(s, places + first, counts.values)
        return write(merge.drop(SparseVector.trusted(counts.indices, values, size), zero))
    places = A.xp.arange(size) if along else A.xp.zeros(size, INT64)
    return write(A.xp.where(counts == 0, zero, _summed(s, places + first, counts)))


def matrix_product(mxm: Verb[..., Any], A: Matrix, B: Matrix, s: Semiring, write: MatrixWrite, rule: Rule) -> CSR:
    """A ⊗ B of a semiring of positions, in int64."""
    axis, first = _position(s)
    A = mxm.served(A)
    P = _pattern(B, s)
    if axis == "k":

        def numbered(part: Any, _: int) -> Any:
            columns = part.indices if part.major == 0 else expand(part.indptr)
            return part.revalued(columns.astype(INT64) + first)

        return mxm(by_strips(A, numbered), mxm.served(P), Semiring(s.add, OPERATORS["first"]), **rule)

    def placed(part: CSR, start: int) -> Any:
        places = expand(part.indptr).astype(INT64) + start if axis == "i" else part.indices.astype(INT64)
        values = _summed(s, places + first, part.values)
        made: Any = part.revalued(values)
        return steps.kept(made, values != 0) if s.add.name == "plus" else made

    counts: Any = mxm(_pattern(A, s), mxm.served(P), COUNT, mask=write.mask, complement=write.complement)
    return write(by_strips(counts, placed))


def applied(apply: Verb[..., Any], u: Any, name: str, thunk: Any, semiring: Semiring | None, rule: Rule) -> Any:
    """Each entry's position plus the thunk, in int64."""
    first = 0 if thunk is None else operator.index(thunk)
    if isinstance(u, Matrix):

        def placed(A: CSR, start: int) -> CSR:
            rows, columns = expand(A.indptr).astype(INT64) + start, A.indices.astype(INT64)
            places = {"rowindex": rows, "colindex": columns, "diagindex": columns - rows}[name]
            return CSR.trusted(A.indptr, A.indices, places + first, A.shape)

        return apply(by_strips(apply.served(u), placed), "identity", **rule)
    sign = {"rowindex": 1, "colindex": 0, "diagindex": -1}[name]  # a vector is a column
    zero = None if semiring is None else semiring.zero(u.dtype)
    absent = INT64.type(0) if semiring is None else semiring.zero(INT64)
    if isinstance(u, SparseVector):
        u = merge.drop(u, zero)
        w: Any = SparseVector.trusted(u.indices, u.indices.astype(INT64) * sign + first, u.size)
        place = u.place
    else:
        xp = namespace(u)
        w = xp.arange(u.size, dtype=INT64) * sign + first
        w = w if zero is None else xp.where(differs(u, zero), w, absent)
        place = place_of(u)
    return VectorWrite.checked(u.size, INT64, absent, place, rule)(w)


def _position(s: Semiring) -> tuple[str, int]:
    assert s.mul.position is not None
    return s.mul.position


def _pattern(A: Matrix, s: Semiring) -> Matrix:
    """A's pattern in int64, kept with it."""
    return typed_matrix(A.keep(PATTERN, A.pattern), s, INT64)


def _present(x: Array, s: Semiring) -> Array:
    """True for each value that is another than what is absent: the semiring's zero, or False."""
    return differs(x, False if x.dtype == BOOL else s.zero(x.dtype))


def _numbered(x: Any, s: Semiring, first: int, zero: Any) -> Any:
    """The vector whose present elements are their own indices."""
    if isinstance(x, SparseVector):
        indices = x.indices[_present(x.values, s)]
        return SparseVector.trusted(indices, indices.astype(INT64) + first, x.size)
    xp = namespace(x)
    return xp.where(_present(x, s), xp.arange(first, x.size + first, dtype=INT64), zero)


def _ones(x: Any, s: Semiring) -> Any:
    """The vector whose present elements are ones."""
    if isinstance(x, SparseVector):
        indices = x.indices[_present(x.values, s)]
        return SparseVector.trusted(indices, x.place.xp.ones(indices.size, INT64), x.size)
    return _present(x, s).astype(INT64)


def _summed(s: Semiring, places: Array, counts: Array) -> Array:
    """⊕ over so many terms that are the same."""
    return places * counts if s.add.name == "plus" else places
