"""The CUDA side of a semiring: typed inline functions, made from the same declaration that drives the CPU.

    prelude(MinPlus, float32) defines   T, I, ZERO, add(a, b), mul(a, b), product(a, b) and atomic_add(address, value)

which is all of the algebra that a kernel sees. A kernel is plain CUDA in a `.cu` file; text of the prelude and text
of the file are one translation unit. The operators' expressions are the ones in `ops`, with `a` and `b` of type T;
int32 is computed in 64 bits and clamped, int64 by the operator's saturating form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .algebra import Semiring
from .ops import BinaryOp

C_TYPES = {"bool": "bool", "int32": "int", "int64": "long long", "float32": "float", "float64": "double"}
"""The C++ type of each dtype."""

_WORDS = {1: "unsigned int", 4: "unsigned int", 8: "unsigned long long"}

_TEMPLATE = """\
#define LLONG_MAX 0x7fffffffffffffffLL
#define LLONG_MIN (-LLONG_MAX - 1)
#define ZERO {zero}
using T = {value_type};
using I = {index_type};

__device__ __forceinline__ T add({wide} a, {wide} b) {{ return {add}; }}
__device__ __forceinline__ T mul({wide} a, {wide} b) {{ return {mul}; }}

// An operand equal to the zero contributes nothing, whatever mul makes of it.
__device__ __forceinline__ T product(T a, T b) {{ return ({absent}) ? ZERO : mul(a, b); }}

{atomic}"""

_ATOMIC_CAS = """\
// *address = add(*address, value) by compare-and-swap on the word that holds it; nothing is written without a change.
__device__ __forceinline__ void atomic_add(T* address, T value) {{
    {word}* target = reinterpret_cast<{word}*>(address);
    {word} seen = *target, before;
    do {{
        before = seen;
        T old;
        memcpy(&old, &before, sizeof(T));
        T sum = add(old, value);
        if (sum == old) return;
        {word} after;
        memcpy(&after, &sum, sizeof(T));
        seen = atomicCAS(target, before, after);
    }} while (seen != before);
}}
"""

_ATOMIC_BOOL = """\
// From its identity a bool can only go one way, and all who change it write the same: a plain store is enough.
__device__ __forceinline__ void atomic_add(T* address, T value) {{
    if (add(*address, value) != *address) *address = add(*address, value);
}}
"""


def prelude(semiring: Semiring, dtype: np.dtype, index_dtype: np.dtype) -> str:
    """The CUDA text that defines the semiring on `dtype`, with indices of `index_dtype`."""
    zero = literal(semiring.zero(dtype), dtype)
    atomic = _ATOMIC_BOOL if dtype == np.bool_ else _ATOMIC_CAS
    return _TEMPLATE.format(
        value_type=C_TYPES[dtype.name],
        index_type=C_TYPES[index_dtype.name],
        zero=zero,
        add=expression(semiring.add.op, dtype),
        mul=expression(semiring.mul, dtype),
        wide="long long" if dtype == np.int32 else "T",
        absent="b == ZERO" if semiring.mul.reads == "" else "a == ZERO || b == ZERO",
        atomic=atomic.format(word=_WORDS[dtype.itemsize]),
    )


def expression(op: BinaryOp, dtype: np.dtype) -> str:
    """The operator as a CUDA expression in `a` and `b` that gives a T, saturating where T is an integer."""
    if dtype == np.int64 and op.saturating is not None:
        return op.saturating.cuda
    if dtype == np.int32 and (op.saturating is not None or op.array is None):
        info = np.iinfo(dtype)
        return f"(T)min(max((long long)({op.cuda}), {info.min}LL), {info.max}LL)"
    return f"(T)({op.cuda})"


def literal(value: Any, dtype: np.dtype) -> str:
    """A scalar of `dtype` as a CUDA constant."""
    if dtype.kind == "f":
        if np.isinf(value):
            bits = "__int_as_float(0x7f800000)" if dtype == np.float32 else "__longlong_as_double(0x7ff0000000000000LL)"
            return bits if value > 0 else f"(-{bits})"
        return f"(T){float(value)!r}"
    if dtype.kind == "b":
        return "true" if value else "false"
    if int(value) == np.iinfo(np.int64).min:
        return "LLONG_MIN"
    return f"(T){int(value)}LL"
