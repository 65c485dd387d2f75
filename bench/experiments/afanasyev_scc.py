"""Breadth-first search and strong components, as Afanasyev and Voevodin compare them: figures 9, 10 and 11 of [1].

Forward-Backward-Trim has a few steps: trims, a pivot, a search along the edges and one against them. The paper does all
of them by sweeps over the edge list, so that the order of the list matters to both directions of the search alike. Ours
pushes and pulls frontiers, in the definition as in the fused call; a sweeping search stands beside them.

[1] I. Afanasyev, V. Voevodin, The comparison of large-scale graph processing algorithms implementation methods for
    Intel KNL and NVIDIA GPU, Supercomputing, RuSCDays 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms import bfs, scc, trace
from bench.experiment import Experiment, Row, Setting
from bench.graphs import rmat
from bench.measure import rounded
from formats import CSR, Matrix
from formats.arrays import Device, namespace
from semiring.tuning.timing import THREE

from .afanasyev import CPU_LARGEST, DEGREE, listed, reordered, sweeps
from .teps import LEVELS, PLACE, STRONG, Graph, Way, implementation, measured, panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRIM_TO_SEARCH = 6 / 10
"""Time of trims to that of searches, on the paper's GPU and R-MAT graphs."""
DEFINITION_LARGEST = 18
"""Scale up to which the CPU runs the definition of strong components beside a GPU."""


def network(scale: int) -> Graph:
    """R-MAT of the papers' degree without weights: a byte an edge, which copies carry, too."""
    return Graph("R-MAT", scale, lambda scale, device: unweighted(rmat(scale, DEGREE, device=device), bool))


def unweighted(A: CSR, dtype: Any) -> CSR:
    """The same edges, all of weight one."""
    return A.with_values(namespace(A.values).ones(A.nnz, dtype))


# --- searches ---------------------------------------------------------------------------------------------------------


def swept_levels(A: Matrix, source: int) -> Any:
    """Levels as the paper finds them: distances by sweeps, every edge one long."""
    d = sweeps(A, source)
    xp = namespace(d)
    return xp.where(xp.isinf(d), -1, d).astype(np.int32)


def defined_levels(A: Matrix, source: int) -> Any:
    """Levels by the definition."""
    return bfs(A, source, fused=False)


def searches(device: Device, largest: int = 63) -> list[Way]:
    """Ways to search on a device."""
    place = PLACE[device]
    return [
        Way(f"{place}, fused", device, bfs, facts=implementation(bfs), largest=largest),
        Way(f"{place}, definition", device, defined_levels, largest=largest),
        Way(
            f"{place}, sweeps over reordered edges",
            device,
            swept_levels,
            form=lambda A: reordered(unweighted(A, np.float32)),
            largest=min(largest, 24),
        ),
    ]


def figure_9(setting: Setting) -> Iterator[Row]:
    """One search from the vertex of largest out-degree."""
    there = setting.device == "cuda"
    scales = (8, 10) if setting.quick else range(18, 26 if there else 21)
    ways = searches("cuda") if there else []
    ways += searches("cpu", CPU_LARGEST if there else 63)
    for scale in scales:
        yield from measured(network(scale), ways, LEVELS, setting)


# --- strong components ------------------------------------------------------------------------------------------------


def whole(A: Matrix, source: int) -> Any:
    """Labels of strong components; no source is needed."""
    return scc(A)


def defined(A: Matrix, source: int) -> Any:
    """The same by the definition."""
    return scc(A, fused=False)


def shares(A: Matrix, source: int) -> Row:
    """Facts: the definition's steps, and what trims and searches take of its time, in THREE calls together."""
    scc(A, fused=False)  # what is made once is kept now
    with trace() as t:
        for _ in range(THREE):
            scc(A)
    taken = t.shares()
    trim, search = taken.get("trim", 0.0), taken.get("forward", 0.0) + taken.get("backward", 0.0)
    ratio = {"trim_to_search": rounded(trim / search)} if search else {}
    return {"trim_share": rounded(trim), "search_share": rounded(search), "steps": len(t.rounds) // THREE} | ratio


def components_of(device: Device, forms: dict[str, Any], largest: int = 63, defined_to: int = 63) -> list[Way]:
    """The fused call on a device, and the definition on the matrix in each form."""
    place = PLACE[device]
    ways = [Way(f"{place}, CSR, fused", device, whole, facts=implementation(whole), largest=largest)]
    return ways + [
        Way(f"{place}, {name}, definition", device, defined, form, shares, defined_to) for name, form in forms.items()
    ]


def strong(setting: Setting, forms: dict[str, Any], last: int) -> Iterator[Row]:
    """The rows of both figures."""
    there = setting.device == "cuda"
    scales = (8, 10) if setting.quick else range(18, last + 1 if there else 21)
    ways = components_of("cuda", forms) if there else []
    ways += components_of("cpu", forms, *((CPU_LARGEST, DEFINITION_LARGEST) if there else ()))
    for scale in scales:
        yield from measured(network(scale), ways, STRONG, setting)


def figure_10(setting: Setting) -> Iterator[Row]:
    """GPU and CPU."""
    yield from strong(setting, {"CSR": None}, 25)


def figure_11(setting: Setting) -> Iterator[Row]:
    """The input optimised and not."""
    yield from strong(setting, {"edge list": listed, "edges reordered": reordered}, 24)


# --- tables and plots -------------------------------------------------------------------------------------------------


def one_panel(rows: list[Row]) -> Figure | None:
    """MTEPS over the number of vertices."""
    from bench import plots

    if not rows:
        return None
    made, (ax,) = plots.figure(1)
    panel(ax, rows, "R-MAT")
    return made


def with_trims(rows: list[Row]) -> Figure | None:
    """MTEPS, and the time of trims to that of searches beside the paper's."""
    from bench import plots

    if not rows:
        return None
    made, (rates, ratios) = plots.figure(2)
    panel(rates, rows, "R-MAT")
    plots.lines(ratios, rows, "n", "trim_to_search", log_y=False)
    ratios.axhline(TRIM_TO_SEARCH, color=plots.INK, linestyle="--", linewidth=1, label="K40, 2017 (6 : 10)")
    plots.legend(ratios)
    plots.label(ratios, "Trims : searches, in the definition", "vertices", "ratio of times")
    return made


COLUMNS = ("graph", "nnz", "contender", "ms", "with_transfers_ms", "mteps", "with_transfers_mteps")
TRIMS = ("trim_share", "search_share", "trim_to_search", "steps")
SAID = (
    "MTEPS are the entries of the matrix over the time of the whole call, in millions a second, an edge counted once. "
    "With copies: the edges come from the host, the answer goes there, and what a first call on a matrix makes, such "
    "as its columns, is made in each."
)

FIGURE_9 = Experiment(
    "afanasyev-fig9",
    "Breadth-first search alone",
    "Afanasyev and Voevodin 2017, figure 9",
    "One search of an R-MAT graph of average degree 32 from its vertex of largest out-degree: the fused call, the "
    "definition, both of which choose between pushing and pulling, and the paper's way, sweeps over reordered edges. "
    f"{SAID}",
    figure_9,
    (*COLUMNS, "prepared_ms", "repeats", "checked"),
    one_panel,
)
FIGURE_10 = Experiment(
    "afanasyev-fig10",
    "Strong components by Forward-Backward-Trim",
    "Afanasyev and Voevodin 2017, figure 10",
    "R-MAT graphs of average degree 32 on the GPU and on the CPU: the fused call and the definition, of which a trace "
    "tells what trims and searches take; on the paper's GPU 6 : 10. On the CPU the fused call is one depth-first "
    f"search. {SAID}",
    figure_10,
    (*COLUMNS, *TRIMS, "repeats", "checked"),
    with_trims,
)
FIGURE_11 = Experiment(
    "afanasyev-fig11",
    "Strong components, the edges reordered or not",
    "Afanasyev and Voevodin 2017, figure 11",
    "The definition on the edge list as it comes and reordered by segments of vertices as large as the cache, and the "
    "fused call on CSR. Ours pushes small frontiers along kept rows, whatever the list's order; what is left of the "
    f"paper's gain is in its dense steps. {SAID}",
    figure_11,
    (*COLUMNS, *TRIMS, "prepared_ms", "repeats", "checked"),
    with_trims,
)
