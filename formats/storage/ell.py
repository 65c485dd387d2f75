"""ELL (ELLPACK): every row padded to the longest one's width, stored slot-major.

Slot s of all rows lies together, so a product streams through memory slot by slot. The price is the padding:
width x nrows places for nnz entries. One hub row makes it absurd, hence `_check_padding`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..arrays import (
    Array,
    as_array,
    as_values,
    check_not_nan,
    check_range,
    counts,
    index_dtype,
    namespace,
    position_of,
    same_place,
    starts_of,
)
from ..matrix.base import Matrix
from ..matrix.contract import Shape, as_shape
from ..matrix.facts import ENTRIES
from ..matrix.routes import conversion
from ..matrix.workspace import WORD, Sizes
from .compressed import CSR, by_way_of_rows, expand

MAX_RATIO_TO_CSR = 8
MAX_UNQUESTIONED_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False, repr=False)
class ELL(Matrix):
    """Padded rows, slot-major: slot s of all rows lies together.

    Args:
        indices: (width, nrows), columns, ascending down each row's slots, then -1 in the padding.
        values: (width, nrows), 0 in the padding.
        shape: n or (nrows, ncols).
        major: 0; 1 in a transpose, whose arrays hold padded columns.

    Raises:
        ValueError: the first rule that the arrays break.

    Example:
        >>> A = ELL([[1, 2], [2, -1]], [[5, 3], [9, 0]], (2, 3))
        >>> A.width, A.nnz, A[0, 2].item()
        (2, 3, 9)

    Source: D. R. Kincaid, T. C. Oppe, D. M. Young, ITPACKV 2D user's guide, 1989.
    """

    indices: Array
    values: Array
    shape: tuple[int, int]
    major: int = 0

    own_options = {"force": None}

    if TYPE_CHECKING:

        def __init__(self, indices: ArrayLike, values: ArrayLike, shape: Shape, major: int = 0) -> None: ...

    def __post_init__(self) -> None:
        shape = as_shape(self.shape)
        if self.major not in (0, 1):
            raise ValueError(f"major must be 0 (padded rows) or 1 (padded columns), got {self.major!r}")
        indices, slots = as_array(self.indices), as_array(self.values)
        if indices.ndim != 2 or indices.shape != slots.shape:
            raise ValueError(
                f"indices and values must both be (width, {shape[self.major]}), got {indices.shape} and {slots.shape}"
            )
        if indices.dtype.kind not in "iu" and indices.size:
            raise TypeError(f"indices must be integers, got dtype {indices.dtype}")
        values = as_values(slots.reshape(-1)).reshape(slots.shape)
        check_range(indices, "indices", shape[1 - self.major], low=-1)
        indices = indices.astype(index_dtype(*shape, indices.size), copy=False)
        self._set(indices=indices, values=values, shape=shape)
        self.check()

    def check(self) -> None:
        same_place(self.indices, self.values)
        axis = "row" if self.major == 0 else "column"
        if self.indices.shape[1] != self.shape[self.major]:
            raise ValueError(
                f"a slot must have one place per {axis}, {self.shape[self.major]}, got {self.indices.shape[1]}"
            )
        check_range(self.indices, "indices", self.shape[1 - self.major], low=-1)
        above, below = self.indices[:-1], self.indices[1:]
        broken = (below >= 0) & (below <= above) | (below >= 0) & (above < 0)
        if bool(broken.any()):
            slot, at = divmod(int(broken.argmax()), self.indices.shape[1])
            raise ValueError(
                f"indices must ascend in each {axis} without repetition and padding (-1) must come last, but {axis} "
                f"{at} has {above[slot, at]} before {below[slot, at]}"
            )
        check_not_nan(self.values.reshape(-1))

    @property
    def width(self) -> int:
        """Slots per row: the length of the longest row."""
        return int(self.indices.shape[0])

    @property
    def nnz(self) -> int:
        """Number of stored entries, padding not counted."""
        return self.keep(ENTRIES, lambda: int((self.indices >= 0).sum()))

    @property
    def stored(self) -> Array:
        return self.values[self.indices >= 0]

    def coordinates(self) -> tuple[Array, Array, Array]:
        majors = self.xp.arange(self.indices.shape[1], dtype=self.indices.dtype)
        there = self.indices >= 0
        return self.xp.broadcast_to(majors, self.indices.shape), self.xp.maximum(self.indices, 0), there

    def keeping(self, keep: Array) -> ELL:
        """Moved up to the first slots of their rows."""
        xp, lengths = self.xp, keep.sum(axis=0)
        shape = int(lengths.max()) if lengths.size else 0, self.indices.shape[1]
        indices, values = xp.full(shape, -1, self.indices.dtype), xp.zeros(shape, self.dtype)
        if shape[0]:
            _, columns = xp.nonzero(keep)
            slots = (xp.cumsum(keep, axis=0) - 1)[keep]
            indices[slots, columns] = self.indices[keep]
            values[slots, columns] = self.values[keep]
        return ELL.trusted(indices, values, self.shape, self.major)

    @classmethod
    def _check_padding(cls, A: Matrix, options: dict[str, Any]) -> None:
        width, csr_bytes = A.longest(), CSR.predicted_nbytes(A)
        ell_bytes = width * A.nrows * (A.dtype.itemsize + A._index_dtype.itemsize)
        if ell_bytes > MAX_RATIO_TO_CSR * csr_bytes and ell_bytes > MAX_UNQUESTIONED_BYTES:
            raise ValueError(
                f"ELL of width {width} needs {ell_bytes / 2**20:,.0f} MiB, {ell_bytes / csr_bytes:,.0f} times the "
                f"CSR's {csr_bytes / 2**20:,.1f} MiB: a long row pads all {A.nrows:,} others; pass force=True to have "
                "it anyway"
            )

    def lengths(self, axis: int = 0) -> Array:
        present = self.indices >= 0
        if axis == self.major:
            return present.sum(axis=0)
        return counts(self.indices[present], self.shape[axis])

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        places = A.longest(0) * A.nrows
        return places * (index_dtype(*A.shape, places).itemsize + A.dtype.itemsize)

    def _transposed(self) -> ELL:
        return ELL.trusted(self.indices, self.values, self.shape[::-1], 1 - self.major)

    def _lookup(self, row: int, col: int) -> Any:
        major, minor = (row, col) if self.major == 0 else (col, row)
        slots = self.indices[:, major]
        length = int((slots >= 0).sum())
        at = position_of(minor, slots[:length])
        return self.values[at, major] if at < length and int(slots[at]) == minor else None


# --- conversions --------------------------------------------------------------------------------------------------


def rows_to_slots(s: Sizes, source: int, target: int) -> int:
    """Beside the slots, of each entry its row and slot, also as words."""
    return target + 2 * s.nnz * s.index + max(s.look_up(2), s.expand(0) - s.nnz * s.index)


def slots_to_rows(s: Sizes, source: int, target: int) -> int:
    """Beside the rows, a Boolean for each place, and counts in words; padded columns are turned."""
    nmajor = s.shape[s.major]
    gathered = s.mask(source // (s.value + s.index)) + nmajor * WORD + s.compressed(s.major)
    return gathered if s.major == 0 else max(gathered, s.compressed(1) + s.turn(0))


@conversion(CSR, ELL, needs=rows_to_slots)
def _(A: CSR, **_: Any) -> ELL:
    xp, width = namespace(A.values), A.longest()
    index_type = index_dtype(*A.shape, width * A.nrows)
    indices = xp.full((width, A.nrows), -1, index_type)
    values = xp.zeros((width, A.nrows), A.dtype)
    rows = expand(A.indptr)
    slots = xp.arange(A.nnz, dtype=A.indptr.dtype) - A.indptr[:-1][rows]
    indices[slots, rows] = A.indices
    values[slots, rows] = A.values
    return ELL.trusted(indices, values, A.shape, 0)


@by_way_of_rows(ELL, slots_to_rows, rows_to_slots)
def _(A: ELL) -> Matrix:
    present = A.indices.T >= 0
    index_type = index_dtype(*A.shape, A.nnz)
    indptr = starts_of(present.sum(axis=1), index_type)
    return CSR.trusted(indptr, A.indices.T[present].astype(index_type, copy=False), A.values.T[present], A.shape)
