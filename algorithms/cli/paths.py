"""`semiring shortest-simple-paths`: the k shortest paths between two vertices."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from ..equations.shortest_simple_paths import shortest_simple_paths as shortest
from .graph import Graph, load, sample
from .measures import SAMPLE
from .options import Computing, Printing, Reading
from .output import TAB, opened, plain
from .report import number, show_table


def shortest_simple_paths(
    reading: Reading,
    source: Annotated[str, typer.Option(help="The vertex to start from, by its name in the file.")],
    target: Annotated[str, typer.Option(help="The vertex to go to.")],
    computing: Computing,
    printing: Printing,
    k: Annotated[int, typer.Option("--k", "-k", help="How many paths.", min=1)] = 1,
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Take the weights of edges; without them all edges count alike.")
    ] = False,
) -> None:
    """The k shortest paths without a cycle between two vertices, the shortest first."""
    if printing.output is not None and printing.output.suffix == ".npy":
        raise ValueError("paths differ in length: --output must end in .tsv, or be -")
    graph = load(reading)
    u, v = graph.vertex(source, "--source"), graph.vertex(target, "--target")
    found, _ = graph.solve(
        lambda A: shortest(A, u, v, k, weighted=weighted),
        lambda A: shortest(A, 0, 1, k, weighted=weighted),
        sample(SAMPLE, 1, graph.A),
        computing,
    )
    paths = [as_ids(graph, steps, weighted) for steps in found]

    def show() -> None:
        show_table(graph.title, graph.facts | {"paths": len(paths)} | graph.watch.rows)
        for each in paths:
            typer.echo(f"length {number(each['length'])}: {' -> '.join(map(str, each['path']))}")

    def save(output: Path) -> None:
        with opened(output) as stream:
            for each in paths:
                stream.write(f"{each['length']}\t{TAB.join(map(str, each['path']))}\n".encode())

    printing.deliver(lambda: paths, show, save)


def as_ids(graph: Graph, steps: list[int], weighted: bool) -> dict[str, Any]:
    """The length of a path, and its vertices by their ids."""
    legs = [graph.A.get(u, v) for u, v in pairwise(steps)] if weighted else [1] * (len(steps) - 1)
    return {"length": plain(sum(legs)), "path": [plain(graph.labels[v]) for v in steps]}
