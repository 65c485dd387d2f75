"""Core numbers as one compiled loop: for each k all vertices with k neighbours left or fewer leave, and who follows.

A vertex that loses a neighbour, and has k left, follows. Those that stay are looked through once for each k, which is
less than once for each edge: a vertex stays for as many as its core number, and so many edges it has. O(n + m),
16 bytes a vertex.

[1] V. Batagelj, M. Zaversnik, An O(m) algorithm for cores decomposition of networks, arXiv cs/0310049, 2003.
[2] N. S. Dasari, D. Ranjan, M. Zubair, ParK: an efficient algorithm for k-core decomposition on multicore processors,
    IEEE Big Data 2014.
"""

from __future__ import annotations

import numpy as np

from algorithms.shared.edges import undirected_pattern
from formats import CSR
from formats.storage.orientation import compressed
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled


def cores(A: CSR, symmetrize: bool) -> np.ndarray:
    """The core number of each vertex, as `algorithms.core_number.cores` has them."""
    S = compressed(undirected_pattern(A, symmetrize), 0)
    vertex = S.indices.dtype
    left = np.diff(S.indptr).astype(vertex)
    _peel(S.indptr, S.indices, left, np.arange(S.nrows, dtype=vertex), np.empty(S.nrows + 1, vertex))
    return left.astype(np.int64)


@compiled
def _peel(indptr, indices, left, alive, queue):
    """Find of each vertex its core number.

    left: its degree, at first.  alive: all vertices.  queue: with room for one more.
    """
    one, count, k, next_one = np.uintp(1), np.uintp(alive.size), left.dtype.type(0), left.dtype.type(1)
    while count:
        least = left[np.uintp(alive[0])]
        for at in range(count):
            least = min(least, left[np.uintp(alive[at])])
        k = max(k, least)
        follows = k + next_one
        found, kept = np.uintp(0), np.uintp(0)
        for at in range(count):
            v = alive[at]
            few = left[np.uintp(v)] <= k
            queue[found], alive[kept] = v, v
            found += np.uintp(few)
            kept += np.uintp(not few)
        count, head = kept, np.uintp(0)
        while head < found:
            if interrupted():
                return
            v = np.uintp(queue[head])
            head += one
            left[v] = k
            for e in range(np.uintp(indptr[v]), np.uintp(indptr[v + one])):
                u = np.uintp(indices[e])
                d = left[u]  # whether it is more than k can hardly be foretold, so nothing branches on it
                left[u] = d - (d > k)
                queue[found] = u
                found += np.uintp(d == follows)
        kept = np.uintp(0)
        for at in range(count):
            v = alive[at]
            alive[kept] = v
            kept += np.uintp(left[np.uintp(v)] > k)
        count = kept
