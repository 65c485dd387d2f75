"""CompressedCSR, compressed rows whose columns are packed: 32 entries at a time, in the bits that their range takes.

Groups of 32 consecutive entries, across the ends of rows, have a base, their smallest column, and hold each column's
offset from it in b bits, as many as the largest offset needs: frame of reference [1, 2]. 32 offsets of b bits are
exactly b words of 32, so `starts` tells both where a group's words are and how wide its offsets are, any entry is
decoded by itself, and a warp of a GPU reads a group as it reads 32 columns, side by side. Nothing is lost, whatever the
graph; what is gained depends on the numbering, which `renumber` can better. Kolganov [3] packs a vertex for Borůvka's
algorithm into two bits of a multiple of 256 and a byte, from a base for each row.

[1] M. Zukowski, S. Héman, N. Nes, P. Boncz, Super-scalar RAM-CPU cache compression, ICDE 2006.
[2] D. Lemire, L. Boytsov, Decoding billions of integers per second through vectorization, Software: Practice and
    Experience 45 (1), 2015.
[3] A. S. Kolganov, Hybrid implementation of the MST algorithm using CPU and GPU, 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .. import hooks
from ..arrays import (
    Array,
    as_indices,
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
from ..matrix.contract import as_shape
from ..matrix.convert import convert
from ..matrix.facts import Fact
from ..matrix.routes import conversion
from ..matrix.workspace import WORD, Sizes
from ..places import place_of
from .compressed import (
    CSR,
    by_way_of_rows,
    check_ascending,
    check_indptr,
    check_starts,
    expand,
    with_one_index_type,
)

GROUP = 32
"""Entries of a group, so that offsets of b bits fill b words of 32."""

MAX_UNQUESTIONED_BYTES = 1 << 16
"""Columns of so few bytes are packed even if that takes more."""

RANGES: Fact[Any] = Fact("ranges of packed columns")
"""A fact that a matrix keeps between the prediction of its packed bytes and the packing."""

GROUPS_AT_A_TIME = 1 << 14
"""That NumPy packs or unpacks, a lane at a time: what it makes on the way stays in the cache."""


@dataclass(frozen=True, eq=False, repr=False)
class CompressedCSR(Matrix):
    """Compressed sparse rows with packed columns.

    Entries are packed in groups of 32: a group's smallest column, then every column's distance from it, in as many bits
    as the largest needs, b. Entry e = 32 g + l is in column bases[g] + bits l·b .. l·b + b - 1 of the group's words,
    the lowest first.

    Args:
        indptr: (nrows + 1,), where rows begin among the entries. In a row, columns ascend, none twice.
        words: (starts[-1] + spare,), uint32. spare: two words for int32 columns, three for int64, so that as many may
            be read wherever an offset begins.
        bases: (groups,), the smallest column of each group of 32 entries, the last of what is left.
        starts: (groups + 1,), where each group's words begin; b = starts[g + 1] - starts[g].
        values: (nnz,).
        shape: (nrows, ncols).
        major: 0; 1 in a transpose, which has compressed columns.

    Raises:
        ValueError: the first rule that the arrays break.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [1, 2, 2], [5, 9, 3]).to(CompressedCSR)
        >>> A.bases.tolist(), A.starts.tolist(), A[0, 2].item()
        ([1], [0, 1], 9)

    Source: Zukowski, Héman, Nes, Boncz 2006 [1].
    """

    indptr: Array
    words: Array
    bases: Array
    starts: Array
    values: Array
    shape: tuple[int, int]
    major: int = 0

    own_options = {"force": None}

    def __post_init__(self) -> None:
        shape = as_shape(self.shape)
        if not isinstance(self.major, int) or self.major not in (0, 1):
            raise ValueError(f"major must be 0 (compressed rows) or 1 (compressed columns), got {self.major!r}")
        values = as_values(self.values)
        nnz, index_type = values.shape[0], index_dtype(*shape, values.shape[0])
        most = -(-nnz // GROUP) * max_width(index_type)
        coerced = {
            "indptr": as_indices(self.indptr, "indptr", nnz + 1, index_type),
            "words": as_indices(self.words, "words", 1 << 32, np.dtype(np.uint32)),
            "bases": as_indices(self.bases, "bases", max(shape[1 - self.major], 1), index_type),
            "starts": as_indices(self.starts, "starts", most + 1, index_type),
            "values": values,
        }
        self._set(**coerced, shape=shape)
        self.check()

    def check(self) -> None:
        same_place(*self.arrays)
        axis = "row" if self.major == 0 else "column"
        check_indptr(self.indptr, self.nnz, self.shape[self.major], self.major)
        groups = groups_of(self.nnz)
        if self.bases.shape != (groups,):
            raise ValueError(f"bases must have {groups} elements, one for {GROUP} entries, got {self.bases.size}")
        spare = spare_words(self.bases.dtype)
        if self.words.size < spare:
            raise ValueError(f"words must end with {spare} spare ones, got {self.words.size} in all")
        check_starts("starts", self.starts, self.words.size - spare, groups, "group", f"the words but {spare}")
        widths = self.starts[1:] - self.starts[:-1]
        check_range(widths, "the bits of an offset", max_width(self.bases.dtype) + 1)
        columns = self._unpacked(0, self.nnz, np.dtype(np.int64))
        check_range(columns, "columns" if self.major == 0 else "rows", self.shape[1 - self.major])
        check_ascending("entries", self.indptr, columns, axis)
        check_not_nan(self.values)

    @property
    def outer(self) -> Array:
        """The row of every entry (the column, of a transpose), which takes an array to tell."""
        return expand(self.indptr)

    @property
    def inner(self) -> Array:
        """The column of every entry (the row, of a transpose), unpacked."""
        return self._unpacked(0, self.nnz, self.bases.dtype)

    @property
    def columns_nbytes(self) -> int:
        """Bytes of the packed columns: `nbytes` without those of `indptr` and `values`."""
        return int(self.words.nbytes + self.bases.nbytes + self.starts.nbytes)

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        """From the range of each group; see `Matrix.predicted_nbytes`. Of entries not by row, by way of CSR."""
        if isinstance(A, CompressedCSR) and A.major == 0:
            return A.nbytes
        rows: Any = convert(A, CSR)
        return int(rows.indptr.nbytes + _packed_nbytes(rows) + A.nnz * A.dtype.itemsize)

    @property
    def _index_dtype(self) -> np.dtype:
        return self.bases.dtype

    @property
    def line_ends(self) -> Array:
        return self.indptr

    def lengths(self, axis: int = 0) -> Array:
        if axis == self.major:
            return namespace(self.indptr).diff(self.indptr)
        return counts(self.inner, self.shape[axis])

    def _transposed(self) -> CompressedCSR:
        return CompressedCSR.trusted(*self.components[:5], self.shape[::-1], 1 - self.major)

    def _lookup(self, row: int, col: int) -> Any:
        outer, inner = (row, col) if self.major == 0 else (col, row)
        start, stop = int(self.indptr[outer]), int(self.indptr[outer + 1])
        columns = self._unpacked(start, stop, self.bases.dtype)
        at = position_of(inner, columns)
        return self.values[start + at] if at < stop - start and int(columns[at]) == inner else None

    def _unpacked(self, start: int, stop: int, dtype: np.dtype) -> Array:
        """The columns of entries [start, stop)."""
        first, last = start // GROUP, groups_of(stop)
        columns = unpack(self.words, self.bases[first:last], self.starts[first : last + 1], dtype)
        return columns[start - first * GROUP : stop - first * GROUP]


def groups_of(nnz: int) -> int:
    """The groups that so many entries make."""
    return -(-nnz // GROUP)


def spare_words(index_type: DTypeLike) -> int:
    """Words that may be read from where the words end, by a group without any: two for an offset, three of int64."""
    return 1 + np.dtype(index_type).itemsize // 4


def max_width(index_type: DTypeLike) -> int:
    """The bits of the largest offset."""
    return np.iinfo(index_type).bits - 1


# --- packing --------------------------------------------------------------------------------------------------------


def pack(
    indices: Array, check: Callable[[int], None] | None = None, ranges: tuple[Array, Array, int] | None = None
) -> tuple[Array, Array, Array]:
    """Packs the columns of entries in their order into (words, bases, starts); see `CompressedCSR`.

    check: called with the number of words before they are made.  ranges: see `_ranges`, if they are known.
    """
    bases, starts, filled = _ranges(indices) if ranges is None else ranges
    spare = spare_words(indices.dtype)
    if check is not None:
        check(filled + spare)
    by_kernels = _on_gpu(indices, hooks.PACKED)
    if by_kernels is not None:
        return by_kernels(indices, bases, starts, filled, spare), bases, starts
    words = namespace(indices).zeros(filled + spare, np.uint32)
    for groups in _blocks(indices):
        begins, ends = starts[groups], starts[1:][groups]
        _pack_lanes(_lanes(indices, groups), bases[groups], begins, ends - begins, words)
    return words, bases, starts


def _on_gpu(array: Array, step: hooks.Hook) -> Callable[..., Any] | None:
    """Finds the function that does a step by kernels, for an array on a GPU."""
    return None if place_of(array).on_host or array.size == 0 else step.answer


def _pack_lanes(lanes: Array, bases: Array, starts: Array, widths: Array, words: Array) -> None:
    """Put the groups' offsets into their words, a lane of all groups at a time: no two of which share a word."""
    wide = namespace(widths).flatnonzero(widths)  # a group without offsets has no words
    if wide.size < widths.size:
        lanes, bases, starts, widths = lanes[:, wide], bases[wide], starts[wide], widths[wide]
    for lane in range(GROUP):
        offsets = (lanes[lane] - bases).astype(np.uint64)
        first, shifts = _place(lane, starts, widths)
        bits = offsets << shifts
        words[first] |= bits.astype(np.uint32)
        words[first + 1] |= (bits >> 32).astype(np.uint32)
        if bases.dtype == np.int64:
            words[first + 2] |= (offsets >> 1 >> (63 - shifts)).astype(np.uint32)


def unpack(words: Array, bases: Array, starts: Array, dtype: np.dtype) -> Array:
    """The columns of consecutive groups, 32 of each, in `dtype`. The end of a last group repeats its last entry."""
    by_kernels = _on_gpu(bases, hooks.UNPACKED)
    if by_kernels is not None:
        return by_kernels(words, bases, starts, bases.size * GROUP).astype(dtype, copy=False)
    columns = namespace(words).empty((bases.size, GROUP), dtype)
    for groups in _blocks(columns.reshape(-1)):
        begins, ends = starts[groups], starts[1:][groups]
        columns[groups] = _unpacked_lanes(words, bases[groups], begins, ends - begins, dtype).T
    return columns.reshape(-1)


def _unpacked_lanes(words: Array, bases: Array, starts: Array, widths: Array, dtype: np.dtype) -> Array:
    """Unpacks the columns of some groups: (32, groups)."""
    lanes = namespace(words).empty((GROUP, bases.size), dtype)
    kept = (np.uint64(1) << widths.astype(np.uint64)) - np.uint64(1)
    for lane in range(GROUP):
        first, shifts = _place(lane, starts, widths)
        bits = (words[first].astype(np.uint64) | words[first + 1].astype(np.uint64) << 32) >> shifts
        if bases.dtype == np.int64:
            bits |= words[first + 2].astype(np.uint64) << 1 << (63 - shifts)
        lanes[lane] = (bits & kept).astype(dtype) + bases
    return lanes


def _place(lane: int, starts: Array, widths: Array) -> tuple[Array, Array]:
    """Finds (the word, the bit in it) at which the offset of a lane begins, for each group."""
    bits = widths * lane
    return starts + (bits >> 5), (bits & 31).astype(np.uint64)


def _ranges(indices: Array) -> tuple[Array, Array, int]:
    """Finds (bases, where their words start, words in all) of the groups of 32 entries.

    A group has as many words as its largest offset has bits.
    """
    xp, dtype = namespace(indices), indices.dtype
    by_kernels = _on_gpu(indices, hooks.RANGES)
    if by_kernels is not None:
        return by_kernels(indices)
    lows, highs = (xp.empty(groups_of(indices.size), dtype) for _ in range(2))
    for groups in _blocks(indices):
        lanes = _lanes(indices, groups)
        lows[groups], highs[groups] = lanes.min(axis=0), lanes.max(axis=0)
    powers = xp.asarray([1 << bit for bit in range(max_width(dtype))], dtype)
    starts = starts_of(xp.searchsorted(powers, highs - lows, side="right"), dtype)
    return lows, starts, int(starts[-1])


def _lanes(indices: Array, groups: slice) -> Array:
    """Arranges entry l of each group in row l, (32, groups), the last entry where the last group has none."""
    xp = namespace(indices)
    part = indices[groups.start * GROUP : groups.stop * GROUP]
    missing = -part.size % GROUP
    if missing:
        part = xp.concatenate((part, xp.repeat(part[-1:], missing)))
    return xp.ascontiguousarray(part.reshape(-1, GROUP).T)


def _blocks(indices: Array) -> list[slice]:
    """The groups in blocks that NumPy's caches hold; in one on a GPU."""
    count = groups_of(indices.size)
    each = GROUPS_AT_A_TIME if place_of(indices).on_host else max(count, 1)
    return [slice(first, min(first + each, count)) for first in range(0, count, each)]


def _packed_nbytes(A: CSR) -> int:
    """Bytes of the words, bases and starts that `pack` would make. The ranges are kept for it."""
    indices = with_one_index_type(A)[1]
    *_, filled = A.keep(RANGES, lambda: _ranges(indices))
    return _nbytes_of(indices, filled + spare_words(indices.dtype))


def _nbytes_of(indices: Array, words: int) -> int:
    """Bytes of so many words, and of the bases and starts."""
    return 4 * words + (2 * groups_of(indices.size) + 1) * indices.dtype.itemsize


# --- conversions ----------------------------------------------------------------------------------------------------


def packing(s: Sizes, source: int, target: int) -> int:
    """The columns, three words of each group, and of the groups at a time their entries twice and six words."""
    groups = groups_of(s.nnz)
    at_a_time = groups if s.on_gpu else min(groups, GROUPS_AT_A_TIME)
    columns = target - (s.shape[0] + 1) * s.index - s.nnz * s.value
    return columns + groups * 3 * WORD + at_a_time * (2 * GROUP * s.index + 6 * WORD)


def unpacking(s: Sizes, *_: int) -> int:
    """The columns, and of the groups at a time their columns once more and ten words; columns of rows are turned."""
    groups = groups_of(s.nnz)
    at_a_time = groups if s.on_gpu else min(groups, GROUPS_AT_A_TIME)
    made = groups * GROUP * s.index + at_a_time * (GROUP * s.index + 10 * WORD)
    return made if s.major == 0 else max(made, groups * GROUP * s.index + s.turn(0))


@conversion(CSR, CompressedCSR, needs=packing)
def _(A: CSR, *, force: bool = False) -> CompressedCSR:
    indices = with_one_index_type(A)[1]  # words are counted in the same type
    packed = pack(indices, None if force else lambda words: _check_gain(A, words), A.take(RANGES))
    return CompressedCSR.trusted(A.indptr, *packed, A.values, A.shape, 0)


def _check_gain(A: CSR, words: int) -> None:
    """ValueError with the sizes if packed columns take no fewer bytes than A's, and A's are many."""
    plain = A.indices.nbytes
    if plain <= MAX_UNQUESTIONED_BYTES:
        return
    packed = _nbytes_of(A.indices, words)
    if packed >= plain:
        raise ValueError(
            f"packed columns would take {packed:,} bytes, the CSR's take {plain:,}: the columns of {GROUP} consecutive "
            f"entries are too far apart, {8 * packed / A.nnz:.1f} bits each; renumber the vertices, or pass force=True "
            "to have it anyway"
        )


@by_way_of_rows(CompressedCSR, unpacking, packing)
def _(A: CompressedCSR) -> Matrix:
    return CSR.trusted(A.indptr, A.inner, A.values, A.shape)
