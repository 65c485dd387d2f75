"""The experiments on storage formats and on bandwidths: every figure is of something that was verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import measure
from bench.experiment import Setting, perform
from bench.experiments import EXPERIMENTS, roofline, storage
from bench.experiments.storage import Family, Product, break_even
from bench.graphs import ROADS, grid, uniform
from bench.measure import Contender, Disagreement
from formats import COO, CSR, ELL, Dense, from_edges
from formats.arrays import Device
from semiring import MinPlus, mxv, vxm

pytestmark = pytest.mark.timing

TINY = (Family("grid", grid, (8,), (8,), (8,)), Family("random", uniform, (64, 7), (64, 7), (64, 7)))
FORMATS = {fmt.__name__ for fmt, device in mxv.table if device == "cpu"}
devices = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "FAMILIES", TINY)


def of(rows: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


# --- formats ----------------------------------------------------------------------------------------------------------


@devices
def test_every_format_of_the_tables_is_timed_under_every_product(device: Device, tmp_path: Path) -> None:
    rows = perform(EXPERIMENTS["formats"], Setting(device, quick=True, repeats=3), tmp_path)
    for graph in ("grid", "random"):
        for product in ("mxv, dense", "vxm, dense", "mxv, sparse", "vxm, sparse"):
            found = of(rows, graph=graph, product=product)
            assert {row["contender"] for row in found} >= FORMATS
            assert all(row["verified"] is True and row["ms"] > 0 for row in found)
            assert of(found, contender="CSR")[0]["to_csr"] == 1
    (roads,) = of(rows, graph="roads")
    assert ROADS in roads["missing"]
    other = {"cpu": "bare python-graphblas", "cuda": "cuSPARSE plus-times"}[device]
    assert len(of(rows, contender=other)) == 2
    (path,) = tmp_path.glob("formats-*.jsonl")
    assert [json.loads(line) for line in path.read_text().splitlines()] == rows
    assert path.with_suffix(".svg").exists()
    assert path.with_suffix(".png").exists()


def test_storage_is_counted_in_bytes_and_places() -> None:
    A = from_edges([0, 0, 1], [0, 1, 1], [1, 2, 3], shape=2)
    dense, padded = storage.storage(A.to(Dense)), storage.storage(A.to(ELL))
    assert (dense["stored_bytes"], dense["padding"]) == (16, 1.3333)
    assert (padded["stored_bytes"], padded["padding"]) == (32, 1.3333)
    assert storage.storage(A.to(COO))["bytes_per_entry"] == 12


def test_a_format_that_refuses_the_matrix_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub's row pads all others."""
    monkeypatch.setattr("formats.storage.ell.MAX_UNQUESTIONED_BYTES", 0)
    hub = from_edges(np.zeros(500, np.int32), np.arange(500), np.ones(500, np.int32), shape=500)
    made, refused = storage.copies_of(hub, "cpu")
    assert set(refused) == {"ELL"}
    assert "pads all" in refused["ELL"]
    assert CSR in made


def test_roads_are_timed_where_their_file_is(tmp_path: Path) -> None:
    import gzip

    (tmp_path / ROADS).write_bytes(gzip.compress(b"p tw 5 4\n1 2\n3 2\n3 4\n5 4\n"))
    name, make = next(storage.graphs(Setting(data=tmp_path)))
    A = make()
    assert isinstance(A, CSR)
    assert (name, A.shape, A.nnz) == ("roads", (5, 5), 8)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("verb", [mxv, vxm])
def test_what_a_product_must_be_is_what_the_verb_says(verb: Any, dtype: str, sparse: bool) -> None:
    A = uniform(100, 7, dtype=dtype)
    product = Product(verb, sparse, dtype)
    x = product.operand(A)
    expected = product.expected(A, x)
    assert storage.same(expected, product.of(A, x))
    assert bool((expected == MinPlus.zero(A.dtype)).any()) is sparse
    wrong = expected.copy()
    wrong[5] = 1
    assert not storage.same(wrong, product.of(A, x))
    assert not storage.same(expected.astype(np.float64), product.of(A, x))


def test_a_format_that_multiplies_wrongly_stops_the_experiment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    right = Product.of
    monkeypatch.setattr(Product, "of", lambda self, M, x: right(self, M, x) + isinstance(M, COO))
    with pytest.raises(Disagreement, match="COO computes something else"):
        perform(EXPERIMENTS["formats"], Setting(quick=True, repeats=3), tmp_path)
    assert [path for path in tmp_path.iterdir() if ".partial." not in path.name] == []


def test_products_after_which_a_conversion_has_paid() -> None:
    assert break_even(start=10, ms=1, other_start=2, other_ms=2) == 9  # 10 + 8 = 2 + 16
    assert break_even(start=10, ms=1.9, other_start=2, other_ms=2) == 81
    assert break_even(start=1, ms=1, other_start=2, other_ms=2) == 1
    assert break_even(start=1, ms=2, other_start=2, other_ms=2) is None
    assert break_even(start=1, ms=3, other_start=2, other_ms=2) is None


# --- bandwidths -------------------------------------------------------------------------------------------------------


@devices
def test_bandwidths_stand_beside_a_copys(device: Device, tmp_path: Path) -> None:
    rows = perform(EXPERIMENTS["roofline"], Setting(device, quick=True, repeats=3), tmp_path)
    (copy,) = of(rows, contender="copy")
    assert copy["gb_per_second"] == pytest.approx(copy["bytes_moved"] / copy["ms"] / 1e6, rel=1e-3)
    found = of(rows, graph="grid")
    names = {row["contender"] for row in found}
    assert names >= {f"mxv {fmt}" for fmt in FORMATS} | {f"vxm {fmt}" for fmt in FORMATS}
    assert names >= {"SSSP", "BFS", "SCC", "MST"}
    for row in found:
        assert row["verified"] is True
        assert row["share_of_copy"] == pytest.approx(row["gb_per_second"] / copy["gb_per_second"], rel=1e-3)
    (forest,) = of(rows, graph="random", contender="MST")
    assert "directed" in forest["missing"]
    assert len(list(tmp_path.iterdir())) == 3


def test_bytes_that_must_move_are_those_of_the_arrays() -> None:
    A = grid(3)  # 9 vertices, 24 entries
    x = np.zeros(9, np.float32)
    assert roofline.least_bytes("SSSP", A, x) == 8 * 24 + 4 * 10 + 36
    assert roofline.least_bytes("BFS", A, x) == 4 * 24 + 4 * 10 + 36
    assert roofline.least_bytes("SCC", A, x) == 2 * (4 * 24 + 4 * 10) + 36
    tree = from_edges([0, 1], [1, 2], [1.0, 1.0], shape=9).to(COO)
    assert roofline.least_bytes("MST", A, tree) == 8 * 24 + 4 * 10 + 24
    setting = Setting(quick=True, repeats=3)
    product = roofline.products(setting)[0]
    row = next(roofline.one_product(A, product, {CSR: A, ELL: A.to(ELL)}, setting))
    assert (row["contender"], row["bytes_moved"]) == ("mxv CSR", 8 * 24 + 4 * 10 + 2 * 36)


def test_an_algorithm_that_is_wrong_stops_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    A = grid(8)
    (labels,) = [task for task in roofline.tasks() if task.kind == "SCC"]
    problem = roofline.Problem("grid", A, 0, undirected=True)
    answer = labels.solve(A, problem)
    assert roofline.right(labels, problem, answer)
    assert not roofline.right(labels, problem, answer + 1)
    monkeypatch.setattr(roofline, "right", lambda task, problem, answer: task.kind != "BFS")
    with pytest.raises(Disagreement, match="BFS computes something else"):
        list(roofline.algorithm_rows("grid", A, Setting(quick=True, repeats=3)))


def test_a_copy_is_a_copy_on_every_thread() -> None:
    source = np.arange(1001)
    assert np.array_equal(roofline.copy(source, np.zeros_like(source)), source)


# --- the harness ------------------------------------------------------------------------------------------------------


@pytest.mark.backend("cuda")
def test_what_does_not_wait_for_the_gpu_is_timed_in_batches() -> None:
    import cupy

    x = cupy.ones(1 << 22, cupy.float32)
    y = cupy.empty_like(x)

    def copy() -> Any:
        y[...] = x
        return y

    contenders = [
        Contender(name, copy, x, device="cuda", batched=batched) for name, batched in (("one", False), ("many", True))
    ]
    figures = measure.contest(contenders, 3)
    assert 0 < figures["many"]["ms"] <= figures["one"]["ms"]


def test_on_a_cpu_a_batch_is_one_call() -> None:
    calls = []

    def run() -> np.ndarray:
        calls.append(1)
        return np.zeros(3)

    figures = measure.contest([Contender("x", run, np.zeros(3), batched=True)], 5)
    assert figures["x"]["repeats"] == 5
    assert len(calls) == 5 + 2  # verified, and its memory counted
