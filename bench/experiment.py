"""An experiment: rows of verified figures, a table and a plot of them, from one command.

    python -m bench martin-fig6 --device cuda          # JSON lines, a table, a plot, in bench/results
    python -m bench martin-fig6 --quick                # tiny, to see that everything works; nothing is written

A row is a flat dict. It says of one contender on one graph either that what it computed was verified, and its figures
(`measure.contest`), or in `missing` why there are none: a package is not installed, a graph does not fit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from formats.arrays import Device, cupy

from .measure import append, machine, slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parent / "results"
COLUMN = 14
"""Letters of a column of a table, however narrow the terminal is."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """Where and how large an experiment is run.

    quick: tiny graphs, to see that everything works.  data: the folder of the road graphs' files.  repeats: timed calls
    of each contender, fewer of slow ones.
    """

    device: Device = "cpu"
    quick: bool = False
    data: Path | None = None
    repeats: int = 11


@dataclass(frozen=True)
class Experiment:
    """What is measured, and how it is shown.

    name: on the command line.  title: of table and plot.  source: the paper's figure that it redraws.  about: a
    paragraph for the report: what is compared, and what to look for.  rows: measures; a row at a time, without what
    `machine` says.  columns: of the table, keys of the rows.  plot: of all rows; None where there is nothing to draw.
    devices: where it runs.
    """

    name: str
    title: str
    source: str
    about: str
    rows: Callable[[Setting], Iterator[Row]]
    columns: tuple[str, ...]
    plot: Callable[[list[Row]], Figure | None]
    devices: tuple[Device, ...] = ("cpu", "cuda")


def perform(experiment: Experiment, setting: Setting, folder: Path | None = None) -> list[Row]:
    """Run it, tell of every row when it is there, show the table, and write rows and plot into the folder.

    A row is written as soon as it is measured, to a file that is renamed when all are there.  folder: by default
    RESULTS; nowhere if `quick`.  Raises Disagreement, and stops, if contenders disagree; ValueError for a device that
    the experiment does not run on.
    """
    if setting.device not in experiment.devices:
        raise ValueError(f"{experiment.name} runs on {' and '.join(experiment.devices)}, not on {setting.device}")
    known = machine(setting.device) | {"experiment": experiment.name, "quick": setting.quick}
    if folder is None and not setting.quick:
        folder = RESULTS
    path = None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{experiment.name}-{slug(known.get('gpu', known['machine']))}.jsonl"
    partial = None if path is None else path.with_suffix(".partial.jsonl")
    if partial is not None:
        partial.unlink(missing_ok=True)
    console, start, rows = Console(), time.perf_counter(), []
    for row in experiment.rows(setting):
        if row.get("verified") is not True and not row.get("missing"):
            raise AssertionError(f"{experiment.name}: a row that nothing verified: {row}")
        rows.append(known | row)
        console.print(progress(row, time.perf_counter() - start), highlight=False, markup=False, soft_wrap=True)
        if partial is not None:
            append(partial, rows[-1:])
    show(experiment, rows, console)
    if path is not None and partial is not None:
        partial.replace(path)
        draw(experiment, rows, path)
        console.print(f"{path} has the rows, the files beside it the plot", highlight=False, markup=False)
    return rows


def released(device: Device) -> None:
    """Give the GPU's cached memory back, before a graph that is larger than the one before."""
    if device == "cuda":
        cupy().get_default_memory_pool().free_all_blocks()


def progress(row: Row, seconds: float) -> str:
    """A line about a row, some seconds after the start."""
    what = f"{seconds:6.1f} s  {row.get('graph', '')!s:24} {row.get('contender', '')!s:32}"
    return f"{what} {row['missing']}" if "missing" in row else f"{what} {row['ms']:12,.3f} ms"


def show(experiment: Experiment, rows: list[Row], console: Console) -> None:
    """The table of what was measured, and below it what is missing, and why."""
    if not rows:
        return
    place = rows[0].get("gpu", f"{rows[0]['cores']} cores, {rows[0]['machine']}")
    table = Table(title=f"{experiment.title}\n{place}, {rows[0]['date']}", box=None, padding=(0, 1, 0, 0))
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


def load(path: Path) -> list[Row]:
    """The rows in a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
