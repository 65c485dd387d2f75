"""Every experiment runs on a small machine, verifies each of its rows, and writes rows and plot."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bench import experiment as harness
from bench import plots
from bench.commands import app
from bench.experiment import Experiment, Part, Setting, load, part, perform
from bench.experiments import EXPERIMENTS
from bench.experiments.cores import OUT_OF_TIME, TASKS
from bench.measure import Contender, Disagreement, contest
from semiring import get_threads

from .conftest import Backend

pytestmark = pytest.mark.timing

FIGURES = ("ms", "low_ms", "high_ms", "repeats")
CELLS = [
    Backend(device).param(experiment, name=f"{name}-{device}")
    for name, experiment in EXPERIMENTS.items()
    for device in experiment.devices
]


@pytest.mark.parametrize(("experiment", "device"), CELLS)
def test_every_experiment_runs_quickly_and_verifies_its_rows(
    experiment: Experiment, device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "PNG_DOTS_PER_INCH", 20)
    rows = perform(experiment, Setting(device, quick=True, repeats=3), tmp_path)
    measured = [row for row in rows if "missing" not in row]
    assert measured
    for row in measured:
        assert row["verified"] is True
        assert {"graph", "n", "nnz", "contender", "date", "machine", "versions", "commit"} <= set(row)
        assert ("gpu" in row) is (device == "cuda")
        assert all(row[figure] > 0 for figure in FIGURES)
        assert row["low_ms"] <= row["ms"] <= row["high_ms"]
    (path,) = tmp_path.glob("*.jsonl")
    assert load(path) == json.loads(json.dumps(rows))
    assert {file.suffix for file in tmp_path.iterdir()} >= {".svg", ".png"}
    assert "currentColor" in path.with_suffix(".svg").read_text()
    parts = [of for of, _ in groupby(rows, part)]  # a graph's rows follow each other
    assert parts == looked_up(experiment, Setting(device, quick=True))


def looked_up(experiment: Experiment, setting: Setting) -> list[Part]:
    """What a resumed run asks for rows of, where nothing is left to be measured."""

    class Everything(dict[Part, Any]):
        def get(self, of: Part, default: Any = None) -> Any:
            return self.setdefault(of, [{"contender": "kept", "nnz": 1, "ms": 1.0, "gb_per_second": 1.0}])

    kept = Everything()
    assert all(row["contender"] == "kept" for row in experiment.rows(replace(setting, kept=kept)))
    return list(kept)


def test_the_list_names_every_experiment() -> None:
    done = CliRunner().invoke(app, ["--list"])
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.output.splitlines()] == list(EXPERIMENTS)


def test_a_device_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    done = CliRunner().invoke(app, ["roofline", "--quick", "--device", "cuda"])
    assert done.exit_code == 1
    assert done.output.startswith("roofline: device='cuda' needs CuPy")


def right(setting: Setting) -> Iterator[dict[str, Any]]:
    yield {"graph": "none", "n": 1, "nnz": 0, "contender": "one"} | contest([Contender("one", lambda: 1, agrees=bool)])[
        "one"
    ]
    yield {"graph": "none", "n": 1, "nnz": 0, "contender": "two", "missing": "not installed"}


def wrong(setting: Setting) -> Iterator[dict[str, Any]]:
    yield from right(setting)
    contest([Contender("another", lambda: 0, agrees=bool)])


SMALL = Experiment("small", "A small one", "nobody", "Shows nothing.", right, ("contender", "ms"), lambda rows: None)


def test_contenders_that_disagree_stop_it_and_leave_the_results_as_they_were(tmp_path: Path) -> None:
    perform(SMALL, Setting(), tmp_path)
    (path,) = tmp_path.glob("small-*.jsonl")
    before = path.read_text()
    with pytest.raises(Disagreement, match="another computes something else: it is not timed"):
        perform(replace(SMALL, rows=wrong), Setting(), tmp_path)
    assert path.read_text() == before
    assert len(load(next(tmp_path.glob("*.partial.jsonl")))) == 2  # what was measured is not lost


def test_a_row_that_nothing_verified_is_refused(tmp_path: Path) -> None:
    unverified = replace(SMALL, rows=lambda setting: iter([{"graph": "none", "contender": "one", "ms": 1.0}]))
    with pytest.raises(AssertionError, match="a row that nothing verified"):
        perform(unverified, Setting(), tmp_path)


def test_what_is_missing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    perform(SMALL, Setting(), tmp_path)
    assert "not installed" in capsys.readouterr().out


def test_a_quick_run_leaves_the_results_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "RESULTS", tmp_path / "results")
    perform(SMALL, Setting(quick=True))
    assert list(tmp_path.iterdir()) == []


def test_a_device_that_an_experiment_does_not_run_on_is_refused() -> None:
    with pytest.raises(ValueError, match="small runs on cpu, not on cuda"):
        perform(replace(SMALL, devices=("cpu",)), Setting("cuda"))


def test_an_experiment_that_has_no_tasks_is_asked_for_none() -> None:
    for setting in (Setting(tasks=("one",)), Setting(small=True), Setting(seconds=1.0)):
        with pytest.raises(ValueError, match="small measures all of its tasks, in one size and until the end"):
            perform(SMALL, setting)


def test_threads_are_measured_task_by_task_until_the_time_is_over(tmp_path: Path) -> None:
    cores, tasks = EXPERIMENTS["cores"], ("bfs", "scc")
    perform(cores, Setting(quick=True, repeats=2, tasks=tasks), tmp_path)
    again = perform(cores, Setting(quick=True, repeats=2, tasks=("scc",), seconds=0.0), tmp_path)
    assert {row["question"] for row in again} == {*tasks}  # those that were not wanted stay
    assert {row["question"]: row.get("missing") for row in again} == {"bfs": None, "scc": OUT_OF_TIME}
    with pytest.raises(ValueError, match="cores has no task that is named 'sorting'"):
        perform(cores, Setting(quick=True, tasks=("sorting",)), tmp_path / "none")


def test_threads_that_give_other_bits_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "bfs", lambda p: p.x * get_threads())
    with pytest.raises(Disagreement, match="bfs by 2 threads has other bits than by one"):
        perform(EXPERIMENTS["cores"], Setting(quick=True, tasks=("bfs",)))
