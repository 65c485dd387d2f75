"""Edges reordered by segments of their ends, so that the parts of both vectors that are in use stay in a cache.

A product reads a vector at one end of every edge and writes one at the other. Cut both vectors into segments that a
cache holds, and take the edges by the segment of their source, and those of one by the segment of their destination
[1]: then few cache lines are in use at a time. The order serves whatever goes through all edges, and the transposed
graph as well.

It is the order of a SegmentedCOO whose rows, the sources, are cut so. Within a segment its edges ascend by destination,
then by source, hence by the segment of their destination, however long that is. A COO does not serve: it is sorted by
row.

[1] I. Afanasyev, V. Voevodin, The comparison of large-scale graph processing algorithms implementation methods for
    Intel KNL and NVIDIA GPU, Supercomputing, RuSCDays 2017, section 5.4.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import as_integer
from ..matrix.base import Matrix
from ..places import at_home
from ..storage.segmented import MAX_SEGMENT, SegmentedCOO


@at_home
def reorder_edges(A: Matrix, segment_bytes: int) -> SegmentedCOO:
    """A as a SegmentedCOO: edges by segment of the source, then by segment of the destination.

    Args:
        A: (nrows, ncols), A[u, v] = weight of u -> v, any format.
        segment_bytes: of a vector of A.dtype that a segment takes at most, such as the size of a cache. A segment is as
            many vertices as fit, but no more than 65536, which is what a SegmentedCOO can tell apart.

    Returns:
        The same matrix on A's device, A itself if it is ordered so already. `outer` and `inner` are its sources and
        destinations in their order.

    Raises:
        TypeError: segment_bytes is no integer.
        ValueError: segment_bytes holds not a single value.

    Example:
        >>> from formats import from_edges
        >>> E = reorder_edges(from_edges([0, 0, 1], [3, 1, 0], [5, 9, 3]), segment_bytes=8)
        >>> E.outer.tolist(), E.inner.tolist()
        ([1, 0, 0], [0, 1, 3])

    Source: [1].
    """
    reordered: Any = A.to(SegmentedCOO, segment=vertices_in(segment_bytes, A.dtype))
    return reordered


def vertices_in(segment_bytes: Any, dtype: np.dtype) -> int:
    """How many vertices a segment has: 1 to MAX_SEGMENT."""
    size = as_integer("segment_bytes", segment_bytes)
    if size < dtype.itemsize:
        raise ValueError(f"segment_bytes must be at least {dtype.itemsize}, the bytes of one {dtype}, got {size}")
    return min(size // dtype.itemsize, MAX_SEGMENT)
