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
from semiring.cpu.crew import MEMBERS, crew
from semiring.cpu.dealing import dealt, threads_for
from semiring.cpu.kernels import compiled

MIN_THREADS = 3
"""Minimum of threads that share the vertices of a k: what they do to shared numbers takes twice as long."""

PIECES_PER_THREAD = 8
"""Pieces of the vertices that stay for a thread to take."""


def cores(A: CSR, symmetrize: bool) -> np.ndarray:
    """The core number of each vertex, as `algorithms.equations.core_number.cores` has them."""
    S = compressed(undirected_pattern(A, symmetrize), 0)
    n, vertex, threads = S.nrows, S.indices.dtype, threads_for(S.nnz)
    left, alive = np.diff(S.indptr).astype(vertex), np.arange(n, dtype=vertex)
    with crew(threads if threads >= MIN_THREADS else 1) as gate:
        queues = np.empty((gate[MEMBERS], n + 1), vertex)
        _peel(gate, (S.indptr, S.indices), int(left.min(initial=n)), left, alive, np.empty_like(alive), queues)
    return np.maximum(left, ~left).astype(np.int64)


def _leaving(shared):
    """Make the loop that lets vertices leave for one k.

    shared: True if other threads do the same. Then left becomes ~k of who leaves, which tells those that have lost
    their last neighbour too many to this k from those that had k left before.
    """

    @dealt
    def loop(thread, first, stop, rows, k, left, lists, queues):
        """Let those of a list with k neighbours left leave, and who follows; the others make another list."""
        (indptr, indices), (alive, kept, staying), one, k = rows, lists, np.uintp(1), left.dtype.type(k)
        queue, follows = queues[thread], left.dtype.type(k + 1)
        found, head, stays = np.uintp(0), np.uintp(0), np.uintp(first)
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
def _peel(gate, rows, k, left, alive, kept, queues):
    """Let all vertices leave, for one k after the other.  left: their degrees, at first.  alive: all of them."""
    count, staying = alive.size, np.zeros(1, np.int64)
    while count:
        staying[0] = 0
        if gate[MEMBERS] > 1:
            grain = 1 + count // (PIECES_PER_THREAD * gate[MEMBERS])
            _leave_together(gate, count, grain, (rows, k, left, (alive, kept, staying), queues))
            alive, kept = kept, alive
        else:
            _leave_alone(gate, count, count, (rows, k, left, (alive, alive, staying), queues))
        count, k = staying[0], k + 1
