"""The giant component of a graph, edges counting both ways, by marks that spread along rows, and no trees.

What is known to be inside is a bitmap. A short search from a vertex of many edges begins it. A sweep then reads the
edges as they lie, a block at a time, and asks whether all of a block lead inside. That takes a bit of each edge and no
branch, and soon nearly all do. Where one does not, it looks at rows. A row that has a vertex inside comes inside as a
whole, its own vertex and all that it leads to. The others stay open, and after a sweep they are all that is left.

O(n + m). A quarter of a byte a vertex, an eighth more for each thread, and the queue of the first search.
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from semiring.cpu.atomics import prefetched
from semiring.cpu.crew import MEMBERS
from semiring.cpu.dealing import dealt

from .bfs import MIN_NNZ, component
from .words import count_bits, lowest_bit, pieces, rows_with_edges, spreads

SEARCHED_SHARE = 1 / 64
"""Share of the vertices that the first search finds."""

SAMPLED_VERTICES = 1024
"""Number of vertices of which the one of most edges is where it starts."""

PIECES = 8
"""Number of pieces in which a sweep reads the rows: after each it may end."""

TRIAL_SHARE = 1 / 16
"""Share of the first piece that shows whether marks spread."""

MIN_PIECE_WORDS = 1 << 10
"""Words of a bitmap, 64 rows each, that a piece has at least."""

WORDS_AT_A_TIME = 2
"""Number of words that a thread takes at a time: the rows of the first may have a fiftieth of the edges."""

WORDS_UNITED_AT_A_TIME = 1 << 8
"""Number of words of all threads' bitmaps that a thread unites at a time."""

EDGES_AT_ONCE = 16
"""Number of edges that are looked at together."""

EDGES_AHEAD = 512
"""Edges between those that are read and those that are prefetched."""

MAX_OPEN_SHARE = 1 / 2
"""Share of a piece's rows that stay open from which on marks do not spread, unless many vertices are new."""

MIN_NEW_VERTICES_PER_ROW = 1 / 16
"""New vertices, for each row of a piece, that are many."""

MAX_REST_SHARE = 1 / 8
"""Share of the rows, left at the end, from which on trees are faster: other components are large, too."""

MIN_CLOSED_SHARE = 1 / 8
"""Share of the rows looked at that must come inside for the others to be looked at again."""


def find_giant(gate: np.ndarray, A: CSR, both_ways: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """Find a component of many vertices, and the rows that may be joined with it; None where marks do not spread.

    Returns a bitmap of vertices of one component, and one of the rows whose edges are not known to be inside. Each
    thread marks in a bitmap of its own; they are united after each piece.  both_ways: True if every edge's reverse is
    stored: then one search from a vertex of the component finds it, and reads fewer edges.
    """
    some = np.arange(0, A.nrows, -(-A.nrows // SAMPLED_VERTICES))
    start = int(some[(A.indptr[some + 1] - A.indptr[some]).argmax()])
    found = np.zeros(-(-A.nrows // 64), np.uint64)
    if spreads(A, start, found, SEARCHED_SHARE) is False:
        return None
    left, rows = rows_with_edges(gate, A), (A.indptr, A.indices)
    if both_ways and A.nnz >= MIN_NNZ:
        found = component(gate, A, start)
        left &= ~found
        return None if count_bits(left) > A.nrows * MAX_REST_SHARE else (found, left)
    inside = np.tile(found, (gate[MEMBERS], 1))
    before, size = count_bits(inside[0]), max(MIN_PIECE_WORDS, -(-inside.shape[1] // PIECES))
    for first, stop in pieces(left.size, size, int(size * TRIAL_SHARE) if left.size > size else left.size):
        sweep_blocks(gate, stop - first, WORDS_AT_A_TIME, (rows, inside, left, first, False))
        unite(gate, inside)
        new, before = count_bits(inside[0]) - before, count_bits(inside[0])
        read = 64 * (stop - first)
        if count_bits(left[first:stop]) > read * MAX_OPEN_SHARE and new < read * MIN_NEW_VERTICES_PER_ROW:
            return None
    while True:
        remain = count_bits(left)
        _close(gate, left.size, WORDS_AT_A_TIME, (*rows, inside, left))
        unite(gate, inside)
        new, before = count_bits(inside[0]) - before, count_bits(inside[0])
        if new <= remain * MIN_CLOSED_SHARE:
            return None if count_bits(left) > A.nrows * MAX_REST_SHARE else (inside[0], left)


def unite(gate: np.ndarray, marks: np.ndarray) -> None:
    """Give the bitmap of each thread what any of them has."""
    if len(marks) > 1:
        _unite(gate, marks.shape[1], WORDS_UNITED_AT_A_TIME, (marks,))


@dealt
def sweep_blocks(thread, first, stop, rows, marks, left, base, forward):
    """Bring rows inside that have a vertex there; the others are what is then left of the words from `base` on.

    marks: for each thread a bitmap of what is inside.  forward: True to bring inside only what vertices lead to that
    are there, and none that leads there.
    """
    zero, one, six, low = np.uint64(0), np.uintp(1), np.uintp(6), np.uintp(63)
    (indptr, indices), block, inside = rows, np.uintp(EDGES_AT_ONCE), marks[thread]
    n = np.uintp(indptr.size - 1)
    for word in range(np.uintp(base + first), np.uintp(base + stop)):
        row, beyond = word << six, min((word + one) << six, n)
        e, end, opened = np.uintp(indptr[row]), np.uintp(indptr[beyond]), zero
        while e < end:
            until = min(e + block, end)
            prefetched(indices, e + np.uintp(EDGES_AHEAD))
            every = np.uint64(1)
            if until - e == block:
                for k in range(block):
                    v = np.uintp(indices[e + k])
                    every &= inside[v >> six] >> np.uint64(v & low)
            else:
                for k in range(until - e):
                    v = np.uintp(indices[e + k])
                    every &= inside[v >> six] >> np.uint64(v & low)
            if every & np.uint64(1):
                e = until
                continue
            while e < until:
                while np.uintp(indptr[row + one]) <= e:
                    row += one
                last, bit = np.uintp(indptr[row + one]), np.uint64(1) << np.uint64(row & low)
                found, f = inside[word] & bit != zero, e
                found |= not forward and e > np.uintp(indptr[row])
                while f < last and not (found or forward):
                    v = np.uintp(indices[f])
                    found = inside[v >> six] >> np.uint64(v & low) & np.uint64(1) != zero
                    f += one
                if found:
                    while e < last:
                        v = np.uintp(indices[e])
                        inside[v >> six] |= np.uint64(1) << np.uint64(v & low)
                        e += one
                else:
                    opened |= bit
                e = last
        if not forward:
            inside[word] |= left[word] & ~opened
        left[word] = opened


@dealt
def _close(thread, first, stop, indptr, indices, marks, left):
    """Bring those rows inside that are left and have a vertex there."""
    inside, zero, one, six, low = marks[thread], np.uint64(0), np.uintp(1), np.uintp(6), np.uintp(63)
    for word in range(np.uintp(first), np.uintp(stop)):
        todo = left[word]
        while todo:
            bit = todo & (~todo + np.uint64(1))
            u = (word << six) + np.uintp(lowest_bit(todo))
            todo ^= bit
            e, last = np.uintp(indptr[u]), np.uintp(indptr[u + one])
            found, k = inside[word] & bit != zero, e
            while k < last and not found:
                v = np.uintp(indices[k])
                found = inside[v >> six] >> np.uint64(v & low) & np.uint64(1) != zero
                k += one
            if found:
                inside[word] |= bit
                while e < last:
                    v = np.uintp(indices[e])
                    inside[v >> six] |= np.uint64(1) << np.uint64(v & low)
                    e += one
                left[word] ^= bit


@dealt
def _unite(first, stop, marks):
    for word in range(first, stop):
        every = np.uint64(0)
        for thread in range(marks.shape[0]):
            every |= marks[thread, word]
        for thread in range(marks.shape[0]):
            marks[thread, word] = every
