"""Breadth-first searches from up to 64 sources in one pass: a bit for each search in a word for each vertex [1].

    f'_v = (∨_u f_u) ∧ ¬seen_v     over the edges u -> v, all searches at once

Where searches meet, as they do in graphs with hubs within three levels, an edge is looked at once for all of them. A
small frontier is pushed from a queue, by one thread, or by each to vertices of its own. A large one is pulled by all
threads down the columns of the vertices that a search has not found, each as far as all are found [2]. These are listed
at the first pull, and fewer each time.

Levels are counted in bits: a vertex has a word for each binary digit of level + 1, with the digit of each search.
`search_rows` writes the rows of levels and of parents from these words. The loops are in `search_steps`.

Where searches do not meet, as on roads, a word has one bit at a time. Then the threads take a search each, and the next
call does not try again.

[1] M. Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2015.
[2] S. Beamer, K. Asanović, D. Patterson, Direction-optimizing breadth-first search, SC 2012.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.shared.traversal import Direction
from formats import CSR
from formats.arrays import index_dtype
from formats.matrix.facts import Fact
from formats.storage.orientation import by_columns
from semiring.cpu.dealing import MIN_WORK_FOR_THREADS
from semiring.cpu.threads import PIECES_PER_THREAD, get_threads, run
from semiring.verbs.batch import Rows
from semiring.verbs.explanation import details

from . import search_steps as steps
from .bfs import fill
from .search_rows import DIGITS, TILE, levels_of, parents_of
from .search_steps import ACTIVE, COUNT, EDGES, FOUND, LEFT, LEVEL, TOUCHED

MOST = 64
"""Searches in a word."""

MIN_SEARCHES = 8
"""Minimum of searches for a pass of all to pay."""

MIN_BITS_PER_WORD, ROUNDS_PER_DOUBLING = 4, 1
"""Minimum of bits that a word gains at a time, on average, for searches to meet.

The average counts from so many levels on for each doubling of the vertices."""

PULL_DIVISOR, PUSH_DIVISOR = 8, 24
"""A frontier is pulled with more edges than nnz / PULL_DIVISOR, and pushed again with fewer than nnz / PUSH_DIVISOR."""

MIN_NNZ_FOR_THREADS = 1 << 16
"""Minimum of entries for threads to share a level."""

MIN_EDGES_FOR_THREADS = 1 << 16
"""Minimum of edges of a frontier for threads to share a push."""

APART: Fact[bool] = Fact("searches from several sources do not meet")


def searches(
    A: CSR,
    sources: list[int],
    rows: Rows,
    outside: np.ndarray | None,
    how: Direction,
    deepest: int | None,
    return_parents: bool,
) -> Any:
    """Fill rows of (levels, parents) from each source, as `bfs.search` has them."""
    how = resolved(A, how, len(sources))
    if len(sources) >= MIN_SEARCHES and (how.choice != "push" or not return_parents) and not A.keeps(APART):
        together = _Searches(A, sources, rows, outside, how, A.nrows if deepest is None else min(deepest, A.nrows))
        if together.run():
            return rows
        if outside is None:
            A.keep(APART, lambda: True)
    levels, parents = rows

    def one(start: int, stop: int) -> None:
        none = np.empty(0, index_dtype(A.nrows))
        for i in range(start, stop):
            fill(A, sources[i], levels[i], none if parents is None else parents[i], outside, how, deepest)

    threads = get_threads() if len(sources) * A.nnz >= MIN_WORK_FOR_THREADS else 1
    each = -(-len(sources) // (threads * PIECES_PER_THREAD)) if threads > 1 else len(sources)
    run(one, [(i, min(i + each, len(sources))) for i in range(0, len(sources), each)])
    details(schedule="a search for each thread" if threads > 1 else "a search after the other", threads=threads)
    return rows


def bytes_needed(A: CSR, k: int) -> int:
    """Bytes that k searches take beside their rows: words, as many digits as levels may have, and lists."""
    digits = DIGITS * -(-(A.nrows + 2).bit_length() // DIGITS)
    lists = (4 + get_threads()) * A.indices.itemsize
    return A.nrows * (8 * (4 + digits) + lists) + 8 * digits * TILE


def resolved(A: CSR, how: Direction, count: int) -> Direction:
    """Return `how`, or "push" where columns would first have to be made, and searches have been few."""
    resolved = how.for_matrix(A, count)
    if resolved.choice == "auto":
        by_columns(A)
    return resolved


class _Searches:
    """Up to 64 searches: the words, the digits of levels, the queue, and the choice of the next step."""

    def __init__(
        self, A: CSR, sources: list[int], rows: Rows, outside: np.ndarray | None, how: Direction, deepest: int
    ) -> None:
        self.A, self.sources, self.how, self.deepest = A, sources, how, deepest
        self.levels, self.parents = rows
        n = A.nrows
        self.seen, self.front, self.next = (np.zeros(n, np.uint64) for _ in range(3))
        if outside is not None:
            self.seen[outside] = ~np.uint64(0)
        self.digits = np.zeros((-(-n // TILE) * TILE, DIGITS), np.uint64)
        self.threads = get_threads() if A.nnz >= MIN_NNZ_FOR_THREADS else 1
        self.queue, self.other = (np.empty(n + self.threads, A.indices.dtype) for _ in range(2))
        self.state = np.zeros(7, np.int64)
        self.waiting: np.ndarray | None = None  # the vertices left to pull, once there has been a pull
        self.pushed = self.pulled = 0

    @property
    def words(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The searches that have seen each vertex, those whose frontier it is in, and zeros for the next frontier."""
        return self.seen, self.front, self.next

    def run(self) -> bool:
        """Find and write all levels, and parents if they are asked for; False if the searches do not meet."""
        A, state = self.A, self.state
        steps.begin(np.array(self.sources, np.int64), self.words, self.digits)
        first = np.unique(np.array(self.sources, self.queue.dtype))
        self.queue[: first.size] = first
        state[COUNT], state[EDGES], state[ACTIVE] = first.size, (A.indptr[first + 1] - A.indptr[first]).sum(), -1
        most = ROUNDS_PER_DOUBLING * max(A.nrows, 2).bit_length()
        listed = True
        while state[COUNT] and state[LEVEL] < self.deepest:
            if state[LEVEL] > most and state[FOUND] < MIN_BITS_PER_WORD * state[TOUCHED]:
                return False
            if int(state[LEVEL]) + 3 >= 1 << self.digits.shape[1]:
                self.digits = np.pad(self.digits, ((0, 0), (0, DIGITS)))
            if self.pulls(listed):
                self.pull()
                listed = False
            else:
                if not listed:
                    steps.list_places(self.front, self.queue)
                self.push(most)
                listed = True
        if self.parents is not None:
            parents_of(self.digits, by_columns(A), self.parents, self.threads)
        levels_of(self.digits, self.levels, self.threads)
        details(schedule="a bit for each search", levels=self.pushed + self.pulled, pulled=self.pulled)
        details(threads=self.threads)
        return True

    def pulls(self, listed: bool) -> bool:
        """True if the next step is a pull."""
        if self.how.choice != "auto":
            return self.how.choice == "pull"
        return int(self.state[EDGES]) * (PULL_DIVISOR if listed else PUSH_DIVISOR) > self.A.nnz

    def push(self, most: int) -> None:
        """Push levels from the queue, until the next is better pulled or shared, or has more digits."""
        A, state, before = self.A, self.state, int(self.state[LEVEL])
        parts = (A.indptr, A.indices), self.words, self.digits, (self.queue, self.other), state
        auto, swapped = self.how.choice == "auto", True
        if auto and state[EDGES] > max(MIN_EDGES_FOR_THREADS, 2 * self.threads * state[COUNT]):
            self.push_together(parts)
        else:
            stop = min(self.deepest, (1 << self.digits.shape[1]) - 3, most + 1 if before <= most else A.nrows)
            swapped = steps.push(*parts, stop, min(A.nnz // PULL_DIVISOR, MIN_EDGES_FOR_THREADS) if auto else A.nnz)
        if swapped:
            self.front, self.next, self.queue, self.other = self.next, self.front, self.other, self.queue
        self.pushed += int(state[LEVEL]) - before

    def push_together(self, parts: Any) -> None:
        """Push a level by all threads, each to vertices of its own, which have about equally many edges."""
        count, other, own = int(self.state[COUNT]), self.other, self.own()
        columns: Any = by_columns(self.A)
        ends = np.searchsorted(columns.indptr, np.linspace(0, self.A.nnz, self.threads + 1)[1:-1])
        cuts = np.array([0, *ends, self.A.nrows])
        firsts = cuts[:-1] + np.arange(self.threads)  # as the place behind a list is written to
        run(
            lambda i, _: steps.push_share(*parts, own[i], cuts[i : i + 2], firsts[i]),
            [(i, i) for i in range(self.threads)],
        )
        self.front[self.queue[:count]] = 0
        starts, counts = firsts.tolist(), own[:, COUNT].tolist()
        together = np.concatenate([other[k : k + size] for k, size in zip(starts, counts, strict=True)])
        other[: together.size] = together
        self.add(own)

    def pull(self) -> None:
        """Pull a level down the columns of the vertices that some search has not found."""
        columns: Any = by_columns(self.A)
        if self.waiting is None:
            rest = np.uint64(self.state.view(np.uint64)[ACTIVE]) & ~self.seen
            rest[columns.indptr[1:] == columns.indptr[:-1]] = 0
            self.waiting = self.other[: steps.list_places(rest, self.other)].copy()
        waiting, taken, own = self.waiting, np.zeros(1, np.int64), self.own()
        left, rows = (
            np.empty((self.threads, waiting.size), waiting.dtype),
            (columns.indptr, columns.indices, self.A.indptr),
        )
        run(
            lambda i, _: steps.pull(rows, self.words, self.digits, waiting, self.state, taken, left[i], own[i]),
            [(i, i) for i in range(self.threads)],
        )
        self.waiting = np.concatenate([part[:count] for part, count in zip(left, own[:, LEFT].tolist(), strict=True)])
        self.front[:] = 0
        self.front, self.next = self.next, self.front
        self.add(own)
        self.pulled += 1

    def own(self) -> np.ndarray:
        """Make a state for each thread."""
        return np.zeros((self.threads, self.state.size), np.int64)

    def add(self, own: np.ndarray) -> None:
        """Take over what threads have found at a level."""
        state = self.state
        state[LEVEL] += 1
        state[COUNT], state[EDGES] = own[:, COUNT].sum(), own[:, EDGES].sum()
        state[FOUND] += own[:, FOUND].sum()
        state[TOUCHED] += state[COUNT]
        state[ACTIVE] = np.bitwise_or.reduce(own[:, ACTIVE])
