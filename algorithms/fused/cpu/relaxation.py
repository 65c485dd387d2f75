"""Compiled near-far relaxation: one loop from the source to the last distance, shared by any number of threads.

    near: vertices improved to a distance no worse than `top`          far: those improved to a worse one
    until both are empty:
        until near is empty:  near, far = what its vertices' edges improve
        top = (the best distance in far) ⊗ Δ          near = far⟨no worse than top⟩

An entry of a list is a vertex with the distance that it had when it was put there; who finds it improved since drops
the entry, for the improvement has an entry of its own. So nothing has to be marked, and whatever order threads relax
in, they stop at the same distances: the best over all walks from the source.

Most edges of a graph with hubs improve nothing: they lead from a hub to a vertex that is near already. Where its light
edges, each vertex's best first, and its columns are at hand, such a graph is searched in two parts:

    lazily: a vertex's light edges as far as they lead to distances no worse than `top`; the first that does not, waits
        in the far list, under the distance that it would lead to, for a `top` that is
    pulling, once: every vertex that is not settled takes the best of its column                d_j = ⊕_i d_i ⊗ a_ij

and from there as before. Settled vertices' heavy edges are never looked at; the unsettled have few.

One thread leads: it opens a phase over a list, takes chunks of it itself, and waits for those who took the others.
Helpers take chunks of whatever phase is open. Nobody waits for a helper that has not come, so a phase ends even if no
helper ever gets a core. Each thread writes to lists of its own, and goes on with what it has itself put into the near
list while that is short: the bucket fusion of GAP [2].

[1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, Work-efficient parallel GPU methods for single-source shortest
    paths, IPDPS 2014 (near and far).
[2] S. Beamer, K. Asanović, D. Patterson, The GAP benchmark suite, 2015; Y. Zhang et al., Optimizing ordered graph
    algorithms with GraphIt, CGO 2020 (bucket fusion).
[3] V. T. Chakaravarthy, F. Checconi, F. Petrini, Y. Sabharwal, Scalable single source shortest path algorithms for
    massively parallel systems, IPDPS 2014 (pulling along heavy edges).
[4] P. M. Spira, A new algorithm for finding all shortest paths in a graph of positive arcs in average time
    O(n² log² n), SIAM Journal on Computing 2(1), 1973 (edges of a vertex by weight, each when its turn comes).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numba.extending import register_jitable

from semiring import MONOIDS, Semiring, better, no_worse
from semiring.cpu.kernels import compiled, inlined, product_function

from .atomics import added, exchanged, let_others_run, loaded, prefetched, stored

Kernel = Callable[..., Any]

# What threads share is one array of integers, `counts`, a row (of two cache lines) for each thing: the chunks of the
# open phase that nobody has taken, the helpers at work, how things stand, and then the threads.
LEFT, BUSY, STATE, OWN = range(4)
COLUMNS = 16
DONE, PHASE, CHUNK, SIDE, FAR_SIDE, FULL, LAZY = range(7)
"""Columns of the state: is all done, the phase, its chunks' size, the lists that are read, was a list full, lazily?"""
HEAD, END, RELAXED, EDGES, ALONE = 0, 2, 6, 7, 8
"""Columns of a thread: where its two near lists begin; where its two near and two far lists end; the entries and edges
that it looked at; chunks that it shares with nobody."""

FROM_NEAR, FROM_FAR, PULL = range(3)
SPINS = 1000
"""Looks at what another thread writes before the core is offered to somebody else."""

FEW = 24
"""Entries that are not worth sharing."""

LAZILY = 16
"""Edges over the lazily relaxed ones, at which the rest is pulled."""

ONE: Any = np.uintp(1)
AHEAD, SOON = np.uintp(16), np.uintp(6)
"""Entries of a list from one to that whose distance, and whose edges, are fetched meanwhile."""


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


@compiled
def located(counts, taken):
    """(the row, the first and the last entry) of a chunk of the open phase, by its number from 1."""
    chunk, side, far_side = counts[STATE, CHUNK], counts[STATE, SIDE], counts[STATE, FAR_SIDE]
    low = (taken - 1) * chunk
    if counts[STATE, PHASE] == PULL:
        return 0, low, low + chunk
    for t in range(counts.shape[0] - OWN):
        if counts[STATE, PHASE] == FROM_NEAR:
            which, begin = side, counts[OWN + t, HEAD + side]
        else:
            which, begin = 2 + far_side, 0
        end = counts[OWN + t, END + which]
        if low < end - begin:
            return 4 * t + which, begin + low, min(begin + low + chunk, end)
        low -= (end - begin + chunk - 1) // chunk * chunk
    return 0, 0, 0


@compiled
def opened(counts, phase, total):
    """Open a phase over so many entries (vertices, to pull); a chunk for the leader, and where the others are left."""
    threads, side, far_side = counts.shape[0] - OWN, counts[STATE, SIDE], counts[STATE, FAR_SIDE]
    chunk, chunks = min(max(total // (4 * threads), 8), 4096 if phase == PULL else 256), 0
    for t in range(threads):
        count = counts[OWN + t, END + 2 + far_side]
        if phase == FROM_NEAR:
            count = counts[OWN + t, END + side] - counts[OWN + t, HEAD + side]
        chunks += (count + chunk - 1) // chunk
    if phase == PULL:
        chunks = (total + chunk - 1) // chunk
    counts[STATE, PHASE], counts[STATE, CHUNK] = phase, chunk
    slot = OWN * COLUMNS + ALONE if total <= FEW or threads == 1 else LEFT * COLUMNS
    stored(counts, slot, chunks)
    return added(counts, slot, -1), slot


@compiled
def closed(counts):
    """Wait for the helpers, and turn the lists over; False if one was full."""
    spins, phase, side, far_side = 0, counts[STATE, PHASE], counts[STATE, SIDE], counts[STATE, FAR_SIDE]
    while loaded(counts, BUSY * COLUMNS) != 0:
        spins += 1
        if spins > SPINS:
            let_others_run()
    for t in range(counts.shape[0] - OWN):
        counts[OWN + t, HEAD + side], counts[OWN + t, END + side] = 0, 0
        if phase != FROM_NEAR:
            counts[OWN + t, END + 2 + far_side] = 0
    counts[STATE, SIDE] = 1 - side
    if phase != FROM_NEAR:
        counts[STATE, FAR_SIDE] = 1 - far_side
    return counts[STATE, FULL] == 0


@compiled
def waiting(counts, first, last):
    """Entries in lists: in those that are read of near, or of far."""
    total = 0
    for t in range(counts.shape[0] - OWN):
        total += counts[OWN + t, last] - (counts[OWN + t, first] if first >= 0 else 0)
    return total


@compiled
def come(counts):
    """A chunk of the open phase, when there is one, for a helper that is then at work; 0 if all is done."""
    spins = 0
    while loaded(counts, STATE * COLUMNS + DONE) == 0:
        if loaded(counts, LEFT * COLUMNS) > 0:
            added(counts, BUSY * COLUMNS, 1)
            taken = added(counts, LEFT * COLUMNS, -1)
            if taken > 0:
                return taken
            added(counts, BUSY * COLUMNS, -1)
            spins = 0
        spins += 1
        if spins > SPINS:
            let_others_run()
    return 0


@lru_cache(maxsize=128)
def kernel(semiring: Semiring, dtype: np.dtype, stepped: bool, shared: bool) -> Kernel:
    """The loop for a semiring and a dtype; `shared` by several threads, or for one alone.

    stepped: is there a Δ that ⊗ puts a distance ahead by? If not, `top` is a quantile of the far distances.
    Lists are rows of two arrays, of the vertices and of their distances: two near and two far ones of each thread.
    """
    zero = semiring.zero(dtype)
    better_than, no_worse_than = orders(semiring)
    product = product_function(semiring, dtype, matrix_first=False)

    @compiled
    def made_room(vertices, distances, near_row, far_row, head, near, far, lazy, d, counts):
        """Move the entries of two lists that still count to their fronts; where they end. It is noted if all do."""
        room, ends = vertices.shape[1], (near, far)
        for row, first, last in ((near_row, head, near), (far_row, 0, far)):
            end = first
            for i in range(first, last):
                if (lazy and row == far_row) or d[vertices[row, i]] == distances[row, i]:
                    vertices[row, end], distances[row, end] = vertices[row, i], distances[row, i]
                    end += 1
            if end == room:
                counts[STATE, FULL] = 1
                end = first
            ends = (ends[1], end)
        return ends

    @compiled
    def quantile(distances, counts):
        """A distance that about an eighth of a sample of the far lists is better than."""
        sample, taken, threads, side = np.empty(64, distances.dtype), 0, counts.shape[0] - OWN, counts[STATE, FAR_SIDE]
        for t in range(min(threads, 64)):
            count = counts[OWN + t, END + 2 + side]
            share = min(max(64 // threads, 1), count)
            for k in range(share):
                x = distances[4 * t + 2 + side, k * count // share]
                i = taken
                while i > 0 and better_than(x, sample[i - 1]):
                    sample[i] = sample[i - 1]
                    i -= 1
                sample[i] = x
                taken += 1
        return sample[taken // 8]

    @compiled
    def decided(target, limit, delta, short, heaviest, d, distances, counts, marks):
        """(the next phase, its entries), with `top` for it; no entries if all is settled."""
        side, lazy, edges, threads = counts[STATE, SIDE], counts[STATE, LAZY], 0, counts.shape[0] - OWN
        total, best, top = waiting(counts, HEAD + side, END + side), zero, marks[0, 0]
        if total:
            return FROM_NEAR, total
        total = waiting(counts, -1, END + 2 + counts[STATE, FAR_SIDE])
        for t in range(threads):
            edges += counts[OWN + t, EDGES]
            best = marks[1 + t, 0] if better_than(marks[1 + t, 0], best) else best
            marks[1 + t, 0] = zero
        if target >= 0 and better_than(d[target], limit):
            limit = d[target]
        if no_worse_than(limit, top):
            return FROM_FAR, 0
        if lazy and (total == 0 or edges * LAZILY > counts[STATE, LAZY] or better_than(heaviest, best)):
            counts[STATE, LAZY] = 0
            return PULL, d.size
        if total == 0 or better_than(limit, best):
            return FROM_FAR, 0
        if lazy:
            marks[0, 2] = top
            top = product(short, best)
            top = heaviest if better_than(heaviest, top) else top
        else:
            top = product(delta, best) if stepped else quantile(distances, counts)
        top = best if better_than(top, best) else top
        marks[0, 0] = limit if better_than(limit, top) else top
        return FROM_FAR, total

    @compiled
    def loop(
        me, source, target, fuse, scalars, indptr, indices, values, light_indptr, light_indices, light_values,
        column_indptr, column_indices, column_values, d, vertices, distances, counts, marks,
    ):  # fmt: skip
        """Distances into d, which holds the zero everywhere; the number of buckets, or -1 if a list was full.

        me: 0 leads, and all others help.  target: -1 for none.  scalars: the unit, Δ, Δ for light edges, the heaviest
        of these, and the limit, the zero for none.  marks: `top`, the worst distance relaxed from, `top` before it, and
        in the rows of threads the best distance put into far and the worst relaxed from.
        """
        threads, room, mine, buckets, slot = counts.shape[0] - OWN, vertices.shape[1], OWN + me, 1, LEFT * COLUMNS
        if me == 0:
            d[source] = scalars[0]
            vertices[0, 0], distances[0, 0] = source, scalars[0]
            counts[OWN, END] = 1
            top = scalars[0]
            if stepped:
                top = product(scalars[2] if counts[STATE, LAZY] else scalars[1], top)
            marks[0, 0] = scalars[4] if better_than(scalars[4], top) else top
        while True:
            if me == 0:
                phase, total = decided(
                    target, scalars[4], scalars[1], scalars[2], scalars[3], d, distances, counts, marks
                )  # fmt: skip
                if total == 0:
                    break
                buckets += phase != FROM_NEAR
                taken, slot = opened(counts, phase, total)
            else:
                taken = come(counts)
                if taken == 0:
                    break
                phase = counts[STATE, PHASE]
            lazy, far_out = counts[STATE, LAZY] != 0, counts[STATE, FAR_SIDE] ^ (phase != FROM_NEAR)
            out = 1 - counts[STATE, SIDE]
            near_row, far_row = np.uintp(4 * me + out), np.uintp(4 * me + 2 + far_out)
            top, before, best, worst = marks[0, 0], marks[0, 2], marks[1 + me, 0], marks[1 + me, 1]
            head, near, far = counts[mine, HEAD + out], counts[mine, END + out], counts[mine, END + 2 + far_out]
            relaxed, edges = 0, 0
            starts, ends, weights = indptr, indices, values
            if lazy:
                starts, ends, weights = light_indptr, light_indices, light_values
            while True:
                if taken > 0:
                    place, low, high = located(counts, taken)
                elif head < near and near - head <= fuse and near < room >> 1:
                    place, low, high, head, phase = 4 * me + out, head, near, near, FROM_NEAR
                else:
                    break
                if phase == PULL:
                    for place in range(low, min(high, d.size)):
                        x = d[place]
                        if no_worse_than(x, top):
                            continue
                        for entry in range(np.uintp(column_indptr[place]), np.uintp(column_indptr[place + 1])):
                            t = product(column_values[entry], d[np.uintp(column_indices[entry])])
                            x = t if better_than(t, x) else x
                        d[place] = x
                        if x != zero and indptr[place] < indptr[place + 1]:
                            vertices[far_row, far], distances[far_row, far] = place, x
                            best = x if better_than(x, best) else best
                            far += 1
                            if far == room:
                                near, far = made_room(
                                    vertices, distances, near_row, far_row, head, near, far, lazy, d, counts
                                )  # fmt: skip
                    low = high
                row, stop = np.uintp(place), np.uintp(high)
                for i in range(np.uintp(low), stop):
                    key = distances[row, i]
                    if phase == FROM_FAR and not no_worse_than(key, top):
                        vertices[far_row, far], distances[far_row, far] = vertices[row, i], key
                        best = key if better_than(key, best) else best
                        far += 1
                        if far == room:
                            near, far = made_room(
                                vertices, distances, near_row, far_row, head, near, far, lazy, d, counts
                            )  # fmt: skip
                        continue
                    if i + AHEAD < stop:
                        v = np.uintp(vertices[row, i + AHEAD])
                        prefetched(d, v)
                        prefetched(starts, v)
                        e = np.uintp(starts[np.uintp(vertices[row, i + SOON])])
                        prefetched(ends, e)
                        prefetched(weights, e)
                    v = np.uintp(vertices[row, i])
                    x, e, last = d[v], np.uintp(starts[v]), np.uintp(starts[v + ONE])
                    if lazy and phase == FROM_FAR:
                        beyond = last
                        while e < beyond:  # the first edge that leads beyond the top before
                            middle = (e + beyond) >> ONE
                            if no_worse_than(product(weights[middle], x), before):
                                e = middle + ONE
                            else:
                                beyond = middle
                        if e == last or product(weights[e], x) != key:
                            continue
                    elif x != key:
                        continue
                    else:
                        relaxed += 1
                        worst = x if better_than(worst, x) else worst
                    edges += last - e  # type: ignore[assignment]
                    for edge in range(e, last):
                        j, t = np.uintp(ends[edge]), product(weights[edge], x)
                        nearby = no_worse_than(t, top)
                        if lazy and not nearby:
                            edges -= last - edge  # type: ignore[assignment]
                            if t == zero:
                                break
                            j = v
                        else:
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
                        if nearby:
                            at = np.uintp(near)
                            vertices[near_row, at], distances[near_row, at] = j, t
                            near += 1
                        else:
                            at = np.uintp(far)
                            vertices[far_row, at], distances[far_row, at] = j, t
                            best = t if better_than(t, best) else best
                            far += 1
                        if near == room or far == room:
                            near, far = made_room(
                                vertices, distances, near_row, far_row, head, near, far, lazy, d, counts
                            )  # fmt: skip
                        if lazy and not nearby:
                            break
                if head == near:
                    head, near = 0, 0
                if taken > 0:
                    taken = added(counts, slot, -1) if shared else taken - 1
            counts[mine, HEAD + out], counts[mine, END + out], counts[mine, END + 2 + far_out] = head, near, far
            counts[mine, RELAXED] += relaxed
            counts[mine, EDGES] += edges
            marks[1 + me, 0], marks[1 + me, 1] = best, worst
            if me:
                added(counts, BUSY * COLUMNS, -1)
            elif not closed(counts):
                buckets = -1
                break
        if me == 0:
            for t in range(threads):
                worst = marks[1 + t, 1]
                marks[0, 1] = worst if better_than(marks[0, 1], worst) else marks[0, 1]
            stored(counts, STATE * COLUMNS + DONE, 1)
        return buckets

    return loop
