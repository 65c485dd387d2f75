"""From a file to an answer: reading, converting, compiling and solving, each step timed."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from formats import Matrix, from_edges, read
from formats.arrays import finish
from formats.io import content_of, listed
from formats.io.damage import refusing_damage
from formats.io.opening import STANDARD_INPUT
from formats.named.layout import TO_SAY, may_have_names
from formats.named.names import Names
from formats.storage.orientation import is_symmetric
from semiring import explain, set_threads
from semiring.kernels.compiling import seconds_of_compiling

from ..shared.edges import one_way_edge
from ..shared.errors import NegativeCycle
from ..shared.trace import Trace, trace
from .options import Computing, Reading, places
from .output import plain
from .processes import computed_in, shared, speaks, world

COMPILING = "compiling"
"""The step that compiles kernels."""


@dataclass
class Stopwatch:
    """Seconds of each named step, in order; kernels that are compiled within another step count as compiling."""

    seconds: dict[str, float] = field(default_factory=dict)
    compiling: float = 0.0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step, and say on a terminal that it is going on."""
        from rich.console import Console

        start, compiled = time.perf_counter(), seconds_of_compiling()
        if sys.stderr.isatty() and name != "reading":  # reading has a bar of its own
            with Console(stderr=True).status(f"{name} …"):
                yield
        else:
            yield
        elapsed, compiled = time.perf_counter() - start, seconds_of_compiling() - compiled
        self.seconds[name] = elapsed if name == COMPILING else elapsed - compiled
        self.compiling += 0.0 if name == COMPILING else compiled

    @property
    def rows(self) -> dict[str, str]:
        """The same, as rows of a table."""
        seconds = self.seconds
        if self.compiling:
            seconds = seconds | {COMPILING: seconds.get(COMPILING, 0.0) + self.compiling}
        return {name: f"{s:.3f} s" for name, s in seconds.items()}


@dataclass
class Graph:
    """A graph that was read.

    A: (n, n), A[u, v] = weight of u -> v.  labels: (n,) the file's own ids or names.  facts: rows of the table about
    the graph.  names: the labels, to be looked up, unless they are integers.  force: may a conversion take much memory?
    """

    title: str
    A: Matrix
    labels: np.ndarray
    watch: Stopwatch
    facts: dict[str, Any]
    names: Names | None = None
    force: bool = False

    def vertex(self, name: str, option: str) -> int:
        """The vertex that the file calls by this name; ValueError if it has none."""
        labels = self.labels
        if self.names is not None:
            return self.names.index(name, option)
        at = np.flatnonzero(labels == int(name)) if re.fullmatch(r"-?[0-9]{1,18}", name) else np.empty(0)
        if at.size == 0:
            known = f"its {labels.size:,} ids lie in {labels.min()} to {labels.max()}" if labels.size else "it has none"
            raise ValueError(f"{option} {name} is not a vertex of the file: {known}")
        return int(at[0])

    def route(self, d: Any, way: list[int], end: int) -> dict[str, Any]:
        """Returns a route as JSON can say it, with its legs; its distance is None if there is no way."""
        return {
            "to": plain(self.labels[end]),
            "distance": plain(d) if way else None,
            "path": [plain(self.labels[v]) for v in way],
            "legs": [plain(self.A.get(u, v)) for u, v in pairwise(way)],
        }

    def ids_in(self, message: str) -> str:
        """The ids of the vertices that a message calls by their numbers, in brackets."""
        found = re.findall(r"\b(?:vertex|to|edge|->) (\d{1,18})\b", message)
        numbers = [int(each) for each in dict.fromkeys(found) if int(each) < len(self.labels)]
        known = ", ".join(f"{v} is {self.labels[v]}" for v in numbers if str(self.labels[v]) != str(v))
        return f" (vertex {known})" if known and re.search(r"\b(vertex|edge) \d", message) else ""

    def solve(
        self,
        run: Callable[[Matrix], Any],
        rehearse: Callable[[Matrix], Any],
        sample: Matrix,
        computing: Computing,
    ) -> tuple[Any, Trace | None]:
        """Returns the result of `run` for the graph in the format asked for, and its rounds if they are to be written.

        rehearse: is given the sample, so that kernels are compiled, or loaded from disk, before the time is taken.
        """
        there, trace_file = places(computing.device), computing.trace
        with self.watch.step("converting"):
            forced = {"force": True} if self.force and computing.format in ("ell", "sell", "csb", "dense") else {}
            A = shared(self.A, computing.format, there, **forced)
        self.facts["computed in"] = computed_in(A)
        with self.watch.step(COMPILING):
            rehearse(sample.to(computing.format, device=there))
        try:
            with trace() if trace_file is not None else nullcontext() as record, self.watch.step("solving"):
                told = explain(run, A)
                finish(A.device)
        except NegativeCycle as error:
            raise NegativeCycle([self.labels[v] for v in error.cycle]) from None
        except ValueError as error:
            raise ValueError(f"{error}{self.ids_in(str(error))}") from error
        if told.runs and told.runs[0].implementation == "fused":
            form = told.runs[0].format
            by_rows = "" if form in (type(A).__name__, "Partitioned") else f", by its rows as {form}"
            self.facts["computed in"] += f"{by_rows}, fused"
        if record is not None and trace_file is not None and speaks():
            record.save(trace_file)
        return told.result, record


def load(reading: Reading, title: str | None = None) -> Graph:
    """Read a graph; ValueError if the file holds another matrix than a square one, or lacks a column."""
    if reading.threads is not None:
        set_threads(reading.threads)
    title = reading.file.name if title is None else title
    watch = Stopwatch()
    with watch.step("reading"):
        found = found_in(reading)
    A = found.A
    if A.nrows != A.ncols:
        raise ValueError(f"{title} holds a {A.nrows} × {A.ncols} matrix, and a graph needs a square one")
    facts = {"vertices": A.nrows, "arcs": A.nnz} | ({"rows merged": found.merged} if found.merged else {})
    return Graph(title, A, found.labels, watch, facts, found.names, reading.force)


@dataclass(frozen=True)
class Found:
    """The content of a file.

    labels: (n,) the vertices' ids or names.  names: these, to be looked up, unless they are integers.
    merged: rows that became one edge with others.
    """

    A: Matrix
    labels: np.ndarray
    names: Names | None = None
    merged: int = 0


def found_in(reading: Reading) -> Found:
    file, directed = str(reading.file), not reading.undirected
    if reading.is_plain and not may_have_names(file) and file != STANDARD_INPUT:
        if (comm := world()) is not None:
            return Found(*read(file, directed=directed, return_labels=True, force=reading.force, comm=comm))
        content = content_of(file, force=reading.force)
        with refusing_damage(file):
            A = content.matrix(directed, None)
            return Found(A, listed(content.labels), merged=content.merged(A, directed))
    from ..named.graph import Graph as NamedGraph

    try:
        g = NamedGraph.read(
            file,
            *asked(reading.columns),
            directed=directed,
            separator=reading.separator,
            header=reading.header,
            comment=reading.comment,
            dup=reading.dup,
            force=reading.force,
        )
    except ValueError as error:
        raise ValueError(str(error).replace(TO_SAY, "say --columns, those to take")) from error
    if all(isinstance(name, int) for name in g.names):
        return Found(g.matrix, np.array(list(g.names), np.int64), merged=g.merged)
    labels = np.empty(len(g.names), object)
    labels[:] = list(g.names)
    return Found(g.matrix, labels, g.names, g.merged)


def check_undirected(graph: Graph, weights: bool = True) -> None:
    """ValueError that names, by the file's ids, an edge without a reverse, or without one of the same weight."""
    A = graph.A if weights else graph.A.pattern()
    if not is_symmetric(A):
        u, v = (graph.labels[end] for end in one_way_edge(A))
        like, what = (" of the same weight", "takes the lighter of") if weights else ("", "lets edges count in")
        missing = f"its edge {u} -> {v} has no reverse{like}"
        raise ValueError(f"the graph must be undirected: {missing} (--symmetrize {what} both directions)")


def asked(columns: str | None) -> tuple[Any, ...]:
    """The columns that a table's edges are read from: source, target, weight; by default the first three."""
    if columns is None:
        return ()
    source, target, *weight = (each.strip() for each in columns.split(",")) if columns.count(",") else (columns, "")
    if not source or not target or len(weight) > 1:
        raise ValueError(f"--columns takes two headings or three with commas between, as from,to,km, got {columns!r}")
    return source, target, weight[0] if weight else None


def sample(arcs: list[tuple[int, int]], weight: Any, like: Matrix) -> Matrix:
    """A small graph with values as those of another, to rehearse with."""
    rows, cols = np.array(arcs).T
    return from_edges(rows, cols, np.full(len(arcs), weight, like.dtype), shape=int(max(rows.max(), cols.max())) + 1)
