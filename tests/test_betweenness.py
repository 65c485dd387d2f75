"""Betweenness of weights that rounding absorbs or that are infinite, beside paths that are listed one by one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import betweenness_centrality
from bench.graphs import grid, rmat_both_ways
from formats import CSR, ELL, Matrix, from_edges
from semiring import threads

from .conftest import Backend
from .graphs import on_cpu
from .networks import wiki_vote

Edges = dict[tuple[int, int], Any]
INF = float("inf")


def matrix(edges: Edges, n: int, dtype: str = "float64") -> CSR:
    u, v = np.array(list(edges), np.int64).reshape(-1, 2).T
    return from_edges(u, v, np.array(list(edges.values()), dtype), shape=n)


def both_ways(edges: Edges) -> Edges:
    return {**edges, **{(v, u): w for (u, v), w in edges.items()}}


def listed(edges: Edges, n: int, s: int, zero: Any) -> list[list[tuple[int, ...]]]:
    """All shortest paths from a source to each vertex, by the rule, in whatever numbers the weights are."""
    d = [INF] * n
    d[s] = zero
    for _ in range(n):
        for (u, v), w in edges.items():
            d[v] = min(d[v], d[u] + w)
    tight = [(u, v) for (u, v), w in edges.items() if d[v] < INF and d[u] + w == d[v]]
    h = {v: 0 for u, v in tight if d[u] < d[v]} | {s: 0}
    while more := {v: h[u] + 1 for u, v in tight if d[u] == d[v] and u in h and v not in h}:
        h |= {v: min(h[u] + 1 for u, w in tight if w == v and d[u] == d[v] and u in h) for v in more}
    before = {v: [u for u, w in tight if w == v and (d[u] < d[v] or h[u] + 1 == h[v])] for v in range(n)}

    def to(v: int) -> Iterator[tuple[int, ...]]:
        if v == s:
            yield (s,)
        for u in before[v] if v != s else ():
            yield from ((*path, v) for path in to(u))

    return [list(to(v)) for v in range(n)]


def right(edges: Edges, n: int, zero: Any) -> list[float]:
    """How many shortest paths lead through each vertex, of those between each two others the share."""
    total = [0.0] * n
    for s in range(n):
        for paths in listed(edges, n, s, zero):
            for path in paths:
                for v in path[1:-1]:
                    total[v] += 1 / len(paths)
    return total


def found(A: Matrix, **how: Any) -> Any:
    """Likewise, of pairs in order."""
    n = A.nrows
    return betweenness_centrality(A, weighted=True, **how) * ((n - 1) * (n - 2) if n > 2 else 1)


def random_tree(n: int, rng: random.Random) -> Edges:
    return {(rng.randrange(v), v): 10.0 ** rng.randint(-30, 30) for v in range(1, n)}


def some_edges(n: int, count: int, weight: Callable[[], float], rng: random.Random) -> Edges:
    return {(rng.randrange(n), rng.randrange(n)): weight() for _ in range(count)}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("fused", [True, False])
def test_answers_on_trees_are_exact_however_much_the_weights_differ(fused: bool, dtype: str) -> None:
    rng = random.Random(1)
    for k in range(40 if fused else 12):
        n = rng.randint(1, 14)
        tree = random_tree(n, rng)
        edges = tree if k % 4 == 0 else both_ways(tree)
        G = nx.DiGraph(list(edges))
        G.add_nodes_from(range(n))
        exact = nx.betweenness_centrality(G, normalized=False)
        got = found(matrix(edges, n, dtype), fused=fused)
        np.testing.assert_array_equal(got.round(9), [exact[v] for v in range(n)])


def test_the_backend_of_networkx_is_exact_on_trees() -> None:
    rng = random.Random(2)
    for _ in range(10):
        G = nx.Graph()
        G.add_nodes_from(range(12))
        G.add_weighted_edges_from((u, v, w) for (u, v), w in random_tree(12, rng).items())
        got = nx.betweenness_centrality(G, weight="weight", backend="semiring")
        assert got == pytest.approx(nx.betweenness_centrality(G))


def test_a_path_whose_last_weight_is_absorbed() -> None:
    for tail in (1, 2, 12):
        edges = both_ways({(v, v + 1): 1.0 if v < 2 else 1e-23 for v in range(2 + tail)})
        n = 3 + tail
        expected = [v * (n - 1 - v) for v in range(n)]
        for how in ({}, {"fused": False}):
            got = betweenness_centrality(matrix(edges, n), weighted=True, normalized=False, **how)
            np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("fmt", "backend"), [each.param(fmt, name=fmt.__name__) for each in Backend for fmt in (CSR, ELL)]
)
@pytest.mark.parametrize("fused", [True, False])
def test_plateaus_of_absorbed_weights_are_walked_in_rounds(fused: bool, fmt: type[Matrix], backend: str) -> None:
    """With loops, in both directions and in one; some weights are infinite."""
    rng = random.Random(3)
    for k in range(60 if fused else 20):
        n = rng.randint(2, 9)
        some = {
            (rng.randrange(n), rng.randrange(n)): rng.choice([1.0, 2.0, 1e-20, 3e-17, 1e20, INF]) for _ in range(2 * n)
        }
        edges = both_ways(some) if k % 2 else some
        got = on_cpu(found(matrix(edges, n).to(fmt).to(device=backend), fused=fused))
        np.testing.assert_allclose(got, right(edges, n, 0.0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("fused", [True, False])
def test_where_no_weight_is_absorbed_all_paths_count_whatever_their_edges(fused: bool) -> None:
    """Sums of these weights are exact, as fractions are."""
    rng = random.Random(4)
    for k in range(40 if fused else 15):
        n = rng.randint(3, 8)
        some = {
            (rng.randrange(n), rng.randrange(n)): rng.choice([1, 2, 3]) * 2.0 ** rng.choice([-20, 0, 20])
            for _ in range(3 * n)
        }
        edges = both_ways(some) if k % 2 else some
        exact = right({e: Fraction(w) for e, w in edges.items()}, n, Fraction(0))
        np.testing.assert_allclose(found(matrix(edges, n), fused=fused), exact, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
def test_an_infinite_weight_is_no_edge(dtype: str, fused: bool) -> None:
    """Of integers it is the end of their range."""
    never = INF if dtype.startswith("f") else np.iinfo(dtype).max
    A = matrix(both_ways({(0, 1): never, (1, 2): 1, (2, 3): 1}), 4, dtype)
    assert betweenness_centrality(A, weighted=True, normalized=False, fused=fused).tolist() == [0, 0, 1, 0]
    ends = betweenness_centrality(A, weighted=True, normalized=False, endpoints=True, fused=fused)
    assert ends.tolist() == [0, 2, 3, 2]
    A = matrix({(0, 1): never, (1, 2): never}, 3, dtype)
    assert betweenness_centrality(A, weighted=True, fused=fused).tolist() == [0, 0, 0]


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_more_paths_than_a_float_counts_are_an_overflow(weighted: bool, fused: bool) -> None:
    """Each diamond doubles them."""
    for diamonds in (1000, 1100):
        top = 3 * np.arange(diamonds)
        u, v = np.r_[top, top, top + 1, top + 2], np.r_[top + 1, top + 2, top + 3, top + 3]
        A = from_edges(u, v, np.ones(u.size), shape=3 * diamonds + 1)
        if diamonds > 1024:
            with pytest.raises(OverflowError, match="the number of shortest paths to a vertex does not fit float64"):
                betweenness_centrality(A, weighted=weighted, sources=[0], fused=fused)
        elif fused:
            found = betweenness_centrality(A, weighted=weighted, sources=[0, 3], normalized=False)
            assert found[3 * 500] == pytest.approx(3 * 500 * (A.nrows - 1))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_last_bits_are_those_of_any_number_of_threads(weighted: bool) -> None:
    """Of short rows and of long ones, of a few sources and of many."""
    graphs = [grid(12, dtype=np.int32).astype("float64"), rmat_both_ways(9, dtype=np.int32, high=9)]
    for A, sources in ((graphs[0], None), (graphs[1], None), (graphs[1], range(100)), (wiki_vote()[0], range(40))):
        answers = []
        for count in (1, 2, 3, 16):
            with threads(count):
                answers.append(betweenness_centrality(A, weighted=weighted, sources=sources))
        for answer in answers[1:]:
            np.testing.assert_array_equal(answer, answers[0])
