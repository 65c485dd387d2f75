"""Finds shortest paths, their trees, and levels on a matrix in parts by near-far relaxation; see `search`."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.shared.bucket_width import bucket_width
from algorithms.shared.parents import gains_by_length
from algorithms.shared.single_source import Exact, Until
from algorithms.shared.traversal import Direction
from formats import CSR
from formats.arrays import differs, index_dtype
from formats.matrix.facts import Fact
from formats.parts.partitioned import Partitioned
from formats.storage.orientation import compressed
from semiring import MONOIDS, MinFirst, MinPlus, Semiring
from semiring.parts.exchange import combined
from semiring.statistics import mean
from semiring.vectors import all_vertices, as_bound
from semiring.verbs.registry import Declined

from ..cpu.near_far import MEANS, MEANS_BY_DEGREE, MIN_SKEW, WORST, cannot_overflow, full_values, worst_weight
from ..cpu.trees import loops, parents
from .many_sources import alone_on_host
from .search import Search, own_range, own_rows
from .strips import worst

LEVEL = np.dtype(np.int32)
HOPS: Fact[Partitioned] = Fact("the matrix with a length of 1 for each edge")


def distances(A: Partitioned, source: int, s: Semiring, until: Until, delta: Any = None) -> Any:
    """Returns distances from `source`; `Declined` where longer paths may be better."""
    rows: Any = compressed(A, 0)
    gains = gains_by_length(A, s)
    if (whole := alone_on_host(rows, always=gains)) is not None:
        with A.group.guarded("paths"):
            return by_one(whole, source, s, until, delta, gains)
    if gains:
        return Declined("longer paths may be better, and there is no room for all of the matrix beside a strip")
    if not s.adds_weights:
        return Search(rows, source, s, until, None).run()
    step = suitable_step(rows, s) if delta is None else bucket_width(rows, delta)
    return exactly(rows, Search(rows, source, s, until, step).run(), s)


def by_one(A: CSR, source: int, s: Semiring, until: Until, delta: Any, gains: bool) -> Any:
    """Returns distances by a process alone; `gains` if longer paths may be better."""
    if gains:
        from ..cpu.label_correcting import by_queue

        return by_queue(A, source, s, until)
    from ..cpu.distances import near_far

    return near_far(A, source, s, until, delta=delta)


def tree(A: Partitioned, d: Any, source: int, s: Semiring) -> Any:
    """Finds parents from the distances, where each vertex hangs on a nearer one; else `Declined`."""
    gains = gains_by_length(A, s)
    if (whole := alone_on_host(compressed(A, 0), always=gains)) is not None:
        with A.group.guarded("tree"):
            return parents(whole, d, source, s, nearest=False)
    if gains:
        return Declined("a nearer vertex need not come earlier, so that parents are found in rounds")
    rows: Any = compressed(A, 0)
    with A.group.guarded("tree"):
        own, p = own_rows(rows), np.full(A.nrows, -1, index_dtype(A.nrows))
        row_round, *_ = loops(s, A.dtype)
        bits, range_of_rows = p.view(f"u{p.itemsize}"), own_range(rows)
        row_round(True, own.indptr, own.indices, full_values(own), d, bits, range_of_rows.start, range_of_rows.stop)
        none = MinFirst.zero(p.dtype)
        p[p < 0] = none
    parent = combined(A.group, "tree", p, MinFirst.add, none)
    parent[parent == none] = -1
    parent[source] = -1
    alone = differs(d, s.zero(d.dtype)) & (parent < 0)
    if np.count_nonzero(alone) > 1 or not alone[source]:
        return Declined("plateaus of equal distances hang on vertices that are found in rounds")
    return parent


def levels(
    A: Partitioned, source: int, how: Direction, deepest: int | None, return_parents: bool, target: int | None = None
) -> Any:
    """Returns levels and parents of a breadth-first search: shortest paths with a length of 1 for each edge."""
    rows: Any = compressed(A, 0)
    if (whole := alone_on_host(rows)) is not None:
        from ..cpu.bfs import search

        with A.group.guarded("levels"):
            return search(whole, source, None, how, deepest, return_parents, target)
    hops = rows.keep(HOPS, lambda: rows.pattern().astype(LEVEL))
    until = Until(MinPlus, None if deepest is None else LEVEL.type(min(deepest, A.nrows)), target)
    d, parent = Search(hops, source, MinPlus, until, LEVEL.type(1)).run(), None
    d = until.within(d, d)
    none = d == MinPlus.zero(LEVEL)
    if return_parents:
        parent = tree(hops, d, source, MinPlus)
        if isinstance(parent, Declined):
            return parent
        parent = np.where(none, -1, parent).astype(all_vertices(A).dtype)
    d[none] = -1
    return d, parent


def suitable_step(A: Partitioned, s: Semiring) -> Any:
    """Returns Δ by the weights and degrees of A."""
    usual = max(A.nnz / max(A.nrows, 1), 1)
    width = mean(A, s) * (1 / usual if skewed(A) else min(MEANS, MEANS_BY_DEGREE / usual))
    return as_bound(width if np.isfinite(width) else float(np.finfo(np.float64).max), A.dtype, s)


def skewed(A: Partitioned) -> bool:
    """True if a few vertices have far more edges than others."""
    return A.longest() * A.nrows > MIN_SKEW * max(A.nnz, A.nrows)


def exactly(A: Partitioned, d: np.ndarray, s: Semiring) -> Any:
    """Returns d, as `Exact` if no finite length can have saturated."""
    if s.add in (MONOIDS["min"], MONOIDS["max"]):
        heaviest(A, s)
    farthest = d.dtype.type(worst(s, d.dtype)(d, s.unit(d.dtype)))
    return Exact(d) if cannot_overflow(A, farthest, s) else d


def heaviest(A: Partitioned, s: Semiring) -> Any:
    """Returns the weight of all processes that makes a path the worst; the zero without one. Found once."""
    zero = s.zero(A.dtype)

    def of_all() -> Any:
        found = zero
        own = own_rows(A)
        for x in A.of_each(worst_weight(own, s) if own.nnz else zero):
            found = x if found == zero or (x != zero and s.better(found, x)) else found
        return found

    return A.keep(WORST, of_all, s)
