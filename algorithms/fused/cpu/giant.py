"""The giant component of a graph, edges counting both ways, by marks that spread along rows, and no trees.

What is known to be inside is a bitmap. A short search from a vertex of many edges begins it. A sweep then reads the
edges as they lie, a block at a time, and asks whether all of a block lead inside. That takes a bit of each edge and no
branch, and soon nearly all do. Where one does not, it looks at rows. A row that has a vertex inside comes inside as a
whole, its own vertex and all that it leads to. The others stay open, and after a sweep they are all that is left.

O(n + m). A quarter of a byte a vertex, an eighth more for each thread, and the queue of the first search.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from semiring.cpu.atomics import prefetched

from .dealing import deal, dealt, threads_for
from .words import count_bits, follow, lowest_bit, rows_with_edges

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

WORDS_AT_A_TIME = 16
"""Number of words that a thread takes at a time."""

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


def find_giant(A: CSR) -> tuple[np.ndarray, np.ndarray] | None:
    """Find a component of many vertices, and the rows that may be joined with it; None where marks do not spread.

    Returns a bitmap of vertices of one component, and one of the rows whose edges are not known to be inside.
    """
    sweep = _Sweep(A)
    before = sweep.count()
    for first, stop in sweep.pieces():
        sweep.read(first, stop)
        found, rows = sweep.count(), 64 * (stop - first)
        if count_bits(sweep.left[first:stop]) > rows * MAX_OPEN_SHARE:
            if found - before < rows * MIN_NEW_VERTICES_PER_ROW:
                return None
        before = found
    while sweep.close():
        pass
    return None if count_bits(sweep.left) > A.nrows * MAX_REST_SHARE else (sweep.inside[0], sweep.left)


class _Sweep:
    """Marks, and the rows that are left. Each thread marks in a bitmap of its own; they are united after each piece.

    inside: a bitmap for each thread.  left: the rows with edges that are open, or not read yet.
    """

    def __init__(self, A: CSR) -> None:
        self.A, self.left, n = A, rows_with_edges(A), A.nrows
        self.inside = np.zeros((threads_for(A.nnz), self.left.size), np.uint64)
        queue, inside = np.empty(n + 1, index_dtype(n)), self.inside[0]
        some = np.arange(0, n, -(-n // SAMPLED_VERTICES))
        start = some[(A.indptr[some + 1] - A.indptr[some]).argmax()]
        queue[0], inside[start >> 6] = start, np.uint64(1 << int(start & 63))
        follow(A.indptr, A.indices, inside, queue, 0, n, 1, int(n * SEARCHED_SHARE) + 1)
        self.inside[1:] = inside

    def pieces(self) -> list[tuple[int, int]]:
        """Cut the bitmaps' words into pieces."""
        words = self.left.size
        size = max(MIN_PIECE_WORDS, -(-words // PIECES))
        trial = int(size * TRIAL_SHARE) if words > size else words
        ends = [0, trial, *range(size, words, size), words]
        return list(pairwise(ends))

    def count(self) -> int:
        """Count the vertices inside."""
        return count_bits(self.inside[0])

    def read(self, first: int, stop: int) -> None:
        """Bring vertices inside along the rows of the words from `first` to `stop`."""
        self.together(sweep_blocks, first, stop, False)

    def close(self) -> bool:
        """Bring vertices inside along the rows that are left; True if they were many."""
        before, rows = self.count(), count_bits(self.left)
        self.together(_close, 0, self.left.size)
        return self.count() - before > rows * MIN_CLOSED_SHARE

    def together(self, loop: Any, first: int, stop: int, *parts: Any) -> None:
        """Call a loop of `dealt` with each thread's bitmap for the words from `first` on; then unite the bitmaps."""
        inside, rows = self.inside, (self.A.indptr, self.A.indices)
        deal(loop, stop - first, WORDS_AT_A_TIME, len(inside), *rows, inside, self.left, first, *parts)
        if len(inside) > 1:
            inside[:] = np.bitwise_or.reduce(inside, axis=0)


@dealt
def sweep_blocks(thread, first, stop, indptr, indices, marks, left, base, forward):
    """Bring rows inside that have a vertex there; the others are what is then left of the words from `base` on.

    forward: True to bring inside only what vertices lead to that are there, and none that leads there.
    """
    n, zero, one, six, low = np.uintp(indptr.size - 1), np.uint64(0), np.uintp(1), np.uintp(6), np.uintp(63)
    block, inside = np.uintp(EDGES_AT_ONCE), marks[thread]
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
def _close(thread, first, stop, indptr, indices, marks, left, base):
    """Bring those rows inside that are left and have a vertex there."""
    zero, one, six, low = np.uint64(0), np.uintp(1), np.uintp(6), np.uintp(63)
    inside = marks[thread]
    for word in range(np.uintp(base + first), np.uintp(base + stop)):
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
