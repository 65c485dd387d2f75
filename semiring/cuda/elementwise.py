"""Operators and predicates on CuPy arrays: each is one kernel, made from the CUDA expression of its declaration.

    y_i = op(a_i, b_i)        y_i = op(a_i)        y_e = predicate(i_e, j_e, value_e, row_e, col_e)

One thread computes one element; operands are read and the result is written once. A kernel is made at the first call
on a dtype and kept. Scalars are arguments, so another scalar is no other kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats.arrays import Array, is_array, supported_dtype
from formats.hooks import CAST
from formats.places import kept_by_place, place_of

from ..algebra.codegen import C_TYPES, CONSTANTS, Index, expression, index_text, prelude
from ..algebra.ops import ON_GPU, OPERATORS, BinaryOp, UnaryOp
from ..algebra.predicates import Predicate
from ..algebra.semirings import Semiring
from .pointwise import Pointwise

_BOOL, _INT64 = np.dtype(bool), np.dtype(np.int64)


def binary(op: BinaryOp, a: Any, b: Any) -> Array:
    """`op` on two arrays or an array and a scalar, with the dtypes that it has on the CPU."""
    dtype = supported_dtype(np.result_type(*(getattr(x, "dtype", x) for x in (a, b))))
    fits = [dtype.kind != "i" or _fits(x, dtype) for x in (a, b)]
    if op.boolean and not all(fits):
        dtype = np.dtype(np.float64)  # a comparison with a number beyond the range
    wide = _INT64 if op.saturating is not None or op.array is None else dtype
    types = tuple(dtype if inside or op.boolean else wide for inside in fits)
    return _binary_kernel(op, dtype, types)(_operand(a, types[0]), _operand(b, types[1]))


def unary(op: UnaryOp, a: Array) -> Array:
    """`op` on an array, with the dtype that it has on the CPU."""
    dtype = supported_dtype(a.dtype)
    return _unary_kernel(op, dtype)(_operand(a, dtype))


@CAST.answered_by
def cast(values: Array, dtype: np.dtype) -> Array:
    """Floating-point `values` as another floating-point dtype."""
    return _cast_kernel(values.dtype, dtype)(values)


def predicate(condition: Predicate, i: Array, j: Array, value: Array, row: Any, col: Any) -> Array:
    """For each entry: does the condition hold? value, row, col: of one dtype, row and col None where there is none."""
    dtype, index_dtype = value.dtype, np.result_type(i.dtype, j.dtype)
    kernel = _predicate_kernel(condition.cuda, condition.semiring, dtype, index_dtype)
    values = (_operand(0 if x is None else x, dtype) for x in (value, row, col))
    return kernel(_operand(i, index_dtype), _operand(j, index_dtype), *values)


ON_GPU.update({BinaryOp: binary, UnaryOp: unary, Predicate: predicate})


def _operand(x: Any, dtype: np.dtype) -> Any:
    """An array or a scalar as a kernel takes it."""
    return x.astype(dtype, copy=False) if is_array(x) and x.ndim else _scalar(x, dtype)


def _scalar(x: Any, dtype: np.dtype) -> Any:
    """A scalar of `dtype`; a CuPy array without dimensions stays where it is."""
    return x.astype(dtype, copy=False) if is_array(x) and not place_of(x).on_host else dtype.type(x)


def _fits(x: Any, dtype: np.dtype) -> bool:
    info = np.iinfo(dtype)
    return not isinstance(x, int) or info.min <= x <= info.max


# --- kernels --------------------------------------------------------------------------------------------------------


@kept_by_place(512)
def _binary_kernel(op: BinaryOp, dtype: np.dtype, types: tuple[np.dtype, ...]) -> Any:
    return Pointwise({"a": types[0], "b": types[1]}, binary_dtype(op, dtype), binary_text(op, dtype))


@kept_by_place(512)
def _unary_kernel(op: UnaryOp, dtype: np.dtype) -> Any:
    return Pointwise({"a": dtype}, _unary_dtype(op, dtype), unary_text(op, dtype))


@kept_by_place(8)
def _cast_kernel(source: np.dtype, dtype: np.dtype) -> Any:
    target = C_TYPES[dtype.name]
    return Pointwise(
        {"a": source},
        dtype,
        _text(f"__device__ inline {target} apply({C_TYPES[source.name]} a) {{ return ({target})a; }}\n"),
    )


@kept_by_place(512)
def _predicate_kernel(cuda: str, semiring: Semiring | None, dtype: np.dtype, index_dtype: np.dtype) -> Any:
    operands = {"i": index_dtype, "j": index_dtype, "value": dtype, "row": dtype, "col": dtype}
    return Pointwise(operands, _BOOL, predicate_text(cuda, semiring, dtype, index_dtype))


# --- their text -----------------------------------------------------------------------------------------------------


def binary_text(op: BinaryOp, dtype: np.dtype) -> str:
    """CUDA text with element::apply(a, b)."""
    return _text(_types(dtype) + _function("apply", op, dtype))


def unary_text(op: UnaryOp, dtype: np.dtype) -> str:
    """CUDA text with element::apply(a)."""
    known = _function("minus", OPERATORS["minus"], dtype)
    if dtype != _BOOL:
        known += _function("div", OPERATORS["div"], dtype)
    known += f"using R = {C_TYPES[_unary_dtype(op, dtype).name]};\n"
    return _text(f"{_types(dtype)}{known}__device__ inline R apply(T a) {{ return (R)({op.cuda}); }}\n")


def predicate_text(cuda: str, semiring: Semiring | None, dtype: np.dtype, index: Index) -> str:
    """CUDA text with element::apply(i, j, value, row, col)."""
    algebra = prelude(semiring, dtype, index) if semiring else _types(dtype, index)
    return _text(f"{algebra}\n__device__ inline bool apply(I i, I j, T value, T row, T col) {{ return {cuda}; }}\n")


def _text(body: str) -> str:
    """`body` in a namespace, where it clashes with no function of CuPy's headers, and after macros of theirs."""
    return f"#undef LLONG_MAX\n#undef LLONG_MIN\nnamespace element {{\n{body}}}\n"


def _types(dtype: np.dtype, index: Index | None = None) -> str:
    indices = "" if index is None else index_text(index)
    return f"{CONSTANTS}using T = {C_TYPES[dtype.name]};\n{indices}"


def _function(name: str, op: BinaryOp, dtype: np.dtype) -> str:
    """The operator as a function of that name, with int32 computed in 64 bits."""
    result, body = ("bool", op.expression(dtype)) if op.boolean else ("T", expression(op, dtype))
    wide = "long long" if dtype == np.int32 and not op.boolean else "T"
    return f"__device__ inline {result} {name}({wide} a, {wide} b) {{ return {body}; }}\n"


# --- their results' dtypes, found by trying them on the CPU ---------------------------------------------------------


def binary_dtype(op: BinaryOp, dtype: np.dtype) -> np.dtype:
    if op.boolean:
        return _BOOL
    one = np.ones(1, dtype)
    return dtype if op.array is None else op(one, one).dtype


def _unary_dtype(op: UnaryOp, dtype: np.dtype) -> np.dtype:
    with np.errstate(all="ignore"):
        result = op(np.ones(1, dtype)).dtype
    if result.name not in C_TYPES:
        raise TypeError(f"{op.name} is not defined on {dtype}")
    return result
