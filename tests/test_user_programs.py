"""Programs in verbs give what other ways to the same answer give, NetworkX's, NumPy's or our algorithms'."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest

import algorithms as al
from formats import CSR, Matrix, from_edges
from semiring import MinPlus, fusible
from semiring.vectors import degrees, hashed

from .random_programs import bits
from .user_programs import PROGRAMS, Program, distinct

pytestmark = pytest.mark.quick

SOURCE = 3
LARGE = int(np.iinfo("int32").max)


def graph(u: Any, v: Any, *, symmetric: bool) -> CSR:
    """The graph with these edges, one-way or both ways, without self-loops; weights are 1 to 9 and in no order."""
    u, v = np.asarray(u), np.asarray(v)
    u, v = u[u != v], v[u != v]
    if symmetric:
        u, v = np.append(u, v), np.append(v, u)
    low, high = np.minimum(u, v), np.maximum(u, v)
    weights = (hashed(low * 1000 + high if symmetric else u * 1000 + v, 5) % 9 + 1).astype("int32")
    return from_edges(u, v, weights, shape=int(max(u.max(), v.max())) + 2, dup="min")


def random_edges(n: int, m: int, skew: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(n).random((2, m)) ** skew * n).astype(np.int64)


def grid(side: int) -> tuple[list[int], list[int]]:
    ends = [(side * x + y, side * x + y + step) for x in range(side) for y in range(side) for step in (1, side)]
    kept = [(u, v) for u, v in ends if v < side * side and (v - u == side or v % side)]
    return tuple(zip(*kept, strict=True))  # type: ignore[return-value]


EDGES: dict[str, Any] = {
    "sparse": random_edges(60, 90),
    "dense": random_edges(40, 400),
    "hubs": random_edges(120, 500, 3.0),
    "grid": grid(7),
    "path": (range(30), range(1, 31)),
}
"""The last vertex of each is alone."""


# --- other ways -------------------------------------------------------------------------------------------------------


def walks_within(A: CSR, v: int, hops: int) -> Any:
    """The shortest walks of at most so many edges, by dense rounds."""
    D, d = A.to_dense(LARGE).astype("int64"), np.where(np.arange(A.nrows) == v, 0, LARGE)
    for _ in range(hops):
        d = np.minimum(d, (d[:, None] + D).min(axis=0))
    return d


def widths_within(A: CSR, v: int, hops: int) -> Any:
    D, w = A.to_dense(-LARGE - 1), np.where(np.arange(A.nrows) == v, LARGE, -LARGE - 1)
    for _ in range(hops):
        w = np.maximum(w, np.minimum(w[:, None], D).max(axis=0))
    return w


def shortest(A: CSR, v: int) -> Any:
    return al.bellman_ford(A, v)


def kept(A: CSR, keep: Any) -> Any:
    """NetworkX's graph of the entries that a function of (row, column, value) keeps."""
    G = nx.DiGraph()
    G.add_nodes_from(range(A.nrows))
    G.add_weighted_edges_from(e for e in zip(*(part.tolist() for part in A.to_edges()), strict=True) if keep(*e))
    return G


def undirected(A: CSR) -> Any:
    return nx.Graph(kept(A, lambda i, j, w: True))


def steps(G: Any, v: int) -> np.ndarray:
    """How many edges away each vertex is."""
    found = nx.single_source_shortest_path_length(G, v)
    return np.array([found.get(each, -1) for each in G.nodes], "int32")


def swept(A: CSR, v: int, sweeps: int = 4) -> int:
    longest = 0
    for _ in range(sweeps):
        level = al.bfs(A, v)
        longest, v = max(longest, int(level.max())), int(level.argmax())
    return longest


def ill(A: CSR, v: int, days: int = 10) -> Any:
    """The infection, person by person."""
    sick, immune, totals = {v: 2}, set[int](), [0] * A.nrows
    ahead = kept(A, lambda i, j, w: True)
    for day in range(days):
        if not sick:
            break
        met = {w for u in sick for w in ahead[u]} - immune - set(sick)
        caught = {w for w in met if hashed(np.array([w]), day)[0] % 3 == 0}
        immune |= {u for u, left in sick.items() if left == 1}
        sick = {u: left - 1 for u, left in sick.items() if left > 1} | dict.fromkeys(caught, 2)
        for u in sick:
            totals[u] += 1
    healthy = np.array([sick.get(u, 0) for u in range(A.nrows)], "int32")
    return healthy, np.array([u in immune for u in range(A.nrows)]), np.array(totals)


def left_by_trimming(A: CSR, v: int) -> Any:
    G = kept(A, lambda i, j, w: True)
    while alone := [u for u in G if not (G.in_degree(u) and G.out_degree(u))]:
        G.remove_nodes_from(alone)
    return np.isin(np.arange(A.nrows), list(G))


def generations(A: CSR, v: int) -> Any:
    order = nx.topological_generations(kept(A, lambda i, j, w: i % 7 < j % 7))
    layer = {u: k for k, those in enumerate(order) for u in those}
    return np.array([layer[u] for u in range(A.nrows)])


def walk_counts(A: CSR, v: int) -> Any:
    return np.linalg.matrix_power((A.to_dense(0) > 0).astype(object), 6)[v].astype("int64") % 1_000_003


def waves(A: CSR, v: int) -> Any:
    """The largest degree, less the way from there."""
    level = al.bfs(A, sources=range(A.nrows))
    return np.where(level < 0, -1, degrees(A)[:, None] - level).max(axis=0)


def nearest(A: CSR, v: int) -> Any:
    sources = np.array(sorted({0, v, A.nrows // 2}))
    d = al.sssp(A.astype("int64"), sources=sources)
    far = d.min(axis=0) == MinPlus.zero(d.dtype)
    return np.where(far, -1, d.min(axis=0)), np.where(far, -1, sources[d.argmin(axis=0)])


def power_iteration(A: CSR, v: int, kind: str) -> Any:
    """PageRank, HITS, Katz and label spreading after 20 rounds, dense."""
    D, n = A.to_dense(0).astype("float64"), A.nrows
    x, h, a = np.full(n, 1 / n), np.ones(n), np.ones(n)
    seeds = (np.arange(n) % 5 == 0) - 1.0 * (np.arange(n) % 7 == 0)
    out, known = D.sum(axis=1), seeds.copy()
    for _ in range(20):
        lost = x[out == 0].sum() / n
        x = 0.85 * (np.divide(x, out, where=out > 0, out=np.zeros(n)) @ D + lost) + 0.15 / n
        if kind == "Katz":
            a = 0.01 * (a @ D) + 1
        else:
            a = h @ D / (h @ D).max()
            h = D @ a / (D @ a).max()
        known = np.where(seeds != 0, seeds, D @ known / np.where(out == 0, 1, out))
    return {"PageRank": x, "HITS": (h, a), "Katz": a, "label spreading": known}[kind]


def dependencies(A: CSR, v: int) -> Any:
    δ = al.betweenness_centrality(A, sources=[v], normalized=False) / (A.nrows - 1)
    δ[v] = 0
    return δ


EXPECTED: dict[str, Callable[[CSR, int], Any]] = {
    "distances": shortest,
    "distances, other names": shortest,
    "distances, counted": shortest,
    "distances, dense": shortest,
    "distances, limited": lambda A, v: np.where(shortest(A, v) <= 7, shortest(A, v), LARGE),
    "distances, hops": shortest,
    "distances, parents": shortest,
    "distances, bounded hops": lambda A, v: walks_within(A, v, 3),
    "distances, there and back": lambda A, v: (shortest(A, v), shortest(A.T, v)),
    "distances, of floats": lambda A, v: al.sssp(A.astype("float64"), v),
    "Dijkstra": shortest,
    "Δ-stepping": shortest,
    "bottlenecks": lambda A, v: al.bellman_ford(A, v, "min_max"),
    "widest": lambda A, v: al.bellman_ford(A, v, "max_min"),
    "widest, bounded hops": lambda A, v: widths_within(A, v, 3),
    "A*": lambda A, v: shortest(A, v)[-2],
    "nearest source": nearest,
    "levels": lambda A, v: al.bfs(A, v),
    "levels, forbidden types": lambda A, v: steps(kept(A, lambda i, j, w: w % 3), v),
    "levels, cautious": lambda A, v: steps(kept(A, lambda i, j, w: degrees(A)[i] <= 3), v),
    "reachable": lambda A, v: al.bfs(A, v) >= 0,
    "meeting": lambda A, v: al.bfs(A, v)[-2],
    "double sweep": swept,
    "infection": ill,
    "labels": lambda A, v: al.scc(A),
    "hooking": lambda A, v: al.scc(A),
    "bipartite": lambda A, v: nx.is_bipartite(undirected(A)),
    "trimmed": left_by_trimming,
    "strong components": lambda A, v: al.scc(A),
    "layers": generations,
    "cores": lambda A, v: al.core_number(A),
    "pruned": lambda A, v: al.core_number(A) >= 3,
    "walks": walk_counts,
    "waves": waves,
    "dependencies": dependencies,
} | {name: partial(power_iteration, kind=name) for name in ("PageRank", "HITS", "Katz", "label spreading")}
"""What a program's answer, or its first parts, must be."""


# --- conditions, where an answer is not the only one ------------------------------------------------------------------


def is_maximal(A: CSR, v: int, chosen: Any) -> bool:
    beside = A.to_dense(0)[chosen].any(axis=0)
    return bool((chosen ^ beside).all())


def is_proper(A: CSR, v: int, colour: Any) -> bool:
    u, w, _ = A.to_edges()
    return bool((colour > 0).all() and (colour[u] != colour[w]).all())


def are_parents(A: CSR, v: int, answer: Any) -> bool:
    d, parent = answer
    reached = np.flatnonzero((d < LARGE) & (np.arange(A.nrows) != v))
    return bool(
        (parent >= 0).sum() == reached.size and (d[parent] + A.to_dense(0)[parent, range(A.nrows)] == d)[reached].all()
    )


def is_truss(A: CSR, v: int, answer: Any) -> bool:
    G = nx.k_truss(undirected(A), 4)
    return {frozenset(e) for e in zip(*(x.tolist() for x in answer.to_edges()[:2]), strict=True)} == {
        *map(frozenset, G.edges)
    }


def is_lightest(A: CSR, v: int, chosen: Any) -> bool:
    F, (_, rows, cols) = al.boruvka(A), PROGRAMS["forest"].arguments(A, v)
    return sorted(zip(rows[chosen], cols[chosen], strict=True)) == sorted(zip(F.rows, F.cols, strict=True))


CONDITIONS: dict[str, Callable[[CSR, int, Any], bool]] = {
    "independent set": is_maximal,
    "colours": is_proper,
    "distances, parents": are_parents,
    "truss": is_truss,
    "forest": is_lightest,
    "distances, counted": lambda A, v, answer: answer[1] <= A.nrows,
    "distances, hops": lambda A, v, answer: ((answer[1] >= 0) == (al.bfs(A, v) >= 0)).all(),
}


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_another_way_gives(name: str, edges: str) -> None:
    program: Program = PROGRAMS[name]
    A = graph(*EDGES[edges], symmetric=program.symmetric)
    answer = program.function(*program.arguments(A, SOURCE))
    assert name in EXPECTED or name in CONDITIONS
    if name in EXPECTED:
        expected = EXPECTED[name](A, SOURCE)
        for got, right in zip(parts(answer), parts(expected), strict=False):
            np.testing.assert_allclose(got, right, rtol=1e-9)
    if name in CONDITIONS:
        assert CONDITIONS[name](A, SOURCE, answer)


@pytest.mark.parametrize("fmt", ["csr", "csc", "coo", "sell"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_same_bits_as_a_whole(name: str, fmt: str) -> None:
    program = PROGRAMS[name]
    compiled = fusible(program.function)
    for edges in EDGES.values() if fmt == "csr" else (EDGES["hubs"],):
        A = graph(*edges, symmetric=program.symmetric)
        written, whole = (
            [x.to(fmt) if isinstance(x, Matrix) else x for x in program.arguments(A, SOURCE)] for _ in range(2)
        )
        assert bits(compiled(*whole)) == bits(program.function(*written))
        assert bits(whole) == bits(written)


def parts(answer: Any) -> tuple[Any, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def test_the_programs_tell_something() -> None:
    """On one graph at least a program's answer has several numbers, or the graphs have several answers."""
    numbers, answers = dict.fromkeys(PROGRAMS, 0), {name: set[str]() for name in PROGRAMS}
    for edges in EDGES.values():
        for name, program in PROGRAMS.items():
            answer = program.function(*program.arguments(graph(*edges, symmetric=program.symmetric), SOURCE))
            numbers[name] = max(numbers[name], distinct(answer))
            answers[name].add(str(answer))
    assert [name for name in PROGRAMS if numbers[name] < 2 and len(answers[name]) < 2] == []
