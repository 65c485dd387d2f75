"""Core numbers as a loop that threads share: for each k all vertices with k neighbours left leave, and who follows.

A vertex that loses a neighbour, and has k left, follows; the thread that has taken the last one too many takes it next,
as in PKC [2], so that threads wait for each other once for each k. Those that stay are looked through once for each k,
which is less than once for each edge: a vertex stays for as many as its core number, and so many edges it has.
O(n + m); 16 bytes a vertex, and 4 for each thread.

[1] V. Batagelj, M. Zaversnik, An O(m) algorithm for cores decomposition of networks, arXiv cs/0310049, 2003.
[2] H. Kabir, K. Madduri, Parallel k-core decomposition on multicore platforms, IPDPS Workshops, 2017.
"""

from __future__ import annotations

import numpy as np

from algorithms.shared.edges import undirected_pattern
from formats import CSR
from formats.storage.orientation import compressed
from semiring.cpu.atomics import added, exchanged, loaded
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.crew import crew
from semiring.cpu.kernels import compiled

from .dealing import deal, dealt, threads_for

MIN_THREADS = 3
"""Minimum of threads that share the vertices of a k: what they do to shared numbers takes twice as long."""

MIN_VERTICES_FOR_THREADS = 1 << 15
"""Minimum of vertices that stay for threads to share those that leave next."""

VERTICES_AT_A_TIME = 1 << 8
"""Number of vertices that a thread takes at a time."""


def cores(A: CSR, symmetrize: bool) -> np.ndarray:
    """The core number of each vertex, as `algorithms.equations.core_number.cores` has them."""
    S = compressed(undirected_pattern(A, symmetrize), 0)
    n, vertex, threads = S.nrows, S.indices.dtype, threads_for(S.nnz)
    rows, left, alive = (S.indptr, S.indices), np.diff(S.indptr).astype(vertex), np.arange(n, dtype=vertex)
    queues, staying, k = np.empty((threads, n + 1), vertex), np.zeros(1, np.int64), int(left.min(initial=n))
    kept, count = np.empty_like(alive), n
    while threads >= MIN_THREADS and count >= MIN_VERTICES_FOR_THREADS:
        staying[0] = 0
        deal(_leave_together, count, VERTICES_AT_A_TIME, threads, queues, rows, k, left, ((alive, kept), staying))
        alive, kept, count, k = kept, alive, int(staying[0]), k + 1
    with crew(1) as gate:
        _peel(gate, rows, k, left, alive[:count], queues, staying)
    return np.maximum(left, ~left).astype(np.int64)


def _leaving(shared):
    """Make the loop that lets vertices leave for one k.

    shared: True if other threads do the same. Then left becomes ~k of who leaves, which tells those that have lost
    their last neighbour too many to this k from those that had k left before.
    """

    @dealt
    def loop(thread, first, stop, queues, rows, k, left, parts):
        """Let those of a list with k neighbours left leave, and who follows; the others make another list."""
        queue, (indptr, indices), ((alive, kept), staying) = queues[thread], rows, parts
        one, k = np.uintp(1), left.dtype.type(k)
        found, head, stays, follows = np.uintp(0), np.uintp(0), np.uintp(first), left.dtype.type(k + 1)
        for at in range(np.uintp(first), np.uintp(stop)):
            v = alive[at]
            d = left[np.uintp(v)]
            alive[stays], queue[found] = v, v
            stays += np.uintp(d > k)
            found += np.uintp(d == k)
            if shared and d == k:
                left[np.uintp(v)] = ~k
        while head < found:
            if interrupted():
                return
            v = np.uintp(queue[head])
            head += one
            for e in range(np.uintp(indptr[v]), np.uintp(indptr[v + one])):
                u = np.uintp(indices[e])
                d = left[u]
                if shared:
                    while d > k and not exchanged(left, u, d, ~k if d == follows else d - 1):
                        d = loaded(left, u)
                else:  # whether it is more than k can hardly be foretold, so nothing branches on it
                    left[u] = d - (d > k)
                queue[found] = u
                found += np.uintp(d == follows)
        to = np.uintp(added(staying, 0, np.int64(stays) - first))
        if shared:
            for at in range(np.uintp(first), stays):
                kept[to] = alive[at]
                to += one

    return loop


_leave_alone, _leave_together = _leaving(False), _leaving(True)


@compiled
def _peel(gate, rows, k, left, alive, queues, staying):
    """Find of each vertex its core number, by one thread.  left: its degree, at first.  alive: all vertices."""
    count = alive.size
    while count:
        staying[0] = 0
        _leave_alone(gate, count, count, (queues, rows, k, left, ((alive, alive), staying)))
        count, k = staying[0], k + 1
