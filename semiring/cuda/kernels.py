"""Kernels of one semiring, dtype and index type: the prelude and the `.cu` files, one translation unit, by NVRTC.

A semiring is compiled once on a machine: the machine code is kept on disk.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from formats.arrays import cupy

from ..algebra import Law, Semiring
from ..codegen import prelude
from .compile import load

SOURCES = ("tiles.cu", "padded.cu", "push.cu")
"""The kernels, in the order of the translation unit."""

BLOCK = (256,)
"""Threads of a block, in every kernel."""

ITEMS = 8
"""Terms of a tile that each thread folds."""

TILE = BLOCK[0] * ITEMS
"""Entries and row ends in a tile."""

PUSHED = 1024
"""Entries that a block pushes at a time."""

PART_BYTES = 64
"""Bytes of a tile's two unfinished sums, of the largest kind."""


def translation_unit(semiring: Semiring, dtype: np.dtype, index_dtype: np.dtype, matrix_first: bool = True) -> str:
    """The CUDA text of all kernels for a semiring."""
    here = Path(__file__).parent
    files = [(here / name).read_text(encoding="utf-8") for name in SOURCES]
    sizes = f"constexpr int THREADS = {BLOCK[0]}, ITEMS = {ITEMS}, ENTRIES = {TILE}, PUSHED = {PUSHED};\n"
    return "\n".join((prelude(semiring, dtype, index_dtype, matrix_first), sizes, *files))


class Kernels:
    """The compiled kernels of one translation unit, each a method: `kernels.join_rows(grid, BLOCK, arguments)`.

    index: the scalar type of counts among the arguments.
    """

    def __init__(self, semiring: Semiring, dtype: np.dtype, index_dtype: np.dtype, matrix_first: bool) -> None:
        cp = cupy()
        self._module = load(translation_unit(semiring, dtype, index_dtype, matrix_first))
        self.index = index_dtype.type
        self._largest = 8 * cp.cuda.Device().attributes["MultiProcessorCount"]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        kernel = self._module.get_function(name)
        setattr(self, name, kernel)  # found at once from now on
        return kernel

    def grid(self, count: int, each: int = BLOCK[0]) -> tuple[int]:
        """Blocks for `count` things, `each` in a block, but no more than keep the device busy: kernels loop."""
        return (min(max(-(-count // each), 1), self._largest),)


def kernels_for(semiring: Semiring, dtype: np.dtype, index_dtype: np.dtype, matrix_first: bool = True) -> Kernels:
    """The kernels that compute a ⊗ x (matrix_first) or x ⊗ a. One unit serves both where ⊗ commutes."""
    return _kernels(semiring, dtype, index_dtype, matrix_first or Law.COMMUTATIVE in semiring.laws)


_kernels = lru_cache(maxsize=512)(Kernels)
