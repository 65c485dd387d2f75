"""Copies between the host and the GPU: bytes a second by size, and whole calls with their copies.

    python -m bench copies --device cuda

Arrays on the host are pageable, as users have them, and what comes back is new memory. `floor_ms` is a copy of as many
bytes from or to pinned memory by one call of CUDA's: the bus's own speed. With copies: the matrix goes to the GPU, what
a first call finds out of it is found out, and the answer comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms import sssp
from bench.experiment import Experiment, Row, Setting, released
from bench.graphs import rmat
from bench.laboratory.boruvka import TO_GPU, TO_HOST, pinned
from bench.measure import Contender, contest, rounded
from formats.arrays import cupy, finish, to_device
from semiring.tuning.timing import event_ms

from . import fused_tasks
from .kolganov import symmetric
from .teps import FOREST, Graph, Task, Way, implementation, measured

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEBIBYTES = (16, 64, 256, 1024)
QUICK_MEBIBYTES = (1, 32)
SCALE, QUICK_SCALE = 24, 8
PROBE_BYTES = 256 << 20
"""Bytes of pinned memory, whose copy is the floor."""
DIRECTIONS = "to the GPU", "to the host"
SECONDS = 1.0
"""Seconds that the timed copies of a size may take, but for three of them."""

LENGTHS = Task(lambda A, source, **how: sssp(A, source, **how), fused_tasks.shortest)


def rows(setting: Setting) -> Iterator[Row]:
    """Copies of every size, and the calls."""
    for size in QUICK_MEBIBYTES if setting.quick else MEBIBYTES:
        name = f"{size} MiB"
        if not setting.wants(name):
            continue
        if kept := setting.kept_rows(name):
            yield from kept
            continue
        released(setting.device)
        yield from of_size(name, size << 20, setting)
    scale = QUICK_SCALE if setting.quick else SCALE
    lengths = Way("sssp", "cuda", lambda A, source: sssp(A, source), facts=implementation(sssp))
    forest = Way("boruvka", "cuda", lambda A, source: FOREST.solve(A, source), facts=implementation(FOREST.solve))
    yield from measured(Graph("R-MAT", scale, directed), [lengths], LENGTHS, setting)
    both_ways = Graph("symmetric R-MAT", scale, symmetric(scale).make)
    yield from measured(both_ways, [forest], FOREST, setting)


def directed(scale: int, device: Any) -> Any:
    """R-MAT with 16 edges drawn a vertex."""
    return rmat(scale, device=device, dtype=np.float32)


def of_size(name: str, nbytes: int, setting: Setting) -> Iterator[Row]:
    """A row for each direction, ours and CuPy's own."""
    here = np.random.default_rng(1).integers(0, 2**63, nbytes // 8)
    there: Any = to_device(here, "cuda")
    known = {"graph": name, "n": here.size, "nnz": here.size, "bytes": nbytes}
    calls = {
        DIRECTIONS[0]: (lambda: to_device(here, "cuda"), lambda: arrived(here)),
        DIRECTIONS[1]: (lambda: to_device(there, "cpu"), lambda: there.get()),
    }
    for direction, runs in calls.items():
        contenders = [
            Contender(what, run, agrees=lambda got: same_bits(got, here), watched=False)
            for what, run in zip((direction, f"{direction}, CuPy's own"), runs, strict=True)
        ]
        floor = nbytes / pinned_bytes_per_ms(direction, min(nbytes, PROBE_BYTES))
        for what, found in contest(contenders, setting.repeats, seconds=SECONDS).items():
            speed = {"gb_per_second": rounded(nbytes / found["ms"] / 1e6), "floor_ms": rounded(floor)}
            yield known | {"contender": what, "direction": direction} | found | speed


def arrived(here: np.ndarray) -> Any:
    """The array on the GPU, by CuPy's own copy, when it is there."""
    there = cupy().asarray(here)
    finish("cuda")
    return there


def pinned_bytes_per_ms(direction: str, nbytes: int) -> float:
    """How fast CUDA copies pinned memory, by one call."""
    held, there = pinned(nbytes, np.uint8), cupy().empty(nbytes, np.uint8)
    target, source, kind = there.data.ptr, held.ctypes.data, TO_GPU
    if direction == DIRECTIONS[1]:
        target, source, kind = source, target, TO_HOST
    return nbytes / min(event_ms(lambda: memory_copy(target, source, nbytes, kind)) for _ in range(5))


def memory_copy(target: int, source: int, nbytes: int, kind: int) -> None:
    """CUDA's copy, which returns at once."""
    cupy().cuda.runtime.memcpyAsync(target, source, nbytes, kind, 0)


def same_bits(got: Any, expected: np.ndarray) -> bool:
    """True if the copy has the expected bits, wherever it is."""
    return bool(np.array_equal(got.get() if hasattr(got, "get") else got, expected))


def plot(rows: list[Row]) -> Figure | None:
    """Bytes a second by size."""
    from bench import plots

    drawn = [row | {"mebibytes": row["bytes"] / 2**20} for row in rows if "bytes" in row]
    if not drawn:
        return None
    made, (ax,) = plots.figure(1)
    plots.lines(ax, drawn, "mebibytes", "gb_per_second", dotted=", CuPy's own", log_y=False)
    plots.label(ax, "Copies of pageable memory", "MiB", "GB/s")
    plots.legend(ax)
    return made


COPIES = Experiment(
    "copies",
    "Copies between host and GPU",
    "",
    "Copies of pageable memory both ways, ours and CuPy's own, by size. Then whole calls on a matrix from the host: "
    "the copy, what a first call finds out of the matrix, the algorithm, and the answer's way back.",
    rows,
    ("graph", "nnz", "contender", "ms", "gb_per_second", "floor_ms", "with_transfers_ms", "repeats", "checked"),
    plot,
    devices=("cuda",),
    by_graph=True,
)
