"""Products of two dense matrices on the GPU, in tiles, see gemm.cu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formats import Dense
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, index_dtype
from formats.places import kept_by_place

from ..algebra.codegen import prelude
from ..algebra.ops import OPERATORS
from ..algebra.semirings import MONOIDS, Semiring
from ..generic.dense import by_columns
from ..verbs.registry import Vector
from ..verbs.verbs import dense_dense
from .compile import load, text_of
from .steps import NOTHING

SIDE = 16
"""Threads along each side of a tile, as in gemm.cu."""

PLAIN_FROM = 1 << 28
"""Pairs of elements from which it pays to look whether plain arithmetic will do."""

PLAIN_ADD = {"min": "min(a, b)", "max": "max(a, b)", "plus": "a + b", "lor": "a || b"}
PLAIN_MUL = {"plus": "a + b", "times": "a * b", "min": "min(a, b)", "max": "max(a, b)", "land": "a && b"}


@dataclass(frozen=True)
class Variant:
    """How a kernel is made. plain: by operators that test nothing.  clamped: with absent integers clamped."""

    plain: bool = False
    clamped: bool = False
    argument: bool = False

    def tile(self, dtype: np.dtype) -> tuple[int, int, int]:
        """Returns rows and columns of a thread, and terms of a slab, that fit into registers and shared memory."""
        if not self.plain or dtype.itemsize > 4:
            return 4, 4, 8
        return (8, 4, 16) if self.argument else (8, 8, 8)


def gemm_text(semiring: Semiring, dtype: np.dtype, index: np.dtype, variant: Variant) -> str:
    """The CUDA text of the kernel."""
    rows, cols, slab = variant.tile(dtype)
    sizes = {"BLOCKS": 2 if variant.plain else 1, "ROWS": rows, "COLS": cols, "SLAB": slab}
    constants = text_of((), **sizes, ARGUMENT=variant.argument, CLAMPED=variant.clamped)
    plain = f"#define PLAIN {int(variant.plain)}\n"
    if variant.plain:
        for name, text in (("add", PLAIN_ADD[semiring.add.name]), ("mul", PLAIN_MUL[semiring.mul.name])):
            plain += f"__device__ __forceinline__ T plain_{name}(T a, T b) {{ return (T)({text}); }}\n"
    return "\n".join((prelude(semiring, dtype, index), constants, plain, text_of(("gemm.cu",)).lstrip("\n")))


@kept_by_place(256)
def _kernel(semiring: Semiring, dtype: np.dtype, index: np.dtype, variant: Variant) -> Any:
    text = gemm_text(semiring, dtype, index, variant)
    return load(text, f"{semiring.name}, {dtype}, dense matrices").get_function("multiply_dense")


@dense_dense.implement(Vector, "cuda")
def multiplied(X: Array, Y: Array, semiring: Semiring, argument: bool) -> Any:
    """X ⊗ Y, with the arguments if they are asked for."""
    cp, dtype, index, zero = cupy(), X.dtype, index_dtype(X.shape[1]), semiring.zero(X.dtype)
    if semiring.mul.reads == "" and bool((X == zero).any()):  # the kernel takes what a matrix has for present
        return by_columns(Dense(X, zero), Y, semiring, True, argument, None)
    (rows, terms), cols = X.shape, Y.shape[1]
    Z = cp.empty((rows, cols), dtype)
    which = cp.empty(Z.shape, index) if argument else NOTHING
    if Z.size:
        ends = _plain_ends(X, Y, semiring) if rows * terms * cols >= PLAIN_FROM else None
        variant = Variant(ends is not None, bool(ends), argument)
        clamp, beyond = ends or (0, 0)
        each_row, each_col, _ = variant.tile(dtype)
        grid = (-(-cols // (SIDE * each_col)), -(-rows // (SIDE * each_row)))
        sizes = (np.int64(rows), np.int64(terms), np.int64(cols), dtype.type(clamp), dtype.type(beyond))
        _kernel(semiring, dtype, index, variant)(grid, (SIDE * SIDE,), (X, Y, *sizes, Z, which))
    return (Z, which) if argument else Z


def _plain_ends(X: Array, Y: Array, semiring: Semiring) -> tuple[Any, ...] | None:
    """Returns (clamp, beyond) with which plain arithmetic on absent integers is right, or (); None if it may be wrong.

    With min-plus, an absent element is infinity, to which anything but minus infinity may be added. Of integers the
    largest magnitude m decides: absent ones become c, so that a sum with an absent operand is at least c - m, and
    one without at most 2 m. Waits for the device.
    """
    add, mul, dtype = semiring.add.name, semiring.mul.name, X.dtype
    if MONOIDS.get(add) != semiring.add or OPERATORS.get(mul) != semiring.mul:
        return None
    if (add, mul) in (("min", "max"), ("max", "min"), ("lor", "land")):
        return ()
    cp = cupy()
    if dtype.kind == "f":
        if mul == "plus" and add in ("min", "max"):
            worst = cp.minimum(X.min(), Y.min()) if add == "min" else -cp.maximum(X.max(), Y.max())
            return () if float(worst) > -np.inf else None
        if (add, mul) == ("plus", "times"):
            return () if bool(cp.isfinite(X).all() & cp.isfinite(Y).all()) else None
        return None
    if dtype.kind != "i":
        return None
    zero = semiring.zero(dtype)
    most = max(_magnitude(M, zero) for M in (X, Y))
    if mul == "plus" and add in ("min", "max"):
        clamp = np.iinfo(dtype).max // 2
        sign = 1 if add == "min" else -1
        return (sign * clamp, sign * 2 * most) if clamp - most > 2 * most else None
    if (add, mul) == ("plus", "times"):
        return () if most * most * X.shape[1] <= np.iinfo(dtype).max else None
    return None


def _magnitude(X: Array, zero: Any) -> int:
    """The largest magnitude of X's elements other than `zero`."""
    if X.size == 0:
        return 0
    cp = cupy()
    present = cp.where(X == zero, X.dtype.type(0), X)
    low, high = (int(end) for end in cp.stack((present.min(), present.max())).get())
    return max(-low, high)
