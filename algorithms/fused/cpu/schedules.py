"""Schedules of fixpoints that users' programs have, which `semiring.fusing.fixpoints` recognises."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from algorithms.equations.bfs import bfs
from algorithms.shared.cycle_watch import ENDLESS
from algorithms.shared.errors import broken_law
from algorithms.shared.parents import gains_by_length
from algorithms.shared.single_source import Exact, Until, order_matters
from algorithms.shared.traversal import Direction
from formats import CSR, Matrix
from formats.storage.orientation import compressed
from semiring import MONOIDS, OPERATORS, Law, Semiring, reduce
from semiring.cpu.kernels import compiled

from .distances import near_far
from .near_far import full_values, room_for, step
from .relaxation import most_relaxed, plain, search, settling


def relaxed(A: Matrix, d: np.ndarray, frontier: np.ndarray, s: Semiring, limit: Any) -> np.ndarray | None:
    """The least fixpoint of d = d ⊕ d A above d, from which all but the frontier's edges are relaxed already.

    limit: distances that are worse stay as they are in d; the zero for none.  None if the order of relaxations could
    matter, or a path could gain by being longer.
    """
    if not s.add.selective or s.add.name == "any":
        return None
    if s.mul != OPERATORS["first"] and (
        Law.UNIT not in s.laws or order_matters(s, A.dtype) or outside(A, s) or gains_by_length(A, s)
    ):
        return None
    rows: CSR = compressed(A, 0)
    if frontier.size == 1 and Law.UNIT in s.laws and is_unit(d, int(frontier[0]), s):
        found = near_far(rows, int(frontier[0]), s, Until(s, None if limit == s.zero(d.dtype) else limit))
        return within(found.d if isinstance(found, Exact) else found, d, s, limit)
    if s.mul == OPERATORS["first"] and s.add in (MONOIDS["min"], MONOIDS["max"]):
        return within(in_turn(rows, d.copy(), frontier, s), d, s, limit)
    return within(from_frontier(rows, d.copy(), frontier, s, limit), d, s, limit)


def within(found: np.ndarray, d: np.ndarray, s: Semiring, limit: Any) -> np.ndarray:
    """Put d in the place of what was found where that is worse than the limit."""
    return found if limit == s.zero(d.dtype) else np.where(s.better(limit, found), d, found)


def searched(A: Matrix, source: int, outside: np.ndarray) -> np.ndarray | None:
    """The level of each vertex in a search that keeps out of what is outside, -1 where it does not lead."""
    found = bfs.run(A, source, outside if outside.any() else None, Direction(), None, False)
    return found[0]


def outside(A: Matrix, s: Semiring) -> bool:
    """True if a weight is outside the values on which the semiring's laws hold."""
    return s.domain is not None and A.nnz > 0


def is_unit(d: np.ndarray, source: int, s: Semiring) -> bool:
    """True if d is the unit vector of the source."""
    return bool(d[source] == s.unit(d.dtype)) and np.count_nonzero(d != s.zero(d.dtype)) == 1


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
