"""Where entries of a matrix lie among all, by rows: a row begins at its `indptr`, and its columns ascend.

    place_k = the entry (rows_k, cols_k)     by a binary search in all rows at once

[1] D. E. Knuth, The Art of Computer Programming 3: Sorting and Searching, 2nd edition, 1998, section 6.2.1.
"""

from __future__ import annotations

from typing import Any

from formats import COO, Matrix, SparseVector
from formats.arrays import IntegerVector
from formats.storage.orientation import compressed, is_symmetric
from semiring import fusible
from semiring.vectors import scatter


@fusible
def entry_places(A: Matrix, rows: IntegerVector, cols: IntegerVector, *, fused: bool = True) -> IntegerVector:
    """The places of entries among A's entries by rows, which are those of its CSR.

    Args:
        A: a matrix.
        rows: (k,) rows of it.
        cols: (k,) columns of it.
        fused: False runs the equations as they are written.

    Returns:
        (k,) integers on A's device: of each entry (rows[k], cols[k]) its place, -1 where there is none.

    Example:
        >>> import numpy as np
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [1, 2, 2])
        >>> entry_places(A, np.array([1, 0, 2]), np.array([2, 1, 0])).tolist()
        [2, 0, -1]

    Source: Knuth 1998 [1].
    """
    return places(A, rows, cols)


@entry_places.equations
def places(A: Matrix, rows: Any, cols: Any) -> Any:
    """Half of what is left of each row goes with each comparison."""
    S: Any = compressed(A, 0)
    xp, low, high, last = S.xp, S.indptr[rows], S.indptr[rows + 1], S.nnz - 1
    if last < 0:
        return xp.full(rows.shape, -1, S.indptr.dtype)
    end = high
    for _ in range(S.longest(0).bit_length()):
        middle = (low + high) // 2
        before = (S.indices[xp.minimum(middle, last)] < cols) & (middle < high)
        low, high = xp.where(before, middle + 1, low), xp.where(before, high, middle)
    return xp.where((low < end) & (S.indices[xp.minimum(low, last)] == cols), low, -1)


def edge_places(A: Matrix, F: COO) -> IntegerVector:
    """The place in A of the entry of each edge (u, v) of F; of v -> u, if only that has the weight."""
    place = entry_places(A, F.rows, F.cols)
    if is_symmetric(A):
        return place
    S: Any = compressed(A, 0)
    held = S.values_at(place) if S.in_parts else S.values[place]
    turned = S.xp.flatnonzero((place < 0) | (held != F.values))
    if turned.size:
        scatter(place, SparseVector.trusted(turned, entry_places(A, F.cols[turned], F.rows[turned]), F.nnz))
    return place
