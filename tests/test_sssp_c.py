"""The five questions about shortest paths: their rows are verified, and ask what they say."""

from __future__ import annotations

import heapq
import json
from pathlib import Path

import numpy as np
import pytest

from bench import peers
from bench.experiment import Setting, perform
from bench.experiments import extract_min, sssp_c
from bench.experiments.no_atomic import CODE as WITHOUT_ATOMICS
from bench.graphs import grid
from bench.measure import Contender, Disagreement
from formats.arrays import Device, to_device

from .test_codegen import compile_for_h100

pytestmark = pytest.mark.timing


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_a_quick_run_answers_every_question(device: Device, tmp_path: Path) -> None:
    rows = perform(sssp_c.SSSP_C, Setting(device, quick=True, repeats=3), tmp_path)
    (written,) = tmp_path.glob("sssp-c-*.jsonl")
    assert [json.loads(line) for line in written.read_text().splitlines()] == rows
    assert {path.suffix for path in tmp_path.iterdir()} == {".jsonl", ".svg", ".png"}
    assert list(dict.fromkeys(row["question"] for row in rows)) == ["ExtractMin", "Dijkstra", "queues", "delta", "SpMV"]
    compared = {
        "ExtractMin": {f"reduction, {threads} threads" for threads in (128, 256, 512, 1024)} | {"heap on the host"},
        "Dijkstra": {"reduction a vertex", "dijkstra, fused", "Boost"},
        "queues": {"fifo", "slf", "lll", "slf+lll", "frontier", "frontier, fused", "Boost"},
        "delta": {"median", "mean", "max/degree", "our own", "Boost"},
        "SpMV": {"sweeps, CSR", "sweeps, ELL", "frontier, fused", "Boost"},
    }
    for question, names in compared.items():
        assert names <= {row["contender"] for row in rows if row["question"] == question}
    for row in rows:
        assert {"graph", "n", "nnz"} <= row.keys()
        assert "missing" in row or (row["verified"] and row["ms"] > 0)
        assert "missing" not in row or device == "cpu" or row["contender"] == "Boost"


def test_what_is_wrong_stops_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    question = sssp_c.QUESTIONS[0]
    A = grid(4, dtype=np.int32)
    monkeypatch.setattr(sssp_c, "dijkstra", lambda M, source, fused=True: np.zeros(M.nrows, M.dtype))
    with pytest.raises(Disagreement, match="reduction a vertex computes something else"):
        list(sssp_c.answers(question, A, 1))


def test_without_boost_there_is_a_row_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"contender": "Boost", "missing": "libboost-graph-dev is not installed"}
    monkeypatch.setattr(peers, "rivals", lambda *args, **options: ([], [row]))
    *ours, last = sssp_c.answers(sssp_c.QUESTIONS[0], grid(3, dtype=np.int32), 1)
    assert last == row
    assert all("speedup" not in row for row in ours)


def test_an_ell_that_would_be_padding_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lowered here to where a small graph meets it."""
    monkeypatch.setattr("formats.storage.ell.MAX_UNQUESTIONED_BYTES", 0)
    monkeypatch.setattr("formats.storage.ell.MAX_RATIO_TO_CSR", 0.1)
    A = grid(3, dtype=np.int32)
    found = list(sssp_c.sweeps(A, sssp_c.bellman_ford(A, 0)))
    (refused,) = [row for row, _ in found if isinstance(row, dict)]
    assert refused["contender"] == "sweeps, ELL"
    assert "ELL" in refused["missing"]


def test_queues_that_choose_relax_fewer_edges() -> None:
    A = sssp_c.lists(300, "cpu")
    d = sssp_c.bellman_ford(A, 0)
    edges = {one.name: facts.get("edges") for one, facts in sssp_c.queues(A, d) if isinstance(one, Contender)}
    assert edges["slf+lll"] < edges["slf"] < edges["fifo"] <= edges["frontier"]


def test_rules_for_delta_are_what_they_say() -> None:
    A = sssp_c.lists(300, "cpu")
    d = sssp_c.bellman_ford(A, 0)
    Δ = {one.name: facts["delta"] for one, facts in sssp_c.widths(A, d) if isinstance(one, Contender)}
    degree = int(np.diff(A.indptr).max())
    assert Δ["median"] == pytest.approx(np.median(A.values), abs=1)
    assert Δ["mean"] == pytest.approx(A.values.mean(), abs=1)
    assert Δ["max/degree"] == pytest.approx(A.values.max() / degree, abs=1)


# --- ExtractMin -------------------------------------------------------------------------------------------------------


def test_the_smallest_key_names_the_nearest_vertex() -> None:
    keys = extract_min.keys_of(1000)
    distances, vertices = keys >> 32, keys & 0xFFFFFFFF
    assert vertices.tolist() == list(range(1000))
    assert int(keys.min()) & 0xFFFFFFFF == int(distances.argmin())


def test_a_heap_finds_as_many_keys_every_time() -> None:
    keys = extract_min.keys_of(100)
    extract = extract_min.heap(keys)
    assert {extract() for _ in range(50)} == {int(keys.min())}


def test_a_time_is_that_of_one_extraction(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = {"verified": True, "ms": 40.0, "low_ms": 20.0, "high_ms": 60.0}
    monkeypatch.setattr(extract_min, "contest", lambda found, repeats: {found[0].name: figures})
    row = next(extract_min.rows(Setting(quick=True)))
    assert (row["ms"], row["low_ms"], row["high_ms"], row["calls"]) == (2.0, 1.0, 3.0, 20)


def test_an_extraction_that_is_wrong_stops_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heapq, "heappop", lambda entries: entries.pop())
    with pytest.raises(Disagreement, match="heap on the host computes something else"):
        list(extract_min.rows(Setting(quick=True)))


@pytest.mark.parametrize("code", [extract_min.CODE, WITHOUT_ATOMICS], ids=["smallest", "relax_without_atomics"])
def test_the_experiments_kernels_compile_for_an_h100(code: str) -> None:
    assert compile_for_h100(code) == ""


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("n", [1, 10, 1023, 1 << 20, 3_000_000])
@pytest.mark.parametrize("threads", extract_min.THREADS)
def test_a_reduction_finds_the_smallest_key(n: int, threads: int) -> None:
    import cupy

    keys = extract_min.keys_of(n)
    found = extract_min.reduction(cupy.asarray(keys), threads)()
    assert int(to_device(found, "cpu")) == int(keys.min())
