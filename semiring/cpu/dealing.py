"""Loops that threads share: each takes a few numbers at a time from one counter, until none are left."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from .atomics import added
from .compiler.references import interrupted, made_for
from .crew import MEMBERS, TAKEN, crew, shared
from .kernels import compiled, inlined
from .threads import get_threads

MIN_NNZ_FOR_THREADS = 1 << 20
"""Minimum of entries of a matrix for several threads to be faster than one."""

MIN_WORK_FOR_THREADS = 1 << 19
"""Minimum of entries times sources for threads to take a source each."""


_ALONE = np.zeros(MEMBERS + 1, np.int64)
_ALONE[MEMBERS] = 1
"""The gate at which nobody waits."""


def dealt(loop: Callable[..., Any]) -> Any:
    """Make f(gate, count, grain, parts) of a loop(first, stop, *parts), which all who come to the gate share.

    The loop may ask for the number of its `thread`, before these.
    """
    body = made_for(loop.__module__.rpartition(".")[2].replace("_", " "))(inlined(loop))
    numbered = loop.__code__.co_varnames[0] == "thread"

    @shared
    def share(thread, gate, count, grain, parts):
        """Call the loop for `grain` numbers at a time that nobody has taken."""
        while True:
            first = added(gate, TAKEN, grain)
            if first >= count or interrupted():
                return
            if numbered:
                body(thread, first, min(first + grain, count), *parts)
            else:
                body(first, min(first + grain, count), *parts)

    @compiled
    def deal_out(gate, count, grain, parts):
        """Call the loop for all numbers below `count`, by all threads of a crew."""
        gate[TAKEN] = 0
        share(gate, (gate, count, grain, parts))

    return deal_out


def deal(loop: Any, count: int, grain: int, threads: int, *parts: Any) -> None:
    """Call a loop of `dealt` with `parts` for all numbers below `count`, by so many threads."""
    with crew(threads) as gate:
        loop(gate, count, grain, parts)


def crew_for(entries: int) -> AbstractContextManager[np.ndarray]:
    """Open the gate of a crew, of the caller alone if the entries are few."""
    return crew(get_threads()) if entries >= MIN_NNZ_FOR_THREADS else nullcontext(_ALONE.copy())


def threads_for(entries: int) -> int:
    """The number of threads that so many entries are worth."""
    return get_threads() if entries >= MIN_NNZ_FOR_THREADS else 1
