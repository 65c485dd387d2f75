"""Names as text, numbered by compiled loops.

A name is taken as words of eight bytes behind its length. Names go through a table with linear probing [1], whose place
for a name is given by the upper bits of its hash, and are numbered as they come.

[1] D. E. Knuth, The Art of Computer Programming, volume 3, section 6.4, 1973: open addressing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..hooks import machine_code
from ..io.digits import eight_from
from ..io.source import SPARE_BYTES

AT_ONCE = 256
FIRST_BITS = 12
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
EIGHT, ALL, FOLD = np.uint64(8), np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(32)
BLOCK = 1 << 16
MANY = 1 << 18  # from which compiled loops pay, with the time to load them


def numbered_texts(column: Sequence[Any] | Array) -> tuple[Array, list[str]] | None:
    """Returns (the number of each text, the distinct ones as they come); None if there is anything but text."""
    table, parts = Table(), []
    for k in range(0, len(column), BLOCK):
        block = column[k : k + BLOCK]
        try:
            joined = "\0".join(block).encode() + bytes(SPARE_BYTES)
        except (TypeError, UnicodeEncodeError):
            return None
        text = np.frombuffer(joined, np.uint8)
        ends = np.flatnonzero(text[: text.size - SPARE_BYTES + 1] == 0)
        if ends.size != len(block):
            return None
        starts = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
        parts.append(table.numbers(text, starts, ends - starts))
    return np.concatenate(parts), table.names()


class Table:
    """Names that were found: a hash table, and the words of each behind one another."""

    def __init__(self) -> None:
        self._slots = np.zeros((1 << FIRST_BITS, 2), np.uint64)
        self._hashes = np.empty(1 << (FIRST_BITS - 1), np.uint64)
        self._begins = np.empty((1 << (FIRST_BITS - 1)) + 1, np.int64)
        self._begins[0] = 0
        self._words = np.empty(1 << FIRST_BITS, np.uint64)
        self._found = 0

    def numbers(self, text: Array, starts: Array, lengths: Array) -> Array:
        """The number of each name in a text."""
        numbers, done = np.empty(starts.size, np.int32), 0
        while True:
            table = self._slots, self._hashes, self._begins, self._words
            self._found, done = machine_code(number_names)(text, starts, lengths, table, self._found, numbers, done)
            if done == starts.size:
                return numbers
            self._grow(int(lengths[done]))

    def _grow(self, length: int) -> None:
        """Make room for more names, and one of that length."""
        used = int(self._begins[self._found])
        if 2 * (self._found + 1) > len(self._slots):
            self._slots = np.zeros((4 * len(self._slots), 2), np.uint64)
            machine_code(put_back)(self._slots, self._hashes, self._found)
            self._hashes = _longer(self._hashes, len(self._slots) // 2)
            self._begins = _longer(self._begins, len(self._slots) // 2 + 1)
        if used + length // 8 + 2 > self._words.size:
            self._words = _longer(self._words, 2 * self._words.size + length // 8 + 2)

    def names(self) -> list[str]:
        """The names, as they were found."""
        letters = memoryview(self._words.view(np.uint8))  # type: ignore[arg-type]
        begins = self._begins[: self._found]
        starts, lengths = (8 * begins + 8).tolist(), self._words[begins].tolist()
        return [str(letters[i : i + n], "utf-8") for i, n in zip(starts, lengths, strict=True)]


def _longer(array: Array, size: int) -> Array:
    new = np.empty(size, array.dtype)
    new[: array.size] = array
    return new


def word_of(text, i, left):
    """The eight bytes at text[i] as a word, those beyond the `left` that are left as zeros."""
    word = eight_from(text, i)
    return word if left >= 8 else word & (ALL >> (EIGHT * np.uint64(8 - left)))


def hash_of(text, i, length):
    """The hash of a name."""
    h = np.uint64(length) * MULTIPLIER
    for k in range(0, length, 8):
        h = (h ^ word_of(text, i + k, length - k)) * MULTIPLIER
        h ^= h >> FOLD
    return h * MULTIPLIER


def is_name(text, i, length, words, begin):
    """True if the words of the name begin there."""
    if words[begin] != np.uint64(length):
        return False
    for k in range(0, length, 8):
        if words[begin + 1 + k // 8] != word_of(text, i + k, length - k):
            return False
    return True


def shift_of(size):
    """The shift that leaves of a hash as many bits as number the lines of a table."""
    shift = np.uint64(64)
    while size > 1:
        size >>= 1
        shift -= np.uint64(1)
    return shift


def number_names(text, starts, lengths, table, found, numbers, start):
    """Number names from `start` on, until there is no more room: (how many are found, where it stopped).

    table: a hash and its name's number and 1 in each line, 0 for none; the hashes of the names; where the words of each
    begin, and where they end; the words, the first of which is the length.
    """
    slots, hashes, begins, words = table
    shift = shift_of(len(slots))
    ahead = np.empty(AT_ONCE, np.uint64)
    for first in range(start, starts.size, AT_ONCE):
        last = min(first + AT_ONCE, starts.size)
        for k in range(first, last):  # many parts of the table are fetched at once
            h = hash_of(text, starts[k], lengths[k])
            ahead[k - first] = h
            numbers[k] = np.int64(slots[h >> shift, 1]) - 1
        for k in range(first, last):
            h, i, length, guess = ahead[k - first], starts[k], lengths[k], numbers[k]
            if guess >= 0 and hashes[guess] == h and is_name(text, i, length, words, begins[guess]):
                continue
            at = h >> shift
            while slots[at, 1] and not (
                slots[at, 0] == h and is_name(text, i, length, words, begins[np.int64(slots[at, 1]) - 1])
            ):
                at = (at + np.uint64(1)) & np.uint64(len(slots) - 1)
            if slots[at, 1] == 0:
                begin = begins[found]
                if found == hashes.size or begin + length // 8 + 2 > words.size:
                    return found, k
                slots[at, 0], slots[at, 1], hashes[found] = h, np.uint64(found + 1), h
                words[begin] = np.uint64(length)
                begin += 1
                for j in range(0, length, 8):
                    words[begin] = word_of(text, i + j, length - j)
                    begin += 1
                found += 1
                begins[found] = begin
            numbers[k] = np.int64(slots[at, 1]) - 1
    return found, starts.size


def put_back(slots, hashes, found):
    """Put the names into a larger table, by their hashes."""
    shift = shift_of(len(slots))
    for k in range(found):
        at = hashes[k] >> shift
        while slots[at, 1]:
            at = (at + np.uint64(1)) & np.uint64(len(slots) - 1)
        slots[at, 0], slots[at, 1] = hashes[k], np.uint64(k + 1)
