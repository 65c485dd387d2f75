"""What is known of arrays as a whole, found by one launch each: statistics.cu. Each waits for the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSC, CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, index_dtype
from formats.hooks import SAME_ENTRIES, SAME_LENGTHS

from ..algebra.codegen import C_TYPES
from .steps import STATISTICS, THREADS, Steps, step_text, steps_for

MOMENTS = np.dtype([("sum", float), ("least", float), ("largest", float), ("count", np.uint64)])
"""Moments of statistics.cu."""

MOST_BLOCKS = 1024
"""Blocks that leave moments of their own: as many on every device, so that a sum is the same on all."""

POSITIONS = 1
"""The bit of statistics.cu that tells of positions."""


def head(dtype: np.dtype) -> str:
    """What comes before the unit's files."""
    return f"using T = {C_TYPES[dtype.name]};\n"


def unit(dtype: np.dtype, index: np.dtype) -> str:
    """The CUDA text of the unit for values and indices."""
    return step_text(STATISTICS, index, dtype.itemsize, head(dtype))


def _steps(dtype: np.dtype, index: np.dtype) -> Steps:
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
    _steps(dtype, indptr.dtype).each("longest_row", indptr.size - 1, (indptr, np.int64(indptr.size - 1), longest))
    return int(longest.get()[0])


@SAME_LENGTHS.answered_by
def columns_are_as_long(A: CSR) -> bool:
    """Has each column of the square `A` as many entries as the row of its number? True may be wrong, once in 2^64."""
    difference = cupy().zeros(1, np.uint64)
    k = _steps(A.dtype, A.indptr.dtype)
    k.each("compare_lengths", A.nrows + A.nnz, (A.indptr, A.indices, np.int64(A.nrows), np.int64(A.nnz), difference))
    return not difference.get()[0]


@SAME_ENTRIES.answered_by
def same_entries(A: CSR, B: CSC) -> tuple[bool, bool]:
    """(has Bᵀ entries where the square `A` has, and are their values the same, too?) for as many entries."""
    index, difference = A.indptr.dtype, cupy().zeros(1, np.uint32)
    ends = A.indptr, B.indptr, np.int64(A.nrows)
    values = A.values, step_of(A.values, index), B.values, step_of(B.values, index)
    arguments = (*ends, A.indices, B.indices, *values, np.int64(A.nnz), difference)
    _steps(A.dtype, index).each("compare_entries", A.nrows + 1 + A.nnz, arguments)
    found = int(difference.get()[0])
    return found & POSITIONS == 0, found == 0


def step_of(values: Array, index: np.dtype) -> Any:
    """Elements between values: 0 where all are one."""
    return index.type(values.strides[0] // values.dtype.itemsize)
