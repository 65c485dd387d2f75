"""SegmentedCOO, an edge list cut into segments of rows, each sorted by column and then by row.

A product keeps one segment's part of y where it is fast, in a cache or in a GPU's shared memory, and reads x in order,
however the columns of a row are scattered. An entry takes 10 bytes for int32 columns and 4-byte values, since a row
within its segment takes 2. The order is Afanasyev and Voevodin's edge reordering [1], with segments of x as narrow as
they can be; compressed sparse blocks [2] store positions as narrowly.

[1] I. Afanasyev, V. Voevodin, The comparison of large-scale graph processing algorithms implementation methods for
    Intel KNL and NVIDIA GPU, Supercomputing, RuSCDays 2017.
[2] A. Buluç, J. T. Fineman, M. Frigo, J. R. Gilbert, C. E. Leiserson, Parallel sparse matrix-vector and
    matrix-transpose-vector multiplication using compressed sparse blocks, SPAA 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import (
    Array,
    as_indices,
    as_integer,
    as_values,
    check_not_nan,
    check_one_length,
    check_range,
    counts,
    index_dtype,
    namespace,
    position_of,
    same_place,
    starts_of,
)
from ..hooks import BLOCKED
from ..matrix.base import Matrix
from ..matrix.contract import as_shape
from ..matrix.convert import convert
from ..matrix.routes import conversion
from ..matrix.workspace import WORD, Sizes
from ..places import place_of
from .compressed import CSC, CSR, by_way_of_rows, check_starts, compress, expand, with_one_index_type
from .coo import out_of_order

SEGMENT = 1 << 14
"""Rows in a segment: 64 KiB of 4-byte results, of which a GPU's multiprocessor holds two and a core's L2 cache many."""

MAX_SEGMENT = 1 << 16
"""A row within its segment is 16 bits."""


def as_segment(segment: Any) -> int:
    """`segment` as a number of rows; TypeError unless an integer, ValueError unless 1 to MAX_SEGMENT."""
    rows = as_integer("segment", segment)
    if not 1 <= rows <= MAX_SEGMENT:
        raise ValueError(f"segment must be in [1, {MAX_SEGMENT}], got {rows}")
    return rows


@dataclass(frozen=True, eq=False, repr=False)
class SegmentedCOO(Matrix):
    """Coordinate list in segments of rows, with 16-bit rows within them.

    A segment is what a thread of a CPU takes, so a matrix of few segments is multiplied by few. Many small ones, below
    some hundred rows, cost more than their entries.

    Args:
        offsets: (nnz,), of each entry, its row within its segment.
        indices: (nnz,), columns. In a segment, entries ascend by (indices, offsets), none twice.
        values: (nnz,).
        starts: (segments + 1,), where each segment's entries start, and nnz.
        shape: (nrows, ncols).
        segment: rows in a segment, 1 to 65536; entry e of segment s is in row s·segment + offsets[e].
        major: 0; 1 in a transpose, whose segments are of columns.

    Raises:
        ValueError: the first rule that the arrays break.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 2], [2, 1, 0], [5, 9, 3]).to(SegmentedCOO, segment=2)
        >>> A.starts.tolist(), A.offsets.tolist(), A.indices.tolist()
        ([0, 2, 3], [1, 0, 0], [1, 2, 0])

    Source: Afanasyev, Voevodin 2017 [1].
    """

    offsets: Array
    indices: Array
    values: Array
    starts: Array
    shape: tuple[int, int]
    segment: int = SEGMENT
    major: int = 0

    own_options = {"segment": as_segment}

    def __post_init__(self) -> None:
        shape, segment = as_shape(self.shape), as_segment(self.segment)
        if not isinstance(self.major, int) or self.major not in (0, 1):
            raise ValueError(f"major must be 0 (segments of rows) or 1 (of columns), got {self.major!r}")
        values = as_values(self.values)
        nnz, index_type = values.shape[0], index_dtype(*shape, values.shape[0])
        coerced = {
            "offsets": as_indices(self.offsets, "offsets", segment, np.dtype(np.uint16)),
            "indices": as_indices(self.indices, "indices", shape[1 - self.major], index_type),
            "values": values,
            "starts": as_indices(self.starts, "starts", nnz + 1, index_type),
        }
        self._set(**coerced, shape=shape, segment=segment)
        self.check()

    def check(self) -> None:
        same_place(self.offsets, self.indices, self.values, self.starts)
        check_one_length(offsets=self.offsets, indices=self.indices, values=self.values)
        check_starts("starts", self.starts, self.nnz, segments(self.shape[self.major], self.segment), "segment")
        check_range(self.offsets, "offsets", self.segment)
        check_range(self.indices, "indices", self.shape[1 - self.major])
        axis, extent = ("rows", self.nrows) if self.major == 0 else ("columns", self.ncols)
        check_range(expand(self.starts).astype(np.int64) * self.segment + self.offsets, axis, extent)
        check_parts_ascend("segment", "(indices, offsets)", self.indices, self.offsets, self.starts)
        check_not_nan(self.values)

    @property
    def outer(self) -> Array:
        """The row of every entry (the column, of a transpose), which takes an array to tell."""
        return expand(self.starts) * self.segment + self.offsets.astype(self.indices.dtype)

    @property
    def inner(self) -> Array:
        """The column of every entry (the row, of a transpose)."""
        return self.indices

    def coordinates(self) -> tuple[Array, Array, None]:
        return self.outer, self.inner, None

    def keeping(self, keep: Array) -> SegmentedCOO:
        starts = starts_of(keep, self.starts.dtype)[self.starts]
        parts = (self.offsets[keep], self.indices[keep], self.values[keep], starts)
        return SegmentedCOO.trusted(*parts, self.shape, self.segment, self.major)

    def lengths(self, axis: int = 0) -> Array:
        ends = self.outer if axis == self.major else self.inner
        return counts(ends, self.shape[axis])

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        length = options.get("segment", A.segment if isinstance(A, SegmentedCOO) else SEGMENT)
        index_bytes = A._index_dtype.itemsize
        starts = segments(A.nrows, as_segment(length)) + 1
        return A.nnz * (2 + index_bytes + A.dtype.itemsize) + starts * index_bytes

    @property
    def _index_dtype(self) -> np.dtype:
        return self.indices.dtype

    def _transposed(self) -> SegmentedCOO:
        return SegmentedCOO.trusted(*self.components[:4], self.shape[::-1], self.segment, 1 - self.major)

    def _lookup(self, row: int, col: int) -> Any:
        outer, inner = (row, col) if self.major == 0 else (col, row)
        number, offset = divmod(outer, self.segment)
        start, stop = int(self.starts[number]), int(self.starts[number + 1])
        left, right = (start + position_of(inner, self.indices[start:stop], side) for side in ("left", "right"))
        at = left + position_of(offset, self.offsets[left:right])
        return self.values[at] if at < right and int(self.offsets[at]) == offset else None


def check_parts_ascend(part: str, names: str, first: Array, second: Array, starts: Array) -> None:
    """ValueError unless the entries of each part ascend by two numbers, none twice.  starts: where parts begin."""
    broken, begins = out_of_order(first, second), starts[1:-1]
    broken[begins[(begins > 0) & (begins < first.size)] - 1] = False  # between two parts anything goes
    if bool(broken.any()):
        at = int(broken.argmax()) + 1
        raise ValueError(
            f"entries of a {part} must ascend by {names} and none may repeat, but "
            f"({first[at]}, {second[at]}) follows ({first[at - 1]}, {second[at - 1]})"
        )


def segments(extent: int, segment: int) -> int:
    """The number of segments that so many rows make."""
    return -(-extent // segment)


def segmented(rows: Array, cols: Array, values: Array, shape: tuple[int, int], segment: int) -> SegmentedCOO:
    """The matrix from entries that are sorted by column, then by row."""
    xp = namespace(values)
    count = segments(shape[0], segment)
    numbers = rows // segment
    narrow = numbers.astype(np.uint16) if count <= MAX_SEGMENT else numbers  # NumPy sorts 16 bits by radix
    order = xp.argsort(narrow, kind="stable")
    starts = starts_of(counts(numbers, count), cols.dtype)
    offsets = (rows - numbers * segment).astype(np.uint16)
    return SegmentedCOO.trusted(offsets[order], cols[order], values[order], starts, shape, segment, 0)


# --- conversions --------------------------------------------------------------------------------------------------


def segmenting(s: Sizes) -> int:
    """From columns: of each entry column, segment (twice), order in words, offset, and the result."""
    held = s.nnz * (2 * s.index + 2 + WORD + s.index)
    sorting = s.nnz * (s.index + WORD) if s.on_gpu else 0
    return held + max(sorting, s.nnz * WORD, s.nnz * (4 + s.index + s.value) - s.nnz * s.index, 0) + s.shape[1] * WORD


def rows_to_segments(s: Sizes, *_: int) -> int:
    """Needs of columns, and of segments from them."""
    return max(s.turn(1), s.compressed(1) + segmenting(s))


def segments_to_rows(s: Sizes, *_: int) -> int:
    """Needs of a row for each entry, then of a counting sort, on a GPU a sort; segments of columns are turned."""
    t = s if s.major == 0 else s.T
    sorting = 2 * t.nnz * WORD + t.nnz * t.index + t.shape[0] * WORD if t.on_gpu else 0
    made = t.nnz * t.index + max(t.expand(0) + t.nnz * t.index, sorting + t.compressed(0))
    return made if s.major == 0 else max(made, s.compressed(1) + s.turn(0))


@conversion(CSR, SegmentedCOO, needs=rows_to_segments)
def _(A: CSR, *, segment: int = SEGMENT) -> SegmentedCOO:
    by_kernels = BLOCKED.answer if not A.place.on_host else None
    made = None if by_kernels is None else by_kernels(CSR.trusted(*with_one_index_type(A)), segment)
    if made is not None:
        return SegmentedCOO.trusted(*made, A.shape, segment, 0)
    by_column: Any = convert(A, CSC)
    return segmented(by_column.indices, expand(by_column.indptr), by_column.values, A.shape, segment)


@conversion(CSC, SegmentedCOO, needs=lambda s, *_: segmenting(s))
def _(A: CSC, *, segment: int = SEGMENT) -> SegmentedCOO:
    return segmented(A.indices, expand(A.indptr), A.values, A.shape, segment)


@by_way_of_rows(SegmentedCOO, segments_to_rows, rows_to_segments)
def _(A: SegmentedCOO) -> Matrix:
    rows = A.outer  # in a segment, a row's entries ascend already
    if place_of(rows).on_host:
        from scipy.sparse import coo_array

        by_row = coo_array((np.ascontiguousarray(A.values), (rows, A.indices)), shape=A.shape).tocsr()
        indptr, indices = (part.astype(A.indices.dtype, copy=False) for part in (by_row.indptr, by_row.indices))
        return CSR.trusted(indptr, indices, by_row.data, A.shape)
    order = rows.argsort(kind="stable")
    return CSR.trusted(compress(rows[order], A.nrows, A.indices.dtype), A.indices[order], A.values[order], A.shape)
