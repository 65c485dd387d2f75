"""Bytes that a conversion allocates at most, from a matrix's extents alone.

A conversion is registered with `needs`, a function (sizes, source bytes, target bytes) -> bytes that it allocates at
most at one time, the result among them and what it shares with its source not. The figures follow the arrays that the
code makes; NumPy turns every index array into 64 bits before it looks up or counts by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..places import Device, Place, backend_of
from .contract import Storage

WORD = 8
"""Bytes of an index as NumPy and CuPy look up, count and sort by it."""

FEW_OF_ALL = 8
"""With fewer entries than one in so many rows, those of a row are counted where they are wanted, without words."""

MIN_NNZ_FOR_BLOCKS = 1 << 18
"""Minimum entries for several threads to turn rows into columns faster than one does."""


@dataclass(frozen=True)
class Sizes:
    """A matrix's extents: shape, major axis, entries, bytes of a value and an index, and its place's backend."""

    shape: tuple[int, int]
    major: int
    nnz: int
    value: int
    index: int
    backend: str

    @classmethod
    def of(cls, A: Storage, device: Device | Place) -> Sizes:
        return cls(A.shape, A.major, A.nnz, A.dtype.itemsize, A._index_dtype.itemsize, backend_of(device))

    @property
    def T(self) -> Sizes:
        return Sizes(self.shape[::-1], 1 - self.major, self.nnz, self.value, self.index, self.backend)

    @property
    def on_gpu(self) -> bool:
        return self.backend == "cuda"

    @property
    def places(self) -> int:
        """Positions of the matrix, absent ones too."""
        return self.shape[0] * self.shape[1]

    def compressed(self, axis: int) -> int:
        """Bytes of CSR (axis 0) or CSC (axis 1)."""
        return (self.shape[axis] + 1) * self.index + self.nnz * (self.index + self.value)

    def compress(self, axis: int) -> int:
        """Needs of `compressed.compress`: counts in words, indptr, and the indices in words, where they are counted."""
        words = self.shape[axis] if self.on_gpu else self.nnz + min(self.shape[axis], FEW_OF_ALL * self.nnz)
        return self.shape[axis] * self.index + words * WORD

    def expand(self, axis: int) -> int:
        """Needs of `compressed.expand`: the index of each entry; on a GPU it counts starts in words first."""
        if self.on_gpu:
            return self.nnz * (WORD + 2 * self.index) + self.shape[axis] * self.index
        return self.nnz * self.index + self.shape[axis] * (2 * self.index + WORD)

    def turn(self, axis: int) -> int:
        """Needs of `compressed.turn` to lines along `axis`; a GPU and threads hold the entries of two passes."""
        patterns = self.nnz if self.value == 1 else 0  # which are made an array first
        if self.on_gpu:
            return self.compressed(axis) + self.nnz * (3 * self.index + self.value + 2) + patterns
        dealt = self.nnz * (2 * self.index + self.value) if self.nnz >= MIN_NNZ_FOR_BLOCKS else 0
        return self.compressed(axis) + patterns + dealt

    def look_up(self, axes: int) -> int:
        """Needs of a look-up of every entry by arrays of indices along so many axes."""
        return self.nnz * WORD * (axes + (1 if self.on_gpu else 0))

    def mask(self, places: int) -> int:
        """Needs of a choice by a Boolean for each of so many places; on a GPU these are made words, and summed up."""
        return places * (1 + 2 * WORD if self.on_gpu else 1)


Needs = Callable[[Sizes, int, int], int]


def unknown(s: Sizes, source: int, target: int) -> int:
    """Needs of a conversion that is registered without: the target twice, and the source as CSR and in order."""
    return 2 * target + s.compressed(0) + s.nnz * WORD
