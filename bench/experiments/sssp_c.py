"""Five questions of a study of shortest paths in CUDA, each answered beside Boost's sequential Dijkstra [1].

    ExtractMin    a parallel reduction by threads per block, or a heap (`extract_min`)
    Dijkstra      the whole algorithm, a reduction for every vertex, or our heap, which on a GPU is a fused minimum
    queues        Bellman-Ford from a work queue: first in first out, small labels first (SLF), large last (LLL), both
    delta         Δ-stepping's Δ: the median weight, the mean, the largest over the largest degree, and our own
    SpMV          Bellman-Ford by products d' = d ⊕ dA over (min, +), with A in CSR and in ELL

A queue gives out one vertex at a time, so its graphs are small; what it is good for shows in the edges that it relaxes.
ELL keeps the predecessors of each vertex, padded to the longest list.

[1] J. Siek, L.-Q. Lee, A. Lumsdaine, The Boost Graph Library, Addison-Wesley, 2002.
[2] D. P. Bertsekas, A simple and fast label correcting algorithm for shortest paths, Networks 23, 1993 (SLF, LLL).
[3] U. Meyer, P. Sanders, Δ-stepping: a parallelizable shortest path algorithm, Journal of Algorithms 49, 2003.
[4] N. Bell, M. Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors, SC 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from algorithms import bellman_ford, delta_stepping, dijkstra, trace
from bench import plots
from bench.experiment import Experiment, Row, Setting, released
from bench.graphs import grid, predecessors, rmat
from bench.laboratory import bellman_ford_by
from bench.laboratory.work_queue import DISCIPLINES
from bench.measure import Contender, contest, once, rounded, verify
from formats import CSR, ELL, Matrix
from formats.arrays import Array, Device, to_device
from semiring import explain

from . import extract_min

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SOURCE, DEGREE, HIGH = 0, 7, 255
BOOST = "Boost"
SLOW_MS = 1000.0
"""A call that takes longer is timed once."""
RULES: tuple[str | None, ...] = ("median", "mean", "max/degree", None)

Make = Callable[[Device], CSR]


@dataclass(frozen=True)
class Size:
    """How large the three kinds of graph are: vertices of lists of predecessors, side of a grid, scale of R-MAT."""

    n: int
    side: int
    scale: int

    def graphs(self) -> dict[str, Make]:
        """The graphs by name."""
        return {
            f"{DEGREE} predecessors, {self.n:,}": lambda device: lists(self.n, device),
            f"grid, {self.side} x {self.side}": lambda device: grid(self.side, device=device, dtype=np.int32),
            f"R-MAT, scale {self.scale}": lambda device: rmat(self.scale, device=device, dtype=np.int32),
        }


@dataclass(frozen=True)
class Question:
    """A comparison, and the graphs that it is made on.

    contenders: of a graph and its distances, each with facts for its row.  quick, cpu, cuda: graphs by name, of tiny
    sizes and of each device.
    """

    name: str
    contenders: Callable[[CSR, np.ndarray], Iterator[tuple[Contender | Row, Row]]]
    quick: dict[str, Make]
    cpu: dict[str, Make]
    cuda: dict[str, Make]

    def graphs(self, setting: Setting) -> dict[str, Make]:
        """Returns the graphs of the setting."""
        return self.quick if setting.quick else {"cpu": self.cpu, "cuda": self.cuda}[setting.device]


def lists(n: int, device: Device) -> CSR:
    """Every vertex has 7 predecessors."""
    return predecessors(n, DEGREE, high=HIGH, device=device)


def several(*sizes: int) -> dict[str, Make]:
    """Lists of several sizes."""
    return {f"{DEGREE} predecessors, {n:,}": lambda device, n=n: lists(n, device) for n in sizes}


# --- contenders -------------------------------------------------------------------------------------------------------


def timed(name: str, A: Matrix, d: np.ndarray, solve: Callable[[Matrix], Array], *, copies: bool = True) -> Contender:
    """A way to compute the distances d; on a GPU also with the copies of matrix and answer."""
    host = A.to(device="cpu") if copies and A.device == "cuda" else None

    def same(found: Array) -> bool:
        return found.dtype == d.dtype and np.array_equal(to_device(found, "cpu"), d)

    def there_and_back() -> Array:
        assert host is not None
        return to_device(solve(host.to(device="cuda")), "cpu")

    return Contender(name, lambda: solve(A), None, 0.0, same, there_and_back if host is not None else None, A.device)


def reductions(A: CSR, d: np.ndarray) -> Iterator[tuple[Contender | Row, Row]]:
    """Dijkstra's algorithm with a reduction for every vertex, and fused."""
    yield timed("reduction a vertex", A, d, lambda M: dijkstra(M, SOURCE, fused=False), copies=False), {}
    yield timed("dijkstra, fused", A, d, lambda M: dijkstra(M, SOURCE)), {}


def queues(A: CSR, d: np.ndarray) -> Iterator[tuple[Contender | Row, Row]]:
    """A work queue of each discipline, beside the whole frontier at a time; rounds and edges as the definition has."""
    host = A.to(device="cpu")
    for schedule in (*DISCIPLINES, "frontier"):

        def solve(M: Matrix, schedule: str = schedule) -> Array:
            return bellman_ford_by(M, SOURCE, schedule=schedule, fused=False)

        with trace() as t:
            solve(host)
        facts = {"rounds": len(t.rounds), "edges": sum(row.edges for row in t.rounds)}
        yield timed(schedule, A, d, solve, copies=False), facts
    yield timed("frontier, fused", A, d, lambda M: bellman_ford(M, SOURCE)), {}


def widths(A: CSR, d: np.ndarray) -> Iterator[tuple[Contender | Row, Row]]:
    """Δ-stepping, fused, with Δ by each rule."""
    for rule in RULES:

        def solve(M: Matrix, rule: str | None = rule) -> Array:
            return delta_stepping(M, SOURCE, delta=rule)

        told = explain(solve, A).runs[-1].details
        yield timed(rule or "our own", A, d, solve), {"delta": int(told["delta"]), "edges": int(told["edges"])}


def sweeps(A: CSR, d: np.ndarray) -> Iterator[tuple[Contender | Row, Row]]:
    """Bellman-Ford by products with all of d, in CSR and in ELL, beside the frontier, fused."""

    def solve(M: Matrix) -> Array:
        return bellman_ford_by(M, SOURCE, fused=False)

    with trace() as t:
        solve(A)
    facts = {"rounds": len(t.rounds), "edges": len(t.rounds) * A.nnz}
    yield timed("sweeps, CSR", A, d, solve), facts
    try:
        yield timed("sweeps, ELL", A.T.to(ELL).T, d, solve), facts
    except ValueError as refused:  # too much padding
        yield {"contender": "sweeps, ELL", "missing": str(refused)}, {}
    if A.device == "cuda":
        yield timed("sweeps, CSR, fused", A, d, lambda M: bellman_ford_by(M, SOURCE)), {}
    yield timed("frontier, fused", A, d, lambda M: bellman_ford(M, SOURCE)), {}


def boost(A: CSR, d: np.ndarray) -> Iterator[tuple[Contender | Row, Row]]:
    """Boost's sequential Dijkstra, or why it is missing."""
    from bench import peers

    found, missing = peers.rivals("sssp", A, SOURCE, peers.common("sssp", d), names=[BOOST])
    for contender in found:
        yield contender, peers.facts(contender.name)
    for row in missing:
        yield row, {}


TINY = Size(256, 16, 8)
SMALL = Size(1024, 32, 10)
QUESTIONS = (
    Question("Dijkstra", reductions, several(100, 400), several(100, 1000, 10_000), several(100, 1000, 10_000)),
    Question("queues", queues, Size(128, 10, 7).graphs(), SMALL.graphs(), SMALL.graphs()),
    Question("delta", widths, TINY.graphs(), Size(1 << 17, 512, 16).graphs(), Size(1 << 22, 2048, 20).graphs()),
    Question("SpMV", sweeps, TINY.graphs(), Size(1 << 17, 128, 14).graphs(), Size(1 << 20, 256, 20).graphs()),
)


# --- rows -------------------------------------------------------------------------------------------------------------


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of all questions, one after the other."""
    yield from extract_min.rows(setting)
    for question in QUESTIONS:
        for graph, make in question.graphs(setting).items():
            if kept := setting.kept_rows(graph, question.name):
                yield from kept
                continue
            released(setting.device)
            A = make(setting.device)
            known = {"question": question.name, "graph": graph, "n": A.nrows, "nnz": A.nnz}
            yield from (known | row for row in answers(question, A, setting.repeats))


def answers(question: Question, A: CSR, repeats: int) -> Iterator[Row]:
    """A row for each contender on one graph, with its speed-up over Boost."""
    d = to_device(bellman_ford(A, SOURCE), "cpu")
    entries = [*question.contenders(A, d), *boost(A, d)]
    found = figures_of([one for one, _ in entries if isinstance(one, Contender)], repeats)
    sequential = found.get(BOOST, {}).get("ms")
    for one, facts in entries:
        if not isinstance(one, Contender):
            yield one
            continue
        figures = found[one.name]
        over = {"speedup": rounded(sequential / figures["ms"])} if sequential else {}
        yield {"contender": one.name} | figures | facts | over


def figures_of(contenders: list[Contender], repeats: int) -> dict[str, Row]:
    """Returns the figures of a contest; slow contenders are called once more when they have been verified."""
    found = {}
    for contender in contenders:
        verify(replace(contender, with_transfers=None))
        found[contender.name] = once(contender)
    return found | contest([one for one in contenders if found[one.name]["ms"] < SLOW_MS], repeats)


# --- the plot ---------------------------------------------------------------------------------------------------------


def plot(rows: list[Row]) -> Figure | None:
    """A panel for each question."""
    if not rows:
        return None
    names = list(dict.fromkeys(row["question"] for row in rows))
    made, axes = plots.figure(len(names), width=5.6)
    for ax, question in zip(axes, names, strict=True):
        panel(ax, question, [row for row in rows if row["question"] == question])
    return made


def panel(ax: Axes, question: str, rows: list[Row]) -> None:
    """Lines over n where sizes are compared, else bars for each graph."""
    if question in ("ExtractMin", "Dijkstra"):
        plots.lines(ax, rows, "n", "ms", log_x=False)
        ax.set_xscale("log")
        plots.label(ax, question, "vertices", "milliseconds")
    else:
        plots.bars(ax, rows, "graph", "ms", log_y=True)
        plots.label(ax, question, "", "milliseconds")


SSSP_C = Experiment(
    name="sssp-c",
    title="Shortest paths: extraction, queues, Δ and sweeps beside Boost",
    source="a CUDA study of Dijkstra's, Bellman-Ford's and Δ-stepping's algorithms",
    about=(
        "Five questions that a study of shortest paths in CUDA asks. Is the nearest vertex found by a reduction over "
        "all vertices, by threads per block, or by a heap? Which order of the work queue relaxes the fewest edges in "
        "Bellman-Ford's method? Which rule for Δ suits Δ-stepping? Is Bellman-Ford as a product over (min, +) better "
        "in CSR or in ELL? And what does all of it gain over Boost's sequential Dijkstra? To look for: how the heap's "
        "time stays while a reduction's grows with n, and that an order which relaxes fewer edges, one vertex at a "
        "time, takes longer than whole frontiers."
    ),
    rows=rows,
    columns=("question", "graph", "contender", "rounds", "edges", "delta", "ms", "with_transfers_ms", "speedup"),
    plot=plot,
)
