"""Products over segments of rows: launches of segments.cu."""

from __future__ import annotations

from typing import Any

from formats import SegmentedCOO
from formats.arrays import Array, cupy

from ..algebra.semirings import Semiring
from .compile import let_share
from .kernels import SEGMENT_BLOCKS, SEGMENT_SHAPE, Kernels
from .storage import Products, in_any_order, products_for
from .tiles import step_of

RESERVED = 1024
"""Bytes of shared memory that the system takes of each block."""


@products_for(SegmentedCOO)
class Segmented(Products):
    """Atomics decide, so ⊕ is idempotent; sums go through kept rows or columns."""

    turned = True
    push_below = 0.0

    def gathers(self, A: SegmentedCOO, semiring: Semiring) -> bool:
        """True if shared memory also holds the results of a segment."""
        return in_any_order(semiring) and A.segment * A.dtype.itemsize <= attribute("MaxSharedMemoryPerBlockOptin")

    def gather(self, k: Kernels, A: SegmentedCOO, x: Array, semiring: Semiring, allowed: Array | None) -> Array:
        y = cupy().full(A.shape[A.major], semiring.zero(A.dtype), A.dtype)
        if A.nnz == 0:
            return y
        shared = -(-A.segment * A.dtype.itemsize // 4) * 4  # an atomic on a Boolean takes the word around it
        kernel, most = k.gather_segments, attribute("MaxSharedMemoryPerBlockOptin")
        let_share(kernel, most)  # the same from every thread
        resident = attribute("MaxSharedMemoryPerMultiprocessor") // (shared + RESERVED)
        kernel(_grid(A, resident), _BLOCK, (*_entries(k, A), k.index(y.size), x, y), shared_mem=shared)
        return y

    def scatter(self, k: Kernels, A: SegmentedCOO, x: Array, semiring: Semiring) -> Array:
        y = cupy().full(A.shape[1 - A.major], semiring.zero(A.dtype), A.dtype)
        if A.nnz:
            k.scatter_segments(_grid(A, SEGMENT_BLOCKS), _BLOCK, (*_entries(k, A), x, y))
        return y


_BLOCK = (SEGMENT_SHAPE.threads,)


def _entries(k: Kernels, A: SegmentedCOO) -> tuple[Any, ...]:
    """Returns the first arguments of both kernels."""
    counts = (k.index(A.starts.size - 1), k.index(A.nnz), k.index(A.segment))
    return A.offsets, A.indices, A.values, step_of(A.values, k.index), A.starts, *counts


def _grid(A: SegmentedCOO, resident: int) -> tuple[int]:
    """As many blocks as the device runs at a time, and no more than have something to do."""
    most = max(1, min(resident, SEGMENT_BLOCKS)) * attribute("MultiProcessorCount")
    return (min(most, -(-A.nnz // (SEGMENT_SHAPE.threads * SEGMENT_SHAPE.items))),)


def attribute(name: str) -> int:
    """A number that the device says of itself."""
    return int(cupy().cuda.Device().attributes[name])
