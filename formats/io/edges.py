"""Edges: what a reader of a text format finds, and how it becomes a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from ..arrays import Array
from ..csr import CSR
from .source import Source

LARGE_DIMENSION = 2**24
DIMENSION_PER_EDGE = 64


@dataclass(frozen=True)
class Edges:
    """The edges of a file, ids counted from 0; `labels[v]` is the id that the file itself gives vertex v."""

    src: Array
    dst: Array
    weights: Array | None
    shape: tuple[int, int]
    labels: Array

    def mirrored(self) -> Edges:
        """With the reverse of every edge; self-loops stay single."""
        reverse = self.src != self.dst
        src = np.concatenate((self.src, self.dst[reverse]))
        dst = np.concatenate((self.dst, self.src[reverse]))
        weights = None if self.weights is None else np.concatenate((self.weights, self.weights[reverse]))
        return Edges(src, dst, weights, self.shape, self.labels)

    def matrix(self, directed: bool, dtype: DTypeLike | None) -> CSR:
        """The edges as a matrix; of parallel edges the least weight stays."""
        from ..convert import from_edges

        if not directed and self.shape[0] != self.shape[1]:
            raise ValueError(f"directed=False needs a square matrix, this one is {self.shape[0]} x {self.shape[1]}")
        edges = self if directed else self.mirrored()
        weights = None if edges.weights is None else narrow(edges.weights)
        return from_edges(edges.src, edges.dst, weights, shape=self.shape, dtype=dtype)


def narrow(weights: Array) -> Array:
    """Integers as int32 where all lie strictly between its limits, which are the zeros of MinPlus and MaxPlus."""
    limits = np.iinfo(np.int32)
    if weights.dtype.kind == "f" or (weights.size and not limits.min < weights.min() <= weights.max() < limits.max):
        return weights
    return weights.astype(np.int32)


def check_sizes(source: Source, line: int, shape: tuple[int, int], promised: int, found: int) -> None:
    """ValueError if the header in `line` promises other than what was found, or absurdly many vertices.

    A matrix costs eight bytes a vertex even without edges, so a dimension above 2**24 needs an edge for every 64.
    """
    if found != promised:
        raise source.error(f"the header promises {promised} edges, the file holds {found}", line)
    n = max(shape)
    if n > LARGE_DIMENSION and n > DIMENSION_PER_EDGE * found:
        raise source.error(f"the header promises {n} vertices, absurdly many for {found} edges", line)
