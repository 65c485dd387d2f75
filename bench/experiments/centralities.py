"""`centralities`: ranks, cores, centralities, reach and paths beside NetworkX, igraph and rustworkx.

Each library is given the graph in its own form before the clock starts, and has a process of its own for each task, all
at once where there are cores for them, else one after another. It is stopped if its first call takes longer than the
limit: beside a GPU, whose answers take milliseconds, that is shorter. Its answer is compared with ours: to 1e-9, paths
by their lengths, and a closure by the number of vertices that each leads to. Searches start from SOME vertices, where
a library knows such a choice.
"""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice, pairwise
from multiprocessing import get_context
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import algorithms as ours
from bench import plots
from bench.experiment import Experiment, Row, Setting, no_file, rows_by_graph
from bench.graphs import grid, rmat, rmat_both_ways
from bench.measure import Contender, Disagreement, contest, rounded
from bench.peers import PEERS, facts
from bench.peers.forms import undirected
from bench.peers.igraph import graph as to_igraph
from bench.peers.rustworkx import graph as to_rustworkx
from formats import CSR, read
from formats.arrays import to_device
from semiring import MinPlus

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS = "semiring"
NEW_YORK = "USA-road-d.NY.gr.gz"
SOME, SEED, PATHS = 64, 1, 10
LIMITS: dict[str, tuple[float, float]] = {"cpu": (20.0, 4.0), "cuda": (2.0, 0.5)}
"""By device: seconds that a library's first call may take, and after which there is no further one."""
CORES = 8
"""From which on libraries run at once."""
SETTLED: dict[str, Any] = {"tol": 1e-15, "max_iter": 1000}
"""When ranks have settled, as others count: for each vertex. We count in all."""

Calls = dict[str, Callable[[Any, list[int]], Any]]
"""By task: (a library's graph, vertices) -> its answer."""

# --- ours and theirs --------------------------------------------------------------------------------------------------

SOLVE: Calls = {
    "pagerank": lambda A, some: ours.pagerank(A, **SETTLED | {"tol": A.nrows * SETTLED["tol"]}),
    "clustering": lambda A, some: ours.clustering(A),
    "core_number": lambda A, some: ours.core_number(A),
    "label_propagation": lambda A, some: ours.label_propagation(A),
    "closeness": lambda A, some: ours.closeness_centrality(A, vertices=some, wf_improved=False),
    "closeness, weighted": lambda A, some: ours.closeness_centrality(
        A, vertices=some, wf_improved=False, weighted=True
    ),
    "harmonic": lambda A, some: ours.harmonic_centrality(A, vertices=some),
    "betweenness": lambda A, some: ours.betweenness_centrality(A, sources=some, normalized=False),
    "betweenness, weighted": lambda A, some: ours.betweenness_centrality(
        A, sources=some, normalized=False, weighted=True
    ),
    "diameter": lambda A, some: ours.diameter(A),
    "simple paths": lambda A, some: ours.shortest_simple_paths(A, some[0], some[1], PATHS, weighted=True),
    "all_pairs": lambda A, some: ours.all_pairs(A),
    "closure": lambda A, some: ours.transitive_closure(A),
}


def networkx() -> tuple[Callable[[CSR, bool], Any], Calls]:
    """Returns the function that makes NetworkX's graph, and its calls."""
    import networkx as nx

    def between(G: Any, some: list[int], weight: str | None) -> Any:
        return nx.betweenness_centrality(G, len(some), normalized=False, weight=weight, seed=SEED)  # it draws the same

    def near(G: Any, some: list[int], distance: str | None = None) -> Any:
        return [nx.closeness_centrality(G, v, distance, wf_improved=False) for v in some]

    return lambda A, directed: A.to_networkx() if directed else A.to_networkx().to_undirected(), {
        "pagerank": lambda G, some: nx.pagerank(G, **SETTLED),
        "clustering": lambda G, some: nx.clustering(G),
        "core_number": lambda G, some: nx.core_number(G),
        "closeness": near,
        "closeness, weighted": partial(near, distance="weight"),
        "harmonic": lambda G, some: nx.harmonic_centrality(G, some),
        "betweenness": partial(between, weight=None),
        "betweenness, weighted": partial(between, weight="weight"),
        "diameter": lambda G, some: nx.diameter(G, usebounds=True),
        "simple paths": lambda G, some: list(islice(nx.shortest_simple_paths(G, *some[:2], "weight"), PATHS)),
        "all_pairs": lambda G, some: dict(nx.all_pairs_dijkstra_path_length(G)),
        "closure": lambda G, some: nx.transitive_closure(G),
    }


def igraph() -> tuple[Callable[[CSR, bool], Any], Calls]:
    """Likewise. Of two directions of a pair it counts one in betweenness, and does not estimate."""

    def between(G: Any, some: list[int], weights: str | None) -> Any:
        found, others = 2 * np.array(G.betweenness(directed=False, sources=some, weights=weights)), G.vcount() - 1
        scale = np.full(others + 1, others / (2 * len(some)))
        scale[some] = others / (2 * (len(some) - 1))
        return found * scale

    return lambda A, directed: to_igraph(A, directed=directed), {
        "pagerank": lambda G, some: G.pagerank(weights="weight"),
        "clustering": lambda G, some: G.transitivity_local_undirected(mode="zero"),
        "core_number": lambda G, some: G.coreness(),
        "closeness": lambda G, some: np.nan_to_num(G.closeness(some)),
        "closeness, weighted": lambda G, some: np.nan_to_num(G.closeness(some, weights="weight")),
        "harmonic": lambda G, some: np.array(G.harmonic_centrality(some)) * (G.vcount() - 1),
        "betweenness": partial(between, weights=None),
        "betweenness, weighted": partial(between, weights="weight"),
        "diameter": lambda G, some: G.diameter(directed=False),
        "simple paths": lambda G, some: G.get_k_shortest_paths(*some[:2], PATHS, weights="weight"),
        "all_pairs": lambda G, some: G.distances(weights="weight"),
        "closure": lambda G, some: G.neighborhood(order=G.vcount(), mode="out"),
    }


def rustworkx() -> tuple[Callable[[CSR, bool], Any], Calls]:
    """Likewise. It knows closeness of all vertices alone, and ranks of directed graphs."""
    import rustworkx as rx

    return lambda A, directed: to_rustworkx(A, "PyDiGraph" if directed else "PyGraph"), {
        "pagerank": lambda G, some: rx.pagerank(G, weight_fn=float, **SETTLED),
        "core_number": lambda G, some: rx.core_number(G),
        "closeness": lambda G, some: rx.closeness_centrality(G, wf_improved=False),
        "all_pairs": lambda G, some: rx.all_pairs_dijkstra_path_lengths(G, float),
        "closure": lambda G, some: [rx.descendants(G, v) for v in range(len(G))],
    }


LIBRARIES = {"NetworkX": networkx, "igraph": igraph, "rustworkx": rustworkx}
CHANCE = "leaves ties to an order or to chance, so that its answer is another"

# --- answers as arrays ------------------------------------------------------------------------------------------------


def common(task: str, A: CSR, some: list[int], found: Any) -> np.ndarray:
    """An answer of anyone's, A on the host."""
    if task == "simple paths":
        return np.array([sum(float(A[edge]) for edge in pairwise(steps)) for steps in found])
    if task == "closure":
        return reach(found)
    if task == "all_pairs" and hasattr(found, "items"):
        return distances(A.nrows, found)
    if hasattr(found, "items"):
        found = [found[v] for v in (some if task in OF_SOME else range(A.nrows))]
    got = np.asarray(to_device(found, "cpu") if hasattr(found, "dtype") else found)
    return np.where(got == MinPlus.zero(got.dtype), np.inf, got) if task == "all_pairs" else got


OF_SOME = {"closeness", "closeness, weighted", "harmonic"}


def distances(n: int, found: Any) -> np.ndarray:
    """From dictionaries of dictionaries, infinite where there are none."""
    D = np.full((n, n), np.inf)
    for u, lengths in found.items():
        for v, length in lengths.items():
            D[u, v] = length
    np.fill_diagonal(D, 0)
    return D


def reach(found: Any) -> np.ndarray:
    """How many others each vertex leads to: from a closure, a graph, or a list for each."""
    if hasattr(found, "to_edges"):
        u, v, _ = found.to(device="cpu").to_edges()
        return np.bincount(u[u != v], minlength=found.nrows)
    rows = (found[v] for v in range(len(found)))
    return np.array([len({*row} - {v}) for v, row in enumerate(rows)])


# --- rows -------------------------------------------------------------------------------------------------------------

ONE_WAY = ("all_pairs", "closure")
"""Tasks on a directed graph, a smaller one: their answers have n² numbers."""
TASKS = tuple(task for task in SOLVE if task not in ONE_WAY)
GRAPHS: dict[str, tuple[str, ...]] = {
    "rmat16": tuple(task for task in TASKS if task != "diameter"),  # it is not connected
    "NY": TASKS,
    "rmat12, one way": ONE_WAY,
}
QUICK: dict[str, tuple[str, ...]] = {"grid8": TASKS, "rmat6, one way": ONE_WAY}


def made(name: str, setting: Setting) -> CSR | Row:
    """The graph with lengths in int32, or a row that says that its file is not there."""
    if name == "NY":
        path = (setting.data or Path()) / NEW_YORK
        roads: Any = read(path).to(device=setting.device) if path.exists() else no_file(OURS, NEW_YORK)
        return roads
    if name == "grid8":
        return grid(8, dtype=np.int32, device=setting.device)
    scale, _, way = name.removeprefix("rmat").partition(", ")
    return (rmat if way else rmat_both_ways)(int(scale), dtype=np.int32, device=setting.device)


def rows(setting: Setting) -> Iterator[Row]:
    """A row for each library, task and graph."""
    graphs = QUICK if setting.quick else GRAPHS

    def of_graph(name: str, A: CSR) -> Iterator[Row]:
        host: Any = A.to(device="cpu")
        some, forms = chosen(host), Forms(host)
        for task in graphs[name]:
            yield from ({"task": task} | row for row in beside(task, A, forms, some, setting))

    return rows_by_graph(setting, [(name, partial(made, name, setting)) for name in graphs], of_graph)


class Forms:
    """A graph on the host, and in the form of each library, which is made once and found by the processes."""

    def __init__(self, A: CSR) -> None:
        self.A = A
        self.made: dict[tuple[str, bool], Any] = {}

    def of(self, library: str, task: str) -> Any:
        """Returns the library's graph for a task."""
        directed = task in ONE_WAY or (library, task) == ("rustworkx", "pagerank")
        if (library, directed) not in self.made:
            make, _ = LIBRARIES[library]()
            self.made[library, directed] = make(self.A if directed else undirected(self.A), directed)
            gc.collect()
            gc.freeze()  # so that nobody looks through millions of objects while our calls are timed
        return self.made[library, directed]


def chosen(A: CSR) -> list[int]:
    """SOME vertices; those that the largest component has come first."""
    label, drawn = ours.scc(A), random.Random(SEED).sample(range(A.nrows), min(SOME, A.nrows))
    return sorted(drawn, key=lambda v: label[v] != np.bincount(label).argmax())


def beside(task: str, A: CSR, forms: Forms, some: list[int], setting: Setting) -> Iterator[Row]:
    """The rows of a task: ours, and everyone's."""
    host = forms.A
    expected = common(task, host, some, SOLVE[task](A, some))

    def agrees(found: Any) -> bool:
        return same(common(task, host, some, found), expected)

    own = Contender(OURS, lambda: SOLVE[task](A, some), agrees=agrees, device=setting.device)
    figures = contest([own], setting.repeats)[OURS]
    yield {"contender": OURS, "to_ours": 1.0} | figures
    peers = [peer for peer in PEERS if peer.name in LIBRARIES]
    why = {peer.name: peer.missing() or (CHANCE if task == "label_propagation" else "") for peer in peers}
    waits = {
        name: by_itself(name, task, forms, some, setting.repeats, LIMITS[setting.device])
        for name in LIBRARIES
        if not why[name]
    }
    if len(os.sched_getaffinity(0)) >= CORES:
        waits = {name: begun(wait) for name, wait in waits.items()}
    for name in (peer.name for peer in peers):
        taken = why[name] or last_of(waits[name])
        if isinstance(taken, str):
            yield {"contender": name, "missing": taken}
            continue
        seconds, answer = taken
        if not same(answer, expected):
            raise Disagreement(f"{name} computes something else in {task}: its time does not count")
        ms = [each * 1e3 for each in seconds]
        low, middle, high = quantiles(ms, n=4, method="inclusive") if len(ms) > 1 else ms * 3
        times = {"ms": rounded(middle), "low_ms": rounded(low), "high_ms": rounded(high), "repeats": len(ms)}
        ratio = {"to_ours": rounded(middle / figures["ms"]), "verified": True}
        yield {"contender": name} | ratio | times | facts(name)


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-9, atol=1e-9)


Taken = tuple[list[float], np.ndarray] | str
"""Seconds of each call and the answer as an array, or why there are none."""


def by_itself(
    library: str, task: str, forms: Forms, some: list[int], repeats: int, limits: tuple[float, float]
) -> Iterator[Taken | None]:
    """None once a process of the library's own has begun, and then what it has taken."""
    _, calls = LIBRARIES[library]()
    if task not in calls:
        yield "has no such function"
        return
    G, (limit, enough) = forms.of(library, task), limits
    here, there = (context := get_context("fork")).Pipe(duplex=False)

    def work() -> None:
        seconds, found = list[float](), None
        while not seconds or (len(seconds) < repeats and sum(seconds) < enough):
            start = perf_counter()
            found = calls[task](G, some)
            seconds.append(perf_counter() - start)
            if len(seconds) == 1:
                there.send("the first call is done")
        there.send((seconds, common(task, forms.A, some, found)))

    child, begun_at = context.Process(target=work), perf_counter()
    child.start()
    there.close()
    try:
        yield None
        if not here.poll(max(begun_at + limit - perf_counter(), 0)):
            yield f"stopped after {limit:g} s"
            return
        here.recv()
        yield here.recv()
    except EOFError:
        yield "its process ended without an answer"
    finally:
        child.kill()
        child.join()


def begun(wait: Iterator[Taken | None]) -> Iterator[Taken | None]:
    """The same, whose process runs already."""
    return chain([next(wait)], wait)


def last_of(wait: Iterator[Taken | None]) -> Taken:
    """Returns the times and the answer of a library's process."""
    return [taken for taken in wait if taken is not None][-1]


def plot(rows: list[Row]) -> Figure | None:
    """A panel for each graph: how many times as long as ours each library takes."""
    others = [row for row in rows if row["contender"] != OURS]
    return plots.ratios(others, "to_ours", "times as long as semiring", order=list(LIBRARIES))


CENTRALITIES = Experiment(
    name="centralities",
    title="Ranks, cores, centralities, reach and paths",
    source="ours",
    about=(
        "Ranks, clustering, cores, labels, centralities from 64 vertices, the diameter, the 10 shortest simple paths, "
        "all pairs and the transitive closure, beside NetworkX, igraph and rustworkx. Each library runs in a process "
        "of its own and is stopped after 20 seconds, beside a GPU after 2. A bar is how many times as long as ours a "
        "library takes, `to_ours` in the table."
    ),
    rows=rows,
    columns=("graph", "task", "contender", "threads", "ms", "low_ms", "high_ms", "to_ours", "repeats"),
    plot=plot,
    roads=True,
    by_graph=True,
)
