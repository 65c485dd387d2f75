"""Breadth-first search as compiled loops: one call for all small levels, and a step for each large one.

    level⟨f⟩ = k,   f' = fA⟨¬visited⟩

A frontier is a part of one queue. Small levels, of which a road network has hundreds, follow each other in one loop,
without a branch at what is new: each vertex is written at the queue's end, which moves on if it was. Rows are fetched
ahead, along the queue. Threads may share such a level. Two may then find a vertex at the same time, and it is in the
queue twice, which costs less than an atomic instruction for each. A large level is a step of its own, to which threads
help themselves by a few vertices at a time; what is visited is then a bitmap, an eighth of a byte a vertex, which stays
in the caches. Pushed, every thread sets bits of its own, since a word that two cores write to travels between them all
the time; pulled, a vertex is found by the thread to which its word goes. Beamer's rule chooses [1].

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
from semiring.cpu.atomics import added, lowered, prefetched, stored
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.crew import MEMBERS, TAKEN, shared
from semiring.cpu.dealing import crew_for, dealt
from semiring.cpu.kernels import compiled, inlined
from semiring.verbs.explanation import details

from .words import count_bits, flagged, listed, lowest_bit, others, rows_with_edges

LARGE_EDGES = 1 << 16
"""Minimum of edges for a level to be handed to threads."""

MIN_NNZ = 1 << 17
"""Minimum of entries for large levels: below, all are pushed in one loop, as to choose takes longer."""

MIN_VERTICES_PER_THREAD = 1 << 8
"""Minimum of vertices of a small level that are worth a thread."""

MIN_THREADS = 4
"""Minimum of threads for them to share small levels: two pass each other more of the graph than they save."""

VERTICES_AT_A_TIME = 1 << 13
"""Number of vertices whose levels a thread looks at or fills at a time."""

ITEMS_AT_A_TIME = 64
"""Number of frontier vertices, or words of a bitmap, that a thread takes at a time."""

VERTICES_AHEAD = np.uintp(16)
"""Places in the queue between one and that whose row is prefetched."""

BEGIN, END, LEVEL, UNEXPLORED, EDGES, TARGET, DEEPEST = range(7)
"""Places in the state of a search.

They hold the frontier's part of the queue, its level, and, where they are counted, the edges that no large frontier has
had yet and those of this one. The target is the vertex to stop at, or -1. The last three are the deepest level that is
wanted, the most edges of a row, 0 where no level is large, and the edges from which on one is."""


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
    how = how if A.nnz < MIN_NNZ else how.for_matrix(A)
    with crew_for(A.nnz) as gate:
        _fill(gate, level.size, VERTICES_AT_A_TIME, (level, parent))
        done = _Search(A, level, parent, how, A.nrows if deepest is None else min(deepest, A.nrows), gate)
        if target is not None:
            done.state[TARGET] = target
        if outside is not None:
            level[outside] = -2
        done.run(source)
    if outside is not None:
        level[outside] = -1
    return done


def component(gate: np.ndarray, A: CSR, source: int) -> np.ndarray:
    """Return a bitmap of the vertices that a source is connected with, where every edge's reverse is stored."""
    level = np.empty(A.nrows, np.int32)
    nowhere = np.empty(0, index_dtype(A.nrows))
    _fill(gate, level.size, VERTICES_AT_A_TIME, (level, nowhere))
    _Search(A, level, nowhere, Direction(), A.nrows, gate, A).run(source)
    return others(flagged(gate, level, -1), A.nrows)


class _Search:
    """One search: the queue, bitmaps from the first large level on, and the choice of the next step."""

    def __init__(
        self,
        A: CSR,
        level: np.ndarray,
        parent: np.ndarray,
        how: Direction,
        deepest: int,
        gate: np.ndarray,
        columns: Any = None,
    ) -> None:
        self.A, self.level, self.parent, self.how, self.gate, self.columns = A, level, parent, how, gate, columns
        self.threads = int(gate[MEMBERS])
        room = min(LARGE_EDGES, A.nnz) + 1  # threads that share a level may find a vertex more than once
        self.queue = np.empty(A.nrows + 2 * room, parent.dtype)
        self.own = np.empty((self.threads, room if self.threads >= MIN_THREADS else 0), parent.dtype)
        widest = A.keep(LONGEST, lambda: int(np.diff(A.indptr).max(initial=0)), 0) if A.nnz >= MIN_NNZ else 0
        self.state = np.array([0, 1, 0, A.nnz, 0, -1, deepest, widest, LARGE_EDGES])
        self.pushed = self.pulled = 0
        self.seen: np.ndarray | None = None  # made at the first large level, and again where small ones came between
        self.reached: np.ndarray | None = None  # made at the first push: a bitmap for each thread, empty between pushes

    def run(self, source: int) -> None:
        """Find levels from `source`, until nothing is left to find, or the deepest level or the target is."""
        self.level[source], self.queue[0] = 0, source
        pulling, target = False, int(self.state[TARGET])
        while True:
            if self.how.choice != "pull" and not pulling:
                self.small_levels()
            arrived = target >= 0 and self.level[target] >= 0
            if arrived or self.state[BEGIN] == self.state[END] or self.state[LEVEL] >= self.state[DEEPEST]:
                break
            before, pulling = pulling, self.pulls(pulling)
            if pulling:
                self.pull(listed=not before)
            elif before:
                listed(self.gate, self.found, self.queue)
            else:
                self.push()

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
        alpha = float(self.how.alpha) if self.how.choice == "auto" else 0.0
        parts = (A.indptr, A.indices), (self.level, self.parent, self.queue), self.own, self.state
        _small_levels(self.gate, *parts, alpha)
        if self.state[LEVEL] != before:
            self.pushed += int(self.state[LEVEL]) - before
            self.seen = None

    def visited(self) -> np.ndarray:
        """Return the bitmap of the vertices that have a level, or are not to get one."""
        if self.seen is None:
            self.seen = ~flagged(self.gate, self.level, -1)  # no vertex from n on is left to find
            self.found = np.empty_like(self.seen)
        return self.seen

    def push(self) -> None:
        """Push a large level along the frontier's rows."""
        seen, k = self.visited(), int(self.state[LEVEL]) + 1
        if self.reached is None:
            self.reached = np.zeros((self.threads, seen.size), np.uint64)
        frontier = self.queue[self.state[BEGIN] : self.state[END]]
        parts = (self.A.indptr, self.A.indices), seen, self.parent, frontier, self.reached
        push_share(self.gate, frontier.size, ITEMS_AT_A_TIME, parts)
        _settle(self.gate, seen.size, ITEMS_AT_A_TIME, (self.reached, seen, self.found, self.level, k))
        self.state[BEGIN], self.state[END], self.state[LEVEL] = 0, listed(self.gate, self.found, self.queue), k
        self.pushed += 1

    def pull(self, listed: bool) -> None:
        """Pull a level down the columns of the unvisited.  listed: True if the frontier is in the queue."""
        columns: Any = by_columns(self.A) if self.columns is None else self.columns
        seen, k = self.visited(), int(self.state[LEVEL])
        if not self.pulled:
            seen |= ~rows_with_edges(self.gate, columns)
        if listed:
            self.front = flagged(self.gate, self.level, k)
        else:
            self.front, self.found = self.found, self.front
        parts = (columns.indptr, columns.indices), (seen, self.front, self.found), (self.level, self.parent), k + 1
        pull_share(self.gate, seen.size, ITEMS_AT_A_TIME, parts)
        self.state[BEGIN], self.state[END], self.state[LEVEL] = 0, count_bits(self.found), k + 1
        self.pulled += 1


@compiled
def _small_levels(gate, rows, found, own, state, alpha):
    """Push small levels, of which threads share those that are worth it."""
    (indptr, _), (level, _, queue), threads = rows, found, gate[MEMBERS]
    begin, end, k, unexplored = state[0], state[1], state[2], state[3]
    edges, one, (target, deepest, widest, large) = np.int64(0), np.uintp(1), (state[5], state[6], state[7], state[8])
    while begin < end and k < deepest and (target < 0 or level[target] < 0) and not interrupted():
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
        if end + own.shape[1] > queue.size:
            for place in range(begin, end):
                queue[place - begin] = queue[place]
            begin, end = 0, end - begin
        members = min(threads, (end - begin) // max(MIN_VERTICES_PER_THREAD, 1)) if own.size else 1
        if members != gate[MEMBERS]:  # a store that is atomic takes as long as a vertex
            stored(gate, MEMBERS, members)
        if members > 1:
            state[1], gate[TAKEN] = end, begin
            _share_level(gate, (gate, rows, found, own, state, end, np.int32(k)))
            begin, end = end, state[1]
        else:
            begin, end = end, _push(rows, found, queue, begin, end, end, np.int32(k), False)
    stored(gate, MEMBERS, threads)
    state[0], state[1], state[2], state[3], state[4] = begin, end, k, unexplored, edges


@shared
def _share_level(thread, gate, rows, found, own, state, end, k):
    """Push from vertices of the queue before `end` that nobody has taken, and append what is found to it."""
    queue = found[2]
    while True:
        first = added(gate, TAKEN, ITEMS_AT_A_TIME)
        if first >= end:
            return
        count = _push(rows, found, own[thread], first, min(first + ITEMS_AT_A_TIME, end), 0, k, True)
        at = added(state, 1, count)
        for place in range(count):
            queue[np.uintp(at + place)] = own[thread, np.uintp(place)]


@inlined
def _push(rows, found, out, first, last, end, k, shared):
    """Give level k to where the queue's vertices from `first` to `last` lead, and write what is new to `out`.

    Returns where that ends.  shared: True if other threads push, too: then a vertex may be written by each of them.
    """
    (indptr, indices), (level, parent, queue) = rows, found
    f, last, tail, one, two = np.uintp(first), np.uintp(last), np.uintp(end), np.uintp(1), np.uintp(2)
    while f < last:
        known = (last if shared else tail) - one
        prefetched(indptr, np.uintp(queue[min(f + VERTICES_AHEAD, known)]))
        prefetched(indices, np.uintp(indptr[np.uintp(queue[min(f + VERTICES_AHEAD // two, known)])]))
        u = np.uintp(queue[f])
        e, stop = np.uintp(indptr[u]), np.uintp(indptr[u + one])
        f += one
        while e < stop:
            v = np.uintp(indices[e])
            e += one
            before = level[v]
            fresh = before == -1
            out[tail] = v
            tail += np.uintp(fresh)
            after = k if fresh else before
            if fresh or not shared:  # a word that two cores write to travels between them
                level[v] = after
            if parent.size:
                before = parent[v]
                nearer = (after == k) & (np.uint64(before) > np.uint64(u))
                if not shared:
                    parent[v] = u if nearer else before
                elif nearer:
                    lowered(parent, v, u)
    return np.int64(tail)


@dealt
def push_share(thread, first, stop, rows, seen, parent, queue, reached):
    """Set in the thread's bitmap where frontier vertices lead, those of the queue's places `first` to `stop`.

    Where nobody asks for parents, rows that follow each other in memory are one: a row costs as much as ten edges.
    """
    (indptr, indices), one, low = rows, np.uintp(1), np.uintp(63)
    f, last = np.uintp(first), np.uintp(stop)
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
            reached[thread, word] |= bit
            if parent.size and not seen[word] & bit and np.uint64(parent[v]) > np.uint64(u):
                lowered(parent, v, u)


@dealt
def _settle(first, stop, reached, seen, found, level, k):
    """Give a level to what a thread has reached and nobody had seen in some words, and flag it in `found`."""
    for word in range(np.uintp(first), np.uintp(stop)):
        every = np.uint64(0)
        for thread in range(reached.shape[0]):
            every |= reached[thread, word]
            reached[thread, word] = 0
        found[word] = new = every & ~seen[word]
        seen[word] |= every
        while new:
            level[word * np.uintp(64) + np.uintp(lowest_bit(new))] = k
            new &= new - np.uint64(1)


@dealt
def pull_share(first, stop, columns, words, answer, k):
    """Pull the vertices of some words of the bitmaps, and flag those that are new."""
    (indptr, indices), (seen, front, found), (level, parent) = columns, words, answer
    one, low = np.uintp(1), np.uintp(63)
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


@dealt
def _fill(first, stop, level, parent):
    """Note of some vertices that they are not found."""
    for v in range(np.uintp(first), np.uintp(stop)):
        level[v] = -1
        if parent.size:
            parent[v] = -1
