"""COO, an edge list: entry e is values[e] at (rows[e], cols[e]), sorted by row, then by column.

16 bytes an entry for int32 indices and 8-byte values, whatever the number of rows; its transpose is the same list
with the roles exchanged, sorted by column, which `major = 1` tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import (
    Array,
    as_indices,
    as_values,
    check_not_nan,
    check_one_length,
    check_range,
    counts,
    index_dtype,
    namespace,
    position_of,
    same_place,
)
from ..matrix.base import Matrix
from ..matrix.contract import Shape, as_shape


@dataclass(frozen=True, eq=False, repr=False)
class COO(Matrix):
    """Coordinate list: an edge list, sorted by row, then by column.

    Args:
        rows, cols, values: (nnz,), in any order, no position twice. `from_edges` combines duplicates.
        shape: n or (nrows, ncols).
        major: 0 to sort by row, 1 by column.

    Raises:
        ValueError: the first rule that the arrays break.

    Example:
        >>> A = COO([1, 0], [0, 1], [3.0, 2.0], (2, 2))
        >>> A.rows.tolist(), A.values.tolist()
        ([0, 1], [2.0, 3.0])
    """

    rows: Array
    cols: Array
    values: Array
    shape: tuple[int, int]
    major: int = 0

    if TYPE_CHECKING:

        def __init__(
            self, rows: ArrayLike, cols: ArrayLike, values: ArrayLike, shape: Shape, major: int = 0
        ) -> None: ...

    def __post_init__(self) -> None:
        shape = as_shape(self.shape)
        values = as_values(self.values)
        if self.major not in (0, 1):
            raise ValueError(f"major must be 0 (by row) or 1 (by column), got {self.major!r}")
        index_type = index_dtype(*shape, values.shape[0])
        rows = as_indices(self.rows, "rows", shape[0], index_type)
        cols = as_indices(self.cols, "cols", shape[1], index_type)
        check_one_length(rows=rows, cols=cols, values=values)
        outer, inner = (rows, cols) if self.major == 0 else (cols, rows)
        if bool(out_of_order(outer, inner).any()):
            xp = namespace(values)
            order = xp.lexsort(xp.stack((inner, outer)))
            rows, cols, values = rows[order], cols[order], values[order]
        self._set(shape=shape, rows=rows, cols=cols, values=values)
        self.check()

    def check(self) -> None:
        same_place(self.rows, self.cols, self.values)
        check_range(self.rows, "rows", self.nrows)
        check_range(self.cols, "cols", self.ncols)
        broken = out_of_order(self.outer, self.inner)
        if bool(broken.any()):
            at = int(broken.argmax()) + 1
            raise ValueError(
                f"entries must be sorted and no position may repeat, but ({self.rows[at]}, {self.cols[at]}) follows "
                f"({self.rows[at - 1]}, {self.cols[at - 1]}); from_edges combines duplicates"
            )
        check_not_nan(self.values)

    @property
    def outer(self) -> Array:
        """The index that entries are sorted by first."""
        return self.rows if self.major == 0 else self.cols

    @property
    def inner(self) -> Array:
        """The index that entries are sorted by second."""
        return self.cols if self.major == 0 else self.rows

    def coordinates(self) -> tuple[Array, Array, None]:
        return self.outer, self.inner, None

    def keeping(self, keep: Array) -> COO:
        return COO.trusted(self.rows[keep], self.cols[keep], self.values[keep], self.shape, self.major)

    def lengths(self, axis: int = 0) -> Array:
        ends = self.outer if axis == self.major else self.inner
        return counts(ends, self.shape[axis])

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        return A.nnz * (2 * A._index_dtype.itemsize + A.dtype.itemsize)

    @property
    def _index_dtype(self) -> np.dtype:
        return self.rows.dtype

    def _transposed(self) -> COO:
        return COO.trusted(self.cols, self.rows, self.values, self.shape[::-1], 1 - self.major)

    def _lookup(self, row: int, col: int) -> Any:
        outer, inner = (row, col) if self.major == 0 else (col, row)
        start, stop = position_of(outer, self.outer), position_of(outer, self.outer, "right")
        at = start + position_of(inner, self.inner[start:stop])
        return self.values[at] if at < stop and int(self.inner[at]) == inner else None


def out_of_order(outer: Array, inner: Array) -> Array:
    """Marks each entry but the first that does not come strictly after the one before."""
    return (outer[1:] < outer[:-1]) | ((outer[1:] == outer[:-1]) & (inner[1:] <= inner[:-1]))
