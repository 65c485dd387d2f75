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

from typing import Any

import numpy as np

from formats.arrays import index_dtype
from semiring.cpu.atomics import added, prefetched
from semiring.cpu.dealing import dealt

from .giant import EDGES_AHEAD, sweep_blocks, unite
from .words import count_bits, follow, listed, lowest_bit, pieces

PIECES = 16
"""Number of pieces in which a sweep goes over the bitmap: after each it may change its way of looking."""

MIN_PIECE_WORDS = 1 << 8
"""Minimum of words of a bitmap in a piece."""

TRIAL_WORDS = 16
"""Number of words of the first piece of a sweep along the rows; the next ones double, until they are large."""

MIN_NEW_MARKS_PER_EDGE = 1 / 12
"""With fewer new marks per edge read than this, marks are looked for by blocks."""

MAX_QUEUE_SHARE = 1 / 64
"""Maximum share of the vertices left to be followed that a queue takes."""

WORDS_AT_A_TIME = 8
"""Number of words that a thread takes at a time."""

EDGES_AT_ONCE = 4
"""Number of edges of a row that are looked at together."""

MIN_FOUND_SHARE = 1 / 8
"""Share of the vertices looked at that a sweep must find to be followed by another, after the first SWEEPS."""

SWEEPS = 8
"""Number of sweeps that may find few each."""


def lead(gate: np.ndarray, A: Any, seen: np.ndarray, left: np.ndarray, known: np.ndarray) -> None:
    """Mark in `seen[0]` all that its vertices lead to; in `known`, of what is followed, some that lead to known ones.

    seen: a bitmap for each thread.  left: those whose rows are to be followed; then none is.
    """
    rows, read = (A.indptr, A.indices), np.zeros(1, np.int64)
    seen[1:], before, blocks = seen[0], count_bits(seen[0]), False
    for first, stop in pieces(left.size, max(MIN_PIECE_WORDS, -(-left.size // PIECES)), TRIAL_WORDS):
        if blocks:
            sweep_blocks(gate, stop - first, WORDS_AT_A_TIME, (rows, seen, left, first, True))
            unite(gate, seen)
        else:
            read[0] = 0
            _lead(gate, stop - first, WORDS_AT_A_TIME, (rows, (seen, left, known), first, False, read))
            unite(gate, seen)
            before, found = count_bits(seen[0]), count_bits(seen[0]) - before
            blocks = found < read[0] * MIN_NEW_MARKS_PER_EDGE
    for sweep in range(SWEEPS):
        if count_bits(seen[0] & left) <= A.nrows * MAX_QUEUE_SHARE:
            break
        _lead(gate, left.size, WORDS_AT_A_TIME, (rows, (seen, left, known), 0, sweep % 2 == 0, read))
        unite(gate, seen)
    queue = np.empty(A.nrows + 1, index_dtype(A.nrows))
    end = listed(gate, seen[0] & left, queue)
    left &= ~seen[0]
    follow(*rows, seen[0], queue, 0, A.nrows, end, A.nrows + 1)


def ask(gate: np.ndarray, M: Any, left: np.ndarray, known: np.ndarray) -> bool:
    """Move vertices that lead to `known` there, from `left`, while sweeps find many; True if none was left to find."""
    return _sweep(gate, _ask, left, M.indptr, M.indices, known)


def alone(gate: np.ndarray, A: Any, left: np.ndarray) -> None:
    """Take out of `left` vertices that lead to no other one in it, while sweeps find many."""
    _sweep(gate, _alone, left, A.indptr, A.indices)


def _sweep(gate: np.ndarray, find: Any, left: np.ndarray, *parts: Any) -> bool:
    """Let a loop go over a bitmap, up and down in turns, while it finds many of what is left.

    Returns whether none was left to find.
    """
    sweeps, remain, found = 0, count_bits(left), np.ones(1, np.int64)
    while remain and found[0] and (found[0] > remain * MIN_FOUND_SHARE or sweeps < SWEEPS):
        found[0] = 0
        find(gate, left.size, WORDS_AT_A_TIME, (*parts, left, sweeps % 2 == 1, found))
        remain, sweeps = remain - int(found[0]), sweeps + 1
    return remain == 0 or found[0] == 0


@dealt
def _lead(thread, first, stop, rows, words, base, downward, read):
    """Follow the rows of what is `seen` and `left`, and add to `known` what leads there.

    The words are those from `base` on, or from the last one back.  read: the number of edges that the rows have.
    """
    (indptr, indices), (marks, left, known) = rows, words
    edges, one, six, low, seen = np.uintp(0), np.uintp(1), np.uintp(6), np.uintp(63), marks[thread]
    ahead = np.uintp(-EDGES_AHEAD if downward else EDGES_AHEAD)
    for at in range(base + first, base + stop):
        word = np.uintp(seen.size - 1 - at if downward else at)
        todo = seen[word] & left[word]
        while todo:
            bit, found = todo & (~todo + np.uint64(1)), np.uint64(0)
            left[word] ^= bit
            u = (word << six) + np.uintp(lowest_bit(todo))
            e, last = np.uintp(indptr[u]), np.uintp(indptr[u + one])
            prefetched(indices, e + ahead)
            edges += last - e
            while e < last:
                v = np.uintp(indices[e])
                found |= known[v >> six] >> np.uint64(v & low)
                seen[v >> six] |= np.uint64(1) << np.uint64(v & low)
                e += one
            known[word] |= bit * (found & np.uint64(1))
            todo = seen[word] & left[word]
    added(read, 0, np.int64(edges))


@dealt
def _ask(first, stop, indptr, indices, known, left, downward, moved):
    """Move vertices that lead to one in `known` there, from `left`, and take out those that lead nowhere.

    Counts how many have moved.
    """
    count, zero, one, six, low = np.uint64(0), np.uint64(0), np.uintp(1), np.uintp(6), np.uintp(63)
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
            count += found
            new |= bit * found
        known[word] |= new
        left[word] ^= new | empty
    added(moved, 0, np.int64(count))


@dealt
def _alone(first, stop, indptr, indices, left, downward, taken):
    """Take out of some words what leads to no other vertex that is `left`, and count that."""
    count, zero, one, six, low = np.int64(0), np.uint64(0), np.uintp(1), np.uintp(6), np.uintp(63)
    for at in range(first, stop):
        word = np.uintp(left.size - 1 - at if downward else at)
        todo = left[word]
        while todo:
            bit = todo & (~todo + np.uint64(1))
            u = (word << six) + np.uintp(lowest_bit(todo))
            todo ^= bit
            e, last, found = np.uintp(indptr[u]), np.uintp(indptr[u + one]), zero
            while e < last and found == zero:
                v = np.uintp(indices[e])
                found = left[v >> six] >> np.uint64(v & low) & np.uint64(v != u)
                e += one
            if found == zero:
                left[word] ^= bit
                count += 1
    added(taken, 0, count)
