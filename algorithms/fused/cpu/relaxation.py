"""Compiled near-far relaxation: one loop from the source to the last distance, shared by any number of threads.

    near: vertices improved to a distance no worse than `top`          far: those improved to a worse one
    until both are empty:
        until near is empty:  near, far = what its vertices' edges improve
        top = (the best distance in far) ⊗ Δ          near = far⟨no worse than top⟩

An entry of a list is a vertex with the distance that it had when it was put there; who finds it improved since drops
the entry, for the improvement has an entry of its own. So nothing has to be marked, and whatever order threads relax
in, they stop at the same distances: the best over all walks from the source.

One thread leads: it opens a phase over a list, takes chunks of it itself, and waits for those who took the others.
Helpers take chunks of whatever phase is open. Nobody waits for a helper that has not come, so a phase ends even if no
helper ever gets a core. Each thread writes to lists of its own, and goes on with what it has itself put into the near
list while that is short: the bucket fusion of GAP [2].

[1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, Work-efficient parallel GPU methods for single-source shortest
    paths, IPDPS 2014 (near and far).
[2] S. Beamer, K. Asanović, D. Patterson, The GAP benchmark suite, 2015; Y. Zhang et al., Optimizing ordered graph
    algorithms with GraphIt, CGO 2020 (bucket fusion).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba.extending import register_jitable

from semiring import MONOIDS, Semiring, better, no_worse
from semiring.cpu.kernels import compiled, inlined, product_function

from .atomics import added, exchanged, let_others_run, loaded, stored

Kernel = Callable[..., Any]

# What threads share is one array of integers, `counts`, a row (of two cache lines) for each thing: the chunks of the
# open phase that nobody has taken, the helpers at work, how things stand, and then the threads.
LEFT, BUSY, STATE, OWN = range(4)
COLUMNS = 16
DONE, PHASE, CHUNK, SIDE, FAR_SIDE, FULL = range(6)
"""Columns of the state: is all done, the phase, its chunks' size, the lists that are read, was a list full?"""
HEAD, END, RELAXED, ALONE = 0, 2, 6, 7
"""Columns of a thread: where its two near lists begin; where its two near and two far lists end; the entries that it
relaxed; chunks that it shares with nobody."""

FROM_NEAR, FROM_FAR = 0, 1
SPINS = 1000
"""Looks at what another thread writes before the core is offered to somebody else."""

FEW = 24
"""Entries that are not worth sharing."""


@dataclass(frozen=True)
class Kernels:
    """lead: the thread that decides.  help: all others."""

    lead: Kernel
    help: Kernel


def orders(semiring: Semiring) -> tuple[Any, Any]:
    """(is a strictly better than b, is a no worse than b), for compiled code."""
    if semiring.add in (MONOIDS["min"], MONOIDS["max"]):
        return inlined(better(semiring).scalar), inlined(no_worse(semiring).scalar)
    add = inlined(semiring.add.op.scalar)

    @register_jitable
    def strictly(a, b):
        return (add(a, b) == a) & (a != b)

    @register_jitable
    def weakly(a, b):
        return add(a, b) == a

    return strictly, weakly


@lru_cache(maxsize=128)
def kernels(semiring: Semiring, dtype: np.dtype, stepped: bool, shared: bool) -> Kernels:
    """The loops for a semiring and a dtype; `shared` by several threads, or for one alone.

    stepped: is there a Δ that ⊗ puts a distance ahead by? If not, `top` is a quantile of the far distances.
    Lists are rows of two arrays, of the vertices and of their distances: two near and two far ones of each thread.
    """
    zero = semiring.zero(dtype)
    better_than, no_worse_than = orders(semiring)
    product = product_function(semiring, dtype, matrix_first=False)

    @compiled
    def live(vertices, distances, row, first, last, d):
        """Move the entries of a list that still count to its front; where they end."""
        end = first
        for i in range(first, last):
            if d[np.uintp(vertices[row, i])] == distances[row, i]:
                vertices[row, end], distances[row, end] = vertices[row, i], distances[row, i]
                end += 1
        return end

    @compiled
    def work(me, taken, slot, fuse, indptr, indices, values, d, vertices, distances, counts, marks):
        """Work on chunks of the open phase while there are any, then on what this thread itself puts into near.

        taken: a chunk, by its number from 1.  slot: where in `counts` the number of chunks left is.
        """
        threads, room = counts.shape[0] - OWN, vertices.shape[1]
        chunk, phase = counts[STATE, CHUNK], counts[STATE, PHASE]
        side, far_side = counts[STATE, SIDE], counts[STATE, FAR_SIDE]
        out, far_out = 1 - side, far_side ^ (phase == FROM_FAR)
        near_row, far_row = np.uintp(4 * me + out), np.uintp(4 * me + 2 + far_out)
        top, best, worst = marks[0, 0], marks[1 + me, 0], marks[1 + me, 1]
        mine = OWN + me
        head, near, far = counts[mine, HEAD + out], counts[mine, END + out], counts[mine, END + 2 + far_out]
        relaxed, full = 0, False
        while True:
            if taken > 0:
                low, high, row = (taken - 1) * chunk, 0, near_row
                for t in range(threads):
                    which = side if phase == FROM_NEAR else 2 + far_side
                    begin = counts[OWN + t, HEAD + side] if phase == FROM_NEAR else 0
                    end = counts[OWN + t, END + which]
                    if low < end - begin:
                        low, row = begin + low, np.uintp(4 * t + which)
                        high = min(low + chunk, end)
                        break
                    low -= (end - begin + chunk - 1) // chunk * chunk
            elif head < near and near - head <= fuse and near < room >> 1:
                low, high, row, head, phase = head, near, near_row, near, FROM_NEAR
            else:
                break
            for i in range(low, high):
                v, x = np.uintp(vertices[row, np.uintp(i)]), distances[row, np.uintp(i)]
                if d[v] != x:
                    continue
                if phase == FROM_FAR and not no_worse_than(x, top):
                    vertices[far_row, np.uintp(far)], distances[far_row, np.uintp(far)] = v, x
                    far += 1
                    best = x if better_than(x, best) else best
                    if far == room:
                        far = live(vertices, distances, far_row, 0, far, d)
                        full |= far == room
                        far = min(far, room - 1)
                    continue
                relaxed += 1
                worst = x if better_than(worst, x) else worst
                for e in range(np.uintp(indptr[v]), np.uintp(indptr[v + np.uintp(1)])):
                    j = np.uintp(indices[e])
                    t = product(values[e], x)
                    now = d[j]
                    if not better_than(t, now):
                        continue
                    if shared:
                        while better_than(t, now) and not exchanged(d, j, now, t):
                            now = d[j]
                        if not better_than(t, now):
                            continue
                    else:
                        d[j] = t
                    if no_worse_than(t, top):
                        vertices[near_row, np.uintp(near)], distances[near_row, np.uintp(near)] = j, t
                        near += 1
                    else:
                        vertices[far_row, np.uintp(far)], distances[far_row, np.uintp(far)] = j, t
                        far += 1
                        best = t if better_than(t, best) else best
                    if max(near, far) == room:  # no entry may be lost: make room, or tell that there is none
                        near = live(vertices, distances, near_row, head, near, d)
                        far = live(vertices, distances, far_row, 0, far, d)
                        full |= max(near, far) == room
                        near, far = min(near, room - 1), min(far, room - 1)
            if head == near:
                head, near = 0, 0
            if shared and taken > 0:
                taken = added(counts, slot, -1)
            else:
                taken -= 1
        counts[mine, HEAD + out], counts[mine, END + out], counts[mine, END + 2 + far_out] = head, near, far
        counts[mine, RELAXED] += relaxed
        marks[1 + me, 0], marks[1 + me, 1] = best, worst
        if full:
            counts[STATE, FULL] = 1

    @compiled
    def quantile(distances, counts, far_side):
        """A distance that about an eighth of a sample of the far lists is better than."""
        sample, taken, threads = np.empty(64, distances.dtype), 0, counts.shape[0] - OWN
        for t in range(min(threads, 64)):
            count = counts[OWN + t, END + 2 + far_side]
            share = min(max(64 // threads, 1), count)
            for k in range(share):
                x = distances[4 * t + 2 + far_side, k * count // share]
                i = taken
                while i > 0 and better_than(x, sample[i - 1]):
                    sample[i] = sample[i - 1]
                    i -= 1
                sample[i] = x
                taken += 1
        return sample[taken // 8]

    @compiled
    def lead(
        source, start, delta, limit, target, fuse, indptr, indices, values, d, vertices, distances, counts, marks
    ):  # fmt: skip
        """Distances into d, which holds the zero everywhere; the number of buckets, or -1 if a list was full.

        start: the unit.  limit: the zero for none.  target: -1 for none.  marks: `top` and the worst distance relaxed
        from, then of each thread the best distance that it has put into far, and the worst that it has relaxed from.
        """
        threads, buckets, side, far_side = counts.shape[0] - OWN, 1, 0, 0
        d[source] = start
        vertices[0, 0], distances[0, 0] = source, start
        counts[OWN, END] = 1
        top = product(delta, start) if stepped else start
        while True:
            phase, total = FROM_NEAR, 0
            for t in range(threads):
                total += counts[OWN + t, END + side] - counts[OWN + t, HEAD + side]
            if total == 0:
                phase, best = FROM_FAR, zero
                for t in range(threads):
                    total += counts[OWN + t, END + 2 + far_side]
                    best = marks[1 + t, 0] if better_than(marks[1 + t, 0], best) else best
                    marks[1 + t, 0] = zero
                if target >= 0 and better_than(d[target], limit):
                    limit = d[target]
                if total == 0 or better_than(limit, best):
                    break
                top = product(delta, best) if stepped else quantile(distances, counts, far_side)
                if better_than(top, best):
                    top = best
                buckets += 1
            marks[0, 0] = limit if better_than(limit, top) else top
            chunk, chunks = min(max(total // (4 * threads), 8), 256), 0
            for t in range(threads):
                count = counts[OWN + t, END + 2 + far_side]
                if phase == FROM_NEAR:
                    count = counts[OWN + t, END + side] - counts[OWN + t, HEAD + side]
                chunks += (count + chunk - 1) // chunk
            counts[STATE, PHASE], counts[STATE, CHUNK] = phase, chunk
            counts[STATE, SIDE], counts[STATE, FAR_SIDE] = side, far_side
            slot, taken = OWN * COLUMNS + ALONE, chunks
            if shared:
                slot = LEFT * COLUMNS if total > FEW else slot
                stored(counts, slot, chunks)
                taken = added(counts, slot, -1)
            work(0, taken, slot, fuse, indptr, indices, values, d, vertices, distances, counts, marks)
            if shared:
                spins = 0
                while loaded(counts, BUSY * COLUMNS) != 0:
                    spins += 1
                    if spins > SPINS:
                        let_others_run()
            for t in range(threads):
                counts[OWN + t, HEAD + side], counts[OWN + t, END + side] = 0, 0
                if phase == FROM_FAR:
                    counts[OWN + t, END + 2 + far_side] = 0
            side = 1 - side
            if phase == FROM_FAR:
                far_side = 1 - far_side
            if counts[STATE, FULL]:
                buckets = -1
                break
        for t in range(threads):
            worst = marks[1 + t, 1]
            marks[0, 1] = worst if better_than(marks[0, 1], worst) else marks[0, 1]
        if shared:
            stored(counts, STATE * COLUMNS + DONE, 1)
        return buckets

    @compiled
    def help(me, fuse, indptr, indices, values, d, vertices, distances, counts, marks):
        """Take part in every phase until all is done."""
        spins, slot = 0, LEFT * COLUMNS
        while loaded(counts, STATE * COLUMNS + DONE) == 0:
            if loaded(counts, slot) > 0:
                added(counts, BUSY * COLUMNS, 1)
                taken = added(counts, slot, -1)
                if taken > 0:
                    work(me, taken, slot, fuse, indptr, indices, values, d, vertices, distances, counts, marks)
                added(counts, BUSY * COLUMNS, -1)
                spins = 0
            else:
                spins += 1
                if spins > SPINS:
                    let_others_run()

    return Kernels(lead, help)
