"""Threads that work for calls, and nothing between them that Ctrl-C could leave locked.

The locks of `concurrent.futures` are partly written in Python: a signal that raises within one leaves it held, and
every later call would wait for it. Here each thing that the main thread does to a queue, a lock or a dict is one step
of the interpreter, which no signal cuts.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any
from weakref import finalize

from formats.undisturbed import LISTENING_SECONDS

from ..kernels import interrupts


def _nothing() -> None:
    """Do the work of a task that was cancelled."""


class Task:
    """A call that a thread of the pool makes, unless it is cancelled first."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work: Callable[[], object] = work
        self._then = list[Callable[[Task], object]]()
        self._fate, self._ended, self._over = dict[str, str](), allocate_lock(), False
        self._error: BaseException | None = None
        self._ended.acquire()

    def cancel(self) -> bool:
        """Keep it from beginning, and let go of what it would have worked on; False if it has begun."""
        if self._fate.setdefault("it", "is cancelled") == "has begun":
            return False
        self._work = _nothing
        return True

    def make(self) -> None:
        """Make the call, in the thread that has taken the task."""
        if self._fate.setdefault("it", "has begun") == "is cancelled":
            return
        try:
            self._work()
        except BaseException as error:
            self._error = error
        del self._work
        self._over = True
        self._ended.release()
        for call in self._then:
            call(self)

    def wait(self) -> None:
        """Wait until the call has ended."""
        while not self._over:
            if self._ended.acquire(timeout=LISTENING_SECONDS):
                self._ended.release()

    def result(self) -> None:
        """Wait until the call has ended, and raise its exception if it has one."""
        self.wait()
        if self._error is not None:
            raise self._error

    def add_done_callback(self, call: Callable[[Task], object]) -> None:
        """Have `call(self)` follow the end, once or twice."""
        self._then.append(call)
        if self._over:
            call(self)


class Pool:
    """Up to `count` threads, begun as tasks come, which end when nobody has the pool any more."""

    def __init__(self, count: int) -> None:
        self._tasks, self._unborn = SimpleQueue[Task | None](), [None] * count
        finalize(self, _end, self._tasks, count)

    def submit(self, work: Callable[[], object]) -> Task:
        """Have a thread call work(), when one is free."""
        if self._unborn:
            start_new_thread(_serve, (self._tasks,))
            del self._unborn[:1]
        self._tasks.put(task := Task(work))
        return task


def _serve(tasks: SimpleQueue[Task | None]) -> None:
    """Make the calls of tasks, until there is None."""
    interrupts.here.work = True
    while (task := tasks.get()) is not None:
        task.make()
        del task


def _end(tasks: SimpleQueue[Any], count: int) -> None:
    for _ in range(count):
        tasks.put(None)
