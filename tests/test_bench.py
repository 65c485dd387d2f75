"""Nothing is timed that computes something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bench import measure
from bench.commands import app
from bench.experiment import Setting
from bench.experiments import fused, fused_tasks, prepare
from bench.graphs import grid, operand, rmat
from bench.measure import Contender, Disagreement, contest
from bench.products import min_plus, plus_times
from formats import CSR, vertex_order
from formats.arrays import Device
from formats.preparation.renumbering import ORDERS
from semiring import MinPlus, PlusTimes, mxv, vxm

pytestmark = pytest.mark.timing

PATH_OF_FIVE = "p tw 5 4\n1 2\n3 2\n3 4\n5 4\n"


def degrees(A: CSR) -> np.ndarray:
    return np.diff(A.indptr)


# --- the harness --------------------------------------------------------------------------------------------------


def test_contenders_are_timed_in_turns() -> None:
    calls = []
    contenders = [
        Contender(name, lambda name=name: calls.append(name) or np.ones(2), np.ones(2), watched=False)
        for name in ("first", "second")
    ]
    figures = contest(contenders, repeats=4)
    turns = [sorted(calls[at : at + 2]) for at in range(0, len(calls), 2)]
    assert turns == [["first", "second"]] * 5  # once to verify, which is the warm-up
    assert {name: found["repeats"] for name, found in figures.items()} == {"first": 4, "second": 4}


@pytest.mark.parametrize(
    "wrong",
    [np.array([1.0, 2.5]), np.array([1, 2]), np.array([1.0]), np.array([[1.0, 2.0]])],
    ids=["value", "dtype", "length", "dimensions"],
)
@pytest.mark.parametrize("tolerance", [0, 1e-4])
def test_wrong_output_is_not_timed(wrong: np.ndarray, tolerance: float) -> None:
    contender = Contender("wrong", lambda: wrong, np.array([1.0, 2.0]), tolerance)
    with pytest.raises(AssertionError, match="wrong computes something else"):
        contest([contender], repeats=1)


def test_a_tolerance_is_relative() -> None:
    close = Contender("close", lambda: np.array([1e6 + 1, 0.0]), np.array([1e6, 0.0]), 1e-4)
    assert contest([close], repeats=1)["close"]["verified"]


def test_records_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "times.jsonl"
    for n in (1, 2):
        measure.append(path, [{"n": n}])
    assert path.read_text() == '{"n": 1}\n{"n": 2}\n'


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_the_independent_products_are_ours(dtype: type) -> None:
    A = rmat(10, dtype=dtype)
    x = operand(A.ncols, 1000, dtype=dtype)
    assert (degrees(A) == 0).any()
    assert np.array_equal(min_plus(A, x), mxv(A, x, MinPlus))
    assert np.array_equal(min_plus(A, x, transposed=True), vxm(x, A, MinPlus))
    np.testing.assert_allclose(plus_times(A, x), mxv(A, x, PlusTimes), rtol=1e-5)


# --- on a GPU -----------------------------------------------------------------------------------------------------


@pytest.mark.backend("cuda")
def test_wrong_output_is_not_timed_on_the_gpu() -> None:
    import cupy

    wrong = Contender("wrong", lambda: cupy.ones(3), cupy.zeros(3))
    with pytest.raises(AssertionError, match="wrong computes something else"):
        contest([wrong], repeats=1)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_preparation_is_timed_step_by_step(device: Device) -> None:
    rows = list(prepare.rows(Setting(device, quick=True, repeats=2)))
    steps = [row for row in rows if "bandwidth" not in row]
    assert [row["contender"] for row in rows[len(steps) :]] == [f"mxv, {by}" for by in ("as given", "random", *ORDERS)]
    assert len(steps) == 2 * len(ORDERS) + 4
    assert all(row["n"] == 256 and row["verified"] and row["ms"] > 0 for row in rows)
    assert all(row["bandwidth"] < 256 for row in rows[len(steps) :])


def test_a_step_that_cannot_be_undone_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    A = grid(3)
    monkeypatch.setattr(prepare, "from_ranks", lambda R, weights: R)
    with pytest.raises(Disagreement, match="ranks to weights cannot be undone: it is not timed"):
        prepare.verify(A, {"degree": vertex_order(A)})


# --- algorithms that run as a whole -----------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_rows_of_whole_algorithms_are_verified_and_timed(device: Device) -> None:
    rows = list(fused.rows(Setting(device, quick=True, repeats=1)))
    assert {row["graph"] for row in rows} == set(fused_tasks.QUICK)
    assert [row["contender"] for row in rows if row["graph"] == "grid32"] == [task.name for task in fused_tasks.tasks()]
    for row in rows:
        assert row["verified"]
        assert row["checked_by"].startswith("definition")
        assert "SciPy" in row["checked_by"]
        assert ("wall_ms" in row) is (device == "cuda")
        assert min(row["ms"], row["first_ms"], row["definition_ms"]) > 0
        assert row["peak_bytes_per_vertex"] > 0
        assert (row["reached"] is None) is ("parents" not in row["contender"])


def test_a_row_that_is_wrong_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = fused_tasks.scc
    monkeypatch.setattr(fused_tasks, "scc", lambda A, fused=True: right(A, fused=False) + fused)
    done = CliRunner().invoke(app, ["fused", "--quick", "--repeats", "1"])
    assert done.exit_code == 1
    assert "SCC on grid32 computes something else than its definition" in done.output


@pytest.mark.parametrize("command", ["fused", "prepare", "spmv", "cliffs"])
def test_an_output_that_is_a_file_is_refused_in_one_sentence(command: str, tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("")
    done = CliRunner().invoke(app, [command, "--output", str(tmp_path / "rows")])
    assert done.exit_code == 1
    assert done.output == f"{command}: --output must name a folder, and {tmp_path / 'rows'} is a file\n"


@pytest.mark.parametrize("task", list(fused_tasks.tasks()), ids=lambda task: task.name)
def test_what_is_wrong_is_found_without_the_definition(task: fused_tasks.Task) -> None:
    """In the distances, levels, labels and weights, and where parents are found, in them."""
    A = grid(8)
    p = fused_tasks.Problem("grid8", A, 9, undirected=True)
    answer = fused.parts(task.solve(A.astype(task.dtype), p, fused=False))
    assert all(right for _, right in task.independent(p, answer))
    for at, part in enumerate(answer):
        wrong = list(answer)
        wrong[at] = altered(part)
        assert not all(right for _, right in task.independent(p, tuple(wrong)))


def altered(part: Any) -> Any:
    """An answer with one number changed."""
    values = (part if isinstance(part, np.ndarray) else part.values).copy()
    values[17] += 1
    return values if isinstance(part, np.ndarray) else part.with_values(values)


def test_what_a_time_has_reached() -> None:
    assert [fused.reached(ms, 2.0, 3.0) for ms in (2.0, 2.5, 3.5)] == ["goal", "at least", "missed"]
    assert fused.reached(1.0, None, None) is None
    sssp, with_parents, *_ = fused_tasks.tasks()
    assert fused.targets(sssp, "NE", "cuda", None, None) == (5.0, 6.5)
    assert fused.targets(sssp, "NY", "cpu", 100.0, None) == (24.0, 32.0)
    assert fused.targets(sssp, "grid32", "cpu", 100.0, None) == (None, None)
    assert fused.targets(with_parents, "NE", "cuda", None, 10.0) == (14.0, 14.0)


def test_facts_are_written_as_json() -> None:
    facts = {
        "steps": np.int64(3),
        "delta": np.float32(0.5),
        "sizes": np.arange(2),
        7: (True, None),
        "end": float("inf"),
    }
    assert fused.plain(facts) == {"steps": 3, "delta": 0.5, "sizes": [0, 1], "7": [True, None], "end": "inf"}


def test_graphs_in_files_need_their_folder(tmp_path: Path) -> None:
    assert fused_tasks.chosen("cpu", tmp_path, quick=False) == ["rmat20"]
    (tmp_path / fused_tasks.NEW_YORK).touch()
    assert fused_tasks.chosen("cpu", tmp_path, quick=False) == ["NY", "rmat20"]


def test_rows_of_paths_one_step_aside_are_verified_and_beside_a_peer(tmp_path):
    from bench.cliffs.paths import rows

    found = list(rows(tmp_path, quick=True, repeats=1))
    assert {"negative weights", "a planted cycle", "a first search", "schedule fifo"} <= {row.case for row in found}
    assert all(row.ms > 0 and row.peer_ms > 0 for row in found)


def test_rows_made_of_a_copy_without_git_name_the_commit_that_they_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMMIT", "abc1234")
    assert measure.machine()["commit"] == "abc1234"
