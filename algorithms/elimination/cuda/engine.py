"""Factors on the GPU: their numbers (elimination.cu) and what is asked of them (sweeps.cu).

The order and the pattern are found on the host, as for factors there, and are cut into panels (`panels`). Pairs, which
mostly take less time than a launch, paths and the nearest of several are asked there, too, of a copy of the numbers.
Where the climbs of a pair are long, as on large grids, a search is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from algorithms.elimination.cpu import engine as host
from algorithms.elimination.cpu.algebra import algebra
from algorithms.elimination.cpu.numbers import Numbers as HostNumbers
from algorithms.elimination.cpu.plan import slots
from algorithms.elimination.cpu.queries import Queries
from algorithms.equations.sssp import sssp
from algorithms.fused.cpu.near_far import fits
from algorithms.fused.cuda import kernels
from algorithms.shared.parents import gains_by_length
from algorithms.shared.single_source import check_range
from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, to_device
from semiring import MONOIDS, Law, Semiring
from semiring.verbs.explanation import details

from . import panels

HERE = Path(__file__).parent
PANELS, ELIMINATION, SWEEPS = (str(HERE / name) for name in ("panels", "elimination", "sweeps"))
kernels.PATHS["elimination"] = kernels.Kind.of("order", PANELS, ELIMINATION, eliminate=(512, 2))
kernels.PATHS["sweeps"] = kernels.Kind.of("order", PANELS, SWEEPS, solve=(1024, 1), sweep=(1024, 1))

CONTROL_WORDS = 4
"""Words of 8 bytes in EliminationControl."""

ALIGNED = 256
"""Bytes that parts of an allocation begin at multiples of."""

CLIMB_ROOM, CLIMB_THREADS = 2048, 128
"""As in sweeps.cu: ancestors in shared memory; and threads of a block that climbs for one of many."""

MAX_SINGLE_SOURCES, BATCH_SOURCES = 4, 1024
"""Sources up to which each is swept on its own, and sources of a batch."""

SOLVE_WORDS, STEP_WORDS = 4, 3
"""As in sweeps.cu: of 8 bytes, in SolveControl; and of 4, in a Step."""

FOR_ONE, FOR_MANY = panels.Bins(1, 8, 128, threads=1024), panels.Bins(64, 2, 64)
"""For each multiprocessor, in sweeps from one source, where a block takes a bin, and from many, where a warp does."""

BYTES_OF_VERTEX = 120
"""Bytes of a factor's lists for each vertex."""

TABLE_ROWS, TABLE_COLUMNS = 4096, 4096
"""Rows and columns of a table that are computed at a time."""

SHARED_SOURCES = 4
"""As in sweeps.cu: sources of a thread of `meet`."""

HOST_ARCS = 1 << 21
"""Arcs of two climbs up to which the host climbs them: they take some milliseconds, as a search on a GPU does."""

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


@dataclass(frozen=True)
class Placed:
    """A cut plan on a device.

    elimination: the lists of its levels.  sweeps: those of a sweep from one source, and from many.  others: of the
    latter, see `panels.Sweeping`.
    """

    panels: Array
    panel_of: Array
    rows: Array
    depths: Array
    place: Array
    elimination: tuple[Array, ...]
    levels: int
    sweeps: tuple[tuple[Any, ...], ...]
    others: Array
    cut: panels.Cut

    @property
    def nbytes(self) -> int:
        arrays = self.panels, self.panel_of, self.rows, self.depths, self.place, self.others, *self.elimination
        return sum(int(each.nbytes) for each in (*arrays, *self.sweeps[0], *self.sweeps[1]))


def placed(known: host.Analysis) -> Placed:
    """Returns the arrays that a factor's kernels read beside its numbers, made once for each device."""
    plan, cp = known.plan, cupy()
    device = cp.cuda.Device()
    key = "cuda", int(device.id)
    if key not in known.placed:
        cut = panels.cut(plan)
        steps = panels.elimination(cut)
        blocks = device.attributes["MultiProcessorCount"]
        sweeps = [panels.sweeping(plan, cut, bins, blocks) for bins in (FOR_ONE, FOR_MANY)]
        lists = [
            on_device(part)
            for each in (steps.small, steps.large, steps.spans, steps.tiles)
            for part in (each.things, each.starts)
        ]
        known.placed[key] = Placed(
            panels=on_device(cut.panels),
            panel_of=on_device(cut.panel_of),
            rows=on_device(plan.pattern.rows),
            depths=on_device(cut.depths),
            place=on_device(plan.tree.place),
            elimination=tuple(lists),
            levels=steps.levels,
            sweeps=tuple(
                (
                    *(on_device(each) for each in (down.pieces.things, down.pieces.starts, down.lanes, down.bins)),
                    np.int32(down.bins.size - 1),
                )
                for down in sweeps
            ),
            others=on_device(sweeps[1].others),
            cut=cut,
        )
    return known.placed[key]


def carved(*sizes: int) -> tuple[Array, list[np.uint64]]:
    """Allocates parts of so many bytes at once, and returns the room and their addresses.

    One allocation takes as long as each of several would. The last part is at the room's end.
    """
    starts = [0, *accumulate(-(-size // ALIGNED) * ALIGNED for size in sizes[:-1])]
    room = cupy().empty(starts[-1] + sizes[-1], np.uint8)
    first = room.data.ptr
    return room, [np.uint64(first + start) for start in starts]


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
    """The numbers of a factor on a GPU, and the kernels that answer queries from them.

    dtype: that it computes in; wide if that is wider than A's.  lengths: true if no weight makes a path better.
    fitting: true if no length can leave the dtype.  bad: a vertex on a cycle that improves, but for rounding, or -1.
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
        """True if lengths are sums or products of floats, which are rounded."""
        return host.is_rounded(self.A, self.s)

    @property
    def nbytes(self) -> int:
        return self.numbers.nbytes + self.placed.nbytes + int(self.slots.nbytes)

    @cached_property
    def on_host(self) -> host.Engine:
        """The same on the host."""
        A: Any = self.A.to(device="cpu")
        known = algebra(self.s, self.dtype, self.lengths)
        down = to_device(self.numbers.down, "cpu").view(known.dtype)
        up = down if self.numbers.up is self.numbers.down else to_device(self.numbers.up, "cpu").view(known.dtype)
        numbers = HostNumbers(up, down, known, -1, -1)
        queries = Queries(self.known.plan, numbers, self.s, self.dtype, self.lengths)
        return host.Engine(A, self.s, queries, to_device(self.slots, "cpu"), self.wide, self.fitting)

    @cached_property
    def kernels(self) -> kernels.Kernels:
        return kernels.path("sweeps", self.s, self.dtype, INT32)

    @cached_property
    def zero(self) -> Any:
        return self.s.zero(self.dtype)

    @cached_property
    def unit(self) -> Any:
        return self.dtype.type(self.s.unit(self.dtype))

    @cached_property
    def size(self) -> int:
        """Positions and arcs of the sweep from one source."""
        return self.A.nrows + int(self.numbers.up.size)

    def starts(self, vertices: Any) -> np.ndarray:
        """Returns, for each vertex, a row of its position, its panel, and how many positions are above."""
        at, cut = self.known.tree.place[np.asarray(vertices)], self.placed.cut
        return np.stack((at, cut.panel_of[at], cut.depth[at]), axis=1).astype(np.int32)

    @cached_property
    def sweep_from_one(self) -> tuple[Any, ...]:
        """Arguments of the kernel for one source: the levels, and the vertices."""
        return *self.sweep(False), self.placed.place, np.int64(self.A.nrows)

    def sweep(self, many: bool) -> tuple[Any, ...]:
        """Returns a kernel's arguments for the levels."""
        pieces, *lists = self.placed.sweeps[many]
        return pieces, self.placed.rows, *lists, self.numbers.closed_down

    # --- from sources to all ----------------------------------------------------------------------------------------

    def solve(self, sources: list[int], rows: Array) -> None:
        """Fill a row from each source; OverflowError if a finite distance does not fit."""
        with self.A.place.scope():
            out = cupy().empty(rows.shape, self.dtype) if self.wide else rows
            each = 1 if len(sources) <= MAX_SINGLE_SOURCES else self.at_once
            for first in range(0, len(sources), each):
                part = out[first : first + each]
                worsts = self.one(sources[first], part) if each == 1 else self.many(sources[first : first + each], part)
                if not self.wide and not self.fitting:
                    self.check(worsts, part)
            if self.wide:
                host.narrowed(out, rows, self.s)

    def check(self, worsts: Array, rows: Any) -> None:
        """OverflowError if a finite distance does not fit.  worsts: the worst that is there, some of several."""
        found = to_device(worsts, "cpu")
        if not fits(self.A, found.max() if self.s.add == MONOIDS["min"] else found.min(), self.s):
            for row in rows:
                check_range(self.A, row, self.s)

    def one(self, source: int, out: Array) -> Any:
        """Distances from a source to all vertices, a row of one; what gives the worst of each block.

        Little is done before the launch, for it is the longer part of the call: all room is of one allocation.
        """
        p, k, item, cut = self.placed, self.kernels, self.dtype.itemsize, self.placed.cut
        at, height, blocks = int(self.known.tree.place[source]), cut.height, k.persistent_blocks("solve", self.size)
        sizes = 8 * SOLVE_WORDS, 2 * height * item, 4 * STEP_WORDS * height, self.A.nrows * item, blocks * item
        room, (control, spare, steps, d, worsts) = carved(*sizes)
        room.data.memset_async(0, sizes[0])
        start = np.int32(at), np.int32(cut.panel_of[at]), np.int32(cut.depth[at])
        above = p.panels, p.depths, self.numbers.closed_up, *start, self.unit, spare, steps
        k.persistent("solve", self.size, (control, *above, *self.sweep_from_one, d, out, worsts))
        details(kernel="solve", panels=int(cut.panels.size))
        return room[-blocks * item :].view(self.dtype) if not self.fitting else None

    @cached_property
    def multiprocessors(self) -> int:
        """Their number, which takes some tenths of a millisecond to ask for."""
        return int(cupy().cuda.Device().attributes["MultiProcessorCount"])

    @cached_property
    def at_once(self) -> int:
        """Sources of a batch, as many as there is room for: asked once, for that takes as long as some kernels."""
        each, left = BATCH_SOURCES, self.A.place.available_bytes()
        while left is not None and each > 32 and each * self.A.nrows * self.dtype.itemsize > left // 2:
            each //= 2
        return each

    def many(self, sources: list[int], out: Array) -> Array:
        """Rows of distances from several sources, which go side by side; the worst of each block."""
        cp, p, k, n = cupy(), self.placed, self.kernels, self.A.nrows
        strip = 64 if self.dtype.itemsize == 8 else 128
        strips, count, height = -(-len(sources) // strip), np.int32(len(sources)), p.cut.height
        d, marks = cp.empty(strips * strip * n, self.dtype), cp.zeros(strips * n, np.uint8)
        turned = 8 * n * strips
        worsts = cp.empty(k.plain_blocks(turned), self.dtype)
        starts, (spare, steps) = on_device(self.starts(sources)), self.spare(len(sources), STEP_WORDS)
        others = p.others, np.int32(p.others.size), np.int32(strips)
        things = 32 * (len(sources) + strips * int(p.others.size))
        k.plain("clear_lanes", things, (p.panels, starts, count, *others, np.int64(n), marks, d))
        above = p.panels, p.depths, self.numbers.closed_up, starts, count, self.unit, np.int32(height), spare, steps
        to = self.numbers.closed_down, np.int64(n), d
        k.plain("climb_to_lanes", len(sources) * CLIMB_THREADS, (*above, *to), CLIMB_THREADS)
        down = cp.zeros(1, np.uint64), *self.sweep(True), np.int32(strips), np.int64(n), marks, d
        k.persistent("sweep", 32 * strips * n, down)
        details(kernel="sweep", strips=strips)
        k.plain("turn", turned, (d, p.place, np.int64(n), count, self.unit, out, worsts))
        return worsts

    def spare(self, count: int, words: int) -> tuple[Array, Array]:
        """Room for climbs from so many positions: what is known of the ancestors, and so many integers of each."""
        cp, height = cupy(), self.placed.cut.height
        blocks = min(max(count, 1), 2048 // CLIMB_THREADS * self.multiprocessors)
        far = cp.empty(blocks * height if height > CLIMB_ROOM else 1, self.dtype)
        return far, cp.empty(words * blocks * height, np.int32)

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
                host.narrowed(found, out, self.s)
            elif not self.fitting:
                for row in np.flatnonzero(to_device((out == self.zero).any(axis=1), "cpu")).tolist():
                    self.solve([sources[row]], cupy().empty((1, self.A.nrows), self.A.dtype))

    def climbs(self, vertices: Any, forward: bool) -> tuple[Array, Array]:
        """Returns the climbed distances and their positions; a row for each vertex, or if not forward a column."""
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
        room = np.int32(height), *self.spare(count, 1), found, who, np.int64(apart), np.int64(step)
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

    # --- on the host ------------------------------------------------------------------------------------------------

    def distance(self, u: int, v: int) -> Any:
        """From u to v, a number of Python's."""
        climbs = self.known.plan.climbs
        if climbs[u] + climbs[v] <= HOST_ARCS:
            return self.on_host.distance(u, v)
        if not self.rounded:  # else the factor adds in an order of its own
            return sssp(self.A, u, self.s, target=v)[v].item()
        with self.A.place.scope():
            row = cupy().empty((1, self.A.nrows), self.A.dtype)
            self.solve([u], row)
            return row[0, v].item()

    def nearest(self, targets: np.ndarray) -> tuple[Array, Array]:
        """For each vertex the distance to its nearest target, and which it is."""
        d, who = self.on_host.nearest(targets)
        with self.A.place.scope():
            return on_device(d), on_device(who)

    def path(self, u: int, v: int) -> list[int] | None:
        """The vertices of a best path; None if there is none."""
        return self.on_host.path(u, v)


def engine(known: host.Analysis, A: CSR, s: Semiring, before: Engine | None = None) -> Engine:
    """Returns the engine with the numbers of A's factor.

    before: of the same order; where its matrix has the same pattern, nothing is looked up again.
    """
    cp, gains, most = cupy(), gains_by_length(A, s), known.prediction
    needed = 4 * most.arcs * A.dtype.itemsize + 8 * A.nnz + 8 * most.rows + BYTES_OF_VERTEX * A.nrows
    A.place.check_room(f"a factor of {most.arcs:,} arcs", needed)
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
    """Returns the numbers for weights, by slot; and a position, and an edge, on an improving cycle, or -1."""
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
    details(kernel="elimination", steps=int(state[1]))
    return made, int(state[2]) - 1, int(state[3]) - 1
