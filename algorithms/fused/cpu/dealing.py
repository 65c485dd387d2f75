"""Loops that threads share: each takes a few numbers at a time from one counter, until none are left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.cpu.compiler.references import interrupted, made_for
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import get_threads, run

from .atomics import added

MIN_NNZ_FOR_THREADS = 1 << 20
"""Minimum of entries of a matrix for several threads to be faster than one."""

MIN_WORK_FOR_THREADS = 1 << 19
"""Minimum of entries times sources for threads to take a source each."""


def dealt(loop: Callable[..., Any]) -> Any:
    """Decorate a loop(first, stop, *parts) for `deal`."""
    body = made_for(loop.__module__.rpartition(".")[2].replace("_", " "))(inlined(loop))

    @compiled
    def share(taken, stop, grain, parts):
        """Call the loop for `grain` numbers at a time from taken[0] on, which other threads raise, too."""
        while True:
            first = added(taken, 0, grain)
            if first >= stop or interrupted():
                return
            body(first, min(first + grain, stop), *parts)

    return share


def deal(loop: Any, count: int, grain: int, threads: int, *parts: Any, own: np.ndarray | None = None) -> None:
    """Call a loop of `dealt` with `parts` for all numbers below `count`, by so many threads.

    own: an array with a row for each thread, which it takes before the other parts.
    """
    taken = np.zeros(1, np.int64)

    def take(k: int, _: int) -> None:
        loop(taken, count, grain, parts if own is None else (own[k], *parts))

    run(take, [(k, k) for k in range(threads)])


def threads_for(entries: int) -> int:
    """The number of threads that so many entries are worth."""
    return get_threads() if entries >= MIN_NNZ_FOR_THREADS else 1
