"""Breadth-first search as compiled loops: one call for all small levels, and threads for the large ones.

    level⟨f⟩ = k,   f' = fA⟨¬visited⟩

A frontier is a part of one queue, in which every vertex has a place once. Small levels, of which a road network has
hundreds, follow each other in one sequential loop, without a branch at what is new: each vertex is written at the
queue's end, which moves on if it was. Rows are fetched ahead, along the queue. A large level is a step of its own, to
which threads help themselves by a few vertices at a time; what is visited is then a bitmap, an eighth of a byte a
vertex, which stays in the caches. Pushed, every thread sets bits of its own, since a word that two cores write to
travels between them all the time; pulled, a vertex is found by the thread to which its word goes. Beamer's rule chooses
[1].

O(n + m) pushed. Beside the answer 4 bytes a vertex for the queue (8 of int64), three bitmaps, and one for each thread.

[1] S. Beamer, K. Asanović, D. Patterson, Direction-optimizing breadth-first search, SC 2012.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.shared.traversal import Direction
from formats import CSR
from formats.arrays import index_dtype
from formats.matrix.facts import LONGEST
from formats.storage.orientation import by_columns
from semiring.cpu.atomics import added, lowered, prefetched
from semiring.cpu.kernels import compiled
from semiring.verbs.explanation import details

from .dealing import deal, dealt, threads_for
from .words import as_words, bits_set, listed, lowest_bit

LARGE_EDGES = 1 << 16
"""Minimum of edges for a level to be handed to threads."""

MIN_NNZ = 1 << 17
"""Minimum of entries for large levels: below, all are pushed in one loop, as to choose takes longer."""

VERTICES_PER_CALL = 1 << 24
"""Number of vertices that a compiled loop finds before it returns to Python, where a signal is heard."""

ITEMS_AT_A_TIME = 64
"""Number of frontier vertices, or words of a bitmap, that a thread takes at a time."""

VERTICES_AHEAD = np.uintp(16)
"""Places in the queue between one and that whose row is prefetched."""

BEGIN, END, LEVEL, UNEXPLORED, EDGES, TARGET = range(6)
"""Places in the state of a search.

They hold the frontier's part of the queue, its level, and, where they are counted, the edges that no large frontier has
had yet and those of this one. The target is the vertex to stop at, or -1."""


def search(
    A: CSR,
    source: int,
    outside: np.ndarray | None,
    how: Direction,
    deepest: int | None,
    return_parents: bool,
    target: int | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return levels and parents from one source, as `algorithms.bfs.search` has them."""
    level = np.empty(A.nrows, np.int32)
    parent = np.empty(A.nrows if return_parents else 0, index_dtype(A.nrows))
    done = fill(A, source, level, parent, outside, how, deepest, target)
    details(levels=done.pushed + done.pulled, pushed=done.pushed, pulled=done.pulled, threads=done.threads)
    return level, parent if return_parents else None


def fill(
    A: CSR,
    source: int,
    level: np.ndarray,
    parent: np.ndarray,
    outside: np.ndarray | None,
    how: Direction,
    deepest: int | None,
    target: int | None = None,
) -> _Search:
    """Write the levels and, if there is room for them, the parents; returns the search with what it has done."""
    level.fill(-1)
    parent.fill(-1)
    how = how if A.nnz < MIN_NNZ else how.for_matrix(A)
    done = _Search(A, level, parent, how, A.nrows if deepest is None else min(deepest, A.nrows))
    done.state[TARGET] = -1 if target is None else target
    if outside is not None:
        level[outside], done.masked = -2, True
    done.run(source)
    if outside is not None:
        level[outside] = -1
    return done


class _Search:
    """One search: the queue, bitmaps from the first large level on, and the choice of the next step."""

    def __init__(self, A: CSR, level: np.ndarray, parent: np.ndarray, how: Direction, deepest: int) -> None:
        self.A, self.level, self.parent, self.how, self.deepest = A, level, parent, how, deepest
        self.queue = np.empty(A.nrows + 1, parent.dtype)
        self.masked = False
        self.state = np.zeros(6, np.int64)
        self.pushed = self.pulled = 0
        self.threads = threads_for(A.nnz)
        self.seen: np.ndarray | None = None  # made at the first large level, and again where small ones came between

    def run(self, source: int) -> None:
        """Find levels from `source`, until nothing is left to find, or the deepest level or the target is."""
        self.level[source], self.queue[0] = 0, source
        self.state[:TARGET] = 0, 1, 0, self.A.nnz, 0
        pulling = False
        while True:
            if self.how.choice != "pull" and not pulling:
                self.small_levels()
            if self.state[BEGIN] == self.state[END] or self.state[LEVEL] >= self.deepest or self.arrived():
                break
            before, pulling = pulling, self.pulls(pulling)
            if pulling:
                self.pull(listed=not before)
            elif before:
                listed(self.found, self.queue)
            else:
                self.push()

    def arrived(self) -> bool:
        """True if the target has a level."""
        target = int(self.state[TARGET])
        return target >= 0 and bool(self.level[target] >= 0)

    def pulls(self, pulling: bool) -> bool:
        """True if the next step is a pull, by the rule of `Direction.pulls`."""
        if self.how.choice != "auto":
            return self.how.choice == "pull"
        if pulling:
            return int(self.state[END]) * self.how.beta > self.A.nrows
        return int(self.state[EDGES]) * self.how.alpha > int(self.state[UNEXPLORED])

    def small_levels(self) -> None:
        """Push until a level is large enough for threads, or for pulling."""
        A, before = self.A, int(self.state[LEVEL])
        widest = (
            0 if A.nnz < MIN_NNZ else A.keep(LONGEST, lambda: int(np.diff(A.indptr).max(initial=0)), 0)
        )  # of 0 no level is large
        alpha = float(self.how.alpha) if self.how.choice == "auto" else 0.0
        parts = (A.indptr, A.indices), (self.level, self.parent, self.queue), self.state
        while _small_levels(*parts, self.deepest, widest, LARGE_EDGES, alpha, int(self.state[END]) + VERTICES_PER_CALL):
            pass
        if self.state[LEVEL] != before:
            self.pushed += int(self.state[LEVEL]) - before
            self.seen = None

    def visited(self) -> np.ndarray:
        """Return the bitmap of the vertices that have a level, or are not to get one."""
        if self.seen is None:
            if self.masked or self.pulled:
                words = as_words(self.level != -1, beyond=True)  # no vertex from n on is left to find
            else:
                words = as_words(np.zeros(self.level.size, bool), beyond=True)
                _flag_places(self.queue, 0, self.state[END], words)  # which has had every vertex
            self.seen, self.found = words, np.zeros_like(words)
        return self.seen

    def push(self) -> None:
        """Push a large level along the frontier's rows."""
        seen = self.visited()
        begin, end, k = int(self.state[BEGIN]), int(self.state[END]), int(self.state[LEVEL])
        reached = np.tile(seen, (self.threads, 1))
        parts = self.A.indptr, self.A.indices, seen, self.parent, self.queue[begin:end], reached
        deal(push_share, end - begin, ITEMS_AT_A_TIME, self.threads, *parts)
        after = _settle(reached, seen, self.queue, end, self.level, k + 1)
        self.state[BEGIN], self.state[END], self.state[LEVEL] = end, after, k + 1
        self.pushed += 1

    def pull(self, listed: bool) -> None:
        """Pull a level down the columns of the unvisited.  listed: True if the frontier is in the queue."""
        columns: Any = by_columns(self.A)
        seen, k = self.visited(), int(self.state[LEVEL])
        if listed:
            self.front = np.zeros_like(seen)
            _flag_places(self.queue, self.state[BEGIN], self.state[END], self.front)
        else:
            self.front, self.found = self.found, self.front
        parts, total = ((columns.indptr, columns.indices), (seen, self.front, self.found)), np.zeros(1, np.int64)
        deal(pull_share, seen.size, ITEMS_AT_A_TIME, self.threads, *parts, (self.level, self.parent), total, k + 1)
        self.state[BEGIN], self.state[END], self.state[LEVEL] = 0, total[0], k + 1
        self.pulled += 1


@compiled
def _small_levels(rows, found, state, deepest, widest, large, alpha, pause):
    """Push small levels; True if it pauses, since the queue has got so long."""
    (indptr, indices), (level, parent, queue) = rows, found
    begin, end, k, unexplored = state[0], state[1], state[2], state[3]
    edges, one, two, target = np.int64(0), np.uintp(1), np.uintp(2), state[5]
    while begin < end < pause and k < deepest and (target < 0 or level[target] < 0):
        most = (end - begin) * widest
        if most >= large or most * alpha > unexplored:
            edges = np.int64(0)
            for place in range(begin, end):
                u = np.uintp(queue[place])
                edges += np.int64(indptr[u + one]) - np.int64(indptr[u])
            unexplored -= edges
            if edges >= large or edges * alpha > unexplored:
                break
        k += 1
        f, last, tail, next_level = np.uintp(begin), np.uintp(end), np.uintp(end), np.int32(k)
        while f < last:
            prefetched(indptr, np.uintp(queue[min(f + VERTICES_AHEAD, tail - one)]))
            prefetched(indices, np.uintp(indptr[np.uintp(queue[min(f + VERTICES_AHEAD // two, tail - one)])]))
            u = np.uintp(queue[f])
            e, stop = np.uintp(indptr[u]), np.uintp(indptr[u + one])
            f += one
            while e < stop:
                v = np.uintp(indices[e])
                e += one
                before = level[v]
                fresh = before == -1
                queue[tail] = v
                tail += np.uintp(fresh)
                after = next_level if fresh else before
                level[v] = after
                if parent.size:
                    known = parent[v]
                    parent[v] = u if (after == next_level) & (np.uint64(known) > np.uint64(u)) else known
        begin, end = end, np.int64(tail)
    state[0], state[1], state[2], state[3], state[4] = begin, end, k, unexplored, edges
    return end >= pause


@dealt
def push_share(thread, first, stop, indptr, indices, seen, parent, queue, marks):
    """Set in the thread's marks where frontier vertices lead, those of the queue's places `first` to `stop`.

    Where nobody asks for parents, rows that follow each other in memory are one: a row costs as much as ten edges.
    """
    one, low = np.uintp(1), np.uintp(63)
    f, last, reached = np.uintp(first), np.uintp(stop), marks[thread]
    while f < last:
        u = np.uintp(queue[f])
        e, end = np.uintp(indptr[u]), np.uintp(indptr[u + one])
        f += one
        while parent.size == 0 and f < last and np.uintp(indptr[np.uintp(queue[f])]) == end:
            end = np.uintp(indptr[np.uintp(queue[f]) + one])
            f += one
        while e < end:
            v = np.uintp(indices[e])
            e += one
            word, bit = v >> np.uintp(6), np.uint64(1) << (v & low)
            reached[word] |= bit
            if parent.size and not seen[word] & bit and np.uint64(parent[v]) > np.uint64(u):
                lowered(parent, v, u)


@compiled
def _settle(reached, seen, queue, end, level, k):
    """Give a level to what a thread has reached and nobody had seen, and append it to the queue; returns its end."""
    place, low = np.uintp(end), np.uint64(1)
    for word in range(seen.size):
        new = reached[0, word]
        for thread in range(1, reached.shape[0]):
            new |= reached[thread, word]
        new ^= seen[word]
        seen[word] |= new
        while new:
            v = np.uintp(word) * np.uintp(64) + np.uintp(lowest_bit(new))
            queue[place] = v
            place += np.uintp(1)
            level[v] = k
            new &= new - low
    return np.int64(place)


@dealt
def pull_share(first, stop, columns, words, answer, total, k):
    """Pull the vertices of some words of the bitmaps; what is new is counted in `total`."""
    (indptr, indices), (seen, front, found), (level, parent) = columns, words, answer
    count, one, low = np.int64(0), np.uintp(1), np.uintp(63)
    for word in range(np.uintp(first), np.uintp(stop)):
        unvisited, new = ~seen[word], np.uint64(0)
        while unvisited:
            v = word * np.uintp(64) + np.uintp(lowest_bit(unvisited))
            for e in range(np.uintp(indptr[v]), np.uintp(indptr[v + one])):
                u = np.uintp(indices[e])
                if front[u >> np.uintp(6)] >> (u & low) & np.uint64(1):
                    level[v] = k
                    if parent.size:
                        parent[v] = indices[e]
                    new |= unvisited & (~unvisited + np.uint64(1))
                    break
            unvisited &= unvisited - np.uint64(1)
        found[word] = new
        seen[word] |= new
        count += np.int64(bits_set(new))
    added(total, 0, count)


@compiled
def _flag_places(queue, begin, end, flags):
    for f in range(begin, end):
        v = np.uintp(queue[f])
        flags[v >> np.uintp(6)] |= np.uint64(1) << (v & np.uintp(63))
