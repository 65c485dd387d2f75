"""Schedules of the fixpoints and searches that users' programs have, which `semiring.fusing.fixpoints` recognises.

They are those of the package's own algorithms, wherever the matrix is: on the CPU, on GPUs, in parts, or streamed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from algorithms.equations.bellman_ford import bellman_ford
from algorithms.equations.bfs import bfs
from algorithms.equations.delta_stepping import delta_stepping
from algorithms.equations.scc import scc
from algorithms.shared.parents import gains_by_length
from algorithms.shared.single_source import Exact, Until, order_matters
from algorithms.shared.traversal import Direction
from formats import Matrix
from formats.arrays import Array, all_of, differs, namespace
from formats.storage.orientation import compressed, is_symmetric
from semiring import MONOIDS, OPERATORS, Law, MinPlus, Semiring
from semiring.verbs.registry import Declined

FROM_DISTANCES = {"cpu": "algorithms.fused.cpu.schedules", "cuda": "algorithms.fused.cuda.paths"}
"""The modules that relax from any distances on."""
EXTREMES = {MONOIDS["min"]: "minimum", MONOIDS["max"]: "maximum"}
"""The functions of NumPy and CuPy that are ⊕."""


def relaxed(A: Matrix, d: Array, frontier: Array, s: Semiring, limit: Any) -> Array | None:
    """The least fixpoint of d = d ⊕ d A above d, from which all but the frontier's edges are relaxed already.

    limit: distances that are worse stay as they are in d; the zero for none.  None if the order of relaxations could
    matter, a path could gain by being longer, or no schedule takes such a start.
    """
    if not s.add.selective or s.add.name == "any":
        return None
    if s.mul != OPERATORS["first"] and (
        Law.UNIT not in s.laws or order_matters(s, A.dtype) or outside(A, s) or gains_by_length(A, s)
    ):
        return None
    whole = not (A.in_parts or A.streams)
    from_all = frontier.size == int(differs(d, s.zero(d.dtype)).sum())
    if whole and from_all and s.mul == OPERATORS["first"] and s.add in EXTREMES and is_symmetric(A, pattern=True):
        if all_of(differs(compressed(A, 0).values, s.zero(A.dtype))):
            return within(best_of_components(A, d, s), d, s, limit)
    if frontier.size == 1 and Law.UNIT in s.laws and is_unit(d, int(frontier[0]), s):
        find = delta_stepping if s == MinPlus else bellman_ford
        until = Until(s, None if limit == s.zero(d.dtype) else limit)
        found = find.run(compressed(A, 0) if whole else A, int(frontier[0]), s, until)
        found = found.d if isinstance(found, Exact) else found
    elif whole and (from_all or A.place.on_host):  # on a GPU all that has a distance is relaxed from at first
        found = import_module(FROM_DISTANCES[A.place.backend]).from_distances(
            compressed(A, 0), d.copy(), frontier, s, limit
        )
    else:
        return None
    return None if isinstance(found, Declined) else within(found, d, s, limit)


def best_of_components(A: Matrix, d: Array, s: Semiring) -> Array:
    """The best of the distances in each vertex's component, as all of it leads to all of it by edges both ways."""
    xp, component = namespace(d), scc(A, weak=True)
    best = xp.full(d.shape, s.zero(d.dtype), d.dtype)
    getattr(xp, EXTREMES[s.add]).at(best, component, d)
    return best.take(component)


def within(found: Array, d: Array, s: Semiring, limit: Any) -> Array:
    """Put d in the place of what was found where that is worse than the limit."""
    return found if limit == s.zero(d.dtype) else namespace(d).where(s.better(limit, found), d, found)


def searched(A: Matrix, source: int, outside: Array | None) -> Array:
    """The level of each vertex in a search that keeps out of what is outside, -1 where it does not lead."""
    return bfs.run(A, source, outside, Direction(), None, False)[0]


def outside(A: Matrix, s: Semiring) -> bool:
    """True if a weight may be outside the values on which the semiring's laws hold."""
    return s.domain is not None and A.nnz > 0


def is_unit(d: Array, source: int, s: Semiring) -> bool:
    """True if d is the unit vector of the source."""
    return bool(d[source] == s.unit(d.dtype)) and int(differs(d, s.zero(d.dtype)).sum()) == 1
