"""Dense, an adjacency matrix: a value for every position, one of which says that nothing is there.

What small or dense graphs are kept in, as Martín, Torres and Gavilanes' second set of graphs. A product streams through
all of it, absent entries too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import (
    Array,
    as_array,
    as_values,
    cast,
    check_not_nan,
    differs,
    equals,
    has_dtype,
    index_dtype,
    namespace,
)
from ..matrix.base import Matrix
from ..matrix.convert import convert
from ..matrix.facts import ENTRIES
from ..matrix.routes import conversion
from ..matrix.workspace import WORD, Sizes
from .compressed import CSR, compress, expand, turned

ABSENT_BOOL = 2
"""The byte for an absent Boolean."""

MAX_RATIO_TO_CSR = 8
MAX_UNQUESTIONED_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Dense(Matrix):
    """Every position of the matrix.

    Args:
        values: (nrows, ncols). Booleans are kept as bytes (uint8), with 2 for absent, so that both may be stored; bytes
            with 2 for their fill are taken for such.
        fill: the value that means absent, also NaN.
        major: 0; 1 in a transpose, whose arrays hold (ncols, nrows).

    Raises:
        ValueError: the first rule that the array breaks.

    Example:
        >>> import numpy as np
        >>> A = Dense(np.array([[0.0, 5.0], [np.inf, 0.0]]), fill=np.inf)
        >>> A.nnz, A[0, 0].item(), (1, 0) in A
        (3, 0.0, False)
    """

    values: Array
    fill: Any
    major: int = 0

    own_options = {"force": None, "fill": None}

    def __post_init__(self) -> None:
        if not isinstance(self.major, int) or self.major not in (0, 1):
            raise ValueError(f"major must be 0 or 1, got {self.major!r}")
        given = as_array(self.values)
        if given.ndim != 2:
            raise ValueError(f"values must be two-dimensional, got {given.ndim} dimensions")
        if given.dtype == np.uint8 and self.fill == ABSENT_BOOL:
            values, fill = given, ABSENT_BOOL
        else:
            flat = given.reshape(-1)
            values = as_values(flat if has_dtype(self.values) else flat.tolist()).reshape(given.shape)
            fill = as_fill(self.fill, values.dtype)
            if values.dtype == np.bool_:
                xp = namespace(values)
                values, fill = xp.where(values == fill, np.uint8(ABSENT_BOOL), values.astype(np.uint8)), ABSENT_BOOL
        self._set(values=values, fill=values.dtype.type(fill))
        self.check()

    def check(self) -> None:
        if self.values.dtype == np.uint8 and self.values.size and int(self.values.max()) > ABSENT_BOOL:
            raise ValueError(f"Booleans are bytes 0, 1 and, for absent, 2, got {int(self.values.max())}")
        if self.fill == self.fill:
            check_not_nan(self.values.reshape(-1))

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        nmajor, nminor = self.values.shape
        return (nmajor, nminor) if self.major == 0 else (nminor, nmajor)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(bool) if self.values.dtype == np.uint8 else self.values.dtype

    @property
    def present(self) -> Array:
        """Marks where entries are: (nrows, ncols), of a transpose (ncols, nrows)."""
        return self._present(self.values)

    def _present(self, values: Array) -> Array:
        return values == values if self.fill != self.fill else differs(values, self.fill)

    @property
    def stored(self) -> Array:
        """The values of the entries, (nnz,), row by row."""
        values = self.values.reshape(-1) if self.nnz == self.values.size else self.values[self.present]
        return values.astype(self.dtype, copy=False)

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return self.keep(ENTRIES, lambda: int(self.present.sum()))

    def coordinates(self) -> tuple[Array, Array, Array]:
        majors, minors = (self.xp.arange(size, dtype=index_dtype(size)) for size in self.values.shape)
        shape = self.values.shape
        return self.xp.broadcast_to(majors[:, None], shape), self.xp.broadcast_to(minors, shape), self.present

    def keeping(self, keep: Array) -> Dense:
        there = self.present & keep
        kept = self.values[there].astype(self.dtype, copy=False)
        return filled(there, kept, self.major, None if self.dtype == np.bool_ else self.fill)

    def astype(self, dtype: Any) -> Dense:
        return filled(self.present, cast(self.stored, dtype), self.major)

    def revalued(self, values: Array) -> Dense:
        """The same pattern with other values, of which those where nothing is do not count."""
        if values is self.values:
            return self
        present = self.present
        return filled(present, values[present], self.major)

    def pattern(self) -> Dense:
        xp = namespace(self.values)
        return Dense.trusted(xp.where(self.present, np.uint8(1), np.uint8(2)), np.uint8(ABSENT_BOOL), self.major)

    @property
    def options(self) -> dict[str, Any]:
        return {"force": True}

    @classmethod
    def _check_padding(cls, A: Matrix, options: dict[str, Any]) -> None:
        dense_bytes, csr_bytes = cls.predicted_nbytes(A), CSR.predicted_nbytes(A)
        if dense_bytes > MAX_RATIO_TO_CSR * csr_bytes and dense_bytes > MAX_UNQUESTIONED_BYTES:
            raise ValueError(
                f"a Dense of {A.nrows:,} × {A.ncols:,} needs {dense_bytes / 2**20:,.0f} MiB, "
                f"{dense_bytes / csr_bytes:,.0f} times the CSR's {csr_bytes / 2**20:,.1f} MiB; "
                "pass force=True to have it anyway"
            )

    def lengths(self, axis: int = 0) -> Array:
        return self.present.sum(axis=1 if axis == self.major else 0)

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        return A.nrows * A.ncols * A.dtype.itemsize

    def _transposed(self) -> Dense:
        return Dense.trusted(self.values, self.fill, 1 - self.major)

    def _lookup(self, row: int, col: int) -> Any:
        major, minor = (row, col) if self.major == 0 else (col, row)
        value = self.values[major, minor : minor + 1]
        return value[0].astype(self.dtype) if bool(self._present(value)[0]) else None


def filled(present: Array, stored: Array, major: int, fill: Any = None) -> Dense:
    """The matrix with entries where `present` says, whose values, in that order, are `stored`.

    fill: what means absent; None for a value that is not stored. ValueError if it is.
    """
    xp = namespace(present)
    dtype = np.dtype(np.uint8) if stored.dtype == np.bool_ else stored.dtype
    if fill is None:
        fill = ABSENT_BOOL if stored.dtype == np.bool_ else unused(stored)
    elif stored.dtype == np.bool_:
        raise ValueError(f"of Booleans the fill is not to be chosen, got {fill!r}: absent is the byte 2")
    else:
        fill = as_fill(fill, stored.dtype)
        if stored.size and bool(equals(stored, fill).any()):
            raise ValueError(f"fill must not be the value of an entry, got {fill}")
    values = xp.full(present.shape, fill, dtype)
    values[present] = stored
    return Dense.trusted(values, dtype.type(fill), major)


def as_fill(fill: Any, dtype: np.dtype) -> Any:
    """The user's fill as a scalar of `dtype`; TypeError if it is no number, ValueError if the dtype cannot hold it."""
    value = fill.item() if hasattr(fill, "dtype") and getattr(fill, "ndim", 0) == 0 else fill
    if not isinstance(value, int | float):
        raise TypeError(f"fill must be a number, got {value!r}")
    if dtype.kind == "f":
        return dtype.type(value)
    info = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if value != value or not info[0] <= value <= info[1] or value != int(value):
        raise ValueError(f"fill must be a value that {dtype} holds, got {value!r}")
    return dtype.type(int(value))


def unused(stored: Array) -> Any:
    """A number that is not among `stored`: the highest, else the lowest, else NaN or any integer."""
    xp, dtype = namespace(stored), stored.dtype
    info: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    ends = (np.inf, -np.inf, np.nan) if dtype.kind == "f" else (info.max, info.min)
    for end in ends:
        if not stored.size or not bool((stored == end).any()):
            return dtype.type(end)
    known = xp.unique(stored).astype(object if stored.dtype == np.int64 and xp is np else np.int64)
    steps = known[1:] - known[:-1]
    return dtype.type(int(known[int((steps != 1).argmax())]) + 1)


# --- conversions --------------------------------------------------------------------------------------------------


def rows_to_positions(s: Sizes, source: int, target: int) -> int:
    """Beside the values, a Boolean for each position, and while that is set, of each entry its row and words."""
    return s.mask(s.places) + max(target, s.expand(0) + s.look_up(2))


def positions_to_rows(s: Sizes, source: int, target: int) -> int:
    """Beside the rows, a Boolean for each position, and of each entry its position in words; columns are turned."""
    t = s if s.major == 0 else s.T
    found = t.nnz * 2 * (WORD + t.index) + t.mask(t.places)
    stored = t.shape[0] * t.index + t.mask(t.places) + t.nnz * t.value
    made = max(found, t.nnz * 2 * t.index + max(t.compress(0), stored))
    return made if s.major == 0 else max(made, s.compressed(1) + s.turn(0))


@conversion(CSR, Dense, needs=rows_to_positions)
def _(A: CSR, *, fill: Any = None, **_: Any) -> Dense:
    present = namespace(A.values).zeros(A.shape, bool)
    present[expand(A.indptr), A.indices] = True
    return filled(present, A.values, 0, fill)


@conversion(Dense, CSR, needs=positions_to_rows)
def _(A: Dense) -> Matrix:
    if A.major == 1:
        return turned(convert(A.T, CSR))
    index_type = index_dtype(*A.shape, A.nnz)
    rows, cols = (part.astype(index_type) for part in namespace(A.values).nonzero(A.present))
    return CSR.trusted(compress(rows, A.nrows, index_type), cols, A.stored, A.shape)


@conversion(Dense, Dense, needs=lambda s, source, target: 2 * target + s.mask(s.places) + s.nnz * s.value)
def _(A: Dense, *, force: bool = True, fill: Any = None) -> Dense:
    """Rows from columns, or another fill."""
    if A.major == 1:
        A = Dense.trusted(namespace(A.values).ascontiguousarray(A.values.T), A.fill, 0)
    return A if fill is None or fill == A.fill else filled(A.present, A.stored, 0, fill)
