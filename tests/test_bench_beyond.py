"""The experiment on shares that are resident: its figures, on a CPU; where there is a GPU, all of it runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bench.experiment import Setting
from bench.experiments import beyond
from bench.graphs import rmat
from bench.measure import Disagreement
from semiring import explain
from semiring.verbs.explanation import Run

from .conftest import Backend

B: Any = SimpleNamespace(nbytes=1000, resident=250)


def test_the_floor_is_one_pass_over_what_is_not_resident() -> None:
    known = beyond.figures(B, 0.25, speed=75.0)
    assert known == {
        "resident": 0.25,
        "resident_bytes": 250,
        "crossing_bytes": 750,
        "floor_ms": 10.0,
        "bus_gb_per_second": 0.000075,
    }


@pytest.mark.parametrize("task", beyond.TASKS)
def test_a_row_counts_edges_and_is_verified(task: str) -> None:
    A, run = rmat(8), beyond.TASKS[task]
    known = beyond.figures(B, 0.25, speed=75.0)
    answer = run(A, beyond.vector(A))
    row = beyond.timed(A, task, run, answer, Setting("cpu", repeats=3), known)
    assert row["verified"]
    assert row["passes"] == pytest.approx(row["ms"] / 10, rel=0.01)
    assert row["implementation"] == ("verb" if task == "mxv" else "fused")
    told = explain(run, A, beyond.vector(A)).runs
    if told and isinstance(told[-1].details.get("edges"), int):
        assert row["edges"] == told[-1].details["edges"]
        assert "crossed_bytes" not in row
    with pytest.raises(Disagreement):
        beyond.timed(A, task, run, beyond.TASKS["BFS"](rmat(9), None), Setting("cpu", repeats=3), known)


def test_rounds_are_those_that_the_last_run_counts() -> None:
    known = [{}, {"steps": 7, "edges": 3}, {"levels": [2, 3]}, {"rounds": 4}]
    assert [beyond.rounds_of([Run("", "", "", details=facts)]) for facts in known] == [1, 7, 5, 4]
    assert beyond.rounds_of([]) == 1


def test_a_plot_has_a_panel_for_each_graph() -> None:
    rows = [
        {"graph": graph, "contender": task, "resident": share, "ms": 1 / share}
        for graph in ("rmat", "grid")
        for task in ("BFS", "SCC")
        for share in (1.0, 0.5, 0.1)
    ]
    made = beyond.plot(rows)
    assert made is not None
    assert {ax.get_title(loc) for ax in made.axes for loc in ("left", "center")} >= {"rmat", "grid"}
    assert beyond.plot([]) is None


@pytest.mark.parametrize("device", [Backend.CUDA.param(name="beyond")])
def test_a_small_share_is_limited_and_measured(device: Any) -> None:
    found = [row for row in beyond.rows(Setting(device, quick=True, repeats=3)) if row["resident"] < 1]
    assert {row["contender"] for row in found if "missing" not in row} >= {"mxv", "SSSP", "BFS"}
    assert all(row["resident_bytes"] + row["crossing_bytes"] == row["matrix_bytes"] for row in found)
