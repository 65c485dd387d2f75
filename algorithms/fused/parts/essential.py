"""The edges of a matrix in parts that shortest paths may take, see `cpu.essential`: found together, and kept.

Each process looks through its own rows. Where all that is left takes no more memory than a part of a process's own
rows, every process keeps all of it, and searches alone: nothing travels. Else it keeps what is left of its own rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.shared.single_source import Exact, Until
from formats import CSR
from formats.arrays import concatenated
from formats.matrix.facts import Fact
from formats.parts.partitioned import Partitioned
from formats.storage.orientation import known_symmetric
from semiring import MONOIDS, Semiring
from semiring.verbs.explanation import facts

from ..cpu.essential import SEARCHED, SWEEPS, entry_bytes, loops, remaining, sampled_share
from ..cpu.near_far import SKEWED, WORST, Essential, Plan, fits, full_values, worst_weight
from ..cpu.near_far import Search as OneSearch
from ..essential import BYTES, SHARE, allowance, applies
from .search import Search, gathered, own_range, own_rows
from .strips import worst


@dataclass(frozen=True)
class Kept:
    """What is left.  everywhere: does every process have the rows of all?"""

    found: Essential
    everywhere: bool


ESSENTIAL: Fact[Kept | None] = Fact("essential edges of parts")
"""Given: the semiring."""


def essential(A: Partitioned, source: int, s: Semiring, until: Until, step: Any) -> Kept | None:
    """What is left of A, if that is little and serves a source: found in the second search of all of A, and kept."""
    if not (applies(A, s) and skewed(A)):
        return None
    if not A.keeps(ESSENTIAL, s):
        if until.limit is not None or until.target is not None:
            return None
        if not A.keeps(SEARCHED, s):
            A.keep(SEARCHED, lambda: True, s)
            return None
    kept = A.keep(ESSENTIAL, lambda: find_essential(A, s, step), s)
    return kept if kept is not None and kept.found.serves(source) else None


def skewed(A: Partitioned) -> bool:
    """Have a few vertices far more edges than others?"""
    return A.longest() * A.nrows > SKEWED * max(A.nnz, A.nrows)


def heaviest(A: Partitioned, s: Semiring) -> Any:
    """The weight that makes a path the worst, of all processes; the zero if there is none. Found once."""
    zero = s.zero(A.dtype)

    def of_all() -> Any:
        found = zero
        own = own_rows(A)
        for x in A.of_each(worst_weight(own, s) if own.nnz else zero):
            found = x if found == zero or (x != zero and s.better(found, x)) else found
        return found

    return A.keep(WORST, of_all, s)


def exactly(A: Partitioned, d: Any, s: Semiring) -> Any:
    """d; as `Exact` if no finite length can have saturated."""
    if s.add in (MONOIDS["min"], MONOIDS["max"]):
        heaviest(A, s)
    return Exact(d) if fits(A, farthest(d, s), s) else d


def farthest(d: np.ndarray, s: Semiring) -> Any:
    """The worst distance that is there."""
    return d.dtype.type(worst(s, d.dtype)(d, s.unit(d.dtype)))


def by_essential(A: Partitioned, source: int, s: Semiring, until: Until, kept: Kept) -> Any:
    """The distances along what is left; None where one is too large for that."""
    found = kept.found
    if kept.everywhere:
        with A.group.guarded("paths"):
            E = CSR.trusted(*found.rows, A.shape)
            search = OneSearch(E, source, s, until, Plan(1, found.delta, found))
            search.run()
            d = search.d
        facts(schedule="near-far, by each process alone", processes=A.group.size, delta=found.delta)
    else:
        d = Search(A, source, s, until, found.delta, found).run()
    facts(essential=found.edges)
    return None if farthest(d, s) > found.farthest else d


def find_essential(A: Partitioned, s: Semiring, step: Any) -> Kept | None:
    """What is left of A; None if that is too much, or if distances are too large to be added safely."""
    group, worst_one = A.group, heaviest(A, s)
    margin, limit = allowance(A.dtype, worst_one, s)
    if worst_one == s.zero(A.dtype) or not np.isfinite(limit):
        return None
    hub = int(A.lengths(0).argmax())
    B = A if margin == 0 else A.mapped(lambda values: values + margin)
    from_hub = Search(B, hub, s, Until(s), step).run()
    top = farthest(from_hub, s)
    with group.guarded("essential edges"):
        own = own_rows(A)
        share = sampled_share(own, from_hub) * own.nnz if own.nnz else 0.0
    if s.better(limit, top) or sum(A.of_each(share)) > SHARE * A.nnz:
        return None
    to_hub = from_hub if known_symmetric(A) else distances_to(B, hub, s)
    with group.guarded("essential edges"):
        left = remaining(own, from_hub, to_hub, margin, int(SHARE * A.nnz), s)
        count = -1 if left is None else left[0][1].size
    counts = A.of_each(count)
    if left is None or min(counts) < 0 or sum(counts) > SHARE * A.nnz:
        return None
    everywhere = group.size * sum(counts) * entry_bytes(own) <= BYTES * A.nnz
    rows, useful = of_all(A, *left) if everywhere else left
    with group.guarded("essential edges"):
        delta = typical_step(A, rows, sum(counts), s)
    delta = A.of_each(delta)[0]
    reach = limit if A.dtype.kind == "i" else limit - top
    return Kept(Essential(rows, to_hub, from_hub, useful, reach, limit, delta), everywhere)


def typical_step(A: Partitioned, rows: Any, entries: int, s: Semiring) -> Any:
    """Δ for so many edges that are left, by the weights of some of them."""
    from ..cpu.near_far import SKEWED_DEGREES, suitable_step

    E = CSR.trusted(*rows, A.shape)
    E.keep(SKEWED_DEGREES, lambda: True)
    step = suitable_step(E, s)
    return A.dtype.type(step * min(1, rows[1].size / max(entries, 1))) if A.dtype.kind == "f" else step


def distances_to(A: Partitioned, hub: int, s: Semiring) -> np.ndarray:
    """Distances to the hub, or longer ones: a few sweeps along the rows, which need no transpose."""
    sweep, _ = loops(s, A.dtype)
    d = np.full(A.nrows, s.zero(A.dtype), A.dtype)
    d[hub] = s.unit(A.dtype)
    for _ in range(SWEEPS):
        with A.group.guarded("essential edges"):
            own = own_rows(A)
            sweep((own.indptr, own.indices, full_values(own)), d)
        d = gathered(A, "essential edges", d)
    return d


def of_all(A: Partitioned, rows: Any, useful: np.ndarray) -> tuple[Any, np.ndarray]:
    """The rows that are left with each process, put together, and `useful`."""
    indptr, everyone, what = rows[0], A.group.everyone, "essential edges"
    lengths = concatenated(everyone(what, np.diff(indptr)[own_range(A)]))
    ends = np.concatenate(([0], np.cumsum(lengths))).astype(indptr.dtype)
    indices, values = (concatenated(everyone(what, x)) for x in rows[1:])
    return (ends, indices, values), gathered(A, what, useful)
