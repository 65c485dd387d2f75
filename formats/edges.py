"""The way in from edges: lists of ends and weights become a CSR, those given more than once combined.

Many edges are sorted a range of rows at a time. Beside the lists and the CSR this takes a sixteenth of what sorting all
of them would take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .arrays import (
    INT32_MAX,
    Array,
    all_of,
    as_indices,
    as_integers,
    as_values,
    check_not_nan,
    check_one_length,
    check_range,
    concatenated,
    counts,
    namespace,
    same_place,
    shortened,
    starts_of,
    supported_dtype,
)
from .matrix.base import Matrix
from .matrix.contract import as_shape
from .matrix.convert import convert
from .matrix.workspace import FEW_OF_ALL, WORD
from .places import at_home
from .storage.compressed import CSR, compress, index_types
from .storage.pieces import ranges
from .storage.sorting import fits_words, refuse_sum, sorted_by_rows

IN_ORDER, SORTED, COMBINED, REPEATED, SUMMED = 10, 18, 28, 28, 24
"""Bytes that `from_edges` holds beside the arrays it was given, for each edge.

Many edges in order; others, which are sorted, beside a copy; many of which some repeat others, and for each that
does; integers that are added up.
"""
FEW, PARTS = {True: 1 << 20, False: 1 << 26}, {True: 16, False: 64}
"""Edges that are sorted at once on the host (True) and on a GPU; of more, one part in so many, or a row."""
PARTS_OF_WORDS = 6
"""The parts in which more edges on the host become words: one at a time is sorted."""
LOOKED_AT = {True: 1 << 20, False: 1 << 27}
"""Edges that are looked at a time on the host (True), where they stay in a cache, and on a GPU."""
FINDING = 3
"""Bytes of an edge that is looked at."""

Duplicates: TypeAlias = Literal["min", "max", "sum", "first", "last", "error"]
_COMBINE = {"min": "minimum", "max": "maximum", "sum": "add"}


@at_home
def from_edges(
    src: ArrayLike,
    dst: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    shape: int | tuple[int, int] | None = None,
    dtype: DTypeLike | None = None,
    dup: Duplicates = "min",
) -> CSR:
    """The CSR with an entry for every edge src[e] -> dst[e].

    Args:
        src, dst: (m,), integers.
        weights: (m,), or None for int32 ones.
        shape: n or (nrows, ncols), by default just large enough.
        dtype: of the weights, by default their own.
        dup: "min", "max", "sum", "first", "last", or "error", for edges given more than once.

    Returns:
        The CSR, on the arrays' device.

    Raises:
        ValueError: an index is out of range, a weight is NaN, or arrays are of unequal length.
        TypeError: an index is no integer.

    Example:
        >>> A = from_edges([0, 0, 1, 0], [1, 2, 2, 1], [5.0, 9.0, 3.0, 4.0])
        >>> A, A[0, 1].item()
        (<CSR 3×3, 3 entries, float64, cpu>, 4.0)
    """
    check_dup(dup)
    rows, cols = as_integers(src, "src"), as_integers(dst, "dst")
    xp = namespace(rows)
    values = xp.ones(rows.size, supported_dtype(dtype or np.int32)) if weights is None else as_values(weights, dtype)
    check_one_length(src=rows, dst=cols, weights=values)
    place = same_place(rows, cols, values)
    if shape is None:
        shape = 1 + max(int(rows.max()), int(cols.max()), 0) if rows.size else 0
    nrows, ncols = as_shape(shape)
    of_indptr, index_type = index_types((nrows, ncols), rows.size)
    copied = sum(part.size * index_type.itemsize for part in (rows, cols) if part.dtype != index_type)
    copied += values.nbytes if weights is None else 0
    what = f"a CSR of {rows.size:,} edges on {max(nrows, ncols):,} vertices"
    if nrows > FEW_OF_ALL * rows.size:
        what += " (algorithms.Graph.from_edges numbers ids with gaps, and a COO takes no memory for vertices)"
    pointers = (nrows + 1) * of_indptr.itemsize + WORD * min(nrows, FEW_OF_ALL * rows.size)
    if rows.size > FEW[place.on_host]:
        check_range(rows, "src", nrows)
        check_range(cols, "dst", ncols)
        check_not_nan(values)
        if not _ascend(rows, cols):
            if place.on_host and nrows <= FEW_OF_ALL * rows.size and fits_words((nrows, ncols)):
                alike = weights is None and dup != "sum"
                return _sorted_by_words(rows, cols, values, (nrows, ncols), dup, what, alike)
            return _sorted_in_pieces(rows, cols, values, (nrows, ncols), dup, what)
    place.check_room(what, IN_ORDER * rows.size + pointers + copied)
    rows, cols = as_indices(rows, "src", nrows, index_type), as_indices(cols, "dst", ncols, index_type)
    check_not_nan(values)
    rows, cols, values = _sort_and_combine(
        rows, cols, values, (nrows, ncols), dup, lambda needed: place.check_room(what, needed + pointers)
    )
    return CSR.trusted(compress(rows, nrows, of_indptr), cols, values, (nrows, ncols))


def check_dup(dup: str) -> None:
    """ValueError unless `dup` says how duplicate edges combine."""
    if dup not in (*_COMBINE, "first", "last", "error"):
        raise ValueError(f"dup must be one of {', '.join(_COMBINE)}, first, last, error; got {dup!r}")


def _sort_and_combine(
    rows: Array, cols: Array, values: Array, shape: tuple[int, int], dup: str, room: Callable[[int], None]
) -> tuple[Array, Array, Array]:
    """Entries by row, then by column, each position once.  room: is told the bytes that the next step takes."""
    xp, size = namespace(values), rows.size
    entry = 2 * rows.itemsize + values.itemsize
    if shape[0] * shape[1] < 2**63:
        key = rows.astype(np.int64) * shape[1] + cols
        order = None
        if bool((key[1:] < key[:-1]).any()):
            room(size * (SORTED + entry))
            order = xp.argsort(key, kind="stable" if dup in ("first", "last") else None)
            key = key.take(order)
        fresh = key[1:] != key[:-1]
        del key
    else:
        room(size * (SORTED + entry))
        order = xp.lexsort(xp.stack((cols, rows)))
        fresh = (rows[order][1:] != rows[order][:-1]) | (cols[order][1:] != cols[order][:-1])
    if order is not None:
        rows, cols, values = rows.take(order), cols.take(order), values.take(order)
        del order
    if all_of(fresh):
        return rows, cols, values
    repeats = int((~fresh).sum()) if size else 0
    summed = SUMMED if dup == "sum" and values.dtype.kind == "i" else 0
    room(size * (COMBINED + entry + summed) + REPEATED * repeats)
    if dup == "error":
        at = int(fresh.argmin())
        raise ValueError(f"edge ({rows[at]}, {cols[at]}) is given more than once")
    first = xp.concatenate((xp.ones(1, bool), fresh))
    starts = xp.flatnonzero(first)
    if dup == "last":
        values = values[xp.concatenate((starts[1:], xp.array([values.size]))) - 1]
    else:
        values = values[starts] if dup == "first" else _combine(values, first, dup)
    return rows.take(starts), cols.take(starts), values


def _sorted_by_words(
    rows: Array, cols: Array, values: Array, shape: tuple[int, int], dup: str, what: str, alike: bool
) -> CSR:
    """The CSR of edges in any order, on the host.  alike: true if all values are, and need not be sorted."""
    place, index_type, kept = same_place(rows), index_types(shape, rows.size)[1], (np.int32, np.int64)
    wide = [part.view(np.int64) if part.dtype == np.uint64 else part for part in (rows, cols)]
    copied = index_type.itemsize * sum(part.size for part in wide if part.dtype not in kept)
    place.check_room(what, copied)
    src, dst = (part if part.dtype in kept else part.astype(index_type) for part in wide)
    at_once = max(FEW[True], rows.size // PARTS_OF_WORDS)
    indptr, indices, combined = sorted_by_rows(
        src,
        dst,
        values[: 0 if alike else values.size],
        shape,
        dup=dup,
        at_once=at_once,
        room=lambda needed: place.check_room(what, needed),
    )
    return CSR.trusted(indptr, indices, values[: indices.size].copy() if alike else combined, shape)


def _sorted_in_pieces(rows: Array, cols: Array, values: Array, shape: tuple[int, int], dup: str, what: str) -> CSR:
    """The CSR of edges in any order, a range of rows at a time."""
    xp, place, nrows = namespace(rows), same_place(rows), shape[0]
    of_indptr, index_type = index_types(shape, rows.size)
    most, entry = max(FEW[place.on_host], rows.size // PARTS[place.on_host]), index_type.itemsize + values.itemsize
    at_a_time = most * (COMBINED + REPEATED + 3 * (index_type.itemsize + entry)) + FINDING * LOOKED_AT[place.on_host]
    place.check_room(what, entry * rows.size + 2 * WORD * (nrows + 1) + at_a_time)
    cuts = [(first, last) for first, last, *_ in ranges(starts_of(counts(rows, nrows), np.int64), most)]
    indptr = xp.zeros(nrows + 1, of_indptr)
    made, weights, upto = xp.empty(rows.size, index_type), xp.empty(rows.size, values.dtype), 0
    for first, last in cuts:
        *ends, weight = _of_rows(rows, cols, values, first, last)
        row, col = (part.astype(index_type, copy=False) for part in ends)
        row, col, weight = _sort_and_combine(row, col, weight, shape, dup, lambda needed: None)
        indptr[first + 1 : last + 1] = counts(row - index_type.type(first), last - first)
        behind = slice(upto, upto + row.size)
        made[behind], weights[behind], upto = col, weight, behind.stop
    xp.cumsum(indptr, dtype=of_indptr, out=indptr)
    return CSR.trusted(indptr, shortened(made, upto), shortened(weights, upto), shape)


def _ascend(rows: Array, cols: Array) -> bool:
    """True if every edge but the first comes strictly after the one before."""
    step = LOOKED_AT[same_place(rows).on_host]
    for start in range(0, rows.size - 1, step):
        row, col = rows[start : start + step + 1], cols[start : start + step + 1]
        after = (row[1:] > row[:-1]) | ((row[1:] == row[:-1]) & (col[1:] > col[:-1]))
        if not all_of(after):
            return False
    return True


def _of_rows(rows: Array, cols: Array, values: Array, first: int, last: int) -> list[Array]:
    """The edges from rows first … last - 1, in their order."""
    xp, step = namespace(rows), LOOKED_AT[same_place(rows).on_host]
    found = []
    for start in range(0, rows.size, step):
        row, *others = (part[start : start + step] for part in (rows, cols, values))
        at = xp.flatnonzero((row >= first) & (row < last))
        found.append([part.take(at) for part in (row, *others)])
    return [concatenated(parts) for parts in zip(*found, strict=True)]


def _combine(values: Array, first: Array, dup: str) -> Array:
    """⊕ over each run of `values`, whose first ones are flagged; an integer sum that overflows is an OverflowError."""
    xp = namespace(values)
    at = xp.flatnonzero(~first)
    run = at - xp.arange(1, at.size + 1)  # of each repeat, its run: how many firsts came before it, less one
    if values.dtype == bool:  # which CuPy's minimum.at does not take
        return _combine(values.astype(np.int32), first, dup) != 0
    if xp is not np and values.dtype == np.float32 and dup != "sum":  # CuPy's atomics take subnormal numbers for zero
        return _as_float(_combine(_as_ordered(values), first, dup))
    combined, repeats = values[first], values[at]
    with np.errstate(invalid="ignore"):  # of both infinities
        getattr(xp, _COMBINE[dup]).at(combined, run, repeats)
    if dup == "sum" and combined.dtype.kind == "f" and bool(xp.isnan(combined).any()):
        refuse_sum(values.dtype)
    if dup == "sum" and values.dtype.kind == "i":
        exact = values[first].astype(np.float64)
        xp.add.at(exact, run, repeats.astype(np.float64))
        if bool((abs(exact - combined) > 1 + 1e-9 * abs(exact)).any()):
            refuse_sum(values.dtype)
    return combined


def _as_ordered(values: Array) -> Array:
    """Float32 as integers of the same order: the bits, of a negative number all but the sign turned round."""
    bits = values.view(np.int32)
    return bits ^ ((bits >> 31) & INT32_MAX)


def _as_float(ordered: Array) -> Array:
    """The inverse of `_as_ordered`."""
    return (ordered ^ ((ordered >> 31) & INT32_MAX)).view(np.float32)


def with_edges(A: Matrix, src: Array, dst: Array) -> Matrix:
    """The pattern of `A` with more edges, in A's own format; one that is there already changes nothing."""
    if A.in_parts:
        return A.with_edges(src, dst)  # type: ignore[attr-defined]
    rows, cols, _ = A.to_edges()
    xp = namespace(src)
    more: Any = from_edges(xp.concatenate((rows, src)), xp.concatenate((cols, dst)), shape=A.shape, dtype=bool)
    return convert(more, type(A), **A.options)
