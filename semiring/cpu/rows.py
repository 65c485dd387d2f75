"""Compiled steps on whole matrices, a piece of rows to each thread.

    taken        x[at]
    kept         the entries of a matrix at which a Boolean array is true
    flagged      such an array, made a block at a time      row_numbers   the row of each entry
    united       the union of two matrices' entries         intersected   their intersection
    shared       for each entry of a matrix: has another one an entry there?
    picked       some rows and columns                      spliced       other rows in place of some

NumPy does each in several passes over all entries, on one thread. Here a kernel reads the entries once and writes the
result. Where several threads write, entries are counted first, so that each thread knows its part of the result.

Kernels move values as unsigned integers of their size, so that Numba compiles them for a size and not for a dtype.
What an operator makes of two values is computed by NumPy in blocks that stay in a cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import CSC, CSR
from formats.arrays import index_dtype, read_only

from .kernels import compiled
from .lanes import WIDTH, moved, prefetched
from .overlaps import count_shared, intersect, share
from .threads import PIECES_PER_THREAD, cut, cut_evenly, get_threads, run

BLOCK = 1 << 17
"""Entries that an operator or a predicate is given at a time."""

MAX_NNZ_AS_ARRAYS = 1 << 10
"""Maximum entries of which those to keep are taken by NumPy, whose three calls begin sooner than a loop."""

PREFETCHED_ROWS = 8
"""Rows by which the fetching of a row is ahead of its reading."""

Counts = Callable[[np.ndarray, int, int], int]


def taken(x: np.ndarray, at: np.ndarray) -> np.ndarray:
    """x[at] of two vectors."""
    out = np.empty(at.size, x.dtype)
    x, at = read_only(x), read_only(at)
    pieces = cut(at.size, -(-at.size // (get_threads() * PIECES_PER_THREAD)) or 1, at.size)
    run(lambda *piece: _take(x, at, out, *piece), pieces)
    return out


def kept(A: CSR | CSC, keep: np.ndarray) -> CSR | CSC:
    """The entries of `A` at which the Boolean array `keep` is true."""
    if A.nnz <= MAX_NNZ_AS_ARRAYS:
        return type(A).trusted(ends(keep, A.indptr.dtype)[A.indptr], A.indices[keep], A.values[keep], A.shape)
    keep = read_only(keep)

    def count(counts: np.ndarray, start: int, stop: int) -> int:
        return int(np.count_nonzero(keep[A.indptr[start] : A.indptr[stop]]))

    part = Part(A.indptr, A.indices.dtype, A.dtype, A.nnz, count)
    part.fill(lambda *piece: _keep(arrays(A), keep, part.arrays, *piece))
    return type(A).trusted(*part.finished(), A.shape)


def flagged(A: CSR | CSC, flags: Callable[[Any, int, int], np.ndarray]) -> np.ndarray:
    """For each entry of `A`, what flags(block, first, last) says of it; a block has rows (or columns) [first, last)."""
    if A.nnz <= BLOCK:
        return flags(A, 0, A.indptr.size - 1)
    found = np.empty(A.nnz, bool)

    def work(start: int, stop: int) -> None:
        for e in range(start, stop, BLOCK):
            till = min(e + BLOCK, stop)
            ends_of_block = np.array((e, till - 1), A.indptr.dtype)  # of another dtype, NumPy would cast all of indptr
            first, last = np.searchsorted(A.indptr, ends_of_block, side="right").tolist()
            indptr = A.indptr[first - 1 : last + 1].clip(e, till) - A.indptr.dtype.type(e)
            shape = (last - first + 1, A.shape[1 - A.major])
            parts = (indptr, A.indices[e:till], A.values[e:till], shape if A.major == 0 else shape[::-1])
            found[e:till] = flags(type(A).trusted(*parts), first - 1, last)

    run(work, cut(A.nnz, -(-A.nnz // (get_threads() * PIECES_PER_THREAD)) or 1, A.nnz))
    return found


def row_numbers(indptr: np.ndarray, first: int) -> np.ndarray:
    """For each entry, its row, the rows being numbered from `first` on."""
    out = np.empty(indptr[-1], indptr.dtype)
    _number(read_only(indptr), first, out)
    return out


def united(A: CSR, B: CSR, op: Any) -> CSR:
    """The union of the entries of `A` and `B`; op(a, b) where both have one."""
    if same_pattern(A, B):
        return CSR.trusted(A.indptr, A.indices, combined(op, A.values, B.values).astype(A.dtype, copy=False), A.shape)
    a, b, work = paired(A, B)

    def count(counts: np.ndarray, start: int, stop: int) -> int:
        entries = int(work[stop] - work[start])
        return entries - int(count_shared(*a[:2], *b[:2], counts, start, stop))

    part = Part(work, work.dtype, A.dtype, A.nnz + B.nnz, count)

    def write(start: int, stop: int, to: int, limit: int) -> None:
        most = min(a[0][stop] - a[0][start], b[0][stop] - b[0][start])
        places, others = np.empty(most + 1, work.dtype), np.empty(most + 1, B.dtype)
        found = _unite(a, b, part.arrays, places, bits(others), start, stop, to)
        for e in range(0, found, BLOCK):
            at = places[e : min(e + BLOCK, found)]
            part.values[at] = op(part.values.take(at), others[e : min(e + BLOCK, found)])

    part.fill(write)
    return CSR.trusted(*part.finished(), A.shape)


def intersected(A: CSR, B: CSR, op: Any) -> CSR:
    """op(a, b) where both `A` and `B` have an entry."""
    if same_pattern(A, B):
        return CSR.trusted(A.indptr, A.indices, combined(op, A.values, B.values), A.shape)
    a, b, work = paired(A, B)

    def count(counts: np.ndarray, start: int, stop: int) -> int:
        return int(count_shared(*a[:2], *b[:2], counts, start, stop))

    part = Part(work, work.dtype, A.dtype, min(A.nnz, B.nnz), count)
    others = np.empty(part.values.size, B.dtype)
    part.fill(lambda start, stop, to, _: intersect(a, b, part.arrays, bits(others), start, stop, to))
    indptr, indices, values = part.finished()
    return CSR.trusted(indptr, indices, combined(op, values, others[: values.size]), A.shape)


def shared(A: CSR, B: CSR) -> np.ndarray:
    """For each entry of `A`: has `B` an entry at its place? B's values do not count."""
    a, b, work = paired(A, B)
    found = np.zeros(A.nnz, bool)
    run(lambda *piece: share(*a[:2], *b[:2], found, *piece), cut_evenly(work))
    return found


def picked(A: CSR, rows: np.ndarray | None, cols: np.ndarray | None = None) -> CSR:
    """The given rows of `A`, in their order, and of these the given columns, which ascend; None for all."""
    rows = np.arange(A.nrows) if rows is None else rows
    starts = A.indptr.take(rows)
    lengths = A.indptr[1:].take(rows) - starts
    ncols = A.ncols if cols is None else cols.size
    work = ends(lengths, index_dtype(rows.size, ncols, int(lengths.sum(dtype=np.int64))))
    if cols is None:
        return CSR.trusted(work, *ranges(A, starts, work), (rows.size, ncols))
    source, rows = arrays(A), read_only(rows)
    position = np.full(A.ncols, -1, work.dtype)
    position[cols] = np.arange(cols.size, dtype=work.dtype)

    def count(counts: np.ndarray, start: int, stop: int) -> int:
        return int(_count_picked(A.indptr, A.indices, rows, position, start, stop))

    part = Part(work, work.dtype, A.dtype, int(work[-1]), count)
    part.fill(lambda *piece: _pick(source, rows, position, part.arrays, *piece))
    return CSR.trusted(*part.finished(), (rows.size, ncols))


def ranges(A: CSR | CSC, starts: np.ndarray, indptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Copies ranges of A's entries, one after the other.  starts: of each range in A.  indptr: of each in the copy."""
    indices, values = np.empty(indptr[-1], indptr.dtype), np.empty(indptr[-1], A.dtype)
    source, target = (starts, A.indices, bits(A.values)), (indptr, indices, bits(values))
    run(lambda *piece: _copy_ranges(*source, *target, *piece), cut_evenly(indptr))
    return indices, values


def column(A: CSR, at: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns rows and values of one column of `A`, by a binary search in each row."""
    pieces = cut_evenly(A.indptr)
    found = [np.empty(stop - start, A.indices.dtype) for start, stop in pieces]
    values = [np.empty(stop - start, A.dtype) for start, stop in pieces]
    counts = dict[int, int]()
    number = {start: k for k, (start, _) in enumerate(pieces)}

    def search(start: int, stop: int) -> None:
        k = number[start]
        counts[k] = _search_column(A.indptr, A.indices, bits(A.values), at, found[k], bits(values[k]), start, stop)

    run(search, pieces)
    parts = [(found[k][: counts[k]], values[k][: counts[k]]) for k in range(len(pieces))]
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([each for _, each in parts])


def spliced(A: CSR, rows: np.ndarray, part: CSR) -> CSR:
    """`A` with the rows of `part` in place of the given ones, which ascend; what lies between them is copied whole."""
    lengths = np.diff(A.indptr).astype(np.int64)
    before = ends(lengths.take(rows), np.dtype(np.int64))
    lengths[rows] = np.diff(part.indptr)
    nnz = A.nnz - int(before[-1]) + part.nnz
    indptr = ends(lengths, index_dtype(*A.shape, nnz))
    indices, values = np.empty(nnz, indptr.dtype), np.empty(nnz, A.dtype)
    source = arrays(A), arrays(part), read_only(rows)
    work = np.concatenate((indptr[:1], indptr[1:].take(rows)))
    work[-1] = nnz
    run(lambda *piece: _splice(*source, (indptr, indices, bits(values)), *piece), cut_evenly(work))
    return CSR.trusted(indptr, indices, values, A.shape)


def positions(A: CSR, rows: np.ndarray | None, part: CSR, outside: np.ndarray | None) -> np.ndarray | None:
    """The numbers of A's entries at the places of those of `part`, or None if `A` lacks one.

    rows: those of `A` that part's rows are, ascending; None for all.  outside: Boolean, which columns of `A` may have
    other entries in these rows, or else the answer is None; None for all.
    """
    at, rows = np.empty(part.nnz, A.indptr.dtype), np.arange(A.nrows) if rows is None else rows
    source = (A.indptr, A.indices), read_only(rows), (part.indptr, part.indices)
    missing = list[int]()

    def work(start: int, stop: int) -> None:
        if not missing and not _find(*source, np.empty(0, bool) if outside is None else outside, at, start, stop):
            missing.append(start)

    run(work, cut_evenly(part.indptr))
    return None if missing else at


def replaced(A: CSR, at: np.ndarray, values: np.ndarray, op: Any) -> CSR:
    """`A` with these values at the entries `at`, or with op(a, b) of those there and these; the pattern is shared."""
    new = np.empty_like(A.values)
    pieces = cut(new.size, -(-new.size // (get_threads() * PIECES_PER_THREAD)) or 1, new.size)
    run(lambda start, stop: np.copyto(new[start:stop], A.values[start:stop]), pieces)
    new[at] = values if op is None else combined(op, new.take(at), values)
    return CSR.trusted(A.indptr, A.indices, new, A.shape)


def same_pattern(A: CSR, B: CSR) -> bool:
    """True if `A` and `B` have their entries in the same places; ends at the first block that differs."""
    if A.nnz != B.nnz or A.indices.dtype != B.indices.dtype:
        return False
    for a, b in ((A.indptr, B.indptr), (A.indices, B.indices)):
        if a is not b and not all(np.array_equal(a[e : e + BLOCK], b[e : e + BLOCK]) for e in range(0, a.size, BLOCK)):
            return False
    return True


def combined(op: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """op(a, b) of two arrays, in blocks."""
    if a.size <= BLOCK:
        return op(a, b)
    out = np.empty(a.size, op(a[:1], b[:1]).dtype)
    errors = np.geterr()

    def work(start: int, stop: int) -> None:
        with np.errstate(**errors):  # a thread has settings of its own
            for e in range(start, stop, BLOCK):
                till = min(e + BLOCK, stop)
                out[e:till] = op(a[e:till], b[e:till])

    run(work, cut(a.size, -(-a.size // (get_threads() * PIECES_PER_THREAD)), a.size))
    return out


def arrays(A: CSR | CSC) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix as kernels take it."""
    return A.indptr, A.indices, bits(A.values)


def bits(values: np.ndarray) -> np.ndarray:
    """The values as unsigned integers of their size, as kernels move them; of a pattern, one for each entry."""
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def ends(counts: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """0 and the running totals of `counts`."""
    totals = np.zeros(counts.size + 1, dtype)
    counts.cumsum(out=totals[1:])
    return totals


class Part:
    """The arrays of a matrix that threads write, each from its own place on.

    work: like an indptr, how much there is to do before each row.  most: entries that there can be.  count: (counts,
    start, stop) -> entries of these rows, asked where there are several threads; what it may note of each row in
    `counts`, which holds ones at first, `fill` finds there.
    """

    def __init__(self, work: np.ndarray, index_type: np.dtype, dtype: np.dtype, most: int, count: Counts) -> None:
        self.pieces = cut_evenly(work)
        totals = np.array([0, most])
        self.counts = np.ones(work.size - 1, index_type)
        if len(self.pieces) > 1:
            found = dict[int, int]()
            run(lambda start, stop: found.__setitem__(start, count(self.counts, start, stop)), self.pieces)
            totals = np.cumsum([0, *(found[start] for start, _ in self.pieces)])
        self.edges = dict(
            zip((start for start, _ in self.pieces), zip(totals[:-1], totals[1:], strict=True), strict=True)
        )
        self.indices, self.values = np.empty(totals[-1], index_type), np.empty(totals[-1], dtype)
        self.arrays = (self.counts, self.indices, bits(self.values))

    def fill(self, write: Callable[[int, int, int, int], Any]) -> None:
        """Call write(start, stop, to, limit) for each piece: its rows, and the places of the result that it owns."""
        run(lambda start, stop: write(start, stop, *self.edges[start]), self.pieces)

    def finished(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns indptr, indices and values, cut off where the entries end."""
        indptr = ends(self.counts, self.counts.dtype)
        del self.arrays
        for array in (self.indices, self.values):
            array.resize(indptr[-1], refcheck=False)
        return indptr, self.indices, self.values


def paired(A: CSR, B: CSR) -> tuple[Any, Any, np.ndarray]:
    """The arrays of both with indices of one type, and how many entries lie before each row."""
    index_type = np.result_type(A.indptr.dtype, B.indptr.dtype, np.int32 if A.nnz + B.nnz < 2**31 else np.int64)
    a, b = (
        (M.indptr.astype(index_type, copy=False), M.indices.astype(index_type, copy=False), bits(M.values))
        for M in (A, B)
    )
    return a, b, a[0] + b[0]


@compiled
def _take(x, at, out, start, stop):
    for e in range(start, stop):
        out[e] = x[np.uintp(at[e])]


@compiled
def _number(indptr, first, out):
    for i in range(indptr.size - 1):
        e, end = np.uintp(indptr[i]), np.uintp(indptr[i + 1])
        while e < end:
            out[e] = i + first
            e += np.uintp(1)


@compiled
def _keep(matrix, keep, part, start, stop, to, limit):
    (indptr, indices, values), (counts, new_indices, new_values) = matrix, part
    to, limit = np.uintp(to), np.uintp(limit)
    for i in range(start, stop):
        e, end, begin = np.uintp(indptr[i]), np.uintp(indptr[i + 1]), to
        while e < end and to < limit:
            new_indices[to], new_values[to] = indices[e], values[e]
            to += np.uintp(keep[e])
            e += np.uintp(1)
        counts[i] = to - begin


@compiled
def _unite(matrix, other, part, places, others, start, stop, to):
    (a_indptr, a_indices, a_values), (b_indptr, b_indices, b_values) = matrix, other
    counts, indices, values = part
    to, both = np.uintp(to), np.uintp(0)
    for i in range(start, stop):
        a, a_end = np.uintp(a_indptr[i]), np.uintp(a_indptr[i + 1])
        b, b_end, begin = np.uintp(b_indptr[i]), np.uintp(b_indptr[i + 1]), to
        while a < a_end and b < b_end:  # without a branch: which of the two comes first is random
            u, v, x, y = a_indices[a], b_indices[b], a_values[a], b_values[b]
            indices[to], values[to] = min(u, v), x if u <= v else y
            places[both], others[both] = to, y
            both += np.uintp(u == v)
            a += np.uintp(u <= v)
            b += np.uintp(v <= u)
            to += np.uintp(1)
        while a < a_end:
            indices[to], values[to] = a_indices[a], a_values[a]
            a += np.uintp(1)
            to += np.uintp(1)
        while b < b_end:
            indices[to], values[to] = b_indices[b], b_values[b]
            b += np.uintp(1)
            to += np.uintp(1)
        counts[i] = to - begin
    return both


@compiled
def _copy_ranges(starts, indices, values, new_indptr, new_indices, new_values, start, stop):
    limit = new_indptr[stop]
    for r in range(start, stop):
        e, to, end = np.intp(starts[r]), np.intp(new_indptr[r]), np.intp(new_indptr[r + 1])
        while to < end and to + WIDTH <= limit and e + WIDTH <= indices.size:  # beyond the end, where the next one goes
            moved(indices, e, new_indices, to)
            moved(values, e, new_values, to)
            e += WIDTH
            to += WIDTH
        while to < end:
            new_indices[np.uintp(to)], new_values[np.uintp(to)] = indices[np.uintp(e)], values[np.uintp(e)]
            e += 1
            to += 1


@compiled
def _count_picked(indptr, indices, rows, position, start, stop):
    count = np.uintp(0)
    for r in range(start, stop):
        e, end = np.uintp(indptr[rows[r]]), np.uintp(indptr[rows[r] + 1])
        while e < end:
            count += np.uintp(position[np.uintp(indices[e])] >= 0)
            e += np.uintp(1)
    return count


@compiled
def _pick(matrix, rows, position, part, start, stop, to, limit):
    (indptr, indices, values), (counts, new_indices, new_values) = matrix, part
    to, limit = np.uintp(to), np.uintp(limit)
    for r in range(start, stop):
        e, end, begin = np.uintp(indptr[rows[r]]), np.uintp(indptr[rows[r] + 1]), to
        while e < end and to < limit:
            at = position[np.uintp(indices[e])]
            new_indices[to], new_values[to] = at, values[e]
            to += np.uintp(at >= 0)
            e += np.uintp(1)
        counts[r] = to - begin


@compiled
def _search_column(indptr, indices, values, column, found, new_values, start, stop):
    to = 0
    for i in range(start, stop):
        low, high = np.uintp(indptr[i]), np.uintp(indptr[i + 1])
        end = high
        while low < high:
            middle = (low + high) >> np.uintp(1)
            if indices[middle] < column:
                low = middle + np.uintp(1)
            else:
                high = middle
        if low < end and indices[low] == column:
            found[to], new_values[to] = i, values[low]
            to += 1
    return to


@compiled
def _splice(matrix, part, rows, new, start, stop):
    (indptr, indices, values), (part_indptr, part_indices, part_values) = matrix, part
    new_indptr, new_indices, new_values = new
    nrows = indptr.size - 1
    begin = rows[start - 1] + 1 if start else 0
    for k in range(start, stop + 1):  # the rows before each of the given ones, and it; at the end, the rows after all
        if k == stop and stop < rows.size:
            break
        row = rows[k] if k < rows.size else nrows
        e, end, to = np.uintp(indptr[begin]), np.uintp(indptr[row]), np.uintp(new_indptr[begin])
        while e < end:
            new_indices[to], new_values[to] = indices[e], values[e]
            e += np.uintp(1)
            to += np.uintp(1)
        if k < stop:
            e, end = np.uintp(part_indptr[k]), np.uintp(part_indptr[k + 1])
            while e < end:
                new_indices[to], new_values[to] = part_indices[e], part_values[e]
                e += np.uintp(1)
                to += np.uintp(1)
        begin = row + 1


@compiled
def _find(matrix, rows, part, outside, at, start, stop):
    (indptr, indices), (part_indptr, part_indices) = matrix, part
    for k in range(start, stop):
        if k + 2 * PREFETCHED_ROWS < stop:
            prefetched(indptr, np.intp(rows[k + 2 * PREFETCHED_ROWS]))
            prefetched(indices, np.intp(indptr[rows[k + PREFETCHED_ROWS]]))
        e, end = np.uintp(indptr[rows[k]]), np.uintp(indptr[rows[k] + 1])
        p, p_end = np.uintp(part_indptr[k]), np.uintp(part_indptr[k + 1])
        while e < end:
            column = indices[e]
            if p < p_end and part_indices[p] == column:
                at[p] = e
                p += np.uintp(1)
            elif outside.size > 0 and not outside[column]:
                return False
            e += np.uintp(1)
        if p < p_end:
            return False
    return True
