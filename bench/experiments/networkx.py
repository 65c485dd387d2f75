"""`networkx`: functions of NetworkX by our backend, beside NetworkX itself and other backends that are installed.

    to_networkx    time over NetworkX's own in the same run; of `from_networkx`, over a walk in Python over its weights

Every contender is given one NetworkX graph, through NetworkX's dispatch. A first call converts it; a later one finds
what was converted before, as NetworkX keeps it, with what earlier calls have learned of the graph. NetworkX itself is
called once. Our answers are compared with its answer, dictionaries in their order. Iterators are read to their end, and
all paths are made. Python does not collect garbage meanwhile, for which it would look through the graph now and then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms.data import rome99
from bench import plots
from bench.experiment import Experiment, Row, Setting, no_file, rows_by_graph
from bench.graphs import rmat
from bench.measure import Contender, contest, once, rounded
from formats import CSR, from_networkx, read
from semiring.cpu.compiler.jit import without_garbage_collection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS, FIRST, NETWORKX = "semiring", "semiring, first call", "NetworkX"
PEERS = ("rustnx", "rustworkx", "parallel", "cugraph")
"""NetworkX's names of other backends."""

FILES = {"NY": "USA-road-d.NY.gr.gz", "wiki-Vote": "wiki-Vote.txt.gz"}
SINGLE = (
    "single_source_dijkstra",
    "single_source_dijkstra_path_length",
    "single_source_bellman_ford_path_length",
    "single_source_shortest_path_length",
    "bfs_edges",
    "dfs_edges",
    "descendants",
)
"""Functions that are called with a vertex, the one of most edges."""

DIRECTED = ("strongly_connected_components", "number_weakly_connected_components", "condensation", "pagerank")
UNDIRECTED = ("connected_components", "minimum_spanning_edges", "core_number", "triangles", "clustering")
ALL_PAIRS = ("closeness_centrality", "harmonic_centrality", "all_pairs_shortest_path_length")
CONNECTED = ("diameter", "average_shortest_path_length", "betweenness_centrality")
"""Tasks on the largest component, without directions."""

SECONDS = 1.0
"""Seconds that the later calls of a contender may take, but for a few."""

SLOW_MS = 5000
"""Milliseconds of a first call above which neither it nor a later one is repeated."""

TEN_MILLION = "rmat-10M"
"""Its NetworkX graphs take some ten gigabytes."""

GRAPHS = ("wiki-Vote", "rmat14", "NY", TEN_MILLION)

TOO_LONG = {
    "NY": {"single_source_bellman_ford_path_length"},
    TEN_MILLION: {*SINGLE[:1], *SINGLE[2:3], "dfs_edges", "condensation", "triangles", "clustering"},
}
"""Functions that take NetworkX minutes."""

MIN_LARGE_EDGES = 10**6
"""Minimum edges of a graph for which only backends are asked that convert it within seconds."""

ALL_PAIRS_VERTICES = 600
"""Vertices of the part of a graph of which all pairs are asked for."""


def made(name: str, setting: Setting) -> CSR | Row:
    """The graph, or a row that says that its file is not there."""
    if name == "rome99":
        return read(rome99).to(CSR)
    if name == TEN_MILLION:
        return rmat(19, 22, dtype=np.int32)
    if name.startswith("rmat"):
        return rmat(int(name[4:]), dtype=np.int32)
    path = setting.data / FILES[name] if setting.data else None
    return read(path).to(CSR) if path is not None and path.exists() else no_file(OURS, FILES[name])


def rows(setting: Setting) -> Iterator[Row]:
    """Rows for each function and graph."""
    graphs = ("rome99",) if setting.quick else GRAPHS
    return rows_by_graph(setting, [(name, partial(made, name, setting)) for name in graphs], partial(of_graph, setting))


def of_graph(setting: Setting, name: str, A: CSR) -> Iterator[Row]:
    """The rows of a graph."""
    yield from conversions(A.to_networkx(), setting)
    for task, G, given in tasks(A):
        if task not in TOO_LONG.get(name, ()):
            for row in beside(task, G, given, setting):
                yield {"task": task, "n": len(G), "nnz": G.number_of_edges()} | row


def conversions(G: Any, setting: Setting) -> Iterator[Row]:
    """`from_networkx`, with names that are numbers and with others, beside a walk over all weights."""
    import networkx as nx

    for task in ("from_networkx", "from_networkx, names")[: 1 if G.number_of_edges() >= MIN_LARGE_EDGES else 2]:
        H = nx.relabel_nodes(G, "vertex {}".format) if task.endswith("names") else G
        expected = sorted(weights_of(H))

        def agrees(found: Any, expected: list[Any] = expected) -> bool:
            return sorted(found.values.tolist() if isinstance(found, CSR) else found) == expected

        contenders = [
            Contender(OURS, partial(from_networkx, H), agrees=agrees, watched=False),
            Contender(NETWORKX, partial(weights_of, H), agrees=agrees, watched=False),
        ]
        figures = contest(contenders, min(setting.repeats, 5))
        for name, found in figures.items():
            ratio = rounded(found["ms"] / figures[NETWORKX]["ms"])
            yield {"task": task, "contender": name, "to_networkx": ratio} | found


def weights_of(G: Any) -> list[Any]:
    return [weight for _, _, weight in G.edges(data="weight", default=1)]


def tasks(A: CSR) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Each function, its graph, and what else it is given."""
    import networkx as nx

    G = A.to_networkx()
    source = int(np.diff(A.indptr).argmax())
    part = G.subgraph(list(nx.bfs_tree(G, source))[:ALL_PAIRS_VERTICES]).copy()
    whole = part.to_undirected()
    yield from ((task, G, (source,)) for task in SINGLE)
    yield from ((task, G, ()) for task in DIRECTED)
    U = nx.Graph(G)
    yield from ((task, U, ()) for task in UNDIRECTED)
    yield from ((task, part, ()) for task in ALL_PAIRS)
    yield from ((task, whole, ()) for task in CONNECTED)


def plain(answer: Any) -> Any:
    """An answer that can be compared, in its order; iterators are read, and paths made."""
    if isinstance(answer, tuple):
        return tuple(map(plain, answer))
    if hasattr(answer, "__next__"):
        return list(answer)
    if isinstance(answer, dict):
        return answer if type(answer) is dict else answer.copy()
    if hasattr(answer, "adj"):
        return list(answer.edges)
    return answer


def alike(answer: Any, expected: Any) -> bool:
    """True if two answers are equal, and in one order, but for the last digits of floats."""
    if isinstance(expected, dict):
        return list(answer) == list(expected) and all(alike(answer[key], expected[key]) for key in expected)
    if isinstance(expected, float):
        return math.isclose(answer, expected, rel_tol=1e-6, abs_tol=1e-12)
    if isinstance(expected, list | tuple):
        return answer == expected or (len(answer) == len(expected) and all(map(alike, answer, expected)))
    return bool(answer == expected)


def beside(task: str, G: Any, given: tuple[Any, ...], setting: Setting) -> Iterator[Row]:
    """NetworkX's own, and those of each backend, ours as the others: first calls by themselves, later ones in turns."""
    import networkx as nx

    theirs: Callable[..., Any] = getattr(nx, task)
    answers: list[Any] = []
    reference = Contender(NETWORKX, lambda: answers.append(plain(theirs(G, *given))), agrees=lambda _: True)
    figures, later, repeats = {}, [], setting.repeats
    own: dict[str, Any] = {} if setting.device == "cpu" else {"device": setting.device}
    with backends(G.number_of_edges()) as names, without_garbage_collection():
        figures[NETWORKX] = once(reference)
        for name in names:
            call = partial(theirs, G, *given, backend=name, **(own if name == OURS else {}))
            agrees = partial(alike, expected=answers[0]) if name == OURS else lambda _: True  # others have other orders
            first = first_call(call, G, agrees, repeats)
            if first:
                figures[f"{name}, first call"] = first
                again = Contender(name, lambda call=call: plain(call()), agrees=agrees, watched=False)
                if first["ms"] < SLOW_MS:
                    later.append(again)
                else:
                    figures[name] = once(again)
        figures |= contest(later, repeats, seconds=SECONDS)
    for name, found in figures.items():
        yield {"contender": name, "to_networkx": rounded(found["ms"] / figures[NETWORKX]["ms"])} | found


@contextmanager
def backends(edges: int) -> Iterator[list[str]]:
    """Ours and the others that are installed, as far as they take so many edges, without warnings of cached graphs."""
    import networkx as nx

    from algorithms.networkx.interface import FUNCTIONS, backend

    known, info = nx.utils.backends.backends, nx.utils.backends.backend_info
    if OURS not in known:  # the package is not installed
        known[OURS], info[OURS] = SimpleNamespace(load=lambda: backend), {}
        for name in FUNCTIONS.keys() & nx.utils.backends._registered_algorithms.keys():
            nx.utils.backends._registered_algorithms[name].backends.add(OURS)
    ignored = nx.config.warnings_to_ignore
    nx.config.warnings_to_ignore = {*ignored, "cache"}
    try:
        yield [OURS, *(name for name in (PEERS if edges < MIN_LARGE_EDGES else PEERS[:1]) if name in known)]
    finally:
        nx.config.warnings_to_ignore = ignored


def first_call(call: Callable[[], Any], G: Any, agrees: Callable[[Any], bool], repeats: int) -> dict[str, Any] | None:
    """The figures of a call that converts the graph; None if the backend does not have the function."""
    import networkx as nx

    def first() -> Any:
        G.__networkx_cache__.clear()
        return plain(call())

    whole = Contender("", first, agrees=agrees, watched=False)
    try:
        found = once(whole)  # which may compile
    except (NotImplementedError, nx.NetworkXException):
        return None
    return contest([whole], min(repeats, 5), seconds=SECONDS)[""] if found["ms"] < SLOW_MS else found


def plot(rows: list[Row]) -> Figure | None:
    """A panel for each graph: times over NetworkX's."""
    own = [row for row in rows if row["contender"] in (OURS, FIRST) and "ms" in row]
    return plots.ratios(own, "to_networkx", "time, NetworkX = 1", order=[OURS, FIRST])


NETWORKX_BACKEND = Experiment(
    name="networkx",
    title="Functions of NetworkX",
    source="ours",
    about=(
        "Functions of NetworkX by our backend, beside NetworkX itself and those of its other backends that are "
        "installed. A bar is the time over NetworkX's own, `to_networkx` in the table: below 1 ours is faster. A first "
        "call converts the graph, too."
    ),
    rows=rows,
    columns=("graph", "task", "contender", "ms", "low_ms", "high_ms", "to_networkx", "repeats"),
    plot=plot,
    roads=True,
    by_graph=True,
)
