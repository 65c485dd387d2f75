"""Long calls that Ctrl-C ends at once, and loops that look whether their call was ended.

Python hears a signal only between two instructions of the main thread, and never within a compiled loop. So another
thread makes a long call, and the main thread waits. What it waits for is a `Call`. Each thread that works for it knows
it, and looks after every kernel. A kernel that takes long looks itself, at a word of memory that is 0 unless some call
was interrupted (`compiler.references`). Then it returns at once, and its result is not used.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable
from contextvars import copy_context
from typing import Any, TypeVar

from formats import system
from formats.performance import Deferred, defer_warnings, warn_slow
from formats.undisturbed import begun, outcome

R = TypeVar("R")

MIN_INTERRUPTIBLE_NNZ = 1 << 18
"""Minimum entries for which handing a compiled loop to another thread costs little beside the loop."""


class Interrupted(BaseException):
    """The exception that ends the work for a call which its caller has left."""


class Call:
    """A user's call, whom several threads may work for."""


here = threading.local()
"""A thread's own data.  call: the `Call` that it works for, if known.  work: true in threads of the pool.

led: while it helps a leader, the leader's call, in a list.
"""

interrupted: set[Call] = set()
"""Calls whose work has not ended yet."""

WORD = ctypes.c_int64(0)
"""How many these are, for compiled loops."""

_counting = threading.Lock()


def stop(call: Call, work: Iterable[Any]) -> None:
    """Have the work for a call end soon.  work: futures, or tasks of the pool."""
    left = set(work)

    def count(done: Any = None) -> None:
        with _counting:
            left.discard(done)
            (interrupted.add if left else interrupted.discard)(call)
            WORD.value = len(interrupted)

    count()
    for each in list(left):
        each.add_done_callback(count)


def look() -> None:
    """End the thread's work if its call was interrupted."""
    if asked():
        raise Interrupted


@ctypes.CFUNCTYPE(ctypes.c_int)
def asked() -> int:
    """True if the thread's compiled loop must end; loops ask where WORD is not 0, without the interpreter's lock."""
    led = getattr(here, "led", None)
    return (led[0] if led else getattr(here, "call", None)) in interrupted


def interruptible(call: Callable[[], R], may_be_long: bool = True) -> R:
    """The result of `call()`. If it may be long, Ctrl-C ends the wait for it at once, and the work soon."""
    if not may_be_long or threading.current_thread() is not threading.main_thread():
        return call()
    whole, deferred = Call(), Deferred()

    def work() -> R:
        here.call = whole
        return call()

    context = copy_context()
    context.run(defer_warnings, deferred)
    future = context.run(begun, work)
    try:
        result = outcome(future)
    finally:
        if not future.done():
            stop(whole, [future])
    for message, entries, inside in deferred:
        warn_slow(message, entries, inside=inside)
    return result


def _begin_anew() -> None:
    """A child that was forked has no thread at work."""
    global here, _counting
    here, _counting = threading.local(), threading.Lock()
    interrupted.clear()
    WORD.value = 0


system.in_a_forked_child(_begin_anew)
