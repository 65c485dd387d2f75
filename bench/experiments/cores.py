"""`cores`: every algorithm by the number of threads, on five graphs, each with the bits of its answer by one thread.

A row is one task on one graph by so many threads; the rows of a task follow each other. First calls are not timed.
All are verified, while the clock stands: an answer has the bits of the first one by one thread, those of trees, forests
and sums of floats too. Searches start from the vertex of largest out-degree, on roads and grids from one in the middle
of the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import algorithms as al
from bench import plots
from bench.experiment import Experiment, Row, Setting, no_file
from bench.graphs import ROADS, grid, rmat_both_ways, roads, uniform, web
from bench.measure import Disagreement, rounded
from formats import CSC, CSR, from_edges
from formats.system import cores
from semiring import MinPlus, PlusTimes, get_threads, mxv, threads
from semiring.vectors import degrees

from .fused import fresh, parts, same, sentence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THREADS = (1, 2, 4, 8, 16, 32)
ROW_SECONDS = 0.25
"""Seconds of the timed calls of a row, of which there is at least one."""
WARM_CALLS = 10
"""Calls by one thread before the first timed one, of slow tasks fewer."""
SOURCES, QUESTIONS = 64, 256
"""Sources of centralities and batches, and of a factor's questions."""
OUT_OF_TIME = "there was no time left"

# --- graphs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A graph's origin.

    make: makes it, given the road graphs' folder.  symmetric: true if edges go both ways.  flat: true of a road network
    or grid, which has a factor.  file: that it is read from.
    """

    make: Callable[[Path], CSR]
    symmetric: bool = True
    flat: bool = False
    file: str = ""


def generated(make: Callable[..., CSR], *arguments: int, **facts: bool) -> Source:
    """One of the benchmarks' graphs."""
    return Source(lambda folder: make(*arguments), **facts)


GRAPHS: dict[str, Source] = {
    "NE": Source(lambda folder: roads(folder / ROADS), flat=True, file=ROADS),
    "grid2k": generated(grid, 2048, flat=True),
    "rmat20s": generated(rmat_both_ways, 20),
    "uniform1M": generated(uniform, 1 << 20, 16, symmetric=False),
    "web1M": generated(web, 1 << 20, 16, symmetric=False),
}
SMALL: dict[str, Source] = {
    "NE": GRAPHS["NE"],
    "grid700": generated(grid, 700, flat=True),
    "rmat18s": generated(rmat_both_ways, 18),
    "uniform256k": generated(uniform, 1 << 18, 16, symmetric=False),
    "web256k": generated(web, 1 << 18, 16, symmetric=False),
}
QUICK: dict[str, Source] = {
    "grid30": generated(grid, 30, flat=True),
    "rmat8s": generated(rmat_both_ways, 8),
    "web512": generated(web, 1 << 9, 4, symmetric=False),
}


class Problem:
    """A graph, and what its tasks are asked about."""

    def __init__(self, origin: Source, folder: Path) -> None:
        self.A, self.symmetric, self.flat = origin.make(folder), origin.symmetric, origin.flat
        self.source = self.A.nrows // 3 if origin.flat else int(degrees(self.A).argmax())
        self.x = np.arange(self.A.ncols, dtype=self.A.dtype)

    def some(self, count: int) -> list[int]:
        """Vertices, spread over those that have edges."""
        starts = np.flatnonzero(degrees(self.A))
        return np.unique(starts[np.linspace(0, starts.size - 1, count).astype(np.int64)]).tolist()

    @cached_property
    def edges(self) -> tuple[np.ndarray, ...]:
        """Sources, targets and values, in random order."""
        order = np.random.default_rng(1).permutation(self.A.nnz)
        return tuple(part[order] for part in self.A.to_edges())

    @cached_property
    def symbolic(self) -> al.Symbolic:
        """The order and the pattern of the factor."""
        return al.symbolic_factor(self.A)

    @cached_property
    def factor(self) -> al.Factor:
        return self.symbolic.numeric(self.A)


# --- tasks ------------------------------------------------------------------------------------------------------------

TASKS: dict[str, Callable[[Problem], Any]] = {
    "sssp": lambda p: al.sssp(p.A, p.source),
    "sssp, parents": lambda p: al.sssp(p.A, p.source, return_parents=True),
    "bfs": lambda p: al.bfs(p.A, p.source),
    "bfs, parents": lambda p: al.bfs(p.A, p.source, return_parents=True),
    "scc, weak": lambda p: al.scc(p.A, weak=True),
    "scc": lambda p: al.scc(p.A),
    "boruvka": lambda p: al.boruvka(p.A, symmetrize=not p.symmetric),
    "mxv, min_plus": lambda p: mxv(p.A, p.x, MinPlus),
    "mxv, plus_times": lambda p: mxv(p.A, p.x, PlusTimes),
    "pagerank": lambda p: al.pagerank(p.A),
    "core_number": lambda p: al.core_number(p.A, symmetrize=not p.symmetric),
    "betweenness": lambda p: al.betweenness_centrality(p.A, sources=p.some(SOURCES)),
    "closeness": lambda p: al.closeness_centrality(p.A, vertices=p.some(SOURCES)),
    "sssp, batch": lambda p: al.sssp(p.A, sources=p.some(SOURCES)),
    "bfs, batch": lambda p: al.bfs(p.A, sources=p.some(SOURCES)),
    "factor": lambda p: p.symbolic.numeric(p.A),
    "factor, batch": lambda p: p.factor.distances(p.some(QUESTIONS), p.some(QUESTIONS)),
    "CSR to CSC": lambda p: fresh(p.A).to(CSC),
    "from_edges": lambda p: from_edges(*p.edges, shape=p.A.shape),
    "triangles": lambda p: al.triangles(p.A, symmetrize=not p.symmetric),
    "components": lambda p: al.components(p.A),
    "label_propagation": lambda p: al.label_propagation(p.A, symmetrize=not p.symmetric),
}
FLAT = ("factor", "factor, batch")
"""Tasks for roads and grids: others have no small separators."""


# --- rows -------------------------------------------------------------------------------------------------------------


def rows(setting: Setting) -> Iterator[Row]:
    """A row for each task and number of threads; each graph has an equal share of the seconds that are left for it."""
    begun = perf_counter()
    graphs = QUICK if setting.quick else SMALL if setting.small else GRAPHS
    names = [name for name in graphs if setting.wants(name)]
    for k, name in enumerate(names):
        origin, problem = graphs[name], None
        if origin.file and not (setting.data is not None and (setting.data / origin.file).exists()):
            yield {"graph": name, "question": "graph"} | no_file("semiring", origin.file)
            continue
        now = perf_counter()
        until = now + (begun + setting.seconds - now) / (len(names) - k)
        for task in tasks(origin, setting):
            if kept := setting.kept_rows(name, task):
                yield from kept
                continue
            problem = problem or Problem(origin, setting.data or Path())
            facts = {"graph": name, "question": task, "n": problem.A.nrows, "nnz": problem.A.nnz}
            yield from (facts | row for row in by_threads(task, problem, setting, until))


def tasks(origin: Source, setting: Setting) -> list[str]:
    """The names of the tasks that are wanted, and that the graph is for."""
    return [task for task in setting.tasks or TASKS if task in TASKS and (origin.flat or task not in FLAT)]


def by_threads(task: str, p: Problem, setting: Setting, until: float) -> Iterator[Row]:
    """The rows of a task, of which the first is by one thread; after `until`, and where a row would end later, none.

    Some tasks cannot be done on some graphs: paths of a large grid are too many to be counted.

    Disagreement if an answer has other bits than that by one thread.
    """
    expected: tuple[Any, ...] = ()
    one_ms = seconds = 0.0

    def call() -> float:
        """The seconds of a call whose answer is verified; the first one's is what others are compared with."""
        nonlocal expected
        begun = perf_counter()
        found = TASKS[task](p)
        taken = perf_counter() - begun
        got = answer(p, found)
        expected = expected or got
        if not same(got, expected):
            raise Disagreement(f"{task} by {get_threads()} threads has other bits than by one")
        return taken

    for count in counts():
        row = {"contender": f"{task}, {count} threads", "threads": count}
        if perf_counter() + 2 * seconds > until:
            yield row | {"missing": OUT_OF_TIME}
            continue
        with threads(count):
            try:
                warm = [call()]  # compiles and begins threads
            except (ArithmeticError, MemoryError) as error:
                yield row | {"missing": sentence(error)}
                continue
            while count == 1 and (len(warm) < 2 or (len(warm) < WARM_CALLS and sum(warm[1:]) < ROW_SECONDS)):
                warm.append(call())  # what later calls find is kept with the matrix by and by
            times = [seconds := call()]
            for _ in range(1, min(setting.repeats, int(ROW_SECONDS / seconds))):
                times.append(call())
        ms = median(times) * 1e3
        low, _, high = [each * 1e3 for each in quantiles(times, n=4, method="inclusive")] if times[1:] else [ms] * 3
        one_ms = one_ms or ms
        figures = {"ms": ms, "low_ms": low, "high_ms": high, "times_as_fast": one_ms / ms}
        row |= {figure: rounded(value) for figure, value in figures.items()}
        yield row | {"repeats": len(times), "verified": True}


def counts() -> list[int]:
    """Numbers of threads for which this process has cores; 2 are tried anyway."""
    return [count for count in THREADS if count <= max(len(cores()), 2)]


def answer(p: Problem, found: Any) -> tuple[Any, ...]:
    """An answer's arrays and matrices; of a factor the distances that it gives."""
    return parts(found.solve(p.source) if isinstance(found, al.Factor) else found)


def plot(rows: list[Row]) -> Figure | None:
    """A panel for each task: milliseconds by threads, a line for each graph."""
    names = [task for task in TASKS if any(row["question"] == task for row in rows)]
    if not names:
        return None
    order = list(dict.fromkeys(row["graph"] for row in rows))
    figure, axes = plots.figure(len(names), columns=3, width=4)
    for ax, task in zip(axes, names, strict=True):
        plots.lines(ax, [row for row in rows if row["question"] == task], "threads", "ms", by="graph", order=order)
        plots.label(ax, task, "threads", "ms")
    return figure


CORES = Experiment(
    name="cores",
    title="Every algorithm by the number of threads",
    source="ours",
    about=(
        "Each task on roads, a grid, an R-MAT graph, a uniform one and one like the web, by 1 to 32 threads, as far as "
        "there are cores. All answers have the same bits, which is verified. "
        "`times as fast` compares with one thread. With --small the graphs are a quarter as large, and --seconds ends "
        "a table in time."
    ),
    rows=rows,
    columns=("graph", "question", "threads", "ms", "low_ms", "high_ms", "times_as_fast", "repeats"),
    plot=plot,
    devices=("cpu",),
    roads=True,
    by_graph=True,
    by_task=True,
)
