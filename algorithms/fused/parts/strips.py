"""Compiled loops of a search on a strip of rows: what is improved there, and what other processes are told.

A vertex belongs to the process that has its row. An improved distance of an own vertex goes to near or to far, as in
`cpu.relaxation`, whose loop runs on a strip as on a whole matrix. The improved vertices of others are listed, each
once, and leave by owner at the next step.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from semiring import Semiring
from semiring.cpu.kernels import compiled

from ..cpu.atomics import prefetched
from ..cpu.relaxation import AHEAD, ENDLESS, ONE, Kernel, kept, length, most_relaxed, orders, passed_over

FAR, RELAXED, EDGES, BUCKETS, OTHERS = range(5)
"""What a search counts: where far ends, entries relaxed from, edges looked at, buckets, improved vertices of others."""


@lru_cache(maxsize=64)
def settling(semiring: Semiring, dtype: np.dtype, short_rows: bool) -> Kernel:
    """The phase that empties near, for a semiring and a dtype, as `cpu.relaxation.settling`.

    rows: indptr, indices, values, useful, to_hub; the first own vertex and how many there are; (n + 1,) the improved
    vertices of others, and (n,) whether a vertex is among them.
    """
    zero, convert = semiring.zero(dtype), dtype.type
    better_than, no_worse_than = orders(semiring)
    lengthened, is_passed_over = length(semiring, dtype), passed_over(semiring, dtype)

    @compiled
    def settle(top, rows, d, near, far, size, many, counts):
        """Relax from the first `size` near entries and all that come; (0, the best put into far)."""
        indptr, indices, values, useful, to_hub, start, own, others, is_listed = rows
        (near_v, near_d), (far_v, far_d) = near, far
        first, count = np.uintp(start), np.uintp(own)
        head, last, room, best, beyond = 0, counts[0], near_v.size, zero, counts[4]
        while head < size:
            if head + AHEAD < size:
                ahead = np.uintp(near_v[np.uintp(head + AHEAD)])
                prefetched(d, ahead)
                prefetched(indptr, ahead)
                e = np.uintp(indptr[np.uintp(near_v[np.uintp(head + AHEAD // 2)])])
                prefetched(indices, e)
                prefetched(values, e)
            v, x = np.uintp(near_v[np.uintp(head)]), near_d[np.uintp(head)]
            head += 1
            if d[v] != x:
                continue
            e, stop = np.uintp(indptr[v]), np.uintp(indptr[v + ONE])
            degree = np.intp(stop - e)
            if max(size, last) + degree > room:
                size, last, head = kept(near_v, near_d, head, size, d), kept(far_v, far_d, 0, last, d), 0
                if counts[1] > most_relaxed(d.size) or max(size, last) + degree > room:
                    counts[0] = ENDLESS
                    return 0, best
            counts[1] += 1
            counts[2] += degree
            for k in range(degree):
                edge = e + np.uintp(k)
                j, t = np.uintp(indices[edge]), lengthened(values[edge], x)
                if j - first >= count:
                    if better_than(t, d[j]):
                        d[j] = convert(t)
                        others[np.uintp(beyond)] = j
                        beyond += np.intp(not is_listed[j])
                        is_listed[j] = True
                elif short_rows:
                    y, before = convert(t), d[j]
                    improved, close = better_than(t, before), no_worse_than(t, top)
                    d[j] = y if improved else before
                    if useful.size:
                        improved = improved & (not is_passed_over(y, to_hub, useful[j]))
                    near_v[np.uintp(size)], near_d[np.uintp(size)] = j, y
                    far_v[np.uintp(last)], far_d[np.uintp(last)] = j, y
                    size += np.intp(improved & close)
                    last += np.intp(improved & (not close))
                    best = y if improved & (not close) & better_than(y, best) else best
                elif better_than(t, d[j]):
                    y = convert(t)
                    d[j] = y
                    if useful.size and is_passed_over(y, to_hub, useful[j]):
                        continue
                    if no_worse_than(t, top):
                        near_v[np.uintp(size)], near_d[np.uintp(size)] = j, y
                        size += 1
                    else:
                        far_v[np.uintp(last)], far_d[np.uintp(last)] = j, y
                        last += 1
                        best = y if better_than(y, best) else best
        counts[0], counts[4] = last, beyond
        return 0, best

    return settle


@lru_cache(maxsize=64)
def taking(semiring: Semiring, dtype: np.dtype) -> Kernel:
    """What takes in distances of own vertices that others have improved, for a semiring and a dtype."""
    better_than, _ = orders(semiring)

    @compiled
    def take(at, x, d, far, counts, best):
        """Append to far what is better than d; the best of that and `best`."""
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
    """The process that a vertex belongs to."""
    r = 0
    while r + 1 < firsts.size and firsts[r + 1] <= v:
        r += 1
    return r


@lru_cache(maxsize=64)
def packing(semiring: Semiring, dtype: np.dtype) -> Kernel:
    """What sorts the improved vertices of others by owner, for a semiring and a dtype."""
    better_than, _ = orders(semiring)

    @compiled
    def pack(listed, d, firsts, ends, pairs, counts, best):
        """Write (vertex, distance) pairs by owner, those of r from ends[r] on; the best of the distances and `best`.

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
    """What finds the worst distance that is there, for a semiring and a dtype."""
    zero = semiring.zero(dtype)
    better_than, _ = orders(semiring)

    @compiled
    def worst_of(d, found):
        for x in d:
            found = x if x != zero and better_than(found, x) else found
        return found

    return worst_of
