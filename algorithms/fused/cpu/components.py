"""Connected components: a giant by marks that spread, whatever else there is by union-find.

Where marks spread (`giant`), nearly all edges are read once or never, and few are left to be joined. Trees grow
elsewhere, in road networks or among many components, and where vertices are numbered along paths. A vertex points at
a smaller one of its component, f. An edge joins two trees, the larger root hooked onto the smaller in one atomic
exchange, so that threads need no order. Two edges of every vertex are joined first, and the largest tree is found in a
sample, as in Afforest [1]. The vertices outside it then join all their edges. An edge from the inside to the outside is
seen from the outside, where edges count both ways or the columns are at hand. Else all rows of the inside are looked
through, past a bitmap, unless nothing is outside.

About O(n + m). 4 bytes a vertex (8 of int64) and bitmaps.

[1] M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling,
    IPDPS 2018.
[2] R. E. Tarjan, J. van Leeuwen, Worst-case analysis of set union algorithms, JACM 31(2), 1984 (path halving).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from formats.storage.orientation import by_columns, has_columns
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import get_threads, run
from semiring.verbs.explanation import details

from .atomics import added, exchanged, prefetched
from .giant import BLOCK, Rows, find_giant
from .words import as_words, lowest_bit

LOOKED_AT = 1024
"""Vertices of which the most frequent tree is taken for the giant component."""

FEW = 2
"""Roots, among these, up to which the first edge of every vertex makes one tree of nearly all."""

LARGEST = 1 / 2
"""Share of the vertices in one tree from which on the columns of all others are read, instead of its own rows."""

GRAIN = 1 << 10
"""Vertices that a thread takes at a time: whole words of a bitmap."""

FETCHED = 16
"""Edges between the one that is joined and the one whose vertex is fetched."""

SMALL = 1 << 20
"""Entries below which one thread is faster than several."""

FEW_ENTRIES = 1 << 14
"""Entries below which a loop that joins all is over before a giant is looked for."""


def labels(A: CSR, both_ways: bool) -> np.ndarray:
    """The smallest vertex that each is connected with, whatever the edges' direction.

    both_ways: is every edge's reverse stored, too?
    """
    details(method="union-find", threads=get_threads())
    if A.nnz == 0:
        return np.arange(A.nrows, dtype=index_dtype(A.nrows))
    if A.nnz < FEW_ENTRIES:
        f = np.arange(A.nrows, dtype=index_dtype(A.nrows))
        _join_all(A.indptr, A.indices, f)
        return f
    if _roots(A.indptr, A.indices, -(-A.nrows // LOOKED_AT)) <= FEW or (found := find_giant(A, both_ways)) is None:
        return _grown(A, both_ways)
    details(method="marks, then union-find")
    inside, rest = found
    f = np.empty(A.nrows, index_dtype(A.nrows))
    set_labels(inside, f)
    _join(f, rest)
    return f


def _grown(A: CSR, both_ways: bool) -> np.ndarray:
    """The labels by trees alone."""
    f = np.arange(A.nrows, dtype=index_dtype(A.nrows))
    rows, shared = (A.indptr, A.indices, f), several(A.nnz)
    for join_first in (_hook_first, _join_second):
        side_by_side(lambda taken, join_first=join_first: join_first(*rows, taken, shared), A.nnz)
        flatten(f)
        root, share = most_frequent(f)
        within = f == root
        if within.all():
            return f
    inside, outside = as_words(within), ~as_words(within, beyond=True)
    parts: list[Any] = [A, by_columns(A)] if has_columns(A) and not both_ways and share > LARGEST else [A]
    if not both_ways and len(parts) == 1:
        side_by_side(lambda taken: _join_outward(*rows, inside, taken, shared), A.nnz)
    _join(f, [(M, outside) for M in parts])
    return f


def _join(f: np.ndarray, parts: list[Rows]) -> None:
    """Join along all edges of the rows in the bitmaps beside the matrices."""
    for M, rows in parts:
        if rows.any():
            entries, shared = (M.indptr, M.indices), several(M.nnz)
            side_by_side(lambda taken: _join_rows(*entries, f, rows, taken, shared), M.nnz)  # noqa: B023
    if any(rows.any() for _, rows in parts):
        flatten(f)


def several(entries: int) -> bool:
    """Are so many entries worth several threads?"""
    return entries >= SMALL and get_threads() > 1


def side_by_side(work: Any, entries: int) -> None:
    """Call `work` with a counter that is shared by as many threads as so many entries are worth."""
    taken = np.zeros(1, np.int64)
    run(lambda *_: work(taken), [(0, 0)] * (get_threads() if several(entries) else 1))


def flatten(f: np.ndarray) -> None:
    """Let every vertex point at its root."""
    side_by_side(lambda taken: _flatten(f, taken), f.size)


def most_frequent(f: np.ndarray) -> tuple[int, float]:
    """(the root of most of some vertices, evenly spread; its share of them)."""
    some = np.sort(f[:: -(-f.size // LOOKED_AT)])
    ends = np.append(np.flatnonzero(some[1:] != some[:-1]), some.size - 1)
    counts = np.diff(ends, prepend=-1)
    most = int(counts.argmax())
    return int(some[ends[most]]), float(counts[most] / some.size)


@inlined
def join(f, u, v, shared):
    """Make one tree of those of u and v; False if they are one. shared: do other threads join, too?"""
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


@compiled
def _join_all(indptr, indices, f):
    """Join along all edges, and let every vertex point at its root; f: 0, 1, …"""
    one = np.uintp(1)
    for u in range(np.uintp(f.size)):
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
            join(f, u, np.uintp(indices[e]), False)
    for u in range(np.uintp(f.size)):
        f[u] = f[np.uintp(f[u])]


@compiled
def set_labels(inside, f):
    """f of every vertex inside is the smallest of these, of all others their own."""
    root = f.size
    for v in range(f.size):
        if inside[np.uintp(v) >> np.uintp(6)] >> np.uint64(np.uintp(v) & np.uintp(63)) & np.uint64(1):
            root = v
            break
    for word in range(np.uintp(inside.size)):
        bits, base = inside[word], word << np.uintp(6)
        for k in range(min(np.uintp(64), np.uintp(f.size) - base)):
            f[base + k] = root if bits >> np.uint64(k) & np.uint64(1) else base + k


@compiled
def _roots(indptr, indices, step):
    """Of every so many vertices, those that do not begin with an edge to a smaller one."""
    count = 0
    for v in range(0, indptr.size - 1, step):
        if indptr[v] == indptr[v + 1] or indices[indptr[v]] >= v:
            count += 1
    return count


@compiled
def _hook_first(indptr, indices, f, taken, shared):
    """Every vertex onto its first neighbour, where that is smaller: there can be no cycle."""
    n = f.size
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n or interrupted():
            break
        for u in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            start = np.uintp(indptr[u])
            if start < np.uintp(indptr[u + np.uintp(1)]):
                f[u] = min(f[u], indices[start])


@compiled
def _join_second(indptr, indices, f, taken, shared):
    """Every vertex with its second neighbour."""
    n, one = f.size, np.uintp(1)
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n or interrupted():
            break
        for u in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            second = np.uintp(indptr[u]) + one
            if second < np.uintp(indptr[u + one]):
                join(f, u, np.uintp(indices[second]), shared)


@compiled
def _join_rows(indptr, indices, f, rows, taken, shared):
    """Join along all edges of the rows in a bitmap."""
    grain, one = GRAIN >> 6, np.uintp(1)
    while True:
        first = added(taken, 0, grain)
        if first >= rows.size or interrupted():
            break
        for word in range(first, min(first + grain, rows.size)):
            todo = rows[np.uintp(word)]
            while todo:
                u = np.uintp(word) * np.uintp(64) + np.uintp(lowest_bit(todo))
                e, stop = np.uintp(indptr[u]), np.uintp(indptr[u + one])
                while e < stop:
                    prefetched(f, indices[min(e + np.uintp(FETCHED), np.uintp(indices.size) - one)])
                    join(f, u, np.uintp(indices[e]), shared)
                    e += one
                todo &= todo - np.uint64(1)


@compiled
def _join_outward(indptr, indices, f, inside, taken, shared):
    """Join along the edges that lead from the bitmap `inside` to where it is not, one to each vertex there.

    Edges are looked at by blocks, for most lead inside.
    """
    n, one, six, low, block = np.uintp(f.size), np.uintp(1), np.uintp(6), np.uintp(63), np.uintp(BLOCK)
    grain = GRAIN >> 6
    while True:
        first = added(taken, 0, grain)
        if first >= inside.size or interrupted():
            break
        for place in range(first, min(first + grain, inside.size)):
            word = np.uintp(place)
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


@compiled
def _flatten(f, taken):
    n = f.size
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n or interrupted():
            break
        for v in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            root = f[v]
            while f[np.uintp(root)] != root:
                root = f[np.uintp(root)]
            f[v] = root
