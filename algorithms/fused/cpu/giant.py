"""The giant component of a graph, edges counting both ways, by marks that spread along rows, and no trees.

What is known to be inside is a bitmap. A short search from a vertex of many edges begins it. A sweep then reads the
edges as they lie, a block at a time, and asks whether all of a block lead inside. That takes a bit of each edge and no
branch, and soon nearly all do. Where one does not, it looks at rows. A row that has a vertex inside comes inside as a
whole, its own vertex and all that it leads to. The others stay open.

After a sweep the open rows are all that is left. It ends early where the vertices outside can be asked instead. If
every edge has its reverse, or the columns are at hand, these see whatever they are joined with. Without columns it ends
early if nobody is outside any more.

O(n + m). A quarter of a byte a vertex, an eighth more for each thread, and the queue of the first search.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from formats.storage.orientation import by_columns, has_columns
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled
from semiring.cpu.threads import get_threads, run

from .atomics import added, prefetched
from .words import bits_set, lowest_bit

SEEDS = 1 / 64
"""Share of the vertices that the first search finds."""

LOOKED_AT = 1024
"""Vertices of which the one of most edges is where it starts."""

PIECES = 8
"""In how many pieces a sweep reads the rows: after each it may end."""

TRIAL = 1 / 16
"""Share of the first piece that shows whether marks spread."""

PIECE = 1 << 10
"""Words of a bitmap, 64 rows each, that a piece has at least."""

GRAIN = 16
"""Words that a thread takes at a time."""

BLOCK = 16
"""Edges that are looked at together."""

AHEAD = 512
"""Edges between those that are read and those that are fetched."""

WORTH_THREADS = 1 << 20
"""Entries of a matrix below which one thread is faster than several."""

NEARLY = 7 / 8
"""Share of the vertices inside from which on those outside are looked at, for there may be none left."""

SLOW = 1 / 4
"""Share of the vertices inside that are new after a piece, below which marks no longer spread by themselves."""

SEEN = 1 / 4
"""Share of the vertices inside from which on those outside are asked then, if they see all their edges."""

OPEN = 1 / 2
"""Share of a piece's rows that stay open from which on marks do not spread, unless many vertices are new."""

NEW = 1 / 16
"""Vertices, for each row of a piece, that are many."""

OTHERS = 1 / 8
"""Share of the rows, left at the end, from which on trees are faster: other components are large, too."""

WORTHWHILE = 1 / 8
"""Share of the rows looked at that must come inside for the others to be looked at again."""

Rows = tuple[Any, np.ndarray]
"""A matrix, and a bitmap of some of its rows."""


def find_giant(A: CSR, both_ways: bool) -> tuple[np.ndarray, list[Rows]] | None:
    """A component of many vertices, and what may be joined with it; None where marks do not spread.

    both_ways: is every edge's reverse stored, too?  Returns a bitmap of vertices of one component, and the rows whose
    edges are not known to be inside.
    """
    turned: Any = by_columns(A) if has_columns(A) and not both_ways else None
    seen, asked, sweep = both_ways or turned is not None, False, _Sweep(A)
    rest, before = [(A, sweep.left)], sweep.count()
    for first, stop in sweep.pieces():
        sweep.read(first, stop)
        found, rows = sweep.count(), 64 * (stop - first)
        slow = found - before < found * SLOW and found >= A.nrows * SEEN
        if not asked and (found >= A.nrows * NEARLY or (seen and slow)):
            asked, parts = True, rest if turned is None else [*rest, (turned, with_edges(turned))]
            while sweep.close(parts, outside=True) and seen:
                pass
            if seen or sweep.count() == A.nrows:
                rest = [(M, left & ~sweep.inside[0]) for M, left in parts]
                break
        if _bits_in(sweep.left[first:stop]) > rows * OPEN and found - before < rows * NEW:
            return None
        before = sweep.count()
    else:
        while sweep.close(rest, outside=False):
            pass
    return None if _bits_in(rest[0][1]) > A.nrows * OTHERS else (sweep.inside[0], rest)


class _Sweep:
    """Marks, and the rows that are left. Each thread marks in a bitmap of its own; they are united after each piece.

    inside: a bitmap for each thread.  left: the rows with edges that are open, or not read yet.
    """

    def __init__(self, A: CSR) -> None:
        self.A, self.left = A, with_edges(A)
        self.inside = np.zeros((get_threads() if A.nnz >= WORTH_THREADS else 1, self.left.size), np.uint64)
        queue = np.empty(A.nrows + 1, index_dtype(A.nrows))
        _spread(A.indptr, A.indices, self.inside[0], queue, int(A.nrows * SEEDS))
        self.inside[1:] = self.inside[0]

    def pieces(self) -> list[tuple[int, int]]:
        """Of the bitmaps' words."""
        words = self.left.size
        size = max(PIECE, -(-words // PIECES))
        trial = int(size * TRIAL) if words > size else words
        ends = [0, trial, *range(size, words, size), words]
        return list(pairwise(ends))

    def count(self) -> int:
        """How many vertices are inside."""
        return _bits_in(self.inside[0])

    def read(self, first: int, stop: int) -> None:
        """Bring vertices inside along the rows of the words from `first` to `stop`."""
        rows = (self.A.indptr, self.A.indices)
        self.together(lambda inside, taken: sweep_blocks(*rows, inside, self.left, False, taken, stop), first)

    def close(self, parts: list[Rows], outside: bool) -> bool:
        """Bring vertices inside along those rows of `parts`; were they many?  outside: of vertices outside alone."""
        before = self.count()
        rows = sum(_bits_in(left & ~self.inside[0] if outside else left) for _, left in parts)
        for M, left in parts:
            entries = (M.indptr, M.indices)
            self.together(lambda inside, taken: _close(*entries, inside, left, outside, taken), 0)  # noqa: B023
        return self.count() - before > rows * WORTHWHILE

    def together(self, work: Callable[..., Any], first: int) -> None:
        """Call `work` with each thread's bitmap and a counter of words from `first` on; then unite the bitmaps."""
        taken, inside = np.array([first]), self.inside
        run(lambda thread, _: work(inside[thread], taken), [(thread, thread) for thread in range(len(inside))])
        if len(inside) > 1:
            inside[:] = np.bitwise_or.reduce(inside, axis=0)


def with_edges(A: Any) -> np.ndarray:
    """A bitmap of the rows that are not empty."""
    words = np.zeros(-(-A.nrows // 64), np.uint64)
    _flag_rows(A.indptr, words)
    return words


@compiled
def _bits_in(words):
    count = np.int64(0)
    for word in words:
        count = count + np.int64(bits_set(word))
    return count


@compiled
def _flag_rows(indptr, words):
    """Set the bits of the rows that are not empty."""
    whole, six = np.uintp((indptr.size - 1) // 64), np.uintp(6)
    for word in range(whole):
        first, bits = word << six, np.uint64(0)
        for k in range(np.uintp(64)):
            row = first + k
            bits |= np.uint64(indptr[row] != indptr[row + np.uintp(1)]) << np.uint64(k)
        words[word] = bits
    row = whole << six
    while row < np.uintp(indptr.size - 1):
        words[row >> six] |= np.uint64(indptr[row] != indptr[row + np.uintp(1)]) << np.uint64(row & np.uintp(63))
        row += np.uintp(1)


@compiled
def _spread(indptr, indices, inside, queue, enough):
    """Mark a vertex of many edges and where it leads, until so many vertices are found."""
    n, one, six, low = indptr.size - 1, np.uintp(1), np.uintp(6), np.uintp(63)
    most, u = np.int64(-1), np.uintp(0)
    for some in range(0, n, -(-n // LOOKED_AT)):
        edges = np.int64(indptr[some + 1]) - np.int64(indptr[some])
        if edges > most:
            most, u = edges, np.uintp(some)
    f, tail = np.uintp(0), np.uintp(1)
    queue[f] = u
    inside[u >> six] |= np.uint64(1) << np.uint64(u & low)
    while f < tail and tail <= np.uintp(enough):
        u = np.uintp(queue[f])
        f += one
        e, stop = np.uintp(indptr[u]), np.uintp(indptr[u + one])
        while e < stop:
            v = np.uintp(indices[e])
            word, bit = inside[v >> six], np.uint64(1) << np.uint64(v & low)
            queue[tail] = v
            tail += np.uintp(word & bit == np.uint64(0))
            inside[v >> six] = word | bit
            e += one


@compiled
def sweep_blocks(indptr, indices, inside, left, forward, taken, stop):
    """Bring rows inside that have a vertex there; the others are what is then left of these words.

    forward: bring inside what vertices lead to that are there, and none that leads there.
    """
    n, zero, one, six, low = np.uintp(indptr.size - 1), np.uint64(0), np.uintp(1), np.uintp(6), np.uintp(63)
    block = np.uintp(BLOCK)
    while True:
        first = added(taken, 0, GRAIN)
        if first >= stop or interrupted():
            break
        for word in range(first, min(first + GRAIN, stop)):
            row, beyond = np.uintp(word) << six, min((np.uintp(word) + one) << six, n)
            e, end, opened = np.uintp(indptr[row]), np.uintp(indptr[beyond]), zero
            while e < end:
                until = min(e + block, end)
                prefetched(indices, e + np.uintp(AHEAD))
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
                    found, f = inside[np.uintp(word)] & bit != zero, e
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
                inside[np.uintp(word)] |= left[np.uintp(word)] & ~opened
            left[np.uintp(word)] = opened


@compiled
def _close(indptr, indices, inside, left, outside, taken):
    """Bring those rows inside that are left and have a vertex there.  outside: not those of vertices inside."""
    zero, one, six, low = np.uint64(0), np.uintp(1), np.uintp(6), np.uintp(63)
    while True:
        first = added(taken, 0, GRAIN)
        if first >= left.size or interrupted():
            break
        for place in range(first, min(first + GRAIN, left.size)):
            word = np.uintp(place)
            todo = left[word] & ~inside[word] if outside else left[word]
            while todo:
                bit = todo & (~todo + np.uint64(1))
                u = (word << six) + np.uintp(lowest_bit(todo))
                todo ^= bit
                e, stop = np.uintp(indptr[u]), np.uintp(indptr[u + one])
                found, k = inside[word] & bit != zero, e
                while k < stop and not found:
                    v = np.uintp(indices[k])
                    found = inside[v >> six] >> np.uint64(v & low) & np.uint64(1) != zero
                    k += one
                if found:
                    inside[word] |= bit
                    while e < stop:
                        v = np.uintp(indices[e])
                        inside[v >> six] |= np.uint64(1) << np.uint64(v & low)
                        e += one
                    left[word] ^= bit
