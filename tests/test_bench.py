"""The benchmarks' graphs are what they are said to be, and nothing is timed that computes something else."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bench import algorithms, da2cf, fused, fused_tasks, graphs, measure, prepare, spmv_cuda
from bench.__main__ import app
from bench.graphs import grid, operand, rmat, rmat_both_ways, roads, spmv_graph, spmv_names, uniform
from bench.measure import Contender, interleaved
from formats import CSR, vertex_order
from formats.arrays import Device
from formats.renumbering import ORDERS
from semiring import MinPlus, PlusTimes, mxv, vxm

from .test_da2cf import counterexample

PATH_OF_FIVE = "p tw 5 4\n1 2\n3 2\n3 4\n5 4\n"
SMALL = {
    "rmat": lambda **options: rmat(10, **options),
    "rmat_both_ways": lambda **options: rmat_both_ways(10, **options),
    "uniform": lambda **options: uniform(4096, 7, **options),
    "grid": lambda **options: grid(30, **options),
}
every_graph = pytest.mark.parametrize("make", SMALL.values(), ids=list(SMALL))


def degrees(A: CSR) -> np.ndarray:
    return np.diff(A.indptr)


def symmetric(A: CSR) -> bool:
    return A.T.to("csr").equals(A)


@every_graph
def test_a_graph_has_no_self_loop_and_no_edge_twice(make: Callable[..., CSR]) -> None:
    A = make()
    A.check()  # columns ascend strictly in each row
    rows, cols, _ = A.to_edges()
    assert A.dtype == np.float32
    assert A.nnz > 0
    assert not (rows == cols).any()


@every_graph
def test_weights_are_the_integers_from_1_to_high(make: Callable[..., CSR]) -> None:
    A = make(high=5)
    assert np.unique(A.values).tolist() == [1, 2, 3, 4, 5]
    counts = np.bincount(A.values.astype(int))[1:]
    assert counts.min() > 0.8 * A.nnz / 5
    assert A.astype(np.int32).equals(make(high=5, dtype=np.int32))


@every_graph
def test_a_seed_gives_the_same_graph_and_another_seed_another(make: Callable[..., CSR]) -> None:
    assert make(seed=3).equals(make(seed=3))
    assert not make(seed=3).equals(make(seed=4))


@every_graph
def test_the_graph_does_not_depend_on_the_block(make: Callable[..., CSR], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = make()
    monkeypatch.setitem(graphs.BLOCK, "cpu", 1000)
    assert make().equals(expected)


def test_rmat_has_hubs() -> None:
    A = rmat(12)
    assert A.shape == (4096, 4096)
    assert 0.75 * 16 * 4096 < A.nnz <= 16 * 4096
    assert degrees(A).max() > 20 * degrees(A).mean()
    assert not symmetric(A)


def test_rmat_draws_quadrants_with_the_given_probabilities() -> None:
    """Of a matrix so sparse that hardly an edge is drawn twice."""
    A = rmat(20, edge_factor=1, probabilities=(0.4, 0.3, 0.2))
    rows, cols, _ = A.to_edges()
    quadrants = np.bincount(2 * (rows >> 19) + (cols >> 19)) / A.nnz
    np.testing.assert_allclose(quadrants, [0.4, 0.3, 0.2, 0.1], atol=0.01)


def test_the_symmetric_sibling_of_rmat_has_about_as_many_arcs() -> None:
    A = rmat_both_ways(12)
    assert symmetric(A)
    assert 0.8 * rmat(12).nnz < A.nnz <= 16 * 4096


def test_uniform_has_its_degree_but_for_vertices_drawn_twice() -> None:
    A = uniform(4096, 7)
    assert A.shape == (4096, 4096)
    assert degrees(A).max() == 7
    assert 4096 * 7 - 60 < A.nnz <= 4096 * 7
    in_degrees = np.bincount(A.indices, minlength=4096)
    assert 5 < in_degrees.var() < 9  # a Poisson variable's variance is its mean


def test_grid_joins_neighbours_with_symmetric_weights() -> None:
    side = 30
    A = grid(side)
    assert A.shape == (side**2, side**2)
    assert np.bincount(degrees(A)).tolist() == [0, 0, 4, 4 * (side - 2), (side - 2) ** 2]
    assert symmetric(A)
    rows, cols, _ = A.to_edges()
    apart = abs(rows // side - cols // side) + abs(rows % side - cols % side)
    assert (apart == 1).all()


def test_roads_are_the_files_with_symmetric_weights(file: Callable[[str, str], Path]) -> None:
    A = roads(file("path.gr", PATH_OF_FIVE))
    rows, cols, values = A.to_edges()
    assert list(zip(rows, cols, strict=True)) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 4), (4, 3)]
    assert ((values >= 1) & (values <= 1000)).all()
    assert symmetric(A)


def test_splitmix64_gives_its_known_numbers() -> None:
    """The first outputs of the reference implementation (S. Vigna, splitmix64.c) from state 1234567."""
    states = np.uint64(1234567) + np.arange(1, 4, dtype=np.uint64) * np.uint64(graphs.GOLDEN)
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert graphs.mixed(states).tolist() == expected


def test_an_unknown_graph_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="unknown graph 'rmat5'; there are rmat20, "):
        spmv_names(None, ["rmat20", "rmat5"])


def test_the_road_graph_is_there_where_its_file_is(tmp_path: Path) -> None:
    assert "NE" not in spmv_names(tmp_path)
    (tmp_path / graphs.ROADS).write_bytes(gzip.compress(PATH_OF_FIVE.encode()))
    assert spmv_names(tmp_path)[0] == "NE"
    assert spmv_graph("NE", "cpu", tmp_path).nnz == 8


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
    assert np.array_equal(spmv_cuda.min_plus(A, x), mxv(A, x, MinPlus))
    assert np.array_equal(spmv_cuda.min_plus(A, x, transposed=True), vxm(x, A, MinPlus))
    np.testing.assert_allclose(spmv_cuda.plus_times(A, x), mxv(A, x, PlusTimes), rtol=1e-5)


# --- on a GPU -----------------------------------------------------------------------------------------------------


@pytest.mark.backend("cuda")
@every_graph
def test_both_devices_make_the_same_graph(make: Callable[..., CSR]) -> None:
    there = make(device="cuda")
    assert there.device == "cuda"
    assert there.to(device="cpu").equals(make())


@pytest.mark.backend("cuda")
def test_both_devices_make_the_same_roads_and_operand(file: Callable[[str, str], Path]) -> None:
    path = file("path.gr", PATH_OF_FIVE)
    device: Device = "cuda"
    assert roads(path, device=device).to(device="cpu").equals(roads(path))
    assert np.array_equal(operand(100, 50, device=device).get(), operand(100, 50))


@pytest.mark.backend("cuda")
def test_contenders_are_verified_and_timed_on_the_gpu() -> None:
    A = rmat(10, device="cuda")
    record = spmv_cuda.compare("rmat10", A, spmv_cuda.contenders(A), repeats=1)
    assert {"cuSPARSE plus-times", "CSR", "COO", "CSC", "vxm CSR", "CSR int32"} <= record["milliseconds"].keys()
    assert all(time > 0 for figures in record["milliseconds"].values() for time in figures.values())


@pytest.mark.backend("cuda")
def test_wrong_output_is_not_timed_on_the_gpu() -> None:
    import cupy

    wrong = Contender("wrong", lambda: cupy.ones(3), cupy.zeros(3))
    with pytest.raises(AssertionError, match="wrong computes something else"):
        measure.interleaved_on_gpu([wrong], repeats=1)


def test_da2cf_is_timed_on_graphs_of_seven_predecessors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    predecessors = da2cf.predecessors
    A = predecessors(4096, "cpu")
    assert degrees(A.T.to("csr")).max() == 7
    assert degrees(A).max() > 7
    monkeypatch.setattr(da2cf, "predecessors", lambda n, device: predecessors(n >> 4, device))
    (record,) = da2cf.run(1, 1, "cpu")
    assert record["n"] == 1 << 16
    assert set(record["milliseconds"]) == {"F_CPU", "U_CPU"}
    assert 30 < record["iterations"] < 60
    assert "F_CPU" in capsys.readouterr().out


@pytest.mark.backend("cuda")
def test_without_atomics_distances_come_out_wrong() -> None:
    """Why it is in the benchmarks alone: on the paper's counterexample it is seldom right."""
    A = counterexample(1 << 16, directed=True, dtype="int32").to(device="cuda")
    last = {int(da2cf.f_gpu_no_atomic(A, 0)[-1]) for _ in range(50)}
    assert last != {2}


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_preparation_is_timed_step_by_step(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    (record,) = prepare.run(8, 1, device)
    assert record["n"] == 256
    assert len(record["milliseconds"]) == 2 * len(ORDERS) + 3
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


def test_algorithms_are_verified_beside_scipys(capsys: pytest.CaptureFixture[str]) -> None:
    directed, symmetric = algorithms.run(10, 1, "cpu")
    assert set(directed["milliseconds"]) == {"bfs", "bfs, parents", "scc", "weak", "mst"}
    assert symmetric["nnz"] > directed["nnz"]
    assert "symmetric" in capsys.readouterr().out


def test_algorithms_that_disagree_are_not_timed() -> None:
    A = algorithms.both_ways(6, "cpu")
    with pytest.raises(AssertionError, match="nothing is timed"):
        algorithms.contest(A, lambda M: 1, lambda: 2, lambda ours, theirs: ours == theirs, 1, "cpu")


# --- algorithms that run as a whole -----------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_rows_are_verified_timed_and_written(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    records = fused.run(device, repeats=1, output=path, quick=True)
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
