"""Shortest paths on a matrix in parts: near-far relaxation of a process's own rows, and an exchange of what improved.

    until nobody has anything left:
        until nobody has improved a distance no worse than top:
            relax from own vertices as far as top, bucket by bucket       the loop of `fused.cpu.relaxation`
            exchange what improved to no worse than top: d = d ⊕ that
        top = (the best distance beyond top, of all processes) ⊗ step

All processes have the whole d, and each the edges from its own vertices. A distance may be relaxed in any order, so d
is the fixpoint of the equations, to the last bit, however many processes there are. What d holds at any time is the
length of some walk, so that a search may start from it again (`checkpoints`). The step is Δ at first, and doubles
while all processes together relax too few edges between two exchanges to be worth one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from algorithms.shared.bucket_width import bucket_width
from algorithms.shared.cycle_watch import ENDLESS
from algorithms.shared.errors import broken_law
from algorithms.shared.parents import gains_by_length
from algorithms.shared.single_source import Until
from formats import CSR
from formats.arrays import differs
from formats.matrix.facts import Fact
from formats.parts.partitioned import Partitioned
from formats.storage.orientation import compressed
from semiring import OPERATORS, MinFirst, MinPlus, Semiring, nearer, select, tight, vxm
from semiring.cpu.kernels import compiled
from semiring.parts.exchange import combined, listed
from semiring.parts.products import own_strips
from semiring.statistics import mean
from semiring.vectors import all_vertices, as_bound, product
from semiring.verbs import steps
from semiring.verbs.explanation import explained, facts
from semiring.verbs.registry import Unsuited

from ..cpu.near_far import MEANS, MEANS_BY_DEGREE, SHORT, SKEWED, capped, full_values, room_for
from ..cpu.relaxation import kept, orders, search, sifting
from .checkpoint import saving

WORTH = 1 << 18
"""Edges that all processes relax between two exchanges at least, where longer steps can have it so."""

LEVEL = np.dtype(np.int32)
LENGTHS: Fact[Partitioned] = Fact("the matrix with a length of 1 for each edge")

OWN: Fact[CSR] = Fact("the rows of this process, as a matrix of the whole's shape")


def own_rows(A: Partitioned) -> CSR:
    """The rows of this process, as a matrix of the whole's shape without the others': made once, and kept."""

    def make() -> CSR:
        first, *others = own_strips(A)
        for other in others:
            first = steps.united(first, other, OPERATORS["first"])
        return first

    return A.keep(OWN, make)


def distances(A: Partitioned, source: int, s: Semiring, until: Until, delta: Any) -> Any:
    """Distances from `source`; `Unsuited` where longer paths may be better."""
    if gains_by_length(A, s):
        return Unsuited("longer paths may be better, and cycles close across processes")
    rows: Any = compressed(A, 0)
    if s.mul != OPERATORS["plus"]:
        step = None
    else:
        step = suitable_step(rows, s) if delta is None else bucket_width(rows, delta)
    return Search(rows, source, s, until, step).run()


def tree(A: Partitioned, d: Any, source: int, semiring: Semiring) -> Any:
    """Parents from the distances, where each vertex hangs on a nearer one; else `Unsuited`."""
    if gains_by_length(A, semiring):
        return Unsuited("a nearer vertex need not come earlier, so that parents are found in rounds")
    rows, group = compressed(A, 0), A.group
    with group.guarded("tree"):
        T = select(own_rows(rows), tight(semiring), row=d, col=d)
        N = select(T, nearer(semiring), row=d, col=d)
        p = vxm(all_vertices(A), N.pattern(), MinFirst)
    none = MinFirst.zero(p.dtype)
    p = combined(group, "tree", p, MinFirst.add, none)
    parent = np.where(p == none, p.dtype.type(-1), p)
    parent[source] = -1
    alone = differs(d, semiring.zero(d.dtype)) & (parent < 0)
    if np.count_nonzero(alone) > 1 or not alone[source]:
        return Unsuited("plateaus of equal distances hang on vertices that are found in rounds")
    return parent


def levels(A: Partitioned, source: int, deepest: int | None, return_parents: bool, target: int | None) -> Any:
    """(levels, parents) of a breadth-first search: distances where every edge has length 1."""
    rows: Any = compressed(A, 0)
    S = rows.keep(LENGTHS, lambda: rows.pattern().astype(LEVEL))
    limit = None if deepest is None else LEVEL.type(min(deepest, rows.nrows))
    until = Until(MinPlus, limit, target)
    d = until.within(*[Search(S, source, MinPlus, until, LEVEL.type(1)).run()] * 2)
    parent = None
    if return_parents:
        parent = tree(S, d, source, MinPlus)
        if isinstance(parent, Unsuited):
            return parent
        parent = np.where(d == MinPlus.zero(LEVEL), -1, parent).astype(all_vertices(A).dtype)
    return np.where(d == MinPlus.zero(LEVEL), LEVEL.type(-1), d), parent


def suitable_step(A: Partitioned, s: Semiring) -> Any:
    """Δ by the weights and degrees of A."""
    usual = max(A.nnz / max(A.nrows, 1), 1)
    skewed = A.longest() * A.nrows > SKEWED * max(A.nnz, A.nrows)
    width = mean(A, s) * (1 / usual if skewed else min(MEANS, MEANS_BY_DEGREE / usual))
    return as_bound(width if np.isfinite(width) else float(np.finfo(np.float64).max), A.dtype, s)


class Search:
    """A process's part of one search.

    d: the distances that this process knows.  sent: those that all processes know.  top: the worst distance that is
    relaxed from in this step; the zero if there is no such bound.  best: the best one that is to be relaxed from.
    counts: as in `relaxation.search`.
    """

    def __init__(self, A: Partitioned, source: int, s: Semiring, until: Until, delta: Any) -> None:
        self.A, self.s, self.until, self.delta, self.group = A, s, until, delta, A.group
        self.zero = self.best = s.zero(A.dtype)
        with self.group.guarded("rows"):
            own, room = own_rows(A), room_for(A.nrows)
            self.rows = own.indptr, own.indices, full_values(own), np.empty(0, A.dtype), s.unit(A.dtype)
            self.own = np.diff(own.indptr) > 0
            self.d = np.full(A.nrows, self.zero, A.dtype)
            self.d[source] = s.unit(A.dtype)
            self.near, self.far = ((np.empty(room, own.indices.dtype), np.empty(room, A.dtype)) for _ in range(2))
            self.at = np.empty(A.nrows, np.intp)
        self.saved = saving(A, source, s, self.d)
        self.sent, self.counts = self.d.copy(), np.zeros(4, np.int64)
        self.exchanges = self.steps = 0
        self.times = 1
        self.top = self.zero if delta is None else self.ahead(s.unit(A.dtype))
        self.put(np.flatnonzero(differs(self.d, self.zero)))

    def ahead(self, x: Any) -> Any:
        """x ⊗ step, and x where that is no worse: where Δ is absorbed."""
        step = as_bound(float(self.delta) * self.times, self.A.dtype, self.s)
        top = product(step, x, self.s)
        return x if self.s.better(top, x) else top

    def put(self, at: np.ndarray) -> None:
        """Vertices of which somebody has improved the distance: the own ones are to be relaxed from."""
        at = at[self.own[at]]
        if self.counts[0] + at.size > self.far[0].size:
            self.counts[0] = kept(*self.far, 0, int(self.counts[0]), self.d)
        start, stop, x = int(self.counts[0]), int(self.counts[0]) + at.size, self.d[at]
        self.far[0][start:stop], self.far[1][start:stop], self.counts[0] = at, x, stop
        if at.size:
            self.best = capped(self.best, best_of(self.s, x), self.s)

    def run(self) -> Any:
        """The distances, whole."""
        short_rows = self.delta is not None and self.A.nnz <= SHORT * self.A.nrows
        loop, looked_at = search(self.s, self.A.dtype, self.delta is not None, short_rows), 0
        while True:
            self.relaxed(loop)
            while (edges := self.exchanged(looked_at)) is None:
                self.relaxed(loop)
            bound = self.until.bound(self.d)
            if self.best == self.zero or (bound is not None and self.s.better(bound, self.best)):
                break
            self.times *= 2 if edges < WORTH else 1
            looked_at = int(self.counts[2])
            self.top = self.ahead(self.best) if self.delta is not None else self.zero
            self.steps += 1
        self.top = self.zero
        self.exchanged(0)
        self.saved.forget()
        if explained():
            facts(schedule="near-far, by processes", processes=self.group.size, delta=self.delta, steps=self.steps)
            facts(exchanges=self.exchanges, relaxed=int(self.counts[1]), edges=int(self.counts[2]))
        return self.d

    def relaxed(self, loop: Any) -> None:
        """Relax from own vertices as far as top."""
        if self.best == self.zero or (self.top != self.zero and self.s.better(self.top, self.best)):
            return
        with self.group.guarded("relaxing"):
            state, room = (self.rows, self.d, self.near, self.far, self.counts), self.near[0].size
            delta, top = self.s.unit(self.A.dtype), self.zero
            if self.delta is not None:
                delta, top = self.delta, product(self.delta, self.best, self.s)
                top = capped(self.best if self.s.better(top, self.best) else top, self.top, self.s)
            size, best = sifting(self.s, self.A.dtype)(top, self.d, self.near, self.far, self.counts)
            _, _, _, best = loop(state, -1, self.top, delta, top, self.A.dtype.type(best), size, room)
            self.best = self.A.dtype.type(best)
            if self.counts[0] < 0:
                raise ValueError(broken_law(self.s, ENDLESS))
            if self.counts[0] == 0:
                self.best = self.zero

    def exchanged(self, looked_at: int) -> int | None:
        """Send what improved, and take what others send.

        None; or if nobody had anything, the edges that were looked at in this step, and then all know the best.
        """
        bounded = self.top != self.zero
        count = changes(self.s, self.A.dtype)(self.d, self.sent, self.top, bounded, self.at)
        at, done = self.at[:count], min(int(self.counts[2]) - looked_at, self.A.nrows, WORTH)
        mine = listed(np.append(at, done), np.append(self.d[at], self.best), self.A.nrows)
        lists = self.group.everyone("paths", mine)
        self.exchanges += 1
        if all(pairs.size == 1 for pairs in lists):
            for pairs in lists:
                self.best = capped(self.best, self.A.dtype.type(pairs["value"][-1]), self.s)
            return sum(int(pairs["at"][-1]) for pairs in lists)
        for rank, pairs in enumerate(lists):
            places, x = pairs["at"][:-1], np.ascontiguousarray(pairs["value"][:-1])
            self.sent[places] = self.s.add(self.sent[places], x)
            if rank != self.group.rank:
                better = np.asarray(self.s.better(x, self.d[places]), bool)
                self.d[places[better]] = x[better]
                self.put(places[better])
        self.saved.look(self.sent)
        return None


@lru_cache(maxsize=64)
def changes(semiring: Semiring, dtype: np.dtype) -> Any:
    """What finds the places at which d has changed, for a semiring and a dtype."""
    better_than, _ = orders(semiring)

    @compiled
    def changed(d, sent, top, bounded, at):
        """List the places where d is not what was sent, and, if it is `bounded`, no worse than top; how many."""
        count = 0
        for i in range(d.size):
            if d[i] != sent[i]:
                at[count] = i
                count += 1 if not (bounded and better_than(top, d[i])) else 0
        return count

    return changed


def best_of(s: Semiring, x: np.ndarray) -> Any:
    """The best of some distances."""
    low, high = x.min(), x.max()
    return low if s.better(low, high) else high
