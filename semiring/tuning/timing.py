"""Clocks: how long calls take on a CPU and on a GPU, one call of each in turn, so that a noisy moment hits them all.

A product leaves a GPU at work when it returns. `device_ms`, the figure to compare, is a call's share of a batch that
keeps the GPU busy for BATCH_MS, between two events of the stream. A kernel of our own holds the stream while the batch
is queued, so that the GPU never waits for Python and the figure has no gaps between launches.
"""

from __future__ import annotations

import functools
import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from formats.arrays import Device, cupy, finish

THREE = 3
"""Calls that are timed however slow they are."""
BATCH_MS = 5.0
MAX_BATCH = 200
"""Calls in a batch: with the few launches of each they must fit the stream's queue, of about a thousand."""
HOLD = """
extern "C" __global__ void hold(long long nanoseconds) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
}
"""

Clock = Callable[[Callable[[], Any]], float]
"""A function that measures the milliseconds of a call."""


def unkept(M: Any) -> Any:
    """The same matrix, which keeps nothing yet."""
    return type(M).trusted(*M.components)


class Disagreement(AssertionError):
    """Two ways to compute the same thing found different things, so neither is timed."""


def in_turns(calls: Sequence[tuple[Callable[[], Any], Clock]], repeats: int, seconds: float) -> list[list[float]]:
    """The milliseconds of each call by its clock, one of each in turn; slow ones less often than `repeats`.

    The order is another in each turn, so that none always follows a call that leaves it cold caches, or its own data.
    seconds: that all repeats of a call may take, but for THREE of them.
    """
    taken: list[list[float]] = [[] for _ in calls]
    counts = [repeats] * len(calls)
    for turn in range(max(repeats, THREE)):
        for k in random.Random(turn).sample(range(len(calls)), len(calls)):
            if turn >= counts[k]:
                continue
            (run, clock), start = calls[k], time.perf_counter()
            taken[k].append(clock(run))
            if turn == 0:  # what it took says how often there is time for it
                counts[k] = max(THREE, min(repeats, int(seconds / (time.perf_counter() - start))))
    return taken


def batched_clock(run: Callable[[], Any], device: Device, batch_ms: float = BATCH_MS) -> Clock:
    """The clock for a product: `host_ms` on a CPU, on a GPU `device_ms` in batches that take so long."""
    return host_ms if device == "cpu" else functools.partial(device_ms, calls=batch_of(run, batch_ms))


def settled_clock(run: Callable[[], Any], device: Device, batch_ms: float) -> Clock:
    """The clock for a product that is called again and again: its share of a batch, with its own data in the caches."""
    if device != "cpu":
        return batched_clock(run, device, batch_ms)
    calls = 1 + int(batch_ms / min(host_ms(run) for _ in range(THREE)))

    def clock(run: Callable[[], Any]) -> float:
        for _ in range(min(calls - 1, THREE)):
            run()
        return host_ms(lambda: [run() for _ in range(calls)]) / calls

    return clock


def undisturbed(taken: list[float]) -> float:
    """The lower quartile: other work on the machine only adds to a time, and luck is rare."""
    return sorted(taken)[len(taken) // 4]


def finished_ms(run: Callable[[], Any], device: Device) -> float:
    """Milliseconds, by the host's clock, of one call, everything on the device finished before and after."""
    finish(device)
    start = time.perf_counter()
    run()
    finish(device)
    return (time.perf_counter() - start) * 1e3


def host_ms(run: Callable[[], Any]) -> float:
    """Milliseconds, by the host's clock, of a call that returns when it has finished."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def batch_of(run: Callable[[], Any], batch_ms: float = BATCH_MS) -> int:
    """How many calls keep the GPU busy for `batch_ms`, at most MAX_BATCH."""
    return min(MAX_BATCH, 1 + int(batch_ms / device_ms(run, 10)))


def device_ms(run: Callable[[], Any], calls: int) -> float:
    """Milliseconds of GPU time of one of `calls` calls in a row, which are all queued before the first starts."""
    queueing_ms = _queueing_ms(run, calls)
    cupy().cuda.Device().synchronize()
    _hold()((1,), (1,), (int((1.5 * queueing_ms + 0.2) * 1e6),))
    return event_ms(run, calls) / calls


def event_ms(run: Callable[[], Any], calls: int = 1) -> float:
    """Milliseconds between two events of the stream, recorded before and after the calls."""
    cuda = cupy().cuda
    start, end = cuda.Event(), cuda.Event()
    start.record()
    for _ in range(calls):
        run()
    end.record()
    end.synchronize()
    return cuda.get_elapsed_time(start, end)


def break_even(start: float, ms: float, other_start: float, other_ms: float) -> int | None:
    """The fewest calls k with start + (k - 1)·ms <= other_start + (k - 1)·other_ms; None where the other is as fast.

    start: what has to be made, and the first call, milliseconds.  ms: of a further call.
    """
    return None if ms >= other_ms else 1 + max(0, math.ceil((start - other_start) / (other_ms - ms)))


def rounded(x: float | None) -> float | None:
    """To five significant digits."""
    return None if x is None else float(f"{x:.5g}")


def _queueing_ms(run: Callable[[], Any], calls: int) -> float:
    """Milliseconds that the host takes to queue the calls."""
    cupy().cuda.Device().synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) * 1e3


@functools.cache
def _hold() -> Any:
    return cupy().RawKernel(HOLD, "hold")
