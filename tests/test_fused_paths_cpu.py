"""Shortest paths as compiled loops on the CPU: what the definitions find, to the last bit, by any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import bellman_ford, da2cf, delta_stepping, dijkstra, path, shortest_path_tree
from algorithms.fused.cpu import near_far, shared_relaxation
from bench.laboratory import bellman_ford_by
from formats import CSR, Matrix, from_edges
from semiring import OPERATORS, LorLand, MaxMin, MaxPlus, MinMax, MinPlus, Monoid, Semiring, explain
from semiring.cpu.threads import threads

from .graphs import Graph, graphs, small_weights, sources, wild_weights

ALGORITHMS = [bellman_ford, delta_stepping, da2cf, dijkstra]
Best = Monoid(
    OPERATORS["max"].__class__("best", lambda a, b: b if b > a else a, "b > a ? b : a"), "lowest", selective=True
)
Likeliest = Semiring(Best, OPERATORS["times"], (np.dtype(np.float64),), one=1, laws=MaxMin.laws, domain=(2**-20, 1))
"""Of the likeliest path, by operators of a user's own."""

SEMIRINGS = [
    *((MinPlus, dtype) for dtype in ("int32", "int64", "float32", "float64")),
    (MaxPlus, "float64"),
    (MinMax, "int32"),
    (MaxMin, "float32"),
    (LorLand, "bool"),
    (Likeliest, "float64"),
]


def weighted(graph: Graph, semiring: Semiring, dtype: str) -> Matrix:
    """The graph with weights by which no longer path is better."""
    A = graph.matrix(dtype)
    if semiring is MaxPlus:
        return A.with_values(-A.values)
    return A.with_values(1 / (1 + A.values)) if semiring is Likeliest else A


def agree(algorithm: Any, A: Matrix, *args: Any, **kwargs: Any) -> Any:
    """What the loops find, which is what the definition finds: distances, parents, or the same error."""
    try:
        right = algorithm(A, *args, return_parents=True, fused=False, **kwargs)
    except OverflowError as error:
        with pytest.raises(OverflowError, match=str(error).split(":")[0]):
            algorithm(A, *args, return_parents=True, **kwargs)
        return None
    told = explain(algorithm, A, *args, return_parents=True, **kwargs)
    assert {run.implementation for run in told.runs} == {"fused"}, told
    for x, y in zip(told.result, right, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
    return told.result


@pytest.fixture(params=[2, 3])
def sharing(request: Any, monkeypatch: Any) -> Any:
    """So many threads, which share graphs of any size."""
    monkeypatch.setattr(near_far, "MIN_NNZ_FOR_THREADS", 0)
    monkeypatch.setattr(near_far, "MIN_THREADS", 1)
    monkeypatch.setattr(near_far, "MIN_SHARED_EDGES", 0)
    monkeypatch.setattr(near_far, "EDGES_PER_THREAD", 1)
    with threads(request.param):
        yield request.param


@pytest.mark.parametrize(("semiring", "dtype"), SEMIRINGS, ids=lambda x: getattr(x, "name", x))
@given(graph=graphs(small_weights(np.dtype(np.int32)), max_n=12), source=sources, data=st.data())
@settings(max_examples=15)
def test_every_semiring_and_dtype(semiring: Any, dtype: str, graph: Graph, source: int, data: Any) -> None:
    A = weighted(graph, semiring, dtype)
    limit = data.draw(st.none() | st.integers(-3, 20))
    target = data.draw(st.none() | st.integers(0, graph.n - 1))
    algorithms = [bellman_ford, dijkstra] if semiring is not MinPlus else ALGORITHMS
    for algorithm in algorithms:
        agree(algorithm, A, source % graph.n, semiring, limit=limit, target=target)


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@given(graph=graphs(wild_weights(np.dtype(np.int32)), max_n=9), source=sources)
@settings(max_examples=15)
def test_weights_at_the_ends_of_the_range(dtype: str, graph: Graph, source: int) -> None:
    weights = tuple((u, v, w if w < 100 else np.float32(w) * 4e29) for u, v, w in graph.edges)
    A = (graph if dtype == "int32" else Graph(graph.n, weights)).matrix(dtype)
    for algorithm in ALGORITHMS:
        agree(algorithm, A, source % graph.n)


def hubs(dtype: str, n: int = 3000, seed: int = 3) -> Matrix:
    """A few vertices with most of the edges, many of which weigh nothing."""
    rng = np.random.default_rng(seed)
    src, dst = (n * rng.random((2, 12 * n)) ** 4).astype(np.int32)
    weights = rng.integers(0, 60, src.size)
    return from_edges(src, dst, weights.astype(dtype), shape=n, dup="min")


def long_paths(dtype: str, rows: int = 60) -> Matrix:
    """A grid."""
    at = np.arange(rows * rows, dtype=np.int32).reshape(rows, rows)
    src, dst = (
        np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()]),
        np.concatenate([at[:, 1:].ravel(), at[1:].ravel()]),
    )
    weights = np.random.default_rng(1).integers(1, 1000, 2 * src.size)
    both = np.concatenate([src, dst]), np.concatenate([dst, src])
    return from_edges(*both, weights.astype(dtype), shape=rows * rows)


@pytest.mark.parametrize("make", [hubs, long_paths])
@pytest.mark.parametrize("dtype", ["int32"])
def test_graphs_that_threads_share(make: Any, dtype: str, sharing: int) -> None:
    A = make(dtype)
    for algorithm in (bellman_ford, delta_stepping):
        for source in (0, 1, 2):
            d, _ = agree(algorithm, A, source)
    middle = np.median(d[d != MinPlus.zero(d.dtype)]).item()
    agree(bellman_ford, A, 2, limit=middle)
    agree(bellman_ford, A, 2, limit=0)
    agree(bellman_ford, A, 2, target=A.nrows // 2)
    for delta in (1, 50, 10**9, "max/degree"):
        agree(delta_stepping, A, 2, delta=delta)


def test_orders_without_a_step(sharing: int) -> None:
    for A in (hubs("float32"), long_paths("float32")):
        agree(bellman_ford, A, 0, MaxMin)
        agree(bellman_ford, A, 1, MaxMin, target=7)


def test_it_says_what_it_chose(sharing: int) -> None:
    A = hubs("int32")
    chosen = explain(bellman_ford, A, 0).runs[0].details
    assert chosen["schedule"] == "near-far"
    assert chosen["threads"] == sharing
    assert explain(delta_stepping, A, 0, delta=7).runs[0].details["delta"] == 7
    assert explain(dijkstra, A, 0).runs[0].details["threads"] == sharing


def test_a_small_graph_is_left_to_one_thread_and_so_is_a_short_list() -> None:
    with threads(3):
        assert explain(bellman_ford, hubs("int32"), 0).runs[0].details["threads"] == 1


def test_many_runs_are_one(sharing: int) -> None:
    A = hubs("int32")
    right = bellman_ford(A, 5, return_parents=True, fused=False)
    for _ in range(20):
        for x, y in zip(bellman_ford(A, 5, return_parents=True), right, strict=True):
            np.testing.assert_array_equal(x, y)


def drawn(seed: int) -> Matrix:
    """A random graph, by its seed with or without hubs, with weights of few or many values, and of any dtype."""
    rng = np.random.default_rng(seed)
    n, dtype = int(rng.integers(2, 400)), rng.choice(["int32", "int64", "float32", "float64"])
    src, dst = (n * rng.random((2, n * int(rng.integers(1, 9)))) ** rng.choice([1, 4])).astype(np.int32)
    if rng.random() < 0.5:  # long paths
        dst = np.minimum(src + dst % 4, n - 1)
    return from_edges(src, dst, rng.integers(0, rng.choice([2, 30, 1000]), src.size).astype(dtype), shape=n, dup="min")


@pytest.mark.parametrize(
    "cases", [pytest.param(60, marks=pytest.mark.quick), pytest.param(10_000, marks=pytest.mark.nightly)]
)
def test_any_number_of_threads_finds_the_same_bits(cases: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(near_far, "MIN_NNZ_FOR_THREADS", 0)
    monkeypatch.setattr(near_far, "MIN_THREADS", 1)
    monkeypatch.setattr(near_far, "MIN_SHARED_EDGES", 0)
    monkeypatch.setattr(near_far, "EDGES_PER_THREAD", 1)
    for seed in range(cases):
        A, rng = drawn(seed), np.random.default_rng(seed)
        source, semiring = int(rng.integers(A.nrows)), [MinPlus, MaxMin][seed % 8 == 0]
        bounds = {"limit": int(rng.integers(300))} if seed % 5 == 0 else {}
        bounds |= {"target": int(rng.integers(A.nrows))} if seed % 7 == 0 else {}
        right: Any = None
        for count in (1, 2, 4, 8):
            with threads(count):
                found = bellman_ford(A, source, semiring, **bounds)
            right = found if right is None else right
            assert np.array_equal(found, right), (seed, count)


@pytest.mark.parametrize("worth", [0, 1 << 30], ids=["shared", "alone"])
def test_lists_that_fill_up_are_moved_together(worth: int, monkeypatch: Any) -> None:
    A = hubs("int32")
    monkeypatch.setattr(near_far, "MIN_NNZ_FOR_THREADS", 0)
    monkeypatch.setattr(near_far, "MIN_THREADS", 1)
    monkeypatch.setattr(near_far, "MIN_SHARED_EDGES", worth)
    monkeypatch.setattr(near_far, "room_for", lambda n: n + A.longest())
    with threads(3):
        for delta in (1, 10**9):
            agree(delta_stepping, A, 0, delta=delta)


@pytest.mark.quick
def test_threads_write_nothing_behind_their_far_lists(monkeypatch: Any) -> None:
    """Of hubs that each improve the same vertices a list keeps what is out of date, while other entries are sifted."""
    hubs, far, near, made = np.arange(1, 42), np.arange(42, 14_042), np.arange(14_042, 20_042), []
    src = np.concatenate((np.zeros(hubs.size + far.size, int), np.repeat(hubs, near.size)))
    dst = np.concatenate((hubs, far, np.tile(near, hubs.size)))
    weights = np.concatenate((10 + hubs / 100, np.full(far.size, 1e6), np.repeat(9000.0 - 100 * hubs, near.size)))
    A, room, behind = (
        from_edges(src, dst, weights.astype(np.float32), shape=near[-1] + 1),
        shared_relaxation.room,
        20_000,
    )

    def guarded(threads: int, size: int, *types: np.dtype) -> Any:
        lists = room(threads, size, *types)
        made.append([np.full((2, threads, size + behind), -7, dtype) for dtype in types])
        return lists[0], tuple(part[:, :, :size] for part in made[-1]), *lists[2:]

    for name, least in (("MIN_NNZ_FOR_THREADS", 0), ("MIN_SHARED_EDGES", 0), ("MIN_THREADS", 2)):
        monkeypatch.setattr(near_far, name, least)
    monkeypatch.setattr(shared_relaxation, "room", guarded)
    with threads(1):
        right = delta_stepping(A, 0, delta=5.0)
    for count in [2, 4] * 12:  # who gets to which hub first differs from run to run
        with threads(count):
            np.testing.assert_array_equal(delta_stepping(A, 0, delta=5.0), right)
    assert len(made) >= 24
    assert all((part[:, :, -behind:] == -7).all() for lists in made for part in lists)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_edges_are_relaxed_up_to_the_largest_weight_and_from_full_lists(dtype: str, monkeypatch: Any) -> None:
    most = np.finfo(dtype).max if dtype.startswith("float") else np.iinfo(dtype).max
    for weights in ([most, 3, 1, 3], [most, most, 1, 3], [most - 1, 2, most, 3]):
        agree(bellman_ford, from_edges([0, 0, 1, 2], [1, 2, 2, 1], np.array(weights, dtype), shape=3), 0)
    for A in (hubs(dtype), long_paths(dtype)):
        for delta in (None, 1, 10**9):
            agree(delta_stepping, A, 2, delta=delta)
        agree(delta_stepping, A, 2, limit=100, target=A.nrows // 2)
        monkeypatch.setattr(near_far, "room_for", lambda n, A=A: n + A.longest())
        agree(delta_stepping, A, 2, delta=10**9)
        monkeypatch.undo()


def test_what_is_left_to_the_definitions() -> None:
    def why(algorithm: Any, A: Matrix, *args: Any, **kwargs: Any) -> str:
        told = explain(algorithm, A, *args, **kwargs).runs[0]
        assert told.implementation == "definition"
        return told.why

    A = Graph(3, ((0, 1, 2), (1, 2, 3))).matrix(np.int32)
    assert "schedule 'sweep'" in why(bellman_ford_by, A, 0, schedule="sweep")
    lawless = Semiring(MinPlus.add, MinPlus.mul, one=0)
    assert "laws=" in why(bellman_ford, A, 0, lawless)
    assert "extent" in why(shortest_path_tree, A, np.array([0.0, 2.0, 5.0]), 0, MinPlus)
    with pytest.raises(ValueError, match="not a fixpoint"):
        shortest_path_tree(A, np.array([0, 2, 9], np.int32), 0, MinPlus)


def test_trees_where_longer_paths_are_better() -> None:
    A = Graph(5, ((0, 1, 2), (0, 3, 1), (3, 2, 1), (1, 2, 0), (4, 4, -1))).matrix(np.int32)
    d = bellman_ford(A, 0)
    told = explain(shortest_path_tree, A, d, 0, MinPlus)
    assert told.runs[0].implementation == "fused"
    assert told.result.tolist() == shortest_path_tree(A, d, 0, MinPlus, fused=False).tolist()


def test_patterns_and_wide_indices() -> None:
    A = Graph(5, ((0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 3, 1))).matrix(np.int64).pattern()
    assert bellman_ford(A, 0, LorLand).tolist() == [True] * 4 + [False]
    ones = A.with_values(np.broadcast_to(np.int64(1), 4))
    d, parent = agree(bellman_ford, ones, 0)
    assert path(parent, 2) == [0, 1, 2]
    assert d.tolist()[:4] == [0, 1, 2, 1]
    wide = CSR.trusted(A.indptr.astype(np.int64), A.indices.astype(np.int64), np.ones(4, np.int64), (5, 5))
    agree(bellman_ford, wide, 0)


def test_a_single_vertex() -> None:
    for edges in ((), ((0, 0, 0),), ((0, 0, 5),)):
        A = from_edges(
            *np.array(edges, np.int32).reshape(-1, 3).T[:2], np.array([e[2] for e in edges], np.int64), shape=1
        )
        for algorithm in ALGORITHMS:
            assert [x.tolist() for x in agree(algorithm, A, 0)] == [[0], [-1]]
