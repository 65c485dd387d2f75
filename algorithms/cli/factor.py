"""`semiring factor` and `semiring route`: a graph factored into a file, and questions about its best paths."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from formats.io.damage import refusing_damage
from formats.named.names import Names
from semiring.algebra.semirings import find_semiring

from ..elimination.cpu.archive import is_factor
from ..elimination.factors import Factor, read_labelled, symbolic_factor
from ..elimination.factors import factor as factored
from ..equations.sssp import sssp
from ..shared.parents import path
from .graph import Graph, Stopwatch, load
from .options import Json, Printing, Reading
from .output import STANDARD_OUTPUT, csv_of, opened, plain, print_json
from .report import number, show_table


def factor(
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write the factor to.")],
    semiring: Annotated[str, typer.Option(help="min_plus, or max_min, min_max, lor_land, …")] = "min_plus",
    json: Json = False,
) -> None:
    """Factor a graph, for many questions about its best paths."""
    find_semiring(semiring)
    if not output.absolute().parent.is_dir():
        raise ValueError(f"--output {output} lies in a folder that does not exist")
    if output.exists() and output.samefile(reading.file):
        raise ValueError(f"{output} is the file to read: name another one to write")
    graph = load(reading)
    with graph.watch.step("ordering"):
        S = symbolic_factor(graph.A)
    with graph.watch.step("factoring"):
        F = factored(graph.A, semiring, order=S, force=reading.force)
    with graph.watch.step("writing"):
        F.write(output, labels=graph.labels if graph.labels.dtype != object else graph.labels.astype(str))
    rows: dict[str, Any] = {
        "ordered by": S.how,
        "arcs of the factor": S.entries,
        "levels": S.levels,
        "operations": S.operations,
        "bytes": F.nbytes,
    }
    if json:
        print_json(graph.facts | rows)
    else:
        show_table(f"{graph.title}, as {output.name}", graph.facts | rows | graph.watch.rows)


def route(
    reading: Reading,
    start: Annotated[
        str | None, typer.Option("--from", help="The vertex to start from, by its name in the file.")
    ] = None,
    to: Annotated[list[str] | None, typer.Option(help="The vertex to go to; may repeat.")] = None,
    table: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help="Two files of ids, one a line: print the distances from the first to the second as CSV."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write the table to this file, or - for standard output.")] = None,
    semiring: Annotated[
        str, typer.Option(help="Of a graph: min_plus, or max_min, …; a factor has its own.")
    ] = "min_plus",
    json: Json = False,
) -> None:
    """Best paths between vertices, leg by leg, or a table of distances, from a graph or a factor of one."""
    if (table is None) == (start is None or not to):
        raise ValueError("give --from and --to, or --table with two files")
    if table is None and output is not None:
        raise ValueError("--output is for --table: routes are printed")
    router = with_questions(reading, semiring)
    graph = router.graph
    if table is not None:
        sources, targets = (vertices(graph, each) for each in table)
        distances = router.distances(sources, targets)
        if json:
            print_json(as_lists(router, distances, sources, targets))
        if output is not None or not json:
            with opened(output or STANDARD_OUTPUT) as stream:
                stream.write(as_csv(router, distances, sources, targets))
        return
    u, ends = graph.vertex(str(start), "--from"), [graph.vertex(end, "--to") for end in to or []]
    found = [graph.route(*router.route(u, end), end) for end in ends]

    def show_all() -> None:
        for each in found:
            show(str(start), each)

    Printing(json=json).deliver(lambda: found, show_all, lambda _: None)


@dataclass(frozen=True)
class Router:
    """A graph and what answers: its factor, or searches where there is none."""

    graph: Graph
    semiring: str
    factor: Factor | None = None

    def route(self, u: int, v: int) -> tuple[Any, list[int]]:
        """Returns the distance, and the vertices on the way, none if there is no path."""
        s, A = find_semiring(self.semiring), self.graph.A
        if self.factor is not None:
            d = self.factor.distance(u, v)
            return d, self.factor.path(u, v) if d != s.zero(self.factor.A.dtype) else []
        row, parent = sssp(A, u, s, target=v, return_parents=True)
        return plain(row[v]), path(parent, v) if row[v] != s.zero(row.dtype) else []

    def distances(self, sources: list[int], targets: list[int]) -> np.ndarray:
        """A row for each source, a column for each target."""
        if self.factor is not None:
            return self.factor.distances(sources, targets)
        rows = [sssp(self.graph.A, u, self.semiring)[targets] for u in sources]
        return np.array(rows).reshape(len(sources), len(targets))

    def zero(self, distances: np.ndarray) -> Any:
        """The number that says that no path leads; None of Booleans."""
        return find_semiring(self.semiring).zero(distances.dtype).item() if distances.dtype != bool else None


def with_questions(reading: Reading, semiring: str) -> Router:
    """Returns the router of a file: of a factor, or of a graph."""
    find_semiring(semiring)
    file = reading.file
    if not is_factor(file):
        return Router(load(reading), semiring)
    F, labels = read_labelled(file)
    labels = np.arange(F.A.nrows) if labels is None else labels
    names = Names(labels.tolist()) if labels.dtype.kind == "U" else None
    return Router(Graph(file.name, F.A, labels, Stopwatch(), {}, names), F.semiring.name, F)


def vertices(graph: Graph, file: Path) -> list[int]:
    """The vertices of a file of ids, one a line."""
    with refusing_damage(str(file), "expected text in UTF-8"):
        names = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [graph.vertex(name, str(file)) for name in names]


def as_lists(router: Router, distances: np.ndarray, sources: list[int], targets: list[int]) -> list[dict[str, Any]]:
    """For each source the distances to the targets by their ids, None where no path leads."""
    labels, zero = router.graph.labels, router.zero(distances)
    return [
        {
            "from": plain(labels[u]),
            "distances": [
                {"to": plain(labels[v]), "distance": None if d == zero else plain(d)}
                for v, d in zip(targets, row, strict=True)
            ],
        }
        for u, row in zip(sources, distances.tolist(), strict=True)
    ]


def as_csv(router: Router, distances: np.ndarray, sources: list[int], targets: list[int]) -> bytes:
    """A table with the ids of its rows and columns; empty where no path leads."""
    labels, zero = router.graph.labels, router.zero(distances)
    rows = zip(labels[sources].tolist(), distances.tolist(), strict=True)
    table = ([label, *("" if d == zero else d for d in row)] for label, row in rows)
    return csv_of(chain([["", *labels[targets].tolist()]], table))


def show(start: str, route: dict[str, Any]) -> None:
    """Print a route: its length, and then each leg."""
    if route["distance"] is None:
        typer.echo(f"{route['to']} cannot be reached from {start}")
        return
    names = route["path"]
    typer.echo(f"{start} to {route['to']}: length {number(route['distance'])}, {len(route['legs'])} arcs")
    for (u, v), leg in zip(pairwise(names), route["legs"], strict=True):
        typer.echo(f"  {u} -> {v}: {number(leg)}")
