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
from semiring.cpu.atomics import added, loaded, lowered, prefetched, stored
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.crew import MEMBERS, shared
from semiring.cpu.dealing import crew_for, dealt
from semiring.cpu.kernels import compiled, inlined
from semiring.verbs.explanation import details

from .words import count_bits, flagged, listed, lowest_bit, others, rows_with_edges

LARGE_EDGES = 1 << 16
"""Minimum of edges for a level to be handed to threads."""

MIN_NNZ = 1 << 17
"""Minimum of entries for large levels: below, all are pushed in one loop, as to choose takes longer."""

MIN_VERTICES_PER_THREAD = 1 << 6
"""Minimum of vertices of a small level that are worth a thread."""

MIN_THREADS = 4
"""Minimum of threads for them to share small levels: two pass each other more of the graph than they save."""

VERTICES_AT_A_TIME = 1 << 13
"""Number of vertices whose levels a thread looks at or fills at a time."""

ITEMS_AT_A_TIME = 64
"""Number of frontier vertices, or words of a bitmap, that a thread takes at a time."""

FRONTIER_AT_A_TIME = 16
"""Number of vertices of a small level that a thread takes at a time."""

LINE, LEVEL_BIT = 16, 32
"""Words between those of two threads, and the first bit of the level in the word that has what a thread has found."""

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
        lists = np.empty((2, self.threads, room if self.threads >= MIN_THREADS else 0), parent.dtype)
        self.own = lists, np.zeros(2 * self.threads * LINE, np.int64), np.zeros(self.threads + 1, np.int64)
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
    """Push small levels, of which threads share those that are worth it, out of lists of their own."""
    (indptr, _), (level, _, queue), (lists, told, ends), threads = rows, found, own, gate[MEMBERS]
    begin, end, k, unexplored = state[0], state[1], state[2], state[3]
    edges, one, (target, deepest, widest, large) = np.int64(0), np.uintp(1), (state[5], state[6], state[7], state[8])
    now, listed = 0, False
    while begin < end and k < deepest and (target < 0 or level[target] < 0) and not interrupted():
        most, members = (end - begin) * widest, 1
        may_be_large = most >= large or most * alpha > unexplored
        if lists.size:
            members = min(threads, (end - begin) // max(MIN_VERTICES_PER_THREAD, 1))
        if listed and (may_be_large or members < 2):
            _collect(lists[now], ends, queue)
            listed = False
        if may_be_large:
            edges = np.int64(0)
            for place in range(begin, end):
                u = np.uintp(queue[place])
                edges += np.int64(indptr[u + one]) - np.int64(indptr[u])
            unexplored -= edges
            if edges >= large or edges * alpha > unexplored:
                break
        k += 1
        if not listed and end + lists.shape[2] > queue.size:
            for place in range(begin, end):
                queue[place - begin] = queue[place]
            begin, end = 0, end - begin
        if members != gate[MEMBERS]:  # a store that is atomic takes as long as a vertex
            stored(gate, MEMBERS, max(members, 1))
        if members > 1:
            if not listed:
                for place in range(begin, end):
                    lists[now, 0, place - begin] = queue[place]
                for thread in range(threads):
                    ends[thread] = 0
                ends[0], told[now * threads * LINE] = end - begin, 0
            ends[threads] = (end - begin) // members
            _share_level(gate, (gate, rows, found, own, now, np.int32(k)))
            now, listed, begin, end = 1 - now, True, 0, 0
            for thread in range(threads):
                word = told[(now * threads + thread) * LINE + 1]  # of this level, if the thread has come
                ends[thread] = word & ((1 << LEVEL_BIT) - 1) if word >> LEVEL_BIT == k else 0
                end += ends[thread]
        else:
            begin, end = end, _push(rows, found, queue, (begin, end, end), 0, np.int32(k))
    if listed:
        _collect(lists[now], ends, queue)
    stored(gate, MEMBERS, threads)
    state[0], state[1], state[2], state[3], state[4] = begin, end, k, unexplored, edges


@inlined
def _collect(lists, ends, queue):
    """Write what the threads' lists have to the queue."""
    end = 0
    for thread in range(lists.shape[0]):
        for place in range(ends[thread]):
            queue[end] = lists[thread, place]
            end += 1


@shared
def _share_level(thread, gate, rows, found, own, now, k):
    """Push from the vertices of the thread's own list, which it has found, then from those of longer ones.

    So what a thread writes it reads again, for the most part: a line that another core wrote last takes as long as ten
    vertices. The leader takes from all lists, for a thread may not have come.
    """
    (level, parent, _), (lists, told, ends), out = found, own, own[0][1 - now, thread]
    threads, members, tail, other = ends.size - 1, loaded(gate, MEMBERS), 0, thread
    for turn in range(threads):
        size, taken = ends[other], (now * threads + other) * LINE
        if turn == 0 or thread == 0 or size > ends[threads] or other >= members:
            while loaded(told, taken) < size:
                first = added(told, taken, FRONTIER_AT_A_TIME)
                span = first, min(first + FRONTIER_AT_A_TIME, size), tail
                tail = _push(rows, (level, parent, lists[now, other]), out, span, size, k)
        other = other + 1 if other + 1 < threads else 0
    to = ((1 - now) * threads + thread) * LINE
    told[to], told[to + 1] = 0, np.int64(k) << LEVEL_BIT | tail


@inlined
def _push(rows, found, out, span, size, k):
    """Give level k to where the queue's vertices from one place to another lead, and write what is new to `out`.

    Returns where that ends.  span: the two places, and where it ends before.  size: of the queue, if other threads
    push, too: then a vertex may be written by each of them; 0 if this one pushes alone, and to the queue.
    """
    (indptr, indices), (level, parent, queue), (first, stop, end), shared = rows, found, span, size > 0
    f, last, tail, one, two = np.uintp(first), np.uintp(stop), np.uintp(end), np.uintp(1), np.uintp(2)
    while f < last:
        known = (np.uintp(size) if shared else tail) - one
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
