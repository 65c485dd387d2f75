"""Columns packed in groups, and unpacked, on the GPU: launches of pack.cu. `formats` asks for both."""

from __future__ import annotations

import numpy as np

from formats.arrays import Array, cupy

from .steps import PACK, steps_for, totals


def ranges(indices: Array) -> tuple[Array, Array]:
    """(bases, starts) of the groups of 32 entries: their smallest columns, and where their words begin."""
    k, cp = steps_for(PACK, indices.dtype), cupy()
    groups = -(-indices.size // 32)
    bases, starts = cp.empty(groups, indices.dtype), cp.empty(groups + 1, indices.dtype)
    k.each("group_ranges", groups * 32, (indices, np.int64(indices.size), bases, starts))
    totals(starts, groups, starts)
    return bases, starts


def pack(indices: Array, bases: Array, starts: Array, words: Array) -> None:
    """Put the offsets of the columns from their bases into the words."""
    k = steps_for(PACK, indices.dtype)
    k.each("pack_groups", bases.size * 32, (indices, np.int64(indices.size), bases, starts, words))


def unpack(words: Array, bases: Array, starts: Array, nnz: int) -> Array:
    """The columns."""
    k, cp = steps_for(PACK, bases.dtype), cupy()
    indices = cp.empty(nnz, bases.dtype)
    k.each("unpack_groups", nnz, (words, bases, starts, np.int64(nnz), indices))
    return indices
