"""`equations`: programs in verbs as users write them, run as written and as a whole, beside engines made by hand.

A row is one program (`programs`) on one graph. Verified means that the whole run has the bits of the program as
written, and that an engine's answer, where there is one, is the same. Medians of calls in turns, in milliseconds:

    ms           of the program as a whole, compiled
    written_ms   of the same program with fused=False
    engine_ms    of our own algorithm that is made for the problem
    first_ms     of the first call of the program as a whole, once: what is not compiled yet is compiled

Limits are shares of the engine's time, or, where there is no engine to be compared with, of the time as written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import numpy as np

import algorithms as al
from bench import plots
from bench.experiment import Experiment, Row, Setting, no_file
from bench.graphs import ROADS, grid, rmat, rmat_both_ways, roads
from bench.measure import Disagreement, rounded
from formats import CSR, Matrix, from_edges
from formats.arrays import Device, is_array, to_device
from semiring import fusible, mxm, select
from semiring.vectors import degrees, unweighted

from . import programs
from .fused import reached, sentence, stopwatch
from .fused_tasks import NEW_YORK, real_roads

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW_SECONDS = 2.0
"""Seconds of the timed calls of each contender of a row, of which there is at least one."""
SLOW_SECONDS = 10.0
"""Seconds of a verified call after which there is no other: that one counts."""
SOURCES = 8
"""Sources of betweenness."""
HOPS, TRUSS, ALPHA, FORBIDDEN = 12, 5, 1e-4, 4
"""Edges of the widest paths, k of the k-truss, α of Katz's centrality, and one in how many edges is forbidden."""
NEVER = 1e9
"""A bound for vertices from which no path leads to the target: longer than every path."""


# --- graphs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where a graph comes from.

    make: makes it on a device, given the road graphs' folder.  both_ways: true if edges go both ways, and only tasks
    that need that are asked of it, unless all_tasks.  file: that it is read from.
    """

    make: Callable[[Path, Device], CSR]
    both_ways: bool = True
    all_tasks: bool = False
    file: str = ""


GRAPHS: dict[str, dict[str, Source]] = {
    "cpu": {
        "NY": Source(lambda folder, device: real_roads(folder / NEW_YORK, device), all_tasks=True, file=NEW_YORK),
        "rmat18": Source(lambda folder, device: rmat(18, device=device), both_ways=False),
        "rmat18s": Source(lambda folder, device: rmat_both_ways(18, device=device)),
    },
    "cuda": {
        "NE": Source(lambda folder, device: roads(folder / ROADS, device=device), all_tasks=True, file=ROADS),
        "rmat20": Source(lambda folder, device: rmat(20, device=device), both_ways=False),
        "rmat20s": Source(lambda folder, device: rmat_both_ways(20, device=device)),
    },
}
QUICK: dict[str, Source] = {
    "grid16": Source(lambda folder, device: grid(16, device=device), all_tasks=True),
    "rmat8": Source(lambda folder, device: rmat(8, device=device), both_ways=False),
    "rmat8s": Source(lambda folder, device: rmat_both_ways(8, device=device)),
}


class Problem:
    """A graph, and what programs are called with on it, made once and not timed."""

    def __init__(self, A: CSR) -> None:
        self.A, self.P = A, unweighted(A)
        self.device: Device = "cpu" if A.place.on_host else "cuda"
        self.source = int(degrees(A).argmax())
        starts = np.flatnonzero(to_device(degrees(A), "cpu"))
        self.sources = starts[np.linspace(0, starts.size - 1, SOURCES).astype(np.int64)].tolist()
        seeds = np.zeros(A.nrows)
        seeds[starts[::97]], seeds[starts[::101]] = 1.0, -1.0
        self.seeds = to_device(seeds, A.place)

    @cached_property
    def width(self) -> float:
        return float(self.A.values.mean())

    @cached_property
    def split(self) -> tuple[Matrix, Matrix]:
        """The light edges and the heavy ones."""
        return select(self.A, "<=", self.width), select(self.A, ">", self.width)

    @cached_property
    def target(self) -> int:
        """The vertex that a tenth of those which the source leads to are nearer than."""
        d = to_device(al.sssp(self.A, self.source), "cpu")
        return int(d.argsort()[int(np.isfinite(d).sum()) // 10])

    @cached_property
    def bounds(self) -> Any:
        """Half of the distance of the target from each vertex."""
        d = to_device(al.sssp(self.A.T, self.target), "cpu")
        return to_device(np.where(np.isfinite(d), d / 2, NEVER).astype(self.A.dtype), self.A.place)

    @cached_property
    def allowed(self) -> Matrix:
        """The edges without a forbidden type, which their weights tell."""
        return select(self.A, lambda value, row, col: value % FORBIDDEN != 0)

    @cached_property
    def triangles(self) -> Matrix:
        """On each edge how many triangles it is in, where it is in one."""
        S = self.P.astype("int32")
        return mxm(S, S, "plus_pair", mask=S).astype("float64")

    @cached_property
    def ordered(self) -> tuple[Matrix, Any, Any]:
        """The edges once, numbered by weight and then by their ends."""
        u, v, w = (to_device(part, "cpu") for part in select(self.A, "triu", 1).to_edges())
        order = np.lexsort((v, u, w))
        u, v = u[order], v[order]
        K = from_edges(u, v, np.arange(u.size, dtype=np.int64), shape=self.A.shape).to(device=self.A.place)
        return K, *(to_device(part, self.A.place) for part in (u, v))

    @cached_property
    def floats(self) -> CSR:
        return self.A.astype("float64")


# --- tasks ------------------------------------------------------------------------------------------------------------


def same(found: Any, expected: Any) -> bool:
    """True if numbers, arrays and matrices are equal, dtypes and all."""
    if isinstance(found, tuple):
        return all(same(a, b) for a, b in zip(found, expected, strict=True))
    if isinstance(found, Matrix):
        return same(found.arrays, expected.arrays)
    a, b = (np.asarray(to_device(x, "cpu") if is_array(x) else x) for x in (found, expected))
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@dataclass(frozen=True)
class Task:
    """A program, and what it is compared with.

    call: calls it, or what it was compiled to, on a graph.  engine, named: our algorithm for the problem, and its name.
    agrees: compares a program's answer with an engine's.  at_least, goal: shares of the engine's time, or without one
    of the time as written.  both_ways: true if it means something only where edges go both ways.
    """

    program: Callable[..., Any]
    call: Callable[[Callable[..., Any], Problem], Any]
    at_least: float = 0.2
    goal: float = 0.05
    named: str = ""
    engine: Callable[[Problem], Any] | None = None
    agrees: Callable[[Problem, Any, Any], bool] = lambda p, found, expected: same(found, expected)
    both_ways: bool = False


def same_forest(p: Problem, chosen: Any, F: Any) -> bool:
    """True if the chosen edges are the forest's."""
    n, (_, u, v) = p.A.nrows, p.ordered
    keys = (to_device(part, "cpu").astype(np.int64) for part in (u[chosen], v[chosen], F.rows, F.cols))
    u, v, rows, cols = keys
    return np.array_equal(np.sort(u * n + v), np.sort(rows * n + cols))


def same_shares(p: Problem, total: Any, expected: Any) -> bool:
    """True if sums of shares are those that betweenness is made of, at all but the sources."""
    total, expected = (to_device(x, "cpu") for x in (total, expected))
    others = np.setdiff1d(np.arange(p.A.nrows), p.sources)
    return np.allclose(total[others], expected[others] * len(p.sources) * (p.A.nrows - 2), rtol=1e-9)


TASKS: dict[str, Task] = {
    "distances": Task(
        programs.distances,
        lambda f, p: f(p.A, p.source),
        *(1.3, 1.05, "bellman_ford"),
        lambda p: al.bellman_ford(p.A, p.source),
    ),
    "levels": Task(
        programs.levels,
        lambda f, p: f(p.P, p.source),
        *(1.5, 1.1, "bfs"),
        lambda p: al.bfs(p.P, p.source),
    ),
    "Δ-stepping": Task(
        programs.bucketed,
        lambda f, p: f(*p.split, p.source, p.width),
        *(3, 1.3, "delta_stepping"),
        lambda p: al.delta_stepping(p.A, p.source, delta=p.width),
    ),
    "labels by minimum": Task(
        programs.labels,
        lambda f, p: f(p.P),
        *(3, 2, "scc, weak"),
        lambda p: al.scc(p.P, weak=True),
        both_ways=True,
    ),
    "strong components": Task(programs.strong_components, lambda f, p: f(p.P), *(2, 1.2, "scc"), lambda p: al.scc(p.P)),
    "forest": Task(
        programs.forest,
        lambda f, p: f(*p.ordered),
        *(3, 1.5, "boruvka"),
        lambda p: al.boruvka(p.A),
        same_forest,
        both_ways=True,
    ),
    "core numbers": Task(
        programs.cores,
        lambda f, p: f(p.P),
        *(3, 1, "core_number"),
        lambda p: al.core_number(p.P),
        both_ways=True,
    ),
    "betweenness": Task(
        programs.dependencies,
        lambda f, p: sum(f(p.P, s) for s in p.sources),
        *(4, 1.5, "betweenness_centrality"),
        lambda p: al.betweenness_centrality(p.P, sources=p.sources),
        same_shares,
    ),
    "PageRank": Task(programs.ranks, lambda f, p: f(p.floats), 0.9, 0.8),
    "HITS": Task(programs.hubs_and_authorities, lambda f, p: f(p.floats), 0.9, 0.8),
    "Katz": Task(programs.katz, lambda f, p: f(p.floats, ALPHA), 0.9, 0.8),
    "independent set": Task(programs.independent, lambda f, p: f(p.P), both_ways=True),
    "k-truss": Task(programs.truss, lambda f, p: f(p.P, TRUSS), both_ways=True),
    "label spreading": Task(programs.spread, lambda f, p: f(p.triangles, p.seeds), both_ways=True),
    "bipartite": Task(programs.is_bipartite, lambda f, p: f(p.P), both_ways=True),
    "forbidden types": Task(programs.levels, lambda f, p: f(p.allowed, p.source)),
    "widest, few hops": Task(programs.widest_within, lambda f, p: f(p.A, p.source, HOPS)),
    "A*": Task(programs.towards, lambda f, p: f(p.A, p.source, p.target, p.bounds)),
}
"""Every task by its name."""


# --- rows -------------------------------------------------------------------------------------------------------------


def rows(setting: Setting) -> Iterator[Row]:
    """A row for each program on each graph on which it means something."""
    graphs = QUICK if setting.quick else GRAPHS[setting.device]
    for name in filter(setting.wants, graphs):
        origin, problem = graphs[name], None
        if origin.file and not (setting.data is not None and (setting.data / origin.file).exists()):
            yield {"graph": name, "question": "graph"} | no_file("semiring", origin.file)
            continue
        for named in tasks(origin, setting):
            if kept := setting.kept_rows(name, named):
                yield from kept
                continue
            problem = problem or Problem(origin.make(setting.data or Path(), setting.device))
            row = {"graph": name, "question": named, "contender": named, "n": problem.A.nrows, "nnz": problem.A.nnz}
            try:
                yield row | measured(named, problem, setting.repeats)
            except MemoryError as error:
                yield row | {"missing": sentence(error)}


def tasks(origin: Source, setting: Setting) -> list[str]:
    """The names of the tasks that are wanted, and that the graph is for."""
    wanted = setting.tasks or tuple(TASKS)
    return [
        name
        for name, task in TASKS.items()
        if name in wanted and (origin.all_tasks or task.both_ways is origin.both_ways)
    ]


def measured(name: str, p: Problem, repeats: int) -> Row:
    """A row's figures. Disagreement, before anything is timed, if the contenders' answers differ."""
    task = TASKS[name]
    compiled = fusible(task.program)
    written_s, expected = stopwatch(lambda: task.call(task.program, p), p.device)  # makes what is not timed, too
    first_s, found = stopwatch(lambda: task.call(compiled, p), p.device)
    if not same(found, expected):
        raise Disagreement(f"{name} as a whole has other bits than as written: it is not timed")
    calls: dict[str, Callable[[], Any]] = {
        "ms": lambda: task.call(compiled, p),
        "written_ms": lambda: task.call(task.program, p),
    }
    if (engine := task.engine) is not None:
        calls["engine_ms"] = lambda: engine(p)
        if not task.agrees(p, expected, engine(p)):
            raise Disagreement(f"{name} gives something else than {task.named}: it is not timed")
    slow = {"ms": first_s, "written_ms": written_s}
    figures = in_turns(calls, p.device, repeats, {figure: [s * 1e3] for figure, s in slow.items() if s > SLOW_SECONDS})
    base = figures["engine_ms" if engine else "written_ms"]
    limits = task.goal * median(base), task.at_least * median(base)
    ms = median(figures["ms"])
    low, _, high = quantiles(figures["ms"], n=4, method="inclusive") if len(figures["ms"]) > 1 else [ms] * 3
    return {
        "verified": True,
        "checked_by": ", ".join(["as written", task.named] if engine else ["as written"]),
        **{figure: rounded(median(times)) for figure, times in figures.items()},
        "low_ms": rounded(low),
        "high_ms": rounded(high),
        "repeats": len(figures["ms"]),
        "first_ms": rounded(first_s * 1e3),
        "first_written_ms": rounded(written_s * 1e3),
        "times_as_fast": rounded(median(figures["written_ms"]) / ms),
        "engine": task.named or None,
        "to_engine": rounded(ms / median(base)) if engine else None,
        "goal_ms": rounded(limits[0]),
        "at_least_ms": rounded(limits[1]),
        "reached": reached(ms, *limits),
    }


def in_turns(
    calls: dict[str, Callable[[], Any]], device: Device, repeats: int, taken: dict[str, list[float]]
) -> dict[str, list[float]]:
    """The milliseconds of each call, one of each in turn, while it has time; of a slow one there is one alone.

    taken: milliseconds of calls that have been made.
    """
    taken = {figure: taken.get(figure, []) for figure in calls}
    for _ in range(repeats):
        for figure, call in calls.items():
            if sum(taken[figure]) < ROW_SECONDS * 1e3:
                taken[figure].append(stopwatch(call, device)[0] * 1e3)
    return taken


def plot(rows: list[Row]) -> Figure | None:
    """A panel for each graph: milliseconds of each program as written, as a whole, and of the engine."""
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    if not graphs:
        return None
    bars = {"as written": "written_ms", "as a whole": "ms", "engine": "engine_ms"}
    made, axes = plots.figure(len(graphs), columns=1, width=14)
    for ax, graph in zip(axes, graphs, strict=True):
        drawn = [
            {"task": row["question"], "contender": contender, "ms": row[figure]}
            for row in rows
            for contender, figure in bars.items()
            if row["graph"] == graph and row.get(figure)
        ]
        plots.bars(ax, drawn, "task", "ms", order=list(bars), log_y=True)
        plots.label(ax, graph, "", "milliseconds")
    return made


EQUATIONS = Experiment(
    name="equations",
    title="Programs in verbs",
    source="ours",
    about=(
        "Programs as users write them, run verb by verb as they are written, and as a whole, on roads and two R-MAT "
        "graphs; edges of the last go both ways. Where we have an engine for the same problem, it is timed, too, and "
        "`to engine` says how many times its time the program takes. A first call compiles what is not compiled yet."
    ),
    rows=rows,
    columns=(
        *("graph", "question", "written_ms", "ms", "times_as_fast", "engine", "engine_ms", "to_engine"),
        *("at_least_ms", "goal_ms", "reached", "first_ms", "checked_by"),
    ),
    plot=plot,
    devices=("cpu", "cuda"),
    roads=True,
    by_graph=True,
    by_task=True,
)
