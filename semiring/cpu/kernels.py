"""What compiled loops are made of: ⊕, ⊗ and the zero of one semiring and dtype, and Numba's compiler with a disk cache.

The loops themselves are in `loops`, a file for each way of storage. The same functions serve every semiring: Numba
compiles them with ⊕ and ⊗ put in, and keeps the machine code on disk. The product is exact at the ends of the range: an
operand equal to the zero contributes nothing, whatever ⊗ makes of it, and int32 is computed in 64 bits and clamped. The
plain terms do neither, which halves the time on int32.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.types import Boolean, Number
from numba.extending import register_jitable

from ..algebra import Law, Semiring
from ..ops import OPERATORS, BinaryOp
from .cache import LockedCache
from .storage import Terms

Kernel = Callable[..., Any]


def terms(semiring: Semiring, dtype: np.dtype, matrix_first: bool, plain: bool = False) -> Terms:
    """What loops compute a ⊗ x (matrix_first) or x ⊗ a with, in `dtype`; `plain`: without any test (see `plain`).

    The same ones serve both where ⊗ commutes.
    """
    return _terms(semiring, dtype, matrix_first or Law.COMMUTATIVE in semiring.laws, plain)


@lru_cache(maxsize=512)
def _terms(semiring: Semiring, dtype: np.dtype, matrix_first: bool, plain: bool) -> Terms:
    """Likewise, by the order of ⊗'s operands in the code."""
    zero = semiring.zero(dtype)
    for op in (semiring.add.op, semiring.mul):
        check_operator(op, dtype)
    add = inlined(semiring.add.op.scalar)

    @register_jitable
    def relax(k, t, y, reached, count):
        """y_k ⊕= t, noting k where y was the zero before; the number of places noted so far. Without a branch."""
        before = y[k]
        y[k] = add(before, t)
        reached[count] = k
        return min(count + ((before == zero) & (t != zero)), reached.size - 1)

    product = (plain_product if plain else product_function)(semiring, dtype, matrix_first)
    return Terms(zero, add, product, relax, semiring.add.terminal, dtype.type, compiled)


def check_operator(op: BinaryOp, dtype: np.dtype) -> None:
    """ValueError with the operator and the reason, if a user's own one does not compile, or gives no number."""
    if OPERATORS.get(op.name) == op:
        return
    kind = numba.from_dtype(np.dtype(np.int64) if dtype.kind == "i" else dtype)
    kernel: Any = numba.njit(op.scalar.py_func if isinstance(op.scalar, Dispatcher) else op.scalar)
    why = ""
    try:
        kernel.compile((kind, kind))
    except (NumbaError, TypeError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        why = next((line for line in lines if not line.startswith("Failed in")), type(error).__name__)
    if not why and not isinstance(given := kernel.nopython_signatures[0].return_type, Number | Boolean):
        why = f"it gives {given}, not a number"
    if why:
        raise ValueError(f"scalar of the operator {op.name!r} does not compile for {dtype}: {why}")


def product_function(semiring: Semiring, dtype: np.dtype, matrix_first: bool) -> Callable[[Any, Any], Any]:
    """(matrix value, vector value) -> their product; `zero` if one is absent, clamped if an integer."""
    op = semiring.mul
    arithmetic = op.saturating.scalar if op.saturating and dtype == np.int64 else op.scalar
    multiply = inlined(arithmetic)
    zero = semiring.zero(dtype)
    by_pattern = op.reads == ""  # pair: an entry of the matrix counts, whatever its value

    if dtype == np.int32:
        low, high = np.int32(np.iinfo(dtype).min), np.int32(np.iinfo(dtype).max)

        @register_jitable
        def ordered(a, b):
            t = multiply(np.int64(a), np.int64(b)) if matrix_first else multiply(np.int64(b), np.int64(a))
            clamped = high if t > high else np.int32(t)
            return low if t < low else clamped
    else:
        convert = dtype.type

        @register_jitable
        def ordered(a, b):
            return convert(multiply(a, b) if matrix_first else multiply(b, a))

    @register_jitable
    def product(a, b):
        t = ordered(a, b)  # before the test, so that the test becomes a selection and not a branch
        absent = b == zero if by_pattern else (a == zero) | (b == zero)
        return zero if absent else t

    return product


def plain_product(semiring: Semiring, dtype: np.dtype, matrix_first: bool) -> Callable[[Any, Any], Any]:
    """(matrix value, vector value) -> their product, for operands of which nothing is absent and nothing can wrap."""
    multiply, convert = inlined(semiring.mul.scalar), dtype.type

    @register_jitable
    def product(a, b):
        return convert(multiply(a, b) if matrix_first else multiply(b, a))

    return product


@lru_cache(maxsize=512)
def inlined(scalar: Callable[..., Any]) -> Callable[..., Any]:
    """`scalar` as a function that kernels may call.

    It is made to look like one of `__main__`, so that the key of the kernels' disk cache holds its code and not its
    name: a changed operator is never served by an old kernel.
    """
    if isinstance(scalar, Dispatcher):
        scalar = scalar.py_func
    copy = types.FunctionType(
        scalar.__code__, scalar.__globals__, scalar.__name__, scalar.__defaults__, scalar.__closure__
    )
    copy.__module__ = "__main__"
    return register_jitable(copy)


def compiled(function: Callable[..., Any]) -> Kernel:
    """The function as machine code, without the interpreter's lock, and kept on disk."""
    kernel: Any = numba.njit(function, nogil=True, error_model="numpy")
    kernel._cache = LockedCache(function)  # as cache=True, but for the lock
    return kernel
