"""Finds and keeps on the GPU the edges that shortest paths may take (`algorithms/fused/essential.py`).

Several sources at once go along them, since an edge that is left out is left out for all, and so do their trees. The
distances F and D come of the fused search for one source, and E of a `select`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from algorithms.shared.single_source import Until
from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.matrix.facts import Fact
from formats.matrix.workspace import Sizes
from formats.storage.orientation import by_columns, has_columns, has_room_for_columns, known_symmetric
from semiring import MinPlus, Semiring, select
from semiring.cuda.statistics import moments
from semiring.statistics import largest
from semiring.vectors import longest_row

from ..essential import BYTES, SHARE, allowance, applies, no_detour

MIN_SOURCES = 16
"""Sources for which a search for the edges pays."""

MIN_SKEW = 16
"""Times the mean degree that the longest row has at least in a graph with hubs."""

SAMPLED_EDGES = 1 << 16
"""Sampled edges, by which the share that may be left is foretold."""

SEARCH_BYTES = 64
"""Bytes that a search from the hub, and what it finds, take for each vertex."""


class Essential(NamedTuple):
    """The edges that are left, and the farthest distance for which they are enough."""

    edges: CSR
    farthest: Any


Search = Callable[[CSR, int], Array]
"""A function of a matrix and a source that returns the distances from there."""

ESSENTIAL: Fact[Essential | None] = Fact("essential edges on a GPU")


def essential(A: CSR, s: Semiring, until: Until, count: int, search: Search) -> Essential | None:
    """Returns what is left of A, if that is little: found for a batch of many sources without a limit, and kept."""
    everywhere = until.limit is None and until.target is None
    if s != MinPlus or not (A.keeps(ESSENTIAL) or (everywhere and will_look(A, count))):
        return None
    return A.keep(ESSENTIAL, lambda: find_essential(A, search))


def edges_for(A: CSR, d: Array, s: Semiring) -> CSR:
    """Returns the edges in which a tree of these distances lies: those that are kept, or all."""
    found = A.known(ESSENTIAL) if s == MinPlus else None
    return A if found is None or too_far(d, found) else found.edges


def will_look(A: CSR, count: int) -> bool:
    """True if a search for the edges pays for so many sources, and there is room for it."""
    worth = count >= MIN_SOURCES and applies(A, MinPlus) and longest_row(A) * A.nrows > MIN_SKEW * max(A.nnz, A.nrows)
    if not worth or not A.all_resident or not has_room_for_columns(A):
        return False
    left = A.place.available_bytes()
    return left is None or looking_takes(A) <= left


def looking_takes(A: CSR) -> int:
    """Returns the bytes of a search: columns, lengthened weights, two searches, and the edges that are left."""
    turned = 0 if has_columns(A) else Sizes.of(A, "cuda").turn(1)
    return turned + A.nnz * (A.dtype.itemsize + 1) + SEARCH_BYTES * A.nrows + int(SHARE * A.nnz) * entry_bytes(A)


def entry_bytes(A: CSR) -> int:
    """Returns the bytes that are kept for an edge that is left."""
    return A.indices.itemsize + A.dtype.itemsize


def find_essential(A: CSR, search: Search) -> Essential | None:
    """Returns what is left of A; None if that is too much, or if distances are too large to be added safely."""
    cp, zero, index = cupy(), MinPlus.zero(A.dtype), A.indptr.dtype
    worst = A.dtype.type(largest(A, MinPlus))
    margin, farthest = allowance(A.dtype, worst, MinPlus)
    if worst <= 0 or not np.isfinite(farthest):
        return None
    hub = int(cp.diff(A.indptr).argmax())
    F = search(longer(A, margin), hub)
    every = max(A.nnz // SAMPLED_EDGES, 1)
    share = float((A.values[::every] <= F[A.indices[::every]]).mean())  # whatever D is
    if share > SHARE or moments(F, zero)["largest"] > farthest:
        return None
    columns: Any = by_columns(A)
    turned = CSR.trusted(columns.indptr, columns.indices, columns.values, A.shape)
    D = F if known_symmetric(A) else search(longer(turned, margin), hub)
    E: Any = select(A, no_detour(MinPlus), row=D if margin == 0 else D + margin, col=F)
    small = E.nnz <= SHARE * A.nnz and E.nnz * entry_bytes(A) + A.nrows * index.itemsize <= BYTES * A.nnz
    return Essential(E, farthest) if small else None


def longer(A: CSR, margin: Any) -> CSR:
    """Returns A with every edge made longer by the margin."""
    return A if margin == 0 else CSR.trusted(A.indptr, A.indices, A.values + margin, A.shape)


def too_far(d: Array, found: Essential) -> bool:
    """True if a distance is so large that rounding may have taken more than the margin."""
    return d.dtype.kind == "f" and moments(d.reshape(-1), MinPlus.zero(d.dtype))["largest"] > found.farthest
