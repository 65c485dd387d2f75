"""A matrix of more than four thousand million entries: in memory on the GPU, and within 4 GiB of it.

    python -m bench large --device cuda

From 2^31 entries on, entries are counted in 64 bits. Answers of the matrix in memory are checked by certificates
(`bench.certificates`). Within the limit they must be equal to those, to the last bit. Columns are those of `beyond`,
and:

    limit_bytes   that the device may hold
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.certificates import are_distances, are_levels, components, is_forest, is_product
from bench.experiment import Experiment, Row, Setting, released
from bench.graphs import rmat
from bench.measure import Disagreement, rounded
from formats import COO, CSR, set_memory_limit
from formats.arrays import finish
from formats.matrix.placing import VECTORS
from formats.places import Place, find_place
from semiring import explain

from .beyond import PROBE_BYTES, SOURCE, TASKS, bytes_per_ms, figures, timed, vector
from .teps import on_host, same

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALE, EDGE_FACTOR = 25, 132
"""Of an R-MAT graph: 4.17 G entries, for edges are counted in 32 bits by algorithms on GPUs."""
QUICK = 10, 8
LIMIT = 4 << 30
THRESHOLDS = (1, 2, 4, 8, 16, 32, 64, 128)
"""Weights at which a forest is looked at."""
NAMES = "mxv", "SSSP", "BFS", "MST", "WCC"

Certificate = Callable[[CSR, Any, Any, dict[str, Any]], bool]
"""Of a matrix, the operand of its product, an answer, and the answers before it, on the host."""
CERTIFICATES: dict[str, Certificate] = {
    "mxv": lambda A, x, y, _: is_product(A, x, y),
    "SSSP": lambda A, x, d, _: are_distances(A, SOURCE, d),
    "BFS": lambda A, x, level, _: are_levels(A, SOURCE, level),
    "MST": lambda A, x, F, _: is_forest(A, F, THRESHOLDS),
    "WCC": lambda A, x, label, known: same(on_host(label), trees_of(known["MST"])),
}


def trees_of(F: COO) -> Any:
    """Which tree of a forest each vertex is in."""
    u, v, _ = F.to_edges()
    return components(u, v, F.nrows)


def rows(setting: Setting) -> Iterator[Row]:
    """Every task in memory, and within the limit."""
    place = find_place(setting.device)
    scale, edge_factor = QUICK if setting.quick else (SCALE, EDGE_FACTOR)
    name = f"rmat{scale} {edge_factor}"
    if kept := setting.kept_rows(name):
        yield from kept
        return
    speed = bytes_per_ms(place, PROBE_BYTES >> (6 if setting.quick else 0))
    finish(setting.device)
    start = time.perf_counter()
    whole = rmat(scale, edge_factor, device=setting.device, dtype=np.float32)
    finish(setting.device)
    known = {"graph": name, "n": whole.nrows, "nnz": whole.nnz, "matrix_bytes": whole.nbytes}
    known["made_ms"] = rounded(1e3 * (time.perf_counter() - start))
    answers: dict[str, Any] = {}
    for task in NAMES:
        answers[task] = certified(whole, task, answers)
        whole_known = figures(whole, 1.0, speed)
        yield known | {"contender": task} | whole_known | attempt(whole, task, answers[task], setting, whole_known)
    A = whole.to(device="cpu")
    whole.forget()
    del whole
    released(setting.device)
    limit = A.nbytes // 2 + VECTORS * A.nrows if setting.quick else LIMIT
    set_memory_limit(limit, device=place)
    try:
        yield from within(A, limit, known, answers, speed, setting, place)
    finally:
        set_memory_limit(None, device=place)


def certified(A: CSR, task: str, answers: dict[str, Any]) -> Any:
    """The answer on the host, as a certificate finds it right; Disagreement if it does not."""
    x = vector(A)
    answer = explain(TASKS[task], A, x).result
    if not CERTIFICATES[task](A, x, answer, answers):
        raise Disagreement(f"{task}: what was computed is not what its certificate asks for")
    return on_host(answer)


def within(
    A: CSR, limit: int, known: Row, answers: dict[str, Any], speed: float, setting: Setting, place: Place
) -> Iterator[Row]:
    """The rows of a matrix as much of which is resident as the limit has room for."""
    start = time.perf_counter()
    B: Any = A.to(device=place, resident="auto")
    moved = {"limit_bytes": limit, "moved_ms": rounded(1e3 * (time.perf_counter() - start))}
    limited = figures(B, round(B.resident / B.nbytes, 4), speed)
    for task, answer in answers.items():
        yield known | moved | {"contender": task} | limited | attempt(B, task, answer, setting, limited)
    B.forget()


def attempt(B: CSR, task: str, answer: Any, setting: Setting, known: Row) -> Row:
    """A task's figures, or why it has none."""
    try:
        return timed(B, task, TASKS[task], answer, setting, known)
    except MemoryError as error:
        return {"missing": str(error)}


def plot(rows: list[Row]) -> Figure | None:
    """Time against the resident share."""
    from bench import plots

    drawn = [row for row in rows if "ms" in row and row["resident"]]
    if not drawn:
        return None
    made, (ax, *_) = plots.figure(1)
    plots.lines(ax, drawn, "resident", "ms", by="contender")
    plots.label(ax, drawn[0]["graph"], "resident share", "milliseconds")
    plots.legend(ax)
    return made


LARGE = Experiment(
    name="large",
    title="A matrix of 4 thousand million entries",
    source="",
    about=(
        "An R-MAT graph whose entries are counted in 64 bits: in memory on the GPU, where certificates look at every "
        "entry to verify the answers, and with no more than 4 GiB of the device for the matrix and all else."
    ),
    rows=rows,
    columns=(
        *("graph", "nnz", "contender", "resident", "ms", "floor_ms", "passes", "matrix_bytes", "resident_bytes"),
        *("crossing_bytes", "crossed_bytes", "limit_bytes", "first_ms", "made_ms", "moved_ms", "implementation"),
    ),
    plot=plot,
    devices=("cuda",),
)
