"""Searches from several sources run on the GPU by a word for each vertex (searches.cu), or copies of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.equations.bfs import bfs
from algorithms.shared.traversal import Direction
from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, index_dtype
from formats.matrix.facts import Fact
from formats.storage.orientation import has_columns
from semiring import MinPlus
from semiring.algebra.codegen import types_of
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from . import kernels
from .batches import begin_copies, copies_need, in_copies, run_copies
from .graphs import CHOICES, rows_of
from .layouts import LONG, MAX_SEARCHES, PIECE, PLANES, RowPiece, SearchesControl
from .out_of_core import columns_of
from .paths import Schedule, mark_unreached, may_be_deep

MIN_SEARCHES_TO_PULL = 4
"""Searches that are worth turning a matrix for its columns."""

MAX_ALPHA = 4.0
"""Beamer's alpha at most: a pull for many searches saves less than for one, since few rows find all of them early."""

MAX_BYTE_LEVELS = 254
"""Levels that fit a byte beside the sign of what was not reached."""

MIN_VERTICES_TO_COPY = 1 << 19
"""Vertices from which searches of many levels are paths in copies of the graph."""

HOPS = Schedule("buckets", np.int32(16), True, rounds=12, few=1 << 15, many=1 << 18)
"""The schedule of these paths, with every edge of length 1."""

LONG_COLUMNS: Fact[tuple[Array, Array]] = Fact("pieces of long columns")


def searches_need(A: CSR, k: int) -> int:
    """Returns the bytes of a block of searches beside its answer."""
    piece, n = RowPiece.nbytes(I=A.indptr.dtype), A.nrows
    lists = (3 * (n + A.nnz // PIECE + MAX_SEARCHES) + (0 if A.keeps(LONG_COLUMNS) else long_pieces(A))) * piece
    words = n * 8 * (3 + PLANES) + lists
    return max(words, copies_need(A, k) if copied(A, k) else 0)


def trees_need(A: CSR, k: int) -> int:
    """Returns the bytes of the levels, in a row for each vertex, and of parents in the width of its counts."""
    turned = 0 if A.indptr.dtype == index_dtype(A.nrows) else A.indptr.dtype.itemsize
    return A.nrows * (MAX_SEARCHES * 4 + k * turned)


def copied(A: CSR, k: int) -> bool:
    """True if levels are found as paths in copies of the graph."""
    return A.nrows >= MIN_VERTICES_TO_COPY and in_copies(A, k)


@bfs.batch.implement(CSR, "cuda", most=MAX_SEARCHES, needs=searches_need, for_parents=trees_need)
def _searches(
    A: CSR,
    sources: list[int],
    rows: tuple[Array, Array | None],
    outside: Array | None,
    how: Direction,
    deepest: int | None,
    return_parents: bool,
) -> Declined | None:
    if why := kernels.too_large(A):
        return why
    level, parent = rows
    if how.choice == "auto" and outside is None and deepest is None and copied(A, len(sources)):
        run_copies(begin_copies(A, sources, level, MinPlus, HOPS, length=np.int32(1)))
        mark_unreached(level.reshape(-1), types_of(A), "copies")
        levels = A.nrows
    else:
        levels = search(A, sources, level, outside, how, deepest)
    if parent is not None:
        trees(A, level, levels, parent)
    return None


def search(A: CSR, sources: list[int], level: Array, outside: Array | None, how: Direction, deepest: int | None) -> int:
    """Writes the levels (k, n) from k sources, at most 64 of them; returns how many there are."""
    cp, index, kind = cupy(), A.indptr.dtype, "deep_searches" if may_be_deep(A) else "searches"
    n, k, short = A.nrows, kernels.pattern(kind, types_of(A)), may_be_deep(A)
    worth = how.choice == "pull" or (how.choice == "auto" and len(sources) >= MIN_SEARCHES_TO_PULL and not short)
    pulls = worth or (how.choice == "auto" and has_columns(A))
    words = cp.empty((3 + PLANES if pulls else 4) * n, np.uint64)
    words.data.memset_async(0, (5 if pulls else 4) * n * words.itemsize)  # while the host goes on
    turned: Any = (*columns_of(A), *long_columns(A, k)) if pulls else (kernels.NULL,) * 4
    control, begin = cp.empty(SearchesControl.words, np.uint64), np.zeros(SearchesControl.words, np.uint64)
    begin[SearchesControl.word("sources") :][: len(sources)] = sources
    control.set(begin)
    capacity = n + A.nnz // PIECE + MAX_SEARCHES
    lists = cp.empty(3 * capacity * RowPiece.nbytes(I=index), np.uint8)
    choice, last = np.int32(CHOICES[how.choice if pulls else "push"]), np.int32(-1 if deepest is None else deepest)
    rule = choice, np.float64(min(how.alpha, MAX_ALPHA)), np.float64(how.beta), last
    sizes = np.int64(n), np.int64(A.nnz), np.int32(len(sources))
    own = kernels.NULL if outside is None else outside, words, lists, np.int64(capacity), level
    state = k.stepwise("searches", n + A.nnz, (control, *rows_of(A), *turned, *sizes, *own, *rule), control)()
    told = SearchesControl.read(state, "steps", "pulls")
    details(kernel="searches", levels=told["steps"], pulled=told["pulls"])
    return told["steps"]


def long_pieces(A: CSR) -> int:
    """Returns the number of pieces of long columns, at most."""
    return 2 * A.nnz // LONG + 1


def long_columns(A: CSR, k: kernels.Kernels) -> tuple[Array, Array]:
    """Returns the pieces of long columns, and how many, which are made once and kept with A."""

    def make() -> tuple[Array, Array]:
        index = A.indptr.dtype
        count = cupy().zeros(1, np.uint64)
        pieces = cupy().empty(long_pieces(A) * RowPiece.nbytes(I=index), np.uint8)
        k.plain("list_long_columns", A.nrows, (columns_of(A)[0], np.int64(A.nrows), pieces, count))
        return pieces, count

    return A.keep(LONG_COLUMNS, make)


def trees(A: CSR, level: Array, levels: int, parent: Array) -> None:
    """Writes each vertex's smallest predecessor one level nearer, a row for each search."""
    few = levels <= MAX_BYTE_LEVELS
    cp, k = cupy(), kernels.pattern("parents_by_few" if few else "parents_by_many", types_of(A))
    n, searches, columns = np.int64(A.nrows), np.int32(len(level)), columns_of(A)
    found = parent if parent.dtype == k.index else cp.empty(parent.shape, k.index)
    rows = cp.empty(A.nrows * MAX_SEARCHES, np.uint8 if few else np.int32)
    k.plain("turn_levels", 8 * A.nrows, (n, searches, level, rows))
    k.plain("seek_parents", 8 * A.nrows, (*columns, n, searches, rows, k.index(LONG), found))
    arguments = columns[1], n, searches, rows, *long_columns(A, k), found
    k.plain("seek_in_pieces", 32 * long_pieces(A), arguments)
    if found is not parent:
        parent[...] = found
