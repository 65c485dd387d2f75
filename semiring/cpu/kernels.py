"""Compiled products: three loops (gather, scatter, push) over four kinds of storage (compressed, list, padded, dense).

    gather   y_i = ⊕_k a_ik ⊗ x_k     reads x at random, writes y in order
    scatter  y_k ⊕= a_ik ⊗ x_i        reads x in order, writes y at random
    push     the scatter of a sparse x: only the rows that it has

"Row" is the stored orientation's: a column of CSC or of a transposed list. The same functions serve every semiring:
Numba compiles them with ⊕ and ⊗ put in, and keeps the machine code on disk. (Indices are made unsigned where they are
used: of a signed one Numba asks whether it counts from the end, which costs a third of a push.) The product is exact
at the ends of the range: an operand equal to the zero contributes nothing, whatever ⊗ makes of it, and int32 is
computed in 64 bits and clamped. The plain kernels do neither, which halves their time on int32.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.extending import register_jitable

from ..algebra import Law, Semiring
from .cache import LockedCache

Kernel = Callable[..., Any]

LIST_BLOCK = 2048
"""Entries of a list that are multiplied before they are added up: 8 to 16 KiB of products."""


@dataclass(frozen=True)
class Kernels:
    """The twelve kernels of one semiring, dtype and order of ⊗'s operands."""

    gather_compressed: Kernel
    gather_list: Kernel
    gather_padded: Kernel
    scatter_compressed: Kernel
    scatter_list: Kernel
    scatter_padded: Kernel
    push_compressed: Kernel
    push_list: Kernel
    push_padded: Kernel
    gather_dense: Kernel
    scatter_dense: Kernel
    push_dense: Kernel


def kernels(semiring: Semiring, dtype: np.dtype, matrix_first: bool, plain: bool = False) -> Kernels:
    """The kernels that compute a ⊗ x (matrix_first) or x ⊗ a in `dtype`; `plain`: without any test (see `plain`).

    The same ones serve both where ⊗ commutes.
    """
    return _kernels(semiring, dtype, matrix_first or Law.COMMUTATIVE in semiring.laws, plain)


@lru_cache(maxsize=512)
def _kernels(semiring: Semiring, dtype: np.dtype, matrix_first: bool, plain: bool) -> Kernels:
    """Likewise, by the order of ⊗'s operands in the code."""
    zero = semiring.zero(dtype)
    terminal = semiring.add.terminal
    add = inlined(semiring.add.op.scalar)
    product = (plain_product if plain else product_function)(semiring, dtype, matrix_first)

    @compiled
    def gather_compressed(indptr, indices, values, x, y, allowed, masked, start, stop):
        for i in range(start, stop):
            total = zero
            if not masked or allowed[i]:
                for e in range(indptr[i], indptr[i + 1]):
                    total = add(total, product(values[e], x[np.uintp(indices[e])]))
                    if terminal and total != zero:
                        break
            y[i] = total

    @compiled
    def gather_list(outer, inner, values, x, y, start, stop):
        products = np.empty(LIST_BLOCK, values.dtype)
        row, total = -1, zero
        for first in range(start, stop, LIST_BLOCK):
            count = min(LIST_BLOCK, stop - first)
            for i in range(count):  # multiply a block, so that gathers of x overlap
                products[i] = product(values[first + i], x[np.uintp(inner[first + i])])
            for i in range(count):  # then add up its segments, without a branch
                total = add(total, products[i]) if outer[first + i] == row else products[i]
                row = outer[first + i]
                y[row] = total

    @compiled
    def gather_padded(indices, values, x, y, start, stop):
        for i in range(start, stop):
            y[i] = zero
        for s in range(indices.shape[0]):
            for i in range(start, stop):
                k = indices[s, i]
                t = product(values[s, i], x[np.uintp(max(k, 0))])
                y[i] = add(y[i], zero if k < 0 else t)

    @compiled
    def scatter_compressed(indptr, indices, values, x, y, start, stop):
        for i in range(start, stop):
            if x[i] != zero:
                for e in range(indptr[i], indptr[i + 1]):
                    k = np.uintp(indices[e])
                    y[k] = add(y[k], product(values[e], x[i]))

    @compiled
    def scatter_list(outer, inner, values, x, y, start, stop):
        for e in range(start, stop):
            k = np.uintp(inner[e])
            y[k] = add(y[k], product(values[e], x[np.uintp(outer[e])]))

    @compiled
    def scatter_padded(indices, values, x, y, start, stop):
        for s in range(indices.shape[0]):
            for i in range(start, stop):
                k = indices[s, i]
                if k >= 0:
                    y[np.uintp(k)] = add(y[np.uintp(k)], product(values[s, i], x[i]))

    @register_jitable
    def relax(k, t, y, reached, count):
        """y_k ⊕= t, noting k where y was the zero before; the number of places noted so far. Without a branch."""
        before = y[k]
        y[k] = add(before, t)
        reached[count] = k
        return min(count + ((before == zero) & (t != zero)), reached.size - 1)

    @compiled
    def push_compressed(indptr, indices, values, rows, weights, y, reached):
        count = 0
        for f in range(rows.size):
            row, weight = np.uintp(rows[f]), weights[f]
            for e in range(np.uintp(indptr[row]), np.uintp(indptr[row + np.uintp(1)])):
                count = relax(np.uintp(indices[e]), product(values[e], weight), y, reached, count)
        return count

    @compiled
    def push_list(outer, inner, values, rows, weights, y, reached):
        count, low = 0, 0
        for f in range(rows.size):
            high, step = low, 1
            while high < outer.size and outer[high] < rows[f]:  # rows ascend: gallop on from the one before
                low, high, step = high + 1, high + step, 2 * step
            high = min(high, outer.size)
            while low < high:  # the first entry of the row
                middle = (low + high) // 2
                if outer[middle] < rows[f]:
                    low = middle + 1
                else:
                    high = middle
            while low < outer.size and outer[low] == rows[f]:
                count = relax(np.uintp(inner[low]), product(values[low], weights[f]), y, reached, count)
                low += 1
        return count

    @compiled
    def push_padded(indices, values, rows, weights, y, reached):
        count = 0
        for f in range(rows.size):
            for s in range(indices.shape[0]):
                k = indices[s, rows[f]]
                if k < 0:
                    break
                count = relax(np.uintp(k), product(values[s, rows[f]], weights[f]), y, reached, count)
        return count

    number = dtype.type  # Booleans of a dense matrix are bytes

    @compiled
    def gather_dense(values, fill, x, y, allowed, masked, start, stop):
        for i in range(start, stop):
            total = zero
            if not masked or allowed[i]:
                for k in range(values.shape[1]):
                    a = values[i, k]
                    t = product(number(a), x[k])
                    total = add(total, t if (a != fill) & (a == a) else zero)
                    if terminal and total != zero:
                        break
            y[i] = total

    @compiled
    def scatter_dense(values, fill, x, y, start, stop):
        for i in range(start, stop):
            if x[i] != zero:
                for k in range(values.shape[1]):
                    a = values[i, k]
                    t = product(number(a), x[i])
                    y[k] = add(y[k], t if (a != fill) & (a == a) else zero)

    @compiled
    def push_dense(values, fill, rows, weights, y):
        for f in range(rows.size):
            i = np.uintp(rows[f])
            for k in range(values.shape[1]):
                a = values[i, k]
                t = product(number(a), weights[f])
                y[k] = add(y[k], t if (a != fill) & (a == a) else zero)

    return Kernels(
        gather_compressed,
        gather_list,
        gather_padded,
        scatter_compressed,
        scatter_list,
        scatter_padded,
        push_compressed,
        push_list,
        push_padded,
        gather_dense,
        scatter_dense,
        push_dense,
    )


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
