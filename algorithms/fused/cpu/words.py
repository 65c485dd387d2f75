"""Bitmaps as 64-bit words, and operations on them in compiled loops, each of which is one instruction."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.cpu.compiler.references import operation, tools
from semiring.cpu.kernels import compiled


def as_words(flags: np.ndarray, beyond: bool = False) -> np.ndarray:
    """Return Booleans as the bits of 64-bit words, the lowest first.  beyond: the last word's other bits."""
    padded = np.full(-(-flags.size // 64) * 64, beyond)
    padded[: flags.size] = flags
    return np.packbits(padded, bitorder="little").view(np.uint64)


def as_flags(words: np.ndarray, count: int) -> np.ndarray:
    """Return the first `count` bits of words as Booleans."""
    return np.unpackbits(words.view(np.uint8), count=count, bitorder="little").view(bool)


def rows_with_edges(A: Any) -> np.ndarray:
    """Return a bitmap of the rows that are not empty."""
    return as_words(A.indptr[1:] != A.indptr[:-1])


def count_bits(words: np.ndarray) -> int:
    """Count the bits that are set."""
    return int(np.bitwise_count(words).sum())


@operation
def lowest_bit(typing, word):
    """Return the number of the lowest bit that is set in a word other than 0."""

    def emit(context, builder, signature, args):
        return builder.cttz(args[0], tools.cgutils.true_bit)

    return tools.types.uint64(tools.types.uint64), emit


@operation
def bits_set(typing, word):
    """Count the bits that are set in a word."""

    def emit(context, builder, signature, args):
        return builder.ctpop(args[0])

    return tools.types.uint64(tools.types.uint64), emit


@compiled
def listed(words, places):
    """Write where bits are set to `places`, and count them."""
    count = 0
    for word in range(words.size):
        left = words[word]
        while left:
            places[count] = np.int64(word) * 64 + np.int64(lowest_bit(left))
            count += 1
            left &= left - np.uint64(1)
    return count


@compiled
def follow(indptr, indices, seen, queue, begin, stop, end, enough):
    """Append to the queue where its vertices from `begin` to `stop` lead, if not `seen`, until it has enough.

    Returns what is then left of it.
    """
    one, six, low = np.uintp(1), np.uintp(6), np.uintp(63)
    f, tail, last = np.uintp(begin), np.uintp(end), np.uintp(stop)
    while f < min(last, tail) and tail < np.uintp(enough):
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
