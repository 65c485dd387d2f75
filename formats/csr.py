"""CSR, compressed sparse rows: row i holds entries indptr[i] .. indptr[i+1]-1 of `indices` (columns) and `values`.

12 bytes an entry and 4 a row for int32 indices and 8-byte values; the format that every verb supports.
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

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .base import Shape
    from .csc import CSC


@dataclass(frozen=True, eq=False, repr=False)
class CSR(Matrix):
    """Compressed sparse rows.

    indptr: (nrows + 1,).  indices: (nnz,), columns, ascending in each row, no column twice.  values: (nnz,).
    shape: (nrows, ncols).  ValueError names the first broken rule.
    """

    indptr: Array
    indices: Array
    values: Array
    shape: tuple[int, int]
    major: ClassVar[int] = 0  # type: ignore[misc]  # of others it is a field

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
        return compressed_nbytes(A, 0)

    @property
    def _index_dtype(self) -> np.dtype:
        return self.indices.dtype

    def _transposed(self) -> CSC:
        from .csc import CSC

        return CSC.trusted(self.indptr, self.indices, self.values, self.shape[::-1])

    def _lookup(self, row: int, col: int) -> Any:
        return lookup_compressed(self, row, col)
