"""Several sources in one pass: blocks, what is told, and what goes on one by one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, shortest_path_tree, sssp, trace
from algorithms.equations.bellman_ford import bellman_ford
from algorithms.equations.delta_stepping import delta_stepping
from algorithms.shared.single_source import Exact
from bench.graphs import rmat
from formats import CSR, from_edges, set_memory_limit
from formats import progress as bars
from semiring import MONOIDS, BinaryOp, MinPlus, Semiring, explain
from semiring.verbs.batch import Cell
from semiring.verbs.fusible import Fusible
from semiring.verbs.registry import Declined


class Loop:
    """A batch that solves its sources one by one, and notes how many it was given."""

    def __init__(self, algorithm: Fusible[..., Any], unsuited: bool = False) -> None:
        self.algorithm, self.unsuited, self.taken = algorithm, unsuited, list[int]()

    def __call__(self, A: CSR, sources: list[int], rows: Any, *args: Any, **kwargs: Any) -> Any:
        self.taken.append(len(sources))
        if self.unsuited:
            return Declined("a test says so")
        whole, answer = self.algorithm.cells[CSR, "cpu"], None
        for i, source in enumerate(sources):
            if self.algorithm is shortest_path_tree:
                rows[1][i] = whole(A, rows[0][i], source, *args)
                continue
            answer = whole(A, source, *args, **kwargs)
            found = answer.d if isinstance(answer, Exact) else answer
            for row, x in zip(rows, found if isinstance(found, tuple) else (found,), strict=False):
                if row is not None:
                    row[i] = x
        return answer


@pytest.fixture
def loop(monkeypatch):
    """Puts a `Loop` in the place of what is registered for CSR on the CPU."""

    def put(algorithm: Fusible[..., Any], most: int = 4, needs: int = 0, unsuited: bool = False) -> Loop:
        made = Loop(algorithm, unsuited)
        cell = Cell(made, most, lambda A, k: needs * k)
        monkeypatch.setitem(algorithm.batch.cells, (CSR, "cpu"), cell)
        return made

    return put


def graph() -> CSR:
    return rmat(7, 4)


def assert_rows(got: Any, algorithm: Any, A: Any, sources: list[int], **how: Any) -> None:
    """Each row is what its source gives alone."""
    for i, source in enumerate(sources):
        for row, x in zip(got, algorithm(A, source, return_parents=True, **how), strict=True):
            np.testing.assert_array_equal(row[i], x)


@pytest.mark.parametrize("algorithm", [bfs, delta_stepping, bellman_ford])
def test_sources_go_in_blocks(algorithm, loop):
    A, sources = graph(), [5, 0, 5, 7, 9, 1, 2, 3, 4]
    batch, trees = loop(algorithm), loop(shortest_path_tree)
    told = explain(algorithm, A, sources=sources, return_parents=True)
    assert_rows(told.result, algorithm, A, sources)
    assert batch.taken == [4, 4, 1]
    assert trees.taken == ([] if algorithm is bfs else [4, 4])
    assert [run.why for run in told.runs[:1]] == ["4 sources in one pass"]
    assert all(run.implementation == "fused" for run in told.runs)


@pytest.mark.parametrize("algorithm", [bfs, delta_stepping])
def test_what_a_batch_does_not_suit_goes_one_by_one(algorithm, loop):
    A, sources = graph(), [5, 0, 5]
    batch = loop(algorithm, unsuited=True)
    told = explain(algorithm, A, sources=sources, return_parents=True)
    assert_rows(told.result, algorithm, A, sources)
    assert batch.taken == [3]
    assert told.choices[0] == f"{algorithm.name} takes its sources one by one: a test says so"
    assert [run.algorithm for run in told.runs].count(algorithm.name) == 3


@pytest.mark.parametrize("algorithm", [bfs, delta_stepping])
def test_the_definition_and_a_trace_take_sources_one_by_one(algorithm, loop):
    A, batch = graph(), loop(algorithm)
    assert_rows(algorithm(A, sources=[0, 1], return_parents=True, fused=False), algorithm, A, [0, 1], fused=False)
    with trace() as t:
        algorithm(A, sources=[0, 1])
    assert {row.run for row in t.rounds} == {0, 1}
    assert batch.taken == []
    assert [len(algorithm(A, sources=few)) for few in ([], [3])] == [0, 1]
    assert batch.taken == []


def test_bounds_hold_for_each_source(loop):
    A, sources = graph(), [5, 0, 5, 7, 9]
    loop(delta_stepping)
    for bound in ({"limit": 7}, {"target": 3}, {"limit": 5, "target": 9}):
        assert_rows(sssp(A, sources=sources, return_parents=True, **bound), sssp, A, sources, **bound)


def test_a_distance_that_does_not_fit_is_seen_in_each_row(loop):
    most = np.iinfo(np.int32).max
    A = from_edges([0, 1, 2, 0, 4], [1, 2, 3, 4, 3], np.array([most - 2, 1, 1, 5, most - 1], np.int32))
    loop(delta_stepping)
    with pytest.raises(OverflowError, match="does not fit int32"):
        sssp(A, sources=[3, 2, 0])
    assert sssp(A, sources=[3, 2]).tolist() == [[most, most, most, 0, most], [most, most, 0, 1, most]]


def test_other_formats_go_by_their_rows(loop):
    A, batch = graph(), loop(bfs)
    assert_rows(bfs(A.to("csc"), sources=[3, 1], return_parents=True), bfs, A, [3, 1])
    assert batch.taken == [2]


def test_blocks_are_smaller_where_memory_is_short(loop, monkeypatch):
    A, batch = graph(), loop(bfs, most=64, needs=1 << 40)
    told = explain(bfs, A, sources=[1, 2, 3])
    assert batch.taken == []
    assert "no memory for two at once, which take 2,199,023,255,552 bytes" in told.choices[0]
    batch = loop(bfs, most=64, needs=1 << 20)
    set_memory_limit("64GiB", "cpu")
    try:
        monkeypatch.setattr("formats.places.resident_bytes", lambda: (64 << 30) - (5 << 20))
        bfs(A, sources=list(range(16)))
    finally:
        set_memory_limit(None, "cpu")
    assert batch.taken == [4, 4, 4, 4]


@pytest.mark.parametrize(("on_host", "parents", "size"), [(True, False, 1), (False, False, 4), (False, True, 2)])
def test_an_answer_on_a_gpu_has_its_memory_already(on_host, parents, size):
    place = SimpleNamespace(on_host=on_host, questions=lambda needed: True, available_bytes=lambda: 8)
    rows: Any = (np.zeros(8, np.int8), np.zeros(0) if parents else None)
    cell = Cell(print, 64, needs=lambda A, k: 2 * k, for_parents=lambda A, k: 2 * k)
    assert bfs.batch._size(SimpleNamespace(place=place), cell, 4, rows) == size  # type: ignore[arg-type]


def test_an_answer_that_does_not_fit_is_refused():
    A = from_edges([0], [1], shape=1 << 20)
    with pytest.raises(MemoryError, match="bfs from 1,048,576 sources, for its answer alone, needs"):
        bfs(A, sources=np.arange(1 << 20))


def test_a_cell_is_registered_once():
    register = bfs.batch.implement(Loop, "nowhere", most=2, needs=lambda A, k: 0)  # type: ignore[arg-type]
    try:
        register(print)
        with pytest.raises(ValueError, match="bfs's batch is implemented for Loop on nowhere already"):
            register(print)
    finally:
        del bfs.batch.cells[Loop, "nowhere"]


@pytest.mark.parametrize(("terminal", "shown"), [(True, ["bfs from 5 sources"]), (False, [])])
def test_a_bar_shows_how_many_are_done(terminal, shown, loop, monkeypatch):
    loop(bfs, most=2)
    started, start = list[str](), bars.Bar._start
    monkeypatch.setattr(bars.Bar, "_start", lambda bar: started.append(bar._name) or start(bar))
    monkeypatch.setattr(bars, "BAR_AFTER_SECONDS", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    assert len(bfs(graph(), sources=range(5))) == 5
    assert started == shown


def test_the_laws_that_a_batch_relies_on_are_told(loop):
    loop(bellman_ford)
    own = Semiring(MONOIDS["min"], BinaryOp("sum", lambda a, b: a + b), one=0, laws=MinPlus.laws)
    told = explain(bellman_ford, graph(), None, own, sources=[1, 2])
    assert "relied on as min_sum declares them" in told.runs[0].details["laws"]
