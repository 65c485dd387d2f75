"""`parts`: matrices in parts, beside the matrix whole: by one process and several on the CPU, by several GPUs.

    to_whole    time over that of the whole matrix in one process, in the same run of the experiment
    steps       meetings of all processes in a call
    sent_bytes  what the first process brings to them; of GPUs, the values that all take from each other
    step_us     of GPUs, time of a meeting that brings next to nothing; of processes see the rows of exchanges

    weak        of a graph twice as large, on twice the GPUs: time of the smaller one on half of them over its time

Strong scaling is the same graph by more processes; weak scaling a graph that doubles with them (`rmat14` by one,
`rmat15` by two). More processes than cores take turns, which is no speed: `cores` says how many there were. Each is
bound to a core of its own, if there is one. Small graphs are searched by each process alone; `strips`: they are not.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import plots
from bench.experiment import Experiment, Row, Setting
from bench.measure import Contender, contest, rounded
from bench.processes import TASKS, alike, graph

from .parts_on_gpus import ROADS, rows_on_gpus
from .parts_on_gpus import WHOLE as ONE_GPU

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHOLE = "whole"


def rows(setting: Setting) -> Iterator[Row]:
    """Rows for each graph, task and number of processes, or of GPUs."""
    if setting.device != "cpu":
        yield from rows_on_gpus(setting)
        return
    for name, counts, tasks in plan(setting):
        if not setting.wants(Path(name).name):
            continue
        if kept := setting.kept_rows(Path(name).name):
            yield from kept
            continue
        if not name.startswith("rmat") and not Path(name).exists():
            yield {"graph": ROADS, "contender": WHOLE, "missing": f"{ROADS} is not there: say --data FOLDER"}
            continue
        yield from of_graph(name, counts, tasks, setting)


def plan(setting: Setting) -> list[tuple[str, tuple[int, ...], tuple[str, ...]]]:
    """Returns the graphs, with their numbers of processes and their tasks."""
    if setting.quick:
        return [("rmat6", (2,), ("sssp",))]
    every = tuple(TASKS)
    roads = str((setting.data or Path()) / ROADS)
    return [
        ("rmat14", (1, 2, 4, 8), every),
        ("rmat15", (2,), ("sssp", "bfs", "forest")),
        ("rmat16", (1, 2, 4, 8), every),
        ("rmat18", (1, 2, 4, 8), every),
        (roads, (1, 2, 4, 8), every),
    ]


def of_graph(name: str, counts: tuple[int, ...], tasks: tuple[str, ...], setting: Setting) -> Iterator[Row]:
    """The whole matrix in one process, and then in parts."""
    A, smaller = graph(name), dict[str, float]()
    known = {"graph": Path(name).name, "n": A.nrows, "nnz": A.nnz}
    for task in tasks:
        call = TASKS[task]
        expected = call(A)
        whole = Contender(
            WHOLE, lambda call=call: call(A), agrees=lambda found, right=expected: alike(found, right), watched=False
        )
        found = contest([whole], setting.repeats)[WHOLE]
        smaller[task] = found["ms"]
        yield known | {"task": task, "contender": WHOLE, "to_whole": 1.0} | found
    for count in counts:
        about = known | {"contender": f"{count} process{'es' * (count > 1)}"}
        told = run(count, name, tasks, setting.repeats)
        if isinstance(told, str):
            yield about | {"task": tasks[0], "missing": told}
            continue
        for each in told:
            own = {key: rounded(value) if isinstance(value, float) else value for key, value in each.items()}
            how = {"contender": about["contender"] + ", strips"} if own.pop("strips", False) else {}
            ratio = {"to_whole": rounded(each["ms"] / smaller[each["task"]])} if each["task"] in smaller else {}
            yield about | own | ratio | how


def run(count: int, name: str, tasks: tuple[str, ...], repeats: int) -> list[dict[str, Any]] | str:
    """The figures of so many processes, or why there are none."""
    here = Path(sys.executable).parent / "mpirun"
    launcher = str(here) if here.exists() else shutil.which("mpirun")
    if launcher is None or find_spec("mpi4py") is None:
        return "there is no mpi4py, or no mpirun: pip install 'semiring[mpi]'"
    bound = ["--bind-to", "core"] if count <= len(os.sched_getaffinity(0)) else []
    command = [launcher, *bound, "-n", str(count), sys.executable, "-W", "ignore", "-m", "bench.processes"]
    done = subprocess.run([*command, name, str(repeats), *tasks], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{' '.join(command)} has ended with {done.returncode}: {done.stderr[-400:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def plot(rows: list[Row]) -> Figure | None:
    """A panel for each graph: times over those of the whole matrix."""
    own = [row for row in rows if row["contender"] not in (WHOLE, ONE_GPU) and "to_whole" in row]
    order = list(dict.fromkeys(row["contender"] for row in own))
    return plots.ratios(own, "to_whole", "time, one whole matrix = 1", order=order)


PARTS = Experiment(
    name="parts",
    title="Matrices in parts, by several processes or GPUs",
    source="ours",
    about=(
        "The same algorithms on a matrix in parts, a strip of rows for each process or GPU, beside the whole matrix in "
        "one process, or on one GPU. A bar is the time over the latter's: below 1 the parts are faster. `cores` says "
        "how many cores the machine had: more processes than that take turns."
    ),
    rows=rows,
    columns=(
        *("graph", "task", "contender", "ms", "low_ms", "high_ms", "to_whole"),
        *("steps", "sent_bytes", "step_us", "weak"),
    ),
    plot=plot,
    devices=("cpu", "cuda"),
    roads=True,
    by_graph=True,
)
