"""Matrices of which only a share is resident on the GPU: what calls on them take, against the share.

    python -m bench beyond --device cuda --data FOLDER

The device's memory is limited to the share of the matrix and to vectors, so columns that a call would keep beside it
are made only where they fit. What refuses to run so is a row with the reason.

    resident        the share that was asked for; resident_bytes are on the device
    crossing_bytes  are not: they cross the bus in each pass over the matrix
    edges           looked at by a call, where it counts them; crossed_bytes, what they moved
    floor_ms        of one pass over crossing_bytes, at the speed at which a kernel reads pinned memory
    bus_gb_per_second  that speed, measured before the calls at each share
    passes          the call's time in floors
    first_ms        of the first call, with what it makes and keeps; set up again for each share
    stream_ms       of as many floors as the call has rounds on the whole matrix: all of it read in each
    kept_bytes      that the device holds beside the matrix after the call

Verified means equal, to the last bit, to the answer on the matrix that is resident as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms import bfs, boruvka, scc, sssp
from bench.experiment import Experiment, Row, Setting, released
from bench.graphs import ROADS, grid, operand, rmat, roads, ssca2
from bench.measure import Contender, contest, once, rounded
from formats import CSR, CompressedCSR, resident, set_memory_limit
from formats.arrays import cupy, finish
from formats.matrix.placing import VECTORS
from formats.places import OUTSIDE, Place, find_place
from semiring import MinPlus, explain, mxv
from semiring.tuning.timing import event_ms
from semiring.verbs.explanation import Run

from .teps import on_host, same

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES, FEWER = (1.0, 0.5, 0.25, 0.1, 0.05), (1.0, 0.25, 0.1)
MIN_NNZ_FOR_FEWER = 1 << 29
"""Minimum entries of a graph of which fewer shares are measured."""
SCALES, LARGEST = (24, 25), (26, 27)
"""Scales of R-MAT graphs, but on a quick run. The largest are the last graphs."""
SOURCE = 3
PROBE_BYTES, PROBES = 256 << 20, 7
"""Bytes of pinned memory whose reading gives the bus's speed, and how often it is read."""
SECONDS = 0.2
"""Seconds that the timed calls of a row may take, but for three of them."""
SLOW_SECONDS = 2.0
"""Minimum seconds of a call that is timed once."""

M = CSR | CompressedCSR
Task = Callable[[M, Any], Any]
"""A function of a matrix, and of the operand of its product."""
TASKS: dict[str, Task] = {
    "mxv": lambda A, x: mxv(A, x, MinPlus),
    "SSSP": lambda A, x: sssp(A, SOURCE),
    "BFS": lambda A, x: bfs(A, SOURCE),
    "SCC": lambda A, x: scc(A),
    "WCC": lambda A, x: scc(A, weak=True),
    "MST": lambda A, x: boruvka(A, symmetrize=True),
}
PRODUCT = {"mxv": TASKS["mxv"]}
"""The task that takes an operand."""


def vector(A: M) -> Any:
    """The operand, on A's device."""
    return operand(A.ncols, 1000, device=A.device, dtype=A.dtype)


def graphs(setting: Setting) -> Iterator[tuple[str, Callable[[], CSR]]]:
    """Yields names of graphs, and functions that make them on the device."""
    device = setting.device
    if setting.quick:
        yield "rmat12", partial(rmat, 12, device=device, dtype=np.float32)
        yield "grid64", partial(grid, 64, device=device)
        return
    for scale in SCALES:
        yield f"rmat{scale}", partial(rmat, scale, device=device, dtype=np.float32)
    yield "ssca2 21", partial(ssca2, 21, device=device)
    yield "grid2k", partial(grid, 2048, device=device)
    if setting.data is not None and (setting.data / ROADS).exists():
        yield "roads", partial(roads, setting.data / ROADS, device=device)
    for scale in LARGEST:
        yield f"rmat{scale}", partial(rmat, scale, device=device, dtype=np.float32)


def rows(setting: Setting) -> Iterator[Row]:
    """Every task at every share on every graph."""
    place = find_place(setting.device)
    for name, make in graphs(setting):
        if not setting.wants(name):
            continue
        if kept := setting.kept_rows(name):
            yield from kept
            continue
        A = make().to(device="cpu")
        released(setting.device)
        whole = A.to(device=setting.device)  # not in parts of the memory that it was made in
        told = {task: explain(run, whole, vector(whole)) for task, run in TASKS.items()}
        answers = {task: on_host(each.result) for task, each in told.items()}
        rounds = {task: rounds_of(each.runs) for task, each in told.items()}
        packed = whole.to(CompressedCSR).to(device="cpu")
        whole.forget()
        del whole, told
        released(setting.device)
        known = {"graph": name, "n": A.nrows, "nnz": A.nnz, "matrix_bytes": A.nbytes}
        for share in SHARES if A.nnz < MIN_NNZ_FOR_FEWER else FEWER:
            for row in at_share(A, TASKS, share, answers, place, setting):
                yield known | row | {"stream_ms": rounded(row["floor_ms"] * rounds[row["contender"]])}
            for row in at_share(packed, PRODUCT, share, answers, place, setting):
                own = {"matrix_bytes": packed.nbytes, "contender": f"{row['contender']}, CompressedCSR"}
                yield known | row | own | {"stream_ms": row["floor_ms"]}
        released(setting.device)


def rounds_of(runs: list[Run]) -> int:
    """The rounds of a call's last algorithm, as far as it counts them."""
    facts = runs[-1].details if runs else {}
    counted = next((facts[name] for name in ("steps", "levels", "rounds") if name in facts), 1)
    return sum(counted) if isinstance(counted, list) else int(counted)


def held_bytes(place: Place) -> int:
    """That a GPU holds; none of the host."""
    return 0 if place.on_host else cupy().get_default_memory_pool().used_bytes() + OUTSIDE.get(place, 0)


@contextmanager
def limited(A: M, share: float, place: Place) -> Iterator[None]:
    """Let the device hold no more than it does, a share of A, and vectors."""
    set_memory_limit(held_bytes(place) + int(share * A.nbytes) + VECTORS * A.nrows, device=place)
    try:
        yield
    finally:
        set_memory_limit(None, device=place)


def at_share(
    A: M, tasks: dict[str, Task], share: float, answers: dict[str, Any], place: Place, setting: Setting
) -> Iterator[Row]:
    """The tasks' rows at one share, and how fast the bus is at that time."""
    released(setting.device)
    speed = bytes_per_ms(place, setting)
    with limited(A, share, place):
        B: M = A.to(device=place, resident=share)
        known = figures(B, share, speed)
        for task, run in tasks.items():
            row: Row = {"contender": task} | known
            try:
                yield row | timed(B, task, run, answers[task], setting, known)
            except MemoryError as error:
                yield row | {"missing": str(error)}
        B.forget()
        del B


def figures(B: M, share: float, speed: float) -> Row:
    """Returns the figures of a share that are known before anything runs."""
    crossing = B.nbytes - B.resident
    return {
        "resident": share,
        "resident_bytes": B.resident,
        "crossing_bytes": crossing,
        "floor_ms": rounded(crossing / speed),
        "bus_gb_per_second": rounded(speed / 1e6),
    }


def timed(B: M, task: str, run: Task, answer: Any, setting: Setting, known: Row) -> Row:
    """The figures of a task; of a slow one those of a single call."""
    held = held_bytes(B.place)
    x = vector(B) if task in PRODUCT else None
    finish(setting.device)
    start = time.perf_counter()
    told = explain(run, B, x).runs
    finish(setting.device)
    first = time.perf_counter() - start
    contender = Contender(
        task, partial(run, B, x), agrees=lambda got: same(on_host(got), answer), device=setting.device, watched=False
    )
    found = once(contender) if first > SLOW_SECONDS else contest([contender], setting.repeats, seconds=SECONDS)[task]
    found.pop("peak_bytes", None)
    found["first_ms"] = rounded(1e3 * first)
    found["implementation"] = told[-1].implementation if told else "verb"
    del x, contender
    found["kept_bytes"] = held_bytes(B.place) - held
    if known["floor_ms"]:
        found["passes"] = rounded(found["ms"] / known["floor_ms"])
    facts = told[-1].details if told else {}
    found |= {name: facts[name] for name in ("edges", "plan") if name in facts}
    if "crossed" in facts:
        found["crossed_bytes"] = facts["crossed"]
    return found


def bytes_per_ms(place: Place, setting: Setting) -> float:
    """How fast a kernel reads pinned memory: the median of PROBES."""
    nbytes = PROBE_BYTES >> (6 if setting.quick else 0)
    array = resident.empty((nbytes // 4,), np.dtype(np.float32), 0, place)
    part = resident.host_part(array)
    assert part is not None
    part[1][:] = 0
    return nbytes / median(event_ms(lambda: array.sum()) for _ in range(PROBES))


def plot(rows: list[Row]) -> Figure | None:
    """Time over that of the whole matrix against the resident share, a panel for each graph."""
    from bench import plots

    whole = {(row["graph"], row["contender"]): row["ms"] for row in rows if row["resident"] == 1}
    drawn = [
        row | {"times": row["ms"] / whole[of]} for row in rows if (of := (row["graph"], row["contender"])) in whole
    ]
    if not drawn:
        return None
    names = list(dict.fromkeys(row["graph"] for row in drawn))
    made, panels = plots.figure(len(names))
    for ax, name in zip(panels, names, strict=False):
        plots.lines(ax, [row for row in drawn if row["graph"] == name], "resident", "times", by="contender")
        plots.label(ax, name, "resident share", "time, all resident = 1")
        plots.legend(ax)
    return made


BEYOND = Experiment(
    name="beyond",
    title="A share of the matrix resident on the GPU",
    source="",
    about=(
        "Products and algorithms on matrices of which a share is resident on the GPU, while kernels read the rest in "
        "pinned host memory, over the bus. The device is limited to the share and vectors. The floor is one pass over "
        "what is not resident, at the speed of a kernel that reads pinned memory."
    ),
    rows=rows,
    columns=(
        *("graph", "nnz", "contender", "resident", "ms", "floor_ms", "passes", "stream_ms", "resident_bytes"),
        *("crossing_bytes", "crossed_bytes", "first_ms", "kept_bytes", "implementation"),
    ),
    plot=plot,
    devices=("cuda",),
    roads=True,
    by_graph=True,
)
