"""Products over a sorted list of entries: tiles of it along the rows, atomics across them."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import COO
from formats.arrays import Array, cupy

from ..algebra.semirings import Semiring
from . import tiles
from .kernels import Kernels, Shape, shape_for
from .push import Marks, push_spans, spans_by
from .storage import Products, products_for
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

    def push_rows(self, k: Kernels, A: Any, rows: Array, weights: Array, marks: Marks) -> None:
        spans = spans_by(k, k.spans_list, rows, A.outer, k.index(A.nnz))  # by bisection
        push_spans(k, k.push_spans, A, (A.inner,), spans, weights, marks)
