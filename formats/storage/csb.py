"""CSB, compressed sparse blocks: an edge list in square blocks, with 16 bits for a row and for a column in its block.

An entry takes 8 bytes with 4-byte values. Blocks lie by rows, and `starts` finds each, so a product may take them by
rows as well as by columns: one storage serves A ⊗ x and x ⊗ A alike, with no part of y shared between threads [1].
The vectors' parts that a block meets are short enough for a cache, or for a GPU's shared memory; the order is also
that of edges cut by segments of their sources and of their destinations [2].

Within a block entries ascend by column, then by row, so the whole is in the order of a SegmentedCOO. Neighbours have
one column or two near ones and, in general, different rows: the operand is read in order, and results that are combined
side by side seldom meet.

[1] A. Buluç, J. T. Fineman, M. Frigo, J. R. Gilbert, C. E. Leiserson, Parallel sparse matrix-vector and
    matrix-transpose-vector multiplication using compressed sparse blocks, SPAA 2009.
[2] I. Afanasyev, V. Voevodin, The comparison of large-scale graph processing algorithms implementation methods for
    Intel KNL and NVIDIA GPU, Supercomputing, RuSCDays 2017.
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
from .compressed import CSR, by_way_of_rows, check_starts, compress, expand, with_one_index_type
from .segmented import SegmentedCOO, check_parts_ascend, segmenting, segments, segments_to_rows

BLOCK = 1 << 14
"""Rows and columns of a block: 64 KiB of 4-byte values.

A GPU's multiprocessor holds two of them, and a core's L2 cache many.
"""

MAX_BLOCK = 1 << 16
"""A row or column within its block is 16 bits."""

MAX_UNQUESTIONED_BYTES = 64 * 2**20


def as_block(block: Any) -> int:
    """`block` as a number of rows and columns; TypeError unless an integer, ValueError unless a power of two to 2¹⁶."""
    size = as_integer("block", block)
    if not 1 <= size <= MAX_BLOCK or size & (size - 1):
        raise ValueError(f"block must be a power of two in [1, {MAX_BLOCK}], got {size}")
    return size


@dataclass(frozen=True, eq=False, repr=False)
class CSB(Matrix):
    """Compressed sparse blocks: squares of the matrix, each with 16-bit positions within it.

    With C = ⌈ncols / block⌉, block r·C + c holds rows from r·block and columns from c·block on. A row of blocks, or a
    column, is what a thread of a CPU takes, so a matrix of few is multiplied by few.

    Args:
        rows, cols: (nnz,), of each entry, its row and column within its block. Within a block, entries ascend by
            (cols, rows), none twice.
        values: (nnz,).
        starts: (blocks + 1,), where each block's entries start, and nnz.
        shape: (nrows, ncols).
        block: rows and columns of a block, a power of two up to 65536.
        major: 0; 1 in a transpose, whose blocks lie by columns, and whose entries ascend by (rows, cols).

    Raises:
        ValueError: the first rule that the arrays break.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [1, 2, 2], [5, 9, 3]).to(CSB, block=2)
        >>> A.block, A.starts.tolist(), A[0, 2].item()
        (2, [0, 1, 3, 3, 3], 9)

    Source: Buluç, Fineman, Frigo, Gilbert, Leiserson 2009 [1].
    """

    rows: Array
    cols: Array
    values: Array
    starts: Array
    shape: tuple[int, int]
    block: int = BLOCK
    major: int = 0

    own_options = {"block": as_block, "force": None}

    def __post_init__(self) -> None:
        shape, block = as_shape(self.shape), as_block(self.block)
        if not isinstance(self.major, int) or self.major not in (0, 1):
            raise ValueError(f"major must be 0 (blocks by rows) or 1 (by columns), got {self.major!r}")
        values = as_values(self.values)
        nnz = values.shape[0]
        coerced = {
            "rows": as_indices(self.rows, "rows", block, np.dtype(np.uint16)),
            "cols": as_indices(self.cols, "cols", block, np.dtype(np.uint16)),
            "values": values,
            "starts": as_indices(self.starts, "starts", nnz + 1, index_dtype(*shape, nnz)),
        }
        self._set(**coerced, shape=shape, block=block)
        self.check()

    def check(self) -> None:
        same_place(self.rows, self.cols, self.values, self.starts)
        check_one_length(rows=self.rows, cols=self.cols, values=self.values)
        nmajor, nminor = self.grid
        check_starts("starts", self.starts, self.nnz, nmajor * nminor, "block")
        check_range(self.rows, "rows", self.block)
        check_range(self.cols, "cols", self.block)
        outer, inner = self._positions(np.dtype(np.int64))
        for axis, numbers in ((self.major, outer), (1 - self.major, inner)):
            check_range(numbers, ("rows", "columns")[axis], self.shape[axis])
        by_column = "(cols, rows)", self.cols, self.rows
        by_row = "(rows, cols)", self.rows, self.cols
        check_parts_ascend("block", *(by_column if self.major == 0 else by_row), self.starts)
        check_not_nan(self.values)

    @property
    def grid(self) -> tuple[int, int]:
        """How many rows of blocks there are and how many blocks in each; columns first, of a transpose."""
        nmajor, nminor = self.shape if self.major == 0 else self.shape[::-1]
        return segments(nmajor, self.block), segments(nminor, self.block)

    @property
    def offsets(self) -> tuple[Array, Array]:
        """Returns every entry's row and column within the block; column first, of a transpose."""
        return (self.rows, self.cols) if self.major == 0 else (self.cols, self.rows)

    @property
    def strips(self) -> Array:
        """Where the entries of each row of blocks start, and nnz; of each column of blocks, of a transpose."""
        nmajor, nminor = self.grid
        return self.starts[namespace(self.starts).arange(nmajor + 1) * nminor]

    @property
    def outer(self) -> Array:
        """The row of every entry (the column, of a transpose), which takes an array to tell."""
        return self._positions(self.starts.dtype)[0]

    @property
    def inner(self) -> Array:
        """The column of every entry (the row, of a transpose), which takes an array to tell."""
        return self._positions(self.starts.dtype)[1]

    def _positions(self, dtype: np.dtype) -> tuple[Array, Array]:
        """Returns (outer, inner)."""
        numbers, (_, width) = expand(self.starts), self.grid
        major, minor = self.offsets
        outer = (numbers // max(width, 1)).astype(dtype) * self.block + major.astype(dtype)
        return outer, (numbers % max(width, 1)).astype(dtype) * self.block + minor.astype(dtype)

    def coordinates(self) -> tuple[Array, Array, None]:
        return *self._positions(self.starts.dtype), None

    def keeping(self, keep: Array) -> CSB:
        starts = starts_of(keep, self.starts.dtype)[self.starts]
        parts = (self.rows[keep], self.cols[keep], self.values[keep], starts)
        return CSB.trusted(*parts, self.shape, self.block, self.major)

    def _transposed(self) -> CSB:
        parts = (self.cols, self.rows, self.values, self.starts)
        return CSB.trusted(*parts, self.shape[::-1], self.block, 1 - self.major)

    @classmethod
    def _check_padding(cls, A: Matrix, options: dict[str, Any]) -> None:
        block = _block(A, options)
        nrows, ncols = (segments(extent, block) for extent in A.shape)
        start_bytes, entry_bytes = (nrows * ncols + 1) * A._index_dtype.itemsize, A.nnz * (4 + A.dtype.itemsize)
        if start_bytes > entry_bytes and start_bytes > MAX_UNQUESTIONED_BYTES:
            raise ValueError(
                f"a CSB of {nrows:,} × {ncols:,} blocks needs {start_bytes / 2**20:,.0f} MiB to say where they start, "
                f"and {entry_bytes / 2**20:,.1f} MiB for the entries: take larger blocks than {block}, or pass "
                "force=True to have it anyway"
            )

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        nrows, ncols = (segments(extent, _block(A, options)) for extent in A.shape)
        return A.nnz * (4 + A.dtype.itemsize) + (nrows * ncols + 1) * A._index_dtype.itemsize

    @property
    def _index_dtype(self) -> np.dtype:
        return self.starts.dtype

    def lengths(self, axis: int = 0) -> Array:
        ends = self.outer if axis == self.major else self.inner
        return counts(ends, self.shape[axis])

    def _lookup(self, row: int, col: int) -> Any:
        position, (_, width) = (row, col) if self.major == 0 else (col, row), self.grid
        (r, row_in), (c, col_in) = (divmod(place, self.block) for place in position)
        major, minor = self.offsets
        start, stop = (int(self.starts[r * width + c + k]) for k in (0, 1))
        left, right = (start + position_of(col_in, minor[start:stop], side) for side in ("left", "right"))
        at = left + position_of(row_in, major[left:right])
        return self.values[at] if at < right and int(major[at]) == row_in else None


def _block(A: Matrix, options: dict[str, Any]) -> int:
    """The size of the blocks that `A` would have."""
    return as_block(options.get("block", A.block if isinstance(A, CSB) else BLOCK))


# --- conversions ----------------------------------------------------------------------------------------------------


def blocking(s: Sizes, _source: int, target: int) -> int:
    """From rows: a SegmentedCOO, then of each entry its segment, its block in words (twice), and the starts."""
    ordered = s.nnz * (2 + s.index + s.value) + s.shape[0] * s.index
    blocks = max(target - s.nnz * (4 + s.value), 0) // s.index
    numbers = s.nnz * (2 * s.index + 2 * WORD) + blocks * (WORD + (WORD if s.on_gpu else s.index))
    made = max(s.turn(1), s.compressed(1) + segmenting(s))
    return max(made, ordered + numbers)


def blocks_to_rows(s: Sizes, source: int, target: int) -> int:
    """Needs of a block, row and column for each entry, then of a SegmentedCOO; blocks of columns are turned."""
    blocks = max(source - s.nnz * (4 + s.value), 0) // s.index
    numbers = s.nnz * 6 * s.index + blocks * (2 * s.index + WORD)
    return max(numbers, s.nnz * s.index + segments_to_rows(s))


@conversion(CSR, CSB, needs=blocking)
def _(A: CSR, *, block: int = BLOCK, force: bool = False) -> CSB:
    by_kernels = BLOCKED.answer if not A.place.on_host else None
    made = None if by_kernels is None else by_kernels(CSR.trusted(*with_one_index_type(A)), block, block)
    if made is not None:
        return CSB.trusted(*made, A.shape, block, 0)
    ordered: Any = convert(A, SegmentedCOO, segment=block)  # whose order is the same
    nrows, ncols = (segments(extent, block) for extent in A.shape)
    numbers = expand(ordered.starts).astype(np.int64) * ncols + ordered.indices // block
    starts = compress(numbers, nrows * ncols, ordered.starts.dtype)
    cols = (ordered.indices % block).astype(np.uint16)
    return CSB.trusted(ordered.offsets, cols, ordered.values, starts, A.shape, block, 0)


@by_way_of_rows(CSB, blocks_to_rows, blocking)
def _(A: CSB) -> Matrix:
    return convert(SegmentedCOO.trusted(A.rows, A.inner, A.values, A.strips, A.shape, A.block, 0), CSR)
