"""Large arrays of the host in memory that an earlier one lay in: new pages take longer to come than to be written.

The system clears each page before it hands it out, and that of a virtual machine has to find it first. So the memory of
the last large array is kept when nobody holds the array any more. The system may take its pages when it needs some
(MADV_FREE), and counts them as available; under a limit of the user's they are given back.
"""

from __future__ import annotations

import math
import mmap
import sys
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

SMALLEST, LARGEST = 32 * 2**20, 2**30
"""Bytes of an array whose memory is kept. The C library keeps that of smaller ones."""

Mapped = TypeVar("Mapped", bound=mmap.mmap)
_kept: list[_Block] = []


class _Block(mmap.mmap):
    """Pages that one array at a time lies in."""

    address: int


class _Lent:
    """A block as an array's memory, for as long as somebody holds the array."""

    def __init__(self, block: _Block, shape: Sequence[int], dtype: np.dtype) -> None:
        self.block = block
        self.__array_interface__ = {
            "shape": tuple(shape), "typestr": dtype.str, "data": (block.address, False), "version": 3
        }  # fmt: skip

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.block.madvise(mmap.MADV_FREE)
            _kept[:] = [self.block]


def empty(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """As NumPy's, if large in memory that is used again."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if not (SMALLEST <= size <= LARGEST and hasattr(mmap, "MADV_FREE")):
        return np.empty(shape, dtype)
    try:
        block = _kept.pop()
        fits = size <= len(block) <= 2 * size
    except IndexError:
        fits = False
    return np.asarray(_Lent(block if fits else _new(size), shape, dtype))


def thin(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """As NumPy's, of small pages, for what is written here and there: a large page is cleared as a whole."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not (size and hasattr(mmap, "MADV_NOHUGEPAGE")):
        return np.empty(shape, dtype)
    block = _mapped(mmap.mmap, size)
    block.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(block, dtype).reshape(shape)


def give_back() -> None:
    """Let the system have what is kept."""
    _kept.clear()


def _mapped(kind: type[Mapped], size: int) -> Mapped:
    try:
        return kind(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no room for {size:,} bytes") from error


def _new(size: int) -> _Block:
    block = _mapped(_Block, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        block.madvise(mmap.MADV_HUGEPAGE)
    block.address = np.frombuffer(block, np.uint8).ctypes.data
    return block
