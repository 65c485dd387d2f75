"""`csgraph`: the functions of `scipy.sparse.csgraph` that `algorithms.csgraph` has, beside SciPy's own.

    to_scipy    time over SciPy's in the same run

On the CPU both are given one SciPy matrix. The first call is given a new copy of it each time; a later one finds again
what is known of the matrix. On a GPU ours is given CuPy's matrix, and keeps its answer there.
Answers are compared with SciPy's: distances, orders and weak components bit by bit, forests by their weight, strong
components by which vertices are together, predecessors by the distances beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms import csgraph as ours
from algorithms.data import rome99
from bench import plots
from bench.experiment import Experiment, Row, Setting, no_file, rows_by_graph
from bench.graphs import rmat
from bench.measure import Contender, contest, rounded
from formats import CSR, from_edges, read
from semiring.tuning.timing import THREE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS, FIRST, SCIPY = "semiring", "semiring, first call", "SciPy"
SOURCES = 10
"""Sources, where there are several."""

Call = Callable[[Any, Any, list[int]], Any]
"""A call (a module with csgraph's names, its matrix, vertices: the one of most edges first) of an algorithm."""


def distances(answer: Any) -> list[Any]:
    """Without predecessors, of which SciPy chooses others where several are right."""
    return [answer[0] if isinstance(answer, tuple) else answer]


def forest(answer: Any) -> list[Any]:
    return [np.array([answer.nnz]), np.array([float(answer.sum())])]


def together(answer: Any) -> list[Any]:
    """The count, and of each vertex the first one in its component."""
    count, label = answer
    label = np.asarray(label.get() if hasattr(label, "get") else label)
    first = np.full(count, label.size)
    np.minimum.at(first, label, np.arange(label.size))
    return [np.array([count]), first[label]]


def whole(answer: Any) -> list[Any]:
    return [np.asarray(part) if isinstance(part, int) else part for part in answer]


def flattened(answers: Any) -> list[Any]:
    """Joins the answers of several searches: of one alone a processor would learn the branches by heart."""
    return [part for answer in answers for part in answer]


def entries(answer: Any) -> list[Any]:
    answer.sort_indices()
    return [answer.indptr, answer.indices, answer.data]


TASKS: dict[str, tuple[Call, Callable[[Any], list[Any]]]] = {
    "dijkstra": (lambda m, S, v: m.dijkstra(S, indices=v[0]), distances),
    "dijkstra, predecessors": (lambda m, S, v: m.dijkstra(S, indices=v[0], return_predecessors=True), distances),
    "dijkstra, undirected": (lambda m, S, v: m.dijkstra(S, False, indices=v[0]), distances),
    "dijkstra, unweighted": (lambda m, S, v: m.dijkstra(S, indices=v[0], unweighted=True), distances),
    "dijkstra, 10 sources": (lambda m, S, v: m.dijkstra(S, indices=v), distances),
    "dijkstra, 10, predecessors": (lambda m, S, v: m.dijkstra(S, indices=v, return_predecessors=True), distances),
    "dijkstra, min_only": (lambda m, S, v: m.dijkstra(S, indices=v, min_only=True), distances),
    "weak components": (lambda m, S, v: m.connected_components(S), whole),
    "strong components": (lambda m, S, v: m.connected_components(S, connection="strong"), together),
    "minimum_spanning_tree": (lambda m, S, v: m.minimum_spanning_tree(S), forest),
    "breadth_first_order, 10 in turn": (lambda m, S, v: [m.breadth_first_order(S, i) for i in v], flattened),
    "breadth_first_order, undirected": (lambda m, S, v: m.breadth_first_order(S, v[0], directed=False), whole),
    "breadth_first_tree": (lambda m, S, v: m.breadth_first_tree(S, v[0]), entries),
}
SLOW: dict[str, tuple[Call, Callable[[Any], list[Any]]]] = {
    "bellman_ford": (lambda m, S, v: m.bellman_ford(S, indices=v[:1]), distances),
    "johnson, 10 sources": (lambda m, S, v: m.johnson(S, indices=v), distances),
    "shortest_path, all": (lambda m, S, v: m.shortest_path(S), distances),
}
"""Those that take SciPy too long on the larger graphs."""

DENSE: dict[str, tuple[Call, Callable[[Any], list[Any]]]] = {
    "floyd_warshall": (lambda m, S, v: m.floyd_warshall(S), distances),
}

FILES = {"NY": "USA-road-d.NY.gr.gz", "wiki-Vote": "wiki-Vote.txt.gz"}
LARGE = "rmat18"
"""The graph of four million edges, for a GPU."""


def made(name: str, setting: Setting) -> CSR | Row:
    """The graph, or a row that says that its file is not there."""
    if name == "rome99":
        return read(rome99).to(CSR)
    if name == "dense512":
        u, v = np.nonzero(~np.eye(512, dtype=bool))
        return from_edges(u, v, np.random.default_rng(1).integers(1, 100, u.size), shape=512)
    if name == LARGE:
        return rmat(18, dtype=np.int32)
    path = (setting.data or Path()) / FILES[name]
    return read(path).to(CSR) if path.exists() else no_file(OURS, FILES[name])


def rows(setting: Setting) -> Iterator[Row]:
    """Rows for each function and graph."""
    graphs = {"rome99": TASKS} if setting.quick else {name: TASKS for name in FILES}
    if not setting.quick:
        graphs |= {"rome99": TASKS | SLOW, "dense512": DENSE} | ({} if setting.device == "cpu" else {LARGE: TASKS})

    def of_graph(name: str, A: CSR) -> Iterator[Row]:
        for task, how in graphs[name].items():
            yield from ({"task": task} | row for row in beside(*how, A, setting))

    return rows_by_graph(setting, [(name, partial(made, name, setting)) for name in graphs], of_graph)


def beside(call: Call, compared: Callable[[Any], list[Any]], A: CSR, setting: Setting) -> Iterator[Row]:
    """Ours, first and later, and SciPy's."""
    from scipy.sparse import csgraph

    device, B = setting.device, A.astype(np.float64)
    S = B.to_scipy()
    own = S if device == "cpu" else B.to(device=device).to_cupyx()
    first = int(np.diff(A.indptr).argmax())
    vertices = [first, *np.random.default_rng(1).integers(0, A.nrows, SOURCES - 1).tolist()]
    expected = compared(call(csgraph, S, vertices))

    def agrees(answer: Any) -> bool:
        return all(map(np.array_equal, map(on_host, compared(answer)), expected))

    copies = [own.copy() for _ in range(max(setting.repeats, THREE) + 2)]  # one is verified, and one watched
    by_us = partial(Contender, agrees=agrees, device=device)
    contenders = [
        by_us(OURS, lambda: call(ours, own, vertices)),
        by_us(FIRST, lambda: call(ours, copies.pop(), vertices)),
        Contender(SCIPY, lambda: call(csgraph, S, vertices), agrees=agrees, watched=False),
    ]
    figures = contest(contenders, setting.repeats)
    for name, found in figures.items():
        yield {"contender": name, "to_scipy": rounded(found["ms"] / figures[SCIPY]["ms"])} | found


def on_host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array


def plot(rows: list[Row]) -> Figure | None:
    """A panel for each graph: times over SciPy's."""
    own = [row for row in rows if row["contender"] in (OURS, FIRST) and "ms" in row]
    return plots.ratios(own, "to_scipy", "time, SciPy = 1", order=[OURS, FIRST])


CSGRAPH = Experiment(
    name="csgraph",
    title="The functions of scipy.sparse.csgraph",
    source="ours",
    about=(
        "Nine functions of `scipy.sparse.csgraph` by our algorithms, beside SciPy's own on the same matrix. A bar is "
        "the time over SciPy's, `to_scipy` in the table: below 1 ours is faster. First calls are given a new matrix."
    ),
    rows=rows,
    columns=("graph", "task", "contender", "ms", "low_ms", "high_ms", "to_scipy", "repeats"),
    plot=plot,
    roads=True,
    by_graph=True,
)
