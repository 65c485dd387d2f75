"""Shortest paths from several sources in one pass have the very bits that they have one by one."""

from __future__ import annotations

import numpy as np
import pytest

import algorithms.fused.cpu.batched_lanes as batched_lanes
import algorithms.fused.cpu.batched_paths as batched_paths
import algorithms.fused.cpu.batched_trees as batched_trees
import algorithms.fused.cpu.near_far as near_far
from algorithms import NegativeCycle, shortest_path_tree, sssp
from algorithms.equations.bellman_ford import bellman_ford
from algorithms.equations.delta_stepping import delta_stepping
from algorithms.fused.cpu.essential import ESSENTIAL
from algorithms.shared.single_source import Until
from bench.graphs import grid, rmat
from formats import CSR, DTYPES, from_edges
from semiring import SEMIRINGS, BinaryOp, MaxMin, MaxPlus, MinMax, MinPlus, Semiring, explain, threads

from .fused_graphs import KINDS, one_graph, shaped, shapes, side_by_side, weights
from .test_batch_answers import assert_as_one_by_one, some
from .test_essential_edges import always, hubs
from .test_footprint import peak

NUMBERS = [dtype for dtype in DTYPES if dtype.kind != "b"]
INT32 = np.dtype(np.int32)


@pytest.fixture(params=[1, 2], ids="{} threads".format)
def count(request, monkeypatch):
    """So many threads, for however little there is to do."""
    monkeypatch.setattr(batched_paths, "MIN_WORK_FOR_THREADS", 0)
    monkeypatch.setattr(batched_trees, "MIN_WORK_FOR_THREADS", 0)
    with threads(request.param):
        yield request.param


def ways(A: CSR, sources: list[int], s: Semiring = MinPlus) -> list[str]:
    """How the distances and the trees were taken, in words."""
    told = explain(bellman_ford, A, None, s, sources=sources, return_parents=True)
    return [str(run.details.get("schedule")) for run in told.runs]


@pytest.mark.parametrize("s", [MinPlus, MaxPlus, MinMax, MaxMin], ids=str)
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_every_semiring_and_dtype(s, dtype, count):
    rng = np.random.default_rng(5)
    for kind in KINDS:
        A = side_by_side(rng, 8, kind, s, dtype)
        assert_as_one_by_one(bellman_ford, A, some(A, 21), s)
        B = one_graph(rng, kind, s, dtype)
        assert_as_one_by_one(bellman_ford, B, some(B, 9), s)


@pytest.mark.parametrize("name", [name for name, s in SEMIRINGS.items() if s.add.selective])
def test_every_semiring_that_has_paths(name, count):
    s = SEMIRINGS[name]
    rng = np.random.default_rng(8)
    dtype = next(dtype for dtype in reversed(DTYPES) if dtype in s.dtypes)
    values = rng.random(400) if dtype.kind == "f" else rng.integers(0, 2, 400)
    A = from_edges(*rng.integers(0, 60, (2, 400)), values.astype(dtype), shape=60, dup="first")
    try:
        bellman_ford(A, 0, s)
    except (ValueError, NegativeCycle) as refused:
        with pytest.raises(type(refused), match=str(refused)[:30].replace("(", ".")):
            bellman_ford(A, None, s, sources=[0, 1, 2])
        return
    assert_as_one_by_one(bellman_ford, A, some(A, 20), s)


def test_numbers_of_sources(count):
    A = rmat(8, 4)
    for number in (0, 1, 2, 3, 15, 16, 17, 65):
        assert_as_one_by_one(delta_stepping, A, some(A, number))


def test_graphs_of_awkward_shapes(count):
    for shape in shapes(large=3000, long=300).values():
        for kind in ("ties", "spread"):
            A = shaped(shape, INT32, kind)
            assert_as_one_by_one(sssp, A, some(A, 9))


def test_parallel_edges_and_matrices_of_64_bit_indices(count):
    rng = np.random.default_rng(3)
    u, v = rng.integers(0, 40, (2, 900))
    A = from_edges(u, v, rng.integers(0, 9, 900).astype(INT32), shape=40)
    B = CSR.trusted(A.indptr.astype(np.int64), A.indices.astype(np.int64), A.values, A.shape)
    for M in (A, B):
        assert_as_one_by_one(sssp, M, some(M, 20))


def test_bounds_hold_for_each_source(count):
    A = rmat(9, 8)
    for how in ({"limit": 40}, {"limit": 0}, {"target": 3}, {"limit": 90, "target": 9}, {"delta": 7}):
        assert_as_one_by_one(delta_stepping, A, some(A, 20), **how)


def test_a_distance_that_does_not_fit_is_seen(count):
    most = np.iinfo(INT32).max
    A = from_edges([0, 1, 2, 0, 4], [1, 2, 3, 4, 3], np.array([most - 2, 1, 1, 5, most - 1], INT32))
    with pytest.raises(OverflowError, match="does not fit int32"):
        sssp(A, sources=[3, 2, 0])
    assert_as_one_by_one(sssp, A, [3, 2])


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_negative_weights_have_a_queue_for_each_source(dtype, count):
    rng = np.random.default_rng(2)
    for s in (MinPlus, MaxPlus):
        A = side_by_side(rng, 12, "ties", s, dtype, potentials=True)
        for number in (1, 2, 9, 65):
            assert_as_one_by_one(sssp, A, some(A, number), s)
        assert ways(A, some(A, 9), s)[0] == "a queue for each source"
        assert_as_one_by_one(sssp, A, some(A, 9), s, limit=4)
        told = explain(sssp, A, None, s, sources=some(A, 9), target=3)
        assert told.choices[0].startswith("bellman_ford takes its sources one by one: paths gain by length, and may")


def test_a_cycle_or_a_sum_that_does_not_fit_is_told_as_one_by_one(count):
    B = from_edges([0, 1, 2], [1, 2, 1], [1.0, -3.0, 2.0])
    with pytest.raises(NegativeCycle) as raised:
        sssp(B, sources=[1, 0])
    assert raised.value.cycle == [1, 2, 1]
    most = np.iinfo(INT32).max
    C = from_edges([0, 1, 2, 4], [1, 2, 3, 4], np.array([most - 2, 1, 5, -1], INT32))
    with pytest.raises(OverflowError, match="does not fit int32"):
        sssp(C, sources=[3, 0, 4])
    with pytest.raises(NegativeCycle):
        sssp(C, sources=[3, 4, 0])
    assert_as_one_by_one(sssp, C, [3, 2, 1])


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_edges_that_matter_are_enough(dtype, count, monkeypatch):
    monkeypatch.setattr(batched_lanes, "MIN_SOURCES", 21)
    rng = np.random.default_rng(1)
    with always():
        A = hubs(dtype.name, n=900)
        assert_as_one_by_one(delta_stepping, A, some(A, 70))
        for number, schedule in ((20, "a search for each thread"), (70, "a lane for each source")):
            facts = explain(delta_stepping, A, sources=some(A, number)).runs[0].details
            assert facts["schedule"] == schedule
            assert 0 < facts["essential"] < A.nnz / 2
        for kind in KINDS:
            for B in (side_by_side(rng, 12, kind, MinPlus, dtype), one_graph(rng, kind, MinPlus, dtype)):
                assert_as_one_by_one(bellman_ford, B, some(B, 21))
                assert_as_one_by_one(bellman_ford, B, some(B, 65))


def test_sources_that_they_do_not_serve_have_all_edges(count):
    """A path of heavy edges leads into a graph of floats: beyond some length, rounding is not allowed for."""
    with always():
        A = hubs("float32", n=900)
        (u, v, w), n, more = A.to_edges(), A.nrows, 99
        path = np.arange(n, n + more)
        ends = np.append(0, path[:-1])
        B = from_edges(np.append(u, path), np.append(v, ends), np.append(w, np.full(more, w.max())), shape=n + more)
        sources = [n, n + 50, *some(A, 60), n + more - 1, n + more - 2, n]
        assert_as_one_by_one(delta_stepping, B, sources)
        found = B.keep(ESSENTIAL, lambda: None, MinPlus)
        assert found is not None
        assert {found.serves(source) for source in sources} == {True, False}


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_any_graph_with_edges_that_matter(dtype, count, monkeypatch):
    """Most vertices lead to the hub, from which an edge leads to most of them, or back again."""
    monkeypatch.setattr(batched_lanes, "MIN_SOURCES", 1)
    rng = np.random.default_rng(6)
    with always():
        for kind in KINDS:
            for _ in range(4):
                A = side_by_side(rng, 30, kind, MinPlus, dtype)
                u, v, w = A.to_edges()
                back = rng.permutation(A.nrows)[: A.nrows // 2]
                u, v = np.append(u, back), np.append(v, 0 * back)
                B = from_edges(u, v, np.append(w, weights(rng, kind, MinPlus, dtype, back.size)), shape=A.nrows)
                try:
                    assert_as_one_by_one(delta_stepping, B, some(B, 40))
                except OverflowError:
                    assert kind == "ends"


@pytest.mark.parametrize(
    ("s", "dtype"), [*zip([MinPlus, MaxPlus, MinMax, MaxMin], NUMBERS, strict=True), (MaxMin, INT32)]
)
def test_any_graph_by_lanes(s, dtype, count, monkeypatch):
    monkeypatch.setattr(batched_lanes, "MIN_SOURCES", 1)
    monkeypatch.setattr(near_far, "MIN_SKEW", -1)
    rng = np.random.default_rng(9)
    for kind in KINDS:
        for A in (side_by_side(rng, 30, kind, s, dtype), one_graph(rng, kind, s, dtype)):
            assert_as_one_by_one(bellman_ford, A, some(A, 40), s)
            told = explain(bellman_ford, A, None, s, sources=some(A, 2)).runs[0].details
            assert A.keeps(batched_lanes.APART, s) or told["schedule"] == "a lane for each source"


def test_lanes_on_long_paths_and_where_they_are_given_up(count, monkeypatch):
    monkeypatch.setattr(near_far, "MIN_SKEW", -1)
    for most, given_up in ((1 << 20, False), (0, True)):
        apart = set[bool]()
        monkeypatch.setattr(batched_lanes, "MAX_LOOKS_PER_EDGE", most)
        for shape in shapes(large=2000, long=1500).values():
            A = shaped(shape, INT32, "spread")
            assert_as_one_by_one(bellman_ford, A, some(A, 24), MaxMin)
            apart.add(A.keeps(batched_lanes.APART, MaxMin))
        assert (True in apart) == given_up


def test_memory_is_within_what_was_said(count):
    A = rmat(13, 16)
    sssp(A, sources=some(A, 64), return_parents=True)
    for number in (3, 20, 64):
        sources = some(A, number)
        rows = sssp(A, sources=sources, return_parents=True)
        for algorithm, args in ((delta_stepping, (MinPlus, Until(MinPlus))), (shortest_path_tree, (MinPlus,))):
            cell = algorithm.batch.cells[CSR, "cpu"]
            assert peak(lambda: cell.run(A, sources, rows, *args)) <= cell.needs(A, number) + (1 << 16)  # noqa: B023


def test_how_sources_are_taken_is_told(count):
    A = grid(20)
    assert ways(A, some(A, 20)) == ["a search for each thread", "a lane for each source"]
    assert ways(A, some(A, 3)) == ["a search for each thread", "a source for each thread"]
    own = Semiring(MinPlus.add, BinaryOp("sum", lambda a, b: a + b), one=0, laws=MinPlus.laws)
    assert ways(A, some(A, 20), own) == ["a search for each thread", "a source for each thread"]
    assert_as_one_by_one(bellman_ford, A, some(A, 20), own)


def test_distances_that_are_no_fixpoint_are_refused(count):
    A = grid(9)
    d = sssp(A, sources=list(range(20)))
    parents = np.empty(d.shape, np.int32)
    d[7, 30] -= 1 if d[7, 30] else -1
    blocks = list(shortest_path_tree.batch.blocks(A, list(range(20)), (d, parents), MinPlus))
    assert [len(block.sources) for block in blocks] == [1] * 20
    assert "no fixpoint" in blocks[0].answer.why


def test_searches_that_share_their_steps_go_one_by_one(monkeypatch):
    monkeypatch.setattr(batched_paths, "threads_for", lambda A: 4)
    A = grid(9)
    with threads(8):
        assert "all threads share each search" in explain(sssp, A, sources=[1, 2, 3]).choices[0]
        assert_as_one_by_one(sssp, A, [1, 2, 3, 4])
