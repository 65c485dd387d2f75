"""The light edges of a matrix, the best first within each row: what relaxation goes along lazily.

Light is what is no worse than the first quartile of a sample of the weights. Kept with the matrix they take as many
bytes as a quarter of it; made by all threads, two passes over the edges and a sort of each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import read_only
from semiring import MONOIDS, Semiring
from semiring.cpu.threads import cut_evenly, run

SAMPLE = 4096
"""Weights that the quartile is taken of."""

SHARE = 1 / 3
"""Of the edges, that may be light at most: where most weights are alike, there is no quarter of light ones."""


@dataclass(frozen=True)
class LightRows:
    """indptr, indices, values: as CSR's, but for the order within rows.  heaviest: the worst weight that counts."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    heaviest: Any

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.indptr, self.indices, self.values

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays)


def light_rows(A: CSR, s: Semiring) -> LightRows | None:
    """The light edges of A in ⊕'s order, found once; None if the weights do not tell them from others."""
    return A.keep(("light rows", s), lambda: _light_rows(A, s))


def _light_rows(A: CSR, s: Semiring) -> LightRows | None:
    sample = np.sort(A.values[:: max(A.nnz // SAMPLE, 1)])
    quarter = sample.size // 4
    heaviest = sample[quarter] if s.add == MONOIDS["min"] else sample[-1 - quarter]
    count, write = loops(s, A.dtype)
    pieces = cut_evenly(A.indptr)
    indptr = np.zeros(A.nrows + 1, A.indptr.dtype)
    run(lambda *piece: count(A.indptr, A.values, heaviest, indptr, *piece), pieces)
    np.cumsum(indptr, out=indptr)
    if indptr[-1] > A.nnz * SHARE:
        return None
    indices, values = np.empty(indptr[-1], A.indices.dtype), np.empty(indptr[-1], A.dtype)
    run(lambda *piece: write(A.indptr, A.indices, A.values, heaviest, indptr, indices, values, *piece), pieces)
    return LightRows(read_only(indptr), read_only(indices), read_only(values), heaviest)


@lru_cache(maxsize=64)
def loops(semiring: Semiring, dtype: np.dtype) -> tuple[Any, Any]:
    """(count, write) for a semiring and a dtype."""
    from semiring.cpu.kernels import compiled

    from .relaxation import orders

    better_than, no_worse_than = orders(semiring)

    @compiled
    def count(indptr, values, heaviest, totals, start, stop):
        for i in range(start, stop):
            total = 0
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + 1])):
                total += no_worse_than(values[e], heaviest)
            totals[i + 1] = total

    @compiled
    def write(indptr, indices, values, heaviest, light_indptr, light_indices, light_values, start, stop):
        for i in range(start, stop):
            first = np.intp(light_indptr[i])
            to = first
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + 1])):
                if no_worse_than(values[e], heaviest):
                    light_indices[to], light_values[to] = indices[e], values[e]
                    to += 1
            gap = 1
            while gap < (to - first) // 3:
                gap = 3 * gap + 1
            while gap > 0:  # Shell's sort, which is an insertion of short rows
                for e in range(first + gap, to):
                    j, w, at = light_indices[e], light_values[e], e
                    while at >= first + gap and better_than(w, light_values[at - gap]):
                        light_indices[at], light_values[at] = light_indices[at - gap], light_values[at - gap]
                        at -= gap
                    light_indices[at], light_values[at] = j, w
                gap //= 3

    return count, write
