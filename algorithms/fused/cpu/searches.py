"""Breadth-first searches from up to 64 sources in one pass: a bit for each search in a word for each vertex [1].

    f'_v = (∨_u f_u) ∧ ¬seen_v     over the edges u -> v, all searches at once

Where searches meet, as they do in graphs with hubs within three levels, an edge is looked at once for all of them. A
small frontier is pushed from a queue, by one thread, or by each to vertices of its own. A large one is pulled by all
threads down the columns of the vertices that a search has not found, each as far as all are found [2].

Levels are counted in bits: a vertex has a word for each binary digit of level + 1, with the digit of each search.
When all is found, `search_rows` writes the rows of levels and of parents.

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
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import PIECES_PER_THREAD, get_threads, run
from semiring.verbs.batch import Rows
from semiring.verbs.explanation import facts

from .atomics import added, prefetched
from .bfs import fill
from .search_rows import DIGITS, HELD, TILE, count_level, fold, levels_of, parents_of
from .words import bits_set

MOST = 64
"""Searches in a word."""

FEWEST = 8
"""Searches from which on a pass for all is worth it."""

GRAIN = 512
"""Vertices that a thread takes at a time to pull."""

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

APART: Fact[bool] = Fact("searches from several sources do not meet")

LEVEL, FOUND, TOUCHED, EDGES, COUNT, ACTIVE = range(6)
"""What is known at a level: its number; bits found, words that gained them, edges of the frontier, its vertices, and
the searches that it is of."""

FAR = np.uintp(16)
AHEAD = np.uintp(8)
"""Places in the queue from one to that whose row is fetched meanwhile."""


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
    facts(schedule="a search for each thread" if threads > 1 else "a search after the other", threads=threads)
    return rows


def bytes_needed(A: CSR, k: int) -> int:
    """What k searches take beside their rows: words, as many digits as levels may have, and queues."""
    digits = DIGITS * -(-(A.nrows + 2).bit_length() // DIGITS)
    return A.nrows * (8 * (3 + HELD + digits) + 2 * A.indices.itemsize + 17 * get_threads()) + 8 * digits * TILE


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
        self.queue, self.other = (np.empty(n + 1, A.indices.dtype) for _ in range(2))
        self.state = np.zeros(6, np.int64)
        self.threads = get_threads() if A.nnz >= WORTH_THREADS else 1
        self.pushed = self.pulled = 0

    def run(self) -> bool:
        """Find and write all levels, and parents if they are asked for; False if the searches do not meet."""
        A, state = self.A, self.state
        for lane, source in enumerate(self.sources):
            _begin(source, np.uint64(1) << np.uint64(lane), self.seen, self.front, self.digits)
        first = np.unique(np.array(self.sources, self.queue.dtype))
        self.queue[: first.size] = first
        state[COUNT], state[EDGES], state[ACTIVE] = first.size, (A.indptr[first + 1] - A.indptr[first]).sum(), -1
        most = ROUNDS * max(A.nrows, 2).bit_length()
        listed = True
        while state[COUNT] and state[LEVEL] < self.deepest:
            if state[LEVEL] > most and state[FOUND] < SPREAD * state[TOUCHED]:
                return False
            if int(state[LEVEL]) + 3 >= 1 << self.digits.shape[1]:
                self.digits = np.concatenate((self.digits, np.zeros((len(self.digits), DIGITS), np.uint64)), axis=1)
            if self.pulls(listed):
                self.pull()
                listed = False
            else:
                if not listed:
                    _list(self.front, self.queue)
                self.push(most)
                listed = True
        self.write()
        facts(schedule="a bit for each search", levels=self.pushed + self.pulled, pulled=self.pulled)
        facts(threads=self.threads)
        return True

    def pulls(self, listed: bool) -> bool:
        """Is the next step a pull?"""
        if self.how.choice != "auto":
            return self.how.choice == "pull"
        return int(self.state[EDGES]) * (PULL if listed else PUSH) > self.A.nnz

    def push(self, most: int) -> None:
        """Levels from the queue, until the next is better pulled or shared, or has more digits."""
        A, state, before = self.A, self.state, int(self.state[LEVEL])
        rows, words, queues = (A.indptr, A.indices), (self.seen, self.front, self.next), (self.queue, self.other)
        auto, kept = self.how.choice == "auto", bool(self.held) and self.held[-1][1] is self.front
        if auto and self.threads > 1 and state[EDGES] > max(SHARED, 2 * self.threads * state[COUNT]):
            swapped, held = True, self.push_together(rows, words, queues, kept)
        else:
            stop = min(self.deepest, (1 << self.digits.shape[1]) - 3, most + 1 if before <= most else A.nrows)
            edges = min(A.nnz // PULL, SHARED if self.threads > 1 else A.nnz) if auto else A.nnz
            swapped, held = _push(rows, words, self.digits, queues, state, kept, stop, edges), False
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
        columns: Any = by_columns(self.A)
        ends = np.searchsorted(columns.indptr, np.linspace(0, self.A.nnz, self.threads + 1)[1:-1])
        cuts, own = np.array([0, *ends, self.A.nrows]), np.zeros((self.threads, self.state.size), np.int64)
        (queue, other), digits, state = queues, self.digits, self.state
        run(
            lambda i, _: _push_share(rows, words, digits, queues, state, held, own[i], cuts[i : i + 2]),
            [(i, i) for i in range(self.threads)],
        )
        if not kept:
            self.front[queue[: state[COUNT]]] = 0
        lists = [
            other[start : start + count]
            for start, count in zip(cuts[:-1].tolist(), own[:, COUNT].tolist(), strict=True)
        ]
        together = np.concatenate(lists)
        other[: together.size] = together
        self.add(own)
        return held

    def hold(self) -> None:
        """Let the words of the level that was found last wait to be counted, when there are some more."""
        if len(self.held) == HELD:
            fold(self.digits, self.held, self.threads)
            self.held.clear()
        self.held.append((int(self.state[LEVEL]) + 1, self.front))

    def add(self, own: np.ndarray) -> None:
        """Take over what threads have found at a level."""
        state = self.state
        state[LEVEL] += 1
        state[COUNT], state[EDGES] = own[:, COUNT].sum(), own[:, EDGES].sum()
        state[FOUND] += own[:, FOUND].sum()
        state[TOUCHED] += state[COUNT]
        state[ACTIVE] = np.bitwise_or.reduce(own[:, ACTIVE])

    def pull(self) -> None:
        """A level down the columns of what has not been found by all."""
        columns: Any = by_columns(self.A)
        state = self.state
        taken, own = np.zeros(1, np.int64), np.zeros((self.threads, state.size), np.int64)
        after = np.empty_like(self.front)
        rows, words = (columns.indptr, columns.indices, self.A.indptr), (self.seen, self.front, after)
        active = state.view(np.uint64)[ACTIVE]
        run(lambda i, _: _pull(rows, words, active, taken, own[i]), [(i, i) for i in range(self.threads)])
        self.add(own)
        self.front = after
        self.hold()
        self.pulled += 1

    def write(self) -> None:
        """The parents, from the digits of neighbours, and the levels, for which the digits are turned."""
        if self.parents is not None:
            fold(self.digits, self.held, self.threads)
            self.held.clear()
            parents_of(self.digits, by_columns(self.A), self.parents, self.threads)
        levels_of(self.digits, self.held, self.levels, self.threads)


@compiled
def _begin(source, bit, seen, front, digits):
    seen[source] |= bit
    front[source] |= bit
    digits[source, 0] |= bit


@compiled
def _list(words, places):
    """Write the places of the words that are not 0."""
    count = 0
    for v in range(words.size):
        places[count] = v
        count += words[v] != 0


@inlined
def first_from(indices, e, stop, v):
    """The first entry of a row from a vertex on."""
    while e < stop:
        middle = (e + stop) >> np.uintp(1)
        if indices[middle] < v:
            e = middle + np.uintp(1)
        else:
            stop = middle
    return e


@inlined
def spread(rows, front, after, queue, count, other, begin, end):
    """Give the bits of the queue's vertices to their neighbours in [begin, end), listed in `other`; where these end.

    The list begins at other[begin].
    """
    (indptr, indices), one = rows, np.uintp(1)
    tail, f, last, final = np.uintp(begin), np.uintp(0), np.uintp(count), np.uintp(indices.size - 1)
    whole = begin == 0 and end == after.size
    while f < last:
        ahead = np.uintp(queue[min(f + AHEAD, last - one)])
        prefetched(indptr, ahead)
        prefetched(front, ahead)
        prefetched(indices, np.uintp(indptr[np.uintp(queue[min(f + AHEAD // np.uintp(2), last - one)])]))
        u = np.uintp(queue[f])
        f += one
        bits, e, stop = front[u], np.uintp(indptr[u]), np.uintp(indptr[u + one])
        if not whole:
            e = first_from(indices, e, stop, begin)
            stop = first_from(indices, e, stop, end)
        while e < stop:
            prefetched(after, np.uintp(indices[min(e + FAR, final)]))
            v = np.uintp(indices[e])
            e += one
            before = after[v]
            after[v] = before | bits
            other[tail] = v
            tail += np.uintp(before == 0)
    return tail


@inlined
def settle(indptr, words, digits, number, other, begin, tail, own):
    """Keep the listed vertices that have new bits, whose level is number - 1. `own` becomes of them.

    number: 0 if the level is not to be counted.
    """
    (seen, after), one = words, np.uintp(1)
    kept, bits_found, edges, active = np.uintp(begin), np.int64(0), np.int64(0), np.uint64(0)
    for place in range(np.uintp(begin), tail):
        ahead = np.uintp(other[min(place + FAR, tail - one)])
        if number:
            prefetched(digits, ahead * np.uintp(digits.shape[1]))
        prefetched(indptr, ahead)
        prefetched(seen, ahead)
        prefetched(after, ahead)
        v = np.uintp(other[place])
        new = after[v] & ~seen[v]
        after[v] = new
        seen[v] |= new
        active |= new
        count_level(digits, v, new, number)
        bits_found += np.int64(bits_set(new))
        edges += (np.int64(indptr[v + one]) - np.int64(indptr[v])) * (new != 0)
        other[kept] = v
        kept += np.uintp(new != 0)
    count = np.int64(kept) - begin
    own[COUNT], own[EDGES], own[FOUND], own[TOUCHED], own[ACTIVE] = count, edges, bits_found, count, np.int64(active)


@compiled
def _push(rows, words, digits, queues, state, kept, stop, most):
    """Push levels from the queue, up to the level `stop`, or until one has more than `most` edges.

    kept: the front is to stay as it is, so one level alone.  Returns whether front and after, and the queues, have been
    swapped.
    """
    (seen, front, after), (queue, other), swapped, own = words, queues, False, np.zeros_like(state)
    while True:
        count = state[COUNT]
        tail = spread(rows, front, after, queue, count, other, 0, seen.size)
        for f in range(0 if kept else count):
            front[np.uintp(queue[f])] = 0
        state[LEVEL] += 1
        settle(rows[0], (seen, after), digits, np.uint64(state[LEVEL] + 1), other, 0, tail, own)
        state[FOUND] += own[FOUND]
        state[TOUCHED] += own[TOUCHED]
        state[COUNT], state[EDGES], state[ACTIVE] = own[COUNT], own[EDGES], own[ACTIVE]
        queue, other, front, after, swapped = other, queue, after, front, not swapped
        if kept or not (state[COUNT] and state[LEVEL] < stop and state[EDGES] <= most):
            return swapped


@compiled
def _push_share(rows, words, digits, queues, state, held, own, cuts):
    """A thread's share of a level: what lies in [cuts[0], cuts[1]).  held: it is not counted."""
    (seen, front, after), (queue, other), begin, end = words, queues, cuts[0], cuts[1]
    tail = spread(rows, front, after, queue, state[COUNT], other, begin, end)
    number = np.uint64(0 if held else state[LEVEL] + 2)
    settle(rows[0], (seen, after), digits, number, other, begin, tail, own)


@compiled
def _pull(rows, words, active, taken, own):
    """A thread's share of a level: vertices from taken[0] on.  own: what it has found, as the state has it."""
    (indptr, indices, starts), (seen, front, after) = rows, words
    n, one, end = seen.size, np.uintp(1), np.uintp(indices.size - 1)
    bits_found, count, edges, gained = np.int64(0), np.int64(0), np.int64(0), np.uint64(0)
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n:
            break
        for i in range(first, min(first + GRAIN, n)):
            v = np.uintp(i)
            rest, new = active & ~seen[v], np.uint64(0)
            if rest:
                e, stop = np.uintp(indptr[v]), np.uintp(indptr[v + one])
                while e < stop and new != rest:
                    prefetched(front, np.uintp(indices[min(e + FAR, end)]))
                    new |= front[np.uintp(indices[e])] & rest
                    e += one
            after[v] = new
            if new:
                seen[v] |= new
                gained |= new
                bits_found += np.int64(bits_set(new))
                count += 1
                edges += np.int64(starts[v + one]) - np.int64(starts[v])
    own[FOUND], own[COUNT], own[EDGES], own[ACTIVE] = bits_found, count, edges, np.int64(gained)
