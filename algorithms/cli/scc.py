"""`semiring scc`: strongly, or weakly, connected components."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from formats.arrays import to_device

from ..scc import scc as strong_components
from .graph import load, sample
from .options import (
    Columns,
    Device,
    FileArgument,
    StorageFormat,
    Threads,
    TraceFile,
    check_written,
)
from .output import save_vectors
from .report import show_table

LARGEST_SHOWN = 10
SAMPLE = [(0, 1), (1, 0), (1, 2), (2, 0), (0, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
"""A component that is not symmetric, and a chain."""


def scc(
    file: FileArgument,
    weak: Annotated[bool, typer.Option("--weak", help="Let every edge count both ways.")] = False,
    format: StorageFormat = "csr",
    device: Device = "cpu",
    output: Annotated[Path | None, typer.Option(help="Write each vertex's component: .npy or .tsv.")] = None,
    trace: TraceFile = None,
    columns: Columns = None,
    threads: Threads = None,
) -> None:
    """Strongly connected components; each goes by its smallest vertex."""
    check_written(output, trace)
    graph = load(file, columns=columns, threads=threads)
    component, record = graph.solve(
        lambda A: strong_components(A, weak=weak),
        lambda A: strong_components(A, weak=weak),
        sample(SAMPLE, 1, graph.A),
        format,
        device,
        trace,
    )
    component = to_device(component, "cpu")
    sizes = np.bincount(component)
    found = {"components": f"{np.count_nonzero(sizes):,}", "single vertices": f"{np.count_nonzero(sizes == 1):,}"}
    show_table(graph.title, graph.facts | found | graph.watch.rows)
    if len(sizes):
        show_table("largest components", largest(sizes, graph.labels), ("smallest vertex", "vertices"))
    if record is not None and record.rounds:
        shares = {phase: f"{share:.1%}" for phase, share in record.shares().items()}
        show_table("time by phase", shares, ("phase", "share"))
    if output is not None:
        ids = component if output.suffix == ".npy" else graph.labels[component]
        save_vectors(output, graph.labels, ids[np.newaxis], np.ones((1, len(ids)), bool), absent="")


def largest(sizes: np.ndarray, labels: np.ndarray) -> dict[str, str]:
    """Rows of a table: the smallest vertex and the size of the largest components; of equal ones, the first."""
    components = np.flatnonzero(sizes)
    order = np.argsort(-sizes[components], kind="stable")[:LARGEST_SHOWN]
    return {str(labels[c]): f"{sizes[c]:,}" for c in components[order]}
