"""Products over segments of rows: launches of segments.cu."""

from __future__ import annotations

from typing import Any

from formats import SegmentedCOO
from formats.arrays import Array, cupy

from .kernels import SEGMENT_BLOCKS, SEGMENT_SHAPE, Kernels
from .tiles import step_of

RESERVED = 1024
"""Bytes of shared memory that the system takes of each block."""


def fits(A: SegmentedCOO) -> bool:
    """Is there shared memory for a segment's results?"""
    return A.segment * A.dtype.itemsize <= _attribute("MaxSharedMemoryPerBlockOptin")


def gather(k: Kernels, A: SegmentedCOO, x: Array, y: Array) -> None:
    """y_i = ⊕_k a_ik ⊗ x_k along the segments' rows. y is the zero at first, and ⊕ idempotent."""
    if A.nnz == 0:
        return
    shared = -(-A.segment * A.dtype.itemsize // 4) * 4  # an atomic on a Boolean takes the word around it
    kernel, most = k.gather_segments, _attribute("MaxSharedMemoryPerBlockOptin")
    if kernel.max_dynamic_shared_size_bytes < most:  # the same from every thread
        kernel.max_dynamic_shared_size_bytes = most
    resident = _attribute("MaxSharedMemoryPerMultiprocessor") // (shared + RESERVED)
    kernel(_grid(A, resident), _BLOCK, (*_entries(k, A), k.index(y.size), x, y), shared_mem=shared)


def scatter(k: Kernels, A: SegmentedCOO, x: Array, y: Array) -> None:
    """y_k ⊕= a_ik ⊗ x_i across the segments. y is the zero at first, and ⊕ idempotent."""
    if A.nnz:
        k.scatter_segments(_grid(A, SEGMENT_BLOCKS), _BLOCK, (*_entries(k, A), x, y))


_BLOCK = (SEGMENT_SHAPE.threads,)


def _entries(k: Kernels, A: SegmentedCOO) -> tuple[Any, ...]:
    """What both kernels take first."""
    counts = (k.index(A.starts.size - 1), k.index(A.nnz), k.index(A.segment))
    return A.offsets, A.indices, A.values, step_of(A.values, k.index), A.starts, *counts


def _grid(A: SegmentedCOO, resident: int) -> tuple[int]:
    """As many blocks as the device runs at a time, and no more than have something to do."""
    most = max(1, min(resident, SEGMENT_BLOCKS)) * _attribute("MultiProcessorCount")
    return (min(most, -(-A.nnz // (SEGMENT_SHAPE.threads * SEGMENT_SHAPE.items))),)


def _attribute(name: str) -> int:
    return int(cupy().cuda.Device().attributes[name])
