"""Spanning forests by Borůvka's algorithm, as Kolganov measures them [1]: edges a second, and what a procedure takes.

A round has four procedures: the search for each tree's lightest edge to another, the removal of 2-cycles, merging by
pointer jumping, and the renumbering of trees. `boruvka` as a definition has the same four, and a trace tells what each
takes; edges within a tree, which Kolganov's search skips, are dropped at the end of a round, and count as search. The
fused call has one kernel, or compiled loops, for all of a forest.

[1] A. S. Kolganov, Hybrid implementation of the MST algorithm using CPU and GPU, 2016.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from algorithms import boruvka, trace
from bench.experiment import Experiment, Row, Setting
from bench.graphs import rmat_both_ways
from bench.measure import THREE, rounded
from formats import CSR, Matrix
from formats.arrays import Device

from .afanasyev import DEGREE, cliques
from .teps import FOREST, PLACE, Graph, Others, Way, implementation, measured, panel

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
)
