"""Breadth-first search in every format, on every backend, in every direction: levels, parents, subgraphs."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import bfs, trace
from algorithms.shared.traversal import TURNED_AFTER
from formats import CSR, Matrix, SparseVector, from_edges
from formats.arrays import to_device
from formats.storage.orientation import has_columns
from semiring import explain

from .graphs import Graph, every_format, graphs, in_turns, on_cpu, sources

pytestmark = pytest.mark.as_written

DIRECTIONS: dict[str, dict[str, Any]] = {
    "push": {"direction": "push"},
    "pull": {"direction": "pull"},
    "auto": {},
    "auto-eager": {"alpha": 1e9, "beta": 1e9},
    "auto-wavering": {"alpha": 1e9, "beta": 2},
}
directions_in_turns = in_turns("direction", DIRECTIONS, turns=2)
any_graph = graphs(st.integers(0, 1), max_n=10)


def levels_and_parents(graph: Graph, source: int, inside: set[int] | None = None) -> tuple[list[int], list[int]]:
    """What is right, by networkx; parents by the rule of the smallest id."""
    G = graph.networkx()
    if inside is not None:
        G = G.subgraph(inside)
    depth = nx.single_source_shortest_path_length(G, source)
    level = [depth.get(v, -1) for v in range(graph.n)]
    parent = [
        min((u for u in G.predecessors(v) if depth.get(u, -2) == depth[v] - 1), default=-1) if v in depth else -1
        for v in range(graph.n)
    ]
    return level, parent


def search(A: Matrix, *arguments: Any, direction: str = "auto", **options: Any) -> Any:
    """(levels, parents) as NumPy arrays; again with the matrix as the first search left it."""
    first, again = (
        tuple(map(on_cpu, bfs(A, *arguments, return_parents=True, **DIRECTIONS[direction], **options)))
        for _ in range(2)
    )
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(on_cpu(bfs(A, *arguments, **DIRECTIONS[direction], **options)), first[0])
    return first


@directions_in_turns
@given(graph=any_graph, source=sources, dtype=st.sampled_from(["bool", "int32", "float64"]))
@settings(max_examples=15)
def test_levels_and_parents(direction, fmt, backend, graph, source, dtype):
    A = graph.matrix(dtype).to(fmt, device=backend)
    level, parent = search(A, source % graph.n, direction=direction)
    assert level.dtype == np.int32
    assert (level.tolist(), parent.tolist()) == levels_and_parents(graph, source % graph.n)


@every_format
@given(graph=any_graph, source=sources)
@settings(max_examples=10)
def test_a_transpose_is_searched_against_the_edges(verb, fmt, backend, graph, source):
    turned = Graph(graph.n, tuple((v, u, w) for u, v, w in graph.edges))
    for direction in DIRECTIONS:
        level, parent = search(graph.matrix(int).to(fmt, device=backend).T, source % graph.n, direction=direction)
        assert (level.tolist(), parent.tolist()) == levels_and_parents(turned, source % graph.n)


@directions_in_turns
@given(graph=any_graph, source=sources, outside=st.sets(st.integers(0, 9)))
@settings(max_examples=10)
def test_a_mask_leaves_a_subgraph(direction, fmt, backend, graph, source, outside):
    A, source = graph.matrix(int).to(fmt, device=backend), source % graph.n
    inside = {source} | set(range(graph.n)) - outside
    allowed = np.isin(np.arange(graph.n), list(inside))
    right = levels_and_parents(graph, source, inside)
    ids = np.flatnonzero(allowed)
    masks = [
        {"mask": to_device(allowed, backend)},
        {"mask": to_device(~allowed, backend), "complement": True},
        {"mask": SparseVector(ids, np.zeros(ids.size), graph.n).pattern().to(device=backend)},
        {"mask": SparseVector(range(graph.n), allowed, graph.n).to(device=backend)},
    ]
    for mask in masks:
        level, parent = search(A, source, direction=direction, **mask)
        assert (level.tolist(), parent.tolist()) == right


@directions_in_turns
@given(graph=any_graph, source=sources, deepest=st.integers(0, 4))
@settings(max_examples=10)
def test_no_farther_than_max_level(direction, fmt, backend, graph, source, deepest):
    A = graph.matrix(int).to(fmt, device=backend)
    level, parent = search(A, source % graph.n, direction=direction, max_level=deepest)
    full, tree = (np.array(x) for x in levels_and_parents(graph, source % graph.n))
    assert level.tolist() == np.where(full <= deepest, full, -1).tolist()
    assert parent.tolist() == np.where(full <= deepest, tree, -1).tolist()


@directions_in_turns
@given(graph=any_graph, source=sources, target=sources, deepest=st.one_of(st.none(), st.integers(0, 3)))
@settings(max_examples=10)
def test_no_farther_than_the_target(direction, fmt, backend, graph, source, target, deepest):
    A, source, target = graph.matrix(int).to(fmt, device=backend), source % graph.n, target % graph.n
    full, tree = (np.array(x) for x in levels_and_parents(graph, source))
    far = full > (full[target] if full[target] >= 0 else graph.n)
    far |= False if deepest is None else full > deepest
    right = np.where(far, -1, full).tolist(), np.where(far, -1, tree).tolist()
    level, parent = search(A, source, direction=direction, target=target, max_level=deepest)
    assert (level.tolist(), parent.tolist()) == right
    levels, parents = search(A, sources=[target, source], direction=direction, target=target, max_level=deepest)
    assert (levels[1].tolist(), parents[1].tolist()) == right
    assert (levels[0] <= 0).all()
    [level], _ = search(A, sources=[source], direction=direction, target=target, max_level=deepest)
    assert level.tolist() == right[0]


def test_a_target_ends_the_search_and_one_outside_the_subgraph_does_not():
    A = from_edges(np.arange(99), np.arange(1, 100), shape=100)
    for fused in (True, False):
        with trace() as traced:
            assert bfs(A, 0, target=5, fused=fused)[[5, 6]].tolist() == [5, -1]
        assert fused or len(traced.rounds) <= 6
    assert explain(bfs, A, 0, target=5).runs[0].details["levels"] == 5
    assert bfs(A, 0, target=50, mask=np.arange(100) < 20).max() == 19
    assert bfs(A, 50, target=2).max() == 49


@every_format
def test_several_sources_give_a_row_each(verb, fmt, backend):
    A = from_edges([0, 1, 2, 3], [1, 2, 0, 2], shape=5).to(fmt, device=backend)
    level, parent = search(A, sources=[3, 0, 3])
    assert level.tolist() == [[2, 3, 1, 0, -1], [0, 1, 2, -1, -1], [2, 3, 1, 0, -1]]
    assert parent.tolist() == [[2, 0, 3, -1, -1], [-1, 0, 1, -1, -1], [2, 0, 3, -1, -1]]
    assert on_cpu(bfs(A, sources=[])).shape == (0, 5)


@directions_in_turns
def test_an_edge_is_what_is_stored_whatever_its_value(direction, fmt, backend):
    for values in ([0, 0, 0], [False, True, False], [0.0, float("inf"), -1.0]):
        A = from_edges([0, 1, 1], [1, 2, 1], np.array(values), shape=3).to(fmt, device=backend)
        assert search(A, 0, direction=direction)[0].tolist() == [0, 1, 2]


@every_format
def test_graphs_at_the_edge(verb, fmt, backend):
    one = from_edges([], [], shape=1).to(fmt, device=backend)
    assert search(one, 0)[0].tolist() == [0]
    loop = from_edges([0], [0], shape=2).to(fmt, device=backend)
    assert search(loop, 0)[1].tolist() == [-1, -1]
    n = 30
    u, v = np.nonzero(~np.eye(n, dtype=bool))
    complete = from_edges(u, v, shape=n).to(fmt, device=backend)
    level, parent = search(complete, 7)
    assert level.tolist() == [int(v != 7) for v in range(n)]
    assert parent.tolist() == [-1 if v == 7 else 7 for v in range(n)]


def chain(n: int, *, closed: bool = False) -> Matrix:
    """0 → 1 → … → n-1, and if it is closed back to 0."""
    ids = np.arange(n if closed else n - 1)
    return from_edges(ids, (ids + 1) % n, shape=n)


@every_format
@pytest.mark.parametrize("closed", [False, True])
def test_a_long_path_and_a_giant_cycle(verb, fmt, backend, closed):
    n = 2000
    A = chain(n, closed=closed).to(fmt, device=backend, **({"force": True} if fmt.__name__ == "Dense" else {}))
    level, parent = map(on_cpu, bfs(A, 5, return_parents=True))
    ids = np.arange(n)
    steps = (ids - 5) % n
    right = steps if closed else np.where(ids >= 5, ids - 5, -1)
    np.testing.assert_array_equal(level, right)
    np.testing.assert_array_equal(parent, np.where(right > 0, (ids - 1) % n, -1))


@pytest.mark.long
@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
@pytest.mark.parametrize("closed", [False, True])
def test_a_hundred_thousand_levels(backend, closed):
    n = 100_000
    level = on_cpu(bfs(chain(n, closed=closed).to(device=backend), 0))
    np.testing.assert_array_equal(level, np.arange(n))


@every_format
def test_hubs_are_found_from_both_ends(verb, fmt, backend):
    """Rows far longer than a warp, of which the last entry alone is in the frontier."""
    n = 3000
    rng = np.random.default_rng(4)
    spokes = rng.permutation(n - 2) + 1
    A = from_edges(
        np.concatenate((spokes, [n - 1], [0])), np.concatenate((np.zeros(n - 2, int), [0], [n - 1])), shape=n
    )
    options = {"force": True} if fmt.__name__ in ("Dense", "ELL") else {}
    M = A.to(fmt, device=backend, **options)
    for direction in DIRECTIONS:
        level, parent = search(M, n - 1, direction=direction)
        assert (level[0], parent[0], (level >= 0).sum()) == (1, n - 1, 2)
        level, parent = search(M.T, 0, direction=direction)
        assert (level == 1).sum() == n - 1
        assert (parent[1:] == 0).all()


def test_first_searches_do_not_turn_the_matrix_and_a_later_one_does():
    rng = np.random.default_rng(0)
    A = from_edges(rng.integers(0, 500, 9000), rng.integers(0, 500, 9000), shape=500)
    for made in [False] * TURNED_AFTER["cpu"] + [True]:
        with trace() as t:
            bfs(A, 0)
        assert has_columns(A) == made
        assert ("pull" in {row.direction for row in t.rounds}) == made
    assert isinstance(A, CSR)


@every_format
def test_a_trace_tells_levels_and_directions(verb, fmt, backend):
    A = from_edges([0, 0, 1, 2], [1, 2, 3, 3], shape=4).to(fmt, device=backend)
    with trace() as t:
        bfs(A, 0, direction="pull")
        bfs(A, 0, direction="push")
    rows = [(row.run, row.frontier, row.edges, row.direction) for row in t.rounds]
    assert rows == [
        *[(0, 1, 4, "pull"), (0, 2, 2, "pull"), (0, 1, 0, "pull")],
        *[(1, 1, 2, "push"), (1, 2, 2, "push"), (1, 1, 0, "push")],
    ]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((3,), {}, r"source must be in \[0, 3\), got 3"),
        ((0,), {"direction": "sideways"}, "direction must be 'auto', 'push' or 'pull', got 'sideways'"),
        ((0,), {"alpha": 0}, "alpha must be positive, got 0"),
        ((0,), {"beta": -1.5}, "beta must be positive, got -1.5"),
        ((0,), {"max_level": -1}, "max_level must not be negative, got -1"),
        ((0,), {"mask": np.array([False, True, True])}, "source 0 is not in the subgraph that the mask leaves"),
        ((0,), {"mask": np.array([True])}, "mask must have"),
        ((), {"sources": [0, 9]}, r"sources must be in \[0, 3\), got 9"),
    ],
)
def test_bad_arguments_are_named_before_any_work(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        bfs(from_edges([0, 1], [1, 2], shape=3), *arguments, **options)


def test_what_is_no_graph_is_refused():
    with pytest.raises(ValueError, match="a graph needs a square matrix"):
        bfs(from_edges([0], [1], shape=(2, 3)), 0)
    with pytest.raises(TypeError, match="either a source or sources"):
        bfs(from_edges([0], [1], shape=2))
    with pytest.raises(TypeError, match="A must be a matrix"):
        bfs(np.eye(3), 0)
