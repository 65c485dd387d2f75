"""Connected components: a giant by a search, or by marks that spread, whatever else there is by union-find.

Where a giant is found soon (`giant`), nearly all edges are read once or never, and few are left to be joined. Trees
grow elsewhere, in road networks or among many components, and where vertices are numbered along paths. A vertex points
at a smaller one of its component, f. An edge joins two trees, the larger root hooked onto the smaller in one atomic
exchange, so that threads need no order. Two edges of every vertex are joined first, and the largest tree is found in a
sample, as in Afforest [1]. The vertices outside it then join all their edges. An edge from the inside to the outside is
seen from the outside, where edges count both ways. Else all rows of the inside are looked through, past a bitmap,
unless nothing is outside.

About O(n + m). 4 bytes a vertex (8 of int64) and bitmaps.

[1] M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling,
    IPDPS 2018.
[2] R. E. Tarjan, J. van Leeuwen, Worst-case analysis of set union algorithms, JACM 31(2), 1984 (path halving).
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from semiring.cpu.atomics import exchanged, prefetched
from semiring.cpu.crew import MEMBERS
from semiring.cpu.dealing import crew_for, deal, dealt, threads_for
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import get_threads
from semiring.verbs.explanation import details

from .giant import EDGES_AT_ONCE, find_giant
from .words import flagged, lowest_bit, others

SAMPLED_VERTICES = 1024
"""Number of vertices of which the most frequent tree is taken for the giant component."""

MAX_SAMPLED_ROOTS = 2
"""Maximum of roots, among these, with which the first edge of every vertex makes one tree of nearly all."""

VERTICES_AT_A_TIME = 1 << 10
"""Number of vertices that a thread takes at a time: whole words of a bitmap."""

EDGES_AHEAD = 16
"""Edges between the one that is joined and the one whose vertex is prefetched."""

MIN_NNZ_FOR_GIANT = 1 << 14
"""Minimum of entries for a giant to be looked for: below, a loop that joins all takes half the time."""


def labels(A: CSR, both_ways: bool) -> np.ndarray:
    """Label each vertex with the smallest that it is connected with, whatever the edges' direction.

    both_ways: True if every edge's reverse is stored, too.
    """
    details(method="union-find", threads=get_threads())
    f = np.empty(A.nrows, index_dtype(A.nrows))
    if A.nnz < max(MIN_NNZ_FOR_GIANT, 1):
        _join_all(A.indptr, A.indices, f)
        return f
    few = _roots(A.indptr, A.indices, -(-A.nrows // SAMPLED_VERTICES)) <= MAX_SAMPLED_ROOTS
    with crew_for(A.nnz) as gate:
        if few or (found := find_giant(gate, A, both_ways)) is None:
            _grow(gate, A, f, both_ways)
            return f
        details(method="a giant, then union-find")
        inside, rest = found
        set_labels(gate, inside, f)
        _join(gate, A, f, rest)
        return f


def _grow(gate: np.ndarray, A: CSR, f: np.ndarray, both_ways: bool) -> None:
    """Find the labels by trees alone."""
    parts = A.indptr, A.indices, f, bool(gate[MEMBERS] > 1)
    for join_first in (_hook_first, _join_second):
        join_first(gate, f.size, VERTICES_AT_A_TIME, parts)
        point_at_roots(gate, f.size, VERTICES_AT_A_TIME, (f,))
        root, _ = most_frequent(f)
        inside = flagged(gate, f, root)
        outside = others(inside, f.size)
        if not outside.any():
            return
    if not both_ways:
        _join_outward(gate, inside.size, VERTICES_AT_A_TIME >> 6, (*parts, inside))
    _join(gate, A, f, outside)


def _join(gate: np.ndarray, A: CSR, f: np.ndarray, rows: np.ndarray) -> None:
    """Join along all edges of the rows in a bitmap."""
    if rows.any():
        parts = A.indptr, A.indices, f, bool(gate[MEMBERS] > 1), rows
        _join_rows(gate, rows.size, VERTICES_AT_A_TIME >> 6, parts)
        point_at_roots(gate, f.size, VERTICES_AT_A_TIME, (f,))


def flatten(f: np.ndarray) -> None:
    """Let every vertex point at its root."""
    deal(point_at_roots, f.size, VERTICES_AT_A_TIME, threads_for(f.size), f)


def most_frequent(f: np.ndarray) -> tuple[int, float]:
    """Return the root of most of some vertices, evenly spread, and its share of them."""
    some = np.sort(f[:: -(-f.size // SAMPLED_VERTICES)])
    ends = np.append(np.flatnonzero(some[1:] != some[:-1]), some.size - 1)
    counts = np.diff(ends, prepend=-1)
    most = int(counts.argmax())
    return int(some[ends[most]]), float(counts[most] / some.size)


@inlined
def join(f, u, v, shared):
    """Make one tree of those of u and v; False if they are one.  shared: True if other threads join, too."""
    a, b = f[u], f[v]
    while a != b:
        low, high = np.uintp(min(a, b)), np.uintp(max(a, b))
        above = f[high]
        if above == low:
            return False
        if above == high:
            if not shared:
                f[high] = low
                return True
            if exchanged(f, high, above, low):
                return True
        a, b = f[np.uintp(f[high])], f[low]
    return False


@inlined
def find(f, v):
    """Return the root of v's tree; the vertices on the way are pointed two steps on."""
    above = f[v]
    while above != v:
        next_one = f[np.uintp(above)]
        f[v] = next_one
        v = np.uintp(next_one)
        above = f[v]
    return v


@compiled
def _join_all(indptr, indices, f):
    """Join along all edges, and let every vertex point at its root."""
    one = np.uintp(1)
    for u in range(np.uintp(f.size)):
        f[u] = u
    for u in range(np.uintp(f.size)):
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
            join(f, u, np.uintp(indices[e]), False)
    for u in range(np.uintp(f.size)):
        f[u] = f[np.uintp(f[u])]


def set_labels(gate: np.ndarray, inside: np.ndarray, f: np.ndarray) -> None:
    """Label every vertex inside with the smallest of these, and all others with themselves."""
    word = int((inside != 0).argmax())
    bits = int(inside[word])
    root = 64 * word + (bits & -bits).bit_length() - 1
    _set_labels(gate, inside.size, VERTICES_AT_A_TIME >> 6, (inside, root, f))


@dealt
def _set_labels(first, stop, inside, root, f):
    for word in range(np.uintp(first), np.uintp(stop)):
        bits, base = inside[word], word << np.uintp(6)
        for k in range(min(np.uintp(64), np.uintp(f.size) - base)):
            f[base + k] = root if bits >> np.uint64(k) & np.uint64(1) else base + k


@compiled
def _roots(indptr, indices, step):
    """Count, of one vertex in `step`, those whose first edge does not lead to a smaller one."""
    count = 0
    for v in range(0, indptr.size - 1, step):
        if indptr[v] == indptr[v + 1] or indices[indptr[v]] >= v:
            count += 1
    return count


@dealt
def _hook_first(first, stop, indptr, indices, f, shared):
    """Hook every vertex onto its first neighbour, where that is smaller: there can be no cycle."""
    for u in range(np.uintp(first), np.uintp(stop)):
        start = np.uintp(indptr[u])
        if start < np.uintp(indptr[u + np.uintp(1)]):
            f[u] = min(u, np.uintp(indices[start]))
        else:
            f[u] = u


@dealt
def _join_second(first, stop, indptr, indices, f, shared):
    """Join every vertex with its second neighbour."""
    one = np.uintp(1)
    for u in range(np.uintp(first), np.uintp(stop)):
        second = np.uintp(indptr[u]) + one
        if second < np.uintp(indptr[u + one]):
            join(f, u, np.uintp(indices[second]), shared)


@dealt
def _join_rows(first, stop, indptr, indices, f, shared, rows):
    """Join along all edges of the rows in a bitmap."""
    one, end = np.uintp(1), np.uintp(indices.size)
    for word in range(np.uintp(first), np.uintp(stop)):
        todo = rows[word]
        while todo:
            u = word * np.uintp(64) + np.uintp(lowest_bit(todo))
            for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                prefetched(f, indices[min(e + np.uintp(EDGES_AHEAD), end - one)])
                join(f, u, np.uintp(indices[e]), shared)
            todo &= todo - np.uint64(1)


@dealt
def _join_outward(first, stop, indptr, indices, f, shared, inside):
    """Join along the edges that lead from the bitmap `inside` to where it is not, one to each vertex there.

    Edges are looked at by blocks, for most lead inside.
    """
    n, one, six, low, block = np.uintp(f.size), np.uintp(1), np.uintp(6), np.uintp(63), np.uintp(EDGES_AT_ONCE)
    for word in range(np.uintp(first), np.uintp(stop)):
        rows = inside[word]
        if rows == np.uint64(0):
            continue
        u, beyond = word << six, min((word + one) << six, n)
        e, end = np.uintp(indptr[u]), np.uintp(indptr[beyond])
        while e < end:
            until, every = min(e + block, end), np.uint64(1)
            for k in range(until - e):
                v = np.uintp(indices[e + k])
                every &= inside[v >> six] >> np.uint64(v & low)
            if every & np.uint64(1):
                e = until
                continue
            while e < until:
                while np.uintp(indptr[u + one]) <= e:
                    u += one
                v = np.uintp(indices[e])
                if rows >> np.uint64(u & low) & ~(inside[v >> six] >> np.uint64(v & low)) & np.uint64(1):
                    join(f, u, v, shared)
                    inside[v >> six] |= np.uint64(1) << np.uint64(v & low)
                e += one


@inlined
def pointed(f, v):
    """Let a vertex point at its root; returns that."""
    root = f[v]
    while f[np.uintp(root)] != root:
        root = f[np.uintp(root)]
    f[v] = root
    return root


@dealt
def point_at_roots(first, stop, f):
    """Let the vertices from `first` to `stop` point at their roots."""
    for v in range(np.uintp(first), np.uintp(stop)):
        pointed(f, v)
