"""A ⊗ X for a dense X of several columns: one pass over A's rows, and the columns of a row of X in vector registers.

    y_i = ⊕_k a_ik ⊗ x_k        for as many neighbouring columns at once as the lanes of some registers

A format other than CSR is taken by kept rows; a Dense by all of its positions, see `dense`. What a sum could take out
of the integers' range goes column by column, as mxv does it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from formats import CSR, Dense, Matrix
from formats.arrays import index_dtype, read_only

from ..algebra.semirings import Semiring
from ..generic.dense import by_columns, dense_needs, with_dense
from ..verbs.arguments import NONE
from ..verbs.verbs import dense_mxm
from . import exact
from .compiled import as_plain
from .compiler.references import interrupted
from .plain import is_shipped
from .storage import ANY
from .threads import PIECES_PER_THREAD, cut, cut_evenly, get_threads, run

REGISTER_BYTES, MAX_VECTOR_ITEMS = 128, 64
"""Bytes of a row of X in registers at a time, and most elements of it: LLVM's vectors have no more."""

MAX_COLUMN_WASTE = 1.25
"""How many times as many columns may be computed as there are, for wider vectors."""

WIDTH = 16
"""Rows whose arguments are looked for at once, where these lie together."""

PREFETCHED_ENTRIES = 16
"""Number of entries of A by which the fetching of rows of X is ahead."""

LINE_BYTES = 64
"""Bytes that a processor fetches at once."""


@dense_mxm.implement(Matrix, "cpu", needs=lambda A, fmt, columns: dense_needs(A, fmt, columns))
def _(
    A: Matrix, X: np.ndarray, semiring: Semiring, matrix_first: bool, argument: bool, allowed: np.ndarray | None
) -> Any:
    if exact.needed(A, X, semiring):
        return by_columns(A, X, semiring, matrix_first, argument, allowed)
    if isinstance(A, Dense) and argument and X.shape[1] == 1:
        return _of_a_vector(A, X, semiring, matrix_first, allowed)
    if isinstance(A, Dense) and semiring.mul.reads != "":
        return with_dense(A, X, semiring, matrix_first, argument)
    rows = A if isinstance(A, CSR) else dense_mxm.rows_of(A)
    operand, plain = as_plain(rows, X, semiring, matrix_first)
    columns, zero = X.shape[1], semiring.zero(A.dtype)
    gather = _gather(semiring, A.dtype, matrix_first, plain, lanes(columns, A.dtype), argument)
    x = read_only(np.ascontiguousarray(operand.values)).reshape(-1)
    Y = np.empty((A.nrows, columns), A.dtype)
    K = np.empty(Y.shape if argument else (0, columns), index_dtype(A.ncols))
    masked, wanted = allowed is not None, ANY if allowed is None else allowed.any(axis=1)
    matrix, results = (rows.indptr, rows.indices, rows.values), (Y.reshape(-1), K.reshape(-1))
    run(lambda *piece: gather(matrix, x, results, columns, wanted, masked, *piece), cut_evenly(rows.indptr))
    operand.finished(Y, zero)
    if argument and operand.beyond is not None:
        K[Y == zero] = NONE
    return (Y, K) if argument else Y


def _of_a_vector(
    A: Dense, X: np.ndarray, semiring: Semiring, matrix_first: bool, allowed: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """A ⊗ x of every position, and then its arguments."""
    Y = dense_mxm(A, X, semiring, matrix_first, allowed=allowed)
    K, (along, across) = np.full(Y.shape, NONE, index_dtype(A.ncols)), _looking(semiring, A.dtype, matrix_first)
    look, vectors = across if A.major else along, (X.reshape(-1), Y.reshape(-1), K.reshape(-1))
    size = max(1, -(-A.nrows // (get_threads() * PIECES_PER_THREAD)))
    run(lambda *piece: look(A.values, A.fill, vectors, *piece), cut(A.nrows, size, A.values.size))
    return Y, K


@lru_cache(maxsize=512)
def _looking(semiring: Semiring, dtype: np.dtype, matrix_first: bool) -> tuple[Callable[..., None], ...]:
    """The loops that look for arguments [start, stop) in rows that lie together, and in columns that do."""
    from .kernels import terms
    from .lanes import across as in_lanes

    t = terms(semiring, dtype, matrix_first)
    zero, product, number = t.zero, t.product, t.number

    def number_of_change(k, a, y, e, weight, fill):
        t = product(number(a), weight)
        return e if (a != fill) & (a == a) & (t == y) & (t != zero) else k

    chosen = in_lanes(number_of_change, 3, WIDTH, vectors=vectorizes(semiring))

    @t.compiled
    def along(values, fill, vectors, start, stop):
        x, y, k = vectors
        for i in range(start, stop):
            for e in range(x.size if y[i] != zero else 0):
                a = values[i, e]
                if a != fill and a == a and product(number(a), x[e]) == y[i]:
                    k[i] = e
                    break

    @t.compiled
    def across(values, fill, vectors, start, stop):
        (x, y, k), whole = vectors, start + (stop - start) // WIDTH * WIDTH
        for last in range(x.size):
            row, weight = values[x.size - 1 - last], x[x.size - 1 - last]
            e = k.dtype.type(x.size - 1 - last)
            for i in range(start, whole, WIDTH):
                chosen(k, i, row, i, y, i, e, weight, fill)
            for i in range(np.uintp(whole), np.uintp(stop)):
                k[i] = number_of_change(k[i], row[i], y[i], e, weight, fill)

    return along, across


def lanes(columns: int, dtype: np.dtype) -> int:
    """How many columns at a time: as many as registers hold, but few of which must be computed twice."""
    most = min(columns, MAX_VECTOR_ITEMS, REGISTER_BYTES // dtype.itemsize)
    widths = [1 << power for power in range(most.bit_length())]
    cost = {width: -(-columns // width) * width for width in widths}
    return max(width for width in widths if cost[width] <= max(columns * MAX_COLUMN_WASTE, min(cost.values())))


@lru_cache(maxsize=512)
def _gather(
    semiring: Semiring, dtype: np.dtype, matrix_first: bool, plain: bool, lanes: int, argument: bool
) -> Callable[..., None]:
    """The loop over rows [start, stop). The last columns are computed twice where they do not fill the lanes."""
    from .kernels import terms
    from .lanes import on_stack, prefetched

    t = terms(semiring, dtype, matrix_first, plain)
    steps = Steps(t, lanes, 1, vectorizes(semiring))
    room, line = on_stack(lanes), LINE_BYTES // dtype.itemsize
    clear, add, moved, none, noted = steps.clear, steps.add, steps.moved, steps.none, steps.noted

    @t.compiled
    def gather(matrix, x, results, columns, wanted, masked, start, stop):
        (indptr, indices, values), (y, k) = matrix, results
        totals, before, places = room(values), room(values), room(k)
        last = np.uintp(max(indices.size, 1) - 1)
        for i in range(start, stop):
            if interrupted():
                break
            entry, end = np.uintp(indptr[i]), np.uintp(indptr[i + 1])
            if masked and not wanted[i]:
                end = entry
            for block in range(0, columns, lanes):
                first = min(block, columns - lanes)
                clear(totals)
                if argument:
                    none(places)
                for e in range(entry, end):
                    later = np.intp(indices[min(e + np.uintp(PREFETCHED_ENTRIES), last)]) * columns + first
                    for part in range(0, lanes, line):
                        prefetched(x, later + part)
                    if argument:
                        moved(before, 0, totals, 0)
                    add(totals, 0, x, np.intp(indices[e]) * columns + first, values[e])
                    if argument:
                        noted(places, 0, totals, 0, before, 0, indices[e])
                moved(y, i * columns + first, totals, 0)
                if argument:
                    moved(k, i * columns + first, places, 0)

    return gather


class Steps:
    """The steps of products in several lanes at once, made of a semiring's terms.

    rows: so often, one after the other.  clear: y = zero.  add: y ⊕= a ⊗ x.  moved: y = x.  none: k = NONE.
    noted: k = the number where y has changed.
    """

    def __init__(self, t: Any, lanes: int, rows: int, vectors: bool) -> None:
        from .lanes import across, copied, filled

        zero, add, product, fill = t.zero, t.add, t.product, filled(lanes * rows)

        def clear(y):
            fill(y, zero)

        def none(k):
            fill(k, NONE)

        self.clear, self.none = clear, none
        self.add = across(lambda y, x, a: add(y, product(a, x)), 2, lanes, rows, vectors=vectors)
        self.moved = copied(lanes * rows)
        noted = across(lambda k, y, before, number: number if y != before else k, 3, lanes, rows, vectors=vectors)
        self.noted = noted


def vectorizes(semiring: Semiring) -> bool:
    """True if LLVM makes vectors of the semiring's terms; where it does not, it would warn."""
    return is_shipped(semiring) and semiring.add.name != "times"
