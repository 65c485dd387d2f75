"""Connected components by union-find: trees of vertices whose roots are the smallest, and most edges left unread.

A vertex points at a smaller one of its component, f; an edge joins two trees, the larger root hooked onto the smaller
in one atomic exchange, so that threads need no order. After the first two edges of every vertex nearly all vertices of
a graph with a giant component are in it, and an edge within it need not be joined: only its other vertices look at the
rest of their edges (Afforest [1]), of a directed graph all do, but past a bitmap of the giant.

About O(n + m), in practice less where edges count both ways. 4 bytes a vertex (8 of int64) and a bitmap.

[1] M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling,
    IPDPS 2018.
[2] R. E. Tarjan, J. van Leeuwen, Worst-case analysis of set union algorithms, JACM 31(2), 1984 (path halving).
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import cut, get_threads, run
from semiring.explanation import facts

from .atomics import added, exchanged

SAMPLED = 2
"""Edges of each vertex that are joined before the giant component is looked for."""

LOOKED_AT = 1024
"""Vertices of which the most frequent tree is taken for the giant component."""

GRAIN = 1 << 10
"""Vertices that a thread takes at a time."""


def labels(A: CSR, both_ways: bool) -> np.ndarray:
    """The smallest vertex that each is connected with, whatever the edges' direction.

    both_ways: is every edge's reverse stored, too?
    """
    n = A.nrows
    f = np.arange(n, dtype=index_dtype(n))
    facts(method="union-find", threads=get_threads())
    if A.nnz == 0:
        return f
    side_by_side(lambda taken: _hook_first(A.indptr, A.indices, f, taken), A.nnz)
    flatten(f)
    side_by_side(lambda taken: _join_first(A.indptr, A.indices, f, taken), A.nnz)
    flatten(f)
    giant, _ = most_frequent(f)
    if both_ways:
        side_by_side(lambda taken: _join_outside(A.indptr, A.indices, f, giant, taken), A.nnz)
    else:
        inside = np.packbits(f == giant, bitorder="little")
        side_by_side(lambda taken: _join_across(A.indptr, A.indices, f, inside, taken), A.nnz)
    flatten(f)
    return f


def side_by_side(work, entries: int) -> None:
    """Call `work` with a counter that is shared by as many threads as so many entries are worth."""
    taken = np.zeros(1, np.int64)
    run(lambda *_: work(taken), [(0, 0)] * (get_threads() if len(cut(2, 1, entries)) > 1 else 1))


def flatten(f: np.ndarray) -> None:
    """Let every vertex point at its root."""
    side_by_side(lambda taken: _flatten(f, taken), f.size)


def most_frequent(f: np.ndarray) -> tuple[int, float]:
    """(the root of most of some vertices, evenly spread; its share of them)."""
    roots, counts = np.unique(f[:: -(-f.size // LOOKED_AT)], return_counts=True)
    return int(roots[counts.argmax()]), float(counts.max() / counts.sum())


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
def _join_first(indptr, indices, f, taken):
    n = f.size
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n:
            break
        for u in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            start, stop = np.uintp(indptr[u]), np.uintp(indptr[u + np.uintp(1)])
            hooked = start < stop and np.uintp(indices[start]) < u
            for e in range(start + np.uintp(hooked), min(start + np.uintp(SAMPLED), stop)):
                join(f, u, np.uintp(indices[e]))


@compiled
def _join_outside(indptr, indices, f, giant, taken):
    """The rest of the edges of the vertices that are not in the giant component: theirs to it are among them."""
    n = f.size
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n:
            break
        for u in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            if f[u] != giant:
                for e in range(np.uintp(indptr[u]) + np.uintp(SAMPLED), np.uintp(indptr[u + np.uintp(1)])):
                    join(f, u, np.uintp(indices[e]))


@compiled
def _join_across(indptr, indices, f, inside, taken):
    """The rest of all edges, but those with both ends in the giant component."""
    n, three, seven = f.size, np.uintp(3), np.uintp(7)
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n:
            break
        for u in range(np.uintp(first), np.uintp(min(first + GRAIN, n))):
            start, stop = np.uintp(indptr[u]) + np.uintp(SAMPLED), np.uintp(indptr[u + np.uintp(1)])
            if inside[u >> three] >> (u & seven) & 1:
                for e in range(start, stop):
                    v = np.uintp(indices[e])
                    if not inside[v >> three] >> (v & seven) & 1:
                        join(f, u, v)
            else:
                for e in range(start, stop):
                    join(f, u, np.uintp(indices[e]))


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
