"""`semiring sssp` and `semiring demo`: best paths."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from formats.arrays import to_device
from semiring.algebra.semirings import find_semiring

from ..data import rome99
from ..equations.sssp import ALGORITHMS, find_algorithm
from ..shared.bucket_width import check_delta
from ..shared.parents import path
from .graph import Graph, load, sample
from .options import Computing, Device, Json, Printing, Reading, Sources, StorageFormat
from .output import plain, save_vectors
from .report import number, show_path, show_table, total


def sssp(
    reading: Reading,
    source: Sources,
    computing: Computing,
    printing: Printing,
    algorithm: Annotated[str, typer.Option(help=f"auto, {', '.join(ALGORITHMS)}.")] = "auto",
    semiring: Annotated[str, typer.Option(help="min_plus, or max_min, min_max, lor_land, …")] = "min_plus",
    limit: Annotated[float | None, typer.Option(help="Look no farther than this distance.")] = None,
    target: Annotated[str | None, typer.Option(help="Stop when this vertex is settled.")] = None,
    delta: Annotated[str | None, typer.Option(help="delta-stepping: a number, median, mean or max/degree.")] = None,
    to: Annotated[list[str] | None, typer.Option(help="Also print a best path to this vertex; may repeat.")] = None,
) -> None:
    """Best paths from a vertex, or several, to all others."""
    own: dict[str, Any] = {} if delta is None else {"delta": as_delta(delta)}
    task = Task(that_has(own, algorithm), semiring, source, to or [], target, limit, own)
    task.check()
    answer = solve(load(reading), task, computing)
    printing.deliver(answer.content, answer.show, answer.save)


def that_has(own: dict[str, Any], algorithm: str) -> str:
    """The algorithm, or for auto the one whose parameters these are."""
    if algorithm != "auto" or not own:
        return algorithm
    return next((name for name, known in ALGORITHMS.items() if own.keys() <= known.parameters), algorithm)


def demo(format: StorageFormat = "csr", device: Device = "cpu", json: Json = False) -> None:
    """Shortest paths in Rome's road network, which comes with the package."""
    graph = load(Reading(rome99), title="Rome's roads (metres)")
    answer = solve(graph, Task("auto", "min_plus", ["1"], to=["1700"]), Computing(format, device))
    Printing(json=json).deliver(answer.content, answer.show, answer.save)


@dataclass(frozen=True)
class Task:
    """A task; vertices go by the file's ids.

    to: the vertices to which a path is shown.  own: the algorithm's own parameters.
    """

    algorithm: str
    semiring: str
    sources: list[str]
    to: list[str] = field(default_factory=list)
    target: str | None = None
    limit: float | None = None
    own: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """ValueError for names that there are not, before a file is read."""
        algorithm = find_algorithm(self.algorithm)
        for name in self.own:
            if name not in algorithm.parameters:
                raise ValueError(f"--{name} is not a parameter of {self.algorithm}")
        check_delta(self.own.get("delta"))
        find_semiring(self.semiring)
        if not self.sources:
            raise ValueError("--source is missing")


@dataclass(frozen=True)
class Answer:
    """Distances, and the parents if a path was asked for: a row for each source."""

    graph: Graph
    task: Task
    d: np.ndarray
    parents: Any

    @property
    def reached(self) -> np.ndarray:
        return self.d != find_semiring(self.task.semiring).zero(self.d.dtype)

    def content(self) -> list[dict[str, Any]]:
        """For each source how many vertices it reaches, and the paths that were asked for, as JSON can say it."""
        ends = [self.graph.vertex(end, "--to") for end in self.task.to]
        return [
            {
                "source": plain(self.graph.labels[self.graph.vertex(source, "--source")]),
                "reached": int(self.reached[row].sum()),
                "paths": [self.graph.route(self.d[row][end], self._way(row, end), end) for end in ends],
            }
            for row, source in enumerate(self.task.sources)
        ]

    def _way(self, row: int, end: int) -> list[int]:
        return path(self.parents[row], end) if self.reached[row][end] else []

    def show(self) -> None:
        """Print a summary, and the path that was asked for."""
        graph = self.graph
        for row, source in enumerate(self.task.sources):
            last = row == len(self.task.sources) - 1
            found = self.d[row][self.reached[row]]
            rows = (graph.facts if row == 0 else {}) | {"reached": found.size}
            if found.size and found.dtype != bool:
                worst = found.max() if find_semiring(self.task.semiring).better(0, 1) else found.min()
                rows |= {"farthest": worst}
                if find_semiring(self.task.semiring).mul.name == "plus":
                    rows |= {"sum of distances": total(found)}
            show_table(f"{graph.title}, from vertex {source}", rows | (graph.watch.rows if last else {}))
            ends = [] if self.parents is None else [graph.vertex(end, "--to") for end in self.task.to]
            for end in ends:
                within = "" if self.task.limit is None and self.task.target is None else " within the bound"
                length = number(self.d[row][end])
                show_path(self.parents[row], end, graph.labels, self.reached[row][end], length, within)

    def save(self, output: Path) -> None:
        """Write distances, and where there is no path `inf`; in other semirings, where that may be one, `none`."""
        absent = "inf" if self.task.semiring == "min_plus" else "none"
        save_vectors(output, self.graph.labels, self.d, self.reached, absent)


def solve(graph: Graph, task: Task, computing: Computing) -> Answer:
    """Run an algorithm from a file's vertices."""
    starts = [graph.vertex(source, "--source") for source in task.sources]
    for end in task.to:
        graph.vertex(end, "--to")
    target = None if task.target is None else graph.vertex(task.target, "--target")
    chosen = find_algorithm(task.algorithm, graph.A, task.semiring)
    algorithm = functools.partial(chosen, semiring=task.semiring, limit=task.limit, **task.own)
    s = find_semiring(task.semiring)
    weight = s.unit(graph.A.dtype) if graph.A.dtype in s.dtypes else 1
    answer, _ = graph.solve(
        lambda A: algorithm(A, sources=starts, target=target, return_parents=bool(task.to)),
        lambda one: algorithm(one, 0, return_parents=True),
        sample([(0, 0)], weight, graph.A),
        computing,
    )
    d, parents = answer if task.to else (answer, None)
    return Answer(graph, task, to_device(d, "cpu"), None if parents is None else to_device(parents, "cpu"))


def as_delta(text: str) -> float | str:
    """Returns a number, or the name of a rule."""
    try:
        return float(text)
    except ValueError:
        return text
