"""Fixpoints from any distances on, relaxed on the CPU in an order that suits their semiring."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from algorithms.shared.cycle_watch import ENDLESS
from algorithms.shared.errors import broken_law
from formats import CSR
from semiring import MONOIDS, OPERATORS, Semiring, reduce
from semiring.cpu.kernels import compiled

from .near_far import full_values, room_for, step
from .relaxation import most_relaxed, plain, search, settling


def from_distances(A: CSR, d: np.ndarray, frontier: np.ndarray, s: Semiring, limit: Any) -> np.ndarray:
    """Relax from the frontier, in place, until nothing improves.  limit: no path is looked for beyond it."""
    if s.mul == OPERATORS["first"] and s.add in (MONOIDS["min"], MONOIDS["max"]):
        return in_turn(A, d, frontier, s)
    return from_frontier(A, d, frontier, s, limit)


def from_frontier(A: CSR, d: np.ndarray, frontier: np.ndarray, s: Semiring, limit: Any) -> np.ndarray:
    """Relax from the frontier, whose entries are all far at first."""
    zero, stepped = s.zero(d.dtype), s.adds_weights
    near, far = ((np.empty(room_for(A.nrows), A.indices.dtype), np.empty(room_for(A.nrows), d.dtype)) for _ in range(2))
    far[0][: frontier.size], far[1][: frontier.size] = frontier, d[frontier]
    best, counts = reduce(d[frontier], s.add), np.array([frontier.size, 0, 0, 0])
    rows = A.indptr, A.indices, full_values(A), np.empty(0, d.dtype), zero
    delta = step(A, s) if stepped else zero
    search(s, d.dtype, stepped)((rows, d, near, far, counts), -1, limit, delta, best, best, 0, near[0].size)
    if counts[0] < 0 or counts[1] > most_relaxed(A.nrows):
        raise ValueError(broken_law(s, ENDLESS))
    return d


def in_turn(A: CSR, d: np.ndarray, frontier: np.ndarray, s: Semiring) -> np.ndarray:
    """Relax from the frontier's best vertex until it has reached all, then from the next best one that is left.

    A path is as long as its start is, so no vertex is improved twice.
    """
    order = np.argsort(d[frontier], kind="stable")
    order = order if s.add == MONOIDS["min"] else order[::-1]
    near, far = ((np.empty(room_for(A.nrows), A.indices.dtype), np.empty(room_for(A.nrows), d.dtype)) for _ in range(2))
    rows = A.indptr, A.indices, full_values(A), np.empty(0, d.dtype), s.zero(d.dtype)
    one_after_another(s, d.dtype)(
        frontier[order], d[frontier[order]], s.zero(d.dtype), rows, d, near, far, np.zeros(4, np.int64)
    )
    return d


@lru_cache(maxsize=64)
def one_after_another(semiring: Semiring, dtype: np.dtype) -> Any:
    """Make the loop of `in_turn` for a semiring and a dtype."""
    settle = settling(semiring, dtype, plain)

    @compiled
    def loop(starts, own, worst, rows, d, near, far, counts):
        """Settle what each start reaches, if its distance is its own still."""
        for k in range(starts.size):
            v = np.uintp(starts[k])
            if d[v] == own[k]:
                near[0][0], near[1][0], counts[1] = v, d[v], 0
                settle(worst, rows, d, near, far, 1, near[0].size, counts)

    return loop
