"""Bitmaps as 64-bit words, and compiled loops over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from formats.arrays import index_dtype
from semiring.cpu.atomics import added
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.dealing import dealt
from semiring.cpu.kernels import compiled
from semiring.cpu.lanes import lowest, ones

MAX_DEPTH_POWER = 0.4
"""Power of the vertices found up to which levels are few: between 1/3, of three dimensions, and 1/2, of two."""

WORDS_AT_A_TIME = 64
"""Number of words of a bitmap that a thread takes at a time."""


lowest_bit, bits_set = lowest, ones
"""Operations on a word in compiled code."""


def flagged(gate: np.ndarray, array: np.ndarray, value: int) -> np.ndarray:
    """Return a bitmap of the places where an array has a value."""
    words = np.empty(-(-array.size // 64), np.uint64)
    _flag(gate, words.size, WORDS_AT_A_TIME, (array, array.dtype.type(value), words))
    return words


def others(words: np.ndarray, count: int) -> np.ndarray:
    """Return the bits that are not set among the first `count`."""
    left = ~words
    left[count >> 6 :] &= np.uint64((1 << (count & 63)) - 1)
    return left


def rows_with_edges(gate: np.ndarray, A: Any) -> np.ndarray:
    """Return a bitmap of the rows that are not empty."""
    words = np.empty(-(-A.nrows // 64), np.uint64)
    _flag_rows(gate, words.size, WORDS_AT_A_TIME, (A.indptr, words))
    return words


def listed(gate: np.ndarray, words: np.ndarray, places: np.ndarray) -> int:
    """Write where bits are set to `places`, and count them; they ascend if one thread lists them."""
    found = np.zeros(1, np.int64)
    _list(gate, words.size, WORDS_AT_A_TIME, (words, places, found))
    return int(found[0])


def pieces(words: int, size: int, trial: int) -> Iterator[tuple[int, int]]:
    """Give where pieces of a bitmap begin and stop: a trial of so many words, then others that double, up to a size."""
    first = 0
    while first < words:
        stop = min(first + min(max(trial, first, 1), size), words)
        yield first, stop
        first = stop


@compiled
def count_bits(words):
    """Count the bits that are set."""
    count = np.uint64(0)
    for word in words:
        count += bits_set(word)
    return np.int64(count)


def spreads(M: Any, start: int, seen: np.ndarray, share: float) -> bool | None:
    """Mark `start` in `seen`, and where it leads, until a share of the vertices is found; True if that took few levels.

    Few are what a space of three dimensions has, but no plane. Marks need many sweeps where it takes more levels. None
    if it leads to fewer vertices.
    """
    n, enough = M.nrows, int(M.nrows * share) + 1
    queue, found = np.empty(n + 1, index_dtype(n)), np.zeros_like(seen)
    queue[0] = start
    found[start >> 6] = np.uint64(1 << (start & 63))
    begin, end = _follow_levels(M.indptr, M.indices, found, queue, int(enough**MAX_DEPTH_POWER) + 8, enough)
    seen |= found
    return True if end >= enough else None if begin == end else False


@compiled
def _follow_levels(indptr, indices, seen, queue, most, enough):
    """Call `follow` for a level after the other, at most so many."""
    begin, end = 0, 1
    for _ in range(most):
        begin, end = follow(indptr, indices, seen, queue, begin, end, end, enough)
        if end >= enough or begin == end:
            break
    return begin, end


@dealt
def _flag(first, stop, array, value, words):
    """Flag in some words where an array has a value."""
    n = np.uintp(array.size)
    for word in range(np.uintp(first), np.uintp(stop)):
        bits, base = np.uint64(0), word * np.uintp(64)
        for k in range(min(np.uintp(64), n - base)):
            bits |= np.uint64(array[base + k] == value) << np.uint64(k)
        words[word] = bits


@dealt
def _flag_rows(first, stop, indptr, words):
    """Flag the rows that are not empty in some words."""
    one, n = np.uintp(1), np.uintp(indptr.size - 1)
    for word in range(np.uintp(first), np.uintp(stop)):
        bits, base = np.uint64(0), word * np.uintp(64)
        for k in range(min(np.uintp(64), n - base)):
            bits |= np.uint64(indptr[base + k] != indptr[base + k + one]) << np.uint64(k)
        words[word] = bits


@dealt
def _list(first, stop, words, places, found):
    """Append the bits that are set in some words to `places`, of which `found` are taken."""
    count = np.int64(0)
    for word in range(np.uintp(first), np.uintp(stop)):
        count += np.int64(bits_set(words[word]))
    at = np.uintp(added(found, 0, count))
    for word in range(np.uintp(first), np.uintp(stop)):
        left = words[word]
        while left:
            places[at] = word * np.uintp(64) + np.uintp(lowest_bit(left))
            at += np.uintp(1)
            left &= left - np.uint64(1)


@compiled
def follow(indptr, indices, seen, queue, begin, stop, end, enough):
    """Append to the queue where its vertices from `begin` to `stop` lead, if not `seen`, until it has enough.

    Returns what is then left of it.
    """
    one, six, low = np.uintp(1), np.uintp(6), np.uintp(63)
    f, tail, last = np.uintp(begin), np.uintp(end), np.uintp(stop)
    while f < min(last, tail) and tail < np.uintp(enough) and not interrupted():
        u = np.uintp(queue[f])
        f += one
        e, until = np.uintp(indptr[u]), np.uintp(indptr[u + one])
        while e < until:
            v = np.uintp(indices[e])
            word, bit = seen[v >> six], np.uint64(1) << np.uint64(v & low)
            queue[tail] = v
            tail += np.uintp(word & bit == np.uint64(0))
            seen[v >> six] = word | bit
            e += one
    return np.intp(f), np.intp(tail)
