"""CSC, compressed sparse columns: column j holds entries indptr[j] .. indptr[j+1]-1 of `indices` (rows) and `values`.

The transpose of a CSR matrix, array for array; it makes predecessors contiguous where CSR does successors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ._compressed import (
    check_compressed,
    coerce_compressed,
    compressed_nbytes,
    lengths_compressed,
    lookup_compressed,
)
from .arrays import Array
from .base import Matrix
from .csr import CSR

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .base import Shape


@dataclass(frozen=True, eq=False, repr=False)
class CSC(Matrix):
    """Compressed sparse columns.

    indptr: (ncols + 1,).  indices: (nnz,), rows, ascending in each column, no row twice.  values: (nnz,).
    shape: (nrows, ncols).  ValueError names the first broken rule.
    """

    indptr: Array
    indices: Array
    values: Array
    shape: tuple[int, int]
    major: ClassVar[int] = 1  # type: ignore[misc]  # of others it is a field

    if TYPE_CHECKING:

        def __init__(self, indptr: ArrayLike, indices: ArrayLike, values: ArrayLike, shape: Shape) -> None: ...

    def __post_init__(self) -> None:
        coerce_compressed(self)
        self.check()

    def check(self) -> None:
        check_compressed(self)

    def lengths(self, axis: int = 0) -> Array:
        return lengths_compressed(self, axis)

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        return compressed_nbytes(A, 1)

    @property
    def _index_dtype(self) -> np.dtype:
        return self.indices.dtype

    def _transposed(self) -> CSR:
        return CSR.trusted(self.indptr, self.indices, self.values, self.shape[::-1])

    def _lookup(self, row: int, col: int) -> Any:
        return lookup_compressed(self, col, row)
