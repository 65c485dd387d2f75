"""The push of a sparse operand: launches of push.cu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import Matrix, SparseVector
from formats.arrays import Array, cupy, differs

from ..algebra import Semiring
from .kernels import PUSHED, SORTED_AT_ONCE, Kernels
from .tiles import step_of

SCAN_FROM = 1 / 8
"""Share of y above which finding the reached places by a scan of y is faster than sorting them."""

SCANNED_AT_ONCE = 4096
"""Rows whose lengths one block scans; of more, all blocks take part."""

Marks = tuple[Array, Array, Array]
"""y, the places that it has left the zero at, and how many."""

Launch = Callable[[Kernels, Any, Array, Array, Marks], None]
"""(k, A, rows, weights, marks): y_k ⊕= a_ik ⊗ weights_i for the given rows."""


class Scratch:
    """What a push writes to, kept with the matrix: y is the zero everywhere and no place is noted between calls.

    marks: see `Marks`.  told: a number on the host that kernels write to.
    """

    def __init__(self, size: int, zero: Any, dtype: np.dtype, index_type: np.dtype) -> None:
        cp = cupy()
        self.marks = (cp.full(size, zero, dtype), cp.empty(size, index_type), cp.zeros(1, np.uint64))
        self._pinned = cp.cuda.alloc_pinned_memory(8)
        self._told = np.frombuffer(self._pinned, np.uint64, 1)
        self.told = np.uintp(self._pinned.ptr)

    def count(self) -> int:
        """The places that were reached. Waits for the device."""
        cupy().cuda.get_current_stream().synchronize()
        return int(self._told[0])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.marks)


def push(k: Kernels, A: Matrix, x: SparseVector, semiring: Semiring, launch: Launch) -> SparseVector:
    """y_k ⊕= a_ik ⊗ x_i over the present x_i. ⊕ is idempotent. Waits for the device: the result's size is a number.

    launch: of the kernels for A's storage.  Two calls at a time never share what they write to.
    """
    cp = cupy()
    size, zero = A.shape[1 - A.major], semiring.zero(A.dtype)
    index_type = np.dtype(k.index)
    if x.nnz == 0 or A.nnz == 0 or size == 0:
        return SparseVector.trusted(cp.empty(0, index_type), cp.empty(0, A.dtype), size)
    key = ("scratch", A.dtype, zero)
    scratch = A.take(key) or Scratch(size, zero, A.dtype, index_type)
    y, reached, nreached = scratch.marks
    rows, weights = x.indices.astype(index_type, copy=False), cp.ascontiguousarray(x.values)
    launch(k, A, rows, weights, scratch.marks)
    room = min(size, SORTED_AT_ONCE)
    places, values = cp.empty(room, index_type), cp.empty(room, A.dtype)
    k.take_sorted((1,), k.block, (reached, nreached, scratch.told, y, places, values))
    count = scratch.count()
    if count > room:
        if count > size * SCAN_FROM:
            places = cp.flatnonzero(differs(y, zero)).astype(index_type, copy=False)
        else:
            places = cp.sort(reached[:count])
        values = cp.empty(count, A.dtype)
        k.take_reached(k.grid(count), k.block, (places, k.index(count), y, values))
    elif count < room:
        places, values = places[:count], values[:count]
    A.keep(key, lambda: scratch)
    return SparseVector.trusted(places, values, size)


def compressed_spans(k: Kernels, indptr: Array, rows: Array) -> tuple[Array, Array]:
    """(starts, ends) of the given rows' entries; see `push_spans`."""
    cp, count = cupy(), rows.size
    if count <= SCANNED_AT_ONCE:
        spans = cp.empty(2 * count, rows.dtype)
        k.spans_scanned((1,), k.block, (rows, k.index(count), indptr, spans))
        return spans, spans[count:]
    starts, lengths = (cp.empty(count, rows.dtype) for _ in range(2))
    k.spans_compressed(k.grid(count), k.block, (rows, k.index(count), indptr, starts, lengths))
    return starts, ends_of(lengths)


def ends_of(lengths: Array) -> Array:
    """How many entries there are in each span and those before it."""
    return cupy().cumsum(lengths, dtype=lengths.dtype)


def push_spans(
    k: Kernels,
    kernel: Any,
    A: Matrix,
    columns: tuple[Any, ...],
    spans: tuple[Array, Array],
    weights: Array,
    marks: Marks,
) -> None:
    """Push spans of A's entries by a kernel that takes their columns so.

    spans: (where each starts among A's entries, how many entries there are in it and those before it).
    """
    starts, ends = spans
    entries = (*columns, A.values, step_of(A.values, k.index))
    arguments = (starts, ends, weights, k.index(weights.size), *entries, *marks)
    kernel(k.grid(A.nnz, PUSHED), k.block, arguments)
