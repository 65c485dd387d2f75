"""Bellman-Ford in other semirings than MinPlus: bottlenecks, reachability, longest paths and one of the user's own."""

from __future__ import annotations

import heapq
import operator

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import NegativeCycle, bellman_ford
from semiring import MONOIDS, OPERATORS, LorLand, MaxMin, MaxPlus, MinMax, Semiring

from .graphs import DTYPES, INF, Graph, Paths, as_array, every_format, graphs, in_turns, solve, sources

pytestmark = pytest.mark.as_written


def best_bottleneck(graph: Graph, source: int, *, widest: bool) -> list[float]:
    """Dijkstra with min or max for the sum: by how narrow the widest, or how high the lowest path to a vertex is."""
    sign = -1 if widest else 1
    lengths: dict[int, float] = {}
    heap = [(-INF, source)]
    while heap:
        length, u = heapq.heappop(heap)
        if u in lengths:
            continue
        lengths[u] = length
        for a, b, w in graph.edges:
            if a == u:
                heapq.heappush(heap, (max(length, sign * w), b))
    return [sign * lengths.get(v, INF) for v in range(graph.n)]


@in_turns("dtype", DTYPES, turns=4)
@pytest.mark.parametrize("semiring", [MaxMin, MinMax], ids=repr)
@given(graph=graphs(st.integers(-4, 4)), source=sources)
@settings(max_examples=25)
def test_widest_paths_and_bottlenecks(dtype, fmt, backend, semiring, graph, source):
    source %= graph.n
    A = graph.matrix(dtype, dup=semiring.add.name)
    d, parent = solve(A, source, fmt, backend, semiring)
    lowest, highest = (MinMax.unit(dtype), MinMax.zero(dtype))
    answer = best_bottleneck(graph, source, widest=semiring is MaxMin)
    assert d.tolist() == [min(max(length, lowest), highest) for length in answer]

    best, better = (max, operator.gt) if semiring is MaxMin else (min, operator.lt)
    paths = Paths(min if semiring is MaxMin else max, better, semiring.unit(dtype).item())
    weights = graph.weights(dtype, best)
    lengths = paths.distances(graph.n, weights, source)
    assert parent.tolist() == paths.parents(weights, lengths, source)


@in_turns("dtype", DTYPES, turns=4)
@given(graph=graphs(st.integers(-2, 2)), source=sources)
@settings(max_examples=25)
def test_reachability_follows_the_pattern(dtype, fmt, backend, graph, source):
    source %= graph.n
    d, parent = solve(graph.matrix(dtype), source, fmt, backend, LorLand)
    reached = nx.descendants(graph.networkx(), source) | {source}
    assert d.dtype == bool
    assert np.flatnonzero(d).tolist() == sorted(reached)

    edges = dict.fromkeys(graph.weights(int), True)
    lengths = [True if v in reached else None for v in range(graph.n)]
    assert parent.tolist() == Paths(operator.and_, operator.gt, True).parents(edges, lengths, source)


@in_turns("dtype", DTYPES, turns=4)
@given(graph=graphs(st.integers(-5, 5)))
@settings(max_examples=25)
def test_longest_paths_where_edges_lead_upwards(dtype, fmt, backend, graph):
    upwards = Graph(graph.n, tuple((u, v, w) for u, v, w in graph.edges if u < v))
    d, parent = solve(upwards.matrix(dtype, dup="max"), 0, fmt, backend, MaxPlus)
    paths = Paths(operator.add, operator.gt, dtype.type(0).item())
    weights = upwards.weights(dtype, max)
    lengths = paths.distances(graph.n, weights, 0)
    np.testing.assert_array_equal(d, as_array(lengths, dtype, MaxPlus))
    assert parent.tolist() == paths.parents(weights, lengths, 0)


@every_format
def test_a_cycle_that_lengthens_the_longest_path_raises(verb, fmt, backend):
    A = Graph(3, ((0, 1, 1), (1, 2, 1), (2, 1, -1))).matrix(np.int32)
    assert solve(A, 0, fmt, backend, MaxPlus)[0].tolist() == [0, 1, 2]
    with pytest.raises(NegativeCycle) as caught:
        solve(Graph(3, ((0, 1, 1), (1, 2, 1), (2, 1, 0))).matrix(np.int32), 0, fmt, backend, MaxPlus)
    assert caught.value.cycle == [1, 2, 1]


@every_format
def test_the_ends_of_the_range_for_longest_paths(verb, fmt, backend):
    last = np.iinfo(np.int32).max
    for weight in (last, -last):
        A = Graph(3, ((0, 1, weight), (1, 2, weight))).matrix(np.int32)
        with pytest.raises(OverflowError, match="does not fit int32"):
            solve(A, 0, fmt, backend, MaxPlus)


@every_format
def test_a_semiring_of_the_users_own(verb, fmt, backend):
    """The most reliable path: the probabilities of its edges multiply."""
    reliable = Semiring(MONOIDS["max"], OPERATORS["times"], one=1)
    graph = Graph(4, ((0, 1, 0.5), (1, 2, 0.5), (0, 2, 0.125), (2, 3, 1.0), (3, 2, 1.0)))
    d, parent = solve(graph.matrix(np.float64), 0, fmt, backend, reliable)
    assert d.tolist() == [1, 0.5, 0.25, 0.25]
    assert parent.tolist() == [-1, 0, 1, 2]


def test_a_semiring_whose_zero_times_padding_is_no_number():
    reliable = Semiring(MONOIDS["max"], OPERATORS["times"], one=1)
    A = Graph(3, ((0, 1, 0.5), (0, 0, 0.5))).matrix(np.float64).to("ell")
    assert [x.tolist() for x in bellman_ford(A, 0, reliable, return_parents=True)] == [[1, 0.5, -INF], [-1, 0, -1]]


def test_semirings_go_by_name_too():
    A = Graph(3, ((0, 1, 3), (1, 2, 2))).matrix(np.int32)
    assert bellman_ford(A, 0, "min_plus").tolist() == [0, 3, 5]
    assert bellman_ford(A, 0, semiring="min_max").tolist()[1:] == [3, 3]
