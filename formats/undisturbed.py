"""Work that no signal may cut in two: the import of what registers itself as it comes, and compiling.

Python calls the handlers of signals in the main thread, between two of its instructions. One that raises, as Ctrl-C's
does, leaves Numba half imported, or LLVM with half a kernel, for good. So another thread does such work while the main
thread waits. A signal ends the wait at once; the work goes on, and what comes of it is there for the next call.

A fork waits until nobody is at such work: its child would have the state of it, but not the thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from importlib import import_module
from threading import RLock, Thread, current_thread, main_thread
from typing import Any, TypeVar

from . import system

R = TypeVar("R")

LISTENING_SECONDS = 0.2
"""How long the main thread waits before it looks for a signal that another thread has received."""

_lock = RLock()

system.around_a_fork(_lock.acquire, _lock.release)


def undisturbed(work: Callable[[], R]) -> R:
    """The result of `work()`, which one thread at a time does, and never the main thread."""

    def one_at_a_time() -> R:
        with _lock:
            return work()

    return one_at_a_time() if current_thread() is not main_thread() else outcome(begun(one_at_a_time))


def begun(call: Callable[[], R]) -> Future[R]:
    """A call by another thread, which the end of the program waits for: a thread must not die within LLVM."""
    future, context = Future[R](), copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=work, name="semiring", daemon=False).start()
    return future


def outcome(future: Future[R]) -> R:
    """The result, when it is there; a signal ends the wait."""
    while not future.done():
        wait([future], LISTENING_SECONDS)
    return future.result()


def imported(name: str) -> Any:
    """A module, imported undisturbed."""
    module = sys.modules.get(name)
    if module is None or getattr(module.__spec__, "_initializing", False):
        return undisturbed(lambda: import_module(name))
    return module
