"""The operands of every verb, brought to one dtype by the semiring's meaning of absent.

An operand's values are cast to NumPy's common dtype, and an absent entry stays absent: int32 min-plus's INT_MAX becomes
infinity in float64. A Boolean semiring sees the pattern of a matrix of numbers: a stored 0 is an edge.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, TypeVar

import numpy as np

from formats import Matrix, SparseVector
from formats.arrays import INT32_MAX, Array, astype, cast, contiguous, differs, equals, is_array, namespace
from formats.matrix.facts import PATTERN, Fact

from ..algebra.ops import BinaryOp, is_graphblas, name_of
from ..algebra.semirings import BOOL, Monoid, Semiring, find_combiner, find_semiring
from .checks import check_numbers

M = TypeVar("M", bound=Matrix)


NUMBERS: tuple[type[Any], ...] = (bool, int, float, np.bool_, np.integer, np.floating)

TYPED: Fact[Any] = Fact("the matrix in another dtype")
"""Given: the dtype, and the zeros before and after."""


def common_dtype(semiring: Semiring, *operands: Any) -> np.dtype:
    """NumPy's common dtype of the operands; TypeError if the semiring is not defined on it."""
    if semiring.dtypes == (BOOL,):
        for x in operands:
            if not isinstance(x, Matrix) and x.dtype != BOOL:
                raise TypeError(f"{semiring.name} takes boolean vectors, got {x.dtype}: pass x != zero, or the like")
        return BOOL
    dtypes = [x.dtype for x in operands]
    dtype = dtypes[0] if dtypes.count(dtypes[0]) == len(dtypes) else np.result_type(*dtypes)
    if dtype not in semiring.dtypes:
        names = ", ".join(d.name for d in semiring.dtypes)
        raise TypeError(f"{semiring.name} is not defined on {dtype}; it is on {names}")
    return dtype


def typing_of(op: Semiring | Monoid | BinaryOp | str, part: Literal["add", "mul"]) -> Semiring | None:
    """The semiring that says what is absent where `op` combines two values; None with an operator."""
    op = name_of(op, "an operator") if not isinstance(op, str) and is_graphblas(op) else op
    if isinstance(op, Semiring) or (isinstance(op, str) and "_" in op):
        return find_semiring(op)
    combiner = find_combiner(op, part)
    return _of_monoid(combiner) if isinstance(combiner, Monoid) else None


@lru_cache(maxsize=64)
def _of_monoid(monoid: Monoid) -> Semiring:
    return Semiring(monoid, monoid.op)


def result_dtype(combiner: Monoid | BinaryOp, dtype: np.dtype) -> np.dtype:
    """The dtype of `combiner` on two values of a dtype: bool for comparisons."""
    return BOOL if isinstance(combiner, BinaryOp) and combiner.boolean else dtype


def typed_matrix(A: M, semiring: Semiring, dtype: np.dtype) -> M:
    """`A` with values of `dtype`, kept with `A`; its pattern for a Boolean semiring."""
    if A.dtype == dtype:
        return A
    if dtype == BOOL:
        return A.keep(PATTERN, A.pattern)
    zeros = (semiring.zero(A.dtype) if A.dtype in semiring.dtypes else None, semiring.zero(dtype))
    return A.keep(TYPED, lambda: A.mapped(lambda values: _translated(values, dtype, *zeros)), dtype, zeros)


def typed_vector(x: Array | SparseVector, semiring: Semiring, dtype: np.dtype) -> Array | SparseVector:
    """`x` with values of `dtype`."""
    if x.dtype == dtype:
        return x
    zeros = (semiring.zero(x.dtype) if x.dtype in semiring.dtypes else None, semiring.zero(dtype))
    if isinstance(x, SparseVector):
        return SparseVector.trusted(x.indices, _translated(x.values, dtype, *zeros), x.size)
    return _translated(x, dtype, *zeros)


def cast_vector(x: Array | SparseVector, dtype: np.dtype) -> Array | SparseVector:
    """`x` with values of `dtype`, whatever is absent."""
    if isinstance(x, SparseVector):
        return SparseVector.trusted(x.indices, astype(x.values, dtype), x.size)
    return astype(x, dtype)


def typed_array(x: Array, semiring: Semiring, dtype: np.dtype) -> Array:
    """An array of `dtype`, C-contiguous."""
    return contiguous(typed_vector(x, semiring, dtype))  # type: ignore[arg-type]


def number(name: str, value: Any, dtype: np.dtype, *, held: bool = True) -> Any:
    """A scalar that a verb is given beside values of a dtype; of an array without dimensions, its element.

    held: must the dtype hold it, as far as it is an integer or a float? Else 64 bits must, which compare.
    TypeError for what is no real number, ValueError for NaN, or a number out of range.
    """
    own = type(value) in (int, float)  # Python's, without a dtype
    if own and -INT32_MAX <= value <= INT32_MAX:
        return value
    if is_array(value) and value.ndim == 0:
        value = value.dtype.type(value.item())
    if not isinstance(value, NUMBERS):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if value != value:
        raise ValueError(f"{name} must not be NaN")
    if own and abs(value) != np.inf:
        if dtype.kind != "f":
            dtype = dtype if held and dtype.kind == "i" else np.dtype(np.int64)
        limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
        low, high = int(limits.min), int(limits.max)
        by_float = dtype.kind != "f" and isinstance(value, float)  # which NumPy makes the result
        if not by_float and not low <= value <= high:
            raise ValueError(f"{name} is out of the range of {dtype}, got {value}")
    return value


def value_for(out_dtype: np.dtype, value: Any, semiring: Semiring | None) -> Any:
    """The assigned scalar, vector or matrix in the dtype of what it is assigned to; absent stays absent.

    ValueError names a value that the dtype cannot hold, or a NaN.
    """
    if isinstance(value, Matrix):
        return value.astype(out_dtype)
    if isinstance(value, SparseVector):
        check_numbers("value", value)
        return SparseVector.trusted(value.indices, _held(value.values, out_dtype, semiring), value.size)
    if is_array(value) and value.ndim:
        check_numbers("value", value)
        return _held(value, out_dtype, semiring)
    return scalar_for(out_dtype, value, "value")


def scalar_for(dtype: np.dtype, value: Any, name: str) -> Any:
    """A scalar in a dtype, which must hold it."""
    bare = value.item() if isinstance(value, np.generic) or (is_array(value) and value.ndim == 0) else value
    return cast(np.asarray([number(name, bare, dtype)]), dtype)[0]


def _held(values: Array, dtype: np.dtype, semiring: Semiring | None) -> Array:
    """Values in another dtype, each of them held by it."""
    if values.dtype == dtype:
        return values
    if semiring is None or values.dtype not in semiring.dtypes:
        return cast(values, dtype)
    present = differs(values, semiring.zero(values.dtype))
    held = namespace(values).full(values.shape, semiring.zero(dtype), dtype)
    held[present] = cast(values[present], dtype)
    return held


def _translated(values: Array, dtype: np.dtype, old_zero: Any, new_zero: Any) -> Array:
    xp = namespace(values)
    if values.ndim == 1 and values.size and values.strides == (0,):  # a pattern: one value, seen many times
        return xp.broadcast_to(_translated(values[:1].copy(), dtype, old_zero, new_zero), values.shape)
    cast = astype(values, dtype)
    if old_zero is not None and old_zero != new_zero:
        cast[equals(values, old_zero)] = new_zero
    return cast
