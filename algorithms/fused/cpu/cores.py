"""Core numbers as loops that threads share: for each k all vertices with k neighbours left leave, and who follows.

    look:   lay those that have k left into the thread's queue, and list those that have more for the next k
    leave:  take a neighbour away from the neighbours of who leaves; one that has k left then is laid into the queue

The thread that has taken the last one too many lays a vertex into its queue, as in PKC [2]; from there every thread
takes, its own first. So threads wait for each other twice for each k. Those that stay are looked through once for each
k, which is less than once for each edge: a vertex stays for as many as its core number, and so many edges it has.
O(n + m); 16 bytes a vertex, and 4 for each thread.

[1] V. Batagelj, M. Zaversnik, An O(m) algorithm for cores decomposition of networks, arXiv cs/0310049, 2003.
[2] H. Kabir, K. Madduri, Parallel k-core decomposition on multicore platforms, IPDPS Workshops, 2017.
"""

from __future__ import annotations

import numpy as np

from algorithms.shared.edges import undirected_pattern
from formats import CSR
from formats.storage.orientation import compressed
from semiring.cpu.atomics import added, exchanged, loaded, stored
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.crew import MEMBERS, crew, shared, wait
from semiring.cpu.dealing import dealt, threads_for
from semiring.cpu.kernels import compiled

MIN_THREADS = 3
"""Minimum of threads that share the vertices of a k: what they do to shared numbers takes twice as long."""

PIECES_PER_THREAD = 8
"""Pieces of the vertices that stay for a thread to take."""

VERTICES_AT_A_TIME = 1 << 13
"""Number of vertices whose degrees or core numbers a thread writes at a time."""

LEAVING_AT_A_TIME = 8
"""Number of vertices that a thread takes from a queue at a time."""

LINE, TAIL = 16, 1
"""Words between those of two queues, and which of these has a queue's end."""


def cores(A: CSR, symmetrize: bool) -> np.ndarray:
    """The core number of each vertex, as `algorithms.equations.core_number.cores` has them."""
    S = compressed(undirected_pattern(A, symmetrize), 0)
    n, vertex, threads = S.nrows, S.indices.dtype, threads_for(S.nnz)
    left, alive, core = np.empty(n, vertex), np.empty(n, vertex), np.empty(n, np.int64)
    with crew(threads if threads >= MIN_THREADS else 1) as gate:
        _begin(gate, n, VERTICES_AT_A_TIME, (S.indptr, left, alive))
        queues = np.empty((gate[MEMBERS], n + 1), vertex), np.zeros((gate[MEMBERS] + 1) * LINE, np.int64)
        lists, rows = (alive, np.empty_like(alive)), (S.indptr, S.indices)
        _peel(gate, rows, int(left.min(initial=n)), left, lists, queues)
        _end(gate, n, VERTICES_AT_A_TIME, (left, core))
    return core


@dealt
def _begin(first, stop, indptr, left, alive):
    """Let vertices be there with their degrees."""
    for v in range(np.uintp(first), np.uintp(stop)):
        left[v], alive[v] = indptr[v + np.uintp(1)] - indptr[v], v


@dealt
def _end(first, stop, left, core):
    """Write the core numbers of vertices."""
    for v in range(np.uintp(first), np.uintp(stop)):
        core[v] = left[v]


@dealt
def _look(thread, first, stop, k, left, lists, queues):
    """Lay those of a list with k neighbours left into the thread's queue; those with more make another list."""
    (alive, kept, staying), queue, marks = lists, queues[0][thread], queues[1]
    stays, one, tail = np.uintp(first), np.uintp(1), np.uintp(marks[thread * LINE + TAIL])
    for at in range(np.uintp(first), np.uintp(stop)):
        v = alive[at]
        d = left[np.uintp(v)]
        alive[stays], queue[tail] = v, v
        stays += np.uintp(d > k)
        tail += np.uintp(d == k)
    marks[thread * LINE + TAIL] = tail
    to = np.uintp(added(staying, 0, np.int64(stays) - first))
    for at in range(np.uintp(first), stays):
        kept[to] = alive[at]
        to += one


@shared
def _leave(thread, gate, rows, k, left, queues, marks):
    """Let all leave that are in the queues, and who follows, until nobody has any.

    marks: of each thread's queue, where what is not taken begins, and its end; then how many threads are busy.
    """
    (indptr, indices), follows, one, lost = rows, left.dtype.type(k + 1), np.uintp(1), left.dtype.type(-1)
    own, threads, other, passed, looks = thread * LINE, len(queues), thread, 0, 0
    busy, tail, idle = threads * LINE, marks[own + TAIL], True
    while not interrupted():
        head = loaded(marks, other * LINE)
        stop = min(head + LEAVING_AT_A_TIME, loaded(marks, other * LINE + TAIL))
        if head < stop:
            if idle:
                added(marks, busy, 1)
                idle = False
            if exchanged(marks, other * LINE, head, stop):
                for place in range(head, stop):
                    v = np.uintp(queues[other, place])
                    for e in range(np.uintp(indptr[v]), np.uintp(indptr[v + one])):
                        u = np.uintp(indices[e])
                        if left[u] > k:
                            d = added(left, u, lost)
                            if d == follows:
                                queues[thread, tail] = u
                                tail += 1
                            elif d < follows:  # others have taken the last one too many before
                                added(left, u, -lost)
                    stored(marks, own + TAIL, tail)
                other, passed, looks = thread, 0, 0
            continue
        other, passed = other + 1 if other + 1 < threads else 0, passed + 1
        if passed == threads:
            if not idle:
                added(marks, busy, -1)
                idle = True
            if loaded(marks, busy) == 0:
                return
            passed, looks = 0, looks + 1
            wait(looks)


@compiled
def _leave_alone(k, rows, left, alive, queue, count):
    """Let those of the first `count` in a list with k neighbours left leave, and who follows; the others stay.

    Returns how many these are.
    """
    (indptr, indices), one, follows = rows, np.uintp(1), left.dtype.type(k + 1)
    found, head, stays = np.uintp(0), np.uintp(0), np.uintp(0)
    for at in range(np.uintp(count)):
        v = alive[at]
        d = left[np.uintp(v)]
        alive[stays], queue[found] = v, v
        stays += np.uintp(d > k)
        found += np.uintp(d == k)
    while head < found and not interrupted():
        v = np.uintp(queue[head])
        head += one
        for e in range(np.uintp(indptr[v]), np.uintp(indptr[v + one])):
            u = np.uintp(indices[e])
            d = left[u]
            left[u] = d - (d > k)  # whether it is more can hardly be foretold, so nothing branches on it
            queue[found] = u
            found += np.uintp(d == follows)
    return np.int64(stays)


@compiled
def _peel(gate, rows, k, left, lists, own):
    """Let all vertices leave, for one k after the other.  left: their degrees, at first.  lists: all, and room."""
    (alive, kept), (queues, marks) = lists, own
    count, staying = alive.size, marks[marks.size - 1 :]
    while count and not interrupted():
        least = left.dtype.type(k)
        if gate[MEMBERS] > 1:
            staying[0] = 0
            grain = 1 + count // (PIECES_PER_THREAD * gate[MEMBERS])
            _look(gate, count, grain, (least, left, (alive, kept, staying), own))
            _leave(gate, (gate, rows, least, left, queues, marks))
            alive, kept, count = kept, alive, staying[0]
        else:
            count = _leave_alone(least, rows, left, alive, queues[0], count)
        k += 1
