"""An experiment: rows of verified figures, a table and a plot of them, from one command.

    python -m bench martin-fig6 --device cuda          # JSON lines, a table, a plot, in bench/results
    python -m bench martin-fig6 --quick                # tiny, to see that everything works; nothing is written
    python -m bench martin-fig6 --device cuda --resume # the rest of a run that was interrupted
    python -m bench beyond --device cuda --graph rmat25 # one graph; the rows of the others stay

A row is a flat dict. It says of one contender on one graph either that what it computed was verified, and its figures
(`measure.contest`), or in `missing` why there are none: a package is not installed, a graph does not fit.

The rows of a graph follow each other, and are in a file as soon as they are measured, NAME-MACHINE.partial.jsonl until
all are there. A run that goes on after an interruption measures the last graph in that file again, whose rows may not
all be there, and leaves out the graphs before it: their rows stay as they are, with their own date and commit.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from formats import PerformanceWarning
from formats.arrays import Device, cupy

from .measure import RESULTS, Row, append, json_line, machine, rows_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMN = 14
"""Letters of a column of a table, however narrow the terminal is."""

PARTIAL = ".partial.jsonl"
"""How the file of an experiment ends that still runs, or was interrupted."""
SAME = ("experiment", "quick", "gpu", "machine", "cores")
"""Facts that must be equal in rows and in a run that is to go on after them."""

Part = tuple[str | None, str]
"""A part (question, graph) is measured in full or again.  question: None where an experiment has only one."""


@dataclass(frozen=True)
class Setting:
    """Where and how large an experiment is run.

    quick: tiny graphs, to see that everything works.  data: the folder of the road graphs' files.  repeats: timed calls
    of each contender, fewer of slow ones.  graphs, tasks: the names of those that are measured; none for all.  small:
    graphs that are larger than the tiny ones, but not of full size.  seconds: after which no call is begun.  kept: rows
    of an interrupted run, by what they are of.
    """

    device: Device = "cpu"
    quick: bool = False
    data: Path | None = None
    repeats: int = 11
    graphs: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    small: bool = False
    seconds: float = math.inf
    kept: Mapping[Part, list[Row]] = field(default_factory=dict)

    def wants(self, graph: str) -> bool:
        """True if a graph is to be measured."""
        return not self.graphs or graph in self.graphs

    def kept_rows(self, graph: str, question: str | None = None) -> list[Row]:
        """Returns the rows of a graph that an interrupted run has left; none if it is to be measured."""
        return self.kept.get((question, graph), [])


@dataclass(frozen=True)
class Experiment:
    """A measurement, and how it is shown.

    name: on the command line.  title: of table and plot.  source: the paper's figure that it redraws.  about: a
    paragraph for the report: what is compared, and what to look for.  rows: measures; a row at a time, without what
    `machine` says.  columns: of the table, keys of the rows.  plot: of all rows; None where there is nothing to draw.
    devices: where it runs.  roads: true if it reads the road graphs' files, in the folder that --data names.
    by_graph: true if it asks the setting which graphs are wanted.  by_task: likewise which tasks, how large, how long.
    """

    name: str
    title: str
    source: str
    about: str
    rows: Callable[[Setting], Iterator[Row]]
    columns: tuple[str, ...]
    plot: Callable[[list[Row]], Figure | None]
    devices: tuple[Device, ...] = ("cpu", "cuda")
    roads: bool = False
    by_graph: bool = False
    by_task: bool = False


def perform(experiment: Experiment, setting: Setting, folder: Path | None = None, *, resume: bool = False) -> list[Row]:
    """Run it, tell of every row when it is there, show the table, and write rows and plot into the folder.

    A row is written as soon as it is measured, to a file that ends in PARTIAL until all are there.  folder: by default
    RESULTS; nowhere if `quick`.  resume: go on after the rows in that file.  Where graphs are named, the rows of others
    that the folder has stay.  Raises Disagreement, and stops, if contenders disagree; ValueError for a device that the
    experiment does not run on, for a name that no graph has, for such a file unless `resume`, and with it if there is
    none, or its rows are of another setting; KeyboardInterrupt that says what is written.
    """
    if setting.device not in experiment.devices:
        raise ValueError(f"{experiment.name} runs on {' and '.join(experiment.devices)}, not on {setting.device}")
    if setting.graphs and not experiment.by_graph:
        raise ValueError(f"{experiment.name} measures all of its graphs, and takes no names of some")
    if (setting.tasks or setting.small or setting.seconds < math.inf) and not experiment.by_task:
        raise ValueError(f"{experiment.name} measures all of its tasks, in one size and until the end")
    known = machine(setting.device) | {"experiment": experiment.name, "quick": setting.quick}
    if folder is None and not setting.quick:
        folder = RESULTS
    path = partial = None
    if folder is not None:
        path = rows_file(experiment.name, known, folder)
        partial = path.with_suffix(PARTIAL)
    kept = resumed(partial, known) if resume else []
    if not resume and partial is not None:
        refuse_rows(partial)
    console = Console()
    if resume:
        console.print(f"{len(kept)} rows are kept from {partial}", highlight=False, markup=False, soft_wrap=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PerformanceWarning)  # what is slow is what is measured
            rows = measured(experiment, setting, known, kept, partial, console)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(left(partial)) from stop
    for name in setting.graphs:
        if not any(row["graph"] == name for row in rows):
            raise ValueError(f"{experiment.name} has no graph that is named {name!r}")
    for name in setting.tasks:
        if not any(row.get("question") == name for row in rows):
            raise ValueError(f"{experiment.name} has no task that is named {name!r}")
    show(experiment, rows, console)
    if path is not None and partial is not None:
        rows = beside(path, rows) if setting.graphs or setting.tasks or setting.small else rows
        write(path, rows)
        partial.unlink(missing_ok=True)
        draw(experiment, rows, path)
        console.print(f"{path} has the rows, the files beside it the plot", highlight=False, markup=False)
    return rows


def measured(
    experiment: Experiment, setting: Setting, known: Row, kept: list[Row], partial: Path | None, console: Console
) -> list[Row]:
    """All rows in the experiment's order, kept ones as they are; each new one is told of, and written to the file.

    The file is as the interrupted run left it until the first new row is there; then it has what is kept and new rows.
    """
    parts: dict[Part, list[Row]] = {}
    for row in kept:
        parts.setdefault(part(row), []).append(row)
    start, rows, first = time.perf_counter(), [], True
    for row in experiment.rows(replace(setting, kept=parts)):
        if row.get("verified") is not True and not row.get("missing"):
            raise AssertionError(f"{experiment.name}: a row that nothing verified: {row}")
        rows.append(known | row)
        if "experiment" in row:  # kept
            continue
        console.print(progress(row, time.perf_counter() - start), highlight=False, markup=False, soft_wrap=True)
        if partial is not None:
            write(partial, [*kept, rows[-1]]) if first else append(partial, rows[-1:])
        first = False
    return rows


def rows_by_graph(
    setting: Setting, graphs: Iterable[tuple[str, Callable[[], Any]]], rows_of: Callable[[str, Any], Iterable[Row]]
) -> Iterator[Row]:
    """Yields the rows of each wanted graph, with its name and size, or those that an interrupted run has left.

    graphs: names, and functions that make the graph, or return a row that says why it is missing.
    """
    for name, make in graphs:
        if not setting.wants(name):
            continue
        if kept := setting.kept_rows(name):
            yield from kept
            continue
        released(setting.device)
        A = make()
        if isinstance(A, dict):
            yield {"graph": name} | A
            continue
        yield from ({"graph": name, "n": A.nrows, "nnz": A.nnz} | row for row in rows_of(name, A))
        del A


def no_file(contender: str, file: str) -> Row:
    """A row that says that a graph's file is not there."""
    return {"contender": contender, "missing": f"{file} is not there: say --data FOLDER"}


def released(device: Device) -> None:
    """Give the GPU's cached memory back, before a graph that is larger than the one before."""
    if device == "cuda":
        cupy().get_default_memory_pool().free_all_blocks()


# --- interrupted runs -------------------------------------------------------------------------------------------------


def part(row: Row) -> Part:
    """Returns the part that a row belongs to."""
    return row.get("question"), row["graph"]


def refuse_rows(partial: Path) -> None:
    """ValueError if an interrupted run has left rows, which a new one would write over."""
    if partial.exists() and (rows := partial.read_text(encoding="utf-8").count("\n")):
        raise ValueError(
            f"an interrupted run has left {rows} rows in {partial}: "
            "go on with --resume, or delete the file to start anew"
        )


def resumed(partial: Path | None, known: Row) -> list[Row]:
    """The rows of an interrupted run that are kept: of the graphs before the last, if anything was measured on them.

    known: what rows of this run say of it.  ValueError if there is no such run, or it was of another setting.
    """
    if partial is None:
        raise ValueError("a quick run writes nothing without --output, so there is nothing to resume")
    if not partial.exists():
        raise ValueError(f"there is nothing to resume: {partial} is not there")
    rows = load(partial)
    for fact in SAME:
        for row in rows:
            if row.get(fact) != known.get(fact):
                raise ValueError(
                    f"{partial} is of another setting, {fact} {row.get(fact)}, not {known.get(fact)}: "
                    "go on with it there, or delete the file to start anew"
                )
    whole = {part(row) for row in rows if "missing" not in row} - {part(row) for row in rows[-1:]}
    return [row for row in rows if part(row) in whole]


def beside(path: Path, rows: list[Row]) -> list[Row]:
    """The rows of other graphs in a file, if it is there, and behind them these."""
    own = {part(row) for row in rows}
    return [row for row in load(path) if part(row) not in own] + rows if path.exists() else rows


def left(partial: Path | None) -> str:
    """A sentence about what an interruption leaves."""
    if partial is None or not partial.exists():
        return "stopped, and nothing is written"
    return f"stopped; {partial} has what was measured, and the same command with --resume goes on after it"


def load(path: Path) -> list[Row]:
    """The rows in a file of JSON lines; ValueError with file and line for what is none.

    Of an interrupted run's file a last line without an end is left out: the interruption has cut it.
    """
    text = path.read_text(encoding="utf-8")
    if path.name.endswith(PARTIAL):
        text = text[: text.rfind("\n") + 1]
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}:{number}: not a line of JSON: {error}") from error
    return rows


def write(path: Path, rows: list[Row]) -> None:
    """A file of these rows alone, which is there as a whole or not at all."""
    new = path.with_suffix(".new")
    new.write_text("".join(json_line(row) + "\n" for row in rows), encoding="utf-8")
    new.replace(path)


# --- what is shown ----------------------------------------------------------------------------------------------------


def progress(row: Row, seconds: float) -> str:
    """A line about a row, some seconds after the start."""
    what = f"{seconds:6.1f} s  {row.get('graph', '')!s:24} {row.get('contender', '')!s:32}"
    return f"{what} {row['missing']}" if "missing" in row else f"{what} {row['ms']:12,.3f} ms"


def show(experiment: Experiment, rows: list[Row], console: Console) -> None:
    """The table of what was measured, and below it what is missing, and why."""
    if not rows:
        return
    place = rows[0].get("gpu", f"{rows[0]['cores']} cores, {rows[0]['machine']}")
    dates = ", ".join(dict.fromkeys(row["date"] for row in rows))
    table = Table(title=f"{experiment.title}\n{place}, {dates}", box=None, padding=(0, 1, 0, 0))
    measured = [row for row in rows if "missing" not in row]
    for column in experiment.columns:
        words = any(isinstance(row.get(column), str) for row in measured)
        table.add_column(column.replace("_", " "), justify="left" if words else "right", no_wrap=not words)
    for row in measured:
        table.add_row(*(cell(row, column) for column in experiment.columns))
    console.width = max(console.width, COLUMN * len(experiment.columns))
    console.print(table)
    for row in rows:
        if "missing" in row:
            console.print(f"{row['graph']}, {row['contender']}: {row['missing']}", highlight=False, markup=False)


def cell(row: Row, column: str) -> str:
    """A row's figure as the table shows it; what is missing stands where the time would."""
    value = row.get(column)
    if value is None:
        return str(row["missing"]) if column == "ms" and "missing" in row else "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def draw(experiment: Experiment, rows: list[Row], path: Path) -> None:
    """The plot as SVG and PNG, beside the rows."""
    from . import plots

    figure = experiment.plot([row for row in rows if "missing" not in row])
    if figure is not None:
        plots.save(figure, path)
