"""Core numbers as one compiled loop: vertices leave in the order of their degrees in what is left.

They lie in one list sorted by degree, with the place where each degree begins. A vertex that loses a neighbour swaps
places with the first of its degree, which then begins one later [1]. O(n + m), 32 bytes a vertex.

[1] V. Batagelj, M. Zaversnik, An O(m) algorithm for cores decomposition of networks, arXiv cs/0310049, 2003.
"""

from __future__ import annotations

import numpy as np

from algorithms.shared.edges import undirected_pattern
from formats import CSR
from formats.storage.orientation import compressed
from semiring.cpu.kernels import compiled


def cores(A: CSR, symmetrize: bool) -> np.ndarray:
    """The core number of each vertex, as `algorithms.core_number.cores` has them."""
    S = compressed(undirected_pattern(A, symmetrize), 0)
    vertex = S.indices.dtype
    left = np.diff(S.indptr).astype(vertex)
    order, place = np.empty_like(left), np.empty_like(left)
    begins = np.zeros(int(left.max(initial=0)) + 2, vertex)
    np.cumsum(np.bincount(left, minlength=begins.size - 1), out=begins[1:])
    _peel(S.indptr, S.indices, left, order, place, begins)
    return left.astype(np.int64)


@compiled
def _peel(indptr, indices, left, order, place, begins):
    for each in range(left.size):
        at = begins[np.uintp(left[each])]
        order[np.uintp(at)], place[each] = each, at
        begins[np.uintp(left[each])] += 1
    for degree in range(begins.size - 1, 0, -1):  # each has moved on to the next
        begins[degree] = begins[degree - 1]
    begins[0] = 0
    one = np.uintp(1)
    for p in range(order.size):
        v = np.uintp(order[np.uintp(p)])
        k = left[v]
        for e in range(np.uintp(indptr[v]), np.uintp(indptr[v + one])):
            u = np.uintp(indices[e])
            d = left[u]
            if d > k:
                at, first = np.uintp(place[u]), np.uintp(begins[np.uintp(d)])
                w = np.uintp(order[first])
                order[at], place[w] = w, at
                order[first], place[u] = u, first
                begins[np.uintp(d)] += 1
                left[u] = d - 1
