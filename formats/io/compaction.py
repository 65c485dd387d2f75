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
IDS_AT_ONCE = 256


def compact(src: Array, dst: Array) -> tuple[Array, Array, Array]:
    """Returns (labels, src, dst): the ids that occur, ascending, and src and dst as places in them."""
    top, compiled = max(int(src.max(initial=-1)), int(dst.max(initial=-1))), are_many(src.size)
    if top < TABLE_PER_ID * src.size + 1024:
        occurs = np.zeros(top + 1, bool)
        for ids in (src, dst):
            if occurs.all():
                break
            if compiled:
                machine_code(mark)(ids, occurs)
            else:
                occurs[ids] = True
        labels = np.flatnonzero(occurs)
        if labels.size == occurs.size:
            return labels, src, dst
        place = np.cumsum(occurs, dtype=index_dtype(top)) - 1
    elif not compiled:
        labels, places = np.unique(np.concatenate((src, dst)), return_inverse=True)
        return labels.astype(np.int64), places[: src.size], places[src.size :]
    else:
        id_type = np.result_type(src, dst)
        labels, src, dst = _numbered(src.astype(id_type, copy=False), dst.astype(id_type, copy=False))
        order = np.argsort(labels)
        place = np.empty(labels.size, src.dtype)
        place[order] = np.arange(labels.size)
        labels = labels[order].astype(np.int64)
    if not compiled:
        return labels, place[src], place[dst]
    found = np.empty(src.size, place.dtype), np.empty(dst.size, place.dtype)
    for ids, new in zip((src, dst), found, strict=True):
        machine_code(look_up)(ids, place, new)
    return labels, *found


def _numbered(*columns: Array) -> tuple[Array, ...]:
    """Returns (the distinct ids as they come, the ids of each column as places among them)."""
    kernel, bits, found = machine_code(number), FIRST_BITS, 0
    place_type, id_type = index_dtype(sum(ids.size for ids in columns)), columns[0].dtype
    table, labels = np.empty((0, 2), id_type), np.empty(0, id_type)
    results = []
    for ids in columns:
        numbers, done = np.empty(ids.size, place_type), 0
        while done < ids.size:
            if 2 * found >= len(table):  # make the table larger, and put in what is known
                bits += 2
                table = np.full((1 << bits, 2), -1, id_type)
                known, labels = labels[:found], np.empty(len(table) // 2, id_type)
                found, _ = kernel(known, np.uint64(64 - bits), table, labels, 0, np.empty(found, place_type), 0)
            found, done = kernel(ids, np.uint64(64 - bits), table, labels, found, numbers, done)
        results.append(numbers)
    return labels[:found], *results


def mark(ids, occurs):
    """Marks the ids that occur: `occurs[ids] = True`."""
    for k in range(ids.size):
        occurs[np.uint64(ids[k])] = True


def look_up(ids, place, new):
    """Looks the ids up: `new = place[ids]`."""
    for k in range(ids.size):
        new[k] = place[np.uint64(ids[k])]


def number(ids, shift, table, labels, found, numbers, start):
    """Number ids from `start` on, until the table is half full: (how many are found, where it stopped).

    table: an id and its place in each line, or -1 and -1.  labels[place] = id.  numbers[k]: the place of ids[k].
    """
    for first in range(start, ids.size, IDS_AT_ONCE):
        end = min(first + IDS_AT_ONCE, ids.size)
        for k in range(first, end):  # without a branch, so that many parts of the table are fetched at once
            at = (np.uint64(ids[k]) * MULTIPLIER) >> shift
            place = table[at, 1]
            numbers[k] = place if table[at, 0] == ids[k] else -1
        for k in range(first, end):
            if numbers[k] >= 0:
                continue
            at = (np.uint64(ids[k]) * MULTIPLIER) >> shift
            while table[at, 0] >= 0 and table[at, 0] != ids[k]:
                at = (at + np.uint64(1)) & np.uint64(len(table) - 1)
            if table[at, 0] < 0:
                if found == labels.size:
                    return found, k
                table[at, 0], table[at, 1], labels[found] = ids[k], found, ids[k]
                found += 1
            numbers[k] = table[at, 1]
    return found, ids.size
