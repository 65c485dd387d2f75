"""Threads that share the steps of compiled loops: sums of many steps, contention, interrupts and exceptions."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import semiring
from semiring.cpu.atomics import added
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.crew import MEMBERS, TAKEN, crew, shared
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import run
from semiring.kernels.interrupts import interruptible

THREADS = 8


@inlined
def add(thread, gate, values, sums):
    """Add the values that nobody has taken to a sum of one's own."""
    while True:
        k = added(gate, TAKEN, 1)
        if k >= values.size:
            return
        sums[thread, 0] += values[k]
        values[k] += 1


@inlined
def last(thread, ended):
    """Run until the call is interrupted, or somebody has set ended[0]."""
    ended[1 + thread] = 1
    while ended[0] == 0 and not interrupted():
        added(ended, 0, 0)


add_shared, last_shared = shared(add), shared(last)


@compiled
def sums_of_steps(gate, values, sums, steps):
    """Return how many steps have a right sum: each value grows by one in each."""
    for step in range(steps):
        left = 0
        for k in range(values.size):
            left += values[k]
        sums[:] = 0
        gate[TAKEN] = 0
        add_shared(gate, (gate, values, sums))
        for thread in range(sums.shape[0]):
            left -= sums[thread, 0]
        if left:
            return step
    return steps


@compiled
def endless(gate, ended):
    """Run one step that has no end of its own."""
    last_shared(gate, (ended,))


def right(steps: int, size: int = 20) -> bool:
    """True if so many steps by a crew have the right sums."""
    values, sums = np.arange(size), np.zeros((THREADS, 16), np.int64)
    with crew(THREADS) as gate:
        return sums_of_steps(gate, values, sums, steps) == steps and bool((values == np.arange(size) + steps).all())


def idle() -> bool:
    """True if all threads of the pool are free: each waits for the others."""
    together = threading.Barrier(THREADS)
    run(lambda *_: together.wait(10) and None, [(0, 0)] * THREADS)
    return True


@pytest.fixture(autouse=True)
def _threads() -> Any:
    with semiring.threads(THREADS):
        yield


@pytest.mark.quick
@pytest.mark.parametrize("size", [1, 20, 500])
def test_each_of_many_steps_sees_what_the_one_before_has_written(size: int) -> None:
    assert right(20_000, size)


@pytest.mark.quick
def test_helpers_take_part_and_have_numbers() -> None:
    ended = np.zeros(1 + THREADS, np.int64)
    with crew(THREADS) as gate:
        leader = threading.Thread(target=endless, args=(gate, ended))
        leader.start()
        until = time.monotonic() + 30
        while not ended[1:].all() and time.monotonic() < until:
            time.sleep(0.01)
        ended[0] = 1
        leader.join()
    assert ended.all()
    assert idle()


@pytest.mark.quick
def test_leaders_that_share_the_pool_wait_for_no_helper_that_does_not_come() -> None:
    with ThreadPoolExecutor(3) as leaders:
        assert all(leaders.map(right, [3000] * 6))
    assert idle()


def test_a_crew_of_the_pool_or_of_one_thread_is_the_leader_alone() -> None:
    found = list[int]()

    def alone(*_: int) -> None:
        with crew(THREADS) as gate:
            found.append(int(gate[MEMBERS]))

    run(alone, [(0, 0)] * 4)
    with semiring.threads(1):
        alone()
    assert found == [1] * 5


@pytest.mark.quick
def test_an_exception_of_the_leader_ends_its_helpers() -> None:
    def failing(steps: int) -> None:
        with crew(THREADS) as gate:
            sums_of_steps(gate, np.arange(5), np.zeros((THREADS, 16), np.int64), steps)
            raise ValueError("leader")

    for steps in (0, 10, 1000):
        with pytest.raises(ValueError, match="leader"):
            failing(steps)
    assert idle()


def test_a_signal_ends_a_step_of_all_threads() -> None:
    ended = np.zeros(1 + THREADS, np.int64)

    def call() -> None:
        with crew(THREADS) as gate:
            endless(gate, ended)

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            interruptible(call)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not ended[0]
    assert idle()
    assert right(100)
