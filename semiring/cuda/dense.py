"""Products over every position of a matrix: launches of dense.cu."""

from __future__ import annotations

import numpy as np

from formats import Dense, SparseVector
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, index_dtype

from ..algebra.semirings import Semiring
from .kernels import SHORT_ROWS, Kernels, Shape
from .storage import Products, products_for

BLOCKS_PER_MULTIPROCESSOR = 8
ROWS_OF_A_SLAB = 64
"""Fewer rows are not worth another block."""


@products_for(Dense)
class EveryPosition(Products):
    """A warp for each row, or a thread for each column, which leaves out the rows that x has not."""

    push_below = float("inf")

    def shape(self, A: Dense) -> tuple[Shape, np.dtype]:
        return SHORT_ROWS, index_dtype(*A.shape)

    def gathers(self, A: Dense, semiring: Semiring) -> bool:
        """Not for `any`, which wants the first entry of a row: lanes take turns along it."""
        return semiring.add.name != "any"

    def scatters(self, A: Dense, semiring: Semiring) -> bool:
        return True

    def gather(self, k: Kernels, A: Dense, x: Array, semiring: Semiring, allowed: Array | None) -> Array:
        nrows, ncols = A.values.shape
        y = cupy().empty(nrows, A.dtype)
        if nrows:
            mask = np.uintp(0) if allowed is None else cupy().ascontiguousarray(allowed)
            arguments = (A.values, A.fill, k.index(nrows), k.index(ncols), x, mask, y)
            k.gather_dense(k.grid(nrows, k.block[0] // 32), k.block, arguments)
        return y

    def scatter(self, k: Kernels, A: Dense, x: Array, semiring: Semiring) -> Array:
        return fold_rows(k, A, x)

    def push(self, k: Kernels, A: Dense, x: SparseVector, semiring: Semiring, matrix_first: bool) -> SparseVector:
        return SparseVector.from_dense(fold_rows(k, A, x), semiring.zero(A.dtype))


def fold_rows(k: Kernels, A: Dense, x: Array | SparseVector) -> Array:
    """y_k = ⊕_i a_ik ⊗ x_i, across the stored rows; of a sparse x only those rows that it has are read."""
    cp = cupy()
    ncols = A.values.shape[1]
    y = cp.empty(ncols, A.dtype)
    if ncols == 0:
        return y
    sparse = isinstance(x, SparseVector)
    rows = x.indices.astype(k.index, copy=False) if sparse else np.uintp(0)
    weights = cp.ascontiguousarray(x.values) if sparse else x
    count = int(weights.size)
    across = -(-ncols // k.block[0])
    wanted = BLOCKS_PER_MULTIPROCESSOR * cp.cuda.Device().attributes["MultiProcessorCount"] // across
    slabs = max(1, min(wanted, -(-count // ROWS_OF_A_SLAB), 65535))
    slab = -(-max(count, 1) // slabs)
    parts = cp.empty(slabs * ncols * k.part_bytes // 2, np.uint8)
    arguments = (A.values, A.fill, rows, weights, k.index(count), k.index(slab), k.index(ncols), parts)
    k.fold_rows_dense((across, slabs), k.block, arguments)
    k.join_slabs(k.grid(ncols), k.block, (parts, k.index(slabs), k.index(ncols), y))
    return y
