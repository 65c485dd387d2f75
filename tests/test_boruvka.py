"""Minimum spanning forests in every format and on every backend: the very edges that Kruskal's algorithm takes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import boruvka, trace
from formats import COO, Matrix, from_edges, read
from formats.preparation.weights import edge_keys, edge_numbers

from .files import DATA
from .graphs import DTYPES, Graph, every_dtype, every_format, graphs, in_turns, on_cpu
from .test_shortest_paths import rome  # noqa: F401  # a fixture

pytestmark = pytest.mark.as_written

SIGNED = st.integers(-9, 9)


def wild(dtype: np.dtype) -> st.SearchStrategy:
    """Weights at the ends of the range, next to each other, and zeros of both signs."""
    info = np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype)
    ends = [info.min, info.max, 0, -1, 1]
    if dtype.kind == "i":
        return st.sampled_from([*ends, info.min + 1, info.max - 1])
    tiny = info.smallest_subnormal
    return st.sampled_from([*map(float, ends), -0.0, float(tiny), -float(tiny), float("inf"), float("-inf")])


def kruskal(graph: Graph, dtype: np.dtype) -> tuple[list[tuple], list[int]]:
    """(the forest's edges by (weight, smaller end, larger end), sorted by ends; the smallest vertex of each tree)."""
    root = list(range(graph.n))

    def find(v: int) -> int:
        while root[v] != v:
            v = root[v]
        return v

    weights: dict[tuple[int, int], float] = {}
    for u, v, w in graph.edges:
        key, exact = (min(u, v), max(u, v)), np.array([w]).astype(dtype)[0]
        weights[key] = min(weights[key], exact) if key in weights else exact
    chosen = []
    for (u, v), w in sorted(weights.items(), key=lambda item: (item[1], item[0])):
        a, b = find(u), find(v)
        if a != b:
            root[max(a, b)] = min(a, b)
            chosen.append((u, v, w))
    return sorted(chosen), [find(v) for v in range(graph.n)]


def undirected(graph: Graph, dtype: np.dtype) -> Matrix:
    """Every edge in both directions, of parallel ones the lightest."""
    return Graph(graph.n, graph.edges + tuple((v, u, w) for u, v, w in graph.edges)).matrix(dtype)


def edges(F: COO) -> list[tuple]:
    return list(zip(*(on_cpu(part).tolist() for part in F.to_edges()), strict=True))


@in_turns("dtype", DTYPES, turns=4)
@given(data=st.data())
@settings(max_examples=15)
def test_the_forest_is_kruskals(dtype, fmt, backend, data):
    graph = data.draw(graphs(data.draw(st.sampled_from([SIGNED, st.just(3), wild(dtype)])), max_n=10))
    A = undirected(graph, dtype).to(fmt, device=backend)
    F, label = boruvka(A, return_labels=True)
    right, trees = kruskal(graph, dtype)
    assert (type(F), F.dtype, F.device, F.shape) == (COO, dtype, backend, A.shape)
    assert edges(F) == right
    assert on_cpu(label).tolist() == trees
    assert edges(boruvka(A)) == right
    F.check()


@in_turns("dtype", DTYPES, turns=4)
@given(data=st.data())
@settings(max_examples=10)
def test_a_directed_graph_is_symmetrized_by_its_lighter_direction(dtype, fmt, backend, data):
    graph = data.draw(graphs(SIGNED, max_n=8))
    F = boruvka(graph.matrix(dtype).to(fmt, device=backend), symmetrize=True)
    assert edges(F) == kruskal(graph, dtype)[0]


@every_format
def test_forests_of_larger_graphs_span_without_a_cycle(verb, fmt, backend):
    rng = np.random.default_rng(8)
    n, m = 1500, 4000
    u, v = rng.integers(0, n, m), rng.integers(0, n, m)
    for weights in (rng.integers(-50, 50, m), np.ones(m, int), rng.random(m)):
        A = from_edges(u, v, weights, shape=n)
        options = {"force": True} if fmt.__name__ in ("Dense", "ELL") else {}
        F, label = boruvka(A.to(fmt, device=backend, **options), symmetrize=True, return_labels=True)
        G = nx.Graph()
        G.add_nodes_from(range(n))
        for a, b, w in zip(*(part.tolist() for part in A.to_edges()), strict=True):
            if a != b and w < G.get_edge_data(a, b, {"weight": np.inf})["weight"]:
                G.add_edge(a, b, weight=w)
        T = nx.Graph([(a, b) for a, b, _ in edges(F)])
        T.add_nodes_from(range(n))
        assert nx.is_forest(T)
        parts = {frozenset(part) for part in nx.connected_components(G)}
        assert {frozenset(part) for part in nx.connected_components(T)} == parts
        assert all(on_cpu(label)[v] == min(part) for part in parts for v in part)
        best = nx.minimum_spanning_tree(G).size("weight")
        assert sum(w for *_, w in edges(F)) == pytest.approx(best)


# --- known answers ----------------------------------------------------------------------------------------------------


@every_format
def test_six_vertices_on_which_directed_ties_close_a_cycle(verb, fmt, backend):
    A = from_edges([0, 2, 4, 0, 2, 4], [1, 3, 5, 3, 5, 1], [1, 1, 1, 2, 2, 2], shape=6)
    F = boruvka(A.to(fmt, device=backend), symmetrize=True)
    assert edges(F) == [(0, 1, 1), (0, 3, 2), (1, 4, 2), (2, 3, 1), (4, 5, 1)]


@every_format
def test_tiny_ewg(verb, fmt, backend):
    A = read(DATA / "tinyEWG.txt", directed=False).to(fmt, device=backend)
    F = boruvka(A)
    assert sorted(w for *_, w in edges(F)) == pytest.approx([0.16, 0.17, 0.19, 0.26, 0.28, 0.35, 0.40])


@every_format
def test_the_figure_of_clrs(verb, fmt, backend):
    """Cormen et al., figure 23.1 (third edition): weight 37."""
    weights = {"ab": 4, "ah": 8, "bc": 8, "bh": 11, "cd": 7, "ci": 2, "cf": 4, "de": 9, "df": 14, "ef": 10}
    weights |= {"fg": 2, "gh": 1, "gi": 6, "hi": 7}
    u, v = ([ord(edge[end]) - ord("a") for edge in weights] for end in (0, 1))
    A = from_edges(u, v, list(weights.values()), shape=9).to(fmt, device=backend)
    F = boruvka(A, symmetrize=True)
    assert (F.nnz, sum(w for *_, w in edges(F))) == (8, 37)


@every_format
def test_rome_as_undirected(verb, fmt, backend, rome):  # noqa: F811
    F, label = boruvka(rome.to(fmt, device=backend), symmetrize=True, return_labels=True)
    assert (int(F.values.sum()), F.nnz, int(label.max())) == (1186386, 3352, 0)


# --- extreme graphs ---------------------------------------------------------------------------------------------------


@every_format
def test_extreme_graphs(verb, fmt, backend):
    def forest(u, v, w, n):
        F, label = boruvka(from_edges(u, v, w, shape=n).to(fmt, device=backend), symmetrize=True, return_labels=True)
        return edges(F), on_cpu(label).tolist()

    assert forest([], [], np.zeros(0, int), 0) == ([], [])
    assert forest([], [], np.zeros(0, int), 3) == ([], [0, 1, 2])
    assert forest([0, 1], [0, 1], [1, -1], 2) == ([], [0, 1])  # self-loops
    u, v = np.triu_indices(30, 1)
    star = [(0, k, 5) for k in range(1, 30)]
    assert forest(u, v, np.full(u.size, 5), 30) == (star, [0] * 30)  # complete, all equal: ties by the smaller ends
    assert forest([0, 1, 2], [1, 2, 0], np.array([True, False, True]), 3)[0] == [(0, 1, True), (1, 2, False)]


@pytest.mark.parametrize("n", [2000, pytest.param(100_000, id="1e5")])
@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_long_paths_and_a_giant_cycle(backend, n):
    """Weights that fall along the path, so that all trees choose in one chain, and random ones."""
    ids, rng = np.arange(n - 1), np.random.default_rng(6)
    for weights in (n - ids, rng.permutation(n - 1)):
        path = from_edges(ids, ids + 1, weights, shape=n).to(device=backend)
        F = boruvka(path, symmetrize=True)
        assert F.nnz == n - 1
    cycle = from_edges(np.arange(n), (np.arange(n) + 1) % n, np.arange(n), shape=n).to(device=backend)
    taken = {(u, v) for u, v, _ in edges(boruvka(cycle, symmetrize=True))}
    assert {(v, v + 1) for v in range(n - 1)} | {(0, n - 1)} == taken | {(0, n - 1)}
    assert (0, n - 1) not in taken  # the heaviest


# --- what is refused, and what is told --------------------------------------------------------------------------------


@every_format
def test_a_directed_graph_is_refused_by_naming_an_edge(verb, fmt, backend):
    for edge, graph in {
        "0 -> 1": ([0, 1], [1, 2], [4, 5]),
        "1 -> 2": ([0, 1, 1, 2], [1, 0, 2, 1], [4, 4, 5, 6]),
        "2 -> 1": ([0, 1, 2], [1, 0, 1], [4, 4, 5]),
    }.items():
        A = from_edges(*graph, shape=3).to(fmt, device=backend)
        with pytest.raises(ValueError, match=f"undirected: its edge {edge} has no reverse of the same weight"):
            boruvka(A)


def test_what_is_no_graph_is_refused():
    with pytest.raises(ValueError, match="a graph needs a square matrix"):
        boruvka(from_edges([0], [1], shape=(2, 3)))


def test_a_trace_tells_how_many_trees_are_left():
    n = 64
    A = from_edges(np.arange(n - 1), np.arange(1, n), np.random.default_rng(0).permutation(n - 1), shape=n)
    with trace() as t:
        boruvka(A, symmetrize=True)
    trees = [row.frontier for row in t.rounds if row.phase == "search"]
    assert trees[0] == n
    assert all(2 * after <= before for before, after in zip(trees, trees[1:], strict=False))


def test_a_trace_tells_the_procedures_of_a_round():
    A = from_edges([0, 1, 2], [1, 2, 3], [1, 3, 2], shape=4)
    with trace() as t:
        boruvka(A, symmetrize=True)
    procedures = ["search", "cycles", "merge", "renumber", "drop"]
    assert [row.phase for row in t.rounds] == 2 * procedures
    assert [row.edges for row in t.rounds if row.phase in ("search", "drop")] == [3, 3, 1, 1]
    assert list(t.shares()) == procedures


@every_dtype
def test_keys_compare_by_weight_and_then_by_number(dtype):
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype)
    weights = np.concatenate((rng.integers(-3, 3, 50).astype(dtype), np.array([info.min, info.max], dtype)))
    keys = edge_keys(weights)
    assert np.argsort(keys).tolist() == sorted(range(52), key=lambda e: (weights[e], e))
    assert edge_numbers(keys).tolist() == list(range(52))


@every_format
@pytest.mark.parametrize("both_ways", [False, True], ids=["one way", "both ways"])
def test_each_edge_of_a_forest_is_the_entry_that_its_place_names(verb, fmt, backend, both_ways):
    rng = np.random.default_rng(1)
    u, v, w = *rng.integers(0, 40, (2, 150)), rng.integers(-3, 9, 150)
    u, v, w = (u, v, w) if not both_ways else (np.append(u, v), np.append(v, u), np.append(w, w))
    A = from_edges(u, v, w, shape=40)
    F, label, place = boruvka(A.to(fmt, device=backend), symmetrize=True, return_labels=True, return_places=True)
    rows, cols, values = (part[on_cpu(place)] for part in A.to_edges())
    assert F.nnz == 40 - np.unique(on_cpu(label)).size
    assert values.tolist() == on_cpu(F.values).tolist()
    ends = zip(on_cpu(F.rows), on_cpu(F.cols), rows, cols, strict=True)
    assert all((a, b) == (x, y) or (a, b) == (y, x) for a, b, x, y in ends)
    assert boruvka(A[:1, :1], return_places=True)[1].size == 0
