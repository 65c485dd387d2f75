"""Martín, Torres and Gavilanes' two figures: rows are verified, and what is wrong is counted or stops everything."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from algorithms import bellman_ford, da2cf, trace
from bench.commands import app
from bench.experiment import Setting, perform
from bench.experiments import martin
from bench.experiments.no_atomic import NO_ATOMIC, f_gpu_no_atomic
from bench.measure import Contender, Disagreement, contest, once
from formats.arrays import Device

from .test_da2cf import counterexample

pytestmark = pytest.mark.timing

families = pytest.mark.parametrize("family", [martin.LISTS, martin.MATRICES], ids=lambda family: family.name)
devices = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])


@devices
@pytest.mark.parametrize("experiment", [martin.FIG6, martin.FIG7], ids=lambda experiment: experiment.name)
def test_a_quick_run_writes_rows_and_a_plot(experiment: martin.Experiment, device: Device, tmp_path: Path) -> None:
    rows = perform(experiment, Setting(device, quick=True, repeats=3), tmp_path)
    (written,) = tmp_path.glob(f"{experiment.name}-*.jsonl")
    assert [json.loads(line) for line in written.read_text().splitlines()] == rows
    assert {path.suffix for path in tmp_path.iterdir()} == {".jsonl", ".svg", ".png"}
    names = [row["contender"] for row in rows if row["size"] == 1]
    assert names[:3] == ["FH", "F_CPU", "U_CPU"]
    assert names[-2:] == ["da2cf, fused", "delta_stepping, fused"]
    for row in rows:
        assert {"graph", "n", "nnz", "iterations"} <= row.keys()
        if "missing" in row:
            assert device == "cpu" or row["contender"] == NO_ATOMIC
        else:
            assert row["verified"]
            assert row["graphs"] == 1
            assert min(row["ms"], row["speedup"]) > 0
            assert ("wrong_distances" in row) is (row["contender"] == NO_ATOMIC)


def test_an_implementation_that_is_wrong_stops_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(martin.OURS, "da2cf, fused", lambda A, source: bellman_ford(A, source) + 1)
    done = CliRunner().invoke(app, ["martin-fig6", "--quick"])
    assert done.exit_code == 1
    assert "da2cf, fused computes something else" in done.output


def test_a_heap_that_is_wrong_stops_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(martin.csgraph, "dijkstra", lambda S, indices: np.zeros(S.shape[0]))
    with pytest.raises(Disagreement, match="FH computes something else"):
        next(martin.rows(martin.MATRICES, Setting(quick=True)))


@families
def test_iterations_are_those_of_the_definition(family: martin.Family) -> None:
    g = martin.instance(family, 500, 1, "cpu")
    with trace() as t:
        da2cf(g.lists["cpu"], 0)
    assert martin.iterations(g.right) == len(t.rounds)
    assert g.same(da2cf(g.matrices["cpu"], 0, fused=False))


def test_all_implementations_of_the_paper_are_compared() -> None:
    assert [name for name in martin.LISTS.variants if name != NO_ATOMIC] == list(martin.VARIANTS)
    assert martin.ON_HOST == {"FH", "F_CPU", "U_CPU", "U_H1", "U_H2", "U_H3"}


@pytest.mark.parametrize(("off", "wrong"), [([0, 0, 0], 0), ([0, 2, 1], 2)])
def test_distances_that_are_too_large_are_counted(off: list[int], wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    g = without_gpu()
    monkeypatch.setattr(martin, "f_gpu_no_atomic", lambda A, source: g.right + np.array(off, np.int32))
    assert once(dataclasses.replace(martin.without_atomics(g), device="cpu"))["verified"]
    assert g.wrong == {NO_ATOMIC: wrong}


def test_distances_that_no_path_has_are_not_counted_but_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    g = without_gpu()
    monkeypatch.setattr(martin, "f_gpu_no_atomic", lambda A, source: g.right - 1)
    with pytest.raises(Disagreement, match=r"F_GPU_no_Atomic \(wrong\) computes something else"):
        once(dataclasses.replace(martin.without_atomics(g), device="cpu"))


def without_gpu() -> martin.Instance:
    """A graph of three vertices as if it were on a GPU."""
    A = counterexample(3, directed=True, dtype="int32")
    return martin.Instance({"cuda": A}, {}, bellman_ford(A, 0))  # type: ignore[dict-item]


@pytest.mark.backend("cuda")
def test_without_atomics_distances_come_out_wrong() -> None:
    """Why it is in the benchmarks alone: on the paper's counterexample it is seldom right."""
    A = counterexample(1 << 16, directed=True, dtype="int32").to(device="cuda")
    last = {int(f_gpu_no_atomic(A, 0)[-1]) for _ in range(50)}
    assert last != {2}


def test_what_would_take_too_long_on_the_host_is_left_out() -> None:
    patience = martin.Patience(martin.LISTS, {"U_CPU": (1000, 3000.0), "FH": (1000, 3000.0)})
    assert patience.why_not("U_CPU", 1, 1500) is None
    assert patience.why_not("U_CPU", 2, 2000) == "left out: a call would take about 6 s"
    assert patience.why_not("FH", 2, 2000) is None
    assert patience.why_not("F_CPU", 11, 10**9) is None
    assert patience.why_not("FH", 3, 3000) == "left out: what runs on the host is timed at 1, 2, 4, 8, 11 alone"


def test_a_row_has_the_medians_over_its_graphs() -> None:
    graphs = [
        {"verified": True, "ms": ms, "repeats": 3, "wrong_distances": wrong} for ms, wrong in ((1, 5), (9, 0), (2, 7))
    ]
    graphs[0]["with_transfers_ms"] = 4.0
    found = martin.medians(graphs)
    assert found == {"graphs": 3, "verified": True, "ms": 2, "repeats": 9, "wrong_distances": 7, "with_transfers_ms": 4}
    assert martin.medians([{"missing": "why"}]) == {"missing": "why"}
    assert martin.medians([]) == {}


def test_where_all_is_slow_each_is_called_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(martin, "SLOW_MS", 0.0)
    row = next(martin.rows(martin.LISTS, Setting(quick=True)))
    assert (row["contender"], row["repeats"]) == ("FH", 1)
    assert contest([]) == {}


def test_one_call_is_timed_and_verified_at_once() -> None:
    calls: list[int] = []
    slow = Contender("slow", lambda: calls.append(1) or np.ones(2), np.ones(2))
    figures = once(slow)
    assert len(calls) == figures["repeats"] == 1
    assert figures["ms"] == figures["low_ms"] == figures["high_ms"]
    assert figures.keys() <= contest([slow], 1)["slow"].keys()
    with pytest.raises(Disagreement, match="slow computes something else"):
        once(dataclasses.replace(slow, expected=np.zeros(2)))
