"""Nothing is timed that computes something else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bench import fused, fused_tasks, measure, prepare
from bench.commands import app
from bench.graphs import grid, operand, rmat
from bench.measure import Contender, interleaved
from bench.products import min_plus, plus_times
from formats import CSR, vertex_order
from formats.arrays import Device
from formats.preparation.renumbering import ORDERS
from semiring import MinPlus, PlusTimes, mxv, vxm

PATH_OF_FIVE = "p tw 5 4\n1 2\n3 2\n3 4\n5 4\n"


def degrees(A: CSR) -> np.ndarray:
    return np.diff(A.indptr)


# --- the harness --------------------------------------------------------------------------------------------------


def test_contenders_are_timed_in_turns() -> None:
    calls = []
    contenders = [
        Contender(name, lambda name=name: calls.append(name) or np.ones(2), np.ones(2)) for name in ("first", "second")
    ]
    seconds = interleaved(contenders, repeats=2)
    assert calls == ["first", "second"] * 3  # once to verify, which is the warm-up
    assert {name: len(times) for name, times in seconds.items()} == {"first": 2, "second": 2}


@pytest.mark.parametrize(
    "wrong",
    [np.array([1.0, 2.5]), np.array([1, 2]), np.array([1.0]), np.array([[1.0, 2.0]])],
    ids=["value", "dtype", "length", "dimensions"],
)
@pytest.mark.parametrize("tolerance", [0, 1e-4])
def test_wrong_output_is_not_timed(wrong: np.ndarray, tolerance: float) -> None:
    contender = Contender("wrong", lambda: wrong, np.array([1.0, 2.0]), tolerance)
    with pytest.raises(AssertionError, match="wrong computes something else"):
        interleaved([contender], repeats=1)


def test_a_tolerance_is_relative() -> None:
    close = Contender("close", lambda: np.array([1e6 + 1, 0.0]), np.array([1e6, 0.0]), 1e-4)
    assert len(interleaved([close], repeats=1)["close"]) == 1


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
        measure.interleaved_on_gpu([wrong], repeats=1)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_preparation_is_timed_step_by_step(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    (record,) = prepare.run(8, 1, device)
    assert record["n"] == 256
    assert len(record["milliseconds"]) == 2 * len(ORDERS) + 4
    assert list(record["numberings"]) == ["as given", "random", *ORDERS]
    assert all(found["mxv_ms"] > 0 and found["bandwidth"] < 256 for found in record["numberings"].values())
    assert "order by rcm" in capsys.readouterr().out


def test_preparation_of_a_file(file: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    (record,) = prepare.run(repeats=1, file=file("path.gr", "p sp 3 2\na 1 2 5\na 2 3 6\n"))
    assert (record["graph"], record["n"], record["nnz"]) == ("path.gr", 3, 2)
    assert "path.gr" in capsys.readouterr().out


def test_a_step_that_cannot_be_undone_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    A = grid(3)
    monkeypatch.setattr(prepare, "from_ranks", lambda R, weights: R)
    with pytest.raises(AssertionError, match="ranks to weights cannot be undone: it is not timed"):
        prepare.verify(A, {"degree": vertex_order(A)})


# --- algorithms that run as a whole -----------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_rows_are_verified_timed_and_written(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = fused.run(device, repeats=1, output=tmp_path / "rows", quick=True)
    (path,) = (tmp_path / "rows").glob("fused-*.jsonl")
    assert [json.loads(line) for line in path.read_text().splitlines()] == records
    assert {record["graph"] for record in records} == set(fused_tasks.QUICK)
    rows = [record["algorithm"] for record in records if record["graph"] == "grid32"]
    assert rows == [task.name for task in fused_tasks.tasks()]
    for record in records:
        assert "error" not in record, record["error"]
        assert record["verified"]
        assert record["checked"][0] == "definition"
        assert "SciPy" in record["checked"]
        assert ("device_ms" in record) is (device == "cuda")
        assert min(record["wall_ms"], record["first_ms"], record["definition_ms"]) > 0
        assert record["peak_bytes_per_vertex"] > 0
        assert (record["reached"] is None) is ("parents" not in record["algorithm"])
    assert "SSSP int32, parents" in capsys.readouterr().out


def test_a_row_that_is_wrong_is_an_error_and_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = fused_tasks.scc
    monkeypatch.setattr(fused_tasks, "scc", lambda A, fused=True: right(A, fused=False) + fused)
    arguments = ["fused", "--quick", "--graphs", "grid32", "--repeats", "1"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert "AssertionError: SCC on grid32 computes something else than its definition" in done.output
    assert "failed" in done.output


@pytest.mark.parametrize("command", [["fused", "--quick", "--graphs", "grid32"], ["prepare", "--scale", "4"], ["spmv"]])
def test_an_output_that_is_a_file_is_refused_in_one_sentence(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("")
    done = CliRunner().invoke(app, [*command, "--output", str(tmp_path / "rows")])
    assert done.exit_code == 1
    assert done.output == f"{command[0]}: --output must name a folder, and {tmp_path / 'rows'} is a file\n"


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
    assert fused_tasks.chosen([], "cpu", tmp_path, quick=False) == ["rmat20"]
    with pytest.raises(ValueError, match="unknown graph 'NE'; there are grid2k, "):
        fused_tasks.chosen(["NE"], "cuda", tmp_path, quick=False)


def test_rows_of_paths_one_step_aside_are_verified_and_beside_a_peer(tmp_path):
    from bench.cliffs.paths import rows

    found = list(rows(tmp_path, quick=True, repeats=1))
    assert {"negative weights", "a planted cycle", "a first search", "schedule slf"} <= {row.case for row in found}
    assert all(row.ms > 0 and row.peer_ms > 0 for row in found)
