"""Breadth-first search on a matrix in parts: by levels and bitmaps where it is wide, by stretches of levels else.

    wide    each process pushes from own vertices of the frontier, or pulls for own ones that nobody has seen; then all
            know the next frontier as a bitmap. A step for each level.
    deep    each process goes on through its own rows for some levels, and tells the owners of others' vertices of
            levels that became lower: a `Search` in which every edge has length 1. A step for many levels.

A search is wide where a few vertices have far more edges than others, and for at most `LEVELS` levels; it goes on as a
deep one from the levels that it has found.

[1] A. Buluç, K. Madduri, Parallel breadth-first search on distributed memory systems, SC 2011.
"""

from __future__ import annotations

from functools import reduce as fold
from typing import Any

import numpy as np

from algorithms.shared.cycle_watch import ENDLESS
from algorithms.shared.errors import broken_law
from algorithms.shared.single_source import Until
from algorithms.shared.traversal import Direction
from formats.matrix.facts import Fact
from formats.parts.partitioned import Partitioned
from formats.storage.orientation import by_columns
from semiring import MinPlus
from semiring.cpu.kernels import compiled
from semiring.verbs.explanation import facts

from ..cpu.bfs import pull_share, push_share
from ..cpu.relaxation import sifting
from ..cpu.words import as_words, bits_set, lowest_bit
from .essential import skewed
from .search import Search, firsts_of, gathered, own_range, own_rows
from .strips import BUCKETS, FAR, flow, in_order

LEVEL = np.dtype(np.int32)
LEVELS = 32
"""Levels after which a search is deep."""

LENGTHS: Fact[Partitioned] = Fact("the matrix with a length of 1 for each edge")


def lengths(A: Partitioned) -> Partitioned:
    """A with a length of 1 for each edge, made once."""
    return A.keep(LENGTHS, lambda: A.pattern().astype(LEVEL))


def levels_from(A: Partitioned, source: int, how: Direction, deepest: int | None, target: int | None) -> Any:
    """(n,) levels, the zero of `MinPlus` where the source does not lead. A: by rows."""
    limit = None if deepest is None else LEVEL.type(min(deepest, A.nrows))
    until, begun = Until(MinPlus, limit, target), None
    if skewed(A):
        search = Wide(A, source, how, until)
        if search.run():
            return gathered(A, "levels, whole", search.level)
        begun = search.level
    d = Deep(lengths(A), source, until, begun).run()
    return until.within(d, d)


class Wide:
    """A process's part of a search by levels.

    level: (n,) of own vertices, the zero of `MinPlus` where there is none.  seen, front: bitmaps of all vertices.
    """

    def __init__(self, A: Partitioned, source: int, how: Direction, until: Until) -> None:
        self.A, self.until, self.group, self.own = A, until, A.group, own_range(A)
        self.how = how.for_matrix(A)
        columns: Any = by_columns(A).T if self.how.choice != "push" else None
        self.degrees = A.lengths(0)
        with self.group.guarded("levels"):
            rows = own_rows(A)
            self.rows = rows.indptr, rows.indices
            if columns is not None:
                turned = own_rows(columns)
                self.columns = turned.indptr, turned.indices
            self.level = np.full(A.nrows, MinPlus.zero(LEVEL), LEVEL)
            self.level[source] = 0
            self.seen, self.front = (as_words(np.zeros(A.nrows, bool), beyond=beyond) for beyond in (True, False))
            self.none = np.empty(0, rows.indices.dtype)
            self.lists, self.count = (self.level, np.empty(A.nrows + 1, rows.indices.dtype)), -1
            for words in (self.seen, self.front):
                words[source >> 6] |= np.uint64(1) << np.uint64(source & 63)
        self.words = slice(self.own.start >> 6, -(-self.own.stop // 64))
        self.unexplored, self.pushed, self.pulled = A.nnz, 0, 0

    def run(self) -> bool:
        """Search; is all found that was asked for?"""
        pulling, k = False, 0
        while True:
            count, edges = frontier(self.front, self.degrees[: 0 if pulling else self.A.nrows])
            if not count or self.reached(k):
                facts(schedule="levels, by processes", processes=self.group.size)
                facts(levels=k, pushed=self.pushed, pulled=self.pulled)
                return True
            if k == LEVELS:
                return False
            self.unexplored -= edges
            pulling = self.pulls(pulling, count, edges)
            k += 1
            with self.group.guarded("levels"):
                mine = self.pull(k) if pulling else self.push(k)
            found = self.group.everyone("levels", mine)
            self.front = self.assembled(found) if pulling else fold(np.bitwise_or, found)
            self.seen |= self.front
            self.count = -1 if pulling else own_listed(self.front, self.own.start, self.own.stop, k, *self.lists)

    def reached(self, k: int) -> bool:
        """Is level k the last that was asked for?"""
        target, limit = self.until.target, self.until.limit
        there = target is not None and bool(self.seen[target >> 6] >> np.uint64(target & 63) & np.uint64(1))
        return there or (limit is not None and k >= limit)

    def pulls(self, pulling: bool, count: int, edges: int) -> bool:
        """Is the next step a pull? By the rule of `Direction.pulls`."""
        if self.how.choice != "auto":
            return self.how.choice == "pull"
        return count * self.how.beta > self.A.nrows if pulling else edges * self.how.alpha > self.unexplored

    def push(self, k: int) -> np.ndarray:
        """The new vertices that own ones of the frontier lead to, as a bitmap of all."""
        if self.count < 0:
            self.count = own_listed(self.front, self.own.start, self.own.stop, k - 1, *self.lists)
        reached, taken = self.seen.copy(), np.zeros(1, np.int64)
        push_share(*self.rows, self.seen, self.none, self.lists[1], taken, self.count, reached)
        self.pushed += 1
        reached ^= self.seen
        return reached

    def pull(self, k: int) -> np.ndarray:
        """The own vertices, not seen before, that the frontier leads to, as a bitmap of own words."""
        found, seen = np.zeros_like(self.seen), self.seen.copy()
        taken = np.array([self.words.start, 0])
        pull_share(self.columns, seen[: self.words.stop], self.front, found, self.level, self.none, taken, k)
        self.pulled += 1
        return found[self.words]

    def assembled(self, found: list[np.ndarray]) -> np.ndarray:
        """The next frontier, of which each process has found the words of its own vertices."""
        front = np.zeros_like(self.seen)
        for words, first in zip(found, firsts_of(self.A).tolist(), strict=True):
            front[first >> 6 : (first >> 6) + words.size] |= words
        return front


class Deep(Search):
    """A search in which every edge has length 1: near is searched from in the order of levels."""

    def __init__(self, A: Partitioned, source: int, until: Until, begun: np.ndarray | None) -> None:
        super().__init__(A, source, MinPlus, until, LEVEL.type(1), begun=begun)

    def load(self) -> None:
        self.queue = np.empty(self.near[0].size, self.near[0].dtype)
        flow(LEVEL.type(0), self.rows[:2] + self.rows[5:], self.d, self.near, self.far, self.queue, self.counts)

    def edges(self, source: int, found: Any) -> tuple[Any, ...]:
        own = own_rows(self.A)
        return own.indptr, own.indices, np.empty(0, LEVEL), np.empty(0, LEVEL), LEVEL.type(0)

    def relax(self) -> None:
        """Search from own vertices as far as the level `top`."""
        if self.best == self.zero or self.top < self.best:
            return
        size, best = sifting(self.s, LEVEL)(self.top, self.d, self.near, self.far, self.counts)
        last, first = int(self.counts[FAR]), int(self.best)
        if size:
            places = np.empty(int(self.near[1][:size].max()) - first + 2, np.int64)
            in_order(self.near, size, first, self.pairs, places)
        self.counts[BUCKETS] = size
        flow(self.top, self.rows[:2] + self.rows[5:], self.d, self.near, self.far, self.queue, self.counts)
        if self.counts[FAR] < 0:
            raise ValueError(broken_law(self.s, ENDLESS))
        self.best = LEVEL.type(min(best, self.top + 1) if self.counts[FAR] > last else best)


@compiled
def frontier(front, degrees):
    """(how many vertices a frontier has, how many edges if `degrees` are given)."""
    count, edges = np.int64(0), np.int64(0)
    for word in range(front.size):
        left = front[word]
        count += np.int64(bits_set(left))
        while left and degrees.size:
            edges += degrees[np.uintp(word) * np.uintp(64) + np.uintp(lowest_bit(left))]
            left &= left - np.uint64(1)
    return count, edges


@compiled
def own_listed(front, start, stop, k, level, places):
    """List the vertices of a frontier from `start` on and before `stop`, whose level is k; how many."""
    count = 0
    for word in range(start >> 6, (stop + 63) >> 6):
        left = front[word]
        while left:
            v = word * 64 + np.int64(lowest_bit(left))
            left &= left - np.uint64(1)
            if start <= v < stop:
                places[count], level[v] = v, k
                count += 1
    return count
