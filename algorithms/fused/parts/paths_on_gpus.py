"""Finds shortest paths on strips of rows on several GPUs: one fixpoint kernel on each (`strips_paths.cu`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.shared.parents import gains_by_length
from algorithms.shared.single_source import Exact, Until
from formats.arrays import brought, cupy, differs, index_dtype, to_device
from formats.parts.partitioned import WORD, Partitioned
from formats.storage.orientation import compressed
from semiring import MinFirst, MinPlus, Semiring, reduce
from semiring.algebra.codegen import types_of
from semiring.parts.exchange import combined
from semiring.statistics import magnitude, mean
from semiring.vectors import at_the_end
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from ..cuda import kernels
from ..cuda import paths as one_gpu
from ..cuda.layouts import StripControl
from ..cuda.paths import WIDE_MIN_EDGES, Schedule, graph_of, wide_buckets
from .balanced_relabelling import Relabelling, relabelled, relabelling_of
from .checkpoint import Saving, saves
from .gpus import Member, Pauses, Team, team_of
from .many_sources import alone

MAX_STEPS, MAX_GAINING_STEPS = 1 << 62, 4096
"""Steps of a run: all, or so many where a cycle may improve for ever, for which the equations look."""

STEPS_BETWEEN_SAVES = 64
"""Steps after which a search that is saved comes back to the host."""


def distances(A: Partitioned, source: int, s: Semiring, until: Until, delta: Any = None) -> Any:
    """Returns distances from `source`, on the first GPU."""
    rows: Any = compressed(A, 0)
    team, gains = team_of(rows), gains_by_length(A, s)
    if isinstance(team, Declined):
        return team
    is_saved = saves() and not gains
    if not is_saved and (whole := alone(rows, team)) is not None:
        with team.home.scope():
            if s != MinPlus or gains:
                return one_gpu.by_frontiers(whole, source, s, until)
            return one_gpu.by_buckets(whole, source, s, until, delta=delta)
    zero, how = s.zero(A.dtype), schedule(rows, s, delta)
    target = -1 if until.target is None else until.target
    start = source
    if (numbers := relabelling_of(rows, team)) is not None:
        team, start = relabelled(rows, numbers), numbers.number(source)
        target = numbers.number(target) if target >= 0 else -1
    run = Run(team, rows.nrows, s, A.dtype, how)
    run.begin(start)
    saved = Saved(run, rows, source, numbers) if is_saved else None
    limit = zero if until.limit is None else A.dtype.type(until.limit)
    states = run.finish(limit, target, gains, saved)
    done = bool(states[0][0] >> np.uint64(32))  # on all of them
    told = [StripControl.read(state, "edges", "taken", "saturated") for state in states]
    known = StripControl.read(states[0], "steps", "edges", "thresholds", "doublings")
    known["edges"] = sum(each["edges"] for each in told)
    details(kernel="strips", gpus=team.count, schedule=how.name, delta=how.width, **known)
    details(**StripControl.read(states[0], "busiest"), received=sum(each["taken"] for each in told))
    if not done:
        return Declined(f"after {MAX_GAINING_STEPS} steps something still changed")
    d = team.whole("paths, whole", [d[member.range] for d, member in zip(run.d, team.members, strict=True)], run.d[0])
    if saved is not None:
        saved.forget()
    if numbers is not None:
        with team.home.scope():
            d = numbers.in_order(d)
    if gains and at_the_end(reduce(d, s.add), s):
        return Declined("a distance is at the end of the range, as it would be after a cycle")
    saturated = any(rows.of_each(any(each["saturated"] for each in told)))
    return d if gains or saturated else Exact(d)


def tree(A: Partitioned, d: Any, source: int, s: Semiring) -> Any:
    """Finds parents from the distances, where each vertex hangs on a nearer one; else `Declined`."""
    rows: Any = compressed(A, 0)
    team = team_of(rows)
    if isinstance(team, Declined):
        return team
    if (whole := alone(rows, team)) is not None:
        with team.home.scope():
            return one_gpu.tree(whole, d, source, s)
    if gains_by_length(A, s):
        return Declined("a nearer vertex need not come earlier, so that parents are found in rounds")

    def offered(member: Member) -> Any:
        of_all, own, index = brought(d, member.place), member.rows, member.rows.indptr.dtype
        k, parent = kernels.path("tree", s, A.dtype, types_of(own)), cupy().full(A.nrows, -1, index)
        sizes = k.index(member.own), k.index(own.nnz), k.index(member.first)
        k.plain("offer_strip", member.own + own.nnz, (*graph_of(own, k), *sizes, of_all, k.index(source), parent))
        return parent

    found = team.each(offered)
    with team.home.scope():
        parent, *others = (brought(x, team.home).astype(index_dtype(A.nrows), copy=False) for x in found)
        none = MinFirst.zero(parent.dtype)
        for x in (parent, *others):
            x[x < 0] = none
        for other in others:
            parent = cupy().minimum(parent, other)
        parent = combined(A.group, "tree", parent, MinFirst.add, none)
        parent[parent == none] = -1
        alone_there = differs(d, s.zero(d.dtype)) & (parent < 0)
        alone_there[source] = False
        if bool(alone_there.any()):
            return Declined("plateaus of equal distances hang on vertices that are found in rounds")
    details(gpus=team.count)
    return parent


def schedule(A: Partitioned, s: Semiring, delta: Any) -> Schedule:
    """Returns near and far vertices, by the mean weight, or where one is negative by the largest; else frontiers."""
    if s != MinPlus:
        return Schedule("frontier", s.zero(A.dtype), few=WIDE_MIN_EDGES)
    return wide_buckets(A, delta, magnitude(A, MinPlus) / 2 if gains_by_length(A, MinPlus) else mean(A, MinPlus))


class Run:
    """The vectors of a run on each GPU.

    d: distances of all vertices.  marks: a bitmap of all.  active: one of the own.  Others write into the two inboxes:
    heads, bits and values, as in strips_paths.cu.
    """

    def __init__(self, team: Team, n: int, s: Semiring, dtype: np.dtype, how: Schedule) -> None:
        self.team, self.n, self.s, self.dtype, self.how = team, n, s, dtype, how
        self.words = -(-int(max(np.diff(team.starts))) // 1024) * 32

        def vectors(member: Member) -> tuple[Any, ...]:
            cp, own, index = cupy(), max(member.own, 1), member.rows.indptr.dtype
            bits = [cp.empty(-(-size // 32), np.uint32) for size in (n, own)]
            lists = [cp.empty(own, index) for _ in range(2)]
            return cp.empty(n, dtype), *bits, lists, cp.empty(StripControl.words, np.uint64)

        self.d, self.marks, self.active, self.lists, self.controls = zip(*team.each(vectors), strict=True)
        others = team.count - 1
        inboxes = [
            (others * self.words // 32, np.uint32),
            (others * self.words, np.uint32),
            (others * self.words * 32, dtype),
        ]
        self.inboxes, self.tables = team.shared(*(kind for kind in inboxes for _ in range(2)))
        self.kernels = team.each(lambda member: kernels.path("strips", s, dtype, types_of(member.rows)))

    def begin(self, source: int) -> None:
        """Writes the state before the first step."""
        one = self.s.unit(self.dtype)
        each = zip(self.team.members, self.controls, self.d, self.marks, self.active, self.kernels, strict=True)
        for member, control, d, marks, active, k in each:
            with member.place.scope():
                sizes = np.int64(self.n), np.int64(member.first), np.int64(member.own)
                k.plain("begin_strip", self.n, (control, *sizes, d, marks, active, np.int64(source), one, one))

    def go_on_from(self, found: np.ndarray) -> None:
        """Lets the first step begin with lengths of walks to all vertices, which each GPU then knows."""
        there = differs(found, self.s.zero(self.dtype))
        for member, d, active in zip(self.team.members, self.d, self.active, strict=True):
            own = np.zeros(-(-member.own // WORD) * WORD, bool)
            own[: member.own] = there[member.range]
            words = np.packbits(own, bitorder="little").view(np.uint32)
            with member.place.scope():
                d[...] = cupy().asarray(found)
                active[: words.size] = cupy().asarray(words)

    def finish(self, limit: Any, target: int, gains: bool, pauses: Pauses | None = None) -> list[Any]:
        """Takes all steps, and returns the controls on the host."""
        arguments = []
        vectors = zip(self.controls, self.d, self.marks, self.active, self.lists, strict=True)
        about = zip(self.team.members, self.tables, self.team.starts_there, self.kernels, strict=True)
        for (member, table, starts, k), (control, *bits, lists) in zip(about, vectors, strict=True):
            team = table, np.int32(self.team.count), np.int32(member.number), starts, np.int64(self.words)
            how = self.how.width, limit, k.index(target), np.uint64(self.how.few), np.uint64(self.how.doublings)
            arguments.append((control, *team, *graph_of(member.rows, k), *bits, *lists, *how))
        most = MAX_GAINING_STEPS if gains else MAX_STEPS
        return self.team.run("strips", list(self.kernels), arguments, list(self.controls), most, pauses)


class Saved(Pauses):
    """A run that comes back to the host now and then, and saves what the GPUs know of their own vertices.

    What they have brought to each other in the last step may be missing. It is found again, for who goes on begins at
    all vertices that have a distance.
    """

    def __init__(self, run: Run, A: Partitioned, source: int, numbers: Relabelling | None) -> None:
        """A and source have the numbers that are saved; the run has those of the relabelling, if there is one."""
        super().__init__(STEPS_BETWEEN_SAVES)
        self.run, self.numbers, begun = run, numbers, np.full(A.nrows, run.s.zero(A.dtype), A.dtype)
        begun[source] = run.s.unit(A.dtype)
        self.saving = Saving(A, source, run.s, begun)
        run.go_on_from(begun if numbers is None else numbers.renumbered(begun))

    def due(self) -> bool:
        return self.saving.due()

    def look(self) -> None:
        team = self.run.team
        own = [d[member.range] for d, member in zip(self.run.d, team.members, strict=True)]
        d = team.whole("checkpoint", own)
        with team.home.scope():
            self.saving.look(to_device(d if self.numbers is None else self.numbers.in_order(d), "cpu"))

    def forget(self) -> None:
        self.saving.forget()
