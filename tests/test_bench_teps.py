"""Experiments in edges a second: Afanasyev and Voevodin's figures 4 and 7 to 11, and Kolganov's spanning forests."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from algorithms import bellman_ford, bfs
from bench.commands import app
from bench.experiment import Row, Setting
from bench.experiments import EXPERIMENTS, afanasyev, afanasyev_scc, kolganov, teps
from bench.measure import Disagreement
from formats import COO, CSR, SegmentedCOO, from_edges

pytestmark = pytest.mark.timing

PAPERS = "afanasyev", "kolganov"
OURS = [name for name, each in EXPERIMENTS.items() if name.startswith(PAPERS) and "cpu" in each.devices]
TINY = Setting(quick=True, repeats=1)


def small(scale: int = 6) -> teps.Graph:
    return afanasyev.directed(scale)


def fused(name: str = "fused", **options: object) -> teps.Way:
    return teps.Way(name, "cpu", bellman_ford, **options)


@pytest.fixture(scope="module", params=OURS)
def quick(request, tmp_path_factory) -> tuple[str, list[Row], Path]:
    """(name, rows, folder) of a quick run of each experiment."""
    folder = tmp_path_factory.mktemp(request.param)
    done = CliRunner().invoke(app, [request.param, "--quick", "--repeats", "1", "--output", str(folder)])
    assert done.exit_code == 0, done.output
    (rows,) = folder.glob("*.jsonl")
    return request.param, [json.loads(line) for line in rows.read_text().splitlines()], folder


def test_a_quick_run_writes_rows_and_plots(quick):
    name, rows, folder = quick
    assert {path.suffix for path in folder.iterdir()} == {".jsonl", ".svg", ".png"}
    assert all(path.name.startswith(name) for path in folder.iterdir())
    assert len({row["graph"] for row in rows}) >= 2


def test_every_row_is_verified_and_its_rate_follows_from_its_time(quick):
    _, rows, _ = quick
    for row in rows:
        if "missing" in row:
            continue
        assert row["verified"] is True
        assert row["checked"]
        assert row["mteps"] == pytest.approx(row["nnz"] / row["ms"] / 1e3, rel=1e-4)
        if "sweeps" in row:
            assert row["visited_mteps"] == pytest.approx(row["sweeps"] * row["mteps"], rel=1e-3)


def test_every_way_is_on_every_graph(quick):
    _, rows, _ = quick
    names = {row["contender"] for row in rows}
    for graph in {row["graph"] for row in rows}:
        assert {row["contender"] for row in rows if row["graph"] == graph} == names


def test_fused_rows_ran_as_a_whole(quick):
    name, rows, _ = quick
    ran = [row["implementation"] for row in rows if row["contender"].endswith("fused")]
    assert set(ran) == {"fused"}, name


def test_shares_are_of_the_whole(quick):
    name, rows, _ = quick
    if name == "kolganov-mst":
        split = [row for row in rows if "rounds" in row]
        assert all(sum(row[share] for share in kolganov.PROCEDURES) == pytest.approx(1, abs=1e-3) for row in split)
        assert all(0 < row[share] < 1 for row in split for share in kolganov.PROCEDURES)
    elif name in ("afanasyev-fig10", "afanasyev-fig11"):
        split = [row for row in rows if "trim_share" in row]
        assert all(row["trim_share"] + row["search_share"] <= 1 for row in split)
    else:
        return
    assert split


def test_a_wrong_way_stops_the_experiment():
    wrong = teps.Way("wrong", "cpu", lambda A, source: bellman_ford(A, source) + 1)
    with pytest.raises(Disagreement, match="wrong computes something else"):
        list(teps.measured(small(), [fused(), wrong], teps.PATHS, TINY))


def test_a_wrong_answer_of_ours_stops_the_experiment():
    task = teps.Task(lambda A, source, **how: bellman_ford(A, source) + 1, teps.PATHS.independent)
    with pytest.raises(Disagreement, match="does not pass the check by equation"):
        list(teps.measured(small(), [fused()], task, TINY))


def test_what_nothing_independent_checks_is_checked_by_the_definition():
    A = small().make(6, device="cpu")
    unchecked = teps.Task(bfs, lambda problem, answer: iter(()))
    answer, checked = teps.reference(unchecked, A, 0)
    assert checked == "definition"
    assert np.array_equal(answer, bfs(A, 0))
    wrong = teps.Task(lambda A, source, fused=True: bfs(A, source) + fused, unchecked.independent)
    with pytest.raises(Disagreement, match="by definition"):
        teps.reference(wrong, A, 0)


def test_what_has_no_room_is_a_row_and_the_rest_is_measured():
    def refuse(A: CSR) -> CSR:
        raise MemoryError("8 bytes are needed, 0 are free")

    rows = list(teps.measured(small(), [fused(), fused("large", form=refuse)], teps.PATHS, TINY))
    missing = {row["contender"]: row.get("missing") for row in rows}
    assert missing == {"fused": None, "large": "no room: 8 bytes are needed, 0 are free"}


def test_a_call_that_has_no_room_is_a_row_and_the_rest_is_measured():
    def refuse(A: CSR, source: int) -> None:
        raise MemoryError("the call needs more")

    rows = list(teps.measured(small(), [teps.Way("large", "cpu", refuse), fused()], teps.PATHS, TINY))
    missing = {row["contender"]: row.get("missing") for row in rows}
    assert missing == {"large": "no room: the call needs more", "fused": None}


def test_a_graph_that_has_no_room_is_a_row_for_each_way():
    def refuse(scale: int, device: str) -> CSR:
        raise MemoryError("too large")

    rows = list(teps.measured(teps.Graph("R-MAT", 6, refuse), [fused(), fused("b")], teps.PATHS, TINY))
    assert [(row["contender"], row["n"], row["missing"]) for row in rows] == [
        ("fused", 64, "no room: too large"),
        ("b", 64, "no room: too large"),
    ]


def test_a_way_is_left_out_beyond_its_largest_scale():
    (row,) = teps.measured(small(), [fused(largest=5)], teps.PATHS, TINY)
    assert row["missing"] == "left out: more than 2^5 vertices would take too long"


def test_orders_of_the_edges_are_what_they_are_called():
    A = from_edges([0, 0, 2, 3], [3, 1, 0, 2], np.ones(4, np.float32))
    assert isinstance(afanasyev.listed(A), COO)
    by_source, by_destination = afanasyev.reordered(A), afanasyev.regrouped(A)
    assert isinstance(by_source, SegmentedCOO)
    assert by_source.inner.tolist() == [0, 1, 2, 3]  # one segment of sources: by destination
    assert by_destination.inner.tolist() == [0, 0, 2, 3]  # one segment of destinations: by source
    assert by_source.equals(A)
    assert by_destination.equals(A)


def test_sweeps_are_counted():
    path = from_edges([0, 1, 2], [1, 2, 3], np.ones(3, np.float32), shape=4)
    assert afanasyev.number_of_sweeps(path, 0) == {"sweeps": 4}  # the last changes nothing


def test_levels_by_sweeps_are_levels():
    A = afanasyev_scc.network(6).make(6, device="cpu")
    M = afanasyev.reordered(afanasyev_scc.unweighted(A, np.float32))
    assert A.dtype == bool
    assert np.array_equal(afanasyev_scc.swept_levels(M, 0), bfs(A, 0))
    assert (bfs(A, 0) == -1).any()


def test_a_call_with_copies_takes_a_fresh_matrix_from_the_host(monkeypatch):
    """Devices apart: with every move noted, and nothing moved."""
    A, moves = small().make(6, device="cpu"), []
    monkeypatch.setattr(CSR, "to", lambda self, fmt=None, *, device=None: moves.append(device) or self)
    contender, facts = teps.prepared(teps.Way("GPU", "cuda", bellman_ford), A, 0, bellman_ford(A, 0))
    assert moves == ["cpu"]
    assert contender.agrees(contender.with_transfers())
    assert moves == ["cpu", "cuda"]
    assert facts["device"] == "cuda"


def test_a_line_with_copies_stands_beside_the_one_without():
    row = {"contender": "GPU, fused", "family": "R-MAT", "n": 64, "mteps": 5.0, "with_transfers_mteps": 1.0}
    assert [(point["line"], point["figure"]) for point in teps.curves([row])] == [
        ("GPU, fused", 5.0),
        ("GPU, fused, with copies", 1.0),
    ]


def test_nothing_is_drawn_of_no_rows():
    assert all(EXPERIMENTS[name].plot([]) is None for name in OURS)


@pytest.mark.backend("cuda")
def test_rows_on_a_gpu_have_figures_with_copies(tmp_path):
    done = CliRunner().invoke(app, ["afanasyev-fig8", "--quick", "--device", "cuda", "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    (path,) = tmp_path.glob("*.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    there = [row for row in rows if row["device"] == "cuda"]
    assert there
    assert all(row["with_transfers_mteps"] < row["mteps"] for row in there)
