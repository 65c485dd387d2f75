"""Products over a sorted list of entries: tiles of it along the rows, atomics across them."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import COO, SparseVector
from formats.arrays import Array, cupy

from ..algebra.semirings import Semiring
from . import tiles
from .kernels import Kernels, Shape, shape_for
from .push import Marks, ends_of, push, push_spans
from .storage import Products, by_atomics, products_for
from .tiles import step_of


@products_for(COO)
class Listed(Products):
    def shape(self, A: Any) -> tuple[Shape, np.dtype]:
        return shape_for(A.nnz, A.shape[A.major]), A.outer.dtype

    def gather(self, k: Kernels, A: Any, x: Array, semiring: Semiring, allowed: Array | None) -> Array:
        y = cupy().full(A.shape[A.major], semiring.zero(A.dtype), A.dtype)
        tiles.gather_list(k, A, x, y)
        return y

    def scatter(self, k: Kernels, A: Any, x: Array, semiring: Semiring) -> Array:
        y = cupy().full(A.shape[1 - A.major], semiring.zero(A.dtype), A.dtype)
        if A.nnz:
            entries = (A.outer, A.inner, A.values, step_of(A.values, k.index), k.index(A.nnz))
            k.scatter_list(k.grid(A.nnz), k.block, (*entries, x, y))
        return y

    def push(
        self, k: Kernels, A: Any, x: SparseVector, semiring: Semiring, *, matrix_first: bool
    ) -> SparseVector | None:
        return push(k, A, x, semiring, _push_rows) if by_atomics(semiring, A.dtype) else None


def _push_rows(k: Kernels, A: Any, rows: Array, weights: Array, marks: Marks) -> None:
    """Each row's entries, found by bisection."""
    starts, lengths = (cupy().empty(rows.size, rows.dtype) for _ in range(2))
    k.spans_list(k.grid(rows.size), k.block, (rows, k.index(rows.size), A.outer, k.index(A.nnz), starts, lengths))
    push_spans(k, k.push_spans, A, (A.inner,), (starts, ends_of(lengths)), weights, marks)
