"""Times what each threshold that chooses a path gains, on a graph that it was made for.

A row is a constant of a module. The task is run by two processes in turns: one as the code is, and one in which the
constant has a value that switches its path off, or on where it keeps small work out (`bench.patched`). `gain` is the
time of the second over that of the first: at 1 the path decides nothing, and a constant without a gain has no reason to
be. On a CPU one thread is timed by the time of its process; thresholds of threads are timed by the clock, with all.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING, Any

from bench.experiment import Experiment, Row, Setting
from bench.measure import rounded
from formats.arrays import Device

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEVER, ALWAYS = 1 << 30, 0
"""Values that no size reaches, and that every one does."""
SECONDS, LEAST = 6.0, 4
"""Seconds that the turns of a constant may take, but for the first of them."""


@dataclass(frozen=True)
class Threshold:
    """A constant, by its module and name, the value that switches its path off, and where that is seen.

    threads: of the task; 0 for all.
    """

    name: str
    other: float
    task: str
    graph: str
    device: Device = "cpu"
    threads: int = 1

    @property
    def place(self) -> tuple[str, str]:
        """The module's full name, and the constant's."""
        module, _, constant = self.name.rpartition(".")
        return module if module.startswith("semiring.") else f"algorithms.{module}", constant

    @property
    def question(self) -> str:
        """The name and the other value: what a row answers."""
        return f"{self.name} as {self.other}"


ON_CPU = (
    ("csgraph.graphs.SOON", ALWAYS, "SciPy's dijkstra", "grid100"),
    ("csgraph.paths.DENSE", NEVER, "SciPy's all pairs", "complete400"),
    ("csgraph.small.SMALL", ALWAYS, "SciPy's dijkstra", "grid50"),
    ("fused.cpu.batched_lanes.MIN_SOURCES", NEVER, "distances from 64", "rmat16"),
    ("fused.cpu.batched_lanes.MAX_LOOKS_PER_EDGE", NEVER, "distances from 64", "hubs300"),
    ("fused.cpu.batched_trees.MIN_SOURCES", NEVER, "trees from 64", "rmat16"),
    ("fused.cpu.bfs.LARGE_EDGES", NEVER, "levels", "rmat18"),
    ("fused.cpu.bfs.MIN_NNZ", ALWAYS, "levels", "rmat12"),
    ("fused.cpu.components.MAX_SAMPLED_ROOTS", NEVER, "weak components", "rmat18"),
    ("fused.cpu.components.MIN_NNZ_FOR_GIANT", ALWAYS, "weak components", "grid60"),
    ("fused.cpu.distance_sums.GATHER_DIVISOR", ALWAYS, "closeness", "twoway13"),
    ("fused.cpu.forest.GIANT_SHARE", 2, "forest, first call", "NY"),
    ("fused.cpu.forest.MAX_NNZ_IN_ORDER", ALWAYS, "forest", "ones16"),
    ("fused.cpu.forest.MAX_THREADS_TO_SORT", ALWAYS, "forest", "NY"),
    ("fused.cpu.giant.MIN_NEW_VERTICES_PER_ROW", ALWAYS, "weak components", "uniform200"),
    ("fused.cpu.giant.MAX_OPEN_SHARE", 2, "weak components", "NY"),
    ("fused.cpu.giant.MAX_REST_SHARE", 2, "weak components", "islands500"),
    ("fused.cpu.giant.TRIAL_SHARE", 1, "weak components", "NY"),
    ("fused.cpu.giant.MIN_CLOSED_SHARE", 2, "weak components", "rmat18"),
    ("fused.cpu.light_edges.MIN_MEAN_NNZ", NEVER, "forest, first call", "twoway16"),
    ("fused.cpu.near_far.MIN_SKEW", NEVER, "distances", "rmat16"),
    ("fused.cpu.words.MAX_DEPTH_POWER", 1, "strong components", "oneway500"),
    ("fused.cpu.reach.MAX_QUEUE_SHARE", ALWAYS, "strong components", "rmat18"),
    ("fused.cpu.reach.MIN_NEW_MARKS_PER_EDGE", ALWAYS, "strong components", "rmat18"),
    ("fused.cpu.reach.SWEEPS", ALWAYS, "strong components", "rmat18"),
    ("fused.cpu.reach.MIN_FOUND_SHARE", ALWAYS, "strong components", "rmat18"),
    ("fused.cpu.relaxation.CROWD", ALWAYS, "a near target", "uniform200"),
    ("fused.cpu.relaxation.HALVINGS", ALWAYS, "a near target", "rmat18"),
    ("fused.cpu.scc.DENSE_DEGREE", NEVER, "strong components", "rmat18"),
    ("fused.cpu.scc.MIN_FOUND_VERTICES", ALWAYS, "strong components", "rmat12"),
    ("fused.cpu.scc.GIANT_SHARE", 2, "strong components", "rmat18"),
    ("fused.cpu.scc.LAST_LOOK_SHARE", ALWAYS, "strong components", "uniform200"),
    ("fused.cpu.scc.MIN_REST_SHARE", 2, "strong components", "rmat18"),
    ("fused.cpu.searches.MIN_SEARCHES", NEVER, "levels from 64", "rmat18"),
    ("fused.cpu.searches.PULL_DIVISOR", 1, "levels from 64", "rmat18"),
    ("fused.cpu.searches.MIN_EDGES_FOR_THREADS", NEVER, "levels from 64", "rmat18"),
    ("fused.cpu.searches.MIN_BITS_PER_WORD", ALWAYS, "levels from 64", "NY"),
    ("fused.cpu.trees.LONG_ROW_NNZ", ALWAYS, "tree", "NY"),
    ("fused.essential.SHARE", ALWAYS, "distances", "rmat18"),
    ("fused.essential.MIN_NNZ", NEVER, "distances", "rmat18"),
    ("semiring.cpu.columns.MAX_COLUMN_WASTE", 1, "product with 20 columns", "rmat16"),
    ("semiring.cpu.compiled.MIN_SHARE_FOR_SCAN", 2, "push of 1/8", "rmat18"),
    ("semiring.cpu.gustavson.MAX_INSERTED_PLACES", ALWAYS, "square", "grid500"),
    ("semiring.cpu.gustavson.SCANNED", ALWAYS, "square", "rmat12"),
    ("semiring.cpu.gustavson.PRODUCTS_PER_SEARCH_STEP", NEVER, "square under a mask", "rmat14"),
    ("semiring.cpu.reductions.MIN_COMPILED_RUNS", NEVER, "rows reduced", "grid500"),
    ("semiring.cpu.reductions.MAX_PLACES_PER_ENTRY", ALWAYS, "padded rows, first call", "grid500"),
    ("semiring.cpu.rows.MAX_NNZ_AS_ARRAYS", ALWAYS, "entries selected", "grid10"),
    ("semiring.cpu.spgemm.MAX_COLUMNS_OF_A_ROW", NEVER, "square", "grid500"),
    ("semiring.generic.layout.GATHER_FROM", ALWAYS, "pull of 1/100", "rmat16"),
)
"""Thresholds of one thread on a CPU."""


WITH_THREADS = (
    ("fused.cpu.batched_paths.MIN_SOURCES_PER_THREAD", "distances from 16", "rmat18"),
    ("fused.cpu.bfs.MIN_THREADS", "levels", "NE"),
    ("fused.cpu.bfs.MIN_VERTICES_PER_THREAD", "levels", "NE"),
    ("fused.cpu.betweenness.MIN_EDGES_FOR_THREADS", "betweenness of 32", "grid10"),
    ("fused.cpu.cores.MIN_THREADS", "core numbers", "rmat18"),
    ("semiring.cpu.dealing.MIN_NNZ_FOR_THREADS", "levels", "rmat14"),
    ("fused.cpu.distance_sums.MIN_EDGE_LOOKS_FOR_THREADS", "closeness", "grid30"),
    ("fused.cpu.near_far.MIN_THREADS", "distances", "rmat18"),
    ("fused.cpu.near_far.MIN_SHARED_EDGES", "distances", "rmat18"),
    ("fused.cpu.near_far.EDGES_PER_THREAD", "distances", "grid50"),
    ("fused.cpu.pagerank.MIN_NNZ_FOR_THREADS", "PageRank", "rmat12"),
    ("fused.cpu.searches.MIN_NNZ_FOR_THREADS", "levels from 64", "rmat10"),
    ("semiring.cpu.dealing.MIN_NNZ_FOR_THREADS", "weak components", "rmat14"),
    ("semiring.cpu.dealing.MIN_WORK_FOR_THREADS", "levels from 64", "grid50"),
    ("semiring.cpu.compiled.PLACES_PER_ELEMENT_FOR_A_THREAD", "push of 1/8", "rmat14"),
    ("semiring.cpu.threads.MIN_ENTRIES_FOR_THREADS", "product", "rmat10"),
)
"""Thresholds that keep small work from threads: the other value is 0."""

ON_GPU = (
    ("fused.cuda.batches.MIN_STEP_EDGES", ALWAYS, "distances from 64", "rmat20"),
    ("fused.cuda.essential.MIN_SOURCES", NEVER, "distances from 64", "rmat20"),
    ("fused.cuda.essential.MIN_SKEW", ALWAYS, "distances from 64", "uniform1000"),
    ("fused.cuda.graphs.MIN_DEGREE_FOR_LIGHT", NEVER, "forest, first call", "twoway20"),
    ("fused.cuda.graphs.MAX_PIVOT_LEVELS", NEVER, "strong components", "ring100"),
    ("fused.cuda.graphs.FIRST_LINKS_PER_VERTEX", ALWAYS, "weak components", "twoway20"),
    ("fused.cuda.graphs.MAX_LEVELS", NEVER, "levels", "ring100"),
    ("fused.cuda.paths.CALM_EDGES", ALWAYS, "distances", "ring100"),
    ("fused.cuda.paths.CROWD_SHARE", NEVER, "distances", "sparse4000"),
    ("fused.cuda.paths.DEEP_MEAN_DEGREE", ALWAYS, "distances", "NE"),
    ("fused.cuda.paths.DEEP_MIN_ENTRIES", ALWAYS, "distances", "NE"),
    ("fused.cuda.paths.DEEP_MAX_DEGREE", NEVER, "distances", "hubs1000"),
    ("fused.cuda.paths.MAX_DOUBLINGS", ALWAYS, "distances", "rmat22"),
    ("fused.cuda.paths.STEPS_OF_ALL_EDGES", NEVER, "distances", "rmat22"),
    ("fused.cuda.paths.MIN_NNZ_TO_WIDEN", NEVER, "distances", "rmat22"),
    ("fused.cuda.paths.TREE_ROUNDS", NEVER, "tree", "NE"),
    ("fused.cuda.paths.WIDE_MIN_EDGES", ALWAYS, "distances", "rmat18"),
    ("fused.cuda.searches.MIN_VERTICES_TO_COPY", NEVER, "levels from 64", "grid1000"),
    ("fused.cuda.searches.MAX_ALPHA", NEVER, "levels from 64", "rmat20"),
    ("fused.cuda.searches.MIN_SEARCHES_TO_PULL", NEVER, "levels from 64", "rmat20"),
    ("fused.cuda.topological.MAX_ROUNDS", ALWAYS, "topological order", "downward20"),
)


def thresholds(device: Device) -> list[Threshold]:
    """Returns the thresholds of a device."""
    if device == "cuda":
        return [Threshold(*row, device) for row in ON_GPU]
    shared = [Threshold(name, ALWAYS, task, graph, threads=0) for name, task, graph in WITH_THREADS]
    return [Threshold(*row) for row in ON_CPU] + shared


def rows(setting: Setting) -> Iterator[Row]:
    """Yields a row for each threshold, by two processes, of which the one without a change serves all of them."""
    known, unchanged = thresholds(setting.device), None
    with ExitStack() as stack:
        for each in [replace(each, graph="grid12") for each in (known[0], known[-1])] if setting.quick else known:
            if kept := setting.kept_rows(each.graph, each.question):
                yield from kept
                continue
            row = {"question": each.question, "graph": each.graph, "task": each.task, "contender": each.name}
            if unchanged is None or unchanged.poll() is not None or unchanged.threads != each.threads:
                unchanged = stack.enter_context(Process(each, setting))
            with Process(each, setting, *each.place, str(each.other)) as changed:
                yield row | {"other": each.other} | compared(each, (unchanged, changed), setting.repeats)


class Process(subprocess.Popen[str]):
    """A process that times tasks, with a change or as the code is."""

    def __init__(self, threshold: Threshold, setting: Setting, *change: str) -> None:
        where = threshold.device, str(threshold.threads), str(setting.data or Path())
        command = [sys.executable, "-m", "bench.patched", *where, *change]
        super().__init__(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.threads = threshold.threads

    def __exit__(self, *error: Any) -> None:
        self.kill()
        super().__exit__(*error)

    def asked(self, threshold: Threshold, turn: int) -> dict[str, Any]:
        """Returns the answer to a turn of the threshold's task; raises OSError if the process has ended."""
        assert self.stdin is not None
        assert self.stdout is not None
        print(threshold.task, threshold.graph, turn, sep="\t", file=self.stdin, flush=True)
        if not (line := self.stdout.readline()):
            raise OSError(f"the process that runs {threshold.task} has ended")
        return json.loads(line)


def compared(threshold: Threshold, pair: tuple[Process, ...], repeats: int) -> Row:
    """Returns the figures of both processes, which take turns after two that are not timed, or why there are none."""
    taken: tuple[list[float], list[float]] = [], []
    answers, start = list[dict[str, Any]](), perf_counter()
    for turn in range(repeats + 2):
        try:
            answers = [each.asked(threshold, turn) for each in pair]
        except OSError as error:
            return {"missing": str(error)}
        if answers[0]["digest"] != answers[1]["digest"]:
            return {"missing": "the answer is another, so nothing is timed"}
        if turn > 1:
            for times, answer in zip(taken, answers, strict=True):
                times.append(answer["ms"])
        if turn > LEAST and perf_counter() - start > SECONDS:
            break
    (low, _, high), ms, off = quantiles(taken[0], n=4, method="inclusive"), *map(median, taken)
    figures = {"ms": ms, "low_ms": low, "high_ms": high, "other_ms": off, "gain": off / ms}
    known = {"n": answers[0]["n"], "nnz": answers[0]["nnz"], "verified": True, "repeats": len(taken[0])}
    return known | {name: rounded(figure) for name, figure in figures.items()}


def plot(rows: list[Row]) -> Figure | None:
    """Draws the gain of each threshold."""
    from bench import plots

    return plots.ratios([row | {"task": row["contender"]} for row in rows], "gain", "time with it off", order=[])


THRESHOLDS = Experiment(
    name="thresholds",
    title="Time without the path that a threshold chooses",
    source="our own",
    about=(
        "What each threshold decides: the time of a task with the path that it guards switched off, over the time as "
        "the code is, on a graph that it was made for. A bar near 1 is a threshold that could go."
    ),
    rows=rows,
    columns=("graph", "nnz", "task", "contender", "other", "ms", "other_ms", "gain", "repeats"),
    plot=plot,
    roads=True,
)
