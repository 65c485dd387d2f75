"""One page of everything that was measured: the rows in bench/results, told as HTML.

    python -m bench report                     # bench/results/report.html

The page needs nothing else, neither network nor script. It shows every experiment in the order of EXPERIMENTS, what
was not run yet, what was stopped before its end and how it goes on, and the benchmark of algorithms as a whole, whose
rows have names of their own. A row that nothing verified, or that says of no experiment what it is of, stops it:
ValueError with the file and the line.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import experiments
from .cliffs.batches import BATCHES
from .cliffs.table import CLIFFS
from .experiment import PARTIAL, Experiment, Row, load
from .measure import RESULTS
from .page import page
from .sections import Run, Section

EXPERIMENTS = experiments.EXPERIMENTS | {each.name: each for each in (CLIFFS, BATCHES)}
"""What the page shows, in order."""

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FUSED = "fused"
"""How the files of algorithms as a whole begin."""
OWN = "prototype"
"""Among a row's peers what is no other's: kernels of our own that did only this."""


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
    """A section for each experiment, and at the end one of algorithms as a whole."""
    return [
        *(Section(e.name, e.title, e.source, e.about, e.columns, e.plot, e.devices, e.roads) for e in experiments),
        WHOLE,
    ]


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
    """(experiment's name, rows) of a file; ValueError with file and line for a row that the page must not show."""
    rows, name = [], None
    for number, row in enumerate(load(path), start=1):
        where = f"{path}:{number}"
        if path.name.startswith(f"{FUSED}-") and "experiment" not in row:
            row = whole(row)
        found = row.get("experiment")
        if found != FUSED and found not in EXPERIMENTS:
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


# --- algorithms as a whole --------------------------------------------------------------------------------------------


def whole(record: dict[str, Any]) -> Row:
    """A row of `bench fused` under the names of an experiment's rows."""
    row = record | {"experiment": FUSED, "contender": record.get("algorithm"), "quick": False}
    if "error" in record:
        return row | {"missing": f"failed: {record['error']}"}
    peers = {peer: ms for peer, ms in record.get("peers_ms", {}).items() if peer != OWN}
    best = min(peers, key=lambda peer: peers[peer], default=None)
    row["ms"] = record.get("device_ms", record.get("wall_ms"))
    row["checked_by"] = ", ".join(record.get("checked", ()))
    row["best_of_others_ms"] = None if best is None else peers[best]
    row["others"] = best
    return row


def whole_plot(rows: list[Row]) -> Figure | None:
    """Milliseconds of each algorithm, graph by graph, without those that also find parents."""
    from . import plots

    drawn = [row for row in rows if "parents" not in row["contender"]]
    if not drawn:
        return None
    made, (ax,) = plots.figure(1, width=7.2)
    plots.bars(ax, drawn, "graph", "ms", log_y=True)
    plots.label(ax, "one call", "", "milliseconds")
    return made


WHOLE = Section(
    FUSED,
    "Algorithms as a whole",
    "our own; targets and others' times on a GPU as measured elsewhere on an H100 on 2026-11-21",
    "Shortest paths, searches, components and forests, each run as one kernel on a GPU or as compiled loops on a CPU, "
    "from the vertex of largest out-degree. Verified to the last bit against the definition, where it is quick enough, "
    "and independently of us. Of the others the fastest is shown; on a GPU it was not measured here. The first call is "
    "one on a matrix that keeps nothing yet.",
    (
        "graph",
        "nnz",
        "contender",
        "implementation",
        "ms",
        "goal_ms",
        "reached",
        "best_of_others_ms",
        "others",
        "scipy_ms",
        "first_ms",
        "definition_ms",
        "checked_by",
    ),
    whole_plot,
    ("cpu", "cuda"),
    roads=True,
)
