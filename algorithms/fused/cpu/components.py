"""Connected components by union-find: trees of vertices whose roots are the smallest, and most edges left unread.

A vertex points at a smaller one of its component, f; an edge joins two trees, the larger root hooked onto the smaller
in one atomic exchange, so that threads need no order. The first edge of every vertex is joined, and the largest tree is
found in a sample, as in Afforest [1]. Every other vertex then looks along its edges as far as the first that leads into
that tree, and joins it, which leaves few outside a giant component. These join all their edges. An edge from the inside
to the outside is seen from the outside, where edges count both ways or the columns are at hand. Else all rows of the
inside are looked through, past a bitmap, unless nothing is outside.

About O(n + m), in practice less where edges count both ways. 4 bytes a vertex (8 of int64) and a bitmap.

[1] M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling,
    IPDPS 2018.
[2] R. E. Tarjan, J. van Leeuwen, Worst-case analysis of set union algorithms, JACM 31(2), 1984 (path halving).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from formats.orientation import by_columns, has_columns
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import get_threads, run
from semiring.explanation import facts

from .atomics import added, exchanged
from .words import as_words

LOOKED_AT = 1024
"""Vertices of which the most frequent tree is taken for the giant component."""

DENSE = 4
"""Edges a vertex below which a second edge of every vertex is joined instead: many components are small, or long."""

PASSES = 2
"""How often the vertices outside look for an edge that leads inside."""

GRAIN = 1 << 10
"""Vertices that a thread takes at a time: whole words of a bitmap."""

SMALL = 1 << 20
"""Entries below which one thread is faster than several."""


def labels(A: CSR, both_ways: bool) -> np.ndarray:
    """The smallest vertex that each is connected with, whatever the edges' direction.

    both_ways: is every edge's reverse stored, too?
    """
    n = A.nrows
    f = np.arange(n, dtype=index_dtype(n))
    facts(method="union-find", threads=get_threads())
    if A.nnz == 0:
        return f
    rows = (A.indptr, A.indices, f)
    side_by_side(lambda taken: _hook_first(*rows, taken), A.nnz)
    flatten(f)
    if A.nnz < n * DENSE:
        side_by_side(lambda taken: _join_second(*rows, taken), A.nnz)
    else:
        giant, _ = most_frequent(f)
        inside = as_words(f == giant)
        for _ in range(PASSES):
            side_by_side(lambda taken: _join_giant(*rows, giant, inside, taken), A.nnz)
    flatten(f)
    giant, _ = most_frequent(f)
    within = f == giant
    if within.all():
        return f
    inside = as_words(within)
    if both_ways or not has_columns(A):
        side_by_side(lambda taken: _join_rest(*rows, inside, both_ways, taken), A.nnz)
    else:
        columns: Any = by_columns(A)
        for part in (A, columns):
            side_by_side(lambda taken, M=part: _join_rest(M.indptr, M.indices, f, inside, True, taken), A.nnz)
    flatten(f)
    return f


def side_by_side(work: Any, entries: int) -> None:
    """Call `work` with a counter that is shared by as many threads as so many entries are worth."""
    taken = np.zeros(1, np.int64)
    if entries < SMALL:
        work(taken)
    else:
        run(lambda *_: work(taken), [(0, 0)] * get_threads())


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
def join(f, u, v):
    """Make one tree of those of u and v; False if they are one."""
    a, b = f[u], f[v]
    while a != b:
        low, high = np.uintp(min(a, b)), np.uintp(max(a, b))
        above = f[high]
        if above == low:
            return False
        if above == high and exchanged(f, high, above, low):
            return True
        a, b = f[np.uintp(f[high])], f[low]
    return False


@compiled
def _hook_first(indptr, indices, f, taken):
    """Every vertex onto its first neighbour, where that is smaller: there can be no cycle."""
    n = f.size
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n:
            break
        for u in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            start = np.uintp(indptr[u])
            if start < np.uintp(indptr[u + np.uintp(1)]):
                f[u] = min(f[u], indices[start])


@compiled
def _join_second(indptr, indices, f, taken):
    """Every vertex with its second neighbour."""
    n, one = f.size, np.uintp(1)
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n:
            break
        for u in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            second = np.uintp(indptr[u]) + one
            if second < np.uintp(indptr[u + one]):
                join(f, u, np.uintp(indices[second]))


@compiled
def _join_giant(indptr, indices, f, giant, inside, taken):
    """Join the vertices outside with the giant, of which an edge leads inside; then they are inside, too."""
    n, one, low = f.size, np.uintp(1), np.uintp(63)
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n:
            break
        for u in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            if not inside[u >> np.uintp(6)] >> np.uint64(u & low) & np.uint64(1):
                e, stop = np.uintp(indptr[u]), np.uintp(indptr[u + one])
                while e < stop:
                    v = np.uintp(indices[e])
                    if inside[v >> np.uintp(6)] >> np.uint64(v & low) & np.uint64(1):
                        join(f, u, np.uintp(giant))
                        if u > giant:  # nobody hooks what is no root
                            f[u] = giant
                        inside[u >> np.uintp(6)] |= np.uint64(1) << np.uint64(u & low)
                        break
                    e += one


@compiled
def _join_rest(indptr, indices, f, inside, seen_outside, taken):
    """Join along all edges that are not inside; seen_outside: each that leads there is found again from there."""
    n, one, low = f.size, np.uintp(1), np.uintp(63)
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n:
            break
        for u in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            e, stop = np.uintp(indptr[u]), np.uintp(indptr[u + one])
            if not inside[u >> np.uintp(6)] >> np.uint64(u & low) & np.uint64(1):
                while e < stop:
                    join(f, u, np.uintp(indices[e]))
                    e += one
            elif not seen_outside:
                while e < stop:
                    v = np.uintp(indices[e])
                    if not inside[v >> np.uintp(6)] >> np.uint64(v & low) & np.uint64(1):
                        join(f, u, v)
                        inside[v >> np.uintp(6)] |= np.uint64(1) << np.uint64(v & low)
                    e += one


@compiled
def _flatten(f, taken):
    n = f.size
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n:
            break
        for v in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            root = f[v]
            while f[np.uintp(root)] != root:
                root = f[np.uintp(root)]
            f[v] = root
