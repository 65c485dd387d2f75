"""Dijkstra's algorithm with a heap, in which every vertex of DA2CF's compound frontiers is settled in turn.

    μ = ⊕ q          the root of a heap with four children to a node, which holds each unsettled vertex at most once
    q = q ⊕ fA       a vertex that is improved moves towards the root

O(m log n), on one thread. Equal distances are settled one after the other, so a frontier f = q⟨q = μ⟩ needs no list.

[1] E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1, 1959.
[2] D. B. Johnson, Priority queues with update and finding minimum spanning trees, Information Processing Letters 4(3),
    1975 (heaps with several children).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from algorithms.shared.errors import broken_law
from algorithms.shared.single_source import Exact, Until
from formats import CSR
from semiring import Semiring
from semiring.cpu.compiler.references import interrupted
from semiring.verbs.explanation import explained, facts

from .near_far import fits, full_values


def by_heap(A: CSR, source: int, s: Semiring, until: Until) -> Any:
    """Distances from `source`; `Exact` if no finite length has saturated."""
    n, dtype, zero = A.nrows, A.dtype, s.zero(A.dtype)
    d = np.full(n, zero, dtype)
    heap, place = np.empty(n, A.indices.dtype), np.full(n, -1, A.indices.dtype)
    d[source] = s.unit(dtype)
    limit = zero if until.limit is None else until.limit
    target = -1 if until.target is None else until.target
    settled, farthest = settle(s, dtype)(source, limit, target, (A.indptr, A.indices, full_values(A)), d, heap, place)
    if settled > n:
        raise ValueError(broken_law(s, "an edge has improved a best distance"))
    if explained():
        facts(schedule="heap", threads=1, settled=settled)
    return Exact(d) if fits(A, dtype.type(farthest), s) else d


@lru_cache(maxsize=64)
def settle(semiring: Semiring, dtype: np.dtype) -> Any:
    """The loop for a semiring and a dtype."""
    from semiring.cpu.kernels import compiled, product_function

    from .relaxation import orders

    better_than, _ = orders(semiring)
    product = product_function(semiring, dtype, matrix_first=False)

    @compiled
    def loop(source, limit, target, rows, d, heap, place):
        """(how many are settled, the last distance), with distances in d, which holds the unit at the source.

        heap, place: (n,), the vertices in the heap, and where in it each is, -1 before and after.
        """
        indptr, indices, values = rows
        heap[0], place[source] = source, 0
        size, settled, x = 1, 0, d[source]
        while size and settled <= d.size and not interrupted():  # more, if an edge has made a settled distance better
            v = np.uintp(heap[0])
            if better_than(limit, d[v]) or (target >= 0 and better_than(d[target], d[v])):
                break
            x = d[v]
            settled += 1
            place[v] = -1
            size -= 1
            if size:  # the last one sinks from the root
                moved, at = heap[size], 0
                key = d[moved]
                while True:
                    child, first = -1, 4 * at + 1
                    for c in range(first, min(first + 4, size)):
                        if child < 0 or better_than(d[heap[c]], d[heap[child]]):
                            child = c
                    if child < 0 or not better_than(d[heap[child]], key):
                        break
                    heap[at] = heap[child]
                    place[heap[at]] = at
                    at = child
                heap[at] = moved
                place[moved] = at
            for e in range(np.uintp(indptr[v]), np.uintp(indptr[v + np.uintp(1)])):
                j = np.uintp(indices[e])
                t = product(values[e], x)
                if better_than(t, d[j]):
                    d[j] = t
                    at = place[j]
                    if at < 0:
                        at = size
                        size += 1
                    while at > 0:  # an improved one rises
                        above = (at - 1) >> 2
                        if not better_than(t, d[heap[above]]):
                            break
                        heap[at] = heap[above]
                        place[heap[at]] = at
                        at = above
                    heap[at] = j
                    place[j] = at
        return settled, x

    return loop
