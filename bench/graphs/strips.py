"""R-MAT graphs that are made a range of rows at a time: memory for the graph and, beside it, for one range.

Every range draws all edges again, and keeps its own. That is a hash for each bit of an edge that has to be known, which
a GPU computes faster than it would move the edges. The graph is that of `rmat`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from formats import CSR
from formats.arrays import Array, Device, counts
from formats.storage.compressed import index_types

from .draws import keys_of_rows
from .randomness import blocks, library, weights_of

Allocate = Callable[[int, np.dtype], Array]
"""An allocator (size, dtype) of the array that a graph's columns, or weights, are written to."""

CUT_BITS = 10
"""Leading bits of a row by which ranges are cut."""
PART = 1 / 16
"""Most of the edges that a range has, as a share, unless it is one of 2^CUT_BITS parts of the rows."""
LOW = 2**32 - 1


def rmat_in_strips(
    scale: int,
    edge_factor: int,
    probabilities: tuple[float, float, float],
    *,
    seed: int = 1,
    high: int = 255,
    device: Device = "cpu",
    dtype: DTypeLike = np.float32,
    allocate: Allocate | None = None,
) -> CSR:
    """`rmat` of the same arguments; allocate: what makes its large arrays, with room for some entries more."""
    xp, n, most = library(device), 1 << scale, edge_factor << scale
    of_indptr, index_type = index_types((n, n), most)
    allocate = xp.empty if allocate is None else allocate
    indices, values, upto = allocate(most, np.dtype(index_type)), allocate(most, np.dtype(dtype)), 0
    indptr: Any = xp.zeros(n + 1, of_indptr)
    for first, last, share in row_ranges(scale, probabilities):
        keys = keys_of_rows(scale, edge_factor, probabilities, seed, device, first, last, share)
        keys.sort()
        fresh = xp.ones(keys.size, bool)
        fresh[1:] = keys[1:] != keys[:-1]
        keys = keys[fresh]
        indptr[first + 1 : last + 1] = counts((keys >> 32).astype(np.int32), last - first)
        for block in blocks(keys.size, device):
            row, col = (keys[block] >> 32) + first, keys[block] & LOW
            part = slice(upto + block.start, upto + block.stop)
            indices[part] = col.astype(index_type)
            values[part] = weights_of(row, col, n, seed, high, dtype)
        upto += keys.size
    xp.cumsum(indptr, dtype=of_indptr, out=indptr)
    return CSR.trusted(indptr, indices[:upto], values[:upto], (n, n))


def row_ranges(scale: int, probabilities: tuple[float, float, float]) -> Iterator[tuple[int, int, float]]:
    """Yields first, last and share of ranges of rows with about that share of the edges, at most PART if they can."""
    bits, (a, b, _) = min(CUT_BITS, scale), probabilities
    rows, first, share = 1 << (scale - bits), 0, 0.0
    for part in range(1 << bits):
        own = (a + b) ** (bits - part.bit_count()) * (1 - a - b) ** part.bit_count()
        if share > 0 and share + own > PART:
            yield first, part * rows, share
            first, share = part * rows, 0.0
        share += own
    yield first, 1 << scale, share
