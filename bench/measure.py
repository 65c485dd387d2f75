"""The harness: contenders take turns, medians count, and nothing is timed whose output was not checked."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from statistics import median
from typing import Any

import numpy as np

PACKAGES = ("semiring", "numpy", "scipy", "python-graphblas", "suitesparse-graphblas", "numba")


@dataclass(frozen=True)
class Contender:
    """A way to compute something: `run()` gives an array, which must equal `expected`."""

    name: str
    run: Callable[[], Any]
    expected: Any


def verify(contender: Contender) -> None:
    """AssertionError unless the contender computes what is expected; also its warm-up."""
    got = contender.run()
    if got.dtype != contender.expected.dtype or not np.array_equal(got, contender.expected):
        raise AssertionError(f"{contender.name} computes something else: it is not timed")


def interleaved(contenders: list[Contender], repeats: int) -> dict[str, list[float]]:
    """Seconds of each contender, one run of each in turn, so that a noisy moment hits them all."""
    for contender in contenders:
        verify(contender)
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for _ in range(repeats):
        for contender in contenders:
            start = time.perf_counter()
            contender.run()
            seconds[contender.name].append(time.perf_counter() - start)
    return seconds


def medians_ms(seconds: dict[str, list[float]]) -> dict[str, float]:
    """The median of each contender, in milliseconds."""
    return {name: round(median(times) * 1e3, 3) for name, times in seconds.items()}


def machine() -> dict[str, Any]:
    """What a time needs beside it to mean something: machine, date, versions, commit."""
    return {
        "date": date.today().isoformat(),
        "machine": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "commit": _commit(),
    }


def json_line(record: dict[str, Any]) -> str:
    """The record as one line of JSON."""
    return json.dumps(record, separators=(", ", ": "))


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _commit() -> str:
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
