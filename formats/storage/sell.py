"""SELL, sliced ELLPACK (SELL-C-σ): rows sorted by length in windows, cut into chunks, each padded to its longest row.

A chunk of C rows is stored slot by slot, as an ELL of its own, so that a product reads memory in order and its rows
side by side, in a core's vector registers or in the lanes of a warp. Sorting brings rows of like length into one chunk:
on an R-MAT graph of 2^20 vertices, 7.8 places are stored for an entry without it, and 1.4 with it. Rows are sorted only
within windows of σ, so that neighbouring rows stay close, and what a window writes stays in a cache. [1]

[1] M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop, A unified sparse matrix data format for efficient
    general sparse matrix-vector multiplication on modern processors with wide SIMD units, SIAM Journal on Scientific
    Computing 36(5), 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import (
    Array,
    as_indices,
    as_integer,
    as_integers,
    as_values,
    check_not_nan,
    check_one_length,
    check_range,
    counts,
    index_dtype,
    namespace,
    position_of,
    read_only,
    same_place,
)
from ..matrix.base import Matrix
from ..matrix.contract import as_shape
from ..matrix.facts import ENTRIES, Fact
from ..matrix.routes import conversion
from ..matrix.workspace import WORD, Sizes
from .compressed import CSR, by_way_of_rows, check_starts, spread

CHUNK = 32
"""Rows in a chunk: the lanes of a warp, and two vector registers of 4-byte values."""

MAX_CHUNK = 1024

WINDOW = 1 << 14
"""Rows in a window: 64 KiB of 4-byte results, which stay in a core's L2 cache while the window is gone through."""

MAX_RATIO_TO_CSR = 8
MAX_UNQUESTIONED_BYTES = 64 * 2**20


POSITIONS: Fact[Array] = Fact("where each row is stored")
SLOTS: Fact[int] = Fact("slots of all chunks")
"""Given: chunk and window."""


def as_chunk(chunk: Any) -> int:
    """`chunk` as a number of rows; TypeError unless an integer, ValueError unless 1 to MAX_CHUNK."""
    rows = as_integer("chunk", chunk)
    if not 1 <= rows <= MAX_CHUNK:
        raise ValueError(f"chunk must be in [1, {MAX_CHUNK}], got {rows}")
    return rows


def as_window(window: Any) -> int:
    """`window` as a number of rows; TypeError unless an integer, ValueError unless positive."""
    rows = as_integer("window", window)
    if rows < 1:
        raise ValueError(f"window must be positive, got {rows}")
    return rows


@dataclass(frozen=True, eq=False, repr=False)
class SELL(Matrix):
    """Padded chunks of sorted rows: each chunk is as wide as its longest row.

    Slot s of the row at lane l of chunk c is at starts[c] + s·chunk + l. Within every `window` positions, rows lie by
    descending length, those of one length in their order.

    Args:
        indices: (slots,), columns. They ascend in each row, then come -1 in the padding.
        values: (slots,), 0 in the padding.
        starts: (chunks + 1,), where each chunk's slots start, multiples of `chunk`, and their number.
        rows: (nrows,), the row at each position c·chunk + l.
        shape: (nrows, ncols).
        chunk: rows in a chunk, 1 to 1024.
        window: rows that are sorted together, 1 for none.
        major: 0; 1 in a transpose, whose chunks are of columns.

    Raises:
        ValueError: the first rule that the arrays break.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 1, 2], [1, 0, 2, 1], [5, 9, 3, 1]).to(SELL, chunk=2)
        >>> A.rows.tolist(), A.starts.tolist(), A.indices.tolist()
        ([1, 0, 2], [0, 4, 6], [0, 1, 2, -1, 1, -1])

    Source: Kreutzer, Hager, Wellein, Fehske, Bishop 2014 [1].
    """

    indices: Array
    values: Array
    starts: Array
    rows: Array
    shape: tuple[int, int]
    chunk: int = CHUNK
    window: int = WINDOW
    major: int = 0

    own_options = {"chunk": as_chunk, "window": as_window, "force": None}

    def __post_init__(self) -> None:
        shape, chunk, window = as_shape(self.shape), as_chunk(self.chunk), as_window(self.window)
        if not isinstance(self.major, int) or self.major not in (0, 1):
            raise ValueError(f"major must be 0 (chunks of rows) or 1 (of columns), got {self.major!r}")
        values, indices = as_values(self.values), as_integers(self.indices, "indices")
        check_range(indices, "indices", shape[1 - self.major], low=-1)
        index_type = index_dtype(*shape, values.shape[0])
        coerced = {
            "indices": indices.astype(index_type, copy=False),
            "values": values,
            "starts": as_indices(self.starts, "starts", values.shape[0] + 1, index_type),
            "rows": as_indices(self.rows, "rows", shape[self.major], index_type),
        }
        self._set(**coerced, shape=shape, chunk=chunk, window=window)
        self.check()

    def check(self) -> None:
        same_place(self.indices, self.values, self.starts, self.rows)
        check_one_length(indices=self.indices, values=self.values)
        count = chunks(self.shape[self.major], self.chunk)
        check_starts("starts", self.starts, self.indices.size, count, "chunk", of="the number of slots")
        cut = self.starts % self.chunk != 0
        if bool(cut.any()):
            raise ValueError(f"starts must be multiples of chunk = {self.chunk}, got {self.starts[cut][0]}")
        self._check_rows()
        self._check_slots()
        self._check_order()
        check_not_nan(self.values)

    def _check_rows(self) -> None:
        """ValueError unless `rows` has every row once, in its own window."""
        xp, axis, extent = namespace(self.rows), self._axis, self.shape[self.major]
        if self.rows.shape != (extent,):
            raise ValueError(f"rows must have one element for each {axis}, {extent}, got {self.rows.size}")
        check_range(self.rows, "rows", extent)
        times = counts(self.rows, extent) if extent else self.rows
        if bool((times != 1).any()):
            raise ValueError(f"rows must have each {axis} once, but {axis} {int((times > 1).argmax())} comes again")
        strays = self.rows // self.window != xp.arange(extent) // self.window
        if bool(strays.any()):
            at = int(strays.argmax())
            raise ValueError(
                f"rows must be sorted within windows of {self.window}, but {axis} {self.rows[at]} stands at position "
                f"{at}, in another window"
            )

    def _check_slots(self) -> None:
        """ValueError unless columns ascend down each lane of a chunk, padding is last, and no slot is padding alone."""
        axis, extent = self._axis, self.shape[self.major]
        check_range(self.indices, "indices", self.shape[1 - self.major], low=-1)
        slots, starts = self._by_slot, self.starts // self.chunk
        above, below = slots[:-1], slots[1:]
        broken = (below >= 0) & (below <= above) | (below >= 0) & (above < 0)
        inner = starts[1:-1]
        broken[inner[(inner > 0) & (inner < slots.shape[0])] - 1] = False  # between two chunks anything goes
        if bool(broken.any()):
            slot, lane = divmod(int(broken.argmax()), self.chunk)
            at = (position_of(slot, starts, "right") - 1) * self.chunk + lane
            raise ValueError(
                f"indices must ascend in each {axis} without repetition and padding (-1) must come last, but "
                f"{self._named(at)} has {above[slot, lane]} before {below[slot, lane]}"
            )
        last = starts[1:][starts[1:] > starts[:-1]] - 1
        idle = (slots[last] < 0).all(axis=1)
        if bool(idle.any()):
            raise ValueError(
                f"a chunk must be as wide as its longest {axis}, but chunk "
                f"{position_of(int(last[idle][0]), starts, 'right') - 1} ends with a slot of padding alone"
            )
        lanes = extent % self.chunk
        if lanes and bool((slots[int(starts[-2]) :, lanes:] >= 0).any()):
            raise ValueError(f"the last chunk must have padding from lane {lanes} on, where there is no {axis}")

    def _check_order(self) -> None:
        """ValueError unless rows stand by descending length in each window, those of one length in their order."""
        lengths, rows = self._lengths, self.rows
        broken = (lengths[1:] > lengths[:-1]) | (lengths[1:] == lengths[:-1]) & (rows[1:] < rows[:-1])
        broken[self.window - 1 :: self.window] = False  # between two windows anything goes
        if bool(broken.any()):
            at = int(broken.argmax())
            raise ValueError(
                f"{self._axis}s must stand by descending length in each window, those of one length in order, but "
                f"{self._named(at)} of {lengths[at]} entries stands before {rows[at + 1]} of {lengths[at + 1]}"
            )

    def _named(self, position: int) -> str:
        """The row at a position, or that there is none, for a message."""
        known = position < self.rows.size
        return f"{self._axis} {self.rows[position]}" if known else f"position {position}, which is no {self._axis}'s,"

    @property
    def _axis(self) -> str:
        return "row" if self.major == 0 else "column"

    @property
    def _by_slot(self) -> Array:
        """`indices` as (slots / chunk, chunk): the slots of all chunks, one after the other."""
        return self.indices.reshape(self.indices.size // self.chunk, self.chunk)

    @property
    def _lengths(self) -> Array:
        """Counts the entries of the row at each position, (nrows,)."""
        xp, starts = namespace(self.indices), self.starts // self.chunk
        before = xp.zeros((self.indices.size // self.chunk + 1, self.chunk), self.indices.dtype)
        xp.cumsum(self._by_slot >= 0, axis=0, dtype=before.dtype, out=before[1:])
        return (before[starts[1:]] - before[starts[:-1]]).reshape(-1)[: self.rows.size]

    def lengths(self, axis: int = 0) -> Array:
        xp, extent = namespace(self.indices), self.shape[axis]
        if axis != self.major:
            return counts(self.indices[self.indices >= 0], extent)
        lengths = xp.empty(extent, self.indices.dtype)
        lengths[self.rows] = self._lengths
        return lengths

    @property
    def positions(self) -> Array:
        """Finds where each row stands, (nrows,): the inverse of `rows`, made once and kept with the matrix."""
        base: Any = self if self.major == 0 else self.T  # which keeps it for both
        return base.keep(POSITIONS, lambda: read_only(positions_of(base.rows)))

    @property
    def nnz(self) -> int:
        """Number of stored entries, padding not counted."""
        return self.keep(ENTRIES, lambda: int((self.indices >= 0).sum()))

    @property
    def stored(self) -> Array:
        return self.values[self.indices >= 0]

    @property
    def padding(self) -> float:
        """Places stored for an entry, 1 where nothing is padded."""
        return self.indices.size / max(self.nnz, 1)

    @classmethod
    def _check_padding(cls, A: Matrix, options: dict[str, Any]) -> None:
        chunk, window = options_for(A, options)
        nbytes, csr_bytes = chunked_nbytes(A, chunk, window), CSR.predicted_nbytes(A)
        if nbytes > MAX_RATIO_TO_CSR * csr_bytes and nbytes > MAX_UNQUESTIONED_BYTES:
            raise ValueError(
                f"SELL with chunk={chunk} and window={window} needs {nbytes / 2**20:,.0f} MiB, "
                f"{nbytes / csr_bytes:,.0f} times the CSR's {csr_bytes / 2**20:,.1f} MiB: long rows pad the others of "
                "their chunks; pass a larger window, a smaller chunk, or force=True to have it anyway"
            )

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        return chunked_nbytes(A, *options_for(A, options))

    def _transposed(self) -> SELL:
        return SELL.trusted(*self.components[:4], self.shape[::-1], self.chunk, self.window, 1 - self.major)

    def _lookup(self, row: int, col: int) -> Any:
        major, minor = (row, col) if self.major == 0 else (col, row)
        first = major - major % self.window
        position = first + int((self.rows[first : first + self.window] == major).argmax())
        number, lane = divmod(position, self.chunk)
        places = slice(int(self.starts[number]) + lane, int(self.starts[number + 1]), self.chunk)
        slots = self.indices[places]
        length = int((slots >= 0).sum())
        at = position_of(minor, slots[:length])
        return self.values[places][at] if at < length and int(slots[at]) == minor else None


def chunks(extent: int, chunk: int) -> int:
    """The number of chunks that so many rows make."""
    return -(-extent // chunk)


def sorted_chunks(lengths: Array, chunk: int, window: int) -> tuple[Array, Array]:
    """Returns (rows, starts) of rows of these lengths, int64.

    That is the row at each position, and where each chunk's slots start.
    """
    xp, nrows = namespace(lengths), lengths.size
    rows, starts = xp.arange(nrows), xp.zeros(chunks(nrows, chunk) + 1, np.int64)
    if nrows == 0:
        return rows, starts
    if window > 1:
        longest = int(lengths.max())
        rows = (rows // window * (longest + 1) + (longest - lengths)).argsort(kind="stable")
    by_chunk = xp.zeros((starts.size - 1, chunk), np.int64)
    by_chunk.reshape(-1)[:nrows] = lengths[rows]
    xp.cumsum(by_chunk.max(axis=1) * chunk, out=starts[1:])
    return rows, starts


def options_for(A: Matrix, options: dict[str, Any]) -> tuple[int, int]:
    """Returns (chunk, window) for `A`: as asked for, else its own if it has some, else the format's."""
    own = (A.chunk, A.window) if isinstance(A, SELL) else (CHUNK, WINDOW)
    return as_chunk(options.get("chunk", own[0])), as_window(options.get("window", own[1]))


def chunked_nbytes(A: Matrix, chunk: int, window: int) -> int:
    """Bytes of the rows of `A` in such chunks. The number of slots is found once, and kept."""
    slots = A.keep(SLOTS, lambda: int(sorted_chunks(A.lengths(0), chunk, window)[1][-1]), chunk, window)
    index_bytes = index_dtype(*A.shape, slots).itemsize
    return slots * (A.dtype.itemsize + index_bytes) + (chunks(A.nrows, chunk) + 1 + A.nrows) * index_bytes


def positions_of(rows: Array) -> Array:
    """The position at which each row stands: the inverse of the permutation `rows`."""
    xp = namespace(rows)
    positions = xp.empty_like(rows)
    positions[rows] = xp.arange(rows.size, dtype=rows.dtype)
    return positions


def places_of(indptr: Array, rows: Array, starts: Array, chunk: int) -> Array:
    """Finds for each entry of compressed rows, (nnz,), its place among the slots."""
    xp = namespace(indptr)
    chunk_of, lane = xp.divmod(positions_of(rows), chunk)
    first = starts[chunk_of].astype(np.int64) + lane
    first -= indptr[:-1].astype(np.int64) * chunk
    places = xp.arange(int(indptr[-1]))
    places *= chunk
    places += spread(first, indptr)
    return places


# --- conversions --------------------------------------------------------------------------------------------------


def placing(s: Sizes, axis: int) -> int:
    """Needs of `places_of`: two words for each entry; for each row its arguments and it itself."""
    return 2 * s.nnz * WORD + 5 * s.shape[axis] * WORD + (s.expand(axis) if s.on_gpu else 0)


def rows_to_chunks(s: Sizes, source: int, target: int) -> int:
    """Sorting takes some words a row; the slots come when each entry has its place."""
    rows = s.shape[0] * WORD
    return max(5 * rows, 2 * rows + placing(s, 0), rows + s.nnz * WORD + target + (s.look_up(1) if s.on_gpu else 0))


def chunks_to_rows(s: Sizes, source: int, target: int) -> int:
    """Counts of every slot; then places and entries. Chunks of columns are turned."""
    slots, columns = source // (s.value + s.index), s.shape[s.major]
    counting = slots * (1 + s.index) + (slots * s.index if s.on_gpu else 0) + 2 * columns * WORD
    made = columns * s.index + max(placing(s, s.major), s.nnz * WORD + s.compressed(s.major))
    gathered = max(counting, made)
    return gathered if s.major == 0 else max(gathered, s.compressed(1) + s.turn(0))


@conversion(CSR, SELL, needs=rows_to_chunks)
def _(A: CSR, *, chunk: int = CHUNK, window: int = WINDOW, **_: Any) -> SELL:
    xp = namespace(A.values)
    rows, starts = sorted_chunks(xp.diff(A.indptr), chunk, window)
    places = places_of(A.indptr, rows, starts, chunk)
    slots = int(starts[-1])
    index_type = index_dtype(*A.shape, slots)
    indices, values = xp.full(slots, -1, index_type), xp.zeros(slots, A.dtype)
    indices[places] = A.indices
    values[places] = A.values
    return SELL.trusted(indices, values, starts.astype(index_type), rows.astype(index_type), A.shape, chunk, window, 0)


@by_way_of_rows(SELL, chunks_to_rows, rows_to_chunks)
def _(A: SELL) -> Matrix:
    xp = namespace(A.values)
    index_type = index_dtype(*A.shape, A.nnz)
    indptr = xp.zeros(A.nrows + 1, index_type)
    indptr[1 + A.rows] = A._lengths
    indptr = xp.cumsum(indptr, dtype=index_type)
    places = places_of(indptr, A.rows, A.starts, A.chunk)
    return CSR.trusted(indptr, A.indices[places].astype(index_type, copy=False), A.values[places], A.shape)
