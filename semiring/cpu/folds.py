"""⊕ over runs of an array, compiled for one monoid and dtype, and which value of a run gave it.

The few integers of a short run are added as vectors: a loop over them would end where no processor expects it.

Floating sums are added in NumPy's order, so that they are the same with and without a compiled loop: the first value,
plus the sum of the others, which from eight on go to eight totals in turns.

Where ⊕ selects, only the place of the best value is kept, and the column there is read once a run. In a long run each
lane of a vector keeps its own best value, and the block of the run in which it was; the first of equal lanes is taken.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..algebra.semirings import MONOIDS, Monoid
from ..verbs.arguments import NONE
from .kernels import Kernel, check_operator, compiled, inlined
from .lanes import WIDTH, across, copied, filled, on_stack, total

PAIRWISE = 129
"""Maximum values in a run that NumPy adds without blocks."""

MAX_VECTOR_RUN = 4 * WIDTH
"""Maximum values in a run that is added in whole vectors."""

MIN_LANES_RUN = 4 * WIDTH
"""Minimum values in a run for lanes to look for the best one."""


@lru_cache(maxsize=64)
def folding(monoid: Monoid, dtype: np.dtype) -> Kernel:
    """Makes a loop (values, ends, y, start, stop): y_r = ⊕ of values[ends[r]:ends[r + 1]] for r in [start, stop).

    A run may be empty: its y_r is the identity.
    """
    if monoid.name != "plus":
        fold = _in_order(monoid, dtype)
    else:
        fold = _floating_sum(dtype.type) if dtype.kind == "f" else _integer_sum(dtype)

    def work(values, ends, y, start, stop):
        for r in range(start, stop):
            y[r] = fold(values, np.uintp(ends[r]), np.uintp(ends[r + 1]))

    return compiled(work)


def _in_order(monoid: Monoid, dtype: np.dtype) -> Any:
    add, nothing = inlined(monoid.op.scalar), monoid.zero(dtype)

    @inlined
    def fold(values, e, end):
        if e == end:
            return nothing
        total = values[e]
        e += np.uintp(1)
        while e < end:
            total = add(total, values[e])
            e += np.uintp(1)
        return total

    return fold


def _integer_sum(dtype: np.dtype) -> Any:
    """In int64, which holds the sum; clamped to the dtype."""
    low, high = np.int64(np.iinfo(dtype).min), np.int64(np.iinfo(dtype).max)

    @inlined
    def fold(values, e, end):
        found, room = np.int64(0), np.uintp(values.size) - e
        if end - e <= np.uintp(WIDTH) <= room:  # without a look whether the run is empty
            return min(max(total(values, e, end - e), low), high)
        while np.uintp(WIDTH) <= end - e <= np.uintp(MAX_VECTOR_RUN):
            found += total(values, e, WIDTH)
            e += np.uintp(WIDTH)
        while e < end:  # long runs: LLVM makes a loop of vectors of it, and one for the rest
            found += np.int64(values[e])
            e += np.uintp(1)
        return min(max(found, low), high)

    return fold


def _floating_sum(number: type) -> Any:
    nothing = number(-0.0)

    @inlined
    def fold(values, e, end):
        if e == end:
            return number(0)
        first, total = values[e], nothing
        e += np.uintp(1)
        if end - e >= np.uintp(8):
            a, b, c, d = values[e], values[e + np.uintp(1)], values[e + np.uintp(2)], values[e + np.uintp(3)]
            e += np.uintp(4)
            f, g, h, i = values[e], values[e + np.uintp(1)], values[e + np.uintp(2)], values[e + np.uintp(3)]
            e += np.uintp(4)
            while end - e >= np.uintp(8):
                a += values[e]
                b += values[e + np.uintp(1)]
                c += values[e + np.uintp(2)]
                d += values[e + np.uintp(3)]
                e += np.uintp(4)
                f += values[e]
                g += values[e + np.uintp(1)]
                h += values[e + np.uintp(2)]
                i += values[e + np.uintp(3)]
                e += np.uintp(4)
            total = ((a + b) + (c + d)) + ((f + g) + (h + i))
        while e < end:
            total += values[e]
            e += np.uintp(1)
        return first + total

    return fold


@lru_cache(maxsize=64)
def finding(monoid: Monoid, dtype: np.dtype, everywhere: bool) -> Kernel:
    """Makes a loop (values, fill, columns, ends, y, k, start, stop): y_r as `folding`'s, k_r its first column, or NONE.

    everywhere: values are all positions of a matrix, of which NaN and `fill` are absent, and columns are counted.
    """
    take, add, zero, terminal = _taking(monoid, dtype, everywhere), *_selecting(monoid, dtype)
    with_lanes = not terminal and MONOIDS.get(monoid.name) == monoid
    room, clear, moved = on_stack(WIDTH), filled(WIDTH), copied(WIDTH)
    step = across(lambda y, x, fill: add(y, take(x, fill)), 2, WIDTH, vectors=with_lanes)
    noted = across(_number_if_new, 3, WIDTH, vectors=with_lanes)

    def work(values, fill, columns, ends, y, k, start, stop):
        totals, before, blocks = room(y), room(y), room(k)
        for r in range(start, stop):
            first, end = np.uintp(ends[r]), np.uintp(ends[r + 1])
            best, place, e = zero, end, first
            if with_lanes and end - first >= np.uintp(MIN_LANES_RUN):
                clear(totals, zero)
                clear(blocks, NONE)
                block = 0
                while end - e >= np.uintp(WIDTH):
                    moved(before, 0, totals, 0)
                    step(totals, 0, values, e, fill)
                    noted(blocks, 0, totals, 0, before, 0, block)
                    e += np.uintp(WIDTH)
                    block += 1
                for lane in range(WIDTH):
                    if blocks[lane] != NONE:
                        at, t = first + np.uintp(np.int64(blocks[lane]) * WIDTH + lane), add(best, totals[lane])
                        if t != best or (totals[lane] == best and at < place):
                            place = at
                        best = t
            while e < end:
                t = add(best, take(values[e], fill))
                place = e if t != best else place
                best = t
                e += np.uintp(1)
                if terminal and best != zero:
                    break
            y[r] = best
            k[r] = NONE if place == end else place - first if everywhere else columns[place]

    return compiled(work)


@lru_cache(maxsize=64)
def finding_across(monoid: Monoid, dtype: np.dtype) -> Kernel:
    """Makes a loop (values, fill, y, k, start, stop) that does so down the columns [start, stop) of a full matrix."""
    take, add, zero, terminal = _taking(monoid, dtype, True), *_selecting(monoid, dtype)
    lanes = WIDTH if not terminal and MONOIDS.get(monoid.name) == monoid else 1
    room, moved = on_stack(lanes), copied(lanes)
    step = across(lambda y, x, fill: add(y, take(x, fill)), 2, lanes, vectors=lanes > 1)
    noted = across(_number_if_new, 3, lanes, vectors=lanes > 1)

    def work(values, fill, y, k, start, stop):
        before, (rows, columns), flat = room(y), values.shape, values.reshape(values.size)
        whole = start + (stop - start) // lanes * lanes
        for j in range(start, stop):
            y[j] = zero
            k[j] = NONE
        for i in range(rows):
            for j in range(start, whole, lanes):
                moved(before, 0, y, j)
                step(y, j, flat, i * columns + j, fill)
                noted(k, j, y, j, before, 0, i)
            for j in range(whole, stop):
                t = add(y[j], take(values[i, j], fill))
                k[j] = i if t != y[j] else k[j]
                y[j] = t

    return compiled(work)


@inlined
def _number_if_new(k, y, before, number):
    return number if y != before else k


def _selecting(monoid: Monoid, dtype: np.dtype) -> tuple[Any, Any, bool]:
    """Returns ⊕, its identity, and true if a fold may end at its first value."""
    op, number = monoid.on(dtype), dtype.type
    check_operator(op, dtype)
    scalar = inlined(op.scalar)
    return inlined(lambda a, b: number(scalar(a, b))), monoid.zero(dtype), monoid.terminal


def _taking(monoid: Monoid, dtype: np.dtype, everywhere: bool) -> Any:
    """Makes a function (a stored value, fill) that gives the value in `dtype`, and the identity where nothing is."""
    number, zero = dtype.type, monoid.zero(dtype)
    if everywhere:
        return inlined(lambda value, fill: number(value) if (value != fill) & (value == value) else zero)
    return inlined(lambda value, fill: value)
