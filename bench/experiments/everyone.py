"""`peers`: shortest paths, searches, components and forests by every library that is installed, in the same run.

A graph is made or read once, and every library is given it in its own form before the clock starts; its answer is
turned into a common form and compared with ours after the clock has stopped. What is timed is one call on a graph that
is there. On a GPU ours has its graph on the device, and is timed once more with the copies of graph and answer. The
source is the vertex of largest out-degree. A forest wants an undirected graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from algorithms import bfs, boruvka, scc, sssp
from bench import plots
from bench.experiment import Experiment, Row, Setting, no_file, rows_by_graph
from bench.measure import Contender, contest, rounded
from bench.peers import PEERS, Task, agreement, common, facts, rivals
from bench.peers.graphblas import GRAPHBLAS
from formats import CSR
from formats.arrays import Device, to_device
from semiring.vectors import degrees

from .fused_tasks import GRAPHS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS = "semiring"
SOLVE: dict[Task, Callable[[CSR, int], Any]] = {
    "sssp": sssp,
    "bfs": bfs,
    "scc": lambda A, source: scc(A),
    "mst": lambda A, source: boruvka(A),
}
TITLES: dict[Task, str] = {
    "sssp": "Shortest paths",
    "bfs": "Breadth-first search",
    "scc": "Strong components",
    "mst": "Spanning forest",
}
NAMES: dict[Device, tuple[str, ...]] = {
    "cpu": ("NY", "rmat20", "rmat18s"),
    "cuda": ("NY", "NE", "grid2k", "rmat18s", "rmat20", "rmat22", "rmat22s", "unif8M"),
}
QUICK = ("grid32", "rmat10")
LARGE = 17_000_000
"""Entries of the largest matrix that libraries on the CPU are given in a run on the CPU, where there is time for it."""
GIVEN: dict[Task, dict[str, int]] = {
    task: dict.fromkeys(("SciPy", "Boost", "igraph", "NetworKit", "rustworkx"), LARGE) for task in get_args(Task)
}

DEEP = ("NY", "NE", "grid2k")
"""Graphs on which a product for each round, as python-graphblas's user writes it, takes thousands of products."""


def rows(setting: Setting) -> Iterator[Row]:
    """A row for each library, task and graph."""

    def make(name: str) -> CSR | Row:
        origin = GRAPHS[name]
        if origin.file and not (setting.data is not None and (setting.data / origin.file).exists()):
            return no_file(OURS, origin.file)
        return origin.make(setting.device, setting.data or Path())

    def of_graph(name: str, A: CSR) -> Iterator[Row]:
        for task in get_args(Task):
            if task != "mst" or GRAPHS[name].undirected:
                yield from beside(task, name, A, setting)

    names = filter(setting.wants, QUICK if setting.quick else NAMES[setting.device])
    return rows_by_graph(setting, [(name, partial(make, name)) for name in names], of_graph)


def beside(task: Task, name: str, A: CSR, setting: Setting) -> Iterator[Row]:
    """The rows of a task on a graph: ours, and everyone's."""
    source, solve, device = int(degrees(A).argmax()), SOLVE[task], setting.device
    first = common(task, solve(A, source))
    if task == "bfs":
        bfs(A, source, direction="pull")  # makes and keeps the columns, as many searches do
    ours = Contender(
        OURS,
        lambda: solve(A, source),
        agrees=lambda found: agreement(task, common(task, found), first),
        with_transfers=copied(solve, A, source) if device == "cuda" else None,
        device=device,
    )
    deep = task == "sssp" and name in DEEP
    names = [peer.name for peer in PEERS if not (deep and peer is GRAPHBLAS)]
    others, missing = rivals(task, A, source, first, names=names, most_edges=GIVEN[task] if device == "cpu" else None)
    if deep:
        missing.append({"contender": GRAPHBLAS.name, "missing": "left out: thousands of rounds, a product each"})
    figures = contest([ours, *others], setting.repeats)
    graph = {"graph": name, "task": task, "n": A.nrows, "nnz": A.nnz}
    for contender, figure in figures.items():
        ratio = rounded(figure["ms"] / figures[OURS]["ms"])
        yield graph | {"contender": contender, "to_ours": ratio} | figure | facts(contender)
    for row in missing:
        yield graph | row


def copied(solve: Callable[[CSR, int], Any], A: CSR, source: int) -> Callable[[], Any]:
    """The call with the graph coming from the host's memory, and its answer going there."""
    there: Any = A.to(device="cpu")

    def call() -> Any:
        answer = solve(there.to(device="cuda"), source)
        return answer.to(device="cpu") if hasattr(answer, "to") else to_device(answer, "cpu")

    return call


def plot(rows: list[Row]) -> Figure | None:
    """A panel for each task: how many times as long as ours each library takes on each graph."""
    others = [row for row in rows if row["contender"] != OURS]
    if not others:
        return None
    tasks = list(dict.fromkeys(row["task"] for row in others))
    figure, axes = plots.figure(len(tasks))
    for ax, task in zip(axes, tasks, strict=True):
        own = [row for row in others if row["task"] == task]
        plots.bars(ax, own, "graph", "to_ours", order=[peer.name for peer in PEERS], log_y=True, base=1)
        plots.reference(ax, 1)
        plots.label(ax, TITLES[task], "", "times as long as semiring")
    return figure


EVERYONE = Experiment(
    name="peers",
    title="Every library that is installed, on the same graph in the same run",
    source="ours",
    about=(
        "Shortest paths, breadth-first search, strong components and spanning forests. Every library has the graph in "
        "its own form before the clock starts, and its answer is compared with ours after it has stopped. Libraries "
        "on the CPU are left out of graphs that would take them many seconds. A bar is how many times as long as ours "
        "a library takes, `to_ours` in the table; one that is faster hangs below the line."
    ),
    rows=rows,
    columns=(
        *("graph", "task", "contender", "threads", "ms"),
        *("low_ms", "high_ms", "with_transfers_ms", "to_ours", "repeats"),
    ),
    plot=plot,
    roads=True,
    by_graph=True,
)
