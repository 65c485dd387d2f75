"""C = A ⊗ B of sparse matrices, row by row: c_ij = ⊕_k a_ik ⊗ b_kj, over the entries of a mask or of all places.

Each thread has a dense row of sums. With a mask, only the mask's places of it are cleared before a row and read after
it, so that the others need no test. A row b_k that is far longer than the mask's row is searched for the mask's places
instead (dot by dot, without the columns of B). Without a mask, or with a complement, the places that have left the zero
are listed, and read in order by a bitmap; where a row has many products, all places are read.

Sums are in the order of k, so that an answer's bits depend neither on the mask nor on the number of threads.
Where ⊕ selects, the last k that changes a sum is its argument, the smallest: a second dense row holds them.

Source: F. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted transposition, ACM Trans.
Math. Softw. 4(3), 1978. S. Milaković et al., Parallel algorithms for masked sparse matrix-matrix products, ICPP 2022.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype

from ..algebra.semirings import Semiring
from .exact import sums_stay_within
from .gustavson import cut, kernels
from .plain import could_saturate, is_shipped
from .plain import terms as most_terms
from .ranges import all_finite, exact_bounds, fits_dtype, holds_zero, matrix_interval
from .rows import ends
from .threads import get_threads, run

MAX_PIECE_WORK = 1 << 19
"""Work that a thread takes at a time: products, and entries of the result."""

MIN_PIECE_WORK = 1 << 14
"""Work that is not cut any further."""

PIECES_AT_A_TIME = 1 << 10
"""Pieces that rows are cut into at a time."""

MAX_UNSIZED_ENTRIES = 1 << 26
"""Maximum entries of a result whose arrays are made as long as they may become."""

MAX_COLUMNS_OF_A_ROW = 1 << 16
"""Maximum columns for which a row of sums is never too long."""


def with_arguments(A: CSR, B: CSR, semiring: Semiring, mask: Any, complement: bool) -> tuple[CSR, CSR]:
    """Returns A ⊗ B where the mask allows it, and which k gave each entry, for an ⊕ that selects."""
    C, found = _product(A, B, semiring, mask, complement, argument=True)
    return C, CSR.trusted(C.indptr, C.indices, found, C.shape)


def product(A: CSR, B: CSR, semiring: Semiring, mask: Any = None, complement: bool = False) -> CSR | None:
    """A ⊗ B where the mask allows it, without entries equal to the zero; None if an integer sum may leave 64 bits.

    mask: a CSR (by structure) or a Boolean array (by value).
    """
    dtype = A.dtype
    if dtype.kind == "i" and semiring.add.op.saturating is not None:
        if not sums_stay_within(dtype, A, B, semiring):
            wide = np.dtype(np.int64)
            if dtype == wide or not sums_stay_within(wide, A, B, semiring):
                return None
            C, _ = _product(_cast(A, wide), _cast(B, wide), semiring, mask, complement)
            info = np.iinfo(dtype)
            return _cast(C, dtype, C.values.clip(info.min, info.max))
    return _product(A, B, semiring, mask, complement)[0]


def _cast(A: CSR, dtype: np.dtype, values: np.ndarray | None = None) -> CSR:
    return CSR.trusted(A.indptr, A.indices, (A.values if values is None else values).astype(dtype), A.shape)


def _product(
    A: CSR, B: CSR, semiring: Semiring, mask: Any, complement: bool, argument: bool = False
) -> tuple[CSR, np.ndarray]:
    """Returns the product, and which k gave each entry, or with `argument` False nothing."""
    if B.ncols > max(MAX_COLUMNS_OF_A_ROW, 4 * B.nnz):
        return _by_columns_in_use(A, B, semiring, mask, complement, argument)
    index_type = np.result_type(A.indptr, B.indptr, *([mask.indptr] if isinstance(mask, CSR) else []))
    a, b = (_arrays(M, index_type) for M in (A, B))
    kernel = kernels(semiring, A.dtype, is_plain(A, B, semiring), argument)[mask is None or complement]
    masks, most = _Masks(mask, A.nrows, index_type), A.nnz * B.nnz
    places = index_dtype(A.ncols) if argument else None
    zero, ncols = semiring.zero(A.dtype), B.ncols
    if masks.dense is None and most <= MIN_PIECE_WORK:  # a piece, whatever rows have: nothing is dealt out
        scratch, counts = _scratch(ncols, most, zero, index_type, places), np.zeros(A.nrows, index_type)
        size = kernel(a, b, masks.rows(0, A.nrows), counts, scratch, 0, A.nrows)
        indices, values, found = (part[:size].copy() for part in scratch[-3:])
        return _of_rows(counts, indices, values, (A.nrows, ncols)), found
    work = _Work(a, b, masks, ncols, mask is None or complement)
    result, free = _Result(work, index_type, A.dtype, places), list[tuple[Any, ...]]()

    def multiply(first: int, last: int) -> None:
        scratch = free.pop() if free else _scratch(ncols, work.room, zero, index_type, places)
        for number in range(first, last):
            start, stop = work.pieces[number]
            count = kernel(a, b, masks.rows(start, stop), result.counts, scratch, start, stop)
            result.add(number, *(part[:count] for part in scratch[-3:]))
        free.append(scratch)

    run(multiply, work.runs)
    return result.finished((A.nrows, B.ncols)), result.arrays[2]


def _arrays(A: CSR, index_type: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix as kernels take it."""
    indptr, indices = (part.astype(index_type, copy=False) for part in (A.indptr, A.indices))
    return indptr, indices, np.ascontiguousarray(A.values)


def is_plain(A: CSR, B: CSR, semiring: Semiring) -> bool:
    """True if plain arithmetic is exact, with nothing absent among the operands."""
    if semiring.mul.reads == "":
        return True
    zero = semiring.zero(A.dtype)
    if not is_shipped(semiring) or semiring.mul.partial or holds_zero(A, zero) or holds_zero(B, zero):
        return False
    if A.dtype.kind == "f":
        risky = semiring.mul.saturating is not None
        return not risky or (all_finite(A, zero) and all_finite(B, zero))
    if not could_saturate(semiring):
        return True
    if A.dtype.kind == "b":
        return False
    intervals = matrix_interval(A, zero), matrix_interval(B, zero)
    return fits_dtype(exact_bounds(semiring, *intervals, most_terms(A, semiring)), A.dtype)


def _by_columns_in_use(
    A: CSR, B: CSR, semiring: Semiring, mask: Any, complement: bool, argument: bool
) -> tuple[CSR, np.ndarray]:
    """The product where B has far more columns than entries: over the columns that have some."""
    used, indices = np.unique(B.indices, return_inverse=True)
    narrow = CSR.trusted(B.indptr, indices.astype(B.indptr.dtype), B.values, (B.nrows, used.size))
    if isinstance(mask, CSR):
        at = np.searchsorted(used, mask.indices)
        keep = used.take(at, mode="clip") == mask.indices if used.size else np.zeros(mask.nnz, bool)
        indptr = ends(keep, mask.indptr.dtype)[mask.indptr]
        mask = CSR.trusted(indptr, at[keep].astype(indptr.dtype), np.ones(1, bool), (mask.nrows, used.size))
    elif mask is not None:
        mask = mask[:, used]
    C, found = _product(A, narrow, semiring, mask, complement, argument)
    return CSR.trusted(C.indptr, used[C.indices], C.values, (A.nrows, B.ncols)), found


def _scratch(ncols: int, room: int, zero: Any, index_type: np.dtype, places: np.dtype | None) -> tuple[np.ndarray, ...]:
    """Allocates a thread's arrays: sums and their k, places, a bitmap and its words, indices, values and their k."""
    words = -(-ncols // 64) or 1
    return (
        np.full(ncols, zero, zero.dtype),
        np.empty(0 if places is None else ncols, places or index_type),
        np.empty(ncols + 1, index_type),
        np.zeros(words, np.uint64),
        np.zeros(-(-words // 64), np.uint64),
        np.empty(room + 1, index_type),
        np.empty(room + 1, zero.dtype),
        np.empty(0 if places is None else room + 1, places or index_type),
    )


class _Masks:
    """The rows of a mask, as kernels take them: those of a Boolean array are listed a piece at a time."""

    def __init__(self, mask: Any, nrows: int, index_type: np.dtype) -> None:
        self.dense = mask if isinstance(mask, np.ndarray) else None
        self.index_type = index_type
        self.whole: tuple[np.ndarray, np.ndarray, int] | None = None
        if isinstance(mask, CSR):
            indptr, indices = (part.astype(index_type, copy=False) for part in (mask.indptr, mask.indices))
            self.whole = indptr, indices, 0
        elif mask is None:
            self.whole = (np.zeros(1, index_type), np.empty(0, index_type), 0)

    def rows(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Returns indptr, indices, and the row that indptr begins with."""
        if self.whole is not None:
            return self.whole
        assert self.dense is not None
        part = self.dense[start:stop]
        indptr = ends(np.count_nonzero(part, axis=1), self.index_type)
        return indptr, np.nonzero(part)[1].astype(self.index_type), start


class _Work:
    """The rows in pieces of about equal work.

    most: entries that there can be before each piece, and in all.  room: in the largest.  runs: pieces for a thread.
    """

    def __init__(self, a: Any, b: Any, masks: _Masks, ncols: int, everywhere: bool) -> None:
        self.nrows = nrows = a[0].size - 1
        mask = (a[0][:1], a[1][:0], 0) if masks.whole is None or everywhere else masks.whole
        found, first = [np.zeros((3, 1), np.int64)], 0
        rows = nrows if masks.dense is None else max(1, MAX_PIECE_WORK // max(ncols, 1))
        least = np.array([MIN_PIECE_WORK, rows])
        while first < nrows:
            part = np.empty((3, PIECES_AT_A_TIME), np.int64)
            count = cut(a[:2], b[0], mask, ncols, least, first, part)
            found.append(part[:, :count])
            first = int(part[0, count - 1])
        stops, entries, totals = np.concatenate(found, axis=1)
        entries, totals = entries.cumsum(), totals.cumsum()
        each = max(MIN_PIECE_WORK, min(MAX_PIECE_WORK, int(totals[-1]) // (8 * get_threads())))
        edges = np.arange(stops.size)
        if masks.dense is None and stops.size > 2:
            edges = np.unique(np.searchsorted(totals, np.arange(0, totals[-1] + each, each)).clip(max=stops.size - 1))
        self.pieces = list(zip(stops[edges[:-1]].tolist(), stops[edges[1:]].tolist(), strict=True))
        self.most = entries[edges]
        self.room = int(np.diff(self.most).max(initial=0))
        count = len(self.pieces)
        self.runs = [(k, k + 1) for k in range(count)] if totals[-1] >= 2 * MIN_PIECE_WORK else [(0, count)]


class _Result:
    """A CSR that pieces are appended to, in the order of their numbers, whatever order they come in.

    The system gives memory where it is written to, so arrays may be longer than what is known to be there.
    """

    def __init__(self, work: _Work, index_type: np.dtype, dtype: np.dtype, places: np.dtype | None) -> None:
        self.most = work.most
        size = min(MAX_UNSIZED_ENTRIES, int(self.most[-1]))
        self.counts = np.zeros(work.nrows, index_type)
        self.arrays = [np.empty(size, index_type), np.empty(size, dtype), np.empty(size if places else 0, places)]
        self.size, self.next = 0, 0
        self.waiting = dict[int, list[np.ndarray]]()
        self.lock = Lock()

    def add(self, number: int, *parts: np.ndarray) -> None:
        """Take the entries of a piece, which are overwritten later."""
        with self.lock:
            if number != self.next:
                self.waiting[number] = [part.copy() for part in parts]
                return
            self._append(*parts)
            while self.next in self.waiting:
                self._append(*self.waiting.pop(self.next))

    def _append(self, *parts: np.ndarray) -> None:
        stop = self.size + parts[0].size
        if stop > self.arrays[0].size:
            expected = int(1.1 * stop * float(self.most[-1]) / float(self.most[self.next + 1]))
            size = min(int(self.most[-1]), max(expected, stop + stop // 4))
            self.arrays = [self._moved(array, size) for array in self.arrays]
        for array, part in zip(self.arrays, parts, strict=True):
            array[self.size : self.size + part.size] = part
        self.size, self.next = stop, self.next + 1

    def _moved(self, old: np.ndarray, size: int) -> np.ndarray:
        new = np.empty(size if old.size else 0, old.dtype)
        new[: self.size] = old[: self.size]
        return new

    def finished(self, shape: tuple[int, int]) -> CSR:
        """The matrix."""
        for array in self.arrays:
            array.resize(min(self.size, array.size), refcheck=False)
        indices, values, _ = self.arrays
        return _of_rows(self.counts, indices, values, shape)


def _of_rows(counts: np.ndarray, indices: np.ndarray, values: np.ndarray, shape: tuple[int, int]) -> CSR:
    """The matrix of so many entries in each row."""
    index_type = index_dtype(*shape, values.size)
    return CSR.trusted(ends(counts, index_type), indices.astype(index_type, copy=False), values, shape)
