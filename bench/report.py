"""One page of everything that was measured: the rows in bench/results, told as HTML.

    python -m bench report                     # bench/results/report.html

The page needs nothing else, neither network nor script. It shows every experiment in the order of EXPERIMENTS, what
was not run yet, what was stopped before its end and how it goes on. A row that nothing verified, or that says of no
experiment what it is of, stops it: ValueError with the file and the line.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from . import experiments
from .cliffs.batches import BATCHES
from .cliffs.table import CLIFFS
from .experiment import PARTIAL, Experiment, Row, load
from .measure import RESULTS
from .page import page
from .sections import Run, Section

EXPERIMENTS = experiments.EXPERIMENTS | {each.name: each for each in (CLIFFS, BATCHES)}
"""The experiments that the page shows, in order."""


def report(output: Path | None = None, folder: Path = RESULTS) -> Path:
    """Write the page of all rows in the folder, by default to report.html in it, and return its path.

    ValueError names file and line of a row that is not verified, or belongs to no experiment.
    """
    runs = collected(folder)
    told = [(section, runs.get(section.name, [])) for section in sections(EXPERIMENTS.values())]
    path = folder / "report.html" if output is None else output
    path.write_text(page(told), encoding="utf-8")
    return path


def sections(experiments: Iterable[Experiment]) -> list[Section]:
    """A section for each experiment."""
    return [Section(e.name, e.title, e.source, e.about, e.columns, e.plot, e.devices, e.roads) for e in experiments]


# --- reading ----------------------------------------------------------------------------------------------------------


def collected(folder: Path) -> dict[str, list[Run]]:
    """The runs in a folder's files, by their experiment's name; those on GPUs first.

    A stopped run is one of them if it has rows, and no earlier one was whole.
    """
    runs: dict[str, list[Run]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        if path.name.endswith(PARTIAL) and (whole_of(path).exists() or not load(path)):
            continue
        name, rows = checked(path)
        runs.setdefault(name, []).append(Run(path, rows))
    return {name: sorted(found, key=lambda run: (run.device != "cuda", run.place)) for name, found in runs.items()}


def whole_of(partial: Path) -> Path:
    """Where the rows of a stopped run would be if they were all there."""
    return partial.with_name(f"{partial.name.removesuffix(PARTIAL)}.jsonl")


def checked(path: Path) -> tuple[str, tuple[Row, ...]]:
    """Returns experiment and rows of a file; ValueError with file and line for a row that the page must not show."""
    rows, name = [], None
    for number, row in enumerate(load(path), start=1):
        where = f"{path}:{number}"
        found = row.get("experiment")
        if found not in EXPERIMENTS:
            raise ValueError(f"{where}: a row of no experiment: there is none called {found!r}")
        if name not in (None, found):
            raise ValueError(f"{where}: a row of {found} in a file of {name}")
        if row.get("verified") is not True and not row.get("missing"):
            raise ValueError(f"{where}: a row that is not verified is not shown")
        name = found
        rows.append(row)
    if name is None:
        raise ValueError(f"{path}:1: a file without rows")
    return name, tuple(rows)
