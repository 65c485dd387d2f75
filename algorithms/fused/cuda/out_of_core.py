"""Keeps in pinned memory what belongs to matrices that are not resident as a whole, where there is no room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from algorithms.shared.traversal import SEARCHES
from formats import CSC, CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.matrix.facts import COMPRESSED, SYMMETRIC, Fact
from formats.places import Place
from formats.resident import check_pinned, elsewhere, empty
from formats.storage.orientation import by_columns, has_columns, has_room_for_columns, is_symmetric, known_symmetric
from formats.storage.pieces import Columns, turned_in_pieces

PATTERN_COLUMNS: Fact[Columns] = Fact("the pattern by columns, in pinned memory")

WINDOW_ENTRIES = 1 << 23
"""Entries that are read at a time where all are read in their order."""
FRONTIER = "frontier rows"
"""The plan of reading the rows of those vertices alone that are expanded."""
SEARCHES_BEFORE_COLUMNS = 32
"""Searches that read rows alone before columns are made in pieces: about what these take."""
TURNING_BYTES_PER_VERTEX = 24
"""Bytes for each vertex that are left to what turns a matrix in pieces, beside its pieces."""


def beyond(A: Any) -> bool:
    """True if a part of A is not resident: then what crosses the bus is everything."""
    return not A.all_resident


def crossed(A: CSR, edges: int, *arrays: Array) -> dict[str, Any]:
    """Returns the facts of a search that reads rows once: its edges, and what crossed of some of A's arrays."""
    moved = sum(map(elsewhere, arrays))
    return {"plan": FRONTIER, "edges": edges, "crossed": moved * edges // max(A.nnz, 1)} if moved else {"edges": edges}


def pinned(what: object, size: int, dtype: np.dtype, place: Place) -> Array:
    """Makes an array in pinned memory; raises OutOfHostMemory if that would be too much of it."""
    check_pinned(what, size * dtype.itemsize)
    return empty((size,), dtype, 0, place)


def room(A: CSR, a_vertex: int) -> int:
    """Returns the bytes that are left on the device, beside so many for each vertex."""
    available = A.place.available_bytes()
    return (1 << 40) if available is None else max(0, available - a_vertex * max(A.shape))


def columns_of(A: CSR) -> tuple[Array, Array]:
    """Returns A's columns (indptr, rows), with rows in pinned memory where the device has no room; kept with A."""
    if known_symmetric(A, pattern=True):
        return A.indptr, A.indices
    columns: Any = A.known(COMPRESSED, CSC)
    if columns is None and not A.keeps(PATTERN_COLUMNS) and has_room_for_columns(A):
        columns = by_columns(A)
    if columns is not None:
        return columns.indptr, columns.indices
    found = A.keep(PATTERN_COLUMNS, lambda: columns_in_pieces(A))
    return found.indptr, found.rows


def turned_outside(A: CSR) -> bool:
    """True if A's columns are in pinned memory, or it is time to make them: pulls read few of them."""
    if (A.known(SEARCHES) or [0])[0] == SEARCHES_BEFORE_COLUMNS and not has_columns(A) and not has_room_for_columns(A):
        with suppress(MemoryError):
            columns_of(A)
    return A.keeps(PATTERN_COLUMNS)


def both_ways(A: CSR, *, reads: bool) -> bool:
    """True if every entry has its reverse; unless A `reads`, only if that is known, or A is resident."""
    if known_symmetric(A, pattern=True) or A.keeps(SYMMETRIC, True):
        return known_symmetric(A, pattern=True)
    return (reads or not beyond(A)) and is_symmetric(A, pattern=True)


def has_room(A: Any, a_vertex: int, an_entry: int, *, may_fail: bool = False) -> bool:
    """True if the device has room for so many bytes a vertex and an entry; `may_fail` is as in `Place.questions`."""
    needed = a_vertex * A.nrows + an_entry * A.nnz
    available = A.place.available_bytes() if A.place.questions(needed, may_fail=may_fail) else None
    return available is None or needed <= available


def left_for_blocks(A: Any, wanted: int) -> int | None:
    """Returns the bytes left on the device, in new blocks if they are fewer than wanted; None if nobody knows."""
    available = A.place.available_bytes()
    if available is None or available >= wanted:
        return available
    pool = cupy().get_default_memory_pool()
    pool.free_all_blocks()
    return available - (pool.total_bytes() - pool.used_bytes())  # what is left of blocks in use is in small parts


def windows(start: int, end: int, size: int | None = None) -> Iterator[tuple[int, int]]:
    """Yields [start, end) in parts: pages that are far from each other are read more slowly over the bus."""
    size = WINDOW_ENTRIES if size is None else size
    for begin in range(start, end, size):
        yield begin, min(begin + size, end)


def columns_in_pieces(A: CSR, **how: bool) -> Any:
    """Returns `turned_in_pieces` of A on a GPU."""
    place = A.place
    found = turned_in_pieces(
        A, room(A, TURNING_BYTES_PER_VERTEX), lambda size, dtype: pinned(f"columns of {A!r}", size, dtype, place), **how
    )
    cupy().get_default_memory_pool().free_all_blocks()
    return found
