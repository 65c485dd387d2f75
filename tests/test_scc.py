"""Strong and weak components in every format and on every backend: one answer."""

from __future__ import annotations

import tracemalloc
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import components, scc, trace
from algorithms.shared.traversal import Direction
from formats import Matrix, from_edges, read
from semiring import threads

from .files import DATA
from .graphs import Graph, every_format, graphs, on_cpu

pytestmark = pytest.mark.as_written

any_graph = graphs(st.integers(0, 1), max_n=12)


def smallest(parts: Any, n: int) -> list[int]:
    """The smallest vertex of each vertex's part."""
    label = [-1] * n
    for part in parts:
        for v in part:
            label[v] = min(part)
    return label


def strong(graph: Graph) -> list[int]:
    return smallest(nx.strongly_connected_components(graph.networkx()), graph.n)


def weak(graph: Graph) -> list[int]:
    return smallest(nx.weakly_connected_components(graph.networkx()), graph.n)


def by_scipy(A: Matrix, connection: str) -> np.ndarray:
    """Labels of a larger graph."""
    pattern = scipy.sparse.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    count, part = scipy.sparse.csgraph.connected_components(pattern, connection=connection)
    first = np.full(count, A.nrows)
    np.minimum.at(first, part, np.arange(A.nrows))
    return first[part]


@every_format
@given(graph=any_graph, dtype=st.sampled_from(["bool", "int32", "float64"]))
@settings(max_examples=20)
def test_strong_components(verb, fmt, backend, graph, dtype):
    A = graph.matrix(dtype).to(fmt, device=backend)
    assert on_cpu(scc(A)).tolist() == strong(graph)
    assert on_cpu(scc(A.T)).tolist() == strong(graph)


@every_format
@given(graph=any_graph)
@settings(max_examples=20)
def test_weak_components(verb, fmt, backend, graph):
    A = graph.matrix(int).to(fmt, device=backend)
    assert on_cpu(scc(A, weak=True)).tolist() == weak(graph)
    assert on_cpu(components(A.T)).tolist() == weak(graph)


@every_format
@given(graph=graphs(st.just(1), max_n=12))
@settings(max_examples=10)
def test_a_symmetric_graph_has_the_same_strong_and_weak_components(verb, fmt, backend, graph):
    both = Graph(graph.n, graph.edges + tuple((v, u, w) for u, v, w in graph.edges))
    assert on_cpu(scc(both.matrix(int).to(fmt, device=backend))).tolist() == weak(graph)


@st.composite
def chained(draw: Any) -> Graph:
    """A small graph of which edges are drawn out to chains, with ids in any order; and cycles by themselves."""
    base = draw(graphs(st.just(1), max_n=5))
    n, edges = base.n, []
    for u, v, _ in base.edges:
        for _ in range(draw(st.integers(0, 4))):
            edges.append((u, n))
            u, n = n, n + 1
        edges.append((u, v))
    for length in draw(st.lists(st.integers(1, 5), max_size=3)):
        edges += [(n + k, n + (k + 1) % length) for k in range(length)]
        n += length
    order = draw(st.permutations(range(n)))
    return Graph(n, tuple((order[u], order[v], 1) for u, v in edges))


@every_format
@given(graph=chained())
@settings(max_examples=30)
def test_chains_belong_to_the_component_of_both_their_ends(verb, fmt, backend, graph):
    assert on_cpu(scc(graph.matrix(int).to(fmt, device=backend))).tolist() == strong(graph)


@every_format
def test_larger_graphs_of_many_components(verb, fmt, backend):
    rng = np.random.default_rng(3)
    n = 1000
    for edges in (900, 1300, 2500):
        A = from_edges(rng.integers(0, n, edges), rng.integers(0, n, edges), shape=n)
        options = {"force": True} if fmt.__name__ in ("Dense", "ELL") else {}
        M = A.to(fmt, device=backend, **options)
        np.testing.assert_array_equal(on_cpu(scc(M)), by_scipy(A, "strong"))
        np.testing.assert_array_equal(on_cpu(scc(M, weak=True)), by_scipy(A, "weak"))


# --- known answers ----------------------------------------------------------------------------------------------------


@every_format
def test_tiny_dg_and_cover(verb, fmt, backend):
    A = read(DATA / "tinyDG.txt").to(fmt, device=backend)
    assert on_cpu(scc(A)).tolist() == smallest([{1}, {0, 2, 3, 4, 5}, {9, 10, 11, 12}, {6, 8}, {7}], 13)
    cover = read(DATA / "cover.mtx").to(fmt, device=backend)
    assert on_cpu(scc(cover)).tolist() == [0, 0, 2, 0, 4, 2, 0]
    karate = read(DATA / "karate.mtx").to(fmt, device=backend)
    assert on_cpu(scc(karate)).tolist() == [0] * 34


def test_a_digraph_with_the_components_of_clrs():
    """Cormen et al., figure 22.9 (third edition): {a, b, e}, {c, d}, {f, g}, {h}."""
    edges = ["ab", "bc", "be", "bf", "cd", "cg", "dc", "dh", "ea", "ef", "fg", "gf", "gh", "hh"]
    u, v = ([ord(edge[end]) - ord("a") for edge in edges] for end in (0, 1))
    assert scc(from_edges(u, v, shape=8)).tolist() == [0, 0, 2, 2, 0, 5, 5, 7]


BIG_FORMATS = ["csr", "csc", "coo", "segmentedcoo"]


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
@pytest.mark.parametrize("fmt", BIG_FORMATS)
@pytest.mark.parametrize(
    ("file", "strong_ones", "largest", "weak_ones"),
    [("wiki-Vote.txt.gz", 5816, 1300, 24), ("p2p-Gnutella08.txt.gz", 4234, 2068, 2)],
)
def test_networks_of_snap(fmt, backend, file, strong_ones, largest, weak_ones):
    A = read(DATA / file)
    M = A.to(fmt, device=backend)
    right = by_scipy(A, "strong")
    label = on_cpu(scc(M))
    sizes = np.bincount(label)
    assert (np.count_nonzero(sizes), sizes.max()) == (strong_ones, largest)
    np.testing.assert_array_equal(label, right)
    assert len(set(on_cpu(scc(M, weak=True)).tolist())) == weak_ones


# --- extreme graphs ---------------------------------------------------------------------------------------------------


@every_format
def test_extreme_graphs(verb, fmt, backend):
    def labels(u: Any, v: Any, n: int) -> list[int]:
        return on_cpu(scc(from_edges(u, v, shape=n).to(fmt, device=backend))).tolist()

    assert labels([], [], 0) == []
    assert labels([], [], 4) == [0, 1, 2, 3]
    assert labels([0, 1, 2], [0, 1, 2], 3) == [0, 1, 2]  # self-loops
    assert labels([0, 0, 1, 1, 2], [0, 1, 1, 2, 2], 3) == [0, 1, 2]  # and a path of them
    u, v = np.nonzero(~np.eye(20, dtype=bool))
    assert labels(u, v, 20) == [0] * 20  # complete
    u, v = np.nonzero(np.triu(np.ones((20, 20), bool), 1))
    assert labels(u, v, 20) == list(range(20))  # a complete order, without a cycle


@every_format
def test_a_long_path_and_a_giant_cycle(verb, fmt, backend):
    n = 2000
    options = {"force": True} if fmt.__name__ == "Dense" else {}
    order = np.random.default_rng(1).permutation(n)
    for u, v in ((order[:-1], order[1:]), (order, np.roll(order, -1))):
        A = from_edges(u, v, shape=n)
        label = on_cpu(scc(A.to(fmt, device=backend, **options)))
        np.testing.assert_array_equal(label, by_scipy(A, "strong"))
    both = from_edges(np.append(order[:-1], order[1:]), np.append(order[1:], order[:-1]), shape=n)
    assert on_cpu(scc(both.to(fmt, device=backend, **options))).max() == 0


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_a_hundred_thousand_vertices_in_a_row(backend):
    n = 100_000
    ids = np.arange(n)
    path = from_edges(ids[:-1], ids[1:], shape=n).to(device=backend)
    cycle = from_edges(ids, (ids + 1) % n, shape=n).to(device=backend)
    np.testing.assert_array_equal(on_cpu(scc(path)), ids)
    assert on_cpu(scc(cycle)).max() == 0
    assert on_cpu(scc(path, weak=True)).max() == 0


# --- what it takes, and what it tells ---------------------------------------------------------------------------------


@threads(2)
@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("degree", [0.01, 2, 8])
def test_memory_is_as_stated(weak, degree):
    """Vectors of n, 8 bytes an element, one for each thread, and 40 bytes an edge; from the first call on."""
    n = 1 << 16
    rng = np.random.default_rng(2)
    src, dst = rng.integers(0, n, (2, int(degree * n)))
    scc(from_edges(src, dst, shape=n), weak=weak)  # kernels
    A = from_edges(src, dst, shape=n)
    tracemalloc.start()
    scc(A, weak=weak)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (16 + 2) * 8 * n + 40 * A.nnz


def pairs_in_a_row(k: int) -> Matrix:
    """0 ⇄ 1 → 2 ⇄ 3 → 4 ⇄ …"""
    v = 2 * np.arange(k)
    return from_edges(np.concatenate((v, v + 1, v[:-1] + 1)), np.concatenate((v + 1, v, v[1:])), shape=2 * k)


def test_pivots_divide_a_row_of_components():
    """Always the first of equals would take a round for each."""
    A = pairs_in_a_row(300)
    with trace() as t:
        label = scc(A)
    assert label.tolist() == [v - v % 2 for v in range(600)]
    assert sum(row.phase == "pivots" for row in t.rounds) < 40


def test_a_tail_is_trimmed_at_the_cost_of_its_edges():
    """One vertex a round, but a round does not look at the rest."""
    rng = np.random.default_rng(0)
    n, core = 3000, 2400
    tail = np.arange(core, n - 1)
    src, dst = rng.integers(0, core, (2, 4 * core))
    A = from_edges(np.concatenate((src, tail, [0])), np.concatenate((dst, tail + 1, [core])), shape=n)
    with trace() as t:
        label = scc(A)
    np.testing.assert_array_equal(label, by_scipy(A, "strong"))
    trims = [row for row in t.rounds if row.phase == "trim"]
    assert len(trims) >= n - core
    assert sum(row.edges for row in trims) < 4 * n


@every_format
def test_self_loops_are_in_nobodys_way(verb, fmt, backend):
    n = 300
    ids = np.arange(n)
    A = from_edges(np.append(ids[:-1], ids), np.append(ids[1:], ids), shape=n).to(fmt, device=backend)
    with trace() as t:
        label = scc(A)
    assert on_cpu(label).tolist() == ids.tolist()
    assert len(t.rounds) < 20


def test_the_trace_tells_the_shares_of_trim_and_search():
    rng = np.random.default_rng(5)
    A = from_edges(rng.integers(0, 3000, 6000), rng.integers(0, 3000, 6000), shape=3000)
    with trace() as t:
        scc(A)
    phases = [row.phase for row in t.rounds]
    assert phases[:2] == ["prepare", "trim"]
    assert {"prepare", "trim", "pivots", "forward", "backward", "cut", "components"} == set(phases)
    shares = t.shares()
    assert shares.keys() == set(phases)
    assert sum(shares.values()) == pytest.approx(1)
    assert min(shares.values()) > 0


def test_the_trace_counts_the_edges_of_the_graph_that_is_searched(monkeypatch):
    monkeypatch.setattr(Direction, "pulls", lambda *_: False)
    A = from_edges([0, 0, 1, 2, 1, 3, 4], [1, 2, 0, 0, 2, 0, 0], shape=5)
    with trace() as t:
        scc(A)
    searched = [(row.phase, row.frontier, row.edges) for row in t.rounds if row.phase in ("forward", "backward")]
    assert searched[:4] == [("forward", 1, 2), ("forward", 2, 3), ("backward", 1, 4), ("backward", 2, 3)]


def test_what_is_no_graph_is_refused():
    with pytest.raises(ValueError, match="a graph needs a square matrix"):
        scc(from_edges([0], [1], shape=(2, 3)))
    with pytest.raises(TypeError, match="A must be a matrix"):
        scc("A")
