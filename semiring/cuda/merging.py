"""Two matrices joined entry by entry: launches of merge.cu.

united(A, B, op)        the union, op(a, b) where both have an entry
common(A, B, op, zero)  the intersection, without entries equal to the zero
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import Array, cupy, index_dtype
from formats.places import kept_by_place

from ..algebra.codegen import C_TYPES
from ..algebra.ops import BinaryOp
from ..algebra.semirings import Monoid
from ..algebra.translation import literal
from .elementwise import binary_dtype, binary_text
from .steps import MERGE, NOTHING, SUM, THREADS, Steps, letters, steps_for, totals

STEPS = 11 * THREADS
"""Steps of a tile, as in merge.cu."""

Combiner = Monoid | BinaryOp


def united(A: CSR, B: CSR, op: Combiner, stays: Array | None = None) -> CSR:
    """The union of the entries of `A` and `B`; op(a, b) where both have one. Waits for the device.

    stays: a bit for each entry of `A`; one without it, and without an entry of `B` in its place, is left out.
    """
    return _merged(A, B, op, None, stays, both_only=False)


def common(A: CSR, B: CSR, op: Combiner, zero: Any) -> CSR:
    """The intersection, op(a, b) each, of the entries that are not `zero`; None: of all. Waits for the device."""
    return _merged(A, B, op, zero, None, both_only=True)


def _merged(A: CSR, B: CSR, op: Combiner, zero: Any, stays: Array | None, *, both_only: bool) -> CSR:
    cp = cupy()
    operator = op.on(A.dtype) if isinstance(op, Monoid) else op
    index = index_dtype(*A.shape, A.nnz + B.nnz)
    k = _steps(operator, A.dtype, index, None if zero is None else zero.item(), both_only)
    tiles = -(-(A.nnz + B.nnz + A.nrows) // STEPS)
    first_row, first_a = cp.empty(tiles + 1, index), cp.empty(tiles + 1, index)
    sides = [_side(M, index) for M in (A, B)]
    pattern = (*sides[0][:2], *sides[1][:2], k.index(A.nrows))
    k.loop("cut_path", tiles + 1, (*pattern, np.int64(tiles), first_row, first_a))
    both = (*sides[0], NOTHING if stays is None else stays, *sides[1], k.index(A.nrows), first_row, first_a)
    counts = cp.empty(tiles + 1, index)
    k.launch("count_merged", tiles, (*both, counts))
    totals(counts, tiles, counts, told=letters().open(SUM))
    (nnz,) = letters().read(SUM)
    indptr = cp.empty(A.nrows + 1, index) if tiles else cp.zeros(A.nrows + 1, index)
    indices, values = cp.empty(nnz, index), cp.empty(nnz, binary_dtype(operator, A.dtype))
    k.launch("write_merged", tiles, (*both, counts, indptr, indices, values))
    result = index_dtype(*A.shape, nnz)
    if result != index:
        indptr, indices = indptr.astype(result), indices.astype(result)
    return CSR.trusted(indptr, indices, operator.checked(values), A.shape)


def _side(A: CSR, index: np.dtype) -> tuple[Array, Array, Array]:
    """An operand's arrays as kernels take them."""
    cp = cupy()
    indptr, indices = (part.astype(index, copy=False) for part in (A.indptr, A.indices))
    return indptr, indices, cp.ascontiguousarray(A.values)


@kept_by_place(256)
def _steps(op: BinaryOp, dtype: np.dtype, index: np.dtype, zero: Any, both_only: bool) -> Steps:
    return steps_for(MERGE, index, 4, merge_head(op, dtype, zero, both_only))


def merge_head(op: BinaryOp, dtype: np.dtype, zero: Any, both_only: bool) -> str:
    """Returns the CUDA text before the kernels for an operator on `dtype`.  zero: the absent value, or None."""
    absent = literal(dtype.type(0 if zero is None else zero), dtype)
    return (
        f"{binary_text(op, dtype)}using T = element::T;\nusing R = {C_TYPES[binary_dtype(op, dtype).name]};\n"
        f"constexpr bool HAS_ZERO = {str(zero is not None).lower()}, BOTH_ONLY = {str(both_only).lower()};\n"
        f"#define ABSENT ({absent})\n"
    )
