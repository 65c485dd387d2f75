"""Bellman-Ford against plain Python, SciPy, networkx and published answers, for every format that has a vxm.

Distances are compared to the last bit: ⊕ selects and rounded addition is monotone, so the least fixpoint is the same
in whatever order edges are relaxed.
"""

from __future__ import annotations

import heapq
import importlib
import operator
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import NegativeCycle, bellman_ford, path, shortest_path_tree, sssp
from algorithms.sssp import ALGORITHMS
from formats import CSR, Matrix, from_edges, read
from semiring import MONOIDS, OPERATORS, AnyPair, LorLand, MaxMin, MaxPlus, MinMax, MinPlus, PlusTimes, Semiring

DATA = Path(__file__).parent / "data"
DTYPES = [np.dtype(name) for name in ("int32", "int64", "float32", "float64")]
INF = float("inf")

every_format = pytest.mark.cells("vxm")
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


# --- graphs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Graph:
    """n vertices and edges (u, v, weight), parallel ones and self-loops among them."""

    n: int
    edges: tuple[tuple[int, int, Any], ...]

    def matrix(self, dtype: Any, dup: str = "min") -> Matrix:
        src, dst, weights = (np.array([edge[part] for edge in self.edges]) for part in range(3))
        return from_edges(src.astype(np.int32), dst.astype(np.int32), weights.astype(dtype), shape=self.n, dup=dup)

    def weights(self, dtype: Any, best: Callable[[Any, Any], Any] = min) -> dict[tuple[int, int], Any]:
        """The best weight between two vertices: a Python integer, or a float of the dtype's precision."""
        found: dict[tuple[int, int], Any] = {}
        for u, v, w in self.edges:
            exact = int(w) if np.dtype(dtype).kind == "i" else np.dtype(dtype).type(w)
            found[u, v] = best(found[u, v], exact) if (u, v) in found else exact
        return found

    def networkx(self) -> nx.DiGraph:
        G = nx.DiGraph()
        G.add_nodes_from(range(self.n))
        G.add_weighted_edges_from((u, v, w) for (u, v), w in self.weights(float).items())
        return G


def small_weights(dtype: np.dtype) -> st.SearchStrategy[Any]:
    whole = st.integers(0, 9)
    return whole if dtype.kind == "i" else st.one_of(whole, st.floats(0, 8, width=np.finfo(dtype).bits))


def wild_weights(dtype: np.dtype) -> st.SearchStrategy[Any]:
    """Zero, the smallest numbers and such large ones that a path of 8 edges just fits."""
    if dtype.kind == "i":
        return st.sampled_from([0, 0, 1, 2, np.iinfo(dtype).max // 8, np.iinfo(dtype).max // 9])
    info = np.finfo(dtype)
    steps = [0.0, 0.0, info.smallest_subnormal, info.tiny, info.eps, 0.1, 1.0, 1 / info.eps, 2 / info.eps, info.max / 8]
    return st.sampled_from([float(step) for step in steps])


@st.composite
def graphs(draw: Any, weights: st.SearchStrategy[Any], *, max_n: int = 8, potentials: bool = False) -> Graph:
    """Random edges; with `potentials`, of any sign and without a negative cycle: w + p[u] - p[v]."""
    n = draw(st.integers(1, max_n))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex, weights), max_size=3 * n))
    if potentials:
        p = draw(st.lists(st.integers(-20, 20), min_size=n, max_size=n))
        edges = [(u, v, w + p[u] - p[v]) for u, v, w in edges]
    return Graph(n, tuple(edges))


signed_graphs = graphs(st.integers(0, 6), potentials=True)
sources = st.integers(0, 10**6)  # taken modulo n


def solve(A: Matrix, source: int, fmt: Any, backend: str, semiring: Any = MinPlus) -> tuple[np.ndarray, np.ndarray]:
    """Distances and parents as NumPy arrays, computed in a format and on a backend."""
    d, parent = bellman_ford(A.to(fmt, device=backend), source, semiring, return_parents=True)
    return on_cpu(d), on_cpu(parent)


def on_cpu(x: Any) -> np.ndarray:
    return x.get() if hasattr(x, "get") else x


# --- what is right, said once more in plain Python --------------------------------------------------------------------


@dataclass(frozen=True)
class Paths:
    """A semiring of paths: extend a path by an edge, better of two, the empty path's length. None is "no path"."""

    extend: Callable[[Any, Any], Any] = operator.add
    better: Callable[[Any, Any], bool] = operator.lt
    empty: Any = 0

    def distances(
        self, n: int, weights: dict[tuple[int, int], Any], source: int, empty: Any = None
    ) -> list[Any] | None:
        """The best length to each vertex, or None if there is none for some: round n still finds better ones."""
        d: list[Any] = [None] * n
        d[source] = self.empty if empty is None else empty
        for _ in range(n):
            previous = list(d)
            for (u, v), w in weights.items():
                if d[u] is not None and (d[v] is None or self.better(self.extend(d[u], w), d[v])):
                    d[v] = self.extend(d[u], w)
            if d == previous:
                return d
        return None

    def parents(self, weights: dict[tuple[int, int], Any], d: list[Any], source: int) -> list[int]:
        """The rule for parents: settle in rounds, each vertex on its smallest tight predecessor settled before."""
        n = len(d)
        tight: list[list[int]] = [[] for _ in range(n)]
        for (u, v), w in sorted(weights.items()):
            if d[u] is not None and v != source and self.extend(d[u], w) == d[v]:
                tight[v].append(u)
        parent = [-1] * n
        settled = {source}
        if not any(self.better(w, self.empty) for w in weights.values()):
            for v in range(n):
                nearer = [u for u in tight[v] if self.better(d[u], d[v])]
                if nearer:
                    parent[v] = min(nearer)
                    settled.add(v)
        while True:
            chosen = {v: min(settled & set(tight[v])) for v in range(n) if v not in settled and settled & set(tight[v])}
            if not chosen:
                return parent
            for v, u in chosen.items():
                parent[v] = u
            settled |= set(chosen)


SHORTEST = Paths()


def expected(graph: Graph, dtype: Any, source: int) -> tuple[np.ndarray, list[int]]:
    """Distances (unreached: the semiring's zero) and parents of MinPlus."""
    weights = graph.weights(dtype)
    with np.errstate(over="ignore"):
        d = SHORTEST.distances(graph.n, weights, source, empty=np.dtype(dtype).type(0).item())
        assert d is not None
        return as_array(d, dtype, MinPlus), SHORTEST.parents(weights, d, source)


def as_array(d: list[Any], dtype: Any, semiring: Semiring) -> np.ndarray:
    zero = semiring.zero(np.dtype(dtype))
    return np.array([zero if length is None else length for length in d], dtype)


def assert_tree(parent: np.ndarray, d: np.ndarray, A: Matrix, source: int) -> None:
    """Following parents leads every reached vertex to the source, along edges that add up to its distance."""
    zero = MinPlus.zero(d.dtype)
    for v in range(len(d)):
        if d[v] == zero:
            assert parent[v] == -1
            continue
        steps = path(parent, v) if v != source else [source]
        assert steps[0] == source
        length = d.dtype.type(0)
        for u, w in pairwise(steps):
            length += A[u, w]
        assert length == d[v]


def reachable(graph: Graph, source: int) -> set[int]:
    seen, stack = {source}, [source]
    while stack:
        u = stack.pop()
        for a, b, _ in graph.edges:
            if a == u and b not in seen:
                seen.add(b)
                stack.append(b)
    return seen


def assert_negative_cycle(cycle: list[int], graph: Graph, source: int, dtype: Any = int) -> None:
    """Closed, simple, from its smallest vertex, of existing edges, reachable, and of negative weight."""
    weights = graph.weights(dtype)
    assert cycle[0] == cycle[-1] == min(cycle)
    assert len(set(cycle)) == len(cycle) - 1
    assert sum(weights[edge] for edge in pairwise(cycle)) < 0
    assert cycle[0] in reachable(graph, source)


# --- distances --------------------------------------------------------------------------------------------------------


@every_format
@every_dtype
@given(data=st.data(), source=sources)
@settings(max_examples=40)
def test_distances_and_parents_are_plain_pythons(verb, fmt, backend, dtype, data, source):
    graph = data.draw(graphs(small_weights(dtype)))
    d, parent = solve(graph.matrix(dtype), source % graph.n, fmt, backend)
    lengths, tree = expected(graph, dtype, source % graph.n)
    assert d.dtype == dtype
    np.testing.assert_array_equal(d, lengths)
    assert parent.tolist() == tree
    assert_tree(parent, d, graph.matrix(dtype), source % graph.n)


@every_format
@every_dtype
@given(graph=signed_graphs, source=sources)
@settings(max_examples=40)
def test_negative_weights_without_a_negative_cycle(verb, fmt, backend, dtype, graph, source):
    d, parent = solve(graph.matrix(dtype), source % graph.n, fmt, backend)
    lengths, tree = expected(graph, dtype, source % graph.n)
    np.testing.assert_array_equal(d, lengths)
    assert parent.tolist() == tree
    assert_tree(parent, d, graph.matrix(dtype), source % graph.n)


@every_format
@every_dtype
@given(data=st.data(), source=sources)
@settings(max_examples=40)
def test_huge_and_tiny_weights(verb, fmt, backend, dtype, data, source):
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


@every_format
@every_dtype
def test_small_cases(verb, fmt, backend, dtype):
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


# --- parents ----------------------------------------------------------------------------------------------------------


@every_format
@every_dtype
@given(graph=graphs(st.integers(0, 1), max_n=9), source=sources)
@settings(max_examples=40)
def test_parents_where_zero_weights_close_cycles(verb, fmt, backend, dtype, graph, source):
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


# --- negative cycles --------------------------------------------------------------------------------------------------


@every_format
@every_dtype
@given(graph=graphs(st.integers(-3, 6), max_n=7), source=sources)
@settings(max_examples=60)
def test_negative_cycles_raise_where_they_are_reachable_and_only_there(verb, fmt, backend, dtype, graph, source):
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


@pytest.fixture
def rounds(monkeypatch):
    """The products in MinPlus that the definition has computed, one a round."""
    module = importlib.import_module("algorithms.bellman_ford")  # the package's attribute is the function
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
        bellman_ford.definition(A, 0)
    assert caught.value.cycle == [*range(start, start + length), start]
    assert len(rounds) <= 2 * (start + length) < n


def test_a_round_multiplies_only_what_has_changed(rounds):
    n = 50
    A = Graph(n, tuple((v, v + 1, 1) for v in range(n - 1))).matrix(np.int64)
    bellman_ford.definition(A, 0)
    assert rounds == [1] * n


# --- the ends of the range --------------------------------------------------------------------------------------------


def limits(dtype: np.dtype) -> tuple[int, int]:
    """The least and the greatest distance that an integer dtype can tell from its ends."""
    return np.iinfo(dtype).min + 1, np.iinfo(dtype).max - 1


@every_format
@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
@pytest.mark.parametrize("end", [0, 1], ids=["negative", "positive"])
def test_integer_distances_up_to_the_ends(verb, fmt, backend, dtype, end):
    last, step = limits(dtype)[end], (-1, 1)[end]
    near = Graph(3, ((0, 1, last - 5 * step), (1, 2, 5 * step)))
    assert solve(near.matrix(dtype), 0, fmt, backend)[0].tolist() == [0, last - 5 * step, last]
    over = Graph(4, ((0, 1, last - 5 * step), (1, 2, 6 * step), (2, 3, 9 * step)))
    with pytest.raises(OverflowError, match=f"does not fit {dtype}"):
        solve(over.matrix(dtype), 0, fmt, backend)
    far_over = Graph(4, tuple((v, v + 1, last) for v in range(3)))
    with pytest.raises(OverflowError, match=f"does not fit {dtype}"):
        solve(far_over.matrix(dtype), 0, fmt, backend)
    wider = np.int64 if dtype == np.int32 else np.float64
    for graph in (over, far_over):
        lengths = solve(graph.matrix(wider), 0, fmt, backend)[0]
        np.testing.assert_array_equal(lengths, expected(graph, wider, 0)[0])


@every_format
@pytest.mark.parametrize("dtype", DTYPES[:3], ids=str)
def test_a_path_that_leaves_the_range_matters_only_where_no_other_stays_in_it(verb, fmt, backend, dtype):
    last = np.iinfo(dtype).max - 1 if dtype.kind == "i" else np.finfo(dtype).max
    detour = Graph(3, ((0, 1, last), (1, 2, last), (0, 2, 7)))
    d = bellman_ford(detour.matrix(dtype).to(fmt, device=backend), 0)
    assert on_cpu(d).tolist() == [0, last, 7]
    unreachable = Graph(4, ((1, 2, last), (2, 3, last)))
    assert (
        on_cpu(bellman_ford(unreachable.matrix(dtype).to(fmt, device=backend), 0)).tolist()[1:]
        == [MinPlus.zero(dtype)] * 3
    )


@every_format
def test_float32_sums_to_infinity(verb, fmt, backend):
    graph = Graph(3, ((0, 1, 3e38), (1, 2, 3e38)))
    with pytest.raises(OverflowError, match="does not fit float32"):
        solve(graph.matrix(np.float32), 0, fmt, backend)
    assert solve(graph.matrix(np.float64), 0, fmt, backend)[0].tolist() == [0, 3e38, 6e38]


@every_format
@pytest.mark.parametrize("dtype", DTYPES[2:], ids=str)
def test_float_overflow_off_the_shortest_paths_is_silent(verb, fmt, backend, dtype):
    last = float(np.finfo(dtype).max)
    detour = Graph(3, ((0, 1, last), (1, 2, last), (0, 2, 7)))
    assert [x.tolist() for x in solve(detour.matrix(dtype), 0, fmt, backend)] == [[0, last, 7], [-1, 0, 0]]


@every_format
@pytest.mark.parametrize("dtype", DTYPES[2:], ids=str)
def test_float_sums_to_minus_infinity(verb, fmt, backend, dtype):
    last = float(np.finfo(dtype).min)
    chain = Graph(4, tuple((v, v + 1, last) for v in range(3)))
    with pytest.raises(OverflowError, match=f"does not fit {dtype}"):
        solve(chain.matrix(dtype), 0, fmt, backend)
    n = 7  # no sum goes down any more when the cycle is closed
    ring = Graph(n + 1, ((n, 0, 0), *((v, (v + 1) % n, last) for v in range(n))))
    with pytest.raises(NegativeCycle) as caught:
        solve(ring.matrix(dtype), n, fmt, backend)
    assert_negative_cycle(caught.value.cycle, ring, n)


@every_format
@given(graph=graphs(st.sampled_from([0, 1, 2**30, 2**31 - 2]), max_n=6), source=sources)
@settings(max_examples=40)
def test_int32_is_right_or_an_overflow(verb, fmt, backend, graph, source):
    lengths = SHORTEST.distances(graph.n, graph.weights(int), source % graph.n)
    A = graph.matrix(np.int32).to(fmt, device=backend)
    if any(length is not None and length >= 2**31 - 1 for length in lengths):
        with pytest.raises(OverflowError):
            bellman_ford(A, source % graph.n)
    else:
        assert on_cpu(bellman_ford(A, source % graph.n)).tolist() == as_array(lengths, np.int32, MinPlus).tolist()


@every_format
@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
@pytest.mark.parametrize("n", [2, 3, 5, 7, 40])
def test_a_negative_cycle_of_huge_weights_is_one_nevertheless(verb, fmt, backend, dtype, n):
    """Its sums reach the end of the range before they have gone around."""
    weight = np.iinfo(dtype).min // 2 + 1
    ring = Graph(n + 1, ((n, 0, 0), *((v, (v + 1) % n, weight) for v in range(n))))
    with pytest.raises(NegativeCycle) as caught:
        solve(ring.matrix(dtype), n, fmt, backend)
    assert_negative_cycle(caught.value.cycle, ring, n)


# --- what is refused --------------------------------------------------------------------------------------------------


@every_format
@pytest.mark.parametrize("source", [-1, 3, 10**12, -(10**12)])
def test_a_source_out_of_range(verb, fmt, backend, source):
    A = Graph(3, ((0, 1, 1),)).matrix(np.int32).to(fmt, device=backend)
    with pytest.raises(ValueError, match=rf"source must be in \[0, 3\), got {source}$"):
        bellman_ford(A, source)


@every_format
def test_other_arguments_that_have_no_answer(verb, fmt, backend):
    A = Graph(3, ((0, 1, 1),)).matrix(np.int32).to(fmt, device=backend)
    with pytest.raises(TypeError, match="float"):
        bellman_ford(A, 1.0)
    with pytest.raises(ValueError, match=r"square matrix, got shape \(2, 3\)"):
        bellman_ford(from_edges([0], [1], shape=(2, 3)).to(fmt, device=backend), 0)
    with pytest.raises(ValueError, match=r"source must be in \[0, 0\), got 0"):
        bellman_ford(from_edges([], [], shape=0).to(fmt, device=backend), 0)
    with pytest.raises(TypeError, match="min_plus is not defined on bool"):
        bellman_ford(A.pattern(), 0)
    with pytest.raises(ValueError, match="any_pair has no unit"):
        bellman_ford(A, 0, AnyPair)
    with pytest.raises(ValueError, match="plus_times has no order"):
        bellman_ford(A, 0, PlusTimes)
    with pytest.raises(ValueError, match="unknown semiring 'min_add'"):
        bellman_ford(A, 0, "min_add")


def test_a_weight_that_is_no_number_is_refused_before_any_algorithm():
    with pytest.raises(ValueError, match="NaN at position 1"):
        from_edges([0, 1], [1, 2], [1.0, float("nan")])


# --- other semirings --------------------------------------------------------------------------------------------------


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


@every_format
@every_dtype
@pytest.mark.parametrize("semiring", [MaxMin, MinMax], ids=repr)
@given(graph=graphs(st.integers(-4, 4)), source=sources)
@settings(max_examples=25)
def test_widest_paths_and_bottlenecks(verb, fmt, backend, dtype, semiring, graph, source):
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


@every_format
@every_dtype
@given(graph=graphs(st.integers(-2, 2)), source=sources)
@settings(max_examples=25)
def test_reachability_follows_the_pattern(verb, fmt, backend, dtype, graph, source):
    source %= graph.n
    d, parent = solve(graph.matrix(dtype), source, fmt, backend, LorLand)
    reached = nx.descendants(graph.networkx(), source) | {source}
    assert d.dtype == bool
    assert np.flatnonzero(d).tolist() == sorted(reached)

    edges = dict.fromkeys(graph.weights(int), True)
    lengths = [True if v in reached else None for v in range(graph.n)]
    assert parent.tolist() == Paths(operator.and_, operator.gt, True).parents(edges, lengths, source)


@every_format
@every_dtype
@given(graph=graphs(st.integers(-5, 5)))
@settings(max_examples=25)
def test_longest_paths_where_edges_lead_upwards(verb, fmt, backend, dtype, graph):
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


# --- published answers ------------------------------------------------------------------------------------------------

CLRS = Graph(  # s, t, x, y, z
    5,
    (
        *((0, 1, 6), (0, 3, 7), (1, 2, 5), (1, 3, 8), (1, 4, -4)),
        *((2, 1, -2), (3, 2, -3), (3, 4, 9), (4, 0, 2), (4, 2, 7)),
    ),
)


@every_format
@every_dtype
def test_the_figure_of_clrs(verb, fmt, backend, dtype):
    """Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, 3rd edition, figure 24.4."""
    d, parent = solve(CLRS.matrix(dtype), 0, fmt, backend)
    assert d.tolist() == [0, 2, 4, 7, -2]
    assert parent.tolist() == [-1, 2, 3, 0, 1]


@every_format
@pytest.mark.parametrize(
    ("name", "source", "distances"),
    [
        ("tinyEWD.txt", 0, [0, 1.05, 0.26, 0.99, 0.38, 0.73, 1.51, 0.60]),
        ("tinyEWDn.txt", 0, [0, 0.93, 0.26, 0.99, 0.26, 0.61, 1.51, 0.60]),
        ("dimacs9-sample.gr", 0, [0, 10, 10, 12, 10, 15]),
    ],
)
def test_published_distances(verb, fmt, backend, name, source, distances):
    A = read(DATA / name)
    d, parent = solve(A, source, fmt, backend)
    assert d.tolist() == pytest.approx(distances)
    assert_tree(parent, d, A, source)


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


@pytest.fixture(scope="module")
def rome() -> Matrix:
    with resources.as_file(resources.files("algorithms.data") / "rome99.gr") as file:
        return read(file)


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


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
def test_sssp_by_every_algorithm(algorithm):
    A = CLRS.matrix(np.int32)
    assert sssp(A, 0, algorithm=algorithm).tolist() == [0, 2, 4, 7, -2]
    d, parent = sssp(A, 0, MinPlus, algorithm=algorithm, return_parents=True)
    assert (d.tolist(), parent.tolist()) == ([0, 2, 4, 7, -2], [-1, 2, 3, 0, 1])


def test_sssp_of_an_unknown_name():
    with pytest.raises(ValueError, match=r"unknown algorithm 'bellman'; there are auto, bellman-ford"):
        sssp(CLRS.matrix(np.int32), 0, algorithm="bellman")


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


def test_an_implementation_of_the_whole_runs_unless_it_is_told_not_to(monkeypatch):
    A = CLRS.matrix(np.int32)
    monkeypatch.setitem(bellman_ford.table, (CSR, "cpu"), lambda A, source, *rest, **options: "the whole")
    assert bellman_ford(A, 0) == "the whole"
    assert sssp(A, 0) == "the whole"
    assert bellman_ford(A.to("coo"), 0).tolist() == [0, 2, 4, 7, -2]
    assert bellman_ford(A, 0, fused=False).tolist() == [0, 2, 4, 7, -2]
    assert bellman_ford.definition(A, 0).tolist() == [0, 2, 4, 7, -2]
