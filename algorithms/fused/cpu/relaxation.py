"""Near-far relaxation: phases that are a loop each, and the loop that calls them.

    near: vertices improved to a distance no worse than `top`          far: those improved to a worse one
    settle:  until near is empty, relax from its vertices in turn
    sift:    near = far⟨no worse than top⟩, for top = (the best distance in far) ⊗ Δ; what is out of date is dropped

An entry of a list is a vertex with its distance of then; who finds it improved since drops the entry. So nothing has to
be marked, far is read once for each `top`, and each list holds at most n entries that count. Whatever order vertices
are relaxed in, they stop at the same distances: the best over all walks from the source.

Where near becomes long, a crew of threads goes on (`shared_relaxation`).

[1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, Work-efficient parallel GPU methods for single-source shortest
    paths, IPDPS 2014 (near and far).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from semiring import MONOIDS, Semiring, better, no_worse
from semiring.cpu.atomics import exchanged, prefetched
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled, inlined, plain_product, product_function

Kernel = Callable[..., Any]
Policy = Callable[[Semiring, np.dtype], tuple[Any, Any]]
"""Type of a function that makes the ways in which distances are improved, as `plain`."""

ONE: Any = np.uintp(1)
ENTRIES_AHEAD = 8
"""Entries of near between one and that whose distance and edges are prefetched."""

HALVINGS = 6
"""Number of times that Δ is halved at first for a target; it doubles with each bucket.

To a vertex among the nearest 0.1 % of R-MAT 18 a search takes 1.5 ms instead of 8."""

CROWD = 16
"""Part of the vertices that is a crowd.

If one in 16 waits in far, a search for a target takes the nearest eighth, if that is less than Δ: on a uniform graph
nearly all vertices lie within one Δ. To a vertex among the nearest 3 % of
200,000 vertices with 8 edges each a search takes 2.7 ms instead of 27 (one core of an EPYC, 2026-11-28)."""

ENDLESS = -2
"""End of far if more has been relaxed than the laws of ⊕ and ⊗ allow."""

INT32 = np.dtype(np.int32)


def orders(semiring: Semiring) -> tuple[Any, Any]:
    """Make the tests whether a is strictly better than b, and no worse than b, for compiled code."""
    if semiring.add in (MONOIDS["min"], MONOIDS["max"]):
        return inlined(better(semiring).scalar), inlined(no_worse(semiring).scalar)
    add = inlined(semiring.add.op.scalar)

    def strictly(a, b):
        return (add(a, b) == a) & (a != b)

    def weakly(a, b):
        return add(a, b) == a

    return strictly, weakly


def length(semiring: Semiring, dtype: np.dtype) -> Callable[[Any, Any], Any]:
    """Make the product of a weight and a distance: no better than zero if the weight is absent or it leaves the range.

    The distance is not the zero, and no path gains by length: then plain sums are right, of int32 in 64 bits.
    """
    if semiring.adds_weights and dtype.kind == "f":
        return plain_product(semiring, dtype, matrix_first=False)
    if semiring.adds_weights and dtype == INT32:
        return inlined(lambda weight, x: np.int64(weight) + np.int64(x))
    return product_function(semiring, dtype, matrix_first=False)


def passed_over(semiring: Semiring, dtype: np.dtype) -> Callable[[Any, Any, Any], Any]:
    """Make the test of (distance, D_s, useful) whether a vertex's edges make no path shorter, see `essential`."""
    if not semiring.adds_weights or dtype.kind == "b":
        return inlined(lambda y, to_hub, useful: False)
    return inlined(lambda y, to_hub, useful: y - to_hub > useful)


@compiled
def most_relaxed(n):
    """Maximum of relaxations that the laws allow: n buckets of n rounds of n vertices, as far as 64 bits count them."""
    bound = min(n + 8, 1 << 20)
    return bound * bound * bound


@compiled
def kept(vertices, distances, first, last, d):
    """Move the entries from `first` to `last` that still count to the front; returns where they end."""
    end = 0
    for i in range(first, last):
        if d[vertices[i]] == distances[i]:
            vertices[end], distances[end] = vertices[i], distances[i]
            end += 1
    return end


@inlined
def fetch_ahead(vertices, at, size, d, rows):
    """Prefetch what will be read of the entries of near a few places on."""
    if at + ENTRIES_AHEAD < size:
        ahead, e = (
            np.uintp(vertices[np.uintp(at + ENTRIES_AHEAD)]),
            np.uintp(rows[0][np.uintp(vertices[np.uintp(at + ENTRIES_AHEAD // 2)])]),
        )
        prefetched(d, ahead)
        prefetched(rows[0], ahead)
        prefetched(rows[1], e)
        prefetched(rows[2], e)


def plain(semiring: Semiring, dtype: np.dtype) -> tuple[Any, Any]:
    """Make two functions by which a search on one thread improves distances: `elsewhere` and `improve`.

    elsewhere: True if (j, t, d, rows, counts) has been seen to, as j is no vertex of this search.  improve: sets d_j to
    y, which is better; False if that is no longer so.
    """

    def improve(d, j, y):
        d[j] = y
        return True

    return inlined(lambda j, t, d, rows, counts: False), improve


def atomic(semiring: Semiring, dtype: np.dtype) -> tuple[Any, Any]:
    """Make the functions by which threads that share distances improve them, as `plain` has it."""
    better_than, _ = orders(semiring)
    elsewhere, _ = plain(semiring, dtype)

    def improve(d, j, y):
        now = d[j]
        while better_than(y, now) and not exchanged(d, j, now, y):
            now = d[j]
        return better_than(y, now)

    return elsewhere, improve


@lru_cache(maxsize=64)
def relaxing(semiring: Semiring, dtype: np.dtype, policy: Policy) -> Kernel:
    """Make the function that relaxes along the edges of a vertex, for a semiring and a dtype."""
    convert, (better_than, no_worse_than) = dtype.type, orders(semiring)
    lengthened, is_passed_over = length(semiring, dtype), passed_over(semiring, dtype)
    elsewhere, improve = policy(semiring, dtype)

    @inlined
    def relax(edges, x, top, rows, d, lists, ends, counts):
        """Relax along edges (the first, how many) into near and far; returns their ends, and the best put into far."""
        ((near_v, near_d), (far_v, far_d)), (size, last, best), (e, degree) = lists, ends, edges
        indices, values, useful, to_hub = rows[1], rows[2], rows[3], rows[4]
        counts[1] += 1
        counts[2] += degree
        for k in range(degree):
            edge = e + np.uintp(k)
            j, t = np.uintp(indices[edge]), lengthened(values[edge], x)
            if elsewhere(j, t, d, rows, counts):
                continue
            if better_than(t, d[j]):
                y = convert(t)
                if not improve(d, j, y) or (useful.size and is_passed_over(y, to_hub, useful[j])):
                    continue
                if no_worse_than(t, top):
                    near_v[np.uintp(size)], near_d[np.uintp(size)] = j, y
                    size += 1
                else:
                    far_v[np.uintp(last)], far_d[np.uintp(last)] = j, y
                    last += 1
                    best = y if better_than(y, best) else best
        return size, last, best

    return relax


@lru_cache(maxsize=64)
def settling(semiring: Semiring, dtype: np.dtype, policy: Policy) -> Kernel:
    """Make the phase that empties near, for a semiring and a dtype."""
    zero, relax = semiring.zero(dtype), relaxing(semiring, dtype, policy)

    @compiled
    def settle(top, rows, d, near, far, size, many, counts):
        """Relax from the first `size` near entries and all that come; returns how many are left, and the best of far.

        Nothing is left, unless near has become longer than `many`.  counts: where far ends, entries relaxed from, edges
        looked at. Far ends at `ENDLESS` if a law must be broken.
        """
        (near_v, near_d), (far_v, far_d), indptr = near, far, rows[0]
        head, last, room, best = 0, counts[0], near_v.size, zero
        while 0 < size - head <= many:
            fetch_ahead(near_v, head, size, d, rows)
            if head & 1023 == 0 and interrupted():
                break
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
            size, last, best = relax((e, degree), x, top, rows, d, (near, far), (size, last, best), counts)
        counts[0] = last
        return kept(near_v, near_d, head, size, d), best

    return settle


@lru_cache(maxsize=64)
def sifting(semiring: Semiring, dtype: np.dtype) -> Kernel:
    """Make the phase that fills near from far, for a semiring and a dtype."""
    zero = semiring.zero(dtype)
    better_than, no_worse_than = orders(semiring)

    @compiled
    def sift(top, d, near, far, counts):
        """Fill near from far; returns how many entries have come near, and the best distance left in far."""
        (near_v, near_d), (far_v, far_d) = near, far
        size, last, best = 0, 0, zero
        for i in range(np.uintp(counts[0])):
            v, x = far_v[i], far_d[i]
            if d[np.uintp(v)] != x:
                continue
            if no_worse_than(x, top):
                near_v[size], near_d[size] = v, x
                size += 1
            else:
                far_v[last], far_d[last] = v, x
                last += 1
                best = x if better_than(x, best) else best
        counts[0] = last
        return size, best

    return sift


@lru_cache(maxsize=64)
def quantiles(semiring: Semiring) -> Kernel:
    """Make the function that chooses a threshold where no Δ is given, for a semiring."""
    better_than, _ = orders(semiring)

    @compiled
    def quantile(distances, count, parts, sample):
        """Return a distance that about one of so many parts of a sample of the first `count` is better than.

        sample: room for it, of at most 64: an array made here would be Numba's, which loading the kernel would import.
        """
        size = min(64, count, sample.size)
        for k in range(size):
            x, i = distances[k * count // size], k
            while i > 0 and better_than(x, sample[i - 1]):
                sample[i] = sample[i - 1]
                i -= 1
            sample[i] = x
        return sample[size // parts]

    return quantile


@lru_cache(maxsize=64)
def advancing(semiring: Semiring, dtype: np.dtype, stepped: bool) -> Kernel:
    """Make the function that chooses the next top, for a semiring and a dtype; stepped as in `search`."""
    convert, (better_than, _) = dtype.type, orders(semiring)
    product, quantile = product_function(semiring, dtype, matrix_first=False), quantiles(semiring)

    @inlined
    def ahead(target, limit, delta, best, buckets, listed, sample, n):
        """Return the top after so many buckets.  listed: some far distances, how many these are, and how many are far.

        best: the best far distance.  target, limit: as in `search`.  sample: room for one.  n: number of vertices.
        """
        distances, count, far = listed
        halvings = HALVINGS - buckets if target >= 0 else 0
        width = convert(delta / (1 << halvings)) if halvings > 0 else delta
        top = product(width, best) if stepped else quantile(distances, count, 8 if target < 0 else 64, sample)
        if stepped and target >= 0 and far * CROWD > n:
            near_by = quantile(distances, count, 8, sample)
            top = near_by if better_than(near_by, top) else top
        top = best if better_than(top, best) else top
        return limit if better_than(limit, top) else top

    return ahead


@lru_cache(maxsize=64)
def search(semiring: Semiring, dtype: np.dtype, stepped: bool, policy: Policy = plain) -> Kernel:
    """Make the loop for a semiring and a dtype.

    stepped: True if there is a Δ that ⊗ puts a distance ahead by. If not, `top` is a quantile of the far distances.
    policy: as `plain`.
    """
    convert, (better_than, no_worse_than) = dtype.type, orders(semiring)
    settle, sift, ahead = (
        settling(semiring, dtype, policy),
        sifting(semiring, dtype),
        advancing(semiring, dtype, stepped),
    )

    @compiled
    def loop(state, target, limit, delta, top, best, size, many):
        """Settle all from the first `size` near entries on; returns how many are left, the limit, top and best.

        Entries are left where threads had better share them, as they are more than `many`; then go on with what was
        returned.  state: (rows, d, near, far, counts).  target: -1 for none.  limit: the zero for none.  best: the best
        distance in far.  counts: as in `settle`, and then the number of buckets.
        """
        rows, d, near, far, counts = state
        halvings = HALVINGS - counts[3] if target >= 0 else 0
        if stepped and halvings == HALVINGS:
            width = convert(delta / (1 << halvings))
            top = width if better_than(width, top) else top
        while True:
            if size:
                size, left = settle(top, rows, d, near, far, size, many, counts)
                best = left if better_than(left, best) else best
                if size:
                    return size, limit, top, best
            if interrupted():
                return 0, limit, top, best
            counts[3] += 1
            if counts[0] == ENDLESS or max(counts[1], counts[3]) > most_relaxed(d.size):
                counts[0] = ENDLESS
                return 0, limit, top, best
            if target >= 0 and better_than(d[target], limit):
                limit = d[target]
            if counts[0] == 0 or no_worse_than(limit, top) or better_than(limit, best):
                return 0, limit, top, best
            listed = far[1], counts[0], counts[0]
            top = ahead(target, limit, delta, best, counts[3], listed, near[1], d.size)
            size, best = sift(top, d, near, far, counts)

    return loop
