"""Products over compressed sparse blocks: how blocks are cut into pieces and dealt out, and launches of blocks.cu.

The pieces depend on the matrix alone. They are found on the device at the first product and kept with the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formats import CSB
from formats.arrays import Array, cupy, namespace
from formats.matrix.facts import Fact
from formats.storage.compressed import expand
from formats.storage.csb import BLOCK

from ..algebra.semirings import Semiring
from .compile import let_share
from .kernels import BLOCKS, Kernels, Shape
from .segments import RESERVED, attribute
from .storage import Products, in_any_order, products_for
from .tiles import step_of

SHAPE = Shape(1024, 4)
"""Threads of a block, and entries that each has under way: what 32 registers hold without a spill."""

RESIDENT = 2
"""Such blocks on a multiprocessor; one, of values of 8 bytes."""

ALIGN = 32
"""Entries of a warp's read, and where one begins."""

PIECE = 1024
"""Entries of a piece at most."""

PIECE_COST = 64
"""Cost of a piece beside its entries, in entries: a warp's wait for where it begins; assumed, not measured."""

SECTOR = 32
"""Bytes that the L2 gives for one x."""

REUSE = 1.6
"""Minimum entries that share a sector of x, within a row of blocks, for one phase to be faster.

It counts where x has more elements than the L2 has words; below, one phase always is. Interpolated: see "Blocks" in
docs/architecture.md."""

MAX_UNEVENNESS = 1.1
"""The cost that a share of whole segments may have, over the cost of an even share.

Whole segments are preferred: a segment that two blocks of threads share goes through atomics in memory."""


IN_ONE_PHASE: Fact[bool] = Fact("a product in one phase is faster")
PIECES: Fact[Pieces] = Fact("pieces of blocks")
"""The fact takes an argument that is true along columns."""


@dataclass(frozen=True)
class Pieces:
    """Runs of entries, each of one block, by the rows of blocks or by the columns, which are called segments here.

    begins, ends: (pieces,), entries.  others: (pieces,), of each its block's number within the segment.
    firsts: (segments + 1,), where each segment's pieces begin.  cuts: (shares + 1,), where each share's do, of about
    equal cost.
    """

    begins: Array
    ends: Array
    others: Array
    firsts: Array
    cuts: Array

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in (self.begins, self.ends, self.others, self.firsts, self.cuts))


def cut_blocks(A: CSB, by_columns: bool, most: int) -> Pieces:
    """The pieces of A's rows of blocks, or columns, in `most` shares or fewer. Waits for the device.

    "Row" is the stored orientation's.
    """
    xp, starts, (rows, width) = namespace(A.starts), A.starts, A.grid
    count, each = (width, rows) if by_columns else (rows, width)
    numbers = xp.arange(rows * width)
    if by_columns:
        numbers = numbers.reshape(rows, width).T.ravel()
    begins, ends = starts[numbers], starts[numbers + 1]
    lines = begins // ALIGN * ALIGN  # where pieces begin but for a block's first: at a sector's boundary
    lengths = ends - lines
    before = xp.zeros(rows * width + 1, starts.dtype)
    xp.cumsum(xp.where(ends > begins, -(-lengths // PIECE), 0), out=before[1:])
    block = expand(before)  # of each piece, its block in this order
    from_line = (xp.arange(block.size, dtype=starts.dtype) - before[block]) * PIECE
    ends = lines[block] + xp.minimum(from_line + PIECE, lengths[block])
    begins = xp.maximum(begins[block], lines[block] + from_line)
    firsts = before[xp.arange(count + 1) * each]
    cuts = _shares(ends - begins, firsts, A.block, min(most, -(-block.size // (SHAPE.threads // 32))))
    return Pieces(begins, ends, (block % max(each, 1)).astype(starts.dtype), firsts, cuts.astype(starts.dtype))


def _shares(lengths: Array, firsts: Array, block: int, count: int) -> Array:
    """Cuts pieces of these lengths into at most `count` shares of about equal cost, of whole segments where possible.

    A new segment costs its part of a vector.
    """
    xp = namespace(lengths)
    cost = lengths.astype(np.int64) + PIECE_COST
    filled = firsts[:-1][firsts[1:] > firsts[:-1]]
    cost[filled] += block // 2  # 4 bytes a value, where an entry takes about 8
    before = xp.zeros(cost.size + 1, np.int64)
    xp.cumsum(cost, out=before[1:])
    total = int(before[-1])
    whole = xp.append(firsts[: -1 : -(-(firsts.size - 1) // count)], firsts[-1:])
    if int(xp.diff(before[whole]).max()) * count <= MAX_UNEVENNESS * total:
        return whole
    within = xp.arange(1, count, dtype=np.int64) * total // count
    ends = xp.array([0]), xp.searchsorted(before[1:], within), xp.array([lengths.size])
    return xp.concatenate(ends)


def sectors(A: CSB) -> int:
    """How many sectors of x the rows of blocks read in all, in their order. Waits for the device."""
    numbers = A.offsets[1] // np.uint16(max(SECTOR // A.dtype.itemsize, 1))
    return 1 + int((numbers[1:] != numbers[:-1]).sum())


@products_for(CSB)
class Blocks(Products):
    """Atomics decide, so ⊕ is idempotent; sums go through kept rows or columns.

    Two phases take scratch memory for nnz values, from CuPy's pool and for the time of the call.
    """

    unit = BLOCKS
    turned = True
    push_below = 0.0

    def shape(self, A: CSB) -> tuple[Shape, np.dtype]:
        return SHAPE, A.starts.dtype

    def gathers(self, A: Any, semiring: Semiring) -> bool:
        """True if shared memory also holds a segment of a vector."""
        block = getattr(A, "block", BLOCK)  # A is of another format where `footprint` asks
        return in_any_order(semiring) and block * A.dtype.itemsize <= attribute("MaxSharedMemoryPerBlockOptin")

    def scatters(self, A: Any, semiring: Semiring) -> bool:
        return self.gathers(A, semiring)

    def holds(self, A: Any) -> dict[str, int]:
        """Bytes of two phases, without the pieces, some bytes for a thousand entries. A may be of another format."""
        return {"products of the entries": A.nnz * A.dtype.itemsize}

    def gather(self, k: Kernels, A: CSB, x: Array, semiring: Semiring, allowed: Array | None) -> Array:
        y = cupy().full(A.shape[A.major], semiring.zero(A.dtype), A.dtype)
        if A.nnz:
            if A.keep(IN_ONE_PHASE, lambda: _reuses(A, x.size)):
                gather_at_once(k, A, x, y)
            else:
                in_two_phases(k, A, x, y, gathers=True)
        return y

    def scatter(self, k: Kernels, A: CSB, x: Array, semiring: Semiring) -> Array:
        y = cupy().full(A.shape[1 - A.major], semiring.zero(A.dtype), A.dtype)
        if A.nnz:
            in_two_phases(k, A, x, y, gathers=False)
        return y


def in_two_phases(k: Kernels, A: CSB, x: Array, y: Array, *, gathers: bool) -> None:
    """y_i = ⊕_k a_ik ⊗ x_k, or with not `gathers` y_k = ⊕_i a_ik ⊗ x_i. y is the zero at first."""
    products = cupy().empty(A.nnz, A.dtype)
    multiply(k, A, x, products, gathers=gathers)
    fold(k, A, products, y, gathers=gathers)


def multiply(k: Kernels, A: CSB, x: Array, products: Array, *, gathers: bool) -> None:
    """The first phase: products (nnz,) of every entry with its x."""
    offsets = A.offsets[1 if gathers else 0]
    entries = (offsets, A.values, step_of(A.values, k.index))
    _launch(k.multiply_blocks, k, A, gathers, *entries, k.index(x.size), x, products)


def fold(k: Kernels, A: CSB, products: Array, y: Array, *, gathers: bool) -> None:
    """The second phase: ⊕ of the products of each y."""
    _launch(k.fold_blocks, k, A, not gathers, A.offsets[0 if gathers else 1], products, k.index(y.size), y)


def gather_at_once(k: Kernels, A: CSB, x: Array, y: Array) -> None:
    """y_i = ⊕_k a_ik ⊗ x_k in one phase. y is the zero at first."""
    to, source = A.offsets
    others = _pieces(A, by_columns=False).others
    entries = (to, others, source, A.values, step_of(A.values, k.index), x)
    _launch(k.gather_blocks, k, A, False, *entries, k.index(y.size), y)


def _reuses(A: CSB, extent: int) -> bool:
    """True if one phase is faster: x is in the L2, or many entries share a sector of it. Waits for the device."""
    return 4 * extent <= attribute("L2CacheSize") or A.nnz >= REUSE * sectors(A)


def _launch(kernel: Any, k: Kernels, A: CSB, by_columns: bool, *arguments: Any) -> None:
    """A kernel on the shares of the pieces, with shared memory for one segment."""
    pieces, most = _pieces(A, by_columns), attribute("MaxSharedMemoryPerBlockOptin")
    let_share(kernel, most)  # the same from every thread
    listed = (pieces.begins, pieces.ends, pieces.firsts, k.index(pieces.firsts.size - 1), pieces.cuts)
    grid = (pieces.cuts.size - 1,)
    kernel(grid, k.block, (*listed, k.index(A.block), *arguments), shared_mem=_shared(A))


def _pieces(A: CSB, by_columns: bool) -> Pieces:
    """Found once; a matrix and its transpose keep one."""
    base: Any = A if A.major == 0 else A.T
    return base.keep(PIECES, lambda: cut_blocks(A, by_columns, _resident(A)), by_columns)


def _resident(A: CSB) -> int:
    """How many blocks of threads the device runs at a time."""
    most = 1 if A.dtype.itemsize > 4 else RESIDENT
    fits = attribute("MaxSharedMemoryPerMultiprocessor") // (_shared(A) + RESERVED)
    return max(1, min(most, fits)) * attribute("MultiProcessorCount")


def _shared(A: CSB) -> int:
    """Bytes of a segment: an atomic on a Boolean takes the word around it."""
    return -(-A.block * A.dtype.itemsize // 4) * 4
