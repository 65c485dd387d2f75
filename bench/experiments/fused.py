"""Algorithms that a backend runs as a whole, each verified first, then timed beside its targets and its peers.

A row is one algorithm on one graph (`fused_tasks`), from the vertex of largest out-degree. Verified means equal, to the
last bit, to the definition's answer on the same device (`fused=False`), and checked independently of us. On a GPU the
equation alone checks distances and levels, which it settles. Then, medians:

    ms              of one call, on a GPU from when it was queued as far as it does not wait for its own results
    wall_ms         of one call, by the host's clock
    definition_ms   of the definition, wall time, once
    first_ms        of a call on a matrix that nothing is kept with yet, kernels compiled, wall time, once

`kept_bytes_per_edge` is what the matrix then keeps. `peak_bytes_per_vertex` is what one more call holds at most beside
that, its answer included: of CuPy's pool, or of what Python's tracemalloc sees, which is NumPy's arrays but not what
compiled loops and GraphBLAS allocate for themselves.

Targets on a GPU are an H100's milliseconds. On a CPU, whose speeds differ more, they are shares of SciPy's time in the
same run: 0.32 and 0.293 of its Dijkstra stand for the GAP benchmark's times on NY and rmat20, 0.24 and 0.22 for 0.75 of
them. Finding parents, too, may take 1.4 times as long as not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from bench.experiment import Experiment, Row, Setting, released
from bench.measure import Disagreement, peak_bytes, rounded
from formats import CSR, Matrix, OutOfDeviceMemory, OutOfHostMemory
from formats.arrays import Device, finish
from semiring import explain
from semiring.tuning.timing import device_ms, finished_ms, host_ms
from semiring.vectors import degrees

from .fused_tasks import FORESTS, GRAPHS, Problem, Task, chosen, tasks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OWN = "prototype"
"""Among the peers what is no other's: kernels of our own that did only this."""
ROW_SECONDS = 4.0
"""Seconds of the timed runs of a row: slow ones are repeated less often, but at least MIN_RUNS times."""
MIN_RUNS = 3
SLOW_SECONDS = 1.0
"""A definition that takes longer is not run again to be timed with its kernels compiled."""
WITH_PARENTS = 1.4
"""Times that a call may take when it also finds parents, to one that does not."""


# --- targets and peers ------------------------------------------------------------------------------------------------

TARGETS: dict[str, dict[str, tuple[float, float]]] = {
    "SSSP": {
        "NE": (5.0, 6.5),
        "grid2k": (10.0, 12.5),
        "rmat20": (1.8, 3.1),
        "rmat22": (4.5, 7.0),
        "rmat22s": (4.5, 7.5),
        "unif8M": (3.5, 5.0),
    },
    "BFS": {
        "NE": (4.0, 8.0),
        "grid2k": (9.0, 22.0),
        "rmat20": (0.18, 0.28),
        "rmat22": (0.5, 0.75),
        "rmat22s": (0.45, 0.75),
        "unif8M": (1.8, 3.0),
    },
    "SCC": {
        "NE": (6.0, 12.0),
        "grid2k": (1.5, 25.0),
        "rmat20": (0.5, 0.8),
        "rmat22": (1.6, 2.5),
        "rmat22s": (1.5, 2.2),
        "unif8M": (4.5, 7.0),
    },
    "MST": {"NE": (0.7, 0.95), "grid2k": (2.0, 2.9), "rmat22s": (4.5, 7.0)},
}
"""Milliseconds on an H100: the goal, and what is to be reached at least."""

SHARES: dict[str, dict[str, tuple[float, float]]] = {
    "SSSP": {"NY": (0.24, 0.32), "rmat20": (0.22, 0.293)},
    "BFS": {"NY": (1.0, 1.0), "rmat20": (1.0, 1.0)},
    "SCC": {"NY": (1.0, 1.0), "rmat20": (1.0, 1.0)},
    "MST": {"NY": (1.0, 1.0), "rmat20": (1.0, 1.0)},
}
"""The same on a CPU, as shares of SciPy's time."""

PEERS: dict[str, dict[str, dict[str, float]]] = {
    "SSSP": {
        "cuGraph": {"NE": 1667, "grid2k": 3145, "rmat20": 48.6, "rmat22": 65.9, "rmat22s": 73.7, "unif8M": 57.6},
        "ADDS": {"NE": 15.6, "grid2k": 41.5, "unif8M": 5.2},
        "prototype": {"NE": 6.4, "grid2k": 12.2, "rmat20": 3.1, "rmat22": 7.0, "rmat22s": 8.0, "unif8M": 5.0},
    },
    "BFS": {
        "cuGraph": {"NE": 433, "grid2k": 964, "rmat20": 3.8, "rmat22": 5.7, "rmat22s": 3.5, "unif8M": 11.0},
        "prototype": {"NE": 13.6, "grid2k": 39.7, "rmat20": 0.25, "rmat22": 0.72, "rmat22s": 0.70, "unif8M": 3.0},
    },
    "SCC": {
        "cuGraph": {"rmat20": 21.6, "rmat22": 43.3},
        "ECL-SCC": {"NE": 10, "grid2k": 1.5, "rmat20": 8.7, "rmat22": 24.1, "rmat22s": 12.0, "unif8M": 12.1},
        "prototype": {"NE": 28.7, "grid2k": 91.9, "rmat20": 0.76, "rmat22": 2.4, "rmat22s": 2.1, "unif8M": 7.0},
    },
    "MST": {
        "cuGraph": {"NE": 20.8, "grid2k": 54.3, "rmat22s": 68.8},
        "ECL-MST": {"NE": 1.0, "grid2k": 6.9, "rmat22s": 49.8},
        "prototype": {"NE": 0.95, "grid2k": 2.9, "rmat22s": 6.6},
    },
}
"""Milliseconds of others on an H100, 2026-11-21, measured elsewhere.

They are cuGraph 26.10, ADDS (PPoPP 2021), ECL, and throw-away kernels that did only this."""


def targets(task: Task, graph: str, device: Device, scipy_ms: float | None, without: float | None) -> tuple[Any, Any]:
    """Returns goal and required time in milliseconds; None where there is none.  without: our time without parents."""
    if task.parents:
        return (None, None) if without is None else (WITH_PARENTS * without, WITH_PARENTS * without)
    if device == "cuda":
        return TARGETS[task.kind].get(graph, (None, None))
    shares = SHARES[task.kind].get(graph)
    return (None, None) if shares is None or scipy_ms is None else (shares[0] * scipy_ms, shares[1] * scipy_ms)


def reached(milliseconds: float, goal: float | None, at_least: float | None) -> str | None:
    """Tells which of its targets a time has reached; None if it has none."""
    if goal is None or at_least is None:
        return None
    return "goal" if milliseconds <= goal else "at least" if milliseconds <= at_least else "missed"


# --- running ----------------------------------------------------------------------------------------------------------


def rows(setting: Setting) -> Iterator[Row]:
    """Every algorithm on every graph; what does not fit is missing."""
    device, folder = setting.device, setting.data or Path()
    for name in chosen(device, folder, quick=setting.quick):
        if kept := setting.kept_rows(name):
            yield from kept
            continue
        released(device)
        A = GRAPHS[name].make(device, folder)
        brief = device == "cuda" and not setting.quick
        problem = Problem(name, A, int(degrees(A).argmax()), GRAPHS[name].undirected, brief)
        without: dict[str, float] = {}
        for task in tasks():
            if task.kind == "MST" and name not in FORESTS and device == "cuda":
                continue
            row = {"graph": name, "n": A.nrows, "nnz": A.nnz, "source": problem.source, "contender": task.name}
            plain_ms = without.get(replace(task, parents=False).name) if task.parents else None
            try:
                figures = measured(task, problem, device, setting.repeats, plain_ms, brief)
            except (OutOfDeviceMemory, OutOfHostMemory) as error:
                yield row | {"missing": sentence(error)}
                continue
            without[task.name] = figures["ms"]
            yield row | figures
        del A, problem


def measured(
    task: Task, p: Problem, device: Device, repeats: int, without: float | None, brief: bool
) -> dict[str, Any]:
    """A row's figures, once it is verified. Disagreement, before anything is timed, if it is wrong.

    without: the time of the same without parents.
    """
    A: Any = p.A.astype(task.dtype)
    solve = partial(task.solve, p=p)
    told = explain(solve, fresh(A))  # compiles, too
    expected, definition_seconds = told.result, None
    if not (brief and task.settled):
        definition_seconds, expected = stopwatch(lambda: solve(fresh(A), fused=False), device)
    checked = verified(task, p, told.result, expected, definition_seconds is not None)
    if definition_seconds is not None and definition_seconds < SLOW_SECONDS:
        definition_seconds, _ = stopwatch(lambda: solve(fresh(A), fused=False), device)
    M = fresh(A)
    first_seconds, _ = stopwatch(lambda: solve(M), device)
    if task.kind == "BFS":
        solve(M, direction="pull")  # makes and keeps the columns, as many searches do
    one_seconds = min(stopwatch(lambda: solve(M), device)[0] for _ in range(2))  # what is kept is kept by now
    kept = M.kept_nbytes
    peak = peak_bytes(lambda: solve(M), device) - (M.kept_nbytes - kept)
    figures = timed(lambda: solve(M), partial(task.peer, p) if device == "cpu" else None, repeats, one_seconds)
    if not same(parts(solve(M)), parts(expected)):
        raise Disagreement(f"{task.name} on {p.name} computes something else the next time")
    goal, at_least = targets(task, p.name, device, figures.get("scipy_ms"), without)
    known = PEERS[task.kind] if device == "cuda" else {}
    peers = {peer: ms[p.name] for peer, ms in known.items() if p.name in ms and peer != OWN}
    best = min(peers, key=lambda peer: peers[peer], default=None)
    return {
        "verified": True,
        "checked_by": ", ".join(checked),
        "implementation": told.runs[0].implementation if told.runs else "definition",
        **figures,
        "definition_ms": None if definition_seconds is None else rounded(definition_seconds * 1e3),
        "first_ms": rounded(first_seconds * 1e3),
        "kept_bytes_per_edge": rounded(M.kept_nbytes / max(A.nnz, 1)),
        "peak_bytes_per_vertex": rounded(peak / max(A.nrows, 1)),
        "goal_ms": rounded(goal),
        "at_least_ms": rounded(at_least),
        "reached": reached(figures["ms"], goal, at_least),
        "to_without_parents": None if without is None else rounded(figures["ms"] / without),
        "best_of_others_ms": None if best is None else peers[best],
        "others": best,
        "ran": [
            {"algorithm": r.algorithm, "implementation": r.implementation, "why": r.why, "facts": plain(r.details)}
            for r in told.runs
        ],
    }


def verified(task: Task, p: Problem, answer: Any, expected: Any, defined: bool) -> list[str]:
    """Names the checks that an answer has passed; else Disagreement.  defined: `expected` is the definition's."""
    if not same(parts(answer), parts(expected)):
        raise Disagreement(f"{task.name} on {p.name} computes something else than its definition: it is not timed")
    checked = ["definition"] if defined else []
    for name, right in task.independent(p, parts(answer)):
        if not right:
            raise Disagreement(f"{task.name} on {p.name} is wrong by {name}: it is not timed")
        checked.append(name)
    return checked


def fresh(A: CSR) -> CSR:
    """The same matrix, with nothing kept."""
    return CSR.trusted(*A.components)


def parts(answer: Any) -> tuple[Any, ...]:
    """An answer as a tuple."""
    return answer if isinstance(answer, tuple) else (answer,)


def same(got: tuple[Any, ...], expected: tuple[Any, ...]) -> bool:
    """True if arrays and matrices are equal, dtypes and all."""
    pairs = [
        pair
        for a, b in zip(got, expected, strict=True)
        for pair in (zip(a.arrays, b.arrays, strict=True) if isinstance(a, Matrix) else [(a, b)])
    ]
    return all(a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all()) for a, b in pairs)


def stopwatch(call: Callable[[], Any], device: Device) -> tuple[float, Any]:
    """Returns the seconds of a call, everything on the device finished, and its result."""
    finish(device)
    start = time.perf_counter()
    answer = call()
    finish(device)
    return time.perf_counter() - start, answer


def timed(ours: Callable[[], Any], peer: Callable[[], Any] | None, repeats: int, one_seconds: float) -> dict[str, Any]:
    """Medians and quartiles, ms: on a GPU (no peer) the device's and the wall's, on a CPU also the peer's."""
    if peer is None:
        clocks = {"ms": lambda: device_ms(ours, 1), "wall_ms": lambda: finished_ms(ours, "cuda")}
        one_seconds *= 3
    else:
        clocks = {"ms": lambda: host_ms(ours), "scipy_ms": lambda: host_ms(peer)}
        one_seconds += host_ms(peer) / 1e3
    count = min(repeats, max(MIN_RUNS, int(ROW_SECONDS / one_seconds)))
    taken: dict[str, list[float]] = {figure: [] for figure in clocks}
    for _ in range(max(count, 2)):
        for figure, clock in clocks.items():
            taken[figure].append(clock())
    low, _, high = quantiles(taken["ms"], n=4, method="inclusive")
    medians = {figure: rounded(median(each)) for figure, each in taken.items()}
    return {"repeats": len(taken["ms"]), "low_ms": rounded(low), "high_ms": rounded(high)} | medians


def plain(x: Any) -> Any:
    """Facts as JSON has them: numbers and strings, in lists and dicts."""
    if isinstance(x, dict):
        return {str(key): plain(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [plain(value) for value in x]
    if hasattr(x, "tolist"):  # an array or a scalar of an array library
        x = x.tolist()
    if isinstance(x, list):
        return plain(x)
    finite = isinstance(x, float) and abs(x) < float("inf")
    return x if x is None or finite or isinstance(x, bool | int | str) else str(x)


def sentence(error: BaseException) -> str:
    """An error on a line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]


def plot(rows: list[Row]) -> Figure | None:
    """Milliseconds of each algorithm, graph by graph, without those that also find parents."""
    from bench import plots

    drawn = [row for row in rows if "parents" not in row["contender"]]
    if not drawn:
        return None
    made, (ax,) = plots.figure(1, width=7.2)
    plots.bars(ax, drawn, "graph", "ms", log_y=True)
    plots.label(ax, "one call", "", "milliseconds")
    return made


FUSED = Experiment(
    name="fused",
    title="Algorithms as a whole",
    source="our own; targets and others' times on a GPU as measured elsewhere on an H100 on 2026-11-21",
    about=(
        "Shortest paths, searches, components and forests, each run as one kernel on a GPU or as compiled loops on a "
        "CPU, from the vertex of largest out-degree. Verified to the last bit by the definition, where it is quick "
        "enough, and independently of us. Of the others the fastest is shown; on a GPU it was not measured here. The "
        "first call is one on a matrix that keeps nothing yet."
    ),
    rows=rows,
    columns=(
        *("graph", "nnz", "contender", "implementation", "ms", "goal_ms", "reached"),
        *("best_of_others_ms", "others", "scipy_ms", "first_ms", "definition_ms", "checked_by"),
    ),
    plot=plot,
    roads=True,
)
