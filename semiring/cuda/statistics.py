"""Statistics of whole arrays, found by one launch of statistics.cu each. Each call waits for the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, index_dtype
from formats.hooks import SAME_REVERSES

from ..algebra.codegen import C_TYPES, Index, types_of
from .steps import STATISTICS, THREADS, Steps, step_text, steps_for

MOMENTS = np.dtype([("sum", float), ("least", float), ("largest", float), ("count", np.uint64)])
"""Moments of statistics.cu."""

MOST_BLOCKS = 1024
"""Blocks that leave moments of their own: as many on every device, so that a sum is the same on all."""

ENTRIES_EACH = 8
"""Entries of a thread, as in statistics.cu."""


def head(dtype: np.dtype) -> str:
    """Returns the CUDA text before the unit's files."""
    return f"using T = {C_TYPES[dtype.name]};\n"


def unit(dtype: np.dtype, index: Index) -> str:
    """The CUDA text of the unit for values and indices."""
    return step_text(STATISTICS, index, dtype.itemsize, head(dtype))


def _steps(dtype: np.dtype, index: Index) -> Steps:
    return steps_for(STATISTICS, index, dtype.itemsize, head(dtype))


def moments(values: Array, absent: Any) -> dict[str, float]:
    """Sum, least, largest and count of the values other than `absent`, as float64."""
    index = index_dtype(values.size)
    blocks = max(min(-(-values.size // THREADS), MOST_BLOCKS), 1)
    of_block = cupy().empty(blocks * MOMENTS.itemsize, np.uint8)
    arguments = (values, step_of(values, index), np.int64(values.size), values.dtype.type(absent), of_block)
    _steps(values.dtype, index).launch("moments", blocks, arguments)
    found = of_block.get().view(MOMENTS)
    with np.errstate(over="ignore"):  # of the largest floats the sum is infinite
        total = float(found["sum"].sum())
    extremes = {"least": float(found["least"].min()), "largest": float(found["largest"].max())}
    return {"sum": total, "count": float(found["count"].sum()), **extremes}


def longest_row(indptr: Array, dtype: np.dtype) -> int:
    """The largest number of entries in a row; dtype: of the values, whose unit is used."""
    longest = cupy().zeros(1, indptr.dtype)
    _steps(dtype, indptr.dtype).loop("longest_row", indptr.size - 1, (indptr, np.int64(indptr.size - 1), longest))
    return int(longest.get()[0])


@SAME_REVERSES.answered_by
def same_reverses(A: CSR, values: bool) -> tuple[bool, bool]:
    """Tells if a square `A` has the reverse of every entry, and that with its value; True is wrong once in 2^128.

    values: whether they are looked at; else the second answer is False.
    """
    difference, k = cupy().zeros(4, np.uint64), _steps(A.dtype, types_of(A))
    weights = A.values, step_of(A.values, A.indptr.dtype)
    sizes = np.int64(A.nrows), np.int64(A.nnz), np.bool_(values)
    k.loop("compare_reverses", -(-A.nnz // ENTRIES_EACH), (A.indptr, A.indices, *weights, *sizes, difference))
    found = difference.get()
    positions = not found[:2].any()
    return positions, positions and values and not found[2:].any()


def step_of(values: Array, index: np.dtype) -> Any:
    """Elements between values: 0 where all are one."""
    return index.type(values.strides[0] // values.dtype.itemsize)
