"""Edges: what a reader of a text format finds, and how it becomes a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from ..arrays import Array, as_values, index_dtype
from ..coo import out_of_order
from ..csr import CSR
from .source import Source

LARGE_DIMENSION = 2**22
DIMENSION_PER_EDGE = 64
MANY_EDGES = 2**15  # from which counting sorts are worth SciPy's import


@dataclass(frozen=True)
class Edges:
    """The edges of a file, ids counted from 0; `labels[v]` is the id that the file itself gives vertex v."""

    src: Array
    dst: Array
    weights: Array | None
    shape: tuple[int, int]
    labels: Array | range

    def mirrored(self, negated: bool = False) -> Edges:
        """With the reverse of every edge, of the weight or the negated weight; self-loops stay single."""
        reverse = self.src != self.dst
        src = np.concatenate((self.src, self.dst[reverse]))
        dst = np.concatenate((self.dst, self.src[reverse]))
        weights = self.weights
        if weights is not None:
            weights = np.concatenate((weights, -weights[reverse] if negated else weights[reverse]))
        return Edges(src, dst, weights, self.shape, self.labels)

    def matrix(self, directed: bool, dtype: DTypeLike | None) -> CSR:
        """The edges as a matrix; of parallel edges the least weight stays."""
        from ..convert import compress, from_edges

        if not directed and self.shape[0] != self.shape[1]:
            raise ValueError(f"directed=False needs a square matrix, this one is {self.shape[0]} x {self.shape[1]}")
        edges = self if directed else self.mirrored()
        src, dst, shape = edges.src, edges.dst, edges.shape
        weights = None if edges.weights is None else narrow(edges.weights)
        if src.size < MANY_EDGES or max(shape) > DIMENSION_PER_EDGE * src.size:
            return from_edges(src, dst, weights, shape=shape, dtype=dtype)
        values = np.ones(src.size, np.int8) if weights is None else as_values(weights, dtype)
        index_type = index_dtype(*shape, src.size)
        src, dst = src.astype(index_type, copy=False), dst.astype(index_type, copy=False)
        del edges, weights
        if out_of_order(src[:MANY_EDGES], dst[:MANY_EDGES]).any() or out_of_order(src, dst).any():
            indptr, dst, values = _sorted_by_rows(src, dst, values, shape)
        else:
            indptr = compress(src, shape[0], index_type)
        if self.weights is None:
            values = as_values(np.ones(dst.size, np.int32), dtype)
        return CSR.trusted(indptr.astype(index_type, copy=False), dst.astype(index_type, copy=False), values, shape)


def _sorted_by_rows(src: Array, dst: Array, values: Array, shape: tuple[int, int]) -> tuple[Array, Array, Array]:
    """(indptr, indices, values) by rows, of entries in any order; of those in one place the least stays.

    Two counting sorts of SciPy's that keep the order of equals, by column and then by row.
    """
    from scipy.sparse import coo_array

    entries = coo_array((values, (src, dst)), shape=shape)
    entries.has_canonical_format = True  # if it knew of duplicates, SciPy would add them up
    by_columns = entries.tocsc()
    del entries
    by_rows = by_columns.tocsr()
    del by_columns
    indptr, indices, values = by_rows.indptr, by_rows.indices, by_rows.data
    fresh = np.ones(indices.size, bool)
    np.not_equal(indices[1:], indices[:-1], out=fresh[1:])
    fresh[indptr[:-1][indptr[:-1] < indices.size]] = True
    if fresh.all():
        return indptr, indices, values
    repeats, least = np.flatnonzero(~fresh), values[fresh]
    np.minimum.at(least, repeats - np.arange(1, repeats.size + 1), values[repeats])  # with the first in their place
    return indptr - np.searchsorted(repeats, indptr), indices[fresh], least


def narrow(weights: Array) -> Array:
    """Integers as int32 where all lie strictly between its limits, which are the zeros of MinPlus and MaxPlus."""
    limits = np.iinfo(np.int32)
    if weights.dtype != np.int64 or (weights.size and not limits.min < weights.min() <= weights.max() < limits.max):
        return weights
    return weights.astype(np.int32)


def check_header(source: Source, line: int, n: int, edges: int) -> None:
    """ValueError, before any work, if the header in `line` promises absurdly many vertices."""
    try:
        if not source.force:
            check_dimension(n, edges)
    except ValueError as error:
        raise source.error(f"the header promises {error}", line) from None


def check_dimension(n: int, edges: int) -> None:
    """ValueError for more than LARGE_DIMENSION vertices and DIMENSION_PER_EDGE for each edge: each costs some bytes."""
    if n > LARGE_DIMENSION and n > DIMENSION_PER_EDGE * edges:
        raise ValueError(f"{n} vertices, absurdly many for {edges} edges (force=True reads it)")


def check_found(source: Source, line: int, promised: int, found: int) -> None:
    """ValueError if the header in `line` promises other than what was found."""
    if found != promised:
        raise source.error(f"the header promises {promised} edges, the file holds {found}", line)
