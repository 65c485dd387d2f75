"""The harness: contenders take turns, medians count, and nothing is timed whose output was not checked.

On a GPU a contender has three times (`timing`). `device_ms`, the one to compare: a call's share of a batch
without gaps. `event_ms`: one call between two events, its gaps included. `finished_ms`: one call and the wait
after it, by the host's clock. `contest` measures whole algorithms, which wait for their own results, by `event_ms`,
products, which do not, in batches by `device_ms`, and copies from and to the host as a figure of their own.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from formats.arrays import Device, cupy, equals, finish, namespace
from semiring.tuning.timing import (
    Disagreement,
    batched_clock,
    event_ms,
    finished_ms,
    host_ms,
    in_turns,
    rounded,
)

RESULTS = Path(__file__).parent / "results"
"""The folder of the rows that are kept."""

Row = dict[str, Any]
"""The measurement of one contender on one graph: figures and names by column."""

PACKAGES = ("semiring", "numpy", "scipy", "python-graphblas", "suitesparse-graphblas", "numba")


@dataclass(frozen=True)
class Contender:
    """A way to compute something: `run()` gives an array, which must equal `expected`.

    tolerance: the relative error that is allowed, for sums whose order is not fixed.  agrees: is asked about what
    `run()` gives, instead of comparing it with `expected`.  with_transfers: the same, with operands that come from the
    host and an answer that goes there.  device: whose clock counts.  batched: does `run()` leave a GPU at work when it
    returns, as a product does? Then a batch of calls is timed, by `device_ms`.  watched: can its memory be seen?
    """

    name: str
    run: Callable[[], Any]
    expected: Any = None
    tolerance: float = 0.0
    agrees: Callable[[Any], bool] | None = None
    with_transfers: Callable[[], Any] | None = None
    device: Device = "cpu"
    batched: bool = False
    watched: bool = True


def verify(contender: Contender) -> None:
    """Disagreement unless the contender computes what is expected; also its warm-up."""
    for run in (contender.run, contender.with_transfers):
        if run is not None and not _agrees(contender, run()):
            raise Disagreement(f"{contender.name} computes something else: it is not timed")


def contest(contenders: list[Contender], repeats: int = 11, *, seconds: float = 4.0) -> dict[str, dict[str, Any]]:
    """Each contender's figures, verified first, and then measured in turns; slow ones less often than `repeats`.

    `ms`, the median of one call: on a GPU between two events of the stream, or a share of a batch, else by the host's
    clock.  `low_ms` and `high_ms`: its quartiles.  `with_transfers_ms`: likewise by the host's clock, copies included,
    where the contender has them.  `peak_bytes`: what one call holds at most beside what was there (see `peak_bytes`).
    `repeats`: of the call.  seconds: that all calls of a contender may take, but for THREE of them.
    """
    for contender in contenders:
        verify(contender)
    clocks = [clock for contender in contenders for clock in _clocks(contender)]
    taken = in_turns([(run, clock) for _, _, run, clock in clocks], repeats, seconds)
    figures: dict[str, dict[str, Any]] = {}
    for (name, figure, _, _), times in zip(clocks, taken, strict=True):
        own = figures.setdefault(name, {"verified": True})
        own[figure] = rounded(median(times))
        if figure == "ms":
            low, _, high = quantiles(times, n=4, method="inclusive")
            own |= {"low_ms": rounded(low), "high_ms": rounded(high), "repeats": len(times)}
    for contender in contenders:
        peak = peak_bytes(contender.run, contender.device) if contender.watched else None
        figures[contender.name]["peak_bytes"] = peak
    return figures


def once(contender: Contender) -> dict[str, Any]:
    """The figures of one call, which is also verified, by the host's clock: of what is too slow for `contest`."""
    finish(contender.device)
    start = time.perf_counter()
    got = contender.run()
    finish(contender.device)
    ms = rounded((time.perf_counter() - start) * 1e3)
    if not _agrees(contender, got):
        raise Disagreement(f"{contender.name} computes something else: its time does not count")
    return {"verified": True, "ms": ms, "low_ms": ms, "high_ms": ms, "repeats": 1}


def _clocks(contender: Contender) -> list[tuple[str, str, Callable[[], Any], Callable[[Callable[[], Any]], float]]]:
    """Lists contender, figure, call and clock for every figure."""
    found = [(contender.name, "ms", contender.run, _clock(contender))]
    if contender.with_transfers is not None:
        found.append((contender.name, "with_transfers_ms", contender.with_transfers, host_ms))
    return found


def _clock(contender: Contender) -> Callable[[Callable[[], Any]], float]:
    """Returns the clock of a contender's calls, in milliseconds."""
    waits = contender.device == "cuda" and not contender.batched
    return event_ms if waits else batched_clock(contender.run, contender.device)


def timed(solve: Callable[[], Any], repeats: int, device: Device) -> float:
    """The median of seconds that a call takes, everything on the device finished."""
    return median(finished_ms(solve, device) for _ in range(repeats)) / 1e3


def peak_bytes(call: Callable[[], Any], device: Device) -> int:
    """Bytes that a call holds at most beside what was there before, as the allocator counts them.

    On a GPU CuPy's pool, on the CPU what Python's tracemalloc sees: NumPy's arrays, but not what compiled loops and
    other libraries allocate for themselves.
    """
    if device == "cpu":
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            answer = call()
            return tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
    cp = cupy()
    pool = cp.get_default_memory_pool()
    before = most = pool.used_bytes()

    def allocate(size: int) -> Any:
        nonlocal most
        memory = pool.malloc(size)
        most = max(most, pool.used_bytes())
        return memory

    with cp.cuda.using_allocator(allocate):
        answer = call()
        finish(device)
    del answer
    return most - before


def slug(name: str) -> str:
    """A name as part of a file's."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def on_the_host(run: Callable[[], Any], calls: int = 400, repeats: int = 5) -> dict[str, Any]:
    """The figures of the host's time in a call that launches on a GPU: one of `calls`, between which nothing waits."""
    device = cupy().cuda.Device()
    run()
    times = []
    for _ in range(repeats):
        device.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            run()
        times.append((time.perf_counter() - start) * 1e3 / calls)
    device.synchronize()
    low, middle, high = quantiles(times, n=4, method="inclusive")
    return {"ms": rounded(middle), "low_ms": rounded(low), "high_ms": rounded(high), "repeats": repeats}


MACHINE = ("date", "machine", "cores", "python", "versions", "commit", "gpu", "driver", "cuda", "cupy")
"""Keys of `machine`."""


def machine(device: Device = "cpu") -> dict[str, Any]:
    """Returns the facts that give a time its meaning: machine, date, versions, commit, and the GPU if it is used."""
    return {
        "date": date.today().isoformat(),
        "machine": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "commit": _commit(),
    } | (_gpu() if device == "cuda" else {})


def json_line(record: dict[str, Any]) -> str:
    """The record as one line of JSON."""
    return json.dumps(record, separators=(", ", ": "))


def rows_file(name: str, known: dict[str, Any], folder: Path | None = None) -> Path:
    """NAME-MACHINE.jsonl in the folder, which is made if it is not there; by default in RESULTS.

    known: what `machine` says.  Raises ValueError if the folder's name is a file's.
    """
    folder = folder or RESULTS
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--output must name a folder, and {folder} is a file")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}-{slug(known.get('gpu', known['machine']))}.jsonl"


def append(path: Path, records: list[dict[str, Any]]) -> None:
    """Add the records to a file of JSON lines."""
    with path.open("a", encoding="utf-8") as lines:
        lines.writelines(json_line(record) + "\n" for record in records)


def _agrees(contender: Contender, got: Any) -> bool:
    if contender.agrees is not None:
        return contender.agrees(got)
    expected = contender.expected
    same = got.dtype == expected.dtype and got.shape == expected.shape
    return same and bool(_equal(got, expected, contender.tolerance))


def _equal(got: Any, expected: Any, tolerance: float) -> Any:
    xp = namespace(expected)
    return xp.allclose(got, expected, rtol=tolerance, atol=0) if tolerance else equals(got, expected).all()


def _gpu() -> dict[str, Any]:
    cp = cupy()
    return {
        "gpu": cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)["name"].decode(),
        "driver": _output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").split("\n")[0],
        "cuda": cp.cuda.runtime.runtimeGetVersion(),
        "cupy": cp.__version__,
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _commit() -> str:
    """Returns the commit of the files: as `SEMIRING_COMMIT` says, for a copy without git; else as git does."""
    return os.environ.get("SEMIRING_COMMIT") or _output("git", "describe", "--always", "--dirty", "--exclude", "*")


def _output(*command: str) -> str:
    """Returns the output of a command, or "unknown"."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"
