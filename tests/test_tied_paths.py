"""Shortest paths with the fewest edges, and how many there are, beside NetworkX's lists of all shortest paths."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import NegativeCycle, bfs, count_shortest_paths, fewest_edges, path, sssp
from bench.graphs import rmat
from formats import CSR, Matrix, from_edges
from semiring import MaxPlus, explain

from .conftest import Backend
from .graphs import on_cpu
from .networks import Network, random_networks, wiki_vote
from .strategies import FORMATS, OPTIONS

FAR = 2**31 - 1
every_format = pytest.mark.parametrize(
    ("fmt", "backend"), [Backend(backend).param(fmt, name=fmt.__name__) for backend in Backend for fmt in FORMATS]
)


def all_paths(G: Any, source: int, *, weight: str | None = "weight", method: str = "dijkstra") -> dict[int, list[int]]:
    """Of each vertex that a source leads to, the numbers of edges of all its shortest paths."""
    reached = [v for v in G if nx.has_path(G, source, v)]
    return {v: [len(p) - 1 for p in nx.all_shortest_paths(G, source, v, weight=weight, method=method)] for v in reached}


def check(network: Network, source: int, *, counted: bool = True, **how: Any) -> None:
    A, G = network
    right = all_paths(G, source, **how)
    found: Any = fewest_edges(A, source, return_parents=True)
    d, edges, parent = found
    np.testing.assert_array_equal(d, sssp(A.astype(np.int32) if A.dtype == bool else A, source))
    assert edges.tolist() == [min(right[v]) if v in right else -1 for v in range(len(G))]
    assert all(len(path(parent, v)) == edges[v] + 1 and path(parent, v)[0] == source for v in right)
    for fused in (True, False) if counted else ():
        again, count = count_shortest_paths(A, source, fused=fused)
        np.testing.assert_array_equal(again, d)
        assert count.tolist() == [len(right.get(v, [])) for v in range(len(G))]


def test_random_networks_have_networkxs_paths() -> None:
    for A, G in random_networks(low=1):
        if A.nrows:
            check((A, G), A.nrows // 2)


def test_weights_of_zero_tie() -> None:
    for A, G in random_networks(60, low=0, high=2):
        if A.nrows:
            check((A, G), A.nrows // 2, counted=False)


def test_negative_weights_tie() -> None:
    rng = np.random.default_rng(5)
    for n in range(2, 42):
        u, v = np.sort(rng.integers(0, n, (2, 3 * n)), axis=0)
        A = from_edges(u[u < v], v[u < v], rng.integers(-3, 4, int((u < v).sum())), shape=n)
        check((A, A.to_networkx()), 0, method="bellman-ford")


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_every_dtype_of_weights(dtype: str) -> None:
    for A, G in random_networks(40, low=1, high=3, seed=3):
        if A.nrows:
            check(((A.astype("float64") * 4).astype(dtype), G), 0)


def test_floats_tie_by_their_bits_as_networkx_adds_them() -> None:
    """0.1 + 0.2 is not 0.3, and 1e16 + 1 is 1e16."""
    A = from_edges([0, 1, 0, 0, 3, 4, 0], [1, 2, 2, 3, 4, 5, 5], [0.1, 0.2, 0.3, 1e16, 1.0, 1.0, 1e16])
    check((A, A.to_networkx()), 0)
    assert count_shortest_paths(A, 0)[1].tolist() == [1, 1, 1, 1, 1, 2]
    rng = np.random.default_rng(7)
    for n in range(2, 60):
        A = from_edges(*rng.integers(0, n, (2, 4 * n)), rng.choice([0.1, 0.2, 0.3, 0.7, 1 / 3], 4 * n), shape=n)
        check((A, A.to_networkx()), 0)


def test_every_edge_of_a_boolean_matrix_counts_1() -> None:
    for A, G in random_networks(40):
        if A.nrows:
            check((A.pattern(), G), 0, weight=None)
    P = wiki_vote()[0].pattern()
    d, edges = fewest_edges(P, 30)
    level = bfs(P, 30)
    np.testing.assert_array_equal(edges, level)
    np.testing.assert_array_equal(d, np.where(level < 0, FAR, level))


@cache
def many() -> tuple[CSR, list[int]]:
    return rmat(9, dtype=np.int32, high=3), [1, 7, 7, 30]


@every_format
def test_every_format_has_the_answer_of_csr(fmt: type[Matrix], backend: str) -> None:
    A, sources = many()
    M = A.to(fmt, **({"force": True} if "force" in OPTIONS.get(fmt, {}) else {})).to(device=backend)
    for function, how in (
        (fewest_edges, {"return_parents": True}),
        (count_shortest_paths, {}),
        (count_shortest_paths, {"dtype": "float64"}),
        (count_shortest_paths, {"fused": False}),
    ):
        ours: Any = function
        rows = ours(M, sources=sources, **how)
        one = ours(M, sources[1], **how)
        for part, row, right in zip(one, rows, ours(A, sources[1], **how), strict=True):
            assert part.dtype == row.dtype == right.dtype
            np.testing.assert_array_equal(on_cpu(part), right)
            np.testing.assert_array_equal(on_cpu(row[1]), right)
            np.testing.assert_array_equal(on_cpu(row[2]), right)


def test_no_sources_and_graphs_of_one_vertex() -> None:
    A = from_edges([], [], [], shape=1)
    assert [part.tolist() for part in fewest_edges(A, 0, return_parents=True)] == [[0], [0], [-1]]
    assert [part.tolist() for part in count_shortest_paths(A, 0)] == [[0], [1]]
    assert [part.shape for part in fewest_edges(A, sources=[], return_parents=True)] == [(0, 1)] * 3
    assert [part.shape for part in count_shortest_paths(A, sources=[])] == [(0, 1)] * 2


def test_longest_paths_in_max_plus() -> None:
    A = from_edges([0, 1, 0, 2, 3], [1, 3, 2, 3, 4], [2, 3, 4, 1, 1])
    assert [part.tolist() for part in count_shortest_paths(A, 0, MaxPlus)] == [[0, 2, 4, 5, 6], [1, 1, 1, 2, 2]]
    longer = from_edges([0, 1, 0], [1, 2, 2], [1, 2, 3])
    assert [part.tolist() for part in fewest_edges(longer, 0, "max_plus")] == [[0, 1, 3], [0, 1, 1]]


def diamonds(k: int) -> CSR:
    """k diamonds one after the other: 2^k shortest paths."""
    a, b = 3 * np.arange(k), 3 * np.arange(1, k + 1)
    return from_edges(*np.array([[a, a, a + 1, a + 2], [a + 1, a + 2, b, b]]).reshape(2, -1), np.ones(4 * k))


@pytest.mark.parametrize("fused", [True, False])
def test_numbers_that_int64_does_not_hold_are_refused(fused: bool) -> None:
    assert count_shortest_paths(diamonds(62), 0, fused=fused)[1].max() == 2**62
    for k in (63, 64, 65, 130):
        with pytest.raises(OverflowError, match="does not fit int64: dtype='float64'"):
            count_shortest_paths(diamonds(k), 0, fused=fused)
        assert count_shortest_paths(diamonds(k), 0, dtype="float64", fused=fused)[1].max() == 2.0**k
    with np.errstate(over="ignore"):
        assert count_shortest_paths(diamonds(1100), 0, dtype="float64", fused=fused)[1].max() == np.inf


@pytest.mark.quick
@pytest.mark.parametrize("fused", [True, False])
def test_a_cycle_that_adds_nothing_is_refused_by_the_count_alone(fused: bool) -> None:
    A = from_edges([0, 1, 2, 3, 1], [1, 2, 3, 2, 4], [5, 1, 0, 0, 1])
    with pytest.raises(ValueError, match="a cycle adds nothing to their length: 2 -> 3 -> 2"):
        count_shortest_paths(A, 0, fused=fused)
    assert fewest_edges(A, 0)[1].tolist() == [0, 1, 2, 3, 2]
    assert count_shortest_paths(A, 4, fused=fused)[1].tolist() == [0, 0, 0, 0, 1]  # which reaches no cycle
    with pytest.raises(ValueError, match="2 -> 3 -> 2"):
        count_shortest_paths(A, 3, fused=fused)  # which lies on it
    absorbed = from_edges([0, 1, 2], [1, 2, 1], [1e20, 1.0, 1.0])  # by rounding
    with pytest.raises(ValueError, match="1 -> 2 -> 1"):
        count_shortest_paths(absorbed, 0, fused=fused)
    looped = from_edges([0, 0, 1, 2], [0, 1, 2, 2], [0, 0, 4, 0])
    assert count_shortest_paths(looped, 0, fused=fused)[1].tolist() == [1, 1, 1]
    negative = from_edges([0, 1, 2, 0], [1, 2, 1, 2], [5, -3, 3, 2])
    with pytest.raises(ValueError, match="1 -> 2 -> 1"):
        count_shortest_paths(negative, 0, fused=fused)


@pytest.mark.quick
def test_what_has_no_answer_is_refused() -> None:
    A = from_edges([0, 1], [1, 0], [1, -2])
    for function in (fewest_edges, count_shortest_paths):
        ours: Any = function
        with pytest.raises(NegativeCycle):
            ours(A, 0)
        with pytest.raises(ValueError, match=f"{ours.__name__} is for min_plus and max_plus, not for max_min"):
            ours(A, 0, "max_min")
        with pytest.raises(ValueError, match="square"):
            ours(from_edges([0], [1], [1], shape=(1, 2)), 0)
        with pytest.raises(ValueError, match=r"source must be in \[0, 2\)"):
            ours(A, 2)
        with pytest.raises(TypeError, match="source"):
            ours(A)
        with pytest.raises(TypeError, match="A must be a matrix"):
            ours([[0, 1]], 0)
        with pytest.raises(OverflowError, match="float64|int64"):
            ours(from_edges([0, 1], [1, 2], [FAR - 1, 5]), 0)
    with pytest.raises(ValueError, match="dtype must be 'int64' or 'float64', got 'int32'"):
        count_shortest_paths(A, 0, dtype="int32")  # type: ignore[call-overload]


def test_the_compiled_loop_runs_and_counts_as_the_equations_do() -> None:
    for A in (rmat(10, dtype=np.int32, high=9), rmat(9, dtype=np.float64, high=3), diamonds(40).astype("float32")):
        A = A.with_values(A.values + A.dtype.type(1))
        told = explain(count_shortest_paths, A, 0)
        runs = {run.algorithm: run.implementation for run in told.runs}
        assert runs["count_shortest_paths"] == "fused"
        for got, right in zip(told.result, count_shortest_paths(A, 0, fused=False), strict=True):
            assert got.dtype == right.dtype
            np.testing.assert_array_equal(got, right)


def test_wiki_votes_paths_are_as_many_as_by_the_levels() -> None:
    A, G = wiki_vote()
    d, count = count_shortest_paths(A.pattern(), 30)
    ways = Counter({30: 1})
    for level in range(int(d[d < FAR].max())):
        for u in np.flatnonzero(d == level).tolist():
            for v in G[u]:
                if d[v] == level + 1:
                    ways[v] += ways[u]
    assert count.tolist() == [ways[v] for v in range(len(G))]
