"""CSR and CSC, compressed sparse rows and columns; CSC is the transpose of a CSR, array for array.

Row i of a CSR holds entries indptr[i] .. indptr[i+1]-1 of `indices` (columns) and `values`. It takes 12 bytes an entry
and 4 a row for int32 indices and 8-byte values, and every verb supports it. CSC makes predecessors contiguous where CSR
does successors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import (
    Array,
    as_integers,
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
from ..hooks import TURNED, machine_code, side_by_side, threads
from ..matrix.base import Matrix
from ..matrix.contract import Shape, as_shape
from ..matrix.convert import convert
from ..matrix.routes import Converter, conversion
from ..matrix.workspace import FEW_OF_ALL, MIN_NNZ_FOR_BLOCKS, WORD, Needs, Sizes
from ..places import place_of
from .coo import COO

Lines: TypeAlias = tuple[Array, Array, Array, tuple[int, int]]
"""The tuple (indptr, indices, values, shape)."""

MIN_NNZ_FOR_PIECES = 1 << 22
"""Minimum entries that one thread, too, turns in pieces, between which an interrupted call ends."""
MAX_ENTRIES_TO_SORT = 1 << 11
"""Maximum entries and columns of what is turned by sorting: SciPy's objects alone take 60 microseconds."""
NNZ_PER_BLOCK, MAX_PARTS, MAX_BLOCK_BITS = 1 << 16, 256, 10
"""Entries of a block, about, and of a part that is dealt out; how many parts, and bits of blocks, there are at most."""


class _Compressed(Matrix):
    """CSR and CSC: entries along one axis, in the order of the other."""

    indptr: Array
    indices: Array

    def __post_init__(self) -> None:
        """Bring a user's components to the index types that the extents need, without copies where they fit."""
        shape, values = as_shape(self.shape), as_values(self.values)
        of_indptr, of_indices = index_types(shape, values.shape[0])
        indptr, indices = as_integers(self.indptr, "indptr"), as_integers(self.indices, "indices")
        check_range(indices, "indices", shape[1 - self.major])  # before narrowing, which would wrap
        indptr, indices = indptr.astype(of_indptr, copy=False), indices.astype(of_indices, copy=False)
        self._set(shape=shape, values=values, indptr=indptr, indices=indices)
        self.check()

    def check(self) -> None:
        same_place(self.indptr, self.indices, self.values)
        axis, nmajor, nminor = ("row", *self.shape) if self.major == 0 else ("column", *self.shape[::-1])
        check_one_length(indices=self.indices, values=self.values)
        check_indptr(self.indptr, self.nnz, nmajor, self.major)
        check_range(self.indices, "indices", nminor)
        check_ascending("indices", self.indptr, self.indices, axis)
        check_not_nan(self.values)

    @property
    def line_ends(self) -> Array:
        return self.indptr

    def lengths(self, axis: int = 0) -> Array:
        if axis == self.major:
            return namespace(self.indptr).diff(self.indptr)
        return counts(self.indices, self.shape[axis])

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        of_indptr, of_indices = index_types(A.shape, A.nnz)
        return (A.shape[cls.major] + 1) * of_indptr.itemsize + A.nnz * (of_indices.itemsize + A.dtype.itemsize)

    @property
    def _index_dtype(self) -> np.dtype:
        return self.indices.dtype

    def _transposed(self) -> Matrix:
        other = CSC if self.major == 0 else CSR
        return other.trusted(self.indptr, self.indices, self.values, self.shape[::-1])

    def _lookup(self, row: int, col: int) -> Any:
        major, minor = (row, col) if self.major == 0 else (col, row)
        start, stop = int(self.indptr[major]), int(self.indptr[major + 1])
        segment = self.indices[start:stop]
        at = position_of(minor, segment)
        return self.values[start + at] if at < stop - start and int(segment[at]) == minor else None


@dataclass(frozen=True, eq=False, repr=False)
class CSR(_Compressed):
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


@dataclass(frozen=True, eq=False, repr=False)
class CSC(_Compressed):
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


# --- what both share ------------------------------------------------------------------------------------------------


def index_types(shape: tuple[int, int], nnz: int) -> tuple[np.dtype, np.dtype]:
    """The types of `indptr`, which counts entries, and of `indices`, which does not."""
    return index_dtype(*shape, nnz), index_dtype(*shape)


def with_one_index_type(A: CSR | CSC) -> Lines:
    """The components of A, with columns in the type that counts entries, as other formats have them."""
    return A.indptr, A.indices.astype(A.indptr.dtype, copy=False), A.values, A.shape


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


def check_ascending(name: str, indptr: Array, indices: Array, axis: str) -> None:
    """ValueError, which calls the indices by name, unless they ascend in each row, or column, without repetition."""
    broken = out_of_order_within(indptr, indices)
    if bool(broken.any()):
        at = int(broken.argmax())
        major = position_of(at, indptr, "right") - 1
        raise ValueError(
            f"{name} must ascend in each {axis} without repetition, but {axis} {major} has "
            f"{indices[at]} before {indices[at + 1]}"
        )


def out_of_order_within(indptr: Array, indices: Array) -> Array:
    """Marks each entry but the last whose next one, in its row (or column), does not come strictly after it."""
    broken = indices[1:] <= indices[:-1]
    starts = indptr[1:-1]
    broken[starts[(starts > 0) & (starts < indices.size)] - 1] = False  # between two rows anything goes
    return broken


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
    """Returns (indptr, indices, values) of the other orientation, by a counting sort or a sort on the device."""
    on_host = place_of(values).on_host
    if on_host and indices.size + shape[1] > MAX_ENTRIES_TO_SORT:
        few = indices.size < MIN_NNZ_FOR_BLOCKS or (indices.size < MIN_NNZ_FOR_PIECES and threads() == 1)
        if indptr.dtype != indices.dtype or not few:
            return _turned_by_blocks(indptr, indices, values, shape[1])
        from scipy.sparse import csr_array

        turned = csr_array((np.ascontiguousarray(values), indices, indptr), shape=shape).tocsc()
        return tuple(part.astype(indices.dtype, copy=False) for part in (turned.indptr, turned.indices)) + (
            turned.data,
        )
    by_kernels = None if on_host else TURNED.answer
    if by_kernels is not None:
        return by_kernels(indptr, indices, values, shape[1])
    order = namespace(indices).argsort(indices, kind="stable")
    starts = compress(indices[order], shape[1], indptr.dtype)
    return starts, expand(indptr)[order].astype(indices.dtype, copy=False), values[order]


def _turned_by_blocks(indptr: Array, indices: Array, values: Array, ncols: int) -> tuple[Array, Array, Array]:
    """`turn` by threads: parts of the entries are dealt out to blocks of columns, and then each block is sorted."""
    count, deal, sort = (machine_code(each) for each in (_count_in_blocks, _deal_to_blocks, _sort_block))
    size, parts = indices.size, max(1, min(MAX_PARTS, indices.size // NNZ_PER_BLOCK))
    shift = max(max(ncols - 1, 0).bit_length() - min(parts.bit_length(), MAX_BLOCK_BITS), 0)
    cuts = [size * k // parts for k in range(parts + 1)]
    counts = np.zeros((parts, (max(ncols - 1, 0) >> shift) + 1), np.int64)
    side_by_side(lambda k: count(indices[cuts[k] : cuts[k + 1]], shift, counts[k]), parts)
    ends = np.cumsum(counts.T).reshape(counts.T.shape).T
    places, begins = np.ascontiguousarray(ends - counts), [0, *ends[-1].tolist()]
    dealt = np.empty(size, indices.dtype), np.empty(size, indices.dtype), np.empty(size, values.dtype)
    rows = np.searchsorted(indptr, np.array(cuts[:-1], indptr.dtype), "right") - 1
    matrix = indptr, indices, values
    side_by_side(lambda k: deal(matrix, rows[k], cuts[k], cuts[k + 1], shift, places[k], dealt), parts)
    made = np.zeros(ncols + 1, indptr.dtype), np.empty_like(indices), np.empty(size, values.dtype)
    side_by_side(
        lambda k: sort(dealt, k << shift, min(k + 1 << shift, ncols), begins[k], begins[k + 1], made), len(begins) - 1
    )
    return made


def _count_in_blocks(indices, shift, counts):
    """Count the entries in each block of 2^shift columns."""
    for column in indices:
        counts[np.uintp(column) >> np.uintp(shift)] += 1


def _deal_to_blocks(matrix, row, first, stop, shift, places, dealt):
    """Move entries [first, stop), from a row on, to blocks.  places: where the next one of each block goes."""
    (indptr, indices, values), (columns, rows, moved) = matrix, dealt
    for e in range(first, stop):
        while indptr[np.uintp(row + 1)] <= e:
            row += 1
        block = np.uintp(indices[e]) >> np.uintp(shift)
        at = np.uintp(places[block])
        places[block] += 1
        columns[at], rows[at], moved[at] = indices[e], row, values[e]


def _sort_block(dealt, begin, end, first, stop, made):
    """Sort entries [first, stop), those of columns [begin, end), by column.  made: zeros; it becomes their columns."""
    (columns, rows, moved), (starts, new_rows, new_values) = dealt, made
    for e in range(first, stop):
        starts[np.uintp(columns[e]) + np.uintp(1)] += 1
    total = first
    for column in range(begin, end):
        total, starts[np.uintp(column + 1)] = total + starts[np.uintp(column + 1)], total
    for e in range(first, stop):
        behind = np.uintp(columns[e]) + np.uintp(1)
        at = np.uintp(starts[behind])
        starts[behind] += 1
        new_rows[at], new_values[at] = rows[e], moved[e]


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


def by_way_of_rows(fmt: type[Matrix], to_rows: Needs, from_rows: Needs) -> Callable[[Converter], Converter]:
    """Register the decorated conversion of a format's rows to CSR; columns are turned afterwards.

    The format becomes itself, by rows or with other options, by way of CSR, too.  to_rows, from_rows: the needs.
    """

    def register(converter: Converter) -> Converter:
        @conversion(fmt, CSR, needs=to_rows)
        def _(A: Any) -> Matrix:
            return converter(A) if A.major == 0 else turned(convert(A.T, CSR))

        @conversion(fmt, fmt, needs=lambda s, *sizes: max(to_rows(s, *sizes), s.compressed(0) + from_rows(s, *sizes)))
        def _(A: Any, **options: Any) -> Matrix:
            own = {name: value for name, value in A.options.items() if name != "force"}
            return convert(convert(A, CSR), fmt, **(own | options))

        return converter

    return register


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
