"""`semiring scc`: strongly, or weakly, connected components."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from formats.arrays import to_device

from ..scc import scc as strong_components
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
    component, record = graph.solve(
        lambda A: strong_components(A, weak=weak),
        lambda A: strong_components(A, weak=weak),
        sample(SAMPLE, 1, graph.A),
        computing,
    )
    component = to_device(component, "cpu")
    sizes = np.bincount(component)
    found = {"components": np.count_nonzero(sizes), "single vertices": np.count_nonzero(sizes == 1)}
    order = largest(sizes)

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


def largest(sizes: np.ndarray) -> np.ndarray:
    """The components' smallest vertices, the largest component first; of equal ones, the first."""
    components = np.flatnonzero(sizes)
    return components[np.argsort(-sizes[components], kind="stable")]
