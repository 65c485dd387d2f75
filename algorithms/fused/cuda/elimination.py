"""Factors on the GPU: their numbers (elimination.cu) and what is asked of them (sweeps.cu).

The order and the pattern are found on the host, as for factors there, and are cut into panels (`panels`). Paths, and
the nearest of several targets, are found on the host, too, from a copy of the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from algorithms.fused.cpu.elimination import engine as host
from algorithms.fused.cpu.elimination.algebra import algebra
from algorithms.fused.cpu.elimination.plan import slots
from algorithms.shared.parents import gains_by_length
from algorithms.shared.single_source import check_range
from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, to_device
from semiring import Law, Semiring
from semiring.verbs.explanation import facts

from . import kernels, panels

CONTROL_WORDS = 4
"""Of 8 bytes, in EliminationControl."""

CLIMB_ROOM, CLIMB_THREADS = 2048, 128
"""As in sweeps.cu: ancestors in shared memory; and threads of a block that climbs for one of many."""

FEW, AT_ONCE = 4, 256
"""Sources up to which each is swept on its own, and sources of a batch."""

TABLE_ROWS, TABLE_COLUMNS = 4096, 4096
"""Of a table, at a time."""

SHARED_SOURCES = 4
"""As in sweeps.cu: sources of a thread of `meet`."""

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


@dataclass(frozen=True)
class Placed:
    """A cut plan on a device; the numbers of its levels, and all bytes."""

    panels: Array
    panel_of: Array
    rows: Array
    depths: Array
    place: Array
    elimination: tuple[Array, ...]
    levels: int
    sweep: tuple[Array, ...]
    bin_count: int
    cut: panels.Cut

    @property
    def nbytes(self) -> int:
        arrays = self.panels, self.panel_of, self.rows, self.depths, self.place, *self.elimination, *self.sweep
        return sum(int(each.nbytes) for each in arrays)


def placed(known: host.Analysis) -> Placed:
    """What a factor's kernels read beside its numbers, once for each device."""
    plan, cp = known.plan, cupy()
    device = cp.cuda.Device()
    key = "cuda", int(device.id)
    if key not in known.placed:
        cut = panels.cut(plan)
        steps = panels.elimination(cut)
        sweep = panels.sweeping(plan, cut, device.attributes["MultiProcessorCount"])
        lists = [
            on_device(part)
            for each in (steps.small, steps.large, steps.spans, steps.tiles)
            for part in (each.things, each.starts)
        ]
        down = sweep.pieces.things, sweep.pieces.starts, sweep.lanes, sweep.bins
        known.placed[key] = Placed(
            panels=on_device(cut.panels),
            panel_of=on_device(cut.panel_of),
            rows=on_device(plan.pattern.rows),
            depths=on_device(cut.depths),
            place=on_device(plan.tree.place),
            elimination=tuple(lists),
            levels=steps.levels,
            sweep=tuple(on_device(each) for each in down),
            bin_count=sweep.bins.size - 1,
            cut=cut,
        )
    return known.placed[key]


def on_device(array: np.ndarray) -> Array:
    """A copy; of structures as bytes."""
    return cupy().asarray(array.view(np.uint8) if array.dtype.names else array)


@dataclass(frozen=True)
class Numbers:
    """As those of a factor on the host, and the same closed within panels; `down` is `up` where both are alike."""

    up: Array
    down: Array
    closed_up: Array
    closed_down: Array

    @property
    def nbytes(self) -> int:
        return (2 if self.up is self.down else 4) * int(self.up.nbytes)


@dataclass(frozen=True)
class Engine:
    """What answers questions.

    dtype: that it computes in; wide if that is wider than A's.  lengths: does no weight make a path better?  fitting:
    can no length leave the dtype's range?  bad: a vertex on a cycle that improves, but for rounding; -1 for none.
    """

    known: host.Analysis
    A: CSR
    s: Semiring
    placed: Placed
    numbers: Numbers
    slots: Array
    dtype: np.dtype
    wide: bool
    lengths: bool
    fitting: bool
    bad: int

    @property
    def rounded(self) -> bool:
        """Are lengths sums or products of floats, which are rounded?"""
        return host.is_rounded(self.A, self.s)

    @property
    def nbytes(self) -> int:
        return self.numbers.nbytes + self.placed.nbytes + int(self.slots.nbytes)

    @cached_property
    def on_host(self) -> host.Engine:
        """The same on the host."""
        A: Any = self.A.to(device="cpu")
        up, down = (to_device(each, "cpu") for each in (self.numbers.up, self.numbers.down))
        work = algebra(self.s, self.dtype, self.lengths).dtype
        one = up.view(work)
        return host.engine_of(
            self.known, A, self.s, one, one if self.numbers.up is self.numbers.down else down.view(work)
        )

    @property
    def kernels(self) -> kernels.Kernels:
        return kernels.path("sweeps", self.s, self.dtype, INT32)

    @property
    def zero(self) -> Any:
        return self.s.zero(self.dtype)

    @property
    def unit(self) -> Any:
        return self.dtype.type(self.s.unit(self.dtype))

    def starts(self, vertices: Any) -> np.ndarray:
        """(k, 3) the position of each vertex, its panel, and how many positions are above."""
        at, cut = self.known.tree.place[np.asarray(vertices)], self.placed.cut
        return np.stack((at, cut.panel_of[at], cut.depth[at]), axis=1).astype(np.int32)

    def sweep(self) -> tuple[Any, ...]:
        """What a kernel takes of the levels."""
        p = self.placed
        pieces, *lists = p.sweep
        return pieces, p.rows, *lists, np.int32(p.bin_count), self.numbers.closed_down

    # --- from sources to all ----------------------------------------------------------------------------------------

    def solve(self, sources: list[int], rows: Array) -> None:
        """Fill a row from each source; OverflowError if a finite distance does not fit."""
        with self.A.place.scope():
            out = cupy().empty(rows.shape, self.dtype) if self.wide else rows
            if len(sources) <= FEW:
                for source, row in zip(sources, out, strict=True):
                    self.one(source, row)
            else:
                each = self.at_once()
                for first in range(0, len(sources), each):
                    self.many(sources[first : first + each], out[first : first + each])
            self.settle(out, rows)

    def one(self, source: int, out: Array) -> None:
        """Distances from a source to all vertices."""
        cp, p, n = cupy(), self.placed, self.A.nrows
        [start] = self.starts([source]).tolist()
        spare, who = cp.empty(p.cut.height, self.dtype), cp.empty(p.cut.height, np.int32)
        d, arrived = cp.empty(n, self.dtype), cp.zeros(1, np.uint64)
        above = p.panels, p.depths, self.numbers.closed_up, *map(np.int32, start), self.unit, spare, who
        arguments = arrived, *above, *self.sweep(), p.place, np.int64(n), d, out
        self.kernels.persistent("solve", n + int(self.numbers.up.size), arguments)

    def at_once(self) -> int:
        """Sources of a batch, as many as there is room for."""
        each, left = AT_ONCE, self.A.place.available_bytes()
        while left is not None and each > 32 and each * self.A.nrows * self.dtype.itemsize > left // 2:
            each //= 2
        return each

    def many(self, sources: list[int], out: Array) -> None:
        """Rows of distances from several sources, which go side by side."""
        cp, p, k, n = cupy(), self.placed, self.kernels, self.A.nrows
        strip = 64 if self.dtype.itemsize == 8 else 128
        strips, count = -(-len(sources) // strip), np.int32(len(sources))
        d = cp.full(strips * strip * n, self.zero, self.dtype)
        starts, spare = on_device(self.starts(sources)), self.spare(len(sources))
        above = p.panels, p.depths, self.numbers.closed_up, starts, count, self.unit, np.int32(p.cut.height), *spare
        k.plain("climb_to_lanes", len(sources) * CLIMB_THREADS, (*above, np.int64(n), d), CLIMB_THREADS)
        down = cp.zeros(1, np.uint64), *self.sweep(), np.int32(strips), np.int64(n), d
        k.persistent("sweep", 32 * strips * n, down)
        k.plain("turn", 8 * n * -(-len(sources) // 32), (d, p.place, np.int64(n), count, out))

    def spare(self, count: int) -> tuple[Array, Array]:
        """Room for climbs from so many positions: what is known of the ancestors, and which they are."""
        cp, height = cupy(), self.placed.cut.height
        most = 2048 // CLIMB_THREADS * cp.cuda.Device().attributes["MultiProcessorCount"]
        blocks = min(max(count, 1), most)
        return cp.empty(blocks * height if height > CLIMB_ROOM else 1, self.dtype), cp.empty(blocks * height, np.int32)

    # --- tables -----------------------------------------------------------------------------------------------------

    def table(self, sources: list[int], targets: Any, out: Array) -> None:
        """Fill a row from each source with the distances to targets."""
        with self.A.place.scope():
            found = cupy().empty(out.shape, self.dtype) if self.wide else out
            ends = to_device(targets, "cpu")
            for left in range(0, len(ends), TABLE_COLUMNS):
                part = ends[left : left + TABLE_COLUMNS]
                e = self.climbs(part, False)
                for top in range(0, len(sources), TABLE_ROWS):
                    some = sources[top : top + TABLE_ROWS]
                    self.meet(self.climbs(some, True), e, found[top : top + len(some), left : left + len(part)])
            if self.wide:
                self.narrow(found, out)
            elif not self.fitting:
                for row in np.flatnonzero(to_device((out == self.zero).any(axis=1), "cpu")).tolist():
                    self.solve([sources[row]], cupy().empty((1, self.A.nrows), self.A.dtype))

    def climbs(self, vertices: Any, forward: bool) -> tuple[Array, Array]:
        """What is known of the ancestors, and which they are; a row for each vertex, or if not forward a column."""
        cp, p, count = cupy(), self.placed, len(vertices)
        height = max(p.cut.height, 1)
        shape = (count, height) if forward else (height, count)
        found, who = cp.empty(shape, self.dtype), cp.empty(shape, np.int32)
        apart, step = (height, 1) if forward else (1, count)
        ways = self.numbers.closed_up if forward else self.numbers.closed_down
        above = (
            p.panels,
            p.depths,
            ways,
            np.bool_(forward),
            on_device(self.starts(vertices)),
            np.int32(count),
            self.unit,
        )
        room = np.int32(height), *self.spare(count), found, who, np.int64(apart), np.int64(step)
        if count:
            self.kernels.plain("climb_to_table", count * CLIMB_THREADS, (*above, *room), CLIMB_THREADS)
        return found, who

    def meet(self, d: tuple[Array, Array], e: tuple[Array, Array], out: Array) -> None:
        """Distances by two climbs, to a part of a table."""
        (count, height), across = d[0].shape, e[0].shape[1]
        if count and across:
            sizes = np.int32(count), np.int32(across), np.int32(height)
            apart = np.int64(out.strides[0] // out.dtype.itemsize)
            things = -(-count // SHARED_SOURCES) * -(-across // 32) * 32
            self.kernels.plain("meet", things, (*d, *e, *sizes, out, apart))

    def distance(self, u: int, v: int) -> Any:
        """From u to v, as a scalar of A's dtype."""
        out = cupy().empty((1, 1), self.A.dtype)
        self.table([u], np.array([v]), out)
        return out[0, 0]

    # --- on the host ------------------------------------------------------------------------------------------------

    def path(self, u: int, v: int) -> list[int] | None:
        """The vertices of a best path; None if there is none."""
        return self.on_host.path(u, v)

    def nearest(self, targets: np.ndarray) -> tuple[Array, Array]:
        """For each vertex the distance to its nearest target, and which it is."""
        d, who = self.on_host.nearest(targets)
        with self.A.place.scope():
            return cupy().asarray(d), cupy().asarray(who)

    # --- ranges -----------------------------------------------------------------------------------------------------

    def settle(self, found: Array, rows: Array) -> None:
        """Give distances A's dtype; OverflowError if a finite one does not fit."""
        if self.wide:
            self.narrow(found, rows)
        elif not self.fitting:
            for row in rows:
                check_range(self.A, row, self.s)

    def narrow(self, found: Array, out: Array) -> None:
        """Copy distances of int64 to a narrower dtype; OverflowError if a finite one does not fit."""
        host.narrowed(found, out, self.s)


def engine(known: host.Analysis, A: CSR, s: Semiring, before: Engine | None = None) -> Engine:
    """The numbers of A's factor.  before: of the same order; where its matrix has the same pattern, nothing is looked
    up again."""
    cp, gains = cupy(), gains_by_length(A, s)
    with A.place.scope():
        same = before is not None and all(
            mine is its or (mine.shape == its.shape and bool((mine == its).all()))
            for mine, its in ((A.indptr, before.A.indptr), (A.indices, before.A.indices))
        )
        if before is not None and same:
            place, where = before.placed, before.slots
        else:
            rows: Any = A.to(device="cpu")
            place = placed(known)
            where = cp.asarray(slots(rows.indptr, rows.indices, known.plan))
        wide = host.must_widen(A, s, gains)
        weights = host.widened(A, s) if wide else A.values
        numbers, bad, loop = eliminated(place, where, weights, s, known.prediction.arcs)
        if loop >= 0:
            vertex = int(cp.searchsorted(A.indptr, cp.asarray(np.array([loop], A.indptr.dtype)), side="right")[0]) - 1
        else:
            vertex = int(known.tree.order[bad]) if bad >= 0 else -1
    fitting = host.is_fitting(A, s)
    return Engine(known, A, s, place, numbers, where, weights.dtype, wide, not gains, fitting, vertex)


def eliminated(p: Placed, slots: Array, weights: Array, s: Semiring, arcs: int) -> tuple[Numbers, int, int]:
    """(the numbers for weights, in the order of the slots; a position, and an edge, on an improving cycle, or -1)."""
    cp, dtype = cupy(), weights.dtype
    k = kernels.path("elimination", s, dtype, INT32)
    zero, unit = s.zero(dtype), dtype.type(s.unit(dtype))
    up, down = (cp.full(arcs, zero, dtype) for _ in range(2))
    control = cp.zeros(CONTROL_WORDS, np.uint64)
    step, count = np.int32(weights.strides[0] // dtype.itemsize), np.int64(slots.size)
    if slots.size:
        k.plain("scatter", slots.size, (control, slots, weights, step, count, unit, up, down))
    if Law.COMMUTATIVE in s.laws and bool((up == down).all()):
        down = up
    closed = cp.empty(arcs, dtype)
    closed_down = closed if up is down else cp.empty(arcs, dtype)
    made = Numbers(up, down, closed, closed_down)
    lists = (*p.elimination, np.int32(p.levels), unit)
    arguments = control, p.panels, p.panel_of, p.rows, *lists, up, down, closed, closed_down
    state = k.stepwise("eliminate", 32 * p.panel_of.size, arguments, control)()
    facts(kernel="elimination", steps=int(state[1]))
    return made, int(state[2]) - 1, int(state[3]) - 1
