"""Kernels of one semiring, dtype and index type: the prelude and the `.cu` files, one translation unit, by NVRTC.

A semiring is compiled once on a machine: the machine code is kept on disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formats.arrays import cupy
from formats.places import kept_by_place

from ..algebra.codegen import Index, counting, prelude, sum_bytes
from ..algebra.semirings import Law, Semiring
from .compile import load, text_of

PRODUCTS = "products"
"""The unit that most formats share."""

PACKED = "packed"
"""The unit of CompressedCSR."""

BLOCKS = "blocks"
"""The unit of compressed sparse blocks."""

CHUNKS = "chunks"
"""The unit of SELL."""

FOLDS = "folds"
"""The unit of reductions along rows or columns."""

ARGUMENTS = "arguments"
"""The unit of products that tell which term gave each element."""

WHOLE = "whole"
"""The unit of reductions to one value. It is small, for many a first call has one."""

COMMON = "threads.cu", "columns.cu", "common.cu"
"""The files that each unit begins with, behind the prelude."""

UNITS: dict[str, tuple[str, ...]] = {
    PRODUCTS: ("tiles.cu", "padded.cu", "prefix.cu", "push.cu", "segments.cu", "dense.cu"),
    FOLDS: ("tiles.cu",),
    ARGUMENTS: ("tiles.cu", "arguments.cu"),
    WHOLE: ("whole.cu",),
    BLOCKS: ("blocks.cu",),
    CHUNKS: ("prefix.cu", "push.cu", "sell.cu"),
    PACKED: ("tiles.cu", "prefix.cu", "push.cu", "found.cu", "packed.cu"),
}
"""The files of each translation unit behind COMMON, in their order. A format may bring a unit of its own."""

TERMINAL_SOURCES = ("found.cu",)
"""Further sources of PRODUCTS for a terminal ⊕: kernels that stop where a sum is final."""


@dataclass(frozen=True)
class Shape:
    """How the tiles' kernels are cut: threads of a block, and entries that each loads."""

    threads: int
    items: int


SHORT_ROWS = Shape(256, 8)
"""For rows of few entries: many rows in a tile."""

LONG_ROWS = Shape(512, 3)
"""For rows of many: 12 % faster on R-MAT graphs, and as much slower on roads."""

LONG_ROW_ENTRIES = 5
"""Entries a row, on average, from which rows are long."""

ALIGN = 32
"""Entries by which a tile may be read early, as in tiles.cu."""

PUSHED = 1024
"""Entries that a block pushes at a time."""

MAX_SORTED_PLACES = 2048
"""Places that a block sorts in shared memory after a push."""

SEGMENT_SHAPE = Shape(1024, 2)
"""For segments of rows: two such blocks leave a thread 32 registers, and more entries at a time spill more of them."""

SEGMENT_BLOCKS = 2
"""Blocks of that shape that share a multiprocessor."""


def translation_unit(
    semiring: Semiring,
    dtype: np.dtype,
    index: Index,
    matrix_first: bool = True,
    shape: Shape = SHORT_ROWS,
    unit: str = PRODUCTS,
) -> str:
    """The CUDA text of a unit's kernels for a semiring."""
    files = UNITS[unit] + TERMINAL_SOURCES if unit == PRODUCTS and semiring.add.terminal else UNITS[unit]
    constants = {
        "THREADS": shape.threads, "ITEMS": shape.items, "ALIGN": ALIGN, "PUSHED": PUSHED,
        "MAX_SORTED_PLACES": MAX_SORTED_PLACES, "SEGMENT_THREADS": SEGMENT_SHAPE.threads,
        "SEGMENT_ITEMS": SEGMENT_SHAPE.items, "SEGMENT_BLOCKS": SEGMENT_BLOCKS,
    }  # fmt: skip
    return "\n".join((prelude(semiring, dtype, index, matrix_first), text_of(COMMON + files, **constants)))


class Kernels:
    """The compiled kernels of one translation unit, each a method: `kernels.join_rows(grid, block, arguments)`.

    index: the scalar type of counts among the arguments.  block: threads of a block.  entries: that a tile of a list
    has.  steps: entries and row ends in a tile of compressed rows.  part_bytes: of a tile's two unfinished sums.
    """

    nbytes = 0
    """Bytes of arrays, as the facts of a matrix tell them: none."""

    def forget(self) -> None:
        """Nothing: other matrices have the same kernels."""

    def __init__(
        self, semiring: Semiring, dtype: np.dtype, index: Index, matrix_first: bool, shape: Shape, unit: str
    ) -> None:
        text = translation_unit(semiring, dtype, index, matrix_first, shape, unit)
        self._module = load(text, f"{semiring.name}, {dtype}")
        self._largest = 2048 // shape.threads * cupy().cuda.Device().attributes["MultiProcessorCount"]
        self.index = counting(index).type
        self.block = (shape.threads,)
        self.entries = shape.threads * shape.items
        self.steps = self.entries - ALIGN
        self.part_bytes = 2 * sum_bytes(semiring, dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        kernel = self._module.get_function(name)
        setattr(self, name, kernel)  # found at once from now on
        return kernel

    def grid(self, count: int, each: int | None = None) -> tuple[int]:
        """Blocks for `count` things, `each` in a block, but no more than keep the device busy: kernels loop."""
        return (min(max(-(-count // (each or self.block[0])), 1), self._largest),)


def kernels_for(
    semiring: Semiring,
    dtype: np.dtype,
    index: Index,
    matrix_first: bool = True,
    shape: Shape = SHORT_ROWS,
    unit: str = PRODUCTS,
) -> Kernels:
    """The kernels that compute a ⊗ x (matrix_first) or x ⊗ a. One unit serves both where ⊗ commutes."""
    return _kernels(semiring, dtype, index, matrix_first or Law.COMMUTATIVE in semiring.laws, shape, unit)


def shape_for(nnz: int, nrows: int) -> Shape:
    """The shape for rows of that many entries on average."""
    return LONG_ROWS if nnz > LONG_ROW_ENTRIES * nrows else SHORT_ROWS


_kernels = kept_by_place(512)(Kernels)
