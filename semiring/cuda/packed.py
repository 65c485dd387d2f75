"""Products over compressed rows whose columns are packed: what `compressed` does, by the kernels of packed.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CompressedCSR, Matrix
from formats.arrays import Array, cupy
from formats.storage.orientation import by_columns, by_rows

from ..algebra.semirings import Semiring
from . import tiles
from .kernels import PACKED, Kernels, Shape, shape_for
from .push import Marks, compressed_spans, push_spans
from .storage import Products, products_for


@products_for(CompressedCSR)
class Packed(Products):
    """Sums are in the order of the entries: across the rows through the kept transpose, which is packed as well."""

    unit = PACKED
    turned = True

    def shape(self, A: Any) -> tuple[Shape, np.dtype]:
        return shape_for(A.nnz, A.shape[A.major]), A.bases.dtype

    @classmethod
    def along(cls, A: Matrix, axis: int) -> Matrix:
        return by_rows(A) if axis == 0 else by_columns(A)

    def scatters(self, A: Any, semiring: Semiring) -> bool:
        return False

    def gather(self, k: Kernels, A: Any, x: Array, semiring: Semiring, allowed: Array | None) -> Array:
        y = cupy().empty(A.shape[A.major], A.dtype)
        rows = tiles.rows_of(k, A, A.words, A.bases, A.starts)
        if allowed is None or not semiring.add.terminal:
            tiles.gather_rows(k, k.gather_packed, A, rows, x, y)
        elif y.size:
            arguments = (*rows, x, cupy().ascontiguousarray(allowed), y)
            k.gather_packed_until_found(k.grid(y.size), k.block, arguments)
        return y

    def push_rows(self, k: Kernels, A: Any, rows: Array, weights: Array, marks: Marks) -> None:
        columns = (A.words, A.bases, A.starts)
        push_spans(k, k.push_packed, A, columns, compressed_spans(k, A.indptr, rows), weights, marks)
