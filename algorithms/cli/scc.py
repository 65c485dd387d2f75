"""`semiring scc`: strongly, or weakly, connected components."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from formats.arrays import to_device

from ..equations.scc import scc as strong_components
from .graph import load, sample
from .options import Computing, Printing, Reading
from .output import plain, save_vectors
from .report import show_table

LARGEST_SHOWN = 10
SAMPLE = [(0, 1), (1, 0), (1, 2), (2, 0), (0, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
"""A component that is not symmetric, and a chain."""


def scc(
    reading: Reading,
    computing: Computing,
    printing: Printing,
    weak: Annotated[bool, typer.Option("--weak", help="Weak components: let every edge count both ways.")] = False,
) -> None:
    """Strongly connected components; each goes by its smallest vertex."""
    graph = load(reading)
    run = functools.partial(strong_components, weak=weak)
    component, record = graph.solve(run, run, sample(SAMPLE, 1, graph.A), computing)
    component = to_device(component, "cpu")
    sizes = np.bincount(component)
    found = {"components": np.count_nonzero(sizes), "single vertices": np.count_nonzero(sizes == 1)}
    first_of_each = np.flatnonzero(sizes)
    order = first_of_each[np.argsort(-sizes[first_of_each], kind="stable")]  # the largest component first

    def show() -> None:
        show_table(graph.title, graph.facts | found | graph.watch.rows)
        if len(sizes):
            first = {str(graph.labels[c]): sizes[c] for c in order[:LARGEST_SHOWN]}
            show_table("largest components", first, ("smallest vertex", "vertices"))
        if record is not None and record.rounds:
            shares = {phase: f"{share:.1%}" for phase, share in record.shares().items()}
            show_table("time by phase", shares, ("phase", "share"))

    def content() -> dict[str, Any]:
        each = [{"smallest vertex": plain(graph.labels[c]), "vertices": int(sizes[c])} for c in order]
        return found | {"largest components": each[:LARGEST_SHOWN]}

    def save(output: Path) -> None:
        ids = component if output.suffix == ".npy" else graph.labels[component]
        save_vectors(output, graph.labels, ids[np.newaxis], np.ones((1, len(ids)), bool), absent="")

    printing.deliver(content, show, save)
