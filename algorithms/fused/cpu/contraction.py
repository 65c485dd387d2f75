"""Minimum spanning forests of listed edges by Borůvka's rounds, each over the edges that are left [1].

    best_t = the lightest edge of tree t         of all edges, each offered to the trees at both its ends
    join the trees of each best edge             it is in the forest
    f_t = the root of t's tree                   for each t that was a root before
    keep the edges that still lead from one root to another, and have them as ends

Edges compare by weight, and equal ones by their places. A round at least halves the trees that have edges, so that all
rounds together take a few times as long as the first. Its four loops are steps that threads share: whoever finds an
edge first, the forest is the same.

O(m log n), among the edges of roads about O(m). At most 24 bytes an edge, and 12 a vertex.

[1] D. A. Bader, G. Cong, Fast shared-memory algorithms for computing the minimum spanning forest of sparse graphs,
    Journal of Parallel and Distributed Computing 66(11), 2006.
"""

from __future__ import annotations

import numpy as np

from formats.arrays import index_dtype
from semiring.cpu.atomics import added, exchanged
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.dealing import dealt
from semiring.cpu.kernels import compiled, inlined

from .components import join, pointed

EDGES_AT_A_TIME = 1 << 13
"""Number of edges, or of trees, that a thread takes at a time."""


Edges = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Type of sources, targets and weights."""


def contract(gate: np.ndarray, edges: Edges, f: np.ndarray, found: Edges) -> int:
    """Write the edges of the forest to `found` in their order, and count them.

    f: a union-find of vertices that all are roots, which is joined along these edges.
    """
    count, n, place = edges[0].size, f.size, index_dtype(edges[0].size)
    chosen, best, counts = np.zeros(count, bool), np.full(n, -1, place), np.zeros(2, np.int64)
    lists = [(np.empty(count, f.dtype), np.empty(count, f.dtype), np.empty(count, place)) for _ in range(2)]
    _contract(gate, edges, lists[0], lists[1], (f, best, np.empty((2, n), f.dtype)), chosen, counts)
    starts = np.zeros(-(-count // EDGES_AT_A_TIME) + 1, np.int64)
    _count_chosen(gate, count, EDGES_AT_A_TIME, (chosen, starts))
    np.cumsum(starts, out=starts)
    _write_chosen(gate, count, EDGES_AT_A_TIME, (chosen, starts, edges, found))
    return int(starts[-1])


@inlined
def _offer(best, tree, e, weights):
    """Let an edge be a tree's best if it comes before that."""
    old, weight = best[tree], weights[e]
    while old < 0 or weight < weights[np.uintp(old)] or (weight == weights[np.uintp(old)] and e < np.uintp(old)):
        if exchanged(best, tree, old, e):
            return
        old = best[tree]


def _loops(listed):
    """Make the loops over edges.  listed: False in the first round, when all edges are there and places are numbers."""

    @dealt
    def offer(first, stop, ends, places, weights, best):
        """Offer edges to the trees at their ends."""
        for at in range(np.uintp(first), np.uintp(stop)):
            e = np.uintp(places[at]) if listed else at
            _offer(best, np.uintp(ends[0][at]), e, weights)
            _offer(best, np.uintp(ends[1][at]), e, weights)

    @dealt
    def unite(first, stop, ends, places, best, f, chosen):
        """Join the trees at the ends of edges that are best, and flag these."""
        for at in range(np.uintp(first), np.uintp(stop)):
            a, b = np.uintp(ends[0][at]), np.uintp(ends[1][at])
            e = np.uintp(places[at]) if listed else at
            if np.uintp(best[a]) == e or np.uintp(best[b]) == e:
                join(f, a, b, True)
                chosen[e] = True

    @dealt
    def keep(first, stop, ends, places, f, left, count):
        """Append the edges that lead from one root to another to those that are left."""
        kept, one = 0, np.uintp(1)
        for at in range(np.uintp(first), np.uintp(stop)):
            kept += f[np.uintp(ends[0][at])] != f[np.uintp(ends[1][at])]
        to = np.uintp(added(count, 0, kept))
        for at in range(np.uintp(first), np.uintp(stop)):
            a, b = f[np.uintp(ends[0][at])], f[np.uintp(ends[1][at])]
            if a != b:
                left[0][to], left[1][to], left[2][to] = a, b, places[at] if listed else at
                to += one

    return offer, unite, keep


_offer_all, _unite_all, _keep_of_all = _loops(False)
_offer_listed, _unite_listed, _keep_of_listed = _loops(True)


@dealt
def _flatten(first, stop, listed, f, best, roots, to, counts):
    """Let those that were roots point at their roots, and append roots that have edges to a list."""
    kept, one = 0, np.uintp(1)
    for at in range(np.uintp(first), np.uintp(stop)):
        x = np.uintp(roots[1 - to, at]) if listed else at
        kept += np.uintp(pointed(f, x)) == x and best[x] >= 0
    place = np.uintp(added(counts, 1, kept))
    for at in range(np.uintp(first), np.uintp(stop)):
        x = np.uintp(roots[1 - to, at]) if listed else at
        if np.uintp(f[x]) == x and best[x] >= 0:
            roots[to, place] = x
            place += one
        best[x] = -1


@dealt
def _count_chosen(first, stop, chosen, starts):
    """Count the edges that are chosen, to behind where these begin."""
    count = 0
    for e in range(np.uintp(first), np.uintp(stop)):
        count += chosen[e]
    starts[first // EDGES_AT_A_TIME + 1] = count


@dealt
def _write_chosen(first, stop, chosen, starts, edges, found):
    """Write the edges that are chosen from where they begin on."""
    to = np.uintp(starts[first // EDGES_AT_A_TIME])
    for e in range(np.uintp(first), np.uintp(stop)):
        if chosen[e]:
            found[0][to], found[1][to], found[2][to] = edges[0][e], edges[1][e], edges[2][e]
            to += np.uintp(1)


@compiled
def _contract(gate, edges, left, spare, trees, chosen, counts):
    """Go through the rounds.  left, spare: room for the ends of edges and their places.  trees: f, best, and roots."""
    (u, v, weights), (f, best, roots) = edges, trees
    size, grain, to = u.size, EDGES_AT_A_TIME, 0
    _offer_all(gate, size, grain, ((u, v), left[2], weights, best))
    _unite_all(gate, size, grain, ((u, v), left[2], best, f, chosen))
    _flatten(gate, f.size, grain, (False, f, best, roots, to, counts))
    _keep_of_all(gate, size, grain, ((u, v), left[2], f, left, counts))
    while counts[0] and not interrupted():
        size, count, to = counts[0], counts[1], 1 - to
        counts[0] = counts[1] = 0
        ends, places = (left[0], left[1]), left[2]
        _offer_listed(gate, size, grain, (ends, places, weights, best))
        _unite_listed(gate, size, grain, (ends, places, best, f, chosen))
        _flatten(gate, count, grain, (True, f, best, roots, to, counts))
        _keep_of_listed(gate, size, grain, (ends, places, f, spare, counts))
        left, spare = spare, left
