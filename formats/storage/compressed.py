"""CSR and CSC, compressed sparse rows and columns; CSC is the transpose of a CSR, array for array.

Row i of a CSR holds entries indptr[i] .. indptr[i+1]-1 of `indices` (columns) and `values`. It takes 12 bytes an entry
and 4 a row for int32 indices and 8-byte values, and every verb supports it. CSC makes predecessors contiguous where CSR
does successors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import (
    Array,
    as_array,
    as_values,
    check_not_nan,
    check_range,
    contiguous,
    counts,
    index_dtype,
    namespace,
    position_of,
    read_only,
    same_place,
)
from ..hooks import TURNED, machine_code
from ..matrix.base import Matrix
from ..matrix.contract import Shape, as_shape
from ..matrix.convert import convert
from ..matrix.routes import conversion
from ..matrix.workspace import FEW_OF_ALL, WORD, Sizes
from ..places import place_of
from .coo import COO

Lines: TypeAlias = tuple[Array, Array, Array, tuple[int, int]]
"""The tuple (indptr, indices, values, shape)."""

PIECE = 1 << 22
"""Entries that are moved to the other orientation at a time: their rows are moved in less than half a second."""


@dataclass(frozen=True, eq=False, repr=False)
class CSR(Matrix):
    """Compressed sparse rows: the format that every verb supports.

    Args:
        indptr: (nrows + 1,), where each row's entries begin, and nnz.
        indices: (nnz,), columns, ascending in each row, no column twice.
        values: (nnz,).
        shape: n or (nrows, ncols).

    Raises:
        ValueError: the first rule that the arrays break.

    Example:
        >>> A = CSR([0, 2, 3], [0, 1, 1], [5, 9, 3], (2, 2))
        >>> A.to_dense().tolist()
        [[5, 9], [0, 3]]
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

    @property
    def line_ends(self) -> Array:
        return self.indptr

    def lengths(self, axis: int = 0) -> Array:
        return lengths_compressed(self, axis)

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        return compressed_nbytes(A, 0)

    @property
    def _index_dtype(self) -> np.dtype:
        return self.indices.dtype

    def _transposed(self) -> CSC:
        return CSC.trusted(self.indptr, self.indices, self.values, self.shape[::-1])

    def _lookup(self, row: int, col: int) -> Any:
        return lookup_compressed(self, row, col)


@dataclass(frozen=True, eq=False, repr=False)
class CSC(Matrix):
    """Compressed sparse columns.

    Args:
        indptr: (ncols + 1,), where each column's entries begin, and nnz.
        indices: (nnz,), rows, ascending in each column, no row twice.
        values: (nnz,).
        shape: n or (nrows, ncols).

    Raises:
        ValueError: the first rule that the arrays break.

    Example:
        >>> A = CSC([0, 1, 3], [0, 0, 1], [5, 9, 3], (2, 2))
        >>> A.to_dense().tolist()
        [[5, 9], [0, 3]]
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

    @property
    def line_ends(self) -> Array:
        return self.indptr

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


# --- what both share ------------------------------------------------------------------------------------------------


def coerce_compressed(A: CSR | CSC) -> None:
    """Bring a user's components to arrays of the index types that the extents need, without copies where they fit."""
    shape = as_shape(A.shape)
    values = as_values(A.values)
    types = dict(zip(("indptr", "indices"), index_types(shape, values.shape[0]), strict=True))
    coerced = {"shape": shape, "values": read_only(contiguous(values))}
    for name in ("indptr", "indices"):
        array = as_array(getattr(A, name))
        if array.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got {array.ndim} dimensions")
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError(f"{name} must be integers, got dtype {array.dtype}")
        if name == "indices":  # before narrowing, which would wrap
            check_range(array, name, shape[1 - A.major])
        coerced[name] = read_only(contiguous(array.astype(types[name], copy=False)))
    for name, component in coerced.items():
        object.__setattr__(A, name, component)


def index_types(shape: tuple[int, int], nnz: int) -> tuple[np.dtype, np.dtype]:
    """The types of `indptr`, which counts entries, and of `indices`, which does not."""
    return index_dtype(*shape, nnz), index_dtype(*shape)


def with_one_index_type(A: CSR | CSC) -> Lines:
    """The components of A, with columns in the type that counts entries, as other formats have them."""
    return A.indptr, A.indices.astype(A.indptr.dtype, copy=False), A.values, A.shape


def check_compressed(A: CSR | CSC) -> None:
    """ValueError that names the first broken rule."""
    same_place(A.indptr, A.indices, A.values)
    axis, nmajor, nminor = ("row", *A.shape) if A.major == 0 else ("column", *A.shape[::-1])
    if A.indices.shape != A.values.shape:
        raise ValueError(f"indices and values must be of one length, got {A.indices.size} and {A.values.size}")
    check_indptr(A.indptr, A.nnz, nmajor, A.major)
    check_range(A.indices, "indices", nminor)
    broken = out_of_order_within(A.indptr, A.indices)
    if bool(broken.any()):
        at = int(broken.argmax())
        major = position_of(at, A.indptr, "right") - 1
        raise ValueError(
            f"indices must ascend in each {axis} without repetition, but {axis} {major} has "
            f"{A.indices[at]} before {A.indices[at + 1]}"
        )
    check_not_nan(A.values)


def check_indptr(indptr: Array, nnz: int, nmajor: int, major: int) -> None:
    """ValueError unless `indptr` cuts nnz entries into nmajor rows (major = 0) or columns (major = 1)."""
    check_starts("indptr", indptr, nnz, nmajor, "row" if major == 0 else "column")


def check_starts(name: str, starts: Array, total: int, count: int, part: str, of: str = "nnz") -> None:
    """ValueError, which names the array, unless `starts` cuts the `total` that `of` names into `count` `part`s."""
    if starts.shape != (count + 1,):
        raise ValueError(f"{name} must have {count + 1} elements, one more than there are {part}s, got {starts.size}")
    if int(starts[0]) != 0 or int(starts[-1]) != total:
        raise ValueError(f"{name} must run from 0 to {of} = {total}, got {starts[0]} to {starts[-1]}")
    descending = starts[1:] < starts[:-1]
    if bool(descending.any()):
        raise ValueError(f"{name} must not descend, but it does after {part} {int(descending.argmax())}")


def out_of_order_within(indptr: Array, indices: Array) -> Array:
    """Marks each entry but the last whose next one, in its row (or column), does not come strictly after it."""
    broken = indices[1:] <= indices[:-1]
    starts = indptr[1:-1]
    broken[starts[(starts > 0) & (starts < indices.size)] - 1] = False  # between two rows anything goes
    return broken


def lengths_compressed(A: CSR | CSC, axis: int) -> Array:
    """See `Matrix.lengths`."""
    return namespace(A.indptr).diff(A.indptr) if axis == A.major else counts(A.indices, A.shape[axis])


def compressed_nbytes(A: Matrix, axis: int) -> int:
    """Bytes of A compressed along an axis: 0 for CSR, 1 for CSC."""
    of_indptr, of_indices = index_types(A.shape, A.nnz)
    return (A.shape[axis] + 1) * of_indptr.itemsize + A.nnz * (of_indices.itemsize + A.dtype.itemsize)


def lookup_compressed(A: CSR | CSC, major: int, minor: int) -> Any:
    """The stored value in the given row and column of the stored orientation, or None."""
    start, stop = int(A.indptr[major]), int(A.indptr[major + 1])
    segment = A.indices[start:stop]
    at = position_of(minor, segment)
    return A.values[start + at] if at < stop - start and int(segment[at]) == minor else None


# --- compressing a sorted list, expanding, and turning rows into columns ----------------------------------------------


def compress(outer: Array, nmajor: int, index_type: np.dtype) -> Array:
    """indptr (nmajor + 1,) of the sorted indices `outer`."""
    xp = namespace(outer)
    if xp is not np and outer.size:
        return xp.searchsorted(outer, xp.arange(nmajor + 1, dtype=outer.dtype)).astype(index_type)
    indptr = xp.zeros(nmajor + 1, index_type)
    if outer.size * FEW_OF_ALL < nmajor:
        np.add.at(indptr, outer + outer.dtype.type(1), 1)
        np.cumsum(indptr, dtype=index_type, out=indptr)
    elif outer.size:
        ends = counts(outer, nmajor)
        indptr[1:] = np.cumsum(ends, out=ends)
    return indptr


def expand(indptr: Array) -> Array:
    """The inverse of `compress`: for each entry, its row (or column). On a GPU it waits for the device."""
    if place_of(indptr).on_host:
        return np.repeat(np.arange(indptr.size - 1, dtype=indptr.dtype), np.diff(indptr))
    xp, nnz = namespace(indptr), int(indptr[-1])
    if nnz == 0 or indptr.size == 2:
        return xp.zeros(nnz, indptr.dtype)
    starts = counts(indptr[1:-1], nnz + 1)[:nnz]  # how many rows but the first begin at each entry
    return xp.cumsum(starts, dtype=indptr.dtype)


def spread(values: Array, indptr: Array) -> Array:
    """For each entry, what `values` holds for its row (or column). On a GPU it waits for the device."""
    return np.repeat(values, np.diff(indptr)) if place_of(values).on_host else values[expand(indptr)]


@conversion(CSR, CSC, needs=lambda s, *_: s.turn(1))
def _(A: CSR) -> CSC:
    return CSC.trusted(*turn(A.indptr, A.indices, A.values, A.shape), A.shape)


@conversion(CSC, CSR, needs=lambda s, *_: s.turn(0))
def _(A: CSC) -> CSR:
    return CSR.trusted(*turn(A.indptr, A.indices, A.values, A.shape[::-1]), A.shape)


def turn(indptr: Array, indices: Array, values: Array, shape: tuple[int, int]) -> tuple[Array, Array, Array]:
    """Returns (indptr, indices, values) of the other orientation, by SciPy's counting sort or a sort on the device."""
    if place_of(values).on_host and (indptr.dtype != indices.dtype or indices.size > PIECE):
        return _turned_by_counting(indptr, indices, values, shape[1])
    if place_of(values).on_host:
        from scipy.sparse import csr_array

        turned = csr_array((np.ascontiguousarray(values), indices, indptr), shape=shape).tocsc()
        return tuple(part.astype(indices.dtype, copy=False) for part in (turned.indptr, turned.indices)) + (
            turned.data,
        )
    by_kernels = TURNED.answer
    if by_kernels is not None:
        return by_kernels(indptr, indices, values, shape[1])
    order = namespace(indices).argsort(indices, kind="stable")
    starts = compress(indices[order], shape[1], indptr.dtype)
    return starts, expand(indptr)[order].astype(indices.dtype, copy=False), values[order]


def _turned_by_counting(indptr: Array, indices: Array, values: Array, ncols: int) -> tuple[Array, Array, Array]:
    """`turn` in pieces, between which an interrupted call ends, and with indices whose type is not that of `indptr`."""
    count, move = machine_code(_count_in_columns), machine_code(_move_to_columns)
    starts, rows, moved = np.zeros(ncols + 1, indptr.dtype), np.empty_like(indices), np.empty(values.size, values.dtype)
    for entry in range(0, indices.size, PIECE):
        count(indices[entry : entry + PIECE], starts)
    np.cumsum(starts, out=starts)
    places, cuts = starts[:-1].copy(), np.searchsorted(indptr, np.arange(0, indices.size, PIECE))
    for first, last in zip(cuts, [*cuts[1:], indptr.size - 1], strict=True):
        move(indptr, indices, values, places, rows, moved, first, last)
    return starts, rows, moved


def _count_in_columns(indices, starts):
    for column in indices:
        starts[column + 1] += 1


def _move_to_columns(indptr, indices, values, places, rows, moved, first, last):
    """Move the entries of rows [first, last).  places: where the next entry of each column goes."""
    for row in range(first, last):
        for e in range(indptr[row], indptr[row + 1]):
            column = indices[e]
            at = places[column]
            places[column] = at + 1
            rows[at] = row
            moved[at] = values[e]


def turned(A: Matrix) -> CSR:
    """The transpose of the CSR `A`, by rows. Not by A.T: it and `A` form a cycle, which Python frees late."""
    assert isinstance(A, CSR)
    return CSR.trusted(*turn(A.indptr, A.indices, A.values, A.shape), A.shape[::-1])


# --- lists <-> rows and columns ---------------------------------------------------------------------------------------


def list_to_rows(s: Sizes, *_: int) -> int:
    """Compressing what is sorted by row; what is sorted by column is turned."""
    if s.major == 0:
        return s.compress(0)
    return max(s.compress(1), (s.shape[1] + 1) * s.index + s.turn(0))


@conversion(CSR, COO, needs=lambda s, *_: s.expand(0))
def _(A: CSR) -> COO:
    return COO.trusted(expand(A.indptr), A.indices.astype(A.indptr.dtype, copy=False), A.values, A.shape, 0)


@conversion(CSC, COO, needs=lambda s, *_: max(s.turn(0), s.compressed(0) + s.expand(0)))
def _(A: CSC) -> Matrix:
    return convert(convert(A, CSR), COO)


@conversion(COO, CSR, needs=list_to_rows)
def _(A: COO) -> Matrix:
    of_indptr, of_indices = index_types(A.shape, A.nnz)
    indptr, indices = compress(A.outer, A.shape[A.major], of_indptr), A.inner.astype(of_indices, copy=False)
    if A.major == 1:
        return convert(CSC.trusted(indptr, indices, A.values, A.shape), CSR)
    return CSR.trusted(indptr, indices, A.values, A.shape)


@conversion(COO, CSC, needs=lambda s, *_: list_to_rows(s.T))
def _(A: COO) -> Matrix:
    return convert(A.T, CSR).T


def sorted_list(s: Sizes, *_: int) -> int:
    """Needs of a list sorted anew: its parts, what sorts them, their order in words; else those of what leads there."""
    if FEW_OF_ALL * s.nnz < s.shape[0]:
        return s.nnz * (2 * s.index + s.value + 5 * WORD)
    return max(list_to_rows(s), s.compressed(0) + s.expand(0))


@conversion(COO, COO, needs=sorted_list)
def _(A: COO) -> Matrix:
    """Sort by row what is sorted by column."""
    if FEW_OF_ALL * A.nnz < A.nrows:
        order = A.xp.lexsort(A.xp.stack((A.cols, A.rows)))
        return COO.trusted(*(part.take(order) for part in (A.rows, A.cols, A.values)), A.shape, 0)
    return convert(convert(A, CSR), COO)


def strips(indptr: Array, entries: int) -> Iterator[tuple[int, int]]:
    """Rows start … stop - 1 with at most so many entries, or a single row."""
    start, n = 0, indptr.size - 1
    while start < n:
        stop = int(np.searchsorted(indptr, int(indptr[start]) + entries, side="right")) - 1
        stop = min(max(stop, start + 1), n)
        yield start, stop
        start = stop


def rows_within(A: CSR, start: int, stop: int) -> CSR:
    """Returns the entries of rows start … stop - 1 of A, as a matrix of A's shape that shares them."""
    first, last = int(A.indptr[start]), int(A.indptr[stop])
    return CSR.trusted(np.clip(A.indptr, first, last) - first, A.indices[first:last], A.values[first:last], A.shape)
