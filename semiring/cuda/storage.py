"""Products over a format's own storage on the GPU: what a format brings, and the table of those that do.

    gather   y_i = ⊕_k a_ik ⊗ x_k, along the stored rows     scatter  y_k ⊕= a_ik ⊗ x_i, across them
    push     the scatter of a sparse x: only the rows that it has

"Row" is the stored orientation's: a column of CSC or of a transposed list. A format without products of its own is
multiplied through kept compressed rows or columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from formats import Matrix, SparseVector
from formats.arrays import Array

from ..algebra.codegen import Index
from ..algebra.semirings import Semiring, counts
from ..generic.layout import GATHER_FROM, Layout
from .kernels import PRODUCTS, SHORT_ROWS, Kernels, Shape
from .push import Marks, push


class Products(Layout):
    """Launches of the kernels on one format's storage. What a format does not have is done by kept rows or columns."""

    unit: ClassVar[str] = PRODUCTS
    """The translation unit, of `kernels.UNITS`, that has the kernels."""

    push_below: ClassVar[float] = GATHER_FROM

    def shape(self, A: Any) -> tuple[Shape, Index]:
        """The kernels' shape, and the index types, for a matrix."""
        return SHORT_ROWS, A.indices.dtype

    def gathers(self, A: Any, semiring: Semiring) -> bool:
        """True if there is a `gather` for this matrix and semiring."""
        return True

    def scatters(self, A: Any, semiring: Semiring) -> bool:
        """True if there is a `scatter` for this matrix and semiring."""
        return in_any_order(semiring)

    def holds(self, A: Any) -> dict[str, int]:
        """Bytes of what a product with a dense vector holds, or keeps, beside x and y."""
        return {}

    def gather(self, k: Kernels, A: Any, x: Array, semiring: Semiring, allowed: Array | None) -> Array:
        """y along the stored rows.  x: C-contiguous.  allowed: flags of the rows that are wanted."""
        raise NotImplementedError

    def scatter(self, k: Kernels, A: Any, x: Array, semiring: Semiring) -> Array:
        """y across the stored rows."""
        raise NotImplementedError

    def push(self, k: Kernels, A: Any, x: SparseVector, semiring: Semiring, matrix_first: bool) -> SparseVector | None:
        """y across the stored rows that x has; None for a semiring that this cannot be done for."""
        return push(k, A, x, semiring, self.push_rows) if by_atomics(semiring, A.dtype) else None

    def push_rows(self, k: Kernels, A: Any, rows: Array, weights: Array, marks: Marks) -> None:
        """Launches y_k ⊕= a_ik ⊗ weights_i for the given rows."""
        raise NotImplementedError


STORED: dict[type[Matrix], Products] = {}
"""The products of each format that has some."""


def products_for(*formats: type[Matrix]) -> Callable[[type[Products]], type[Products]]:
    """Register the decorated products for the formats."""

    def register(products: type[Products]) -> type[Products]:
        for fmt in formats:
            STORED[fmt] = products()
        return products

    return register


def in_any_order(semiring: Semiring) -> bool:
    """True if ⊕ gives the same in any order, so that atomics may decide it. `any` takes what comes first."""
    return semiring.add.idempotent and not (semiring.add.name == "any" and semiring.mul.reads)


def by_atomics(semiring: Semiring, dtype: np.dtype) -> bool:
    """True if atomics may push a sparse operand: in no order does a y that has left the zero return to it."""
    return in_any_order(semiring) or counts(semiring, dtype)
