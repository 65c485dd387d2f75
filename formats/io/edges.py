"""Edges: what a reader of a text format finds, and how it becomes a matrix."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from ..arrays import Array, as_values
from ..hooks import machine_code
from ..storage.compressed import CSR, compress, index_types
from ..storage.sorting import in_order, sorted_by_rows
from .source import Source

if TYPE_CHECKING:
    from ..edges import Duplicates
    from ..matrix.base import Matrix

LARGE_DIMENSION = 2**22
DIMENSION_PER_EDGE = 64
MANY_EDGES = 2**15  # from which compiled loops pay, once they are loaded
MANY_TO_LOAD = 2**18


@dataclass(frozen=True)
class Edges:
    """The edges of a file, ids counted from 0; `labels[v]` is the id that the file itself gives vertex v."""

    src: Array
    dst: Array
    weights: Array | None
    shape: tuple[int, int]
    labels: Array | range
    both_ways: bool = False  # is the reverse of every edge meant, too?

    def mirrored(self, negated: bool = False) -> Edges:
        """With the reverse of every edge, of the weight or the negated weight; self-loops stay single."""
        at, again = both_ways(self.src, self.dst)
        src, dst = np.where(again, self.dst[at], self.src[at]), np.where(again, self.src[at], self.dst[at])
        weights = self.weights
        if weights is not None:
            wide = np.result_type(weights, np.int64)  # of int32, the negated may be none
            weights = weights.astype(wide, copy=False)[at]
            weights = np.where(again, -weights, weights) if negated else weights
        return Edges(src, dst, weights, self.shape, self.labels)

    def matrix(self, directed: bool, dtype: DTypeLike | None, dup: Duplicates = "min") -> CSR:
        """The edges as a matrix, in which parallel ones are one."""
        from ..edges import from_edges

        if not directed and self.shape[0] != self.shape[1]:
            raise ValueError(f"directed=False needs a square matrix, this one is {self.shape[0]} x {self.shape[1]}")
        both_ways, shape = self.both_ways or not directed, self.shape
        if dup != "min" or not are_many(self.src.size) or max(shape) > DIMENSION_PER_EDGE * self.src.size:
            edges = self.mirrored() if both_ways else self
            weights = None if edges.weights is None else narrow(edges.weights)
            return from_edges(edges.src, edges.dst, weights, shape=shape, dtype=dtype, dup=dup)
        of_indptr, index_type = index_types(shape, self.src.size)
        src, dst = (ends.astype(index_type, copy=False) for ends in (self.src, self.dst))
        values = np.empty(0, np.int32) if self.weights is None else as_values(narrow(self.weights), dtype)
        if both_ways or not machine_code(in_order)(src, dst):
            indptr, dst, values = sorted_by_rows(src, dst, values, shape, both_ways)
        else:
            indptr = compress(src, shape[0], of_indptr)
        if self.weights is None:
            values = as_values(np.ones(dst.size, np.int32), dtype)
        return CSR.trusted(indptr, dst, values, shape)

    def merged(self, A: Matrix, directed: bool) -> int:
        """How many of the edges became one with another, when they became the matrix."""
        if directed and not self.both_ways:
            return self.src.size - A.nnz
        loops = self.src[self.src == self.dst]
        kept = len(np.unique(loops)) if loops.size else 0
        return self.src.size - kept - (A.nnz - kept) // 2


def both_ways(src: Array, dst: Array) -> tuple[Array, Array]:
    """Returns (the numbers of edges, each twice if it is no self-loop; if the reverse is meant)."""
    twice = 1 + (src != dst)
    again = np.ones(int(twice.sum()), bool)
    again[np.cumsum(twice) - twice] = False
    return np.repeat(np.arange(src.size), twice), again


def are_many(edges: int) -> bool:
    """True if compiled loops pay, which take as long to load as MANY_TO_LOAD edges take without them."""
    return edges >= (MANY_EDGES if f"{__package__}.compiled" in sys.modules else MANY_TO_LOAD)


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


def check_found(source: Source, line: int, promised: int, found: int, what: str = "edges") -> None:
    """ValueError if the header in `line` promises other than what was found."""
    found = source.total(found)
    if found != promised:
        raise source.error(f"the header promises {promised} {what}, the file holds {found}", line)
