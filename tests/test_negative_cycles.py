"""Negative cycles: an error that shows one where the source reaches it, and none where it does not."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import NegativeCycle
from formats import read
from semiring import MinPlus

from .files import DATA
from .graphs import (
    SHORTEST,
    Graph,
    as_array,
    assert_negative_cycle,
    dtypes_in_turns,
    every_format,
    expected,
    graphs,
    solve,
    sources,
)

pytestmark = pytest.mark.as_written


@dtypes_in_turns
@given(graph=graphs(st.integers(-3, 6), max_n=7), source=sources)
@settings(max_examples=60)
def test_negative_cycles_raise_where_they_are_reachable_and_only_there(dtype, fmt, backend, graph, source):
    source %= graph.n
    A = graph.matrix(dtype)
    lengths = SHORTEST.distances(graph.n, graph.weights(int), source)
    if lengths is None:
        with pytest.raises(NegativeCycle) as caught:
            solve(A, source, fmt, backend)
        assert_negative_cycle(caught.value.cycle, graph, source)
    else:
        np.testing.assert_array_equal(solve(A, source, fmt, backend)[0], as_array(lengths, dtype, MinPlus))


@st.composite
def planted(draw: Any) -> tuple[Graph, int]:
    """A graph with one negative cycle, of vertices k .. n-1, and how many edges, 0 or more, lead from 0 into it."""
    graph = draw(graphs(st.integers(0, 6), potentials=True))
    k, length = graph.n, draw(st.integers(1, 6))
    cycle = [(k + i, k + (i + 1) % length, w) for i, w in enumerate(draw_cycle(draw, length))]
    back = draw(
        st.lists(st.tuples(st.integers(k, k + length - 1), st.integers(0, k - 1), st.integers(-9, 9)), max_size=3)
    )
    entrances = draw(st.lists(st.integers(k, k + length - 1), max_size=2))
    into = [(0, v, 1) for v in entrances]
    return Graph(k + length, (*graph.edges, *cycle, *back, *into)), len(into)


def draw_cycle(draw: Any, length: int) -> list[int]:
    """Weights of any sign whose sum is negative."""
    weights = draw(st.lists(st.integers(-5, 5), min_size=length, max_size=length))
    return [weights[0] - max(0, sum(weights)) - 1, *weights[1:]]


@every_format
@given(case=planted())
@settings(max_examples=60)
def test_planted_negative_cycles(verb, fmt, backend, case):
    graph, entrances = case
    A = graph.matrix(np.int64)
    if entrances:
        with pytest.raises(NegativeCycle) as caught:
            solve(A, 0, fmt, backend)
        assert_negative_cycle(caught.value.cycle, graph, 0)
    else:
        np.testing.assert_array_equal(solve(A, 0, fmt, backend)[0], expected(graph, np.int64, 0)[0])


@every_format
def test_what_the_error_says(verb, fmt, backend):
    with pytest.raises(NegativeCycle, match="1 -> 3 -> 2 -> 1$") as caught:
        solve(Graph(4, ((0, 3, 1), (3, 2, 1), (2, 1, 1), (1, 3, -3))).matrix(np.int32), 0, fmt, backend)
    assert caught.value.cycle == [1, 3, 2, 1]
    with pytest.raises(NegativeCycle) as caught:
        solve(Graph(1, ((0, 0, -1),)).matrix(np.int32), 0, fmt, backend)
    assert caught.value.cycle == [0, 0]
    n = 40
    ring = Graph(n, tuple((v, (v + 1) % n, -1) for v in range(n)))
    with pytest.raises(NegativeCycle, match="0 -> 1 -> 2 -> 3 -> 4 -> 5 -> … -> 36 -> 37 -> 38 -> 39 -> 0$") as caught:
        solve(ring.matrix(np.int32), 7, fmt, backend)
    assert caught.value.cycle == [*range(n), 0]


@every_format
def test_published_negative_cycles(verb, fmt, backend):
    A = read(DATA / "tinyEWDnc.txt")
    with pytest.raises(NegativeCycle) as caught:
        solve(A, 0, fmt, backend)
    assert caught.value.cycle == [4, 5, 4]
    A = read(DATA / "west0067.mtx")
    with pytest.raises(NegativeCycle) as caught:
        solve(A, 0, fmt, backend)
    assert caught.value.cycle[0] == caught.value.cycle[-1] == min(caught.value.cycle)
    assert sum(A[u, v] for u, v in pairwise(caught.value.cycle)) < 0
