"""`semiring mst`: a minimum spanning forest."""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np
import typer

from algorithms.shared.edges import undirected_edges
from formats.arrays import to_device

from ..equations.boruvka import boruvka
from .graph import check_undirected, load, sample
from .options import Computing, Printing, Reading
from .output import plain, save_edges
from .report import show_table, total

SAMPLE = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)]


def mst(
    reading: Reading,
    computing: Computing,
    printing: Printing,
    symmetrize: Annotated[bool, typer.Option("--symmetrize", help="Of two directions, take the lighter.")] = False,
) -> None:
    """A minimum spanning forest: a tree of least weight for each connected component."""
    graph = load(reading)
    with graph.watch.step("checking"):
        if not symmetrize:
            check_undirected(graph)
        graph.facts["edges"] = undirected_edges(graph.A, symmetrize=symmetrize).nnz
    run = functools.partial(boruvka, symmetrize=symmetrize)
    forest, _ = graph.solve(run, run, sample(SAMPLE, 1, graph.A), computing)
    u, v, weights = (to_device(column, "cpu") for column in forest.to_edges())
    n = len(graph.labels)
    found: dict[str, Any] = {
        "trees": n - len(weights),
        "of these, single vertices": n - len(np.union1d(u, v)),
        "edges of the forest": len(weights),
        "weight of the forest": total(weights),
    }
    printing.deliver(
        lambda: {name: plain(value) for name, value in found.items()},
        lambda: show_table(graph.title, graph.facts | found | graph.watch.rows),
        lambda output: save_edges(output, graph.labels, u, v, weights),
    )
