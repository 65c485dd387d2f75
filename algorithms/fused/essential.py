"""The edges that shortest paths may take: of a graph with hubs a small part, found by way of one hub h.

    F = e_h ⊕ F A        D = e_h ⊕ A D        the distances from the hub, and to it
    E = A⟨a_uv no worse than D_u ⊗ F_v⟩       what is left: all other edges are longer than the way by the hub      [1]

Of an R-MAT graph an eighth is left, of a road network everything.

Integers are added exactly. Floats round, and a path may have more edges than the one that it stands for: every weight
is made longer by a margin, more than what rounding takes from a sum no larger than `farthest`. A search that has come
farther does without. The rule is strict, so an edge that a shortest path takes is never dropped for another one.

[1] C. C. McGeoch, All-pairs shortest paths and the essential subgraph, Algorithmica 13, 1995.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import Matrix
from semiring import MONOIDS, Predicate, Semiring

BYTES = 4
"""Maximum of bytes that are kept for an edge of the matrix."""

SHARE = 0.5
"""Maximum share of the edges that is left: with more the search would gain little."""

MIN_NNZ = 1 << 14
"""Minimum of entries for the pruning to pay."""

FARTHEST_WEIGHTS = 64
"""Number of heaviest weights in the longest distance for which rounding is allowed for."""

ROUNDINGS = 8
"""Number of units in the last place of the farthest distance that a weight is made longer by."""


def applies(A: Matrix, s: Semiring) -> bool:
    """True if distances are sums of lengths, of which the least counts, and the edges are many."""
    lengths = s.add == MONOIDS["min"] and s.adds_weights and A.dtype.kind in "if"
    return lengths and A.nnz >= MIN_NNZ and bool(s.unit(A.dtype) == 0)


def allowance(dtype: np.dtype, worst: Any, s: Semiring) -> tuple[Any, Any]:
    """Return by what a weight is made longer, and the farthest distance for which that is enough: the zero for any."""
    if dtype.kind == "i":
        return dtype.type(0), s.zero(dtype)
    with np.errstate(over="ignore"):
        farthest = dtype.type(FARTHEST_WEIGHTS) * worst
        return dtype.type(ROUNDINGS * np.finfo(dtype).eps) * farthest, farthest


def no_detour(semiring: Semiring) -> Predicate:
    """Make the test that value is no worse than row ⊗ col, so that the way by the hub is no shorter than the edge."""

    def holds(i: Any, j: Any, value: Any, row: Any, col: Any) -> Any:
        zero = semiring.zero(value.dtype)
        shorter = (row != zero) & (col != zero) & (semiring.add(semiring.mul(row, col), value) != value)
        return (value != zero) & ~shorter

    cuda = "value != ZERO && (row == ZERO || col == ZERO || add(mul(row, col), value) == value)"
    return Predicate(f"no_detour_{semiring.name}", holds, cuda, semiring, ("value", "row", "col"))
