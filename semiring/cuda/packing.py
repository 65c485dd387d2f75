"""Columns packed in groups, and unpacked, on the GPU: launches of pack.cu. `formats` asks for both."""

from __future__ import annotations

import numpy as np

from formats.arrays import Array, cupy

from .steps import PACK, SUM, letters, steps_for, totals


def ranges(indices: Array) -> tuple[Array, Array, int]:
    """Returns bases, starts and count of words of groups of 32 entries: smallest columns, and where words begin."""
    k, cp = steps_for(PACK, indices.dtype), cupy()
    groups = -(-indices.size // 32)
    bases, starts = cp.empty(groups, indices.dtype), cp.empty(groups + 1, indices.dtype)
    k.loop("group_ranges", groups * 32, (indices, np.int64(indices.size), bases, starts))
    totals(starts, groups, starts, told=letters().open(SUM))
    return bases, starts, letters().read(SUM)[0]


def pack(indices: Array, bases: Array, starts: Array, filled: int, spare: int) -> Array:
    """The words of the columns' offsets from their bases, and so many spare ones, which are 0."""
    k, words = steps_for(PACK, indices.dtype), cupy().empty(filled + spare, np.uint32)
    arguments = (indices, np.int64(indices.size), bases, starts, np.int32(spare), words)
    k.loop("pack_groups", bases.size * 32, arguments)
    return words


def unpack(words: Array, bases: Array, starts: Array, nnz: int) -> Array:
    """The columns."""
    k, cp = steps_for(PACK, bases.dtype), cupy()
    indices = cp.empty(nnz, bases.dtype)
    k.loop("unpack_groups", nnz, (words, bases, starts, np.int64(nnz), indices))
    return indices
