"""Queries of a factor: distances from vertices, between two, of tables, and to the nearest of several; and paths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from formats.progress import Bar
from semiring import MONOIDS, Semiring
from semiring.cpu.kernels import compiled
from semiring.cpu.threads import get_threads, run, share

from .climbs import climbing, climbing_from_targets
from .descent import descending, list_numbers
from .numbers import Numbers
from .pattern import Tree
from .plan import Plan
from .routes import unpacking
from .sweeps import LANES, lanes

MAX_SINGLE_SOURCES = 4
"""Sources up to which each is swept on its own."""

NOBODY = 2**31 - 1
"""Where no target is known: more than any."""

SHARED_ARCS = 1 << 16
"""Minimum arcs of a sweep that threads share."""


@dataclass(frozen=True)
class Queries:
    """The numbers of a factor, and the loops that answer queries from them.

    dtype: of the numbers, signed.  lengths: see `algebra`.
    """

    plan: Plan
    numbers: Numbers
    s: Semiring
    dtype: np.dtype
    lengths: bool
    scratch: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def __reduce__(self) -> tuple[Any, ...]:  # without scratch
        return type(self), (self.plan, self.numbers, self.s, self.dtype, self.lengths)

    @property
    def _key(self) -> tuple[Semiring, np.dtype, bool]:
        return self.s, self.dtype, self.lengths

    @property
    def zero(self) -> Any:
        return self.numbers.known.zero

    def position(self, v: int) -> int:
        return int(self.plan.tree.place[v])

    def zeros(self, count: int) -> np.ndarray:
        """A vector of the semiring's zero."""
        return np.full(count, self.zero, self.numbers.known.dtype)

    def climb(self, v: int, d: np.ndarray, forward: bool = True) -> int:
        """Fill d along the way from a vertex to the root; its position."""
        climb, *_ = climbing(*self._key)
        x, p = self.position(v), self.plan.pattern
        d[x] = self.numbers.known.unit
        climb(
            x, int(p.nodes[x]), self.plan.records, p.rows, self.numbers.up if forward else self.numbers.down, d, forward
        )
        return x

    def rooms(self) -> tuple[np.ndarray, np.ndarray]:
        """Two vectors of the semiring's zero to climb in; `scratch` takes them back when they are zeros again."""
        try:
            return self.scratch.pop()
        except IndexError:
            return self.zeros(self.size), self.zeros(self.size)

    # --- from a source to all ---------------------------------------------------------------------------------------

    @cached_property
    def listed(self) -> np.ndarray:
        """The numbers that a sweep from one source reads in its own order."""
        return self.in_order_of_sweeps(self.numbers.down)

    @cached_property
    def listed_up(self) -> np.ndarray:
        """Those that a sweep to targets reads."""
        return self.listed if self.numbers.up is self.numbers.down else self.in_order_of_sweeps(self.numbers.up)

    def in_order_of_sweeps(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers of arcs in the order in which sweeps read them."""
        order, listed = self.plan.descent, np.empty(self.plan.descent.later.size, numbers.dtype)
        list_numbers(order.runs, order.vertices, self.plan.tree.place, self.plan.pattern.starts, numbers, listed)
        return listed

    def solve(self, source: int, out: np.ndarray) -> Any:
        """Distances to all vertices; the worst that is not the zero."""
        rank, sweep = descending(*self._key)
        d, rooms = self.zeros(out.size), self.rooms()
        rank(self.climb(source, rooms[0]), self.plan.tree.parent, self.plan.descent.ranks, rooms[0], d)
        self.scratch.append(rooms)
        size = self.plan.descent.room
        return self.descend(
            sweep, self.listed, self.numbers.down, d, out.view(d.dtype), lambda: np.empty(size, d.dtype)
        )

    def descend(
        self, sweep: Any, listed: np.ndarray, numbers: np.ndarray, d: Any, out: Any, room: Callable[[], Any]
    ) -> Any:
        """Sweep down from what climbs have left in d, which threads share; the worst that is not the zero.

        room: makes some for a wide supernode.
        """
        order, p, threads = self.plan.descent, self.plan.pattern, get_threads()
        lists, parts = (order.vertices, order.later, listed), order.parts
        pieces = len(parts) - 1 if threads == 1 or numbers.size < SHARED_ARCS else max(1, len(parts) // (8 * threads))
        starts = [0, *parts[1:-1:pieces], parts[-1]]
        worst = self.zeros(len(starts) - 1)

        def part(k: int) -> None:
            supernodes = p.firsts, p.starts, numbers, room()
            worst[k] = sweep(starts[k], starts[k + 1], order.runs, lists, supernodes, d, out)

        part(0)
        share(lambda k: part(k + 1), len(worst) - 1)
        return worst.max() if self.s.add == MONOIDS["min"] else worst.min()

    def each_subtree(self, work: Any) -> None:
        """Do something with the supernodes of each piece: threads take a share of them each."""
        pieces, threads = self.plan.subtrees, get_threads()
        if threads == 1 or self.numbers.down.size < SHARED_ARCS:
            for todo in pieces:
                work(todo)
            return
        each = max(1, len(pieces) // (8 * threads))
        share(lambda k: [work(todo) for todo in pieces[k * each : (k + 1) * each]], -(-len(pieces) // each))

    def several(self, sources: list[int], out: np.ndarray) -> Any:
        """Distances from several vertices, a row for each; the worst of each."""
        worst = np.full(len(sources), self.numbers.known.unit, self.numbers.known.dtype)
        if len(sources) <= MAX_SINGLE_SOURCES:
            for row, source in enumerate(sources):
                worst[row] = self.solve(source, out[row])
            return worst
        everything = Selection(
            self.plan.pattern.arrays,
            self.numbers.down,
            np.arange(out.shape[1]),
            self.plan.tree.place,
            self.plan.work.top,
        )
        self.by_lanes(sources, out, worst, everything, self.plan.subtrees)
        return worst

    def by_lanes(
        self, sources: list[int], out: np.ndarray, worst: np.ndarray, part: Selection, subtrees: list[np.ndarray]
    ) -> None:
        """Rows of distances to the columns of a part of the factor, LANES at a time."""
        put, sweep, write = lanes(*self._key)
        parent, flat, groups = self.plan.tree.parent, out.view(worst.dtype), range(0, len(sources), LANES)
        shared = bool(subtrees) and len(groups) < 2 * get_threads() and part.numbers.size >= SHARED_ARCS
        done = [0]
        rooms: list[tuple[np.ndarray, ...]] = []  # of groups that are done, for others

        def group(start: int, _: int) -> None:
            try:
                d, X, marks = rooms.pop()
            except IndexError:
                d, X = self.zeros(parent.size), np.empty(part.size * LANES, worst.dtype)
                marks = np.zeros(part.size, bool)
            few = range(start, min(start + LANES, len(sources)))
            for lane, row in enumerate(few):
                put(self.climb(sources[row], d), lane, parent, part.place, d, X, marks)
            sweep(part.top, part.arrays, part.numbers, X, marks)
            if shared:
                self.each_subtree(lambda todo: sweep(todo, part.arrays, part.numbers, X, marks))
            else:
                for todo in subtrees:
                    sweep(todo, part.arrays, part.numbers, X, marks)
            write(part.columns, X, np.array(few, np.int64), flat, worst)
            rooms.append((d, X, marks))
            done[0] += len(few)

        if shared:
            for start in groups:
                group(start, start)
            return
        with Bar(f"distances from {len(sources):,} sources", len(sources), lambda: done[0]) as bar:
            turn = 4 * get_threads()
            for first in range(0, len(groups), turn):
                run(group, [(start, start) for start in groups[first : first + turn]])
                bar.update()

    # --- tables -----------------------------------------------------------------------------------------------------

    def table(self, sources: list[int], targets: np.ndarray, out: np.ndarray) -> Any:
        """Distances from sources, a row for each, to targets, a column for each; the worst of each row."""
        worst = np.full(len(sources), self.numbers.known.unit, self.numbers.known.dtype)
        self.by_lanes(sources, out, worst, self.above(targets), [])
        return worst

    def above(self, targets: np.ndarray) -> Selection:
        """The part of the factor from which targets are reached: these and all positions above."""
        p, t = self.plan.pattern, self.plan.tree
        positions = t.place[targets]
        wanted = positions_above(positions, t)
        chosen = np.flatnonzero(wanted)
        place = np.full(wanted.size, -1, np.int64)
        place[chosen] = np.arange(chosen.size)
        nodes, begins = np.unique(p.nodes[chosen], return_index=True)
        firsts, lasts = chosen[begins], p.firsts[nodes + 1]  # of a supernode always the end
        lengths = np.diff(p.row_starts)[nodes]
        rows = place[p.rows[joined_ranges(p.row_starts[nodes], lengths)]].astype(np.int32)
        counts = t.counts[chosen]
        numbers = self.numbers.down[joined_ranges(p.starts[firsts], p.starts[lasts] - p.starts[firsts])]
        ends = np.append(place[firsts], chosen.size).astype(np.int32)
        arrays = ends, running(lengths), rows, running(counts)
        return Selection(arrays, numbers, place, place[positions], np.arange(nodes.size, dtype=np.int32))

    # --- between two vertices ---------------------------------------------------------------------------------------

    def between(self, u: int, v: int) -> Any:
        """The distance from u to v, as the loops have it."""
        between, arrays = self.meeting
        rooms = self.rooms()
        best = between(u, v, *arrays, rooms)
        self.scratch.append(rooms)
        return best

    @cached_property
    def meeting(self) -> tuple[Any, tuple[Any, ...]]:
        """The loop that finds the distance between two vertices, and its arguments, as a call takes microseconds."""
        t, p, numbers = self.plan.tree, self.plan.pattern, (self.numbers.up, self.numbers.down)
        return climbing(*self._key)[2], (t.place, p.nodes, self.plan.records, p.rows, numbers)

    @property
    def size(self) -> int:
        return self.plan.tree.place.size

    def path(self, u: int, v: int, rows: tuple[np.ndarray, ...]) -> list[int] | None:
        """The vertices of a best walk from u to v; None if there is none.  rows: indptr, indices, values of A."""
        t, p, (_, meet, _) = self.plan.tree, self.plan.pattern, climbing(*self._key)
        d, e = self.zeros(self.size), self.zeros(self.size)
        x, y = self.climb(u, d), self.climb(v, e, False)
        _, top = meet(x, int(p.nodes[x]), self.plan.records, d, e)
        if top < 0:
            return None
        climb_back, unpack = unpacking(*self._key)
        tree, height = (t.parent, p.nodes), self.size + 1
        rising, falling = np.empty(height, np.int64), np.empty(height, np.int64)
        ups = climb_back(x, top, tree, p.arrays, self.numbers.up, d, True, rising)
        downs = climb_back(y, top, tree, p.arrays, self.numbers.down, e, False, falling)
        way = [*rising[:ups][::-1].tolist(), *falling[1:downs].tolist()]
        walk, numbers = [x], (self.numbers.up, self.numbers.down)
        stack, steps = np.empty(2 * height + 4, np.int64), np.empty(height, np.int64)
        graph = *rows, t.order
        for y, z in zip(way[:-1], way[1:], strict=True):
            parts = graph, p.nodes, p.arrays, self.plan.holders, numbers
            while (count := unpack(y, z, *parts, (stack, steps))) < 0:  # round cycles that gain nothing
                steps = np.empty(2 * steps.size, np.int64)
            walk += steps[:count].tolist()
        return [int(t.order[x]) for x in walk]

    # --- to the nearest ---------------------------------------------------------------------------------------------

    def nearest(self, targets: np.ndarray, d: np.ndarray, who: np.ndarray) -> Any:
        """The distance from each vertex to the nearest target, and which it is, -1 for none; the worst distance."""
        _, sweep = descending(*self._key, True)
        plan, p, at = self.plan, self.plan.pattern, self.plan.tree.place[targets]
        x, nearest, pairs = self.zeros(self.size), np.full(self.size, NOBODY, np.int32), self.pairs(self.size)
        x[at], nearest[at] = self.numbers.known.unit, targets
        climb, above = climbing_from_targets(*self._key), np.flatnonzero(positions_above(at, plan.tree))
        lists = p.nodes, plan.records, p.rows
        climb(above, lists, self.numbers.down, plan.descent.ranks, x, nearest, pairs)
        out, room = (d.view(x.dtype), who), plan.descent.room
        return self.descend(sweep, self.listed_up, self.numbers.up, pairs, out, lambda: self.pairs(room))

    def pairs(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances and targets side by side, as two views: no target is known."""
        numbers = np.empty(2 * count, self.numbers.known.dtype)
        wide = numbers.itemsize >= 4  # bool has no room for a number beside it
        targets = numbers.view(f"i{numbers.itemsize}") if wide else np.empty(2 * count, np.int32)
        numbers[::2], targets[1::2] = self.zero, NOBODY
        return numbers, targets

    @property
    def nbytes(self) -> int:
        made = [self.__dict__[name] for name in ("listed", "listed_up") if name in self.__dict__]
        swept = sum({id(each): each.nbytes for each in made}.values())
        return self.numbers.nbytes + self.plan.nbytes + swept


@dataclass(frozen=True)
class Selection:
    """A part of a factor: arrays and numbers of its supernodes.

    place: of each position of the factor among those of the part, -1.  columns: the places whose distances are wanted.
    top: the supernodes that are swept first.
    """

    arrays: tuple[np.ndarray, ...]
    numbers: np.ndarray
    place: np.ndarray
    columns: np.ndarray
    top: np.ndarray

    @property
    def size(self) -> int:
        return int(self.arrays[0][-1])


def running(counts: np.ndarray) -> np.ndarray:
    """0, and the sums of the first, of the first two …."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))


def joined_ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The places of all ranges, one after the other."""
    ends = running(lengths)
    return np.arange(int(ends[-1])) + np.repeat(starts - ends[:-1], lengths)


def positions_above(positions: np.ndarray, t: Tree) -> np.ndarray:
    """Marks some positions and all above them in an array (n,)."""
    wanted = np.zeros(t.parent.size, bool)
    mark_above(positions, t.parent, wanted)
    return wanted


@compiled
def mark_above(positions, parent, wanted):
    """Make `wanted` true of positions and of all above."""
    for k in range(positions.size):
        x = np.int64(positions[k])
        while x >= 0 and not wanted[np.uintp(x)]:
            wanted[np.uintp(x)] = True
            x = np.int64(parent[np.uintp(x)])
