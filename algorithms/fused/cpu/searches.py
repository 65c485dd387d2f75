"""Breadth-first searches from up to 64 sources in one pass: a bit for each search in a word for each vertex [1].

    f'_v = (∨_u f_u) ∧ ¬seen_v     over the edges u -> v, all searches at once

Where searches meet, as they do in graphs with hubs within three levels, an edge is looked at once for all of them. A
small frontier is pushed from a queue, by one thread, or by each to vertices of its own. A large one is pulled by all
threads down the columns of the vertices that a search has not found, each as far as all are found [2]. These are listed
at the first pull, and fewer each time: a few are pulled even when the frontier is small. A search that is behind the
others has a small frontier, for which nearly all columns would be gone through to the end: its part is pushed first.

Levels are counted in bits: a vertex has a word for each binary digit of level + 1, with the digit of each search.
Large levels are held, as their words, and small ones noted, vertex by vertex, until all is found. Then `search_rows`
writes the rows of levels and of parents. The loops are in `search_steps`.

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
from semiring.cpu.threads import PIECES_PER_THREAD, get_threads, run
from semiring.verbs.batch import Rows
from semiring.verbs.explanation import details

from . import search_steps as steps
from .bfs import fill
from .search_rows import DIGITS, HELD, TILE, fold, levels_of, parents_of
from .search_steps import ACTIVE, COUNT, COUNTED, EDGES, FOUND, INTO, LEFT, LEVEL, TOUCHED

MOST = 64
"""Searches in a word."""

FEWEST = 8
"""Searches from which on a pass for all is worth it."""

FEW = 32
"""One vertex in FEW, up to which one thread pulls them, and their levels are noted."""

NOTES = 16
"""One vertex in NOTES, as many notes there is room for."""

SPREAD, ROUNDS = 4, 1
"""Bits that a word gains at a time, on average, below which the searches do not meet, after so many levels for each
doubling of the vertices."""

PULL, PUSH = 8, 24
"""A frontier is pulled with more than one in PULL of all edges, and pushed again with fewer than one in PUSH."""

WORTH_THREADS = 1 << 16
"""Entries from which on threads share a level."""

SHARED = 1 << 16
"""Edges of a frontier from which on threads share a push."""

DENSE = 4
"""Edges for each DENSE vertices from which on what a push finds is held as words of all vertices."""

WORTH_SHARING = 1 << 19
"""Entries by searches from which on threads take a search each."""

SAMPLED = 1 << 11
"""Edges that tell which searches are behind."""

BEHIND, EARLY = SAMPLED // 64, SAMPLED // 4
"""Of these, fewer come from the frontier of a search that is behind, and from what it has seen."""

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
    if len(sources) >= FEWEST and (how.choice != "push" or not return_parents) and not A.keeps(APART):
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

    threads = get_threads() if len(sources) * A.nnz >= WORTH_SHARING else 1
    each = -(-len(sources) // (threads * PIECES_PER_THREAD)) if threads > 1 else len(sources)
    run(one, [(i, min(i + each, len(sources))) for i in range(0, len(sources), each)])
    details(schedule="a search for each thread" if threads > 1 else "a search after the other", threads=threads)
    return rows


def bytes_needed(A: CSR, k: int) -> int:
    """What k searches take beside their rows: words, as many digits as levels may have, lists and notes."""
    digits = DIGITS * -(-(A.nrows + 2).bit_length() // DIGITS)
    lists = (4 + get_threads()) * A.indices.itemsize + 1
    return A.nrows * (8 * (3 + HELD + digits) + lists + 17 * get_threads()) + 8 * digits * TILE


def resolved(A: CSR, how: Direction, count: int) -> Direction:
    """`how`, or "push" where columns would first have to be made, and searches have been few."""
    resolved = how.for_matrix(A, count)
    if resolved.choice == "auto":
        by_columns(A)
    return resolved


class _Searches:
    """Up to 64 searches: the words, the digits of levels, the queue, and the choice of the next step."""

    def __init__(
        self, A: CSR, sources: list[int], rows: Rows, outside: np.ndarray | None, how: Direction, deepest: int
    ) -> None:
        self.A, self.sources, self.how, self.deepest, self.k = A, sources, how, deepest, len(sources)
        self.levels, self.parents = rows
        n = A.nrows
        self.seen, self.front, self.next = (np.zeros(n, np.uint64) for _ in range(3))
        if outside is not None:
            self.seen[outside] = ~np.uint64(0)
        self.digits = np.zeros((-(-n // TILE) * TILE, DIGITS), np.uint64)
        self.held: list[tuple[int, np.ndarray]] = []  # (level + 1, the words that gained it), not counted yet
        self.threads = get_threads() if A.nnz >= WORTH_THREADS else 1
        self.queue, self.other = (np.empty(n + self.threads, A.indices.dtype) for _ in range(2))
        room = n // NOTES + len(sources)
        self.notes = np.empty(room, self.queue.dtype), np.empty(room, np.uint64), np.empty(room, np.int32)
        self.state = np.zeros(10, np.int64)
        self.waiting: np.ndarray | None = None  # the vertices left to pull, once there has been a pull
        self.pushed = self.pulled = 0

    def run(self) -> bool:
        """Find and write all levels, and parents if they are asked for; False if the searches do not meet."""
        A, state = self.A, self.state
        steps.begin(np.array(self.sources, np.int64), self.seen, self.front, self.notes, state)
        first = np.unique(np.array(self.sources, self.queue.dtype))
        self.queue[: first.size] = first
        state[COUNT], state[EDGES], state[ACTIVE] = first.size, (A.indptr[first + 1] - A.indptr[first]).sum(), -1
        most = ROUNDS * max(A.nrows, 2).bit_length()
        listed = True
        while state[COUNT] and state[LEVEL] < self.deepest:
            if state[LEVEL] > most and state[FOUND] < SPREAD * state[TOUCHED]:
                return False
            if int(state[LEVEL]) + 3 >= 1 << self.digits.shape[1]:
                self.lengthen()
            if self.pulls(listed):
                listed = self.pull(listed)
            else:
                if not listed:
                    steps.list_places(self.front, self.queue)
                self.push(most)
                listed = True
        self.write()
        details(schedule="a bit for each search", levels=self.pushed + self.pulled, pulled=self.pulled)
        details(threads=self.threads)
        return True

    def lengthen(self) -> None:
        """Let levels have DIGITS binary digits more."""
        more = np.zeros((len(self.digits), self.digits.shape[1] + DIGITS), np.uint64)
        if self.state[COUNTED]:
            more[:, :-DIGITS] = self.digits
        self.digits = more

    def pulls(self, listed: bool) -> bool:
        """Is the next step a pull?"""
        if self.how.choice != "auto":
            return self.how.choice == "pull"
        edges = int(self.state[EDGES])
        return edges * (PULL if listed else PUSH) > self.A.nnz or (self.few() and edges > self.state[INTO])

    def few(self) -> bool:
        """Are the vertices left to pull known to be few?"""
        return self.waiting is not None and self.waiting.size * FEW <= self.A.nrows

    def push(self, most: int) -> None:
        """Levels from the queue, until the next is better pulled or shared, or has more digits."""
        A, state, before = self.A, self.state, int(self.state[LEVEL])
        rows, words, queues = (A.indptr, A.indices), (self.seen, self.front, self.next), (self.queue, self.other)
        auto, kept = self.how.choice == "auto", bool(self.held) and self.held[-1][1] is self.front
        if auto and state[EDGES] > max(SHARED, 2 * self.threads * state[COUNT]):
            swapped, held = True, self.push_together(rows, words, queues, kept)
        else:
            stop = min(self.deepest, (1 << self.digits.shape[1]) - 3, most + 1 if before <= most else A.nrows)
            edges = min(A.nnz // PULL, SHARED) if auto else A.nnz
            swapped, held = steps.push(rows, words, (self.notes, self.digits), queues, state, kept, stop, edges), False
        if swapped:
            self.front, self.next, self.queue, self.other = self.next, self.front, self.other, self.queue
        if kept:
            self.next = np.zeros_like(self.front)
        if held:
            self.hold()
        self.pushed += int(state[LEVEL]) - before

    def push_together(self, rows: Any, words: Any, queues: Any, kept: bool) -> bool:
        """A level by all threads, each to vertices of its own, with about equally many edges; is it to be held?"""
        held = int(self.state[EDGES]) * DENSE >= self.A.nrows
        cuts, own = self.cuts(), np.zeros((self.threads, self.state.size), np.int64)
        (queue, other), state = queues, self.state
        firsts = cuts[:-1] + np.arange(self.threads)  # as the place behind a list is written to
        run(
            lambda i, _: steps.push_share(rows, words, queues, state, own[i], cuts[i : i + 2], firsts[i]),
            [(i, i) for i in range(self.threads)],
        )
        if not kept:
            self.front[queue[: state[COUNT]]] = 0
        lists = [
            other[start : start + count] for start, count in zip(firsts.tolist(), own[:, COUNT].tolist(), strict=True)
        ]
        together = np.concatenate(lists)
        other[: together.size] = together
        self.add(own)
        if not held:
            steps.note(other, words[2], (self.notes, self.digits), state)
        return held

    def hold(self) -> None:
        """Let the words of the level that was found last wait to be counted, when there are some more."""
        if len(self.held) == HELD:
            self.count()
        self.held.append((int(self.state[LEVEL]) + 1, self.front))

    def count(self) -> None:
        """Count the levels that are held in digits."""
        fold(self.digits, self.held, self.threads)
        self.held.clear()
        self.state[COUNTED] = 1

    def add(self, own: np.ndarray) -> None:
        """Take over what threads have found at a level."""
        state = self.state
        state[LEVEL] += 1
        state[COUNT], state[EDGES] = own[:, COUNT].sum(), own[:, EDGES].sum()
        state[FOUND] += own[:, FOUND].sum()
        state[TOUCHED] += state[COUNT]
        state[ACTIVE] = np.bitwise_or.reduce(own[:, ACTIVE])

    def pull(self, listed: bool) -> bool:
        """A level down the columns of what has not been found by all; is the next frontier listed?

        listed: the frontier is.
        """
        columns: Any = by_columns(self.A)
        rows, state, few, whole = (columns.indptr, columns.indices, self.A.indptr), self.state, self.few(), False
        threads, kept = 1 if few else self.threads, bool(self.held) and self.held[-1][1] is self.front
        if self.waiting is None:
            self.waiting, whole = np.empty(self.A.nrows, self.queue.dtype), True
        active = state.view(np.uint64)[ACTIVE]
        behind = self.behind(columns, active) if listed and not few and self.how.choice == "auto" else np.uint64(0)
        after = self.next if few else (np.empty_like if whole and not behind else np.zeros_like)(self.front)
        words, waiting, searches = (self.seen, self.front, after), self.waiting, np.array([active, behind], np.uint64)
        if behind:
            self.push_some(words, behind)
        taken, own = np.zeros(1, np.int64), np.zeros((threads, state.size), np.int64)
        left, found = np.empty((threads, waiting.size), waiting.dtype), self.other if few else waiting[:0]
        run(
            lambda i, _: steps.pull(rows, words, waiting, whole, searches, taken, (left[i], found), own[i]),
            [(i, i) for i in range(threads)],
        )
        self.waiting = np.concatenate([part[:count] for part, count in zip(left, own[:, LEFT].tolist(), strict=True)])
        if few:
            self.emptied(kept, listed)
        self.add(own)
        state[INTO] = own[:, INTO].sum()
        self.front = after
        self.pulled += 1
        if few:
            steps.note(self.queue, after, (self.notes, self.digits), state)
        else:
            self.hold()
        return few

    def behind(self, columns: Any, active: np.uint64) -> np.uint64:
        """The searches that are behind the others, of those that have a frontier."""
        some = columns.indices[:: max(self.A.nnz // SAMPLED, 1)]
        near, known = (
            np.unpackbits(words[some].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").sum(axis=0)
            for words in (self.front, self.seen)
        )
        behind = np.packbits((near < BEHIND) & (known < EARLY), bitorder="little").view(np.uint64)[0] & active
        return behind if behind != active else np.uint64(0)

    def push_some(self, words: Any, some: np.uint64) -> None:
        """Give what some searches have of the queue to their neighbours, by all threads."""
        rows, count, cuts = (self.A.indptr, self.A.indices), self.state[COUNT], self.cuts()
        run(
            lambda i, _: steps.push_some(rows, words, self.queue, count, some, cuts[i : i + 2]),
            [(i, i) for i in range(self.threads)],
        )

    def cuts(self) -> np.ndarray:
        """Where the vertices of each thread begin, and where the last one's end: with about equally many edges."""
        columns: Any = by_columns(self.A)
        ends = np.searchsorted(columns.indptr, np.linspace(0, self.A.nnz, self.threads + 1)[1:-1])
        return np.array([0, *ends, self.A.nrows])

    def emptied(self, kept: bool, listed: bool) -> None:
        """After few are pulled: the next words are 0, as are those of the front unless they are kept."""
        if kept:
            self.next = np.zeros_like(self.front)
        else:
            if not listed:
                steps.list_places(self.front, self.queue)
            self.front[self.queue[: self.state[COUNT]]] = 0
            self.next = self.front
        self.queue, self.other = self.other, self.queue

    def write(self) -> None:
        """The parents, from the digits of neighbours, and the levels, for which the digits are turned."""
        state = self.state
        if self.parents is not None:
            self.count()
            steps.count_notes(self.notes, self.digits, state)
            parents_of(self.digits, by_columns(self.A), self.parents, self.threads)
        levels_of(self.digits, self.held, self.levels, bool(state[COUNTED]), self.threads)
        steps.write_notes(self.notes, self.levels, state)
