"""Runs a near-far search in parts: each process relaxes its own rows, and tells owners of what improved.

    until nobody has anything left:
        top = (the best distance that anybody has left) ⊗ step
        relax from own vertices as far as top, bucket by bucket                   `cpu.relaxation`, on `strips`
        tell the owners of other vertices of their improved distances             d = d ⊕ those
    gather d, which each process knows of its own vertices

A distance may be relaxed in any order, so d is the fixpoint of the equations, to the last bit, however many processes
there are. What d holds at any time is the length of some walk, so that a search may start from it again
(`checkpoints`). The step is Δ at first, and then such that all processes together relax enough edges to be worth an
exchange, and few more: the longer a step is, the more is relaxed from distances that others improve meanwhile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.shared.cycle_watch import ENDLESS
from algorithms.shared.errors import broken_law
from algorithms.shared.single_source import Until
from formats import CSR
from formats.arrays import concatenated, differs
from formats.matrix.facts import Fact
from formats.parts.partitioned import Partitioned
from semiring import OPERATORS, Semiring
from semiring.parts.products import own_strips
from semiring.vectors import as_bound
from semiring.verbs import steps
from semiring.verbs.explanation import details, explained

from ..cpu.near_far import capped, full_values, room_for
from ..cpu.relaxation import kept, search, sifting
from .checkpoint import saving
from .strips import EDGES, FAR, RELAXED, owned, packing, taking

MIN_EXCHANGE_EDGES, MIN_EXCHANGES = 1 << 14, 32
"""Edges that all processes are to relax between two exchanges, or so many parts of all edges, if that is more."""

OWN: Fact[CSR] = Fact("the rows of this process, as a matrix of the whole's shape")
FIRSTS: Fact[np.ndarray] = Fact("the first row of each process")


def own_rows(A: Partitioned) -> CSR:
    """Returns the rows of this process, as a matrix of the whole's shape without the others': made once, and kept."""

    def make() -> CSR:
        first, *others = own_strips(A)
        for other in others:
            first = steps.united(first, other, OPERATORS["first"])
        return first

    return A.keep(OWN, make)


def own_range(A: Partitioned) -> slice:
    """Returns the range of this process's rows."""
    return slice(A.rows[0][0], A.rows[-1][1])


def firsts_of(A: Partitioned) -> np.ndarray:
    """Returns the first row of each process: a step of the group, and kept."""
    return A.keep(FIRSTS, lambda: np.array(A.of_each(A.rows[0][0])))


def gathered(A: Partitioned, what: str, x: np.ndarray) -> np.ndarray:
    """Gathers a vector of which each process knows its own rows. A step of the group."""
    return x if A.group.size == 1 else concatenated(A.group.everyone(what, x[own_range(A)]))


class Search:
    """A process's part of one search.

    d: the distances that this process knows.  top: the worst distance that is relaxed from in this step; the zero if
    there is no such bound.  best: the best one that is to be relaxed from.  counts: see `strips`.
    """

    def __init__(self, A: Partitioned, source: int, s: Semiring, until: Until, delta: Any) -> None:
        self.A, self.s, self.until, self.delta, self.group = A, s, until, delta, A.group
        self.zero = self.best = s.zero(A.dtype)
        self.own, self.firsts = own_range(A), firsts_of(A)
        with self.group.guarded("rows"):
            own = own_rows(A)
            index, count = own.indices.dtype, self.own.stop - self.own.start
            self.listed = np.empty(A.nrows + 1, index), np.zeros(A.nrows, bool)
            everyone = np.empty(0, A.dtype), s.unit(A.dtype)  # nobody is passed over
            edges = own.indptr, own.indices, full_values(own), *everyone
            self.rows = *edges, self.own.start, count, *self.listed
            longest = own.longest()  # a list must take a row, whose ends are others' mostly
            rooms = (*[room_for(count) + longest] * 2, A.nrows)
            self.near, self.far, self.pairs = ((np.empty(room, index), np.empty(room, A.dtype)) for room in rooms)
            self.ends, self.counts = np.zeros(self.group.size + 1, np.int64), np.zeros(5, np.int64)
            self.d = np.full(A.nrows, self.zero, A.dtype)
            self.d[source] = s.unit(A.dtype)
        self.saved = saving(A, source, s, self.d)
        self.steps, self.busiest, self.times = 0, 0, 1.0
        self.alone = self.group.size == 1 and self.saved.wanted is None
        limit = self.zero if until.limit is None else until.limit
        self.top = limit if delta is None or self.alone else capped(self.ahead(s.unit(A.dtype)), limit, s)
        at = self.own.start + np.flatnonzero(differs(self.d[self.own], self.zero))
        with self.group.guarded("rows"):
            self.load()
            self.take(at.astype(index), self.d[at], every=True)

    def ahead(self, x: Any) -> Any:
        """Returns x ⊗ step, or x where that is no worse: where Δ is absorbed."""
        step = as_bound(float(self.delta) * self.times, self.A.dtype, self.s)
        top = self.s.product(step, x)
        return x if self.s.better(top, x) else top

    def load(self) -> None:
        """Loads machine code on all processes at once, so that none waits for another's in a step."""
        self.loop = search(self.s, self.A.dtype, self.delta is not None, owned)
        self.loop(self.state(), -1, self.zero, self.s.unit(self.A.dtype), self.zero, self.zero, 0, self.near[0].size)

    def state(self) -> tuple[Any, ...]:
        """Returns what the loop relaxes with."""
        return self.rows, self.d, self.near, self.far, self.counts

    def run(self) -> Any:
        """Runs the search, and returns the distances of all vertices."""
        while self.stepped():
            pass
        d = gathered(self.A, "paths, whole", self.d)
        self.saved.forget()
        if explained():
            details(schedule="near-far, by processes", processes=self.group.size, delta=self.delta, steps=self.steps)
            details(relaxed=int(self.counts[RELAXED]), edges=int(self.counts[EDGES]), busiest=self.busiest)
        return d

    def stepped(self) -> bool:
        """Relaxes as far as top, tells the owners, and hears of own vertices; true if anything is left."""
        before = int(self.counts[EDGES])
        with self.group.guarded("relaxing"):
            self.relax()
            pieces, best = self.packed()
            bound = self.until.bound(self.d)
            note = np.zeros(4, np.int64)
            for place, x in enumerate((best, self.zero if bound is None else bound)):
                note[place : place + 1].view(self.A.dtype)[0] = x
            note[2:] = int(self.counts[EDGES]) - before, self.saved.due()
        received, notes = self.group.exchange_noted("paths", pieces, note)
        self.steps += 1
        with self.group.guarded("relaxing"):
            for piece in received:
                if piece.size:
                    self.take(*self.unpacked(piece))
        if any(each[3] for each in notes):
            self.saved.look(gathered(self.A, "checkpoint", self.d))
        self.busiest += max(int(each[2]) for each in notes)
        best, bound = self.zero, self.zero
        for each in notes:
            best = capped(best, each[:1].view(self.A.dtype)[0], self.s)
            bound = capped(bound, each[1:2].view(self.A.dtype)[0], self.s)
        if best == self.zero or self.s.better(bound, best):
            return False
        edges = sum(int(each[2]) for each in notes)
        wanted = max(MIN_EXCHANGE_EDGES, self.A.nnz // MIN_EXCHANGES)
        self.times = max(1.0, self.times * min(2.0, wanted / max(edges, 1)))
        self.top = bound if self.delta is None or self.alone else capped(self.ahead(best), bound, self.s)
        return True

    def relax(self) -> None:
        """Relaxes from own vertices as far as top."""
        if self.best == self.zero or (self.top != self.zero and self.s.better(self.top, self.best)):
            return
        delta, top = self.s.unit(self.A.dtype), self.zero
        if self.delta is not None:
            delta, top = self.delta, self.s.product(self.delta, self.best)
            top = capped(self.best if self.s.better(top, self.best) else top, self.top, self.s)
        size, best = sifting(self.s, self.A.dtype)(top, self.d, self.near, self.far, self.counts)
        _, _, _, best = self.loop(
            self.state(), -1, self.top, delta, top, self.A.dtype.type(best), size, self.near[0].size
        )
        if self.counts[FAR] < 0:
            raise ValueError(broken_law(self.s, ENDLESS))
        self.best = self.A.dtype.type(best) if self.counts[FAR] else self.zero

    def packed(self) -> tuple[list[np.ndarray], Any]:
        """Returns what each process is told, as bytes, and the best distance that is told, or left."""
        pack, parts = packing(self.s, self.A.dtype), (self.listed, self.d, self.firsts)
        size = int(self.counts[-1])
        best = self.A.dtype.type(pack(*parts, self.ends, self.pairs, self.counts, self.best))
        self.ends[-1] = size
        at, x = self.pairs
        cuts = zip(self.ends[:-1].tolist(), self.ends[1:].tolist(), strict=True)
        return [np.concatenate((x[a:b].view(np.uint8), at[a:b].view(np.uint8))) for a, b in cuts], best

    def unpacked(self, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns vertices and distances that came as bytes."""
        at, x = self.pairs
        values = piece.size // (at.itemsize + x.itemsize) * x.itemsize
        return piece[values:].copy().view(at.dtype), piece[:values].copy().view(x.dtype)

    def take(self, at: np.ndarray, x: np.ndarray, every: bool = False) -> None:
        """Takes own vertices and distances to relax from; of those that d knows already none, or `every` one."""
        if every:
            self.d[at] = self.zero
        if self.counts[FAR] + at.size > self.far[0].size:
            self.counts[FAR] = kept(*self.far, 0, int(self.counts[FAR]), self.d)
        loop = taking(self.s, self.A.dtype)
        self.best = self.A.dtype.type(loop(at, x, self.d, self.far, self.counts, self.best))
