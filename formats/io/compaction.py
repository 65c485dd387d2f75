"""Ids with gaps, numbered from 0 in ascending order.

Ids below a few times their number are looked up in a table of all ids; some others are sorted. Many go through a hash
table with linear probing, whose place for an id is given by the upper bits of id * c mod 2^64 [1]. It numbers them as
they come, and only the distinct ones are sorted.

[1] D. E. Knuth, The Art of Computer Programming, volume 3, section 6.4, 1973: multiplicative hashing, open addressing.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, index_dtype
from ..hooks import machine_code
from .edges import are_many

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
TABLE_PER_ID = 4
FIRST_BITS = 16


def compact(src: Array, dst: Array) -> tuple[Array, Array, Array]:
    """(labels, src, dst): the ids that occur, ascending, and src and dst as places in them."""
    top = max(int(src.max(initial=-1)), int(dst.max(initial=-1)))
    if top < TABLE_PER_ID * src.size + 1024:
        occurs = np.zeros(top + 1, bool)
        occurs[src] = occurs[dst] = True
        labels = np.flatnonzero(occurs)
        if labels.size == occurs.size:
            return labels, src, dst
        place = np.cumsum(occurs, dtype=index_dtype(top)) - 1
    elif not are_many(src.size):
        labels, places = np.unique(np.concatenate((src, dst)), return_inverse=True)
        return labels.astype(np.int64), places[: src.size], places[src.size :]
    else:
        labels, src, dst = _numbered(src.astype(np.int64), dst.astype(np.int64))
        order = np.argsort(labels)
        place = np.empty(labels.size, src.dtype)
        place[order] = np.arange(labels.size)
        labels = labels[order]
    return labels, place[src], place[dst]


def _numbered(*columns: Array) -> tuple[Array, ...]:
    """(the distinct ids as they come, the ids of each column as places among them)."""
    kernel, bits, found = machine_code(number), FIRST_BITS, 0
    place_type = index_dtype(sum(ids.size for ids in columns))
    keys, places, labels = np.empty(0, np.int64), np.empty(0, place_type), np.empty(0, np.int64)
    results = []
    for ids in columns:
        numbers, done = np.empty(ids.size, place_type), 0
        while done < ids.size:
            if 2 * found >= keys.size:  # make the table larger, and put in what is known
                bits += 2
                keys, places = np.empty(1 << bits, np.int64), np.full(1 << bits, -1, place_type)
                known, labels = labels[:found], np.empty(keys.size // 2, np.int64)
                found, _ = kernel(known, np.uint64(64 - bits), keys, places, labels, 0, np.empty(found, place_type), 0)
            found, done = kernel(ids, np.uint64(64 - bits), keys, places, labels, found, numbers, done)
        results.append(numbers)
    return labels[:found], *results


def number(ids, shift, keys, places, labels, found, numbers, start):
    """Number ids from `start` on, until the table is half full: (how many are found, where it stopped).

    keys, places: the table; a place of -1 is free.  labels[places[at]] = keys[at].  numbers[k]: the place of ids[k].
    """
    for k in range(start, ids.size):
        at = np.int64((np.uint64(ids[k]) * MULTIPLIER) >> shift)
        while places[at] >= 0 and keys[at] != ids[k]:
            at = (at + 1) & (keys.size - 1)
        if places[at] < 0:
            if found == labels.size:
                return found, k
            keys[at], places[at], labels[found] = ids[k], found, ids[k]
            found += 1
        numbers[k] = places[at]
    return found, ids.size
