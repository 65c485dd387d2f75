"""Some of a matrix's entries, moved together: what predicates hold for, rows and columns that are picked.

    kept(A, bits)            the entries with a bit
    picked(A, rows, cols)    A(I, J)
    marked, flagged          the bits of a predicate, of Booleans

A bit for each entry is a thirty-second of a column, so entries are looked at once, and moved by the bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSC, CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, index_dtype
from formats.hooks import LOOKED_THROUGH
from formats.matrix.facts import Fact
from formats.places import kept_by_place

from ..algebra.codegen import Index, types_of
from ..algebra.predicates import Predicate
from .elementwise import predicate_text
from .steps import (
    DESCENDS,
    ENTRIES,
    LOOKED,
    MARK,
    NOTHING,
    SUM,
    TILE,
    WORD_BITS,
    Steps,
    letters,
    steps_for,
    totals,
    value_words,
)

Compressed = CSR | CSC


FIRST_ROWS: Fact[Array] = Fact("first row of each tile of entries")


def words_of(nnz: int) -> int:
    """Words of bits for so many entries."""
    return -(-nnz // WORD_BITS)


def first_rows(A: Compressed, k: Steps) -> Array:
    """The first row of each tile of entries, kept with `A`."""
    return A.keep(FIRST_ROWS, lambda: cut(A.indptr, A.nnz, k))


def cut(indptr: Array, nnz: int, k: Steps) -> Array:
    """The first row of each tile of entries."""
    tiles = -(-nnz // TILE)
    first_row = cupy().empty(tiles + 1, indptr.dtype)
    arguments = (indptr, k.index(indptr.size - 1), np.int64(nnz), first_row, np.int64(tiles))
    k.loop("cut_entries", tiles + 1, arguments)
    return first_row


def entry_steps(A: Compressed) -> Steps:
    """The kernels for A's index types and values."""
    return steps_for(ENTRIES, types_of(A), A.dtype.itemsize)


# --- bits -----------------------------------------------------------------------------------------------------------


def marked(A: Compressed, predicate: Predicate, value: Array | None, row: Vector, col: Vector) -> Array:
    """The bits of the entries that the predicate holds for.

    value: of each entry, or None where it is not read.  row, col: of each row or column (its value, is there one?),
    None for what is not looked up.  All values are of one dtype.
    """
    dtypes = [x.dtype for x in (value, row[0], col[0]) if x is not None]
    dtype = dtypes[0] if dtypes else A.indptr.dtype
    reads_row = "i" in predicate.reads or any(x is not None for x in row)
    reads_col = "j" in predicate.reads or any(x is not None for x in col)
    by_columns = A.major == 1
    k = _mark_steps(predicate, dtype, types_of(A), by_columns, reads_col if by_columns else reads_row)
    bits = cupy().empty(words_of(A.nnz), np.uint32)
    vectors = [NOTHING if x is None else cupy().ascontiguousarray(x) for x in (value, row[0], col[0], row[1], col[1])]
    first_row = first_rows(A, entry_steps(A))
    k.loop("mark_entries", A.nnz, (A.indptr, first_row, np.int64(A.nnz), A.indices, *vectors, bits))
    return bits


Vector = tuple[Array | None, Array | None]


@kept_by_place(256)
def _mark_steps(predicate: Predicate, dtype: np.dtype, index: Index, by_columns: bool, reads_major: bool) -> Steps:
    return steps_for(MARK, index, 4, mark_head(predicate, dtype, index, by_columns, reads_major))


def mark_head(predicate: Predicate, dtype: np.dtype, index: Index, by_columns: bool, reads_major: bool) -> str:
    """Returns the CUDA text before the kernels of bits, for a predicate on values of `dtype`."""
    flags = {"BY_COLUMNS": by_columns, "READS_MAJOR": reads_major}
    constants = "".join(f"constexpr bool {name} = {str(flag).lower()};\n" for name, flag in flags.items())
    return predicate_text(predicate.cuda, predicate.semiring, dtype, index) + constants


def flagged(A: Compressed, keep: Array) -> Array:
    """The bits of the entries at which the Boolean array `keep` is true."""
    bits = cupy().empty(words_of(A.nnz), np.uint32)
    entry_steps(A).loop("mark_flags", A.nnz, (cupy().ascontiguousarray(keep), np.int64(A.nnz), bits))
    return bits


# --- entries moved by their bits ------------------------------------------------------------------------------------


def kept(A: Any, bits: Array) -> Any:
    """The entries of `A` that have a bit. Waits for the device: their number is the size of the result."""
    if A.nnz == 0:
        return type(A).trusted(*A.components)
    k = entry_steps(A)
    before, indptr = _ranked(k, bits, A.indptr)
    source = (A.indptr, NOTHING, NOTHING)
    parts = _taken(k, A, source, A.nnz, (NOTHING, NOTHING), bits, before, letters().read(SUM)[0])
    return type(A).trusted(indptr, *parts, A.shape)


def _ranked(k: Steps, bits: Array, indptr: Array) -> tuple[Array, Array]:
    """Counts the bits before each word, and finds where the rows of marked entries begin; tells the host the sum."""
    cp = cupy()
    before, ranks = cp.empty(bits.size + 1, indptr.dtype), cp.empty(indptr.size, indptr.dtype)
    totals(bits, bits.size, before, "bits", letters().open(SUM))
    k.loop("rank_rows", indptr.size, (indptr, np.int64(indptr.size - 1), bits, before, ranks))
    return before, ranks


def _taken(
    k: Steps,
    A: Any,
    source: tuple[Any, Any, Any],
    nnz: int,
    columns: tuple[Any, Any],
    bits: Any,
    before: Any,
    count: int,
) -> tuple[Array, Array]:
    """Takes the indices and values of the `count` marked entries among the nnz of a source; see entries.cu."""
    indices, new_values, moved = _room(A, count)
    if count:
        arguments = (*source, np.int64(nnz), A.indices, moved[0], *columns, bits, before, indices, moved[1])
        k.loop("take_entries", nnz, arguments)
    return indices, new_values


# --- rows and columns that are picked -------------------------------------------------------------------------------


def picked_rows(A: CSR, rows: Array) -> CSR:
    """A(I, :): the given rows, in their order. Waits for the device."""
    k = entry_steps(A)
    indptr, begins = _spans(k, A, rows, letters().open(SUM))
    (nnz,) = letters().read(SUM)
    if nnz == 0:
        return _empty(A, (rows.size, A.ncols))
    source = (indptr, cut(indptr, nnz, k), begins)
    parts = _taken(k, A, source, nnz, (NOTHING, NOTHING), NOTHING, NOTHING, nnz)
    return CSR.trusted(indptr, *parts, (rows.size, A.ncols))


def picked(A: CSR, rows: Array | None, cols: Array) -> CSR | None:
    """A(I, J); None if the columns do not ascend. Waits for the device."""
    k, cp = entry_steps(A), cupy()
    shape = (A.nrows if rows is None else rows.size, cols.size)
    chosen = _chosen(k, cols, A.ncols, letters().open(DESCENDS))
    if rows is None:
        indptr, begins, nnz, descends = A.indptr, NOTHING, A.nnz, letters().read(DESCENDS)[0]
    else:
        indptr, begins = _spans(k, A, rows, letters().open(SUM))
        nnz, descends = letters().read(SUM, DESCENDS)
    if descends:
        return None
    if nnz == 0:
        return _empty(A, shape)
    source = (indptr, first_rows(A, k) if rows is None else cut(indptr, nnz, k), begins)
    bits, numbers = cp.empty(words_of(nnz), np.uint32), cp.empty(chosen.size + 1, k.index)
    k.loop("mark_chosen", nnz, (*source, np.int64(nnz), A.indices, chosen, bits))
    before, new_indptr = _ranked(k, bits, indptr)
    totals(chosen, chosen.size, numbers, "bits")
    parts = _taken(k, A, source, nnz, (chosen, numbers), bits, before, letters().read(SUM)[0])
    return CSR.trusted(new_indptr, *parts, shape)


def _spans(k: Steps, A: CSR, rows: Array, told: Any) -> tuple[Array, Array]:
    """Returns the indptr of the given rows, and where each begins in `A`.  told: gets their number of entries."""
    cp, count = cupy(), rows.size
    indptr, begins = cp.empty(count + 1, A.indptr.dtype), cp.empty(count, A.indptr.dtype)
    rows = cp.ascontiguousarray(rows.astype(indptr.dtype, copy=False))
    k.loop("row_spans", count, (rows, np.int64(count), A.indptr, indptr, begins))
    totals(indptr, count, indptr, told=told)
    return indptr, begins


def _empty(A: CSR, shape: tuple[int, int]) -> CSR:
    """No entries, of A's dtypes."""
    cp = cupy()
    return CSR.trusted(cp.zeros(shape[0] + 1, A.indptr.dtype), A.indices[:0].copy(), A.values[:0].copy(), shape)


def outside(A: CSR, rows: Array | None, cols: Array | None) -> Array:
    """A bit for each entry of `A`, which has some, that is not in the given rows and columns: ascending, or all."""
    k, cp = entry_steps(A), cupy()
    bits = cp.full(words_of(A.nnz), 0xFFFFFFFF, np.uint32)
    chosen = NOTHING if cols is None else _chosen(k, cols, A.ncols)
    source: tuple[Any, ...] = (A.indptr, NOTHING, NOTHING)
    if rows is not None:
        indptr, begins = _spans(k, A, rows, NOTHING)
        source = (indptr, cut(indptr, A.nnz, k), begins)
    count = np.int64(A.nrows if rows is None else rows.size)
    k.loop("clear_chosen", A.nnz, (*source, count, A.indices, chosen, bits))
    return bits


def _chosen(k: Steps, places: Array, extent: int, told: Any = NOTHING) -> Array:
    """A bit for each of the rows or columns that are among the places. told: gets 1 unless the places ascend."""
    chosen = cupy().zeros(max(words_of(extent), 1), np.uint32)
    k.loop("choose_places", places.size, (places.astype(k.index, copy=False), np.int64(places.size), chosen, told))
    return chosen


def spread_rows(V: CSR, rows: Array, nrows: int) -> Array:
    """The indptr of a matrix of so many rows that has V's rows, in ascending places."""
    k = entry_steps(V)
    indptr = cupy().zeros(nrows + 1, V.indptr.dtype)
    k.loop("spread_lengths", rows.size, (rows.astype(indptr.dtype, copy=False), np.int64(rows.size), V.indptr, indptr))
    totals(indptr, nrows, indptr)
    return indptr


@LOOKED_THROUGH.answered_by
def look_through(*places: tuple[Array, int]) -> list[tuple[bool, bool]]:
    """Tells for arrays of integers whether one is outside [0, bound), and whether they do not ascend.

    Waits for the device, once.
    """
    told = letters()
    for which, (numbers, bound) in enumerate(places):
        k = steps_for(ENTRIES, index_dtype() if numbers.dtype == np.int32 else np.dtype(np.int64))
        flags = told.open(LOOKED + 2 * which), told.open(LOOKED + 2 * which + 1)
        numbers = cupy().ascontiguousarray(numbers.astype(k.index, copy=False))
        k.loop("look_through", numbers.size, (numbers, np.int64(numbers.size), np.uint64(max(bound, 0)), *flags))
    found = told.read(*range(LOOKED, LOOKED + 2 * len(places)))
    return [(bool(outside), bool(descends)) for outside, descends in zip(found[::2], found[1::2], strict=True)]


# --- one row or column ----------------------------------------------------------------------------------------------


def minor_line(A: Compressed, minor: int) -> tuple[Array, Array]:
    """Returns rows and values of the entries of CSR in one column; of CSC, in one row. Waits for the device."""
    k, cp, nmajor, index = entry_steps(A), cupy(), A.indptr.size - 1, A.indptr.dtype
    if nmajor == 0:
        return A.indices[:0].copy(), A.values[:0].copy()
    at, bits = cp.empty(nmajor, index), cp.empty(words_of(nmajor), np.uint32)
    k.loop("find_minor", nmajor, (A.indptr, np.int64(nmajor), A.indices, k.index(minor), at, bits))
    before = cp.empty(bits.size + 1, index)
    totals(bits, bits.size, before, "bits", letters().open(SUM))
    rows, values, moved = _room(A, letters().read(SUM)[0])
    k.loop("take_found", nmajor, (at, np.int64(nmajor), bits, before, moved[0], rows, moved[1]))
    return rows, values


def major_line(A: Compressed, major: int) -> tuple[Array, Array]:
    """Returns columns and values of the entries of CSR in one row; of CSC, in one column. Waits for the device."""
    ends: Array = A.indptr[major : major + 2]
    start, stop = ends.get().tolist()
    indices, values, moved = _room(A, stop - start)
    arguments = (np.int64(start), np.int64(stop - start), A.indices, moved[0], indices, moved[1])
    entry_steps(A).loop("copy_span", stop - start, arguments)
    return indices, values


def _room(A: Compressed, count: int) -> tuple[Array, Array, tuple[Any, Any]]:
    """Allocates indices and values, and returns the arrays that kernels read values from and write them to."""
    cp, values = cupy(), value_words(A.values)
    if values is None:
        return cp.empty(count, A.indices.dtype), cp.broadcast_to(A.values[:1], count), (NOTHING, NOTHING)
    taken = cp.empty(count, A.dtype)
    return cp.empty(count, A.indices.dtype), taken, (values, taken)
