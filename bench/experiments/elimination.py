"""`elimination`: a road network factored once, beside searches, SciPy, NetworkX and RoutingKit.

    to_ours     time over the factor's in the same run
    floor_ms    the least bytes that a task must move, over a copy's bandwidth in the same run

Each byte counts once, for caches may hold what is read again. A sweep reads 8 bytes for each arc of the factor, for a
table of those above the targets; a refactorisation reads the edges and writes both directions. Answers are written.
RoutingKit has customizable contraction hierarchies, and is given the order that ours has found. NAME.order.npy beside
the graphs' files is an order that is given to both: METIS takes half a minute for the North-East.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms import Factor, factor, sssp, symbolic_factor
from bench import plots
from bench.experiment import Experiment, Row, Setting, no_file
from bench.graphs import grid, roads
from bench.measure import Contender, contest, once, rounded
from bench.peers import PEERS, facts
from bench.peers.peer import absent, released
from bench.peers.scipy import graph as to_scipy
from formats import CSR, from_edges, read
from formats.arrays import to_device
from semiring import MinPlus

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS, SEARCH, ROUTINGKIT = "semiring, factor", "semiring, search", "RoutingKit"
FILES = {"NY": "USA-road-d.NY.gr.gz", "NE": "road-topo-NE.pace.gr.gz"}
PART, CENTRE = 126_000, 100_000
"""Vertices of a part of New York, those next to one of them."""
SOME, MANY_SOURCES, ENDS = 64, 256, 1000
"""Sources of a batch, and of one on a GPU alone; rows and columns of a table."""
GRAPHS: dict[str, tuple[str, ...]] = {
    "cpu": ("NY", "NE", "grid256"),
    "cuda": ("NY", "NE", "part of NY", "grid2048"),
}
"""By device."""
LARGE = 1_000_000
"""Minimum vertices for which calls of seconds are timed once, or left out."""
COPIED = 1 << 26
"""Bytes whose copying says the bandwidth."""
NO_KIT = absent("routingkit_cch", "routingkit-cch")

Runs = dict[str, Callable[[], Any]]
"""By contender: what is timed."""


@dataclass(frozen=True)
class Case:
    """A graph with its factor, and the vertices that are asked about.  host: the graph for the other libraries."""

    A: CSR
    host: CSR
    F: Factor
    some: list[int]
    many: list[int]
    sources: list[int]
    targets: list[int]

    @property
    def pair(self) -> tuple[int, int]:
        return self.some[0], self.some[-1]


def made(name: str, setting: Setting) -> tuple[CSR, np.ndarray | None] | None:
    """The graph with lengths in int32, and an order that is known; None where its file is not there."""
    if name.startswith("grid"):
        k = int(name.removeprefix("grid"))
        return grid(k, dtype=np.int32), middle_lines(k) if k * k >= LARGE else None
    key = name.removeprefix("part of ")
    path = (setting.data or Path()) / FILES[key]
    if not path.exists():
        return None
    order = path.with_name(f"{key}.order.npy")
    A: Any = read(path) if key == "NY" else roads(path, dtype=np.int32)
    known = np.load(order) if order.exists() else None
    return (A, known) if name == key else part_of(A, known)


def part_of(A: CSR, order: np.ndarray | None) -> tuple[CSR, np.ndarray | None]:
    """The PART of a graph that is the nearest to CENTRE, and its order."""
    near = np.sort(np.argsort(sssp(A, CENTRE), kind="stable")[:PART])
    place = np.full(A.nrows, -1)
    place[near] = np.arange(PART)
    u, v, w = A.to_edges()
    kept = (place[u] >= 0) & (place[v] >= 0)
    known = None if order is None else place[order]
    return from_edges(place[u[kept]], place[v[kept]], w[kept], shape=PART), None if known is None else known[known >= 0]


def middle_lines(k: int) -> np.ndarray:
    """Nested dissection of a grid by its middle lines."""
    todo, order = [np.arange(k * k).reshape(k, k)], []
    while todo:
        block = todo.pop()
        block = block if block.shape[0] >= block.shape[1] else block.T
        middle = len(block) // 2 if block.size > 12 else 0
        order.append(block[middle] if middle else block.ravel())
        todo += [block[:middle], block[middle + 1 :]] if middle else []
    return np.concatenate(order[::-1])


def ours(case: Case) -> dict[str, tuple[Any, Runs]]:
    """By task: (the answer, what our factor and our searches run)."""
    A, F, S = case.A, case.F, case.F.symbolic
    (u, v), sources, targets = case.pair, case.sources, np.array(case.targets)
    D, order = sssp(A, sources=case.some), np.asarray(S.order)
    back, ends = A.T, case.some
    found: dict[str, tuple[Any, Runs]] = {}
    if not A.place.on_host:
        runs: Runs = {OURS: lambda: F.solve(sources=case.many)}
        if A.nrows < LARGE:
            runs[SEARCH] = lambda: sssp(A, sources=case.many)
        found[f"{MANY_SOURCES} to all"] = sssp(A, sources=case.many), runs
        if A.nrows == PART:
            found["all pairs"] = D, {OURS: lambda: F.solve(sources=range(PART))[case.some]}
    if S.how != "given":
        found["order"] = None, {OURS: lambda: symbolic_factor(A).order}
    if A.nrows < LARGE:
        table = A.xp.stack([row[targets] for row in sssp(A, sources=sources)])
        found["table"] = table, {OURS: lambda: F.distances(sources, targets)}
    return found | {
        "pattern and numbers": (D[0], {OURS: lambda: factor(A, order=order, force=True).solve(case.some[0])}),
        "numbers": (D[0], {OURS: lambda: F.refactor(A).solve(case.some[0])}),
        "one to all": (D[0], {OURS: lambda: F.solve(case.some[0]), SEARCH: lambda: sssp(A, case.some[0])}),
        "64 to all": (D, {OURS: lambda: F.solve(sources=case.some), SEARCH: lambda: sssp(A, sources=case.some)}),
        "a pair": (
            D[0, v : v + 1],
            {OURS: lambda: np.array([F.distance(u, v)]), SEARCH: lambda: sssp(A, u, target=v)[v : v + 1]},
        ),
        "nearest of 64": (
            sssp(back, sources=ends).min(axis=0),
            {OURS: lambda: F.nearest(ends)[0], SEARCH: lambda: sssp(back, sources=ends).min(axis=0)},
        ),
    }


def scipys(case: Case) -> Runs:
    """Returns SciPy's calls, by task."""
    from scipy.sparse import csgraph

    S, T = to_scipy(case.host), to_scipy(case.host.T)
    one, (u, v) = case.some[0], case.pair
    return {
        "one to all": lambda: csgraph.dijkstra(S, indices=one),
        "64 to all": lambda: csgraph.dijkstra(S, indices=case.some),
        "a pair": lambda: csgraph.dijkstra(S, indices=u)[v : v + 1],
        "nearest of 64": lambda: csgraph.dijkstra(T, indices=case.some, min_only=True),
    }


def networkxs(case: Case) -> Runs:
    """Returns NetworkX's calls, by task."""
    import networkx as nx

    G, (u, v) = case.host.to_networkx(), case.pair
    return {"a pair": lambda: np.array([nx.bidirectional_dijkstra(G, u, v, "weight")[0]])}


def routingkits(case: Case) -> Runs:
    """Returns the calls of RoutingKit's customizable contraction hierarchy, with our factor's elimination order."""
    from routingkit_cch import CCH, CCHMetric, CCHOneToMany, CCHQuery

    (tail, head, weights), one, (u, v) = case.host.to_edges(), case.some[0], case.pair
    lists = tail.tolist(), head.tolist(), weights.tolist()
    hierarchy = CCH(case.F.symbolic.order.tolist(), *lists[:2], False)
    metric = CCHMetric(hierarchy, lists[2])
    query, everyone = CCHQuery(metric), CCHOneToMany(metric, list(range(case.A.nrows)))
    few = CCHOneToMany(metric, case.targets)
    most = int(MinPlus.zero(case.A.dtype))

    def known(row: list[int | None]) -> np.ndarray:
        return np.array([most if d is None else d for d in row])

    def factored() -> np.ndarray:
        own = CCHMetric(CCH(case.F.symbolic.order.tolist(), *lists[:2], False), lists[2])
        return known(CCHOneToMany(own, list(range(case.A.nrows))).distances_from(one))

    return {
        "pattern and numbers": factored,
        "one to all": lambda: known(everyone.distances_from(one)),
        "64 to all": lambda: np.array([known(everyone.distances_from(s)) for s in case.some]),
        "a pair": lambda: known([query.run(u, v).distance]),
        "table": lambda: np.array([known(few.distances_from(s)) for s in case.sources]),
    }


def floors(case: Case) -> dict[str, float]:
    """The least bytes of each task."""
    S, n, vertex = case.F.symbolic, case.A.nrows, case.A.dtype.itemsize
    queries = case.F._engine.on_host.queries
    sweep, above = 8 * S.entries, queries.above(np.array(case.targets)).numbers.size
    climbs = sum(int(queries.plan.climbs[v]) for v in case.pair)
    return {
        "numbers": 2 * vertex * S.entries + 8 * case.A.nnz,
        "one to all": sweep + n * vertex,
        "64 to all": sweep + SOME * n * vertex,
        f"{MANY_SOURCES} to all": sweep + MANY_SOURCES * n * vertex,
        "a pair": 8 * climbs,
        "table": 8 * above + len(case.sources) * len(case.targets) * vertex,
        "all pairs": sweep + n * n * vertex,
        "nearest of 64": sweep + 2 * n * vertex,
    }


def bytes_per_ms(A: CSR) -> float:
    """Returns the speed of the fastest copy where A is, read and written."""
    x, taken = A.xp.zeros(COPIED if A.place.on_host else 16 * COPIED, np.uint8), []
    y = A.xp.zeros_like(x)
    for _ in range(21):
        A.place.finish()
        start = perf_counter()
        A.xp.copyto(y, x)
        A.place.finish()
        taken.append(perf_counter() - start)
    return 2 * x.nbytes / (min(taken) * 1e3)


def same(expected: Any, n: int, found: Any) -> bool:
    """True for the expected answer; or where there is none, for an order of all vertices."""
    if type(found) is type(expected) and found.dtype == expected.dtype:
        return bool((found == expected).all())
    got = np.asarray(to_device(found, "cpu"))
    if expected is None:
        return sorted(got.tolist()) == list(range(n))
    right = to_device(expected, "cpu")
    return np.array_equal(np.where(np.isinf(got), MinPlus.zero(np.dtype(np.int32)), got), right)


def rows(setting: Setting) -> Iterator[Row]:
    """A row for each graph, task and contender."""
    for name in ("grid12",) if setting.quick else GRAPHS[setting.device]:
        if kept := setting.kept_rows(name):
            yield from kept
            continue
        known = made(name, setting)
        if known is None:
            yield {"graph": name} | no_file(OURS, FILES[name.removeprefix("part of ")])
            continue
        A, order = known
        for row in of_graph(A, order, setting):
            yield {"graph": name, "n": A.nrows, "nnz": A.nnz} | row


def of_graph(A: CSR, order: np.ndarray | None, setting: Setting) -> Iterator[Row]:
    """The rows of a graph."""
    draw = np.random.default_rng(1)
    some, sources, targets, many = (draw.integers(0, A.nrows, k).tolist() for k in (SOME, ENDS, ENDS, MANY_SOURCES))
    some[0] = 0
    if setting.quick:
        sources, targets = sources[:20], targets[:20]
    host, A = A, A.to(device=setting.device)
    case = Case(A, host, factor(A, order=order, force=True), some, many, sources, targets)
    S, speed, least = case.F.symbolic, bytes_per_ms(A), floors(case)
    size = {"arcs": S.entries, "levels": S.levels, "operations": S.operations, "nbytes": case.F.nbytes, "order": S.how}
    others, large = {"SciPy": scipys(case)}, A.nrows >= LARGE
    for library, why, prepare in (
        ("NetworkX", next(peer for peer in PEERS if peer.name == "NetworkX").missing(), networkxs),
        (ROUTINGKIT, NO_KIT(), routingkits),
    ):
        why = "its graph of so many vertices takes gigabytes" if large and library == "NetworkX" else why
        if why:
            yield {"task": "a pair", "contender": library, "missing": why}
        else:
            others[library] = prepare(case)
    if large:
        del others["SciPy"]["a pair"]  # it searches everything
    for task, (expected, runs) in ours(case).items():
        few = large or not A.place.on_host  # of the others' calls: they answer on the host, as the host's rows show
        beside = {} if few and task not in ("one to all", "a pair") else others
        known = runs | {library: tasks[task] for library, tasks in beside.items() if task in tasks}
        agrees = partial(same, expected, A.nrows)
        where = {each: setting.device if each in (OURS, SEARCH) and task != "order" else "cpu" for each in known}
        contenders = [Contender(each, run, agrees=agrees, device=where[each]) for each, run in known.items()]
        short = large and (task == "pattern and numbers" or (task == "numbers" and A.place.on_host))
        figures = {each.name: once(each) for each in contenders} if short else contest(contenders, setting.repeats)
        for contender, row in figures.items():
            floor = {"floor_ms": rounded(least[task] / speed)} if contender == OURS and task in least else {}
            library = {"library": released("routingkit-cch")()} if contender == ROUTINGKIT else facts(contender)
            ratio = {"to_ours": rounded(row["ms"] / figures[OURS]["ms"])}
            yield {"task": task, "contender": contender} | ratio | floor | row | (size if floor else {}) | library


def plot(rows: list[Row]) -> Figure | None:
    """A panel for each graph: how many times as long as the factor each other way takes."""
    others = [row for row in rows if row["contender"] != OURS]
    return plots.ratios(others, "to_ours", "times as long as the factor", order=[SEARCH, "SciPy", ROUTINGKIT])


ELIMINATION = Experiment(
    name="elimination",
    title="A factor of a road network",
    source="ours",
    about=(
        "Distances from a factor: one source, 64, a pair, a table of 1000 × 1000 and the nearest of 64, on a GPU 256 "
        "and all pairs, with what the order, the pattern and the numbers take. Beside it are our own searches, SciPy, "
        "NetworkX and RoutingKit's customizable contraction hierarchies in the same order. A bar is how many times as "
        "long as the factor the others take."
    ),
    rows=rows,
    columns=("graph", "task", "contender", "threads", "ms", "low_ms", "high_ms", "floor_ms", "to_ours", "repeats"),
    plot=plot,
    roads=True,
)
