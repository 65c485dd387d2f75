"""Compiled loops that Ctrl-C ends the wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import TypeVar

from formats.performance import Deferred, defer_warnings, warn_slow

R = TypeVar("R")

LONG = 1 << 18
"""Entries from which on handing a compiled loop to another thread costs little beside the loop."""

LISTENING_SECONDS = 0.2
"""How long the main thread waits before it looks for a signal that another thread has received."""


def interruptible(call: Callable[[], R], may_be_long: bool = True) -> R:
    """The result of `call()`. If it may be long, Ctrl-C ends the wait for it at once.

    Python hears a signal only between two instructions of the main thread, and never within a compiled loop. So another
    thread calls, and the main thread waits. After an interruption the loop goes on to its end, and nobody takes its
    result.
    """
    if not may_be_long or threading.current_thread() is not threading.main_thread():
        return call()
    context, future, deferred = copy_context(), Future[R](), Deferred()
    context.run(defer_warnings, deferred)

    def work() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, name="semiring loop", daemon=True).start()
    while not future.done():
        wait([future], LISTENING_SECONDS)
    for message, entries, inside in deferred:
        warn_slow(message, entries, inside=inside)
    return future.result()
