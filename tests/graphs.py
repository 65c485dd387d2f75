"""Graphs to find shortest paths in, and the answers in plain Python: what every test of such an algorithm shares.

    d, parent = solve(graph.matrix(dtype), source, fmt, backend, algorithm=bellman_ford)
    lengths, tree = expected(graph, dtype, source)  # by Paths, in plain Python

Distances are compared to the last bit: ⊕ selects and rounded addition is monotone, so the least fixpoint is the same
in whatever order edges are relaxed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

from algorithms import bellman_ford, path
from formats import Matrix, from_edges
from semiring import MinPlus, Semiring, vxm

from .conftest import Backend
from .strategies import has_turn

DTYPES = [np.dtype(name) for name in ("int32", "int64", "float32", "float64")]
INF = float("inf")

every_format = pytest.mark.cells("vxm")
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def in_turns(name: str, values: Iterable[Any], turns: int = 3) -> pytest.MarkDecorator:
    """(value, fmt, backend) for the cells of vxm, where the value has its turn."""
    return pytest.mark.parametrize(
        (name, "fmt", "backend"),
        [
            Backend(backend).param(value, fmt, name=f"{value}-{fmt.__name__}")
            for fmt, backend in vxm.table
            for k, value in enumerate(values)
            if has_turn(k, fmt, backend, turns)
        ],
    )


dtypes_in_turns = in_turns("dtype", DTYPES, turns=2)
"""Every format with one dtype of integers and one of floats."""


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


def solve(
    A: Matrix, source: int, fmt: Any, backend: str, semiring: Any = MinPlus, *, algorithm: Any = bellman_ford
) -> tuple[np.ndarray, np.ndarray]:
    """Distances and parents as NumPy arrays, computed in a format and on a backend."""
    d, parent = algorithm(A.to(fmt, device=backend), source, semiring, return_parents=True)
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
