"""One function on every element of some arrays: y_i = element::apply(a_i, b_i, …), a thread each.

What CuPy's ElementwiseKernel does, but with subnormal numbers kept (see `compile`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats.arrays import Array, cupy, is_array
from formats.places import place_of

from ..algebra.codegen import C_TYPES
from .compile import load

THREADS = 256
LARGEST_GRID = 1 << 16

_KERNEL = """
extern "C" __global__ void pointwise(long long n, {result}* y, {parameters}) {{
    for (long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x; e < n; e += gridDim.x * (long long)blockDim.x)
        y[e] = element::apply({arguments});
}}
"""


class Pointwise:
    """The function on arrays of the operands' dtypes that broadcast with one another, or scalars of these dtypes.

    text: CUDA text with element::apply, which takes the operands in order and gives a `result`.
    """

    def __init__(self, operands: dict[str, np.dtype], result: np.dtype, text: str) -> None:
        types = [(name, C_TYPES[dtype.name]) for name, dtype in operands.items()]
        kernel = _KERNEL.format(
            result=C_TYPES[result.name],
            parameters=", ".join(f"const {c}* of_{name}, {c} every_{name}, long long step_{name}" for name, c in types),
            arguments=", ".join(f"of_{name} ? of_{name}[e * step_{name}] : every_{name}" for name, _ in types),
        )
        self._dtypes = tuple(operands.values())
        self._result = result
        self._kernel = load(text + kernel, "operators on arrays").get_function("pointwise")

    def __call__(self, *operands: Any) -> Array:
        cp = cupy()
        shape = np.broadcast_shapes(*(np.shape(x) if not is_array(x) else x.shape for x in operands))
        y = cp.empty(shape, self._result)
        if y.size == 0:
            return y
        arguments: list[Any] = [np.int64(y.size), y]
        kept = []  # copies, until the kernel is on its way
        for x, dtype in zip(operands, self._dtypes, strict=True):
            if not is_array(x) or place_of(x).on_host:  # a scalar, by value
                arguments += [np.intp(0), dtype.type(x), np.int64(0)]
            elif x.size == 1:
                arguments += [x, dtype.type(0), np.int64(0)]
            else:
                whole = x if x.shape == shape else cp.broadcast_to(x, shape)
                if not whole.flags.c_contiguous:
                    whole = cp.ascontiguousarray(whole)
                kept.append(whole)
                arguments += [whole, dtype.type(0), np.int64(1)]
        grid = min(-(-y.size // THREADS), LARGEST_GRID)
        self._kernel((grid,), (THREADS,), tuple(arguments))
        return y
