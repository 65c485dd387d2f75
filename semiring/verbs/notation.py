"""Python's brackets and operators on matrices, by the verbs: see `formats.arithmetic`."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from formats import CSR, Matrix, SparseVector
from formats.arrays import Array, as_array, to_device
from formats.hooks import COMBINED, PART
from formats.matrix.notation import is_integer
from formats.places import is_array

from ..algebra.ops import OPERATORS
from ..algebra.semirings import LorLand, PlusTimes, Semiring
from .verbs import apply, ewise_add, ewise_mult, extract, mxm, mxv, vxm

Entries: TypeAlias = Matrix | SparseVector
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@PART.answered_by
def part(A: Matrix, rows: Any, cols: Any) -> Any:
    """A[rows, cols], of which one at most is a single index."""
    return extract(
        A, *(_indices(at, size, name) for at, size, name in ((rows, A.nrows, "row"), (cols, A.ncols, "column")))
    )


def _indices(at: Any, size: int, name: str) -> Any:
    """The argument of `extract` for an index, slice, indices or Booleans. IndexError for one outside, as of arrays."""
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
def combined(symbol: str, A: Entries, other: Any, first: bool) -> Any:
    """The result of an operator on A and the other operand; NotImplemented for what is no operand of ours.

    first: does A stand before it?
    """
    if symbol == "@":
        return _product(A, other, first)  # type: ignore[arg-type]
    if symbol == "abs":
        return A if A.dtype == bool else apply(A, "abs")
    if _is_number(other):
        return _with_number(symbol, A, other)
    what, ours = _what(A), isinstance(other, Matrix | SparseVector)
    if not ours and not hasattr(other, "shape"):
        return NotImplemented
    if symbol in COMPARISONS:
        raise TypeError(
            f"{what} {symbol} {_what(other)} is no single answer: .equals(…) compares two as a whole, and "
            f"ewise_mult(…, …, '{symbol}') the entries that both have"
        )
    if is_array(other):
        raise TypeError(
            f"{what} {symbol} an array is not defined, for absent entries have no value: "
            + ("Dense(array, 0) is a matrix" if isinstance(A, Matrix) else "SparseVector.from_dense(array, 0) is one")
        )
    if not ours or isinstance(other, Matrix) != isinstance(A, Matrix):
        return NotImplemented
    if symbol == "/":
        raise TypeError(
            f"{what} / {_what(other)} would fill absent places: ewise_mult(…, …, 'div') divides what both have"
        )
    if symbol == "-":
        other = _scaled(other, -1)
    left, right = _alike(A, other)
    return ewise_mult(left, right, "times") if symbol == "*" else ewise_add(left, right, OPERATORS["plus"])


def _is_number(obj: Any) -> bool:
    return isinstance(obj, int | float | np.bool_ | np.number) or (is_array(obj) and obj.ndim == 0)


def _what(obj: Any) -> str:
    """How an error calls an operand."""
    kinds = {Matrix: "A", SparseVector: "v", np.ndarray: "an array"}
    return next((name for kind, name in kinds.items() if isinstance(obj, kind)), type(obj).__name__)


def _with_number(symbol: str, A: Entries, number: Any) -> Any:
    """A and a number: a multiple, or a Boolean for each stored entry; a sum with 0 alone, which fills nothing."""
    if symbol in COMPARISONS:
        return apply(A, symbol, right=number)
    if symbol == "*":
        return _scaled(A, number)
    dtype = np.result_type(A.dtype, number)
    if symbol == "/":
        return apply(A.astype(dtype if dtype.kind == "f" else np.float64), "div", right=number)
    if number == 0:
        return A.astype(dtype)
    raise TypeError(
        f"{_what(A)} {symbol} {number!r} would fill every absent place: apply works on entries that are there"
    )


def _product(A: Matrix, other: Any, first: bool) -> Any:
    """A ⊗ other or other ⊗ A in plus-times; of Booleans in lor-land, as NumPy has it. Lists are arrays, as in SciPy."""
    if isinstance(other, list | tuple) and (listed := np.asarray(other)).dtype.kind in "biuf":
        other = to_device(listed, A.device)
    if isinstance(other, Matrix):
        return mxm(*_alike(A, other), _semiring(A, other))
    if is_array(other) and other.ndim == 2:
        return mxm(A, other, _semiring(A, other)) if first else mxm(other, A, _semiring(A, other))
    if not isinstance(other, SparseVector) and not (is_array(other) and other.ndim == 1):
        got = f"an array of {other.ndim} dimensions" if is_array(other) else type(other).__name__
        raise TypeError(f"@ takes a matrix, a SparseVector or an array of one or two dimensions, got {got}")
    return mxv(A, other, _semiring(A, other)) if first else vxm(other, A, _semiring(A, other))


def _semiring(A: Matrix, other: Matrix | SparseVector | Array) -> Semiring:
    return LorLand if A.dtype == other.dtype == bool else PlusTimes


def _scaled(A: Entries, factor: Any) -> Any:
    """A with every value times the factor, in the dtype that NumPy would have."""
    return apply(A.astype(np.result_type(A.dtype, factor)), "times", right=factor)


def _alike(A: Any, B: Any) -> tuple[Any, Any]:
    """Both of one dtype; matrices in one format, CSR unless they are already."""
    dtype = np.result_type(A.dtype, B.dtype)
    A, B = A.astype(dtype), B.astype(dtype)
    return (A, B) if type(A) is type(B) else (A.to(CSR), B.to(CSR))
