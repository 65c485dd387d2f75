"""A matrix of four thousand million entries, in memory on the GPU and within 4 GiB of it; and one larger than the GPU.

    python -m bench large --device cuda

From 2^31 entries on, entries are counted in 64 bits. Both graphs are made a range of rows at a time. The second one has
more bytes than an H100: it is written as it is made, what does not fit to pinned memory of the host. Answers are
checked by certificates (`bench.certificates`). Within the limit they must be equal to those, to the last bit. Columns
are those of `beyond`, and:

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
from bench.graphs.recursive import QUADRANTS
from bench.graphs.strips import PART, Allocate, rmat_in_strips
from bench.measure import Disagreement, rounded
from formats import COO, CSR, resident, set_memory_limit
from formats.arrays import finish
from formats.matrix.placing import VECTORS
from formats.places import Place, find_place
from semiring import explain

from .beyond import SOURCE, TASKS, bytes_per_ms, figures, timed, vector
from .teps import on_host, same

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALE, EDGE_FACTOR = 25, 132
"""Scale and edge factor of an R-MAT graph of 4.17 G entries: searches on GPUs count edges in 32 bits."""
BEYOND_SCALE, BEYOND_FACTOR = 26, 180
"""Scale and edge factor of a graph that is larger than the GPU: 11 G entries of 8 bytes."""
QUICK, QUICK_BEYOND = (10, 8), (10, 6)
STRIP_BYTES = 5 * 8
"""Most bytes for each edge of a range of rows while these are made."""
ENTRY_BYTES = 4 + 4
"""Bytes of a column and a weight."""
LIMIT = 4 << 30
THRESHOLDS = (1, 4, 16, 64)
"""Weights at which a forest is looked at."""
FEW_THRESHOLDS = (4, 64)
NAMES = "mxv", "SSSP", "BFS", "MST", "WCC"
BEYOND_NAMES = "mxv", "MST", "WCC"

Certificate = Callable[[CSR, Any, Any, dict[str, Any]], bool]
"""A check of a matrix, the operand of its product, an answer, and the answers before it, on the host."""
CERTIFICATES: dict[str, Certificate] = {
    "mxv": lambda A, x, y, _: is_product(A, x, y),
    "SSSP": lambda A, x, d, _: are_distances(A, SOURCE, d),
    "BFS": lambda A, x, level, _: are_levels(A, SOURCE, level),
    "MST": lambda A, x, F, _: is_forest(A, F, THRESHOLDS),
    "WCC": lambda A, x, label, known: same(on_host(label), on_host(trees_of(known["MST"].to(device=A.place)))),
}
BEYOND_CERTIFICATES = CERTIFICATES | {"MST": lambda A, x, F, _: is_forest(A, F, FEW_THRESHOLDS)}
"""Checks of the second graph, whose entries cross the bus for each."""


def trees_of(F: COO) -> Any:
    """Which tree of a forest each vertex is in."""
    u, v, _ = F.to_edges()
    return components(u, v, F.nrows)


def rows(setting: Setting) -> Iterator[Row]:
    """Both graphs."""
    yield from in_memory(setting)
    released(setting.device)
    yield from larger_than_memory(setting)


def in_memory(setting: Setting) -> Iterator[Row]:
    """Every task in memory, and within the limit."""
    place = find_place(setting.device)
    scale, edge_factor = QUICK if setting.quick else (SCALE, EDGE_FACTOR)
    name = f"rmat{scale} {edge_factor}"
    if not setting.wants(name):
        return
    if kept := setting.kept_rows(name):
        yield from kept
        return
    speed = bytes_per_ms(place, setting)
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
    whole.forget()
    del whole
    released(setting.device)
    yield from limited_rows((scale, edge_factor), known, answers, setting, place)


def limited_rows(size: tuple[int, int], known: Row, answers: Any, setting: Setting, place: Place) -> Iterator[Row]:
    """The rows of the same matrix, made again, as much of which is resident as a limit has room for, beside vectors."""
    limit = known["matrix_bytes"] // 2 + VECTORS * known["n"] if setting.quick else LIMIT
    part = max(0.0, (limit - VECTORS * known["n"]) / known["matrix_bytes"])
    start = time.perf_counter()
    B = rmat_in_strips(*size, QUADRANTS, device=setting.device, allocate=allocating(part, place))
    finish(setting.device)
    released(setting.device)
    speed = bytes_per_ms(place, setting)
    set_memory_limit(limit, device=place)
    try:
        own = figures(B, round(B.resident / B.nbytes, 4), speed) | {"limit_bytes": limit}
        own["made_ms"] = rounded(1e3 * (time.perf_counter() - start))
        for task, answer in answers.items():
            yield known | {"contender": task} | own | attempt(B, task, answer, setting, own)
    finally:
        set_memory_limit(None, device=place)
        B.forget()


def larger_than_memory(setting: Setting) -> Iterator[Row]:
    """Tasks of one pass on a matrix that was never in one memory."""
    place = find_place(setting.device)
    scale, edge_factor = QUICK_BEYOND if setting.quick else (BEYOND_SCALE, BEYOND_FACTOR)
    name = f"rmat{scale} {edge_factor}, in two memories"
    if not setting.wants(name):
        return
    if kept := setting.kept_rows(name):
        yield from kept
        return
    speed = bytes_per_ms(place, setting)
    start = time.perf_counter()
    allocate = in_two_memories(scale, edge_factor, place, 0.5 if setting.quick else 1.0)
    A = rmat_in_strips(scale, edge_factor, QUADRANTS, device=setting.device, allocate=allocate)
    finish(setting.device)
    known = {"graph": name, "n": A.nrows, "nnz": A.nnz, "matrix_bytes": A.nbytes}
    known["made_ms"] = rounded(1e3 * (time.perf_counter() - start))
    released(setting.device)
    own = figures(A, round(A.resident / A.nbytes, 4), speed)
    answers: dict[str, Any] = {}
    for task in BEYOND_NAMES:
        answers[task] = certified(A, task, answers, BEYOND_CERTIFICATES)
        yield known | {"contender": task} | own | attempt(A, task, answers[task], setting, own)
    A.forget()


def in_two_memories(scale: int, edge_factor: int, place: Place, share: float) -> Allocate:
    """Returns an allocator of the large arrays, with at most that share of each on the device, as room allows.

    Vectors, and a range of rows while it is made, have to fit, too.
    """
    most = edge_factor << scale
    beside = VECTORS * (1 << scale) + int(STRIP_BYTES * most * PART)
    fits = ((place.available_bytes() or 0) - beside) / (most * ENTRY_BYTES)
    return allocating(min(share, max(0.0, fits)), place)


def allocating(part: float, place: Place) -> Allocate:
    """Returns an allocator of arrays with that part on the device, and the rest in pinned memory."""

    def allocate(size: int, dtype: np.dtype) -> Any:
        there = int(part * size * dtype.itemsize) // resident.GRANULE * resident.GRANULE
        resident.check_pinned("a graph in two memories", size * dtype.itemsize - there)
        return resident.empty((size,), dtype, there, place)

    return allocate


def certified(A: CSR, task: str, answers: dict[str, Any], certificates: dict[str, Certificate] = CERTIFICATES) -> Any:
    """The answer on the host, as a certificate finds it right; Disagreement if it does not."""
    x = vector(A)
    answer = explain(TASKS[task], A, x).result
    if not certificates[task](A, x, answer, answers):
        raise Disagreement(f"{task}: what was computed is not what its certificate asks for")
    return on_host(answer)


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
    title="Matrices of thousands of millions of entries",
    source="",
    about=(
        "R-MAT graphs whose entries are counted in 64 bits. One in memory on the GPU, where certificates look at every "
        "entry to verify the answers, and with no more than 4 GiB of the device for the matrix and all else. One that "
        "is larger than the GPU's memory, for products, forests and weak components, which take one pass."
    ),
    rows=rows,
    columns=(
        *("graph", "nnz", "contender", "resident", "ms", "floor_ms", "passes", "matrix_bytes", "resident_bytes"),
        *("crossing_bytes", "crossed_bytes", "limit_bytes", "first_ms", "made_ms", "implementation"),
    ),
    plot=plot,
    devices=("cuda",),
    by_graph=True,
)
