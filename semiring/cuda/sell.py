"""Products over chunks of sorted rows: launches of sell.cu, a warp for each 32 rows or for a part of their slots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formats import SELL
from formats.arrays import Array, cupy, namespace
from formats.matrix.facts import Fact
from formats.storage.compressed import expand

from ..algebra.semirings import Semiring
from .kernels import CHUNKS, Kernels
from .push import Marks, push_spans, spans_by
from .storage import Products, products_for
from .tiles import step_of

LANES = 32
"""Positions in a strip: a warp's."""

PIECE = 64
"""Slots of a strip that one warp goes through at most: 16 rounds of four."""


CUTS: Fact[Cuts] = Fact("pieces of chunks")


@dataclass(frozen=True)
class Cuts:
    """How strips are cut into parts, see sell.cu.

    first_part: (strips + 1,).  strip_of: (parts,).  strips: (cut,), the numbers of the strips that are cut.
    """

    first_part: Array
    strip_of: Array
    strips: Array

    @property
    def nbytes(self) -> int:
        return self.first_part.nbytes + self.strip_of.nbytes + self.strips.nbytes


def cut_strips(A: SELL, piece: int = PIECE) -> Cuts:
    """The cuts of a matrix, into parts of `piece` slots."""
    xp, index_type, nrows = namespace(A.starts), A.starts.dtype, A.rows.size
    widths = xp.zeros((-(-nrows // LANES), LANES), index_type)
    widths.reshape(-1)[:nrows] = (xp.diff(A.starts) // A.chunk)[xp.arange(nrows) // A.chunk]
    count = -(-widths.max(axis=1) // piece) if nrows else widths.reshape(-1)
    count[count == 1] = 0
    first_part = xp.zeros(count.size + 1, index_type)
    xp.cumsum(count, out=first_part[1:])
    return Cuts(first_part, expand(first_part), xp.flatnonzero(count).astype(index_type))


@products_for(SELL)
class Sell(Products):
    """Sums are in the order of the entries along the rows; across them atomics decide, so ⊕ is idempotent.

    A sparse x is pushed from the chunks themselves. That reads a sector for each index and value, where compressed rows
    would share them; but those take as much memory again, and a conversion at the first push.
    """

    unit = CHUNKS

    def gather(self, k: Kernels, A: Any, x: Array, semiring: Semiring, allowed: Array | None) -> Array:
        cp = cupy()
        y = cp.empty(A.shape[A.major], A.dtype)
        if y.size:
            cuts, work, grid = _work(k, A)
            parts = cp.empty(cuts.strip_of.size * LANES * k.part_bytes // 2, np.uint8)
            k.gather_sell(grid, k.block, (*work, x, y, parts))
            count = cuts.strips.size
            if count:
                rows = (cuts.strips, k.index(count), cuts.first_part, A.rows, k.index(y.size))
                k.join_parts(k.grid(count, 1), k.block, (*rows, parts, y))
        return y

    def scatter(self, k: Kernels, A: Any, x: Array, semiring: Semiring) -> Array:
        y = cupy().full(A.shape[1 - A.major], semiring.zero(A.dtype), A.dtype)
        if A.nnz:
            _, work, grid = _work(k, A)
            k.scatter_sell(grid, k.block, (*work, x, y))
        return y

    def push_rows(self, k: Kernels, A: Any, rows: Array, weights: Array, marks: Marks) -> None:
        chunk = k.index(A.chunk)
        spans = spans_by(k, k.spans_sell, rows, A.indices, A.starts, A.positions, chunk)  # with a stride
        push_spans(k, k.push_sell, A, (chunk, A.indices), spans, weights, marks)


def _work(k: Kernels, A: Any) -> tuple[Cuts, tuple[Any, ...], tuple[int]]:
    """Returns the cuts, the first arguments of the kernels on chunks, and their grid."""
    cuts = A.keep(CUTS, lambda: cut_strips(A))
    nparts, nstrips = cuts.strip_of.size, cuts.first_part.size - 1
    entries = (A.indices, A.values, step_of(A.values, k.index), A.starts, A.rows)
    sizes = (k.index(A.chunk), k.index(A.rows.size))
    work = (cuts.first_part, cuts.strip_of, k.index(nparts), k.index(nstrips), k.index(PIECE))
    return cuts, (*entries, *sizes, *work), (-(-(nparts + nstrips) * LANES // k.block[0]),)
