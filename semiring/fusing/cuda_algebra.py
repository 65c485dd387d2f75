"""The CUDA text of what a program calls: operators, semirings and unions of lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.codegen import C_TYPES, expression, prelude
from ..algebra.ops import BinaryOp
from ..algebra.semirings import Semiring, counts
from ..algebra.translation import literal
from . import phases
from .values import INT64, Unfit

OPERATOR = """\
namespace of_{name} {{
using T = {kind};
__device__ __forceinline__ {result} {name}({wide} a, {wide} b) {{ return {body}; }}
}}
using of_{name}::{name};
"""
BETTER = """\
struct {name}_better {{
    static __device__ __forceinline__ bool holds({kind} a, {kind} b) {{ return {name}_compare(a, b); }}
}};
"""
UNION = """\
struct {name} {{
    using T = {kind};
    static constexpr bool DROPS = {drops}, KEEPS = {keeps};
    static __device__ __forceinline__ T combined(T a, T b) {{ return {name}_op(a, b); }}
    static __device__ __forceinline__ T zero() {{ return {zero}; }}
}};
"""
ALGEBRA = """\
namespace of_{name} {{
{prelude}
}}
struct {name} {{
    using T = of_{name}::T;
    static __device__ __forceinline__ T zero() {{ return ZERO; }}
    static __device__ __forceinline__ T product_of(T a, T x) {{ return of_{name}::product(a, x); }}
    static __device__ __forceinline__ T sum_of(T a, T b) {{ return of_{name}::add(a, b); }}
    static __device__ __forceinline__ T update(T* to, T value) {{ return of_{name}::atomic_update(to, value); }}
{sums}}};
#undef ZERO
#undef EMPTY
"""
EXACT = """\
    static __device__ __forceinline__ T put(T* address, T value) {{
        return (T)atomicAdd(reinterpret_cast<{unsigned}*>(address), ({unsigned})value);
    }}
    static __device__ __forceinline__ T exactly(T a, T b) {{ return (T)(({unsigned})a + ({unsigned})b); }}
    static __device__ __forceinline__ bool inside(T t) {{ return {low} < t && t < {high}LL; }}
    static __device__ __forceinline__ bool inside(T a, T b) {{
        return inside(exactly(a, b)) && stopping_sum(a, b) == exactly(a, b);
    }}
"""
SELECTED = """\
    static __device__ __forceinline__ T exactly(T a, T b) { return sum_of(a, b); }
    static __device__ __forceinline__ bool inside(T) { return true; }
    static __device__ __forceinline__ bool inside(T, T) { return true; }
"""
UNSIGNED_OF = {"int32": "unsigned int", "int64": "unsigned long long"}


def definition(name: str, maker: Any, *how: Any) -> str:
    """The text of something that a program calls by a name, by what makes it for the CPU; "" for what is there."""
    if maker is phases.function_of:
        return operator_text(name, *how)
    if maker is phases.uniting:
        op, dtype, zero, drops, keeps = how
        flags = {"drops": str(drops).lower(), "keeps": str(bool(keeps)).lower()}
        absent = literal(dtype.type(zero), dtype)
        union = UNION.format(name=name, kind=C_TYPES[dtype.name], zero=absent, **flags)
        return operator_text(f"{name}_op", op, dtype) + union
    if maker not in (phases.pushing, phases.summing, phases.gathering):
        return ""
    semiring, dtype, matrix_first, _, *compare = how
    text = algebra_text(name, semiring, dtype, matrix_first)
    if compare and compare[0] is not None:
        better = BETTER.format(name=name, kind=C_TYPES[dtype.name])
        text += operator_text(f"{name}_compare", compare[0], dtype) + better
    return text


def operator_text(name: str, op: BinaryOp, dtype: np.dtype) -> str:
    """An operator on two values, as `phases.function_of` makes it."""
    kind = C_TYPES[dtype.name]
    wide = "long long" if dtype == np.int32 else kind
    result, body = ("bool", f"({op.expression(dtype)})") if op.boolean else (kind, expression(op, dtype))
    return OPERATOR.format(name=name, kind=kind, wide=wide, result=result, body=body)


def algebra_text(name: str, semiring: Semiring, dtype: np.dtype, matrix_first: bool) -> str:
    """A semiring's functions. Unfit for sums of floats, whose bits depend on the order of terms."""
    sums = SELECTED
    if not semiring.add.idempotent:
        if dtype.kind != "i":
            raise Unfit(f"adds up {dtype} on a GPU, in the order of the verb's own kernel")
        if not counts(semiring, dtype):
            ends = np.iinfo(dtype)
            low = literal(dtype.type(ends.min), dtype)
            sums = EXACT.format(unsigned=UNSIGNED_OF[dtype.name], low=low, high=ends.max)
    return ALGEBRA.format(name=name, prelude=prelude(semiring, dtype, INT64, matrix_first), sums=sums)
