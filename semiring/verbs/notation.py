"""What Python's brackets and operators mean for matrices, by the verbs: see `formats.matrix.notation`."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR, Matrix, SparseVector
from formats.arrays import Array, as_array
from formats.hooks import COMBINED, PART
from formats.matrix.notation import is_integer
from formats.places import is_array
from formats.vector import is_scalar

from ..algebra.semirings import LorLand, PlusTimes, Semiring
from .verbs import apply, ewise_add, ewise_mult, extract, mxm, mxv, vxm


@PART.answered_by
def part(A: Matrix, rows: Any, cols: Any) -> Any:
    """A[rows, cols], of which one at most is a single index."""
    return extract(
        A, *(_indices(at, size, name) for at, size, name in ((rows, A.nrows, "row"), (cols, A.ncols, "column")))
    )


def _indices(at: Any, size: int, name: str) -> Any:
    """What `extract` takes for an index, a slice, indices or Booleans. IndexError for one outside, as of arrays."""
    if isinstance(at, slice):
        return None if at == slice(None) else np.arange(*at.indices(size))
    found = at if is_integer(at) else as_array(at)
    if not is_integer(found) and found.ndim == 0:
        raise TypeError(f"a {name} in brackets is an integer, and several are a slice, indices or Booleans, got {at!r}")
    if is_array(found) and found.dtype == bool:
        if found.shape != (size,):
            raise IndexError(f"Booleans in brackets must be one for each {name}, {size}, got {found.size}")
        return found.nonzero()[0]
    if is_integer(found) and not 0 <= int(found) < size:
        raise IndexError(f"{name} must be in [0, {size}), got {int(found)}")
    return found


@COMBINED.answered_by
def combined(symbol: str, A: Matrix, other: Any, matrix_first: bool) -> Any:
    """A @ other, other @ A, A + other, A - other, A * other; NotImplemented for what is no operand of ours."""
    if symbol == "@":
        return _product(A, other, matrix_first)
    if not isinstance(other, Matrix):
        if is_array(other) and other.ndim > 0:
            raise TypeError(
                f"A {symbol} an array is not defined, for absent entries have no value: Dense(array, 0) is a matrix"
            )
        if not is_scalar(other):
            return NotImplemented
        if symbol == "*":
            return _scaled(A, other)
        raise TypeError(f"A {symbol} {other!r} would fill every absent place: apply works on entries that are there")
    if symbol == "-":
        other = _scaled(other, -1)
    pair = _alike(A, other)
    return ewise_mult(*pair, "times") if symbol == "*" else ewise_add(*pair, "plus")


def _product(A: Matrix, other: Any, matrix_first: bool) -> Any:
    """A ⊗ other or other ⊗ A in plus-times; of Booleans in lor-land, as NumPy has it."""
    if isinstance(other, Matrix):
        return mxm(*_alike(A, other), _semiring(A, other))
    if is_array(other) and other.ndim == 2:
        return mxm(A, other, _semiring(A, other)) if matrix_first else mxm(other, A, _semiring(A, other))
    if not isinstance(other, SparseVector) and not (is_array(other) and other.ndim == 1):
        got = f"an array of {other.ndim} dimensions" if is_array(other) else type(other).__name__
        raise TypeError(f"@ takes a matrix, a SparseVector or an array of one or two dimensions, got {got}")
    return mxv(A, other, _semiring(A, other)) if matrix_first else vxm(other, A, _semiring(A, other))


def _semiring(A: Matrix, other: Matrix | SparseVector | Array) -> Semiring:
    return LorLand if A.dtype == other.dtype == bool else PlusTimes


def _scaled(A: Matrix, factor: Any) -> Matrix:
    """A with every value times the factor, in the dtype that NumPy would have."""
    return apply(A.astype(np.result_type(A.dtype, factor)), "times", right=factor)


def _alike(A: Matrix, B: Matrix) -> tuple[Matrix, Matrix]:
    """Both in one format, CSR unless they are already, and of one dtype."""
    dtype = np.result_type(A.dtype, B.dtype)
    A, B = A.astype(dtype), B.astype(dtype)
    return (A, B) if type(A) is type(B) else (A.to(CSR), B.to(CSR))
