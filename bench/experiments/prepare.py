"""The cost of preparing a graph, step by step, and the gain of a product: renumbering, sorting, reordering, ranks.

A row is a step, verified before it is timed: undone, it gives the matrix again. Or it is mxv over min-plus on the graph
in an order of its vertices, beside the graph's own numbering and a random one; what an order is worth also shows in the
bandwidth max |i - j| and in the mean of |i - j| over the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.experiment import Experiment, Row, Setting, rows_by_graph
from bench.graphs import operand, rmat
from bench.measure import Contender, Disagreement, contest
from formats import (
    CSR,
    Matrix,
    by_weight,
    from_ranks,
    inverse_permutation,
    permute,
    read,
    reorder_edges,
    to_ranks,
    vertex_order,
)
from formats.arrays import Array, to_device
from formats.preparation.renumbering import ORDERS
from semiring import MinPlus, mxv

from .fused_tasks import NEW_YORK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_OPERAND = 100_000
SEGMENT_BYTES = 1 << 16
"""Bytes of a segment of reordered edges: a core's second-level cache and a GPU's shared memory hold several."""


def graphs(setting: Setting) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yields names of graphs, and functions that make them on the device."""
    scale = 8 if setting.quick else 16
    yield f"R-MAT, scale {scale}", lambda: rmat(scale, device=setting.device)
    if setting.data is not None and not setting.quick and (file := setting.data / NEW_YORK).exists():
        yield "NY", lambda: read(file).to(CSR, device=setting.device)


def rows(setting: Setting) -> Iterator[Row]:
    """Every step, and a product in every order, of each graph."""

    def of_graph(_: str, A: CSR) -> Iterator[Row]:
        permutations = {by: vertex_order(A, by) for by in ORDERS}
        verify(A, permutations)
        for step, run in steps(A, permutations).items():
            contender = Contender(step, run, agrees=lambda _: True, device=setting.device, watched=False)
            yield {"contender": step} | contest([contender], setting.repeats)[step]
        yield from numberings(A, permutations, setting.repeats)

    return rows_by_graph(setting, graphs(setting), of_graph)


def steps(A: Matrix, permutations: dict[str, Array]) -> dict[str, Callable[[], Any]]:
    """Each step of preparation by its name, to be timed alone."""
    R, weights = to_ranks(A)
    found: dict[str, Callable[[], Any]] = {}
    for by, permutation in permutations.items():
        found[f"order by {by}"] = lambda by=by: vertex_order(A, by)
        found[f"permute by {by}"] = lambda permutation=permutation: permute(A, permutation)
    return found | {
        "neighbours by weight": lambda: by_weight(A),
        "edges by segments": lambda: reorder_edges(A, SEGMENT_BYTES),
        "weights to ranks": lambda: to_ranks(A),
        "ranks to weights": lambda: from_ranks(R, weights),
    }


def verify(A: Matrix, permutations: dict[str, Array]) -> None:
    """Disagreement unless every step can be undone."""
    for by, permutation in permutations.items():
        check(permute(permute(A, permutation), inverse_permutation(permutation)).equals(A), f"permute by {by}")
    near, (_, cols, values) = by_weight(A), A.to_edges()
    back = inverse_permutation(near.order)
    same = bool((near.indices[back] == cols).all()) and bool((near.values[back] == values).all())
    check(same, "neighbours by weight")
    check(reorder_edges(A, SEGMENT_BYTES).equals(A), "edges by segments")
    R, weights = to_ranks(A)
    check(from_ranks(R, weights).equals(A), "ranks to weights")


def check(right: bool, name: str) -> None:
    """Disagreement, which names the step, unless it did right."""
    if not right:
        raise Disagreement(f"{name} cannot be undone: it is not timed")


def numberings(A: Matrix, permutations: dict[str, Array], repeats: int) -> Iterator[Row]:
    """For each order, the graph's own and a random one: a product, bandwidth and mean distance."""
    own, shuffled = np.arange(A.nrows), np.random.default_rng(1).permutation(A.nrows)
    host = {"as given": own, "random": shuffled}
    orders = {name: to_device(order, A.device) for name, order in host.items()} | permutations
    matrices = {name: permute(A, permutation) for name, permutation in orders.items()}
    x = operand(A.ncols, MAX_OPERAND, device=A.device, dtype=A.dtype)
    y = mxv(A, x, MinPlus)
    contenders = [
        Contender(
            f"mxv, {name}",
            lambda B=B, x=x[orders[name]]: mxv(B, x, MinPlus),
            y[orders[name]],
            device=A.place.backend,
            batched=True,
            watched=False,
        )
        for name, B in matrices.items()
    ]
    found = contest(contenders, repeats)
    for name, B in matrices.items():
        yield {"contender": f"mxv, {name}"} | found[f"mxv, {name}"] | distances(B)


def distances(A: Matrix) -> dict[str, float]:
    """The bandwidth max |i - j| and the mean of |i - j| over the entries."""
    rows, cols, _ = A.to_edges()
    apart = abs(rows - cols)
    return {"bandwidth": int(apart.max()), "mean_distance": round(float(apart.mean()), 1)} if A.nnz else {}


def plot(rows: list[Row]) -> Figure | None:
    """A product in every order."""
    from bench import plots

    drawn = [row for row in rows if "bandwidth" in row]
    if not drawn:
        return None
    made, (ax,) = plots.figure(1, width=7.2)
    plots.bars(ax, drawn, "graph", "ms", by="contender")
    plots.label(ax, "mxv, min_plus", "", "milliseconds")
    return made


PREPARE = Experiment(
    name="prepare",
    title="Preparation",
    source="our own",
    about="What each step of preparation takes, and what a product gains by an order of the vertices.",
    rows=rows,
    columns=("graph", "nnz", "contender", "ms", "bandwidth", "mean_distance"),
    plot=plot,
    roads=True,
)
