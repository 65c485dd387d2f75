"""Products over compressed rows: tiles of them, or a thread a row where a mask and a terminal ⊕ may end it early."""

from __future__ import annotations

from typing import Any

from formats import CSC, CSR, SparseVector
from formats.arrays import Array, cupy

from ..algebra.codegen import Index, types_of
from ..algebra.semirings import Semiring
from ..verbs import merge
from . import tiles
from .expand import expand_and_combine
from .kernels import Kernels, Shape, shape_for
from .push import Marks, compressed_spans, push_spans
from .storage import Products, by_atomics, products_for


@products_for(CSR, CSC)
class Compressed(Products):
    """Sums are in the order of the entries: across the rows through the kept transpose."""

    turned = True

    def shape(self, A: Any) -> tuple[Shape, Index]:
        return shape_for(A.nnz, A.shape[A.major]), types_of(A)

    def scatters(self, A: Any, semiring: Semiring) -> bool:
        return False

    def gather(self, k: Kernels, A: Any, x: Array, semiring: Semiring, allowed: Array | None) -> Array:
        y = cupy().empty(A.shape[A.major], A.dtype)
        if allowed is None or not semiring.add.terminal:
            tiles.gather_compressed(k, A, x, y)
        elif y.size:
            rows = tiles.rows_of(k, A, A.indices)
            k.gather_until_found(k.grid(y.size), k.block, (*rows, x, cupy().ascontiguousarray(allowed), y))
        return y

    def push(self, k: Kernels, A: Any, x: SparseVector, semiring: Semiring, matrix_first: bool) -> SparseVector | None:
        if by_atomics(semiring, A.dtype):
            return super().push(k, A, x, semiring, matrix_first)
        return _combined(A, x, semiring, matrix_first)

    def push_rows(self, k: Kernels, A: Any, rows: Array, weights: Array, marks: Marks) -> None:
        push_spans(k, k.push_spans, A, (A.indices,), compressed_spans(k, A.indptr, rows), weights, marks)


def _combined(A: Any, x: SparseVector, semiring: Semiring, matrix_first: bool) -> SparseVector:
    """The rows that x selects, by expanding and sorting them: for sums, in an order that is always the same."""
    x = merge.drop(x, semiring.zero(A.dtype))
    xp, index = cupy(), A.indices.dtype
    as_row = CSR.trusted(xp.array([0, x.nnz], index), x.indices.astype(index, copy=False), x.values, (1, x.size))
    rows = A if A.major == 0 else A.T
    y = expand_and_combine(as_row, rows, semiring, swapped=matrix_first)
    return SparseVector.trusted(y.indices, y.values, y.ncols)
