"""Bellman-Ford against plain Python, SciPy, networkx and published answers, for every format that has a vxm."""

from __future__ import annotations

import importlib
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import NegativeCycle, bellman_ford, sssp
from algorithms.data import rome99
from bench.laboratory import bellman_ford_by
from formats import CSR, Matrix, from_edges, read
from semiring import AnyPair, MinPlus, PlusTimes

from .files import DATA
from .graphs import (
    DTYPES,
    INF,
    Graph,
    assert_tree,
    dtypes_in_turns,
    every_format,
    expected,
    graphs,
    in_turns,
    signed_graphs,
    small_weights,
    solve,
    sources,
    wild_weights,
)

pytestmark = pytest.mark.as_written

# --- distances --------------------------------------------------------------------------------------------------------


@dtypes_in_turns
@given(data=st.data(), source=sources)
@settings(max_examples=40)
def test_distances_and_parents_are_plain_pythons(dtype, fmt, backend, data, source):
    graph = data.draw(graphs(small_weights(dtype)))
    d, parent = solve(graph.matrix(dtype), source % graph.n, fmt, backend)
    lengths, tree = expected(graph, dtype, source % graph.n)
    assert d.dtype == dtype
    np.testing.assert_array_equal(d, lengths)
    assert parent.tolist() == tree
    assert_tree(parent, d, graph.matrix(dtype), source % graph.n)


@dtypes_in_turns
@given(graph=signed_graphs, source=sources)
@settings(max_examples=40)
def test_negative_weights_without_a_negative_cycle(dtype, fmt, backend, graph, source):
    d, parent = solve(graph.matrix(dtype), source % graph.n, fmt, backend)
    lengths, tree = expected(graph, dtype, source % graph.n)
    np.testing.assert_array_equal(d, lengths)
    assert parent.tolist() == tree
    assert_tree(parent, d, graph.matrix(dtype), source % graph.n)


@dtypes_in_turns
@given(data=st.data(), source=sources)
@settings(max_examples=40)
def test_huge_and_tiny_weights(dtype, fmt, backend, data, source):
    """Subnormal numbers are kept, and where large numbers absorb small ones parents still form trees."""
    graph = data.draw(graphs(wild_weights(dtype)))
    d, parent = solve(graph.matrix(dtype), source % graph.n, fmt, backend)
    lengths, tree = expected(graph, dtype, source % graph.n)
    np.testing.assert_array_equal(d, lengths)
    assert parent.tolist() == tree
    assert_tree(parent, d, graph.matrix(dtype), source % graph.n)


@every_format
@given(graph=signed_graphs, source=sources)
@settings(max_examples=40)
def test_distances_are_networkxs(verb, fmt, backend, graph, source):
    lengths = nx.single_source_bellman_ford_path_length(graph.networkx(), source % graph.n)
    d, _ = solve(graph.matrix(np.float64), source % graph.n, fmt, backend)
    assert d.tolist() == [lengths.get(v, INF) for v in range(graph.n)]


@every_format
@given(graph=graphs(st.integers(1, 9)), p=st.lists(st.integers(-9, 9), min_size=8, max_size=8), source=sources)
@settings(max_examples=40)
def test_distances_are_scipys(verb, fmt, backend, graph, p, source):
    """Without the weight 0, which SciPy takes for no edge."""
    graph = Graph(graph.n, tuple((u, v, w + p[u] - p[v]) for u, v, w in graph.edges if w + p[u] - p[v] != 0))
    A = graph.matrix(np.float64)
    lengths = scipy.sparse.csgraph.bellman_ford(scipy.sparse.csr_array(A.to_scipy()), indices=source % graph.n)
    np.testing.assert_array_equal(solve(A, source % graph.n, fmt, backend)[0], lengths)


@dtypes_in_turns
def test_small_cases(dtype, fmt, backend):
    zero = MinPlus.zero(dtype)

    def answer(n: int, *edges: tuple[int, int, Any], source: int = 0) -> list[list]:
        return [x.tolist() for x in solve(Graph(n, edges).matrix(dtype), source, fmt, backend)]

    assert answer(1) == [[0], [-1]]
    assert answer(1, (0, 0, 0)) == [[0], [-1]]
    assert answer(1, (0, 0, 3)) == [[0], [-1]]
    assert answer(3) == [[0, zero, zero], [-1, -1, -1]]
    assert answer(2, (0, 1, 5), source=1) == [[zero, 0], [-1, -1]]
    assert answer(2, (0, 1, 5), (0, 1, 2), (0, 1, 3)) == [[0, 2], [-1, 0]]
    assert answer(2, (0, 1, 0)) == [[0, 0], [-1, 0]]
    assert answer(3, (0, 1, -5), (1, 2, -5)) == [[0, -5, -10], [-1, 0, 1]]
    assert answer(3, (1, 0, -1), (1, 2, -1)) == [[0, zero, zero], [-1, -1, -1]]


@every_format
def test_an_infinite_weight_is_no_edge(verb, fmt, backend):
    A = Graph(3, ((0, 1, INF), (0, 2, 1.0))).matrix(np.float64)
    d, parent = solve(A, 0, fmt, backend)
    assert d.tolist() == [0, INF, 1]
    assert parent.tolist() == [-1, -1, 0]


@every_format
def test_a_long_path(verb, fmt, backend):
    """As many rounds as a graph can take: n - 1, with an improvement in each of them."""
    n = 300
    steps = [(v, v + 1, 1) for v in range(n - 1)]
    shortcuts = [(0, v, 2 * v) for v in range(2, n)]
    d, parent = solve(Graph(n, tuple(steps + shortcuts)).matrix(np.int32), 0, fmt, backend)
    assert d.tolist() == list(range(n))
    assert parent.tolist() == list(range(-1, n - 1))


# --- rounds -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def rounds(monkeypatch):
    """The products in MinPlus that the definition has computed, one a round."""
    module = importlib.import_module("algorithms.equations.bellman_ford")  # the package's attribute is the function
    computed = []

    def counting(x, A, semiring, **rule):
        if semiring is MinPlus:
            computed.append(x.nnz)
        return vxm(x, A, semiring, **rule)

    vxm = module.vxm
    monkeypatch.setattr(module, "vxm", counting)
    return computed


@pytest.mark.parametrize(("start", "length"), [(0, 2), (5, 2), (100, 3), (0, 500)])
def test_a_negative_cycle_is_found_in_far_fewer_than_n_rounds(rounds, start, length):
    n = 20_000
    back = (start + length - 1, start, -length)
    A = Graph(n, (*((v, v + 1, 1) for v in range(n - 1)), back)).matrix(np.int64)
    with pytest.raises(NegativeCycle) as caught:
        bellman_ford.unfused(A, 0)
    assert caught.value.cycle == [*range(start, start + length), start]
    assert len(rounds) <= 2 * (start + length) < n


def test_a_round_multiplies_only_what_has_changed(rounds):
    n = 50
    A = Graph(n, tuple((v, v + 1, 1) for v in range(n - 1))).matrix(np.int64)
    bellman_ford.unfused(A, 0)
    assert rounds == [1] * n


# --- what is refused --------------------------------------------------------------------------------------------------


@every_format
def test_a_source_out_of_range(verb, fmt, backend):
    A = Graph(3, ((0, 1, 1),)).matrix(np.int32).to(fmt, device=backend)
    for source in (-1, 3, 10**12, -(10**12)):
        with pytest.raises(ValueError, match=rf"source must be in \[0, 3\), got {source}$"):
            bellman_ford(A, source)


@every_format
def test_other_arguments_that_have_no_answer(verb, fmt, backend):
    A = Graph(3, ((0, 1, 1),)).matrix(np.int32).to(fmt, device=backend)
    with pytest.raises(TypeError, match="source must be an integer, got 1.0; sources=.* takes several"):
        bellman_ford(A, 1.0)
    with pytest.raises(ValueError, match=r"square matrix, got shape \(2, 3\)"):
        bellman_ford(from_edges([0], [1], shape=(2, 3)).to(fmt, device=backend), 0)
    with pytest.raises(ValueError, match=r"source must be in \[0, 0\), got 0"):
        bellman_ford(from_edges([], [], shape=0).to(fmt, device=backend), 0)
    with pytest.raises(TypeError, match="min_plus is not defined on bool"):
        bellman_ford(A.pattern(), 0)
    with pytest.raises(ValueError, match="any_pair has no unit"):
        bellman_ford(A, 0, AnyPair)
    with pytest.raises(ValueError, match="unknown schedule 'lifo'; there are frontier, sweep, fifo, slf, lll"):
        bellman_ford_by(A, 0, schedule="lifo")
    with pytest.raises(ValueError, match="plus_times has no order"):
        bellman_ford(A, 0, PlusTimes)
    with pytest.raises(ValueError, match="unknown semiring 'min_add'"):
        bellman_ford(A, 0, "min_add")


def test_a_weight_that_is_no_number_is_refused_before_any_algorithm():
    with pytest.raises(ValueError, match="NaN at position 1"):
        from_edges([0, 1], [1, 2], [1.0, float("nan")])


# --- published answers ------------------------------------------------------------------------------------------------

CLRS = Graph(  # s, t, x, y, z
    5,
    (
        *((0, 1, 6), (0, 3, 7), (1, 2, 5), (1, 3, 8), (1, 4, -4)),
        *((2, 1, -2), (3, 2, -3), (3, 4, 9), (4, 0, 2), (4, 2, 7)),
    ),
)


@every_format
def test_the_figure_of_clrs(verb, fmt, backend):
    """Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, 3rd edition, figure 24.4."""
    for dtype in DTYPES:
        d, parent = solve(CLRS.matrix(dtype), 0, fmt, backend)
        assert d.tolist() == [0, 2, 4, 7, -2]
        assert parent.tolist() == [-1, 2, 3, 0, 1]


PUBLISHED = {
    "tinyEWD.txt": [0, 1.05, 0.26, 0.99, 0.38, 0.73, 1.51, 0.60],
    "tinyEWDn.txt": [0, 0.93, 0.26, 0.99, 0.26, 0.61, 1.51, 0.60],
    "dimacs9-sample.gr": [0, 10, 10, 12, 10, 15],
}


@in_turns("name", PUBLISHED)
def test_published_distances(name, fmt, backend):
    A = read(DATA / name)
    d, parent = solve(A, 0, fmt, backend)
    assert d.tolist() == pytest.approx(PUBLISHED[name])
    assert_tree(parent, d, A, 0)


@pytest.fixture(scope="module")
def rome() -> Matrix:
    return read(rome99)


@every_format
def test_rome(verb, fmt, backend, rome):
    d, parent = solve(rome, 0, fmt, backend)
    assert (d != MinPlus.zero(d.dtype)).sum() == 3353
    assert d.max() == 69102
    assert d.sum(dtype=np.int64) == 116006476
    np.testing.assert_array_equal(d, scipy.sparse.csgraph.dijkstra(rome.to_scipy(), indices=0))

    children = np.flatnonzero(parent >= 0)
    assert children.tolist() == list(range(1, 3353))
    rows, cols, weights = rome.to_edges()
    edges = scipy.sparse.csr_array((weights, (rows, cols)), shape=rome.shape)
    np.testing.assert_array_equal(d[parent[children]] + edges[parent[children], children], d[children])
    tree = scipy.sparse.csr_array((np.ones(3352), (parent[children], children)), shape=rome.shape)
    assert len(scipy.sparse.csgraph.breadth_first_order(tree, 0, return_predecessors=False)) == 3353


# --- around it --------------------------------------------------------------------------------------------------------


def test_an_implementation_of_the_whole_runs_unless_it_is_told_not_to(monkeypatch):
    A = CLRS.matrix(np.int32)
    whole = np.arange(5, dtype=np.int32)
    monkeypatch.setitem(bellman_ford.cells, (CSR, "cpu"), lambda A, source, s, until, **options: whole)
    assert bellman_ford(A, 0) is whole
    assert sssp(A, 0) is whole  # for A has a negative weight
    assert bellman_ford(A.to("coo"), 0) is whole
    assert bellman_ford(A.to("coo"), 0, fused=False).tolist() == [0, 2, 4, 7, -2]
    assert bellman_ford(A, 0, fused=False).tolist() == [0, 2, 4, 7, -2]
    assert bellman_ford.unfused(A, 0).tolist() == [0, 2, 4, 7, -2]
