"""Figures in traversed edges per second: graphs of growing scale, ways to solve a task on them, a row for each.

    mteps = entries of the matrix / microseconds of the whole call, in millions a second

An entry counts once, however often a call looks at it, so that whole algorithms compare: one that looks at every edge
ten times has a tenth. Of the undirected graphs both directions of an edge are entries. `with_transfers_mteps` has the
call on a fresh copy of the matrix from the host, with everything that the copy has to be prepared with, and the answer
back on the host.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms import bellman_ford, bfs, boruvka, scc
from bench.experiment import Row, Setting, released
from bench.measure import Contender, Disagreement, contest, rounded, timed
from formats import CSR, Matrix
from formats.arrays import Device, to_device
from semiring.cpu.threads import threads
from semiring.vectors import degrees
from semiring.verbs.explanation import explain

from . import fused_tasks
from .fused_tasks import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACE: dict[Device, str] = {"cuda": "GPU", "cpu": "CPU"}
COPIES = "with copies"
FEW_EDGES = 1 << 23
"""Up to so many, what is prepared is timed three times, and its median taken."""


@dataclass(frozen=True)
class Graph:
    """A graph of 2^scale vertices.  make: (scale, device=…) -> CSR."""

    family: str
    scale: int
    make: Callable[..., CSR]

    @property
    def name(self) -> str:
        return f"{self.family} {self.scale}"

    @property
    def row(self) -> Row:
        """The facts of a row before the graph is there."""
        return {
            "graph": self.name,
            "family": self.family,
            "scale": self.scale,
            "n": 1 << self.scale,
            "nnz": None,
        }


@dataclass(frozen=True)
class Way:
    """A way to solve a task.

    name: the contender's.  device: where it computes.  solve: (matrix, source) -> answer.  form: of the CSR on that
    device, the matrix that it takes; made once, untimed but for `prepared_ms`; None for the CSR itself.  facts: what
    a row says beside its times, (matrix, source) -> Row.  largest: scale up to which it is run, and why not beyond.
    count: threads on the CPU; None for all.
    """

    name: str
    device: Device
    solve: Callable[[Any, int], Any]
    form: Callable[[CSR], Matrix] | None = None
    facts: Callable[[Any, int], Row] | None = None
    largest: int = 63
    count: int | None = None

    def call(self, A: Matrix, source: int) -> Any:
        """The answer, by so many threads."""
        with nullcontext() if self.count is None else threads(self.count):
            return self.solve(A, source)


@dataclass(frozen=True)
class Task:
    """A task.  solve: (matrix, source, fused=…) -> answer.  independent: checks of the answer, see `fused_tasks`."""

    solve: Callable[..., Any]
    independent: Callable[[Problem, tuple[Any, ...]], Iterator[tuple[str, bool]]]
    undirected: bool = False


PATHS = Task(bellman_ford, fused_tasks.shortest)
LEVELS = Task(bfs, fused_tasks.nearest)
STRONG = Task(lambda A, source, **how: scc(A, **how), fused_tasks.partitioned)
FOREST = Task(lambda A, source, **how: boruvka(A, **how), fused_tasks.spanned, undirected=True)


@dataclass(frozen=True)
class Others:
    """Other libraries that take part, rows of those that are missing, and by name what their rows say beside times."""

    contenders: list[Contender]
    missing: list[Row]
    facts: dict[str, Row]


Rivals = Callable[[CSR, int, Any], Others]
"""A function (graph on the host, source, the expected answer on the host) that gives the other contenders."""


def measured(
    graph: Graph, ways: Sequence[Way], task: Task, setting: Setting, rivals: Rivals | None = None
) -> Iterator[Row]:
    """A row for each way on one graph, which is made once: figures that were verified, or why there are none.

    Of a graph that an interrupted run has measured, its rows. The expected answer is our fused one, once it has passed
    the task's independent checks. Disagreement if it has not, or if a way, or a rival, finds something else.
    """
    if not setting.wants(graph.name):
        return
    if kept := setting.kept_rows(graph.name):
        yield from kept
        return
    released(setting.device)
    left_out = [way for way in ways if graph.scale > way.largest]
    ways = [way for way in ways if graph.scale <= way.largest]
    try:
        rows = _rows(graph, ways, task, setting, rivals) if ways else []
    except MemoryError as error:
        rows = [graph.row | {"contender": way.name, "missing": f"no room: {error}"} for way in ways]
    yield from rows
    for way in left_out:
        reason = f"left out: more than 2^{way.largest} vertices would take too long"
        yield graph.row | {"contender": way.name, "missing": reason}


def _rows(graph: Graph, ways: Sequence[Way], task: Task, setting: Setting, rivals: Rivals | None) -> list[Row]:
    """The rows of ways that are run. MemoryError if the graph, or what is expected, does not fit."""
    A = graph.make(graph.scale, device=setting.device)
    source = int(degrees(A).argmax())
    expected, checked = reference(task, A, source)
    known = graph.row | {"n": A.nrows, "nnz": A.nnz, "source": source}
    host: Callable[[], Any] = functools.cache(lambda: A.to(device="cpu"))
    rows, facts, contenders = [], {}, []
    for way in ways:
        try:
            contender, facts[way.name] = prepared(way, A if way.device == A.device else host(), source, expected)
            contenders.append(contender)
        except MemoryError as error:
            rows.append(known | {"contender": way.name, "missing": f"no room: {error}"})
    others = rivals(host(), source, expected) if rivals is not None else Others([], [], {})
    facts |= others.facts
    figures, no_room = _contest([*contenders, *others.contenders], setting)
    for name, found in figures.items():
        rows.append(known | {"contender": name, "checked": checked} | found | facts[name] | teps(A.nnz, found))
    rows += [known | {"contender": name, "missing": reason} for name, reason in no_room.items()]
    rows += [known | row for row in others.missing]
    return rows


def reference(task: Task, A: CSR, source: int) -> tuple[Any, str]:
    """Returns our fused answer, on the host, and the checks that it has passed; raises Disagreement if it is wrong.

    The checks are the task's, or where these are too slow the definition's answer.
    """
    answer = task.solve(A, source)
    checks = dict(task.independent(Problem("", A, source, task.undirected), (answer,)))
    if not checks:
        checks = {"definition": same(on_host(task.solve(A, source, fused=False)), on_host(answer))}
    for name, right in checks.items():
        if not right:
            raise Disagreement(f"our answer does not pass the check by {name}: nothing is timed")
    return on_host(answer), ", ".join(checks)


def prepared(way: Way, A: CSR, source: int, expected: Any) -> tuple[Contender, Row]:
    """The contender, with the matrix in its form, and what its rows say beside the times."""
    M: Matrix = A if way.form is None else way.form(A)
    facts: Row = {"device": way.device, "format": type(M).__name__, "matrix_bytes": M.nbytes} | M.options
    if way.form is not None:
        form = way.form
        facts["prepared_ms"] = rounded(1e3 * timed(lambda: form(A), 3 if A.nnz <= FEW_EDGES else 1, way.device))
    if way.count is not None:
        facts["threads"] = way.count
    if way.facts is not None:
        facts |= way.facts(M, source)
    with_transfers = None
    if way.device == "cuda":
        there = M.to(device="cpu")
        with_transfers = lambda: on_host(way.call(there.to(device="cuda"), source))  # noqa: E731
    contender = Contender(
        way.name,
        lambda: way.call(M, source),
        agrees=lambda got: same(on_host(got), expected),
        with_transfers=with_transfers,
        device=way.device,
    )
    return contender, facts


def _contest(contenders: list[Contender], setting: Setting) -> tuple[dict[str, Row], dict[str, str]]:
    """Returns figures, or why there are none, by contender: all in turns, or where memory is short, one by one."""
    seconds = 0.2 if setting.quick else 2.0
    try:
        return contest(contenders, setting.repeats, seconds=seconds), {}
    except MemoryError:
        released(setting.device)
    figures: dict[str, Row] = {}
    reasons: dict[str, str] = {}
    for contender in contenders:
        try:
            figures |= contest([contender], setting.repeats, seconds=seconds)
        except MemoryError as error:
            reasons[contender.name] = f"no room: {error}"
        released(setting.device)
    return figures, reasons


def teps(edges: int, figures: Mapping[str, Any]) -> Row:
    """Millions of edges a second, for every time that is there."""
    found = {"mteps": figures.get("ms"), "with_transfers_mteps": figures.get("with_transfers_ms")}
    return {name: rounded(edges / ms / 1e3) for name, ms in found.items() if ms is not None}


def on_host(answer: Any) -> Any:
    """A matrix or an array in the host's memory."""
    return answer.to(device="cpu") if isinstance(answer, Matrix) else to_device(answer, "cpu")


def same(one: Any, other: Any) -> bool:
    """True if two answers on the host are equal to the last bit, dtype included."""
    if isinstance(one, Matrix):
        return isinstance(other, Matrix) and one.equals(other)
    return one.dtype == other.dtype and bool(np.array_equal(one, other))


def implementation(solve: Callable[[Any, int], Any]) -> Callable[[Any, int], Row]:
    """Makes a function that tells whether the call ran as a whole or as its definition."""
    return lambda A, source: {"implementation": explain(solve, A, source).runs[0].implementation}


# --- plots ------------------------------------------------------------------------------------------------------------


def curves(rows: list[Row]) -> list[Row]:
    """The rows as points of lines: a line for each contender, and one for the same with copies."""
    plain = [row | {"line": row["contender"], "figure": row["mteps"]} for row in rows if "mteps" in row]
    return plain + [
        row | {"line": f"{row['contender']}, {COPIES}", "figure": row["with_transfers_mteps"]}
        for row in rows
        if "with_transfers_mteps" in row
    ]


def against_scale(rows: list[Row]) -> Figure | None:
    """MTEPS over the number of vertices, a panel for each family of graphs."""
    from bench import plots

    families = list(dict.fromkeys(row["family"] for row in rows))
    if not families:
        return None
    made, axes = plots.figure(len(families))
    for ax, family in zip(axes, families, strict=True):
        panel(ax, rows, family)
    return made


def panel(ax: Any, rows: list[Row], family: str) -> None:
    """The lines of one family of graphs."""
    from bench import plots

    points = curves([row for row in rows if row["family"] == family])
    plots.lines(ax, points, "n", "figure", by="line", dotted=f", {COPIES}")
    plots.label(ax, family, "vertices", "MTEPS")
