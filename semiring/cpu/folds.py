"""⊕ over runs of an array, compiled for one monoid and dtype.

The few integers of a short run are added as vectors: a loop over them would end where no processor expects it.

Floating sums are added in NumPy's order, so that they are the same with and without a compiled loop: the first value,
plus the sum of the others, which from eight on go to eight totals in turns.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..algebra.semirings import Monoid
from .kernels import Kernel, compiled, inlined
from .lanes import WIDTH, total

PAIRWISE = 129
"""Values in a run up to which NumPy's order has no blocks."""

SHORT = 4 * WIDTH
"""Values in a run up to which it is added in whole vectors."""


@lru_cache(maxsize=64)
def folding(monoid: Monoid, dtype: np.dtype) -> Kernel:
    """(values, ends, y, start, stop): y_r = ⊕ of values[ends[r]] .. values[ends[r + 1] - 1] for r in [start, stop).

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
        while np.uintp(WIDTH) <= end - e <= np.uintp(SHORT):
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
