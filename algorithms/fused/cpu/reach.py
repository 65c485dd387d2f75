"""Reachability from vertices and to them: bitmaps that grow as rows are read in their order, and no levels.

A short search from one vertex begins, by a queue (`spreads`). Then all rows are swept over, up and down in turns.

    along the rows (`lead`)   a vertex that is seen marks all that it leads to, without asking what is marked already;
                              where few marks are new, edges are looked at by blocks, as in `giant`
    against them (`ask`)      a vertex that is left looks for one that is known among those it leads to

The second may stop at the first vertex it finds. A branch that depends on what was found costs as much as several
edges, so it looks at a few edges of a row together.

O(n + m) for each sweep, of which random graphs take two or three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from formats.arrays import index_dtype
from semiring.cpu.atomics import prefetched
from semiring.cpu.kernels import compiled

from .dealing import deal
from .giant import EDGES_AHEAD, WORDS_AT_A_TIME, sweep_blocks
from .words import count_bits, follow, listed, lowest_bit

SEARCHED_SHARE = 1 / 16
"""Share of the vertices that the first search finds."""

MAX_DEPTH_POWER = 0.4
"""Power of the vertices found up to which levels are few: between 1/3, of three dimensions, and 1/2, of two."""

PIECES = 16
"""Number of pieces in which a sweep goes over the bitmap: after each it may change its way of looking."""

MIN_PIECE_WORDS = 1 << 8
"""Minimum of words of a bitmap in a piece."""

MAX_PIECE_WORDS = 1 << 14
"""Maximum of words of a bitmap in a piece, for Python hears a signal after each."""

TRIAL_WORDS = 16
"""Number of words of the first piece of a sweep along the rows; the next ones double, until they are large."""

MIN_NEW_MARKS_PER_EDGE = 1 / 12
"""With fewer new marks per edge read than this, marks are looked for by blocks."""

MAX_QUEUE_SHARE = 1 / 64
"""Maximum share of the vertices left to be followed that a queue takes."""

EDGES_AT_ONCE = 4
"""Number of edges of a row that are looked at together."""

MIN_FOUND_SHARE = 1 / 8
"""Share of the vertices looked at that a sweep must find to be followed by another, after the first SWEEPS."""

SWEEPS = 8
"""Number of sweeps that may find few each."""


def pieces(words: int, trial: int = MAX_PIECE_WORDS) -> Iterator[tuple[int, int]]:
    """Give where pieces of a bitmap begin and stop.  trial: words of the first; the next ones double."""
    size, first = min(max(MIN_PIECE_WORDS, -(-words // PIECES)), MAX_PIECE_WORDS), 0
    while first < words:
        stop = min(first + min(max(trial, first), size), words)
        yield first, stop
        first = stop


def spreads(M: Any, start: int, seen: np.ndarray) -> bool:
    """Mark `start` in `seen`, and where it leads, until a share of the vertices is found; True if that took few levels.

    Few are what a space of three dimensions has, but no plane. Marks need many sweeps where it takes more levels.
    """
    n, enough = M.nrows, int(M.nrows * SEARCHED_SHARE) + 1
    queue, found, begin, end = np.empty(n + 1, index_dtype(n)), np.zeros_like(seen), 0, 1
    queue[0] = start
    found[start >> 6] = np.uint64(1 << (start & 63))
    for _ in range(int(enough**MAX_DEPTH_POWER) + 8):
        begin, end = follow(M.indptr, M.indices, found, queue, begin, end, end, enough)
        if end >= enough or begin == end:
            break
    seen |= found
    return end >= enough


def lead(A: Any, seen: np.ndarray, left: np.ndarray, known: np.ndarray) -> None:
    """Mark in `seen` all that its vertices lead to; in `known`, of what is followed, some that lead to known ones.

    left: those whose rows are to be followed; then none is.
    """
    rows = (A.indptr, A.indices)
    before, blocks = count_bits(seen), False
    for first, stop in pieces(seen.size, TRIAL_WORDS):
        if blocks:
            deal(sweep_blocks, stop - first, WORDS_AT_A_TIME, 1, *rows, seen[None], left, first, True)
        else:
            read = _lead(*rows, seen, left, known, first, stop, False)
            before, found = count_bits(seen), count_bits(seen) - before
            blocks = found < read * MIN_NEW_MARKS_PER_EDGE
    for sweep in range(SWEEPS):
        if count_bits(seen & left) <= A.nrows * MAX_QUEUE_SHARE:
            break
        for first, stop in pieces(seen.size):
            _lead(*rows, seen, left, known, first, stop, sweep % 2 == 0)
    queue = np.empty(A.nrows + 1, index_dtype(A.nrows))
    begin, end = 0, listed(seen & left, queue)
    left &= ~seen
    while begin < end:
        begin, end = follow(*rows, seen, queue, begin, min(begin + (MAX_PIECE_WORDS << 6), end), end, A.nrows + 1)


def ask(M: Any, left: np.ndarray, known: np.ndarray) -> bool:
    """Move vertices that lead to `known` there, from `left`, while sweeps find many; True if none was left to find."""
    return _sweep(lambda *words: _ask(M.indptr, M.indices, left, known, *words), left)


def alone(A: Any, left: np.ndarray) -> None:
    """Take out of `left` vertices that lead to no other one in it, while sweeps find many."""
    _sweep(lambda *words: _alone(A.indptr, A.indices, left, *words), left)


def _sweep(find: Callable[[int, int, bool], int], left: np.ndarray) -> bool:
    """Let `find` go over a bitmap, up and down in turns, while it finds many of what is left.

    Returns whether none was left to find.
    """
    sweeps, remain = 0, count_bits(left)
    found = remain
    while found and (found > remain * MIN_FOUND_SHARE or sweeps < SWEEPS):
        found = sum(find(first, stop, sweeps % 2 == 1) for first, stop in pieces(left.size))
        remain, sweeps = remain - found, sweeps + 1
    return found == 0 or remain == 0


@compiled
def _lead(indptr, indices, seen, left, known, first, stop, downward):
    """Follow the rows of what is `seen` and `left`, and add to `known` what leads there. The words first to stop.

    Returns how many edges the rows have.
    """
    read, one, six, low = np.uintp(0), np.uintp(1), np.uintp(6), np.uintp(63)
    ahead = np.uintp(-EDGES_AHEAD if downward else EDGES_AHEAD)
    for at in range(first, stop):
        word = np.uintp(seen.size - 1 - at if downward else at)
        todo = seen[word] & left[word]
        while todo:
            bit, found = todo & (~todo + np.uint64(1)), np.uint64(0)
            left[word] ^= bit
            u = (word << six) + np.uintp(lowest_bit(todo))
            e, last = np.uintp(indptr[u]), np.uintp(indptr[u + one])
            prefetched(indices, e + ahead)
            read += last - e
            while e < last:
                v = np.uintp(indices[e])
                found |= known[v >> six] >> np.uint64(v & low)
                seen[v >> six] |= np.uint64(1) << np.uint64(v & low)
                e += one
            known[word] |= bit * (found & np.uint64(1))
            todo = seen[word] & left[word]
    return np.intp(read)


@compiled
def _ask(indptr, indices, left, known, first, stop, downward):
    """Move vertices that lead to one in `known` there, from `left`, and take out those that lead nowhere.

    Returns how many of the words first to stop moved.
    """
    moved, zero, one, six, low = np.uint64(0), np.uint64(0), np.uintp(1), np.uintp(6), np.uintp(63)
    ahead, together = np.uintp(-EDGES_AHEAD if downward else EDGES_AHEAD), np.uintp(EDGES_AT_ONCE)
    for at in range(first, stop):
        word = np.uintp(left.size - 1 - at if downward else at)
        todo, new, empty = left[word], zero, zero
        while todo:
            bit = todo & (~todo + np.uint64(1))
            u = (word << six) + np.uintp(lowest_bit(todo))
            todo ^= bit
            e, stop_at, found = np.uintp(indptr[u]), np.uintp(indptr[u + one]), zero
            prefetched(indices, e + ahead)
            empty |= bit * np.uint64(e == stop_at)
            while (e < stop_at) & (found == zero):
                for k in range(together):
                    v = np.uintp(indices[min(e + k, stop_at - one)])
                    found |= known[v >> six] >> np.uint64(v & low)
                found &= np.uint64(1)
                e += together
            moved += found
            new |= bit * found
        known[word] |= new
        left[word] ^= new | empty
    return np.intp(moved)


@compiled
def _alone(indptr, indices, left, first, stop, downward):
    """Take out what leads to no other vertex that is `left`; how many. The words first to stop."""
    count, zero, one, six, low = 0, np.uint64(0), np.uintp(1), np.uintp(6), np.uintp(63)
    for at in range(first, stop):
        word = np.uintp(left.size - 1 - at if downward else at)
        todo = left[word]
        while todo:
            bit = todo & (~todo + np.uint64(1))
            u = (word << six) + np.uintp(lowest_bit(todo))
            todo ^= bit
            left[word] ^= bit
            e, last, found = np.uintp(indptr[u]), np.uintp(indptr[u + one]), zero
            while e < last and found == zero:
                v = np.uintp(indices[e])
                found = left[v >> six] >> np.uint64(v & low) & np.uint64(1)
                e += one
            left[word] |= bit * found
            count += found == zero
    return count
