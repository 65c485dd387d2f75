"""Spanning forests by Borůvka's algorithm, as Kolganov measures them [1]: edges a second, and what a procedure takes.

A round has four procedures: the search for each tree's lightest edge to another, the removal of 2-cycles, merging by
pointer jumping, and the renumbering of trees. `boruvka` as a definition has the same four, and a trace tells what each
takes; edges within a tree, which Kolganov's search skips, are dropped at the end of a round, and count as search. The
fused call has one kernel, or compiled loops, for all of a forest.

The hybrid gives the search of a share of the vertices to the CPU: `bench.laboratory.boruvka`. Rows sorted by weight,
on both sides of the bus, are its preparation, as in the paper, and timed apart.

[1] A. S. Kolganov, Hybrid implementation of the MST algorithm using CPU and GPU, 2016.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from algorithms import boruvka, trace
from bench.experiment import Experiment, Row, Setting, released
from bench.graphs import rmat_both_ways
from bench.laboratory.boruvka import Hybrid, both_rows, measured_share
from bench.measure import Contender, contest, rounded
from formats import CSR, Matrix
from formats.arrays import Device, finish
from semiring.tuning.timing import THREE

from .afanasyev import DEGREE, cliques
from .teps import FOREST, PLACE, Graph, Others, Way, implementation, measured, on_host, panel, reference, same

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROCEDURES = {
    "search_share": ("minimum search", ("search", "drop")),
    "cycles_share": ("removal of 2-cycles", ("cycles",)),
    "merge_share": ("merging", ("merge",)),
    "renumber_share": ("renumbering", ("renumber",)),
}
"""The paper's procedures: of each the figure, the name, and the phases of a trace that it is."""
HOST_LARGEST, DEFINITION_LARGEST = 18, 16
"""Scales up to which the CPU runs the fused call and the definition beside a GPU."""
MOST_EDGES = dict.fromkeys(("SciPy", "igraph", "Boost"), 3_000_000)
"""Entries up to which another library is asked: what takes it about a second."""


def symmetric(scale: int) -> Graph:
    """R-MAT with every edge both ways, of the paper's degree."""
    return Graph("R-MAT", scale, lambda scale, device: rmat_both_ways(scale, DEGREE // 2, device=device))


def whole(A: Matrix, source: int) -> Any:
    """The forest; no source is needed."""
    return boruvka(A)


def defined(A: Matrix, source: int) -> Any:
    """The same by the definition."""
    return boruvka(A, fused=False)


def procedures(A: Matrix, source: int) -> Row:
    """Facts: rounds, and the share of each procedure in the definition's time, in THREE calls together."""
    boruvka(A, fused=False)  # kernels are loaded now
    with trace() as t:
        for _ in range(THREE):
            boruvka(A)
    phases = t.shares()
    taken = {share: sum(phases.get(name, 0.0) for name in parts) for share, (_, parts) in PROCEDURES.items()}
    rounds = sum(row.phase == "search" for row in t.rounds) // THREE
    return {"rounds": rounds} | {share: rounded(part) for share, part in taken.items()}


def ways_on(device: Device, largest: int = 63, defined_to: int = 63) -> list[Way]:
    """Our ways on a device."""
    place = PLACE[device]
    return [
        Way(f"{place}, fused", device, whole, facts=implementation(whole), largest=largest),
        Way(f"{place}, definition", device, defined, facts=procedures, largest=defined_to),
    ]


def others(A: CSR, source: int, forest: Any) -> Others:
    """Other libraries, which agree if their forest weighs as much."""
    from bench.peers import common, facts, rivals

    found, missing = rivals("mst", A, source, common("mst", forest), names=MOST_EDGES, most_edges=MOST_EDGES)
    return Others(found, missing, {contender.name: facts(contender.name) for contender in found})


def forests(setting: Setting) -> Iterator[Row]:
    """Both graphs, every scale."""
    there = setting.device == "cuda"
    scales = (8, 10) if setting.quick else range(16, 25 if there else 19)
    ways = ways_on("cuda") if there else []
    ways += ways_on("cpu", HOST_LARGEST, DEFINITION_LARGEST) if there else ways_on("cpu")
    for make in (symmetric, cliques):
        for scale in scales:
            yield from measured(make(scale), ways, FOREST, setting, others)


def plot(rows: list[Row]) -> Figure | None:
    """MTEPS over the number of vertices, a panel for each family, and the procedures' shares."""
    from bench import plots

    families = list(dict.fromkeys(row["family"] for row in rows))
    if not families:
        return None
    made, axes = plots.figure(len(families) + 1, width=6)
    for ax, family in zip(axes[:-1], families, strict=True):
        panel(ax, rows, family)
    stacked(axes[-1], rows)
    return made


def stacked(ax: Any, rows: list[Row]) -> None:
    """A bar for each graph, of the shares of the procedures in the definition's time, on the GPU where it ran there."""
    from bench import plots

    split = [row for row in rows if "search_share" in row]
    device: Device = "cuda" if any(row["device"] == "cuda" for row in split) else "cpu"
    split = [row for row in split if row["device"] == device]
    below = [0.0] * len(split)
    for (share, (name, _)), colour in zip(PROCEDURES.items(), plots.COLOURS, strict=False):
        shares = [100 * row[share] for row in split]
        ax.bar(range(len(split)), shares, 0.8, bottom=below, label=name, color=colour)
        below = [low + share for low, share in zip(below, shares, strict=True)]
    ax.set_xticks(range(len(split)), [row["graph"] for row in split], rotation=60, ha="right", fontsize=8)
    ax.grid(False, axis="x")
    ax.set_ylim(0, 130)
    ax.set_yticks(range(0, 101, 20))
    ax.legend(frameon=False, labelcolor=plots.INK, fontsize=8, loc="upper center", ncols=2)
    plots.label(ax, f"The definition's time on the {PLACE[device]}", "", "% of a forest's time")


MST = Experiment(
    "kolganov-mst",
    "Spanning forests by Borůvka's algorithm",
    "Kolganov 2016, the performance on R-MAT and SSCA-2",
    "Symmetric R-MAT and SSCA-2 graphs of average degree 32: the fused call and the definition, with and without "
    "copies, and other libraries, where they take about a second. MTEPS are the entries of the matrix over the time of "
    "the whole call, in millions a second, so an undirected edge counts twice, as in the paper's table of graphs. With "
    "copies: the graph comes from the host, the forest goes there, and what a first call on a matrix finds out, such "
    "as its symmetry, is found out in each. The bars are what the definition's procedures take; the paper has 80 % for "
    "the minimum search, and 7 to 8 rounds.",
    forests,
    (
        "graph",
        "nnz",
        "contender",
        "ms",
        "with_transfers_ms",
        "mteps",
        "with_transfers_mteps",
        "rounds",
        *PROCEDURES,
        "repeats",
        "checked",
    ),
    plot,
    by_graph=True,
)

# --- both processors --------------------------------------------------------------------------------------------------

SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
"""Shares of the vertices that the CPU searches."""
HYBRID_SCALE = 24
MEASURED, FUSED = "hybrid, share measured", "GPU, fused"
SECONDS = 0.2
"""That the timed calls of a share may take, but for THREE of them."""


def shared(setting: Setting) -> Iterator[Row]:
    """Both graphs, every share."""
    for make in (symmetric, cliques):
        graph = make(8 if setting.quick else HYBRID_SCALE)
        if not setting.wants(graph.name):
            continue
        if kept := setting.kept_rows(graph.name):
            yield from kept
            continue
        released(setting.device)
        A = graph.make(graph.scale, device=setting.device)
        yield from at_shares(A, graph.row | {"n": A.nrows, "nnz": A.nnz}, setting)
        A.forget()
        del A


def at_shares(A: CSR, known: Row, setting: Setting) -> Iterator[Row]:
    """The rows of one graph: the fused call, each share, and the one that is measured."""
    expected, checked = reference(FOREST, A, 0)
    found = contest([fused_call(A, expected)], setting.repeats, seconds=SECONDS)[FUSED]
    yield known | {"contender": FUSED, "checked": checked} | found | {"mteps": rounded(A.nnz / found["ms"] / 1e3)}
    A.forget()  # what it keeps, to make room
    began = time.perf_counter()
    both_rows(A)
    finish(setting.device)
    known = known | {"prepared_ms": rounded(1e3 * (time.perf_counter() - began)), "checked": "the fused call"}
    for share in SHARES:
        yield known | timed_share(A, share, f"hybrid, {share:.0%}", expected, setting)
    yield known | timed_share(A, measured_share(A), MEASURED, expected, setting)


def fused_call(A: CSR, expected: Any) -> Contender:
    """The forest by one kernel."""
    return Contender(
        FUSED, lambda: boruvka(A), agrees=lambda F: same(on_host(F), expected), device="cuda", watched=False
    )


def timed_share(A: CSR, share: float, name: str, expected: Any, setting: Setting) -> Row:
    """The figures of a share; those of the searches are of the last call."""
    run = Hybrid(A, share)
    contender = Contender(
        name,
        run.grown,
        agrees=lambda edges: same(on_host(run.forest(edges)), expected),
        device=setting.device,
        watched=False,
    )
    found = contest([contender], setting.repeats, seconds=SECONDS)[name]
    searches = {name: rounded(getattr(run.times, name)) for name in ("copy_ms", "cpu_ms", "gpu_ms")}
    own = {"contender": name, "share": round(share, 4), "rounds": run.times.rounds, "device": setting.device}
    return own | found | searches | {"mteps": rounded(A.nnz / found["ms"] / 1e3)}


def plot_shares(rows: list[Row]) -> Figure | None:
    """Time against the share, a panel for each graph, and the share that was measured."""
    from bench import plots

    names = list(dict.fromkeys(row["graph"] for row in rows if "share" in row))
    if not names:
        return None
    made, axes = plots.figure(len(names))
    for ax, name in zip(axes, names, strict=True):
        own = [row | {"percent": 100 * row["share"]} for row in rows if row["graph"] == name and "share" in row]
        points = [row | {"line": "a forest"} for row in own if row["contender"] != MEASURED]
        for figure, line in (("cpu_ms", "the CPU's searches"), ("gpu_ms", "the GPU's searches")):
            points += [row | {"ms": row[figure] or None, "line": line} for row in own if row["contender"] != MEASURED]
        points += [row | {"line": "share measured"} for row in own if row["contender"] == MEASURED]
        plots.lines(ax, points, "percent", "ms", by="line", log_x=False)
        plots.label(ax, name, "% of the vertices on the CPU", "milliseconds")
        plots.legend(ax)
    return made


HYBRID = Experiment(
    "kolganov-hybrid",
    "A share of a forest's searches on the CPU",
    "Kolganov 2016, the hybrid implementation",
    "Spanning forests of symmetric R-MAT and SSCA-2 graphs of average degree 32. In each round the CPU searches a "
    "share of the vertices' lightest edges and the GPU the others, at the same time. Sorted rows are prepared on both "
    "sides. The paper has its best share at 20 to 25 %, on a GTX Titan. The share that is measured makes both take as "
    "long.",
    shared,
    ("graph", "nnz", "contender", "share", "ms", "mteps", "rounds", "copy_ms", "cpu_ms", "gpu_ms", "prepared_ms"),
    plot_shares,
    devices=("cuda",),
    by_graph=True,
)
