"""Triangles of each vertex as compiled loops: a vertex's neighbours are marked, and looked for among their neighbours.

    N_v = v's neighbours that come before it        t counts w, u, v for every w in N_u ∩ N_v, u in N_v

A row's neighbours that come before its vertex are listed first, in the order of falling degrees: most vertices have few
neighbours of larger degree, and those few are the same ones, whose marks lie in the caches. Where all rows are short,
the order is the vertices' own, and the list is the beginning of each row. A mark is the top bit of a number that counts
the triangles of one v below it, so that threads add to what they share once for each edge. O(m√m); 4 bytes a vertex for
each thread.

[1] N. Chiba, T. Nishizeki, Arboricity and subgraph listing algorithms, SIAM J. Comput. 14(1), 1985.
[2] M. Latapy, Main-memory triangle computations for very large (sparse (power-law)) graphs, Theoretical Computer
    Science 407, 2008.
"""

from __future__ import annotations

import numpy as np

from algorithms.equations.triangles import SHORT
from algorithms.shared.edges import undirected_pattern
from formats import CSR
from formats.storage.orientation import compressed
from semiring.cpu.atomics import added
from semiring.cpu.dealing import deal, dealt, threads_for
from semiring.cpu.rows import taken
from semiring.vectors import degrees, longest_row

from .entries import sorted_by

MARK = np.uint32(1 << 31)
"""Mark of a neighbour: the bits below count its triangles."""

VERTICES_AT_A_TIME = 1 << 10
"""Number of vertices that a thread takes at a time where all rows are short."""

LONG_ROWS_AT_A_TIME = 1 << 4
"""Number of vertices that a thread takes at a time otherwise."""


def counts(A: CSR, symmetrize: bool) -> np.ndarray:
    """Count the triangles that each vertex is in, as `algorithms.equations.triangles.of_each` does."""
    S = compressed(undirected_pattern(A, symmetrize), 0)
    n, t, place = S.nrows, np.zeros(S.nrows, np.int64), S.indptr.dtype
    if longest_row(S) <= SHORT:
        threads, grain, number = threads_for(S.nnz), VERTICES_AT_A_TIME, None
        rows = S.indptr, np.empty(n, place), S.indices
        deal(_end_below, n, grain, threads, *rows)
    else:
        threads, grain = threads_for(SHORT * S.nnz), LONG_ROWS_AT_A_TIME
        degree = degrees(S)
        order, _ = sorted_by((degree.max() - degree).astype(S.indices.dtype), n)
        number = np.empty_like(order)
        number[order] = np.arange(n, dtype=order.dtype)
        starts, ends, before = np.zeros(n + 1, place), np.empty(n, place), np.empty(S.nnz // 2, S.indices.dtype)
        rows, listing = (starts, ends, before), (n, VERTICES_AT_A_TIME, threads, S.indptr, S.indices, order, number)
        deal(_list_before, *listing, rows, False)
        np.cumsum(ends, out=starts[1:])
        deal(_list_before, *listing, rows, True)
    deal(_count, n, grain, threads, np.zeros((threads, n), np.uint32), rows, number is None, t)
    return t if number is None else taken(t, number)


@dealt
def _end_below(first, stop, indptr, ends, indices):
    """Find where the entries below the diagonal end in each row."""
    for v in range(np.uintp(first), np.uintp(stop)):
        e, end = np.uintp(indptr[v]), np.uintp(indptr[v + np.uintp(1)])
        while e < end and np.uintp(indices[e]) < v:
            e += np.uintp(1)
        ends[v] = e


@dealt
def _list_before(first, stop, indptr, indices, order, number, rows, writes):
    """List the neighbours that come before each vertex in an order, by their numbers in it; count them first."""
    starts, ends, before = rows
    for at in range(np.uintp(first), np.uintp(stop)):
        v = np.uintp(order[at])
        to, e, end = np.uintp(starts[at]), np.uintp(indptr[v]), np.uintp(indptr[v + np.uintp(1)])
        if writes:
            while to < np.uintp(starts[at + np.uintp(1)]):  # written in any case, and kept by moving on
                before[to] = number[np.uintp(indices[e])]
                to += np.uintp(np.uintp(before[to]) < at)
                e += np.uintp(1)
        else:
            for place in range(e, end):
                to += np.uintp(np.uintp(number[np.uintp(indices[place])]) < at)
        ends[at] = to


@dealt
def _count(thread, first, stop, every, rows, ascending, t):
    """Count the triangles whose last vertex is one of those from `first` to `stop`.

    every: zeros, a row for each thread.  ascending: True if rows ascend, so that none comes before v's first.
    """
    marks, (starts, ends, before) = every[thread], rows
    for v in range(np.uintp(first), np.uintp(stop)):
        start, end, total = np.uintp(starts[v]), np.uintp(ends[v]), np.int64(0)
        if end < start + np.uintp(2):
            continue
        for e in range(start, end):
            marks[np.uintp(before[e])] = MARK
        for e in range(start + np.uintp(ascending), end):
            u, count = np.uintp(before[e]), np.uint32(0)
            for f in range(np.uintp(starts[u]), np.uintp(ends[u])):
                w = np.uintp(before[f])
                mark = marks[w]
                found = mark >> np.uint32(31)  # which can hardly be foretold, so nothing branches on it
                marks[w] = mark + found
                count += found
            marks[u] += count
            total += np.int64(count)
        for e in range(start, end):
            u = np.uintp(before[e])
            count = marks[u] & ~MARK
            marks[u] = np.uint32(0)
            if count:
                added(t, u, np.int64(count))
        if total:
            added(t, v, total)
