"""The edges that shortest paths may take (`algorithms/fused/essential.py`), found on the CPU and kept.

F_v is the distance from the hub, D_u a bound on the distance to it. Both give bounds on all distances:

    w_uv > D_u + F_v                     by way of the hub it is shorter, so no shortest path has the edge
    d_u > D_s + max_v (F_v - w_uv)       by way of the hub all that u leads to is nearer to s, so u is passed over [1]

Edges that are left are stored as rows of their own, with D, F and the maxima, in at most `BYTES` bytes an edge
of the matrix. Of a road network everything is left, and nothing is stored. The second search makes them, by a search
from the hub, two sweeps and a pass over the edges, so it takes longer than the first. Both rules are strict.

[1] A. V. Goldberg, C. Harrelson, Computing the shortest path: A* search meets graph theory, SODA 2005 (landmarks).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from algorithms.shared.single_source import Until
from formats import CSR
from formats.arrays import read_only
from formats.matrix.facts import Fact
from formats.storage.orientation import known_symmetric
from semiring import Semiring
from semiring.algebra.semirings import end_of_range

from ..essential import BYTES, SHARE, allowance, applies
from .near_far import (
    SAMPLED_WEIGHTS,
    Essential,
    Plan,
    Rows,
    Search,
    full_values,
    heaviest,
    skewed,
    step,
    suitable_step,
    threads_for,
)

SWEEPS = 2
"""Number of sweeps over the edges that bound the distances to the hub: more of them drop no more edges of R-MAT."""

EDGES_AHEAD = np.uintp(24)
"""Edges from one to that whose head's distance is fetched meanwhile."""

ESSENTIAL: Fact[Essential | None] = Fact("essential edges")
SEARCHED: Fact[bool] = Fact("paths have been found once")
"""Given of both: the semiring."""


def essential(A: CSR, sources: list[int], s: Semiring, until: Until) -> Essential | None:
    """Return what is left of A, if that is little and serves a source: found in the second search of A, and kept."""
    if not A.keeps(ESSENTIAL, s):
        if not (applies(A, s) and skewed(A)):
            return None
        if until.limit is not None or until.target is not None:
            return None
        if not A.keeps(SEARCHED, s):
            A.keep(SEARCHED, lambda: True, s)
            if len(sources) == 1:
                return None
    found = A.keep(ESSENTIAL, lambda: find_essential(A, s), s)
    return found if found is not None and any(map(found.serves, sources)) else None


def edges_for(A: CSR, sources: list[int], farthest: Any, s: Semiring) -> Rows:
    """The edges to look at for trees from these sources, from which no distance is farther: what is kept, or all."""
    found = A.known(ESSENTIAL, s)
    if found is None or farthest > found.farthest or not all(map(found.serves, sources)):
        return A.indptr, A.indices, full_values(A)
    return found.rows


def find_essential(A: CSR, s: Semiring) -> Essential | None:
    """Find what is left of A; None if that is too much, or if distances are too large to be added safely."""
    room = min(int(SHARE * A.nnz), (BYTES * A.nnz - vertex_bytes(A) * A.nrows) // entry_bytes(A))
    worst = heaviest(A, s)
    margin, farthest = allowance(A.dtype, worst, s)
    if room <= 0 or worst == s.zero(A.dtype) or not np.isfinite(farthest):
        return None
    hub = int(np.diff(A.indptr).argmax())
    B = A if margin == 0 else CSR.trusted(A.indptr, A.indices, A.values + margin, A.shape)
    search = Search(B, hub, s, Until(s), Plan(threads_for(A), step(A, s)))
    search.run()
    if sampled_share(A, search.d) * A.nnz > room or s.better(farthest, search.top):
        return None
    to_hub = search.d if known_symmetric(A) else distances_to(B, hub, s)
    if (found := remaining(A, search.d, to_hub, margin, room, s)) is None:
        return None
    rows, useful = found
    delta = suitable_step(CSR.trusted(*rows, A.shape), s)
    reach = farthest if A.dtype.kind == "i" else farthest - search.top
    return Essential(rows, read_only(to_hub), read_only(search.d), read_only(useful), reach, farthest, delta)


def vertex_bytes(A: CSR) -> int:
    """Bytes that are kept for a vertex: where its row starts, D, F and `useful`."""
    return A.indptr.itemsize + 3 * A.dtype.itemsize


def entry_bytes(A: CSR) -> int:
    """Bytes that are kept for an edge that is left."""
    return A.indices.itemsize + A.dtype.itemsize


def sampled_share(A: CSR, from_hub: np.ndarray) -> float:
    """The share of a sample of edges that is left whatever the distances to the hub are."""
    every = max(A.nnz // SAMPLED_WEIGHTS, 1)
    return float((A.values[::every] <= from_hub[A.indices[::every]]).mean())


def distances_to(A: CSR, hub: int, s: Semiring) -> np.ndarray:
    """Distances to the hub, or longer ones: a few sweeps along the rows, which need no transpose."""
    sweep, _ = loops(s, A.dtype)
    d = np.full(A.nrows, s.zero(A.dtype), A.dtype)
    d[hub] = s.unit(A.dtype)
    for _ in range(SWEEPS):
        sweep((A.indptr, A.indices, full_values(A)), d)
    return d


def remaining(
    A: CSR, from_hub: np.ndarray, to_hub: np.ndarray, margin: Any, room: int, s: Semiring
) -> tuple[Rows, np.ndarray] | None:
    """Return rows and `useful` of the edges that are left; None if these are more than `room`."""
    _, write = loops(s, A.dtype)
    indptr, useful = np.zeros_like(A.indptr), np.empty(A.nrows, A.dtype)
    longest = int(np.diff(A.indptr).max())
    indices, values = np.empty(room + longest, A.indices.dtype), np.empty(room + longest, A.dtype)
    parts = (A.indptr, A.indices, full_values(A)), from_hub, to_hub, margin
    if not write(*parts, indptr, indices, values, useful) or indptr[-1] > room:
        return None
    count = int(indptr[-1])
    return (read_only(indptr), read_only(indices[:count].copy()), read_only(values[:count].copy())), useful


@lru_cache(maxsize=64)
def loops(semiring: Semiring, dtype: np.dtype) -> tuple[Any, Any]:
    """Make the loops `sweep` and `write` for a semiring and a dtype."""
    from semiring.cpu.atomics import prefetched
    from semiring.cpu.kernels import compiled

    from .relaxation import ONE, length, orders

    zero, convert, least = semiring.zero(dtype), dtype.type, end_of_range(dtype, "lowest")
    better_than, _ = orders(semiring)
    lengthened = length(semiring, dtype)

    @compiled
    def sweep(rows, d):
        """d = d ⊕ A d, row by row in place."""
        indptr, indices, values = rows
        for i in range(d.size):
            u = np.uintp(i)
            best = d[u]
            for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + ONE])):
                t = lengthened(values[e], d[np.uintp(indices[e])])
                best = convert(t) if better_than(t, best) else best
            d[u] = best

    @compiled
    def write(rows, from_hub, to_hub, margin, left, heads, lengths, useful):
        """Write the edges that are left to rows of their own, and `useful`, without a branch; False if room lacks."""
        indptr, indices, values = rows
        count, last = np.uintp(0), np.uintp(indices.size - 1)
        for i in range(useful.size):
            u = np.uintp(i)
            first, up, e, stop = count, to_hub[u], np.uintp(indptr[u]), np.uintp(indptr[u + ONE])
            if count + (stop - e) > np.uintp(heads.size):
                return False
            for edge in range(e, stop):
                prefetched(from_hub, np.uintp(indices[min(edge + EDGES_AHEAD, last)]))
                w, through = values[edge], lengthened(up, from_hub[np.uintp(indices[edge])])
                heads[count], lengths[count] = indices[edge], w
                count += np.uintp((w != zero) & (not better_than(lengthened(margin, through), w)))
            most = least
            for edge in range(first, count):
                x = from_hub[np.uintp(heads[edge])]
                most = max(most, x if x == zero else convert(x - lengths[edge] + margin))
            left[u + ONE], useful[u] = count, most
        return True

    return sweep, write
