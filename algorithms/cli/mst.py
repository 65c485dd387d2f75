"""`semiring mst`: a minimum spanning forest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from algorithms.shared.edges import one_way_edge, undirected_edges
from formats.arrays import to_device
from formats.storage.orientation import is_symmetric

from ..boruvka import boruvka
from .graph import Graph, load, sample
from .options import (
    Columns,
    Device,
    FileArgument,
    StorageFormat,
    Threads,
    TraceFile,
    Undirected,
    check_written,
)
from .output import save_edges
from .report import number, show_table, total

SAMPLE = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)]


def mst(
    file: FileArgument,
    symmetrize: Annotated[bool, typer.Option("--symmetrize", help="Of two directions, take the lighter.")] = False,
    format: StorageFormat = "csr",
    device: Device = "cpu",
    output: Annotated[
        Path | None, typer.Option(help="Write the forest's edges: .tsv, with weights, or .npy (vertex numbers).")
    ] = None,
    trace: TraceFile = None,
    undirected: Undirected = False,
    columns: Columns = None,
    threads: Threads = None,
) -> None:
    """A minimum spanning forest: a tree of least weight for each connected component."""
    check_written(output, trace)
    graph = load(file, undirected=undirected, columns=columns, threads=threads)
    with graph.watch.step("checking"):
        if not symmetrize:
            check_undirected(graph)
        graph.facts["edges"] = f"{undirected_edges(graph.A, symmetrize=symmetrize).nnz:,}"
    forest, _ = graph.solve(
        lambda A: boruvka(A, symmetrize=symmetrize),
        lambda A: boruvka(A, symmetrize=symmetrize),
        sample(SAMPLE, 1, graph.A),
        format,
        device,
        trace,
    )
    u, v, weights = (to_device(column, "cpu") for column in forest.to_edges())
    n = len(graph.labels)
    found = {
        "trees": f"{n - len(weights):,}",
        "of these, single vertices": f"{n - len(np.union1d(u, v)):,}",
        "edges of the forest": f"{len(weights):,}",
        "weight of the forest": number(total(weights)),
    }
    show_table(graph.title, graph.facts | found | graph.watch.rows)
    if output is not None:
        save_edges(output, graph.labels, u, v, weights)


def check_undirected(graph: Graph) -> None:
    """ValueError that names, by the file's ids, an edge without a reverse of the same weight."""
    if not is_symmetric(graph.A):
        u, v = (graph.labels[end] for end in one_way_edge(graph.A))
        raise ValueError(
            f"the graph must be undirected: its edge {u} -> {v} has no reverse of the same weight "
            "(--symmetrize takes the lighter of both directions)"
        )
