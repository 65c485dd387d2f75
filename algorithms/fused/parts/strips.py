"""Compiles the loops of a search on a strip of rows: what is improved there, and what other processes are told.

A vertex belongs to the process that has its row. An improved distance of an own vertex goes to near or to far, as in
`cpu.relaxation`, whose loop runs on a strip as on a whole matrix. The improved vertices of others are listed, each
once, and leave by owner at the next step.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from semiring import Semiring
from semiring.cpu.kernels import compiled

from ..cpu.relaxation import Kernel, orders, plain

FAR, RELAXED, EDGES, BUCKETS, OTHERS = range(5)
"""The counts of a search: where far ends, entries, edges, buckets, and improved vertices of others."""


def owned(semiring: Semiring, dtype: np.dtype) -> tuple[Any, Any]:
    """Returns how a search on a strip improves distances, as `plain` does: improved vertices of others are listed.

    rows: as in `relaxing`; the first own vertex and how many there are; (n + 1,) the improved vertices of others, and
    (n,) whether a vertex is among them.
    """
    convert, (better_than, _) = dtype.type, orders(semiring)

    def elsewhere(j, t, d, rows, counts):
        if j - np.uintp(rows[5]) < np.uintp(rows[6]):
            return False
        if better_than(t, d[j]):
            d[j], others, is_listed = convert(t), rows[7], rows[8]
            others[np.uintp(counts[OTHERS])] = j
            counts[OTHERS] += np.intp(not is_listed[j])
            is_listed[j] = True
        return True

    return elsewhere, plain(semiring, dtype)[1]


@lru_cache(maxsize=64)
def taking(semiring: Semiring, dtype: np.dtype) -> Kernel:
    """Compiles what takes in distances of own vertices that others have improved, for a semiring and a dtype."""
    better_than, _ = orders(semiring)

    @compiled
    def take(at, x, d, far, counts, best):
        """Appends to far what is better than d; returns the best of that and `best`."""
        (far_v, far_d), last = far, counts[0]
        for k in range(at.size):
            v, y = np.uintp(at[k]), x[k]
            if better_than(y, d[v]):
                d[v] = y
                far_v[last], far_d[last] = v, y
                last += 1
                best = y if better_than(y, best) else best
        counts[0] = last
        return best

    return take


@compiled
def owner(v, firsts):
    """Returns the process that a vertex belongs to."""
    r = 0
    while r + 1 < firsts.size and firsts[r + 1] <= v:
        r += 1
    return r


@lru_cache(maxsize=64)
def packing(semiring: Semiring, dtype: np.dtype) -> Kernel:
    """Compiles what sorts the improved vertices of others by owner, for a semiring and a dtype."""
    better_than, _ = orders(semiring)

    @compiled
    def pack(listed, d, firsts, ends, pairs, counts, best):
        """Writes (vertex, distance) pairs by owner, those of r from ends[r] on; returns the best of them and `best`.

        firsts: the first vertex of each process.  ends: (one for each,).  The list of the improved is empty then.
        """
        others, is_listed = listed
        at, x = pairs
        size, counts[4] = counts[4], 0
        for r in range(ends.size):
            ends[r] = 0
        for k in range(size):
            ends[owner(others[k], firsts)] += 1
        for r in range(1, ends.size):
            ends[r] += ends[r - 1]
        for k in range(size - 1, -1, -1):
            v = others[k]
            is_listed[np.uintp(v)] = False
            r, y = owner(v, firsts), d[np.uintp(v)]
            ends[r] -= 1
            at[ends[r]], x[ends[r]] = v, y
            best = y if better_than(y, best) else best
        return best

    return pack


@lru_cache(maxsize=64)
def worst(semiring: Semiring, dtype: np.dtype) -> Kernel:
    """Compiles what finds the worst distance that is there, for a semiring and a dtype."""
    zero = semiring.zero(dtype)
    better_than, _ = orders(semiring)

    @compiled
    def worst_of(d, found):
        for x in d:
            found = x if x != zero and better_than(found, x) else found
        return found

    return worst_of
