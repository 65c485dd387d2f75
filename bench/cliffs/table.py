"""Calls one step beside the usual one, each beside the best of others or the least time that it can take.

The usual call has one source, non-negative weights, CSR and a warm cache. Beside it lie weights below zero, long paths
with a hub, a first call, a small graph, a matrix verb, a file to be read. What is more than its limit is a cliff, see
`bench.limits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.experiment import Experiment, Row, Setting, released
from bench.limits import COLUMNS, Limits, Timed, insist, limited, no_plot, row

LIMITS: Limits = {
    r"negative weights.*beside igraph": (1, 1),
    r"negative weights.*|a planted cycle": (10, 3),
    r"schedule .*": (1000, 1000),
    r"a (first|third) search.*wiki-Vote": (1, 0.7),  # a small graph, of which no edges are left out
    r"a first search.*": (1, 0.7),
    r"a third search.*": (0.4, 0.2),
    # Meant is PASGAL, which is not here. By its times of another day it takes 0.66, 0.28 and 0.16 of our C++'s.
    r"SCC, R-MAT 18.*": (0.36, 0.23),
    r"SCC, R-MAT.*": (0.15, 0.1),
    r"SCC, uniform.*": (0.11, 0.055),
    r"WCC, (R-MAT|uniform).*": (0.9, 0.6),
    r"BFS, (R-MAT|uniform).*": (1, 0.7),
    r"BFS, grid": (1, 0.8),
    r"triangles, R-MAT.*": (0.7, 0.4),
    r"(BFS|WCC|SCC), wiki-Vote.*": (1, 0.7),
    r"MST, grid": (1, 0.8),
    r".* of 3 vertices, CPU": (1, 0.6),
    r"(assign|extract|ewise|reduce|select) .*, CPU|ewise_(add|mult).*, CPU": (1.2, 0.8),
    r"reading.*": (60, 25),
    r"names.*": (800, 450),
    r"(sssp|mst), nothing cached": (2000, 1000),
    r"(bfs|scc), nothing cached": (1000, 1000),
    r".*, nothing cached, GPU": (2000, 1000),
    r"semiring sssp, whole command": (700, 500),
    r"semiring --version, whole command": (300, 200),
    r"import algorithms": (150, 100),
    r"SSSP, New York.*|a negative cycle.*": (100, 30),
    r"SSSP, path and star, negative weights": (300, 300),
    r"(SSSP|BFS), path and star": (35, 20),
    r"SCC, path and star": (40, 20),
    r"SCC, a bow tie.*": (15, 5),
    r"SCC, a row of cycles": (60, 20),
    r"SCC, a graph without cycles": (5, 2),
    r"MST, symmetrize=True, uniform": (2.8, 1.4),
    r"MST, symmetrize=True, R-MAT": (4.4, 2.2),
    r"extract a row, GPU": (0.06, 0.06),
    r"sparse .*, GPU": (0.12, 0.06),
    r".*, GPU": (5, 2.5),
}
"""Limits by the name of a case; those of files are in nanoseconds."""

LAUNCHES_MS = 0.06
"""Milliseconds for launches and waits of a matrix verb on a GPU, beside the multiple of its least bytes."""


def rows(setting: Setting) -> Iterator[Row]:
    """Every case of the device, part by part; parts that an interrupted run has are kept."""
    for name, cases in (ON_GPU if setting.device == "cuda" else ON_CPU).items():
        if kept := setting.kept_rows(name):
            yield from kept
            continue
        for timed in cases(setting):
            yield row(name, timed)
        released(setting.device)


def shortest_paths(setting: Setting) -> Iterator[Timed]:
    """Weights below zero, planted cycles, queues of single vertices, first searches, small graphs."""
    from . import paths

    for path in paths.rows(folder(setting), quick=setting.quick, repeats=min(setting.repeats, 5)):
        beside = path.case + (" beside igraph" if path.peer == "igraph" else "")
        by_itself = path.case.startswith("schedule")
        yield limited(LIMITS, beside, path.graph, path.ms, path.peer, None if by_itself else path.peer_ms)


def other_searches(setting: Setting) -> Iterator[Timed]:
    """Components, searches and forests."""
    from . import searches

    shrink, calls = 10 if setting.quick else 0, min(setting.repeats, 5)
    for case, ms, peer, peer_ms in searches.rows(folder(setting), shrink=shrink, calls=calls):
        yield limited(LIMITS, case, "", ms, peer, peer_ms)


def matrix_verbs(setting: Setting) -> Iterator[Timed]:
    """Verbs on matrices of 10^7 entries."""
    from . import verbs

    for verb in verbs.rows(setting.quick, min(setting.repeats, 5)):
        yield limited(LIMITS, f"{verb['case']}, CPU", "", verb["ours_ms"], "python-graphblas", verb["graphblas_ms"])


def files(setting: Setting) -> Iterator[Timed]:
    """Reading text; nanoseconds an edge stand where milliseconds do elsewhere."""
    from . import reading

    size = (1 << 8, 1 << 10) if setting.quick else (1 << 18, 1 << 21)
    for file in reading.reading(*size, repeats=min(setting.repeats, 5)):
        yield limited(LIMITS, file["case"], "nanoseconds an edge", file["ns_an_edge"])
    for way in reading.names(*size, repeats=min(setting.repeats, 3)):
        yield limited(LIMITS, way["case"], "nanoseconds an edge", way["ns_an_edge"])


def first_calls(setting: Setting) -> Iterator[Timed]:
    """With nothing compiled, and a whole command whose kernels are on disk."""
    from . import cold

    names = ("bfs",) if setting.quick else tuple(cold.ANSWERS)
    if setting.device == "cuda":
        for name in () if setting.quick else names:
            (seconds,) = cold.first_calls(name, ("float32",), "cuda").values()
            yield limited(LIMITS, f"{name}, nothing cached, GPU", "float32", 1000 * seconds)
        return
    for name in names:
        for dtype, seconds in cold.first_calls(name).items():
            yield limited(LIMITS, f"{name}, nothing cached", dtype, 1000 * seconds)
    repeats = 1 if setting.quick else 5
    for name in cold.COMMANDS:
        yield limited(LIMITS, f"{name}, whole command", "Rome", 1000 * cold.whole_command(name, repeats))
    yield limited(LIMITS, "import algorithms", "beyond NumPy", 1000 * cold.import_beyond_numpy(repeats))


def whole_algorithms(setting: Setting) -> Iterator[Timed]:
    """On a GPU: weights below zero, cycles, long tails, hubs."""
    from . import gpu

    for case, ms, right in gpu.rows("cuda", folder(setting), 200 if setting.quick else 1):
        insist(case, right)
        yield limited(LIMITS, case, "", ms)


def matrix_verbs_on_gpu(setting: Setting) -> Iterator[Timed]:
    """Beside the least bytes that they must move."""
    from . import gpuverbs

    for case, ms, floor_ms, right in gpuverbs.rows(9 if setting.quick else 20):
        insist(case, right)
        alone = case == "extract a row" or case.startswith("sparse")
        yield limited(
            LIMITS, f"{case}, GPU", "R-MAT", ms, "floor", None if alone else floor_ms, 0 if alone else LAUNCHES_MS
        )


ON_CPU: dict[str, Callable[[Setting], Iterator[Timed]]] = {
    "shortest paths": shortest_paths,
    "searches": other_searches,
    "matrix verbs": matrix_verbs,
    "files": files,
    "first calls": first_calls,
}
ON_GPU: dict[str, Callable[[Setting], Iterator[Timed]]] = {
    "whole algorithms": whole_algorithms,
    "matrix verbs": matrix_verbs_on_gpu,
    "first calls": first_calls,
}
"""The parts of the table."""


def folder(setting: Setting) -> Path:
    """Returns the folder of the files with real graphs; those that are not there are left out."""
    return setting.data or Path("nowhere")


CLIFFS = Experiment(
    name="cliffs",
    title="One step beside the usual call",
    source="limits of our own",
    about=(
        "What weights below zero, long paths with hubs, first calls, small graphs, matrix verbs and files take, beside "
        "other libraries, C++ code or the least bytes, and what they may take at most. What is missed is a cliff."
    ),
    rows=rows,
    columns=COLUMNS,
    plot=no_plot,
    roads=True,
)
