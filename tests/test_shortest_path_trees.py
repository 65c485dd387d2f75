"""Parents: the one tree that a rule picks for the distances, and the paths that lead along it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import bellman_ford, path, shortest_path_tree
from formats import from_edges
from semiring import LorLand, MinPlus

from .graphs import Graph, assert_tree, dtypes_in_turns, every_format, expected, graphs, solve, sources

pytestmark = pytest.mark.as_written


@dtypes_in_turns
@given(graph=graphs(st.integers(0, 1), max_n=9), source=sources)
@settings(max_examples=40)
def test_parents_where_zero_weights_close_cycles(dtype, fmt, backend, graph, source):
    d, parent = solve(graph.matrix(dtype), source % graph.n, fmt, backend)
    assert parent.tolist() == expected(graph, dtype, source % graph.n)[1]
    assert_tree(parent, d, graph.matrix(dtype), source % graph.n)


@every_format
def test_parents_on_plateaus(verb, fmt, backend):
    """Each line by hand: on the plateau {1, 2, 3} the rounds go outwards from where the source enters it."""

    def parents(n: int, *edges: tuple[int, int, Any], dtype: Any = np.float64) -> list[int]:
        return solve(Graph(n, edges).matrix(dtype), 0, fmt, backend)[1].tolist()

    # a cycle of weight 0, entered at 3: 1 hangs on 3, and 2 on 1, although 2 -> 3 is tight as well
    assert parents(4, (0, 3, 5), (1, 2, 0), (2, 3, 0), (3, 1, 0)) == [-1, 3, 1, 0]
    # 1e16 + 1 is 1e16: nothing on the cycle is nearer than anything else
    assert parents(4, (0, 3, 1e16), (1, 2, 1.0), (2, 3, 1.0), (3, 1, 1.0)) == [-1, 3, 1, 0]
    assert parents(4, (0, 3, 2.0**24), (1, 2, 1), (2, 3, 1), (3, 1, 1), dtype=np.float32) == [-1, 3, 1, 0]
    # round 1 settles 2 and 4 on 3; 1 waits for round 2, where the smaller of the two takes it
    assert parents(5, (0, 3, 1), (3, 2, 0), (3, 4, 0), (4, 1, 0), (2, 1, 0), (1, 2, 0)) == [-1, 2, 3, 0, 3]
    # a nearer predecessor goes before one of a smaller id on the plateau
    assert parents(4, (0, 1, 2), (0, 3, 1), (3, 2, 1), (1, 2, 0)) == [-1, 0, 3, 0]
    # with a negative weight anywhere round 0 settles only the source: 2 takes its parent among those settled first
    assert parents(4, (0, 1, 2), (0, 3, 1), (3, 2, 1), (1, 2, 0), (3, 3, 1)) == [-1, 0, 3, 0]
    assert parents(5, (0, 1, 2), (0, 3, 1), (3, 2, 1), (1, 2, 0), (4, 4, -1)) == [-1, 0, 1, 0, -1]
    # 1 is nearer than 2 and has 2 -> 1 tight: nearer does not mean earlier
    assert parents(3, (0, 2, 5), (2, 1, -3), (1, 2, 3)) == [-1, 2, 0]
    # zero-weight edges into the source give it no parent
    assert parents(2, (0, 1, 0), (1, 0, 0)) == [-1, 0]


def test_the_tree_depends_only_on_the_distances():
    A = Graph(4, ((0, 1, 1), (1, 2, 1), (2, 3, 0), (3, 2, 0))).matrix(np.int32)
    d, parent = bellman_ford(A, 0, return_parents=True)
    assert shortest_path_tree(A, d, 0, MinPlus).tolist() == parent.tolist() == [-1, 0, 1, 2]


def test_the_tree_of_a_boolean_semiring_follows_the_pattern():
    A = Graph(3, ((0, 1, 0), (1, 2, 7))).matrix(np.int32)
    assert shortest_path_tree(A, np.array([True, True, True]), 0, LorLand).tolist() == [-1, 0, 1]


def test_distances_that_are_no_fixpoint_have_no_tree():
    A = Graph(3, ((0, 1, 1), (1, 2, 1))).matrix(np.int32)
    with pytest.raises(ValueError, match="not a fixpoint"):
        shortest_path_tree(A, np.array([0, 1, 5], np.int32), 0, MinPlus)


def test_ties_go_to_the_nearest_predecessor_if_that_is_asked_for() -> None:
    A = from_edges([2, 2, 1], [0, 1, 0], [4, 2, 2])
    d = bellman_ford(A, 2)
    assert shortest_path_tree(A, d, 2, MinPlus).tolist() == [1, 2, -1]
    assert shortest_path_tree(A, d, 2, MinPlus, ties="nearest").tolist() == [2, 2, -1]
    with pytest.raises(ValueError, match="ties must be 'smallest' or 'nearest', got 'first'"):
        shortest_path_tree(A, d, 2, MinPlus, ties="first")  # type: ignore[arg-type]
    rng = np.random.default_rng(3)
    for _ in range(40):
        A = from_edges(*rng.integers(0, 12, (2, 40)), rng.integers(0, 4, 40).astype(float), shape=12)
        d = bellman_ford(A, 0)
        nearest = shortest_path_tree(A, d, 0, MinPlus, ties="nearest")
        assert nearest.tolist() == shortest_path_tree(A, d, 0, MinPlus, False, ties="nearest").tolist()
        for v, u in enumerate(nearest.tolist()):
            tight = [int(i) for i in range(12) if (w := A.get(i, v)) is not None and d[i] + w == d[v] and d[i] < d[v]]
            assert v == 0 or not tight or u == min(tight, key=lambda i: (d[i], i))


# --- paths ------------------------------------------------------------------------------------------------------------


def test_path():
    parent = np.array([-1, 2, 3, 0, -1], np.int32)
    assert path(parent, 1) == [0, 3, 2, 1]
    assert path(parent, 0) == [0]
    assert path([-1, 0], 1) == [0, 1]
    assert all(type(v) is int for v in path(parent, np.int64(1)))


@pytest.mark.parametrize(
    ("parent", "v", "message"),
    [
        ([-1, 0, -1], 2, "vertex 2 was not reached"),
        ([-1, 0, -1], 3, r"vertex must be in \[0, 3\), got 3"),
        ([-1, 0, -1], -1, r"vertex must be in \[0, 3\), got -1"),
        ([1, 2, 1], 0, "parents of vertex 0 close a cycle"),
        ([0], 0, "parents of vertex 0 close a cycle"),
    ],
)
def test_paths_that_there_are_not(parent, v, message):
    with pytest.raises(ValueError, match=message):
        path(np.array(parent), v)
