"""Products over padded rows: launches of padded.cu, a thread for each row."""

from __future__ import annotations

from typing import Any

from formats import ELL
from formats.arrays import Array, cupy

from ..algebra.semirings import Semiring
from .kernels import Kernels
from .push import Marks
from .storage import Products, products_for
from .tiles import step_of


@products_for(ELL)
class Padded(Products):
    def gather(self, k: Kernels, A: Any, x: Array, semiring: Semiring, allowed: Array | None) -> Array:
        y = cupy().empty(A.shape[A.major], A.dtype)
        if y.size:
            k.gather_padded((-(-y.size // k.block[0]),), k.block, (*_slots(k, A), x, y))
        return y

    def scatter(self, k: Kernels, A: Any, x: Array, semiring: Semiring) -> Array:
        y = cupy().full(A.shape[1 - A.major], semiring.zero(A.dtype), A.dtype)
        if A.nnz:
            k.scatter_padded((-(-A.shape[A.major] // k.block[0]),), k.block, (*_slots(k, A), x, y))
        return y

    def push_rows(self, k: Kernels, A: Any, rows: Array, weights: Array, marks: Marks) -> None:
        arguments = (rows, weights, k.index(rows.size), *_slots(k, A), *marks)
        k.push_padded(k.grid(rows.size * A.width), k.block, arguments)


def _slots(k: Kernels, A: Any) -> tuple[Any, ...]:
    """Returns the first arguments of the kernels on padded rows."""
    width, nrows = A.indices.shape
    return A.indices, A.values, step_of(A.values, k.index), k.index(width), k.index(nrows)
