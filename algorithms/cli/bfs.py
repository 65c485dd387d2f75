"""`semiring bfs`: how many edges away every vertex is."""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np
import typer

from formats.arrays import to_device

from ..equations.bfs import bfs as search
from ..shared.parents import path
from ..shared.traversal import CHOICES, Direction
from .graph import Graph, load, sample
from .options import Computing, Printing, Reading, SearchDirection, Sources
from .output import plain, save_vectors
from .report import show_path, show_table

LEVELS_SHOWN = 20
SAMPLE = [(0, 1), (1, 2), (2, 0), (2, 3)]


def bfs(
    reading: Reading,
    source: Sources,
    computing: Computing,
    printing: Printing,
    direction: SearchDirection = "auto",
    alpha: Annotated[float, typer.Option(help="auto: pull above one in alpha of the unexplored edges.")] = 15,
    beta: Annotated[float, typer.Option(help="auto: push again below one in beta of the vertices.")] = 18,
    max_level: Annotated[int | None, typer.Option(help="Look no farther than this many edges.", min=0)] = None,
    target: Annotated[str | None, typer.Option(help="Look no farther than this vertex.")] = None,
    to: Annotated[
        list[str] | None, typer.Option(help="Also print a path with the fewest edges to this vertex; may repeat.")
    ] = None,
) -> None:
    """How many edges away every vertex is from one, or several."""
    Direction(direction, alpha=alpha, beta=beta)  # type: ignore[arg-type]  # which checks them
    ways = [way for way in CHOICES if way != "auto"] if direction == "auto" else [direction]
    graph = load(reading)
    starts = [graph.vertex(start, "--source") for start in source]
    ends = [graph.vertex(end, "--to") for end in to or []]
    last = None if target is None else graph.vertex(target, "--target")
    run: Any = functools.partial(search, alpha=alpha, beta=beta, return_parents=bool(ends))
    answer, _ = graph.solve(
        lambda A: run(A, sources=starts, direction=direction, max_level=max_level, target=last),
        lambda A: [run(A, 0, direction=way) for way in ways],
        sample(SAMPLE, 1, graph.A),
        computing,
    )
    levels, parents = answer if ends else (answer, None)
    levels, parents = to_device(levels, "cpu"), None if parents is None else to_device(parents, "cpu")
    within = "" if max_level is None and last is None else " within the bound"
    printing.deliver(
        lambda: content(graph, starts, ends, levels, parents),
        lambda: show(graph, source, ends, levels, parents, within),
        lambda output: save_vectors(output, graph.labels, levels, levels >= 0, absent="none"),
    )


def content(graph: Graph, starts: list[int], ends: list[int], levels: np.ndarray, parents: Any) -> list[dict[str, Any]]:
    """For each source how many vertices it reaches, and the paths that were asked for, as JSON can say it."""
    names = graph.labels

    def way(row: int, end: int) -> dict[str, Any]:
        steps = path(parents[row], end) if levels[row][end] >= 0 else []
        edges = len(steps) - 1 if steps else None
        return {"to": plain(names[end]), "edges": edges, "path": [plain(names[v]) for v in steps]}

    return [
        {
            "source": plain(names[start]),
            "reached": int((levels[row] >= 0).sum()),
            "depth": int(levels[row].max()),
            "paths": [way(row, end) for end in ends],
        }
        for row, start in enumerate(starts)
    ]


def show(graph: Graph, source: list[str], ends: list[int], levels: np.ndarray, parents: Any, within: str) -> None:
    """Print a summary of each search, and the paths that were asked for."""
    for row, start in enumerate(source):
        rows = (graph.facts if row == 0 else {}) | summary(levels[row])
        rows |= graph.watch.rows if row == len(source) - 1 else {}
        show_table(f"{graph.title}, from vertex {start}", rows)
        show_table("vertices by level", by_level(levels[row]), ("level", "vertices"))
        for end in ends:
            show_path(parents[row], end, graph.labels, levels[row][end] >= 0, within=within)


def summary(level: np.ndarray) -> dict[str, Any]:
    """Rows of a table: how far a search went."""
    counts = np.bincount(level[level >= 0])
    widest = int(counts.argmax())
    return {
        "reached": counts.sum(),
        "depth": len(counts) - 1,
        "vertices at that depth": counts[-1],
        "widest level": widest,
        "vertices in it": counts[widest],
    }


def by_level(level: np.ndarray) -> dict[str, Any]:
    """Rows of a table: the vertices of the first levels, and of the rest together."""
    counts = np.bincount(level[level >= 0])
    rows = {str(k): count for k, count in enumerate(counts[:LEVELS_SHOWN])}
    if len(counts) > LEVELS_SHOWN:
        rows[f"{LEVELS_SHOWN} and more"] = counts[LEVELS_SHOWN:].sum()
    return rows
