"""Figures 6 and 7 of Martín, Torres and Gavilanes [1]: DA2CF's implementations beside a Fibonacci heap.

Two sets of random graphs with weights 1 to 10. In the lists every vertex has 7 predecessors, n = 1..11 · 2^20; in the
matrices it has n / 5 successors, n = 1..15 · 2^10, and all n^2 positions are kept. The paper draws 25 graphs of each
size and shows averages; here there are `GRAPHS`, and a figure is the median over them. FH, Dijkstra's algorithm with a
Fibonacci heap [2], is SciPy's. `F_GPU_no_Atomic` is wrong, is measured only, and has its wrong distances in its row.

The hybrids move vectors between host and GPU where the paper does. Beside them are our own algorithms as they run by
default, fused, which take lists in both figures. On a GPU `with_transfers_ms` adds the way of the matrix there, in the
interpretation that it is used in, and of the distances back.

[1] P. J. Martín, R. Torres, A. Gavilanes, CUDA solutions for the SSSP problem, ICCS 2009, LNCS 5544.
[2] M. L. Fredman, R. E. Tarjan, Fibonacci heaps and their uses in improved network optimization algorithms, Journal of
    the ACM 34(3), 1987.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from scipy.sparse import csgraph

from algorithms import bellman_ford, da2cf, delta_stepping
from bench import plots
from bench.experiment import Experiment, Row, Setting, released
from bench.graphs import fifth, predecessors
from bench.laboratory import VARIANTS, da2cf_by
from bench.measure import Contender, contest, once, rounded, verify
from formats import CSR, Dense, Matrix
from formats.arrays import Array, Device, to_device
from formats.storage.orientation import by_columns
from semiring import MinPlus
from semiring.tuning.timing import THREE

from .no_atomic import NO_ATOMIC, f_gpu_no_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FH = "FH"
"""Dijkstra's algorithm with a Fibonacci heap, SciPy's."""
OURS = {f"{algorithm.name}, fused": algorithm for algorithm in (da2cf, delta_stepping)}
DEVICES = {name: {plan.relax_on, plan.minimum_on, plan.update_on} for name, plan in VARIANTS.items()}
"""Where the steps of each implementation run."""
ON_HOST = {FH} | {name for name, devices in DEVICES.items() if "cpu" in devices}
"""Implementations that run there, at least in part."""
WITH_TRANSFERS = {"U_GPU", "F_GPU"}
"""The paper's implementations whose transfers are timed, too: one of each way to relax."""

DEGREE, SOURCE = 7, 0
GRAPHS = 3
"""Graphs of each size, for contenders on a GPU; the host has one."""
SLOW_MS = 1000.0
"""A call on the host that takes longer is timed once."""
LIMIT_MS = 5000.0
"""Most milliseconds of a call on the host, but for FH; one that would take longer is left out."""
NEEDS_GPU = "needs a GPU: --device cuda"


@dataclass(frozen=True)
class Family:
    """A set of the paper's graphs.

    make: (n, seed, device) -> lists.  fmt: what the paper's implementations take.  variants: of them, in this set.
    unit: vertices in a step of the axis.  sizes: on a device, in units.  quick: unit and sizes of tiny graphs.
    slow_at: sizes at which what runs on the host is timed.
    """

    name: str
    make: Callable[[int, int, Device], CSR]
    fmt: type[Matrix]
    variants: tuple[str, ...]
    unit: int
    sizes: Mapping[Device, tuple[int, ...]]
    quick: tuple[int, tuple[int, ...]]
    slow_at: tuple[int, ...]


LISTS = Family(
    "lists",
    lambda n, seed, device: predecessors(n, DEGREE, seed=seed, device=device),
    CSR,
    (*VARIANTS, NO_ATOMIC),
    1 << 20,
    {"cpu": (1, 2, 4), "cuda": tuple(range(1, 12))},
    (1 << 10, (1, 2, 4)),
    (1, 2, 4, 8, 11),
)
MATRICES = Family(
    "matrix",
    lambda n, seed, device: fifth(n, seed=seed, device=device),
    Dense,
    ("F_CPU", "U_CPU", "U_GPU", "F_GPU", NO_ATOMIC),
    1 << 10,
    {"cpu": tuple(range(1, 9)), "cuda": tuple(range(1, 16))},
    (1 << 6, (1, 2, 4)),
    tuple(range(1, 16)),
)
WHY_NOT = {("matrix", NO_ATOMIC): "a thread of F_GPU takes a column of the matrix, so it has no atomics to leave out"}
"""Reasons why a set lacks an implementation."""


@dataclass(frozen=True)
class Instance:
    """A random graph: lists and the set's format on each device, and the right distances, on the host.

    wrong: how many distances of an implementation that may be wrong were so at most, by name.
    """

    lists: dict[Device, CSR]
    matrices: dict[Device, Matrix]
    right: np.ndarray
    wrong: dict[str, int] = field(default_factory=dict)

    def same(self, d: Array) -> bool:
        """True for the right distances."""
        return d.dtype == self.right.dtype and np.array_equal(to_device(d, "cpu"), self.right)


def instance(family: Family, n: int, seed: int, device: Device) -> Instance:
    """A graph of the set, and its distances by Bellman-Ford's method."""
    A = family.make(n, seed, device)
    lists: dict[Device, Any] = {device: A, "cpu": A.to(device="cpu")}
    matrices = {where: B.to(family.fmt) for where, B in lists.items()}
    return Instance(lists, matrices, to_device(bellman_ford(A, SOURCE), "cpu"))


def iterations(d: np.ndarray) -> int:
    """Returns DA2CF's iterations: one for every distance that occurs, however many vertices are at it."""
    return int(np.unique(d[d != MinPlus.zero(d.dtype)]).size)


# --- contenders -------------------------------------------------------------------------------------------------------


def fibonacci_heap(g: Instance) -> Contender:
    """FH, whose distances are float64."""
    A, d = g.lists["cpu"], g.right
    S = scipy.sparse.csr_array((A.values.astype(np.float64), A.indices, A.indptr), shape=A.shape)
    return Contender(FH, lambda: csgraph.dijkstra(S, indices=SOURCE), np.where(d == MinPlus.zero(d.dtype), np.inf, d))


def papers(g: Instance, name: str, transfers: bool) -> Contender:
    """One of the paper's implementations; what it keeps with the matrix is made when it is verified."""
    home: Device = "cuda" if "cuda" in DEVICES[name] else "cpu"

    def solve(M: Matrix) -> Array:
        return da2cf_by(M, SOURCE, variant=name, fused=False)

    copied = None
    if transfers and name in WITH_TRANSFERS:
        H = g.matrices["cpu"]
        copied = with_copies(by_columns(H) if VARIANTS[name].relax == "pull" else H, solve)
    return Contender(name, lambda: solve(g.matrices[home]), agrees=g.same, with_transfers=copied, device=home)


def ours(g: Instance, name: str, device: Device, transfers: bool) -> Contender:
    """One of our own algorithms, on lists."""

    def solve(A: Matrix) -> Array:
        return OURS[name](A, SOURCE)

    copied = with_copies(g.lists["cpu"], solve) if transfers else None
    return Contender(name, lambda: solve(g.lists[device]), agrees=g.same, with_transfers=copied, device=device)


def with_copies(given: Matrix, solve: Callable[[Matrix], Array]) -> Callable[[], Array]:
    """The call on a matrix that comes from the host, with an answer that goes there."""
    return lambda: to_device(solve(given.to(device="cuda")), "cpu")


def without_atomics(g: Instance) -> Contender:
    """Returns the contender without atomics, which may be wrong: distances that are too large are counted."""

    def counted(d: Array) -> bool:
        found = to_device(d, "cpu")
        g.wrong[NO_ATOMIC] = max(g.wrong.get(NO_ATOMIC, 0), int((found != g.right).sum()))
        return bool((found >= g.right).all())

    return Contender(NO_ATOMIC, lambda: f_gpu_no_atomic(g.lists["cuda"], SOURCE), agrees=counted, device="cuda")


def contenders(family: Family, g: Instance, device: Device, first: bool) -> Iterator[Contender]:
    """All that the device allows; on the first graph of a size also the host's, and transfers to a GPU."""
    transfers = first and device == "cuda"
    yield fibonacci_heap(g)
    for name in family.variants:
        if (family.name, name) in WHY_NOT or (device == "cpu" and needs_gpu(name)):
            continue
        yield without_atomics(g) if name == NO_ATOMIC else papers(g, name, transfers)
    for name in OURS:
        yield ours(g, name, device, transfers)


def needs_gpu(name: str) -> bool:
    """True if an implementation of the paper runs a step on a GPU."""
    return name == NO_ATOMIC or "cuda" in DEVICES[name]


# --- rows -------------------------------------------------------------------------------------------------------------


@dataclass
class Patience:
    """Tells which calls on the host would take too long, by the size before; FH is timed whatever it takes."""

    family: Family
    known: dict[str, tuple[int, float]] = field(default_factory=dict)

    def why_not(self, name: str, size: int, nnz: int) -> str | None:
        """Why an implementation is left out; None if it is not."""
        if size not in self.family.slow_at:
            return f"left out: what runs on the host is timed at {', '.join(map(str, self.family.slow_at))} alone"
        before, ms = self.known.get(name, (nnz, 0.0))
        would = ms * nnz / before
        return f"left out: a call would take about {would / 1e3:.0f} s" if name != FH and would > LIMIT_MS else None

    def recall(self, kept: list[Row]) -> None:
        """Takes over the times of a size that an interrupted run has measured."""
        self.known |= {row["contender"]: (row["nnz"], row["ms"]) for row in kept if "ms" in row}


def rows(family: Family, setting: Setting) -> Iterator[Row]:
    """A row for each size and implementation, with the medians over the graphs of that size."""
    unit, sizes = family.quick if setting.quick else (family.unit, family.sizes[setting.device])
    graphs = GRAPHS if setting.device == "cuda" and not setting.quick else 1
    patience = Patience(family)
    for size in sizes:
        graph = f"{family.name}, {size} x 2^{unit.bit_length() - 1}"
        if kept := setting.kept_rows(graph):
            patience.recall(kept)
            yield from kept
            continue
        taken: dict[str, list[Row]] = {}
        facts: list[Row] = []
        for seed in range(1, graphs + 1):
            released(setting.device)
            g = instance(family, size * unit, seed, setting.device)
            facts.append({"nnz": g.lists["cpu"].nnz, "iterations": iterations(g.right)})
            for name, figures in measured(family, g, size, setting, patience, graphs, first=seed == 1).items():
                taken.setdefault(name, []).append(figures)
        known = {"graph": graph, "n": size * unit, "size": size, **medians(facts)}
        heap = medians(taken[FH]).get("ms") if FH in taken else None
        for name in (FH, *family.variants, *OURS):
            if name not in taken and size != sizes[0]:  # said once
                continue
            row = known | {"contender": name} | medians(taken.get(name, [])) | absent(family, name, taken)
            yield row | ({"speedup": rounded(heap / row["ms"])} if heap and "ms" in row else {})


def absent(family: Family, name: str, taken: dict[str, list[Row]]) -> Row:
    """Why an implementation was not even tried, if it was not."""
    return {} if name in taken else {"missing": WHY_NOT.get((family.name, name), NEEDS_GPU)}


def measured(
    family: Family, g: Instance, size: int, setting: Setting, patience: Patience, graphs: int, *, first: bool
) -> dict[str, Row]:
    """Figures of each implementation on one graph, or why there are none; on the host, of the first graph alone."""
    nnz = g.lists["cpu"].nnz
    found: dict[str, Row] = {}
    turns = []
    for contender in contenders(family, g, setting.device, first):
        name = contender.name
        if name not in ON_HOST and setting.device == "cuda":
            turns.append(contender)
            continue
        if not first:
            continue
        reason = patience.why_not(name, size, nnz)
        found[name] = {"missing": reason} if reason else alone(contender)
        if not reason and found[name]["ms"] < SLOW_MS:
            turns.append(contender)
    found |= contest(turns, max(THREE, setting.repeats // graphs))
    for name, figures in found.items():
        if "ms" in figures:
            patience.known[name] = nnz, figures["ms"]
        if name in g.wrong:
            figures["wrong_distances"] = g.wrong[name]
    return found


def alone(contender: Contender) -> Row:
    """The figures of one call, after another one that compiles and makes what is kept; FH has nothing of the kind."""
    if contender.name != FH:
        verify(contender)
    return once(contender)


def medians(figures: list[Row]) -> Row:
    """One row's figures of those on several graphs: medians, the sum of repeats, and the most wrong distances."""
    if not figures or "missing" in figures[0]:
        return dict(figures[0]) if figures else {}
    fold = {"repeats": sum, "wrong_distances": max, "verified": all}
    whole = {"nnz", "iterations", "peak_bytes"}
    made: Row = {"graphs": len(figures)}
    for key in dict.fromkeys(key for row in figures for key in row):
        value = fold.get(key, median)([row[key] for row in figures if key in row])
        made[key] = value if key in fold else int(value) if key in whole else rounded(value)
    return made


# --- experiments ------------------------------------------------------------------------------------------------------


def plot(family: Family, time: str, per_ms: float, rows: list[Row]) -> Figure | None:
    """Time against n, and speed-up over FH, a line for each implementation."""
    if not rows:
        return None
    order = [name for name in (FH, *family.variants, *OURS) if any(row["contender"] == name for row in rows)]
    unit = rows[0]["n"] // rows[0]["size"]
    made, (left, right) = plots.figure(2)
    shown = [row | {time: row["ms"] * per_ms} for row in rows]
    axis = f"n in 2^{unit.bit_length() - 1}"
    plots.lines(left, shown, "size", time, order=order, log_x=False)
    plots.label(left, "Time", axis, time)
    plots.lines(right, [row for row in shown if "speedup" in row], "size", "speedup", order=order, log_x=False)
    plots.label(right, "Speed-up over the Fibonacci heap", axis, "times")
    return made


COLUMNS = ("graph", "contender", "graphs", "iterations", "ms", "with_transfers_ms", "speedup", "wrong_distances")

FIG6 = Experiment(
    name="martin-fig6",
    title="DA2CF on lists of 7 predecessors",
    source="Martín, Torres and Gavilanes 2009, figure 6",
    about=(
        "The implementations of DA2CF that the paper compares, on random graphs in which every vertex has 7 "
        "predecessors with weights 1 to 10, beside Dijkstra's algorithm with a Fibonacci heap (FH). Pushing the "
        "frontier (F) looks at each edge once; pulling (U) looks at the edges of all unresolved vertices in each of "
        "about 40 iterations. The hybrids (H) move vectors between host and GPU in every iteration. On a GTX 280 the "
        "paper has F_GPU at about 60 times FH, U_GPU_PLUS at about 10. F_GPU_no_Atomic is wrong; how many distances "
        "were so is in its row. What is called fused is ours: the iterations in one kernel, and Δ-stepping."
    ),
    rows=lambda setting: rows(LISTS, setting),
    columns=COLUMNS,
    plot=lambda rows: plot(LISTS, "seconds", 1e-3, rows),
)

FIG7 = Experiment(
    name="martin-fig7",
    title="DA2CF on adjacency matrices of degree n / 5",
    source="Martín, Torres and Gavilanes 2009, figure 7",
    about=(
        "The same on matrices that keep all n² positions, of graphs in which every vertex has n / 5 successors. "
        "Frontiers are huge, iterations few, and a product streams through the matrix. On a GTX 280 the paper has "
        "U_GPU at 32 times FH, ahead of F_GPU, whose atomics meet. Ours takes a thread a column in F, so that it needs "
        "none. What is called fused takes lists, which at this density are still smaller than the matrix."
    ),
    rows=lambda setting: rows(MATRICES, setting),
    columns=COLUMNS,
    plot=lambda rows: plot(MATRICES, "milliseconds", 1.0, rows),
)
