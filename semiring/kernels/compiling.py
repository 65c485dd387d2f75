"""The seconds that kernels are compiled for, and the line that says so if they are many."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from formats import system
from formats.display import is_watched

SAID_AFTER = 0.5
"""Seconds of compiling after which a line appears on a terminal or in a notebook."""


class _Clock:
    """Seconds that kernels were compiled for in this process, in all and by label."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.depth = 0
        self.total = 0.0
        self.by_label: dict[str, float] = {}


_clock = _Clock()

system.in_a_forked_child(_clock.__init__)  # type: ignore[misc]  # a thread that a child has not may hold the lock


def seconds_of_compiling() -> float:
    """Seconds that this process has compiled kernels for."""
    return _clock.total


@contextmanager
def compiling(label: str) -> Iterator[None]:
    """Count the seconds of the block. Once those of the label exceed SAID_AFTER, say what is being compiled."""
    with _clock.lock:  # one at a time, as Numba does in any case
        before = _clock.by_label.get(label, 0.0)
        timer = threading.Timer(max(SAID_AFTER - before, 0.0), _say, (label,))
        timer.daemon = True
        if before < SAID_AFTER and is_watched():
            timer.start()
        _clock.depth += 1
        start = time.perf_counter()
        try:
            yield
        finally:
            timer.cancel()
            _clock.depth -= 1
            seconds = time.perf_counter() - start
            _clock.by_label[label] = before + seconds
            if _clock.depth == 0:
                _clock.total += seconds


def _say(label: str) -> None:
    print(f"compiling kernels for {label} (once)", file=sys.stderr, flush=True)
