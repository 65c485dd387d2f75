"""Terms that compiled loops are made of: ⊕, ⊗ and the zero of one semiring and dtype.

The loops themselves are in `loops`, a file for each way of storage. The same functions serve every semiring: they are
compiled with ⊕ and ⊗ put in (`jit`). The product is exact at the ends of the range: an
operand equal to the zero contributes nothing, whatever ⊗ makes of it, and int32 is computed in 64 bits and clamped. The
plain terms do neither, which halves the time on int32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from formats.hooks import KERNEL
from formats.undisturbed import undisturbed

from ..algebra.ops import OPERATORS, BinaryOp
from ..algebra.semirings import Law, Semiring
from .compiler.jit import Kernel
from .compiler.references import made_for
from .lanes import WIDTH
from .plain import is_shipped
from .storage import Terms

compiled = KERNEL.answered_by(Kernel)
"""The decorator of functions that are called as machine code."""


def terms(semiring: Semiring, dtype: np.dtype, matrix_first: bool, plain: bool = False) -> Terms:
    """Returns the terms for a ⊗ x (matrix_first) or x ⊗ a in `dtype`.  plain: without any test (see `plain`).

    The same ones serve both where ⊗ commutes.
    """
    return _terms(semiring, dtype, matrix_first or Law.COMMUTATIVE in semiring.laws, plain)


@lru_cache(maxsize=512)
def _terms(semiring: Semiring, dtype: np.dtype, matrix_first: bool, plain: bool) -> Terms:
    """Likewise, by the order of ⊗'s operands in the code."""
    zero = semiring.zero(dtype)
    addition = semiring.add.on(dtype)
    for op in (addition, semiring.mul):
        check_operator(op, dtype)
    add = inlined(addition.scalar)

    def relax(k, t, y, reached, count):
        """y_k ⊕= t, noting k where y was the zero before; the number of places noted so far. Without a branch."""
        before = y[k]
        y[k] = add(before, t)
        reached[count] = k
        return min(count + ((before == zero) & (t != zero)), reached.size - 1)

    product = (plain_product if plain else product_function)(semiring, dtype, matrix_first)
    lanes = WIDTH if dtype.kind == "f" and semiring.add.name in ("min", "max") and is_shipped(semiring) else 1
    return Terms(zero, add, product, relax, semiring.add.terminal, lanes, dtype.type, compiled)


def check_operator(op: BinaryOp, dtype: np.dtype) -> None:
    """ValueError with the operator and the reason, if a user's own one does not compile, or gives no number."""
    if OPERATORS.get(op.name) == op:
        return
    scalar, one = inlined(op.scalar), np.ones(1, np.int64 if dtype.kind == "i" else dtype)

    @compiled
    def call_once(a, b, result):
        result[0] = scalar(a[0], b[0])

    try:
        call_once(one, one, one.copy())
    except Exception:
        undisturbed(lambda: _refuse(op, one.dtype, dtype))


def _refuse(op: BinaryOp, computed: np.dtype, dtype: np.dtype) -> None:
    """ValueError with the reason that Numba's own compiler gives, which never frees what it compiled."""
    import numba
    from numba.core.errors import NumbaError

    kind = numba.from_dtype(computed)
    kernel: Any = numba.njit(inlined(op.scalar))
    try:
        kernel.compile((kind, kind))
        why = f"it gives {kernel.nopython_signatures[0].return_type}, not a number"
    except (NumbaError, TypeError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        why = next((line for line in lines if not line.startswith("Failed in")), type(error).__name__)
    raise ValueError(f"scalar of the operator {op.name!r} does not compile for {dtype}: {why}")


def product_function(semiring: Semiring, dtype: np.dtype, matrix_first: bool) -> Callable[[Any, Any], Any]:
    """Makes ⊗ of a matrix value and a vector value; `zero` if one is absent, clamped if an integer."""
    op = semiring.mul
    multiply = inlined(op.scalar_on(dtype))
    zero = semiring.zero(dtype)
    by_pattern = op.reads == ""  # pair: an entry of the matrix counts, whatever its value

    if dtype == np.int32:
        low, high = np.int32(np.iinfo(dtype).min), np.int32(np.iinfo(dtype).max)

        def ordered(a, b):
            t = multiply(np.int64(a), np.int64(b)) if matrix_first else multiply(np.int64(b), np.int64(a))
            clamped = high if t > high else np.int32(t)
            return low if t < low else clamped
    else:
        convert = dtype.type

        def ordered(a, b):
            return convert(multiply(a, b) if matrix_first else multiply(b, a))

    @made_for(semiring.name, dtype)
    def product(a, b):
        t = ordered(a, b)  # before the test, so that the test becomes a selection and not a branch
        absent = b == zero if by_pattern else (a == zero) | (b == zero)
        return zero if absent else t

    @made_for(semiring.name, dtype)
    def product_with_an_order(a, b):
        t = ordered(a, b)
        return zero if (a == zero) | (b == zero) | (t != t) else t

    return product_with_an_order if semiring.may_lack_order(dtype) else product


def plain_product(semiring: Semiring, dtype: np.dtype, matrix_first: bool) -> Callable[[Any, Any], Any]:
    """Makes ⊗ of a matrix value and a vector value, of which neither is absent and which cannot wrap."""
    multiply, convert = inlined(semiring.mul.scalar), dtype.type

    @made_for(semiring.name, dtype)
    def product(a, b):
        return convert(multiply(a, b) if matrix_first else multiply(b, a))

    return product


def inlined(scalar: Callable[..., Any]) -> Callable[..., Any]:
    """`scalar` as a function that kernels may call."""
    return getattr(scalar, "py_func", scalar)  # Numba's compiled functions have one
