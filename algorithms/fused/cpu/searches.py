"""Breadth-first searches from up to 64 sources in one pass: a bit for each search in a word for each vertex [1].

    f'_v = (∨_u f_u) ∧ ¬seen_v     over the edges u -> v, all searches at once

Where searches meet, as they do in graphs with hubs within three levels, an edge is looked at once for all of them. A
small frontier is pushed from a queue by one thread. A large one is pulled by all threads down the columns of the
vertices that a search has not found, each as far as all are found [2].

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

from algorithms.traversal import Direction
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
from .search_rows import DIGITS, TILE, levels_of, parents_of
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
    return A.nrows * (8 * (3 + digits) + 2 * A.indices.itemsize + 17 * get_threads()) + 8 * digits * TILE


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
                    self.next.fill(0)
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
        """Levels from the queue, until the next is better pulled, or has more digits."""
        A, before = self.A, int(self.state[LEVEL])
        stop = min(self.deepest, (1 << self.digits.shape[1]) - 3, most + 1 if before <= most else A.nrows)
        edges = A.nnz // PULL if self.how.choice == "auto" else A.nnz
        words, queues = (self.seen, self.front, self.next), (self.queue, self.other)
        if _push((A.indptr, A.indices), words, self.digits, queues, self.state, stop, edges):
            self.front, self.next, self.queue, self.other = self.next, self.front, self.other, self.queue
        self.pushed += int(self.state[LEVEL]) - before

    def pull(self) -> None:
        """A level down the columns of what has not been found by all."""
        columns: Any = by_columns(self.A)
        state = self.state
        taken, own = np.zeros(1, np.int64), np.zeros((self.threads, state.size), np.int64)
        rows, words = (columns.indptr, columns.indices, self.A.indptr), (self.seen, self.front, self.next)
        level, active = int(state[LEVEL]) + 1, state.view(np.uint64)[ACTIVE]
        run(
            lambda i, _: _pull(rows, words, self.digits, level, active, taken, own[i]),
            [(i, i) for i in range(self.threads)],
        )
        self.front, self.next = self.next, self.front
        state[LEVEL], state[COUNT], state[EDGES] = level, own[:, TOUCHED].sum(), own[:, EDGES].sum()
        state[FOUND] += own[:, FOUND].sum()
        state[TOUCHED] += state[COUNT]
        state[ACTIVE] = np.bitwise_or.reduce(own[:, ACTIVE])
        self.pulled += 1

    def write(self) -> None:
        """The parents, from the digits of neighbours, and the levels, for which the digits are turned."""
        if self.parents is not None:
            parents_of(self.digits, by_columns(self.A), self.parents, self.threads)
        levels_of(self.digits, self.levels, self.threads)


@compiled
def _begin(source, bit, seen, front, digits):
    seen[source] |= bit
    front[source] |= bit
    digits[source, 0] |= bit


@compiled
def _list(words, places):
    """The places of the words that are not 0."""
    count = 0
    for v in range(words.size):
        places[count] = v
        count += words[v] != 0
    return count


@inlined
def count_level(digits, v, new, number):
    """The searches `new` have a level of v: number - 1."""
    digit = np.uintp(0)
    while number:
        if number & np.uint64(1):
            digits[v, digit] |= new
        digit += np.uintp(1)
        number >>= np.uint64(1)


@compiled
def _push(rows, words, digits, queues, state, stop, most):
    """Push levels from the queue, up to the level `stop`, or until one has more than `most` edges.

    Returns whether front and after, and the queues, have been swapped.
    """
    (indptr, indices), (seen, front, after), (queue, other) = rows, words, queues
    count, edges, level, one, swapped = state[COUNT], state[EDGES], state[LEVEL], np.uintp(1), False
    bits_found, touched, active, end = state[FOUND], state[TOUCHED], np.uint64(0), np.uintp(indices.size - 1)
    while count and level < stop and edges <= most:
        level += 1
        tail, f, last = np.uintp(0), np.uintp(0), np.uintp(count)
        while f < last:
            ahead = np.uintp(queue[min(f + AHEAD, last - one)])
            prefetched(indptr, ahead)
            prefetched(front, ahead)
            prefetched(indices, np.uintp(indptr[np.uintp(queue[min(f + AHEAD // np.uintp(2), last - one)])]))
            u = np.uintp(queue[f])
            f += one
            bits = front[u]
            front[u] = 0
            for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                far = np.uintp(indices[min(e + FAR, end)])
                prefetched(seen, far)
                prefetched(after, far)
                v = np.uintp(indices[e])
                before, add = after[v], bits & ~seen[v]
                after[v] = before | add
                other[tail] = v
                tail += np.uintp((before == 0) & (add != 0))
        edges, active = np.int64(0), np.uint64(0)
        for place in range(tail):
            ahead = np.uintp(other[min(place + FAR, tail - one)])
            prefetched(digits, ahead * np.uintp(digits.shape[1]))
            prefetched(indptr, ahead)
            prefetched(seen, ahead)
            prefetched(after, ahead)
            v = np.uintp(other[place])
            new = after[v]
            seen[v] |= new
            active |= new
            count_level(digits, v, new, np.uint64(level + 1))
            bits_found += np.int64(bits_set(new))
            edges += np.int64(indptr[v + one]) - np.int64(indptr[v])
        count = np.int64(tail)
        touched += count
        queue, other, front, after, swapped = other, queue, after, front, not swapped
    state[COUNT], state[EDGES], state[LEVEL] = count, edges, level
    state[FOUND], state[TOUCHED], state[ACTIVE] = bits_found, touched, np.int64(active)
    return swapped


@compiled
def _pull(rows, words, digits, level, active, taken, own):
    """A thread's share of a level: vertices from taken[0] on.  own: what it has found, as the state has it."""
    (indptr, indices, starts), (seen, front, after) = rows, words
    n, one, end = seen.size, np.uintp(1), np.uintp(indices.size - 1)
    bits_found, touched, edges, gained = np.int64(0), np.int64(0), np.int64(0), np.uint64(0)
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
                count_level(digits, v, new, np.uint64(level + 1))
                bits_found += np.int64(bits_set(new))
                touched += 1
                edges += np.int64(starts[v + one]) - np.int64(starts[v])
    own[FOUND], own[TOUCHED], own[EDGES], own[ACTIVE] = bits_found, touched, edges, np.int64(gained)
