"""The push of a sparse operand: launches of push.cu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import Matrix, SparseVector
from formats.arrays import Array, cupy
from formats.matrix.facts import Fact

from ..algebra.semirings import Semiring
from .kernels import MAX_SORTED_PLACES, PUSHED, Kernels
from .steps import NOTHING, SUM, WORD_BITS, letters, totals
from .tiles import step_of

MIN_BITMAP_NNZ = 512
"""Elements of x from which more places than a block sorts are expected. Either way serves any number."""

MAX_SCANNED_ROWS = 4096
"""Rows whose lengths one block scans; of more, all blocks take part."""

Marks = tuple[Array, Array, Any]
"""y, the places where it is no longer the zero, and their number; or, with a null pointer for that, bits for places."""

Launch = Callable[[Kernels, Any, Array, Array, Marks], None]
"""A launch (k, A, rows, weights, marks) of y_k ⊕= a_ik ⊗ weights_i for the given rows."""


SCRATCH: Fact[Scratch] = Fact("what a push writes to")


class Scratch:
    """The arrays that a push writes to, kept with the matrix; between calls y is the zero and no place is noted.

    reached, nreached: a list of places.  bits: a bit for each place, and `before`, how many are set before each word.
    """

    def __init__(self, size: int, zero: Any, dtype: np.dtype, index_type: np.dtype) -> None:
        cp, words = cupy(), -(-size // WORD_BITS)
        self.y, self.reached = cp.full(size, zero, dtype), cp.empty(size, index_type)
        self.nreached, self.bits = cp.zeros(1, np.uint64), cp.zeros(words, np.uint32)
        self.before = cp.empty(words + 1, index_type)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in vars(self).values())


def push(k: Kernels, A: Matrix, x: SparseVector, semiring: Semiring, launch: Launch) -> SparseVector:
    """y_k ⊕= a_ik ⊗ x_i over the present x_i. ⊕ is idempotent. Waits for the device: the result's size is a number.

    launch: of the kernels for A's storage.  Two calls at a time never share what they write to.
    """
    cp = cupy()
    size, zero = A.shape[1 - A.major], semiring.zero(A.dtype)
    index_type = np.dtype(k.index)
    if x.nnz == 0 or A.nnz == 0 or size == 0:
        return SparseVector.trusted(cp.empty(0, index_type), cp.empty(0, A.dtype), size)
    scratch = A.take(SCRATCH, zero) or Scratch(size, zero, A.dtype, index_type)
    rows, weights = x.indices.astype(index_type, copy=False), cp.ascontiguousarray(x.values)
    found = None
    if x.nnz < MIN_BITMAP_NNZ:
        launch(k, A, rows, weights, (scratch.y, scratch.reached, scratch.nreached))
        found = _listed(k, scratch, size)
    else:
        launch(k, A, rows, weights, (scratch.y, scratch.bits, NOTHING))
    places, values = _marked(k, scratch) if found is None else found
    A.keep(SCRATCH, lambda: scratch, zero)
    return SparseVector.trusted(places, values, size)


def _listed(k: Kernels, scratch: Scratch, size: int) -> tuple[Array, Array] | None:
    """Sorts the listed places by one block, and returns them with their values; None, and bits, if they are more."""
    cp, room = cupy(), min(size, MAX_SORTED_PLACES)
    places, values = cp.empty(room, scratch.reached.dtype), cp.empty(room, scratch.y.dtype)
    listed = (scratch.reached, scratch.nreached)
    k.take_sorted((1,), k.block, (*listed, letters().open(SUM), scratch.y, places, values))
    (count,) = letters().read(SUM)
    if count <= room:
        return places[:count], values[:count]
    k.mark_reached(k.grid(count), k.block, (scratch.reached, np.uint64(count), scratch.nreached, scratch.bits))
    return None


def _marked(k: Kernels, scratch: Scratch) -> tuple[Array, Array]:
    """Returns the places that have a bit, in order by a scan of the words, and their values."""
    cp, words = cupy(), scratch.bits.size
    totals(scratch.bits, words, scratch.before, "bits", letters().open(SUM))
    (count,) = letters().read(SUM)
    places, values = cp.empty(count, scratch.before.dtype), cp.empty(count, scratch.y.dtype)
    k.take_marked(k.grid(words), k.block, (scratch.bits, np.int64(words), scratch.before, scratch.y, places, values))
    return places, values


def compressed_spans(k: Kernels, indptr: Array, rows: Array) -> tuple[Array, Array]:
    """Returns where the entries of the given rows start and end; see `push_spans`."""
    count = rows.size
    if count > MAX_SCANNED_ROWS:
        return spans_by(k, k.spans_compressed, rows, indptr)
    spans = cupy().empty(2 * count, rows.dtype)
    k.spans_scanned((1,), k.block, (rows, k.index(count), indptr, spans))
    return spans, spans[count:]


def spans_by(k: Kernels, kernel: Any, rows: Array, *places: Any) -> tuple[Array, Array]:
    """Returns the spans of the given rows, which a kernel finds in the places; see `push_spans`."""
    starts, lengths = (cupy().empty(rows.size, rows.dtype) for _ in range(2))
    kernel(k.grid(rows.size), k.block, (rows, k.index(rows.size), *places, starts, lengths))
    return starts, cupy().cumsum(lengths, dtype=lengths.dtype)


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
