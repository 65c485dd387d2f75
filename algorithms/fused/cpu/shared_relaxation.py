"""Near-far relaxation by a crew of threads: a step for each bucket, and no step within one.

    old:     far entries of the last bucket     near, far:  a thread's own entries
    sift:    take some of old, and put them into near or far
    follow:  relax from near; of a long one lay a block where others find it

Each thread does what there is: it follows near, or takes a block, or sifts some of old. The bucket ends when all are
idle. Whatever order vertices are relaxed in, they stop at the same distances. A bucket with few edges is the leader's
alone, as the bucket fusion of GAP [1], and Δ becomes wider where buckets have too few edges for all threads.

[1] S. Beamer, K. Asanović, D. Patterson, The GAP benchmark suite, 2015; Y. Zhang et al., Optimizing ordered graph
    algorithms with GraphIt, CGO 2020 (bucket fusion).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from formats.host_pool import thin
from semiring import Semiring
from semiring.cpu.atomics import added, exchanged, loaded, stored
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.crew import MEMBERS, shared, wait
from semiring.cpu.kernels import compiled, inlined

from .relaxation import ENDLESS, ONE, Kernel, advancing, atomic, fetch_ahead, kept, most_relaxed, orders, relaxing

FAR, RELAXED, EDGES = range(3)
"""Columns of what each thread counts: where its far ends, entries relaxed from, edges looked at."""

BUSY, BLOCKS = 0, 16
"""Words that threads share: how many have something to do, and how many blocks lie there to be taken."""

EMPTY, FILLED, MOVED = np.int64(0), np.int64(1), np.int64(2)
"""States of the place of a block: MOVED while somebody reads it."""

ENTRIES_AT_A_TIME = 16
"""Number of entries in a block, which a thread takes at a time."""

PLACES_PER_THREAD = 2
"""Number of blocks for each thread that may lie there."""

SIFTED_AT_A_TIME = 16
"""Number of far entries that a thread takes at a time."""

LINE = 16
"""Words between those of two threads, which would wait for each other to write to one line."""

WIDEST = 4
"""Maximum of times that Δ is as wide where threads would have too little to do.

On roads and grids a Δ four times as wide has a third to a half more edges relaxed, one eight times about twice as many
(New York's roads, and a grid of 1024 x 1024)."""


def room(threads: int, size: int, vertices: np.dtype, dtype: np.dtype) -> tuple[Any, ...]:
    """Make lists of so many threads: near, far of two buckets, counts, best far distances, shared words, and blocks.

    The counts are a line's, where far ends, and how much of that is taken.
    """
    near = thin((threads, size), vertices), thin((threads, size), dtype)
    far = thin((2, threads, size), vertices), thin((2, threads, size), dtype)
    places = threads * PLACES_PER_THREAD
    blocks = (
        np.zeros(threads * LINE, np.int64),
        np.empty((places, ENTRIES_AT_A_TIME), vertices),
        np.empty((places, ENTRIES_AT_A_TIME), dtype),
    )
    counts, taken = np.zeros((threads, LINE), np.int64), np.zeros(threads * LINE, np.int64)
    counted = counts, np.zeros(threads, np.int64), taken, np.empty((threads, LINE), dtype)
    return near, far, counted, np.zeros(2 * BLOCKS, np.int64), blocks


@inlined
def lay(words, blocks, near, end, thread):
    """Lay the last entries of near where others find them, if there is a place; returns where near then ends."""
    states, vertices, distances = blocks
    for k in range(PLACES_PER_THREAD):
        place, state = thread * PLACES_PER_THREAD + k, thread * LINE + k
        if loaded(states, state) == EMPTY:  # as the thread's own places are until it fills them
            for i in range(ENTRIES_AT_A_TIME):
                vertices[place, i], distances[place, i] = (
                    near[0][end - ENTRIES_AT_A_TIME + i],
                    near[1][end - ENTRIES_AT_A_TIME + i],
                )
            added(words, BLOCKS, 1)
            stored(states, state, FILLED)
            return end - ENTRIES_AT_A_TIME
    return end


@inlined
def take(words, blocks, near, thread):
    """Move a block to an empty near; returns where that ends."""
    states, vertices, distances = blocks
    if loaded(words, BLOCKS) == 0:
        return 0
    for k in range(len(vertices)):
        place = (thread * PLACES_PER_THREAD + k) % len(vertices)
        state = place // PLACES_PER_THREAD * LINE + place % PLACES_PER_THREAD
        if loaded(states, state) == FILLED and exchanged(states, state, FILLED, MOVED):
            for i in range(ENTRIES_AT_A_TIME):
                near[0][i], near[1][i] = vertices[place, i], distances[place, i]
            added(words, BLOCKS, -1)
            stored(states, state, EMPTY)
            return ENTRIES_AT_A_TIME
    return 0


def choosing(semiring: Semiring) -> Kernel:
    """Make the function that sorts old entries into near and far ones, for a semiring."""
    better_than, no_worse_than = orders(semiring)

    @inlined
    def sift(first, stop, top, d, old, own, last, best):
        """Put some old entries into near, which is empty, or far; returns where these end, and far's best."""
        (vertices, distances), (near, far, _), size = old, own, 0
        for i in range(first, stop):
            v, x = vertices[i], distances[i]
            if d[np.uintp(v)] != x:
                continue
            if no_worse_than(x, top):
                near[0][size], near[1][size] = v, x
                size += 1
            else:
                far[0][last], far[1][last] = v, x
                last += 1
                best = x if better_than(x, best) else best
        return size, last, best

    return sift


def following(semiring: Semiring, dtype: np.dtype) -> Kernel:
    """Make the function that empties a thread's near, for a semiring and a dtype."""
    relax = relaxing(semiring, dtype, atomic)

    @inlined
    def follow(gate, top, rows, d, own, given, thread, state):
        """Relax from all entries of near; returns where far ends, or `ENDLESS`, and its best."""
        head, (size, last, best), (near, far, counts) = 0, state, own
        indptr, (words, blocks) = rows[0], given
        while head < size:
            if head & 255 == 255 and interrupted():
                break
            if head & 7 == 0 and size - head > 2 * ENTRIES_AT_A_TIME and gate[MEMBERS] > 1:
                size = lay(words, blocks, near, size, thread)
            fetch_ahead(near[0], head, size, d, rows)
            v, x = np.uintp(near[0][np.uintp(head)]), near[1][np.uintp(head)]
            head += 1
            if d[v] != x:
                continue
            e, stop = np.uintp(indptr[v]), np.uintp(indptr[v + ONE])
            degree = np.intp(stop - e)
            if max(size, last) + degree > near[0].size:
                size, last, head = kept(*near, head, size, d), kept(*far, 0, last, d), 0
                if max(size, last) + degree > near[0].size or counts[RELAXED] > most_relaxed(d.size):
                    return np.int64(ENDLESS), best
            size, last, best = relax((e, degree), x, top, rows, d, (near, far), (size, last, best), counts)
        return np.int64(last), best

    return follow


@lru_cache(maxsize=64)
def emptying(semiring: Semiring, dtype: np.dtype) -> Kernel:
    """Make a thread's work in a bucket, for a semiring and a dtype."""
    zero, sift, follow = semiring.zero(dtype), choosing(semiring), following(semiring, dtype)

    @inlined
    def work(thread, gate, top, old, rows, d, lists):
        """Do what there is, until all are idle.  old: which far lists are read, the thread's own first."""
        (near_v, near_d), (far_v, far_d), (counts, ends, taken, bests), words, blocks = lists
        near, far = (near_v[thread], near_d[thread]), (far_v[1 - old, thread], far_d[1 - old, thread])
        own, last, best = (near, far, counts[thread]), counts[thread, FAR], zero
        k, passed = thread, 0
        added(words, BUSY, 1)
        while True:
            size = take(words, blocks, near, thread)
            if size == 0 and passed < ends.size:
                first = added(taken, k * LINE, SIFTED_AT_A_TIME) if loaded(taken, k * LINE) < ends[k] else ends[k]
                if first < ends[k]:
                    if last + SIFTED_AT_A_TIME > far[0].size:
                        last = kept(*far, 0, last, d)
                    stop, entries = min(first + SIFTED_AT_A_TIME, ends[k]), (far_v[old, k], far_d[old, k])
                    size, last, best = sift(first, stop, top, d, entries, own, last, best)
                else:
                    k, passed = k + 1 if k + 1 < ends.size else 0, passed + 1
                if size == 0:
                    continue
            if size:
                last, best = follow(gate, top, rows, d, own, (words, blocks), thread, (size, last, best))
                if last != ENDLESS:
                    continue
            added(words, BUSY, -1)
            looks = 0
            while loaded(words, BLOCKS) == 0 and loaded(words, BUSY) > 0 and not interrupted():
                looks += 1
                wait(looks)
            if last == ENDLESS or loaded(words, BLOCKS) == 0 or interrupted():
                break
            added(words, BUSY, 1)
        counts[thread, FAR], bests[thread, 0] = last, best

    return work


@lru_cache(maxsize=64)
def crew_search(semiring: Semiring, dtype: np.dtype, stepped: bool) -> Kernel:
    """Make the loop over buckets, for a semiring and a dtype; stepped as in `relaxation.search`."""
    convert, zero, (better_than, no_worse_than) = dtype.type, semiring.zero(dtype), orders(semiring)
    step, ahead = shared(emptying(semiring, dtype)), advancing(semiring, dtype, stepped)

    @compiled
    def loop(gate, rows, d, lists, counts, bounds, options):
        """Settle all from the far entries of list 0 of bucket 0 on; returns the last top.

        counts: as in `relaxation.search`; far ends at `ENDLESS` if a law must be broken.  bounds: limit, Δ and top.
        options: the target, how many times as wide Δ becomes at most, and for how many edges a thread takes part.
        """
        limit, delta, top, target, most, each = bounds[0], bounds[1], bounds[2], options[0], options[1], options[2]
        (near_v, near_d), (far_v, far_d), (own, ends, taken, bests), words, blocks = lists
        members, old, wider, sample = gate[MEMBERS], 0, 1, near_d[0]
        while True:
            for k in range(ends.size):
                ends[k], taken[k * LINE], own[k, FAR], bests[k, 0] = own[k, FAR], 0, 0, zero
            before, words[BUSY] = counts[2], 0
            step(gate, (gate, top, old, rows, d, lists))
            counts[0], counts[1], counts[2], best, longest, old = 0, 0, 0, zero, 0, 1 - old
            counts[3] += 1
            for k in range(ends.size):
                counts[1] += own[k, RELAXED]
                counts[2] += own[k, EDGES]
                best = bests[k, 0] if better_than(bests[k, 0], best) else best
                if own[k, FAR] == ENDLESS or counts[3] > most_relaxed(d.size) or counts[1] > most_relaxed(d.size):
                    counts[0] = ENDLESS
                    return top
                counts[0] += own[k, FAR]
                longest = k if own[k, FAR] > own[longest, FAR] else longest
            if target >= 0 and better_than(d[target], limit):
                limit = d[target]
            if counts[0] == 0 or interrupted() or no_worse_than(limit, top) or better_than(limit, best):
                return top
            edges = counts[2] - before
            stored(gate, MEMBERS, min(members, 1 + edges // each))
            if edges < 2 * members * each and wider < most:
                wider *= 2
            elif edges > 8 * members * each and wider > 1:
                wider //= 2
            listed = far_d[old, longest], own[longest, FAR], counts[0]
            top = ahead(target, limit, convert(delta * wider), best, counts[3], listed, sample, d.size)

    return loop
