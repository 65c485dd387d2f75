"""PageRank, triangles, cores, centralities, labels beside NetworkX: random networks, known ones, every format."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import (
    betweenness_centrality,
    bfs,
    closeness_centrality,
    clustering,
    core_number,
    diameter,
    eccentricity,
    harmonic_centrality,
    label_propagation,
    pagerank,
    triangles,
)
from algorithms.equations.distance_totals import distance_totals
from algorithms.fused.cpu.pagerank import MIN_NNZ_FOR_THREADS
from bench.graphs import grid, rmat, rmat_both_ways
from formats import CSR, Matrix, from_edges
from semiring import threads

from .conftest import Backend
from .graphs import on_cpu
from .networks import Network, karate, les_miserables, random_networks, wiki_vote
from .strategies import FORMATS, OPTIONS


@dataclass(frozen=True)
class Case:
    """ours: (A, **how) -> an array.  theirs: (NetworkX's graph, its vertices' count) -> a value for each vertex.

    directed: which networks both take; None for either.
    """

    ours: Callable[..., Any]
    theirs: Callable[[Any], dict[Any, Any]]
    directed: bool | None = None
    weights: tuple[int, int] = (0, 5)
    hard: bool = False
    """Is it slow on wiki-Vote?"""

    def check(self, network: Network, backend: str = "cpu", fmt: type[Matrix] = CSR, **how: Any) -> None:
        A, G = network
        M = A.to(fmt, **({"force": True} if "force" in OPTIONS.get(fmt, {}) else {})).to(device=backend)
        expected = self.theirs(G)
        got = on_cpu(self.ours(M, **how))
        right = np.array([expected[v] for v in range(len(G))], got.dtype)
        np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-9)


def without_loops(G: Any) -> Any:
    G = G.copy()
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    return G


TIGHT: dict[str, Any] = {"tol": 1e-12, "max_iter": 1000}


def jumping(n: int) -> list[int]:
    """How often a jump leads to each vertex."""
    return [1 + v % 3 for v in range(n)]


def labels(G: Any, rounds: int = 10) -> dict[int, int]:
    """The definition in plain Python: all at once the label that most neighbours have, the smallest of equals."""
    label = {v: v for v in G}
    for _ in range(rounds):
        votes = {v: Counter(label[u] for u in both_ways(G, v)) for v in G}
        label = {v: min(votes[v], key=lambda each: (-votes[v][each], each), default=label[v]) for v in G}
    return label


def both_ways(G: Any, v: int) -> list[int]:
    return [*G.predecessors(v), *G.successors(v)] if G.is_directed() else list(G[v])


CASES = {
    "label_propagation": Case(label_propagation, labels),
    "pagerank": Case(lambda A: pagerank(A, **TIGHT), lambda G: nx.pagerank(G, **TIGHT)),
    "pagerank, unweighted": Case(
        lambda A: pagerank(A, weighted=False, **TIGHT), lambda G: nx.pagerank(G, weight=None, **TIGHT)
    ),
    "pagerank, personalized": Case(
        lambda A: pagerank(A, alpha=0.6, personalization=np.array(jumping(A.nrows)), **TIGHT),
        lambda G: nx.pagerank(G, 0.6, dict(enumerate(jumping(len(G)))), **TIGHT),
    ),
    "pagerank, as written": Case(lambda A: pagerank(A, fused=False, **TIGHT), lambda G: nx.pagerank(G, **TIGHT)),
    "triangles": Case(triangles, nx.triangles, directed=False),
    "clustering": Case(clustering, nx.clustering, directed=False),
    "core_number": Case(core_number, lambda G: nx.core_number(without_loops(G)), directed=False),
    "core_number, as written": Case(
        lambda A: core_number(A, fused=False), lambda G: nx.core_number(without_loops(G)), directed=False
    ),
    "closeness": Case(closeness_centrality, nx.closeness_centrality, hard=True),
    "closeness, weighted": Case(
        lambda A: closeness_centrality(A, weighted=True, wf_improved=False),
        lambda G: nx.closeness_centrality(G, distance="weight", wf_improved=False),
        hard=True,
    ),
    "harmonic": Case(harmonic_centrality, nx.harmonic_centrality, hard=True),
    "harmonic, weighted": Case(
        lambda A: harmonic_centrality(A, weighted=True),
        lambda G: nx.harmonic_centrality(G, distance="weight"),
        hard=True,
    ),
}


def betweenness(weighted: bool, fused: bool, **parts: bool) -> Case:
    weight = "weight" if weighted else None
    return Case(
        lambda A: betweenness_centrality(A, weighted=weighted, fused=fused, **parts),
        lambda G: nx.betweenness_centrality(G, weight=weight, **parts),
        directed=None if parts.get("normalized", True) else False,
        weights=(1, 6),
        hard=True,
    )


CASES |= {
    f"betweenness{', weighted' * weighted}{', as written' * (not fused)}": betweenness(weighted, fused)
    for weighted in (False, True)
    for fused in (True, False)
}
CASES |= {
    f"betweenness, counted{', weighted' * weighted}{', ends too' * ends}": betweenness(
        weighted, not ends, normalized=False, endpoints=ends
    )
    for weighted in (False, True)
    for ends in (False, True)
}
CASES["betweenness, ends too"] = betweenness(False, True, endpoints=True)
NAMES = list(CASES)


def some(case: Case, count: int, seed: int = 1) -> list[Network]:
    low, high = case.weights
    return list(random_networks(count, directed=case.directed, low=low, high=high, seed=seed))


@pytest.mark.parametrize("name", NAMES)
def test_random_networks(name: str) -> None:
    for network in some(CASES[name], 200 if "weighted, " not in name else 60):
        CASES[name].check(network)


@pytest.mark.parametrize("name", NAMES)
def test_a_few_random_networks(name: str) -> None:
    for network in some(CASES[name], 12, seed=2):
        CASES[name].check(network)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("fmt", "backend"),
    [Backend(backend).param(fmt, name=fmt.__name__) for backend in Backend for fmt in FORMATS],
)
def test_every_format(name: str, fmt: type[Matrix], backend: str) -> None:
    for network in some(CASES[name], 8, seed=3):
        CASES[name].check(network, backend, fmt)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("network", [karate, les_miserables], ids=lambda network: network.__name__)
def test_known_networks(name: str, network: Callable[[], Network]) -> None:
    CASES[name].check(network())


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.directed is None and not case.hard])
def test_wiki_vote(name: str) -> None:
    CASES[name].check(wiki_vote())


HUBS: dict[str, Callable[[], CSR]] = {
    "hubs": lambda: rmat_both_ways(13, dtype=np.int32, high=9),
    "a star": lambda: star(9000),
    "stars in a row": lambda: from_edges(np.arange(9000) // 300, np.arange(9000), shape=9000),
    "a clique and a path": lambda: clique_and_path(300, 150),
    "a grid": lambda: grid(60, dtype=np.int32),
}


def star(n: int) -> CSR:
    """A vertex with an edge to each other one, and loops."""
    return from_edges([0] * n, range(n), np.arange(1, n + 1), shape=n)


def clique_and_path(k: int, n: int) -> CSR:
    """k vertices that all know each other, and n in a row after them."""
    u, v = np.triu_indices(k, 1)
    row = np.arange(k - 1, k + n - 1)
    return from_edges(np.append(u, row), np.append(v, row + 1), shape=k + n)


@pytest.mark.parametrize(("name", "backend"), [backend.param(name, name=name) for backend in Backend for name in HUBS])
def test_cores_and_ranks_of_graphs_with_long_rows(name: str, backend: str) -> None:
    A = HUBS[name]().to(device=backend)
    core, right = core_number(A, symmetrize=True), core_number(A, symmetrize=True, fused=False)
    assert on_cpu(core).tolist() == on_cpu(right).tolist()
    for weighted in (True, False):
        ways = (True, True, False)
        got, again, right = (on_cpu(pagerank(A, weighted=weighted, fused=fused, **TIGHT)) for fused in ways)
        np.testing.assert_array_equal(got, again)
        np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(("name", "backend"), [backend.param(name, name=name) for backend in Backend for name in HUBS])
def test_betweenness_of_graphs_with_long_rows_and_long_paths(name: str, backend: str) -> None:
    A = HUBS[name]().to(device=backend)
    A = A if A.dtype != bool else A.astype("float32")
    sources = [0, 7, A.nrows - 1]
    for how in ({}, {"weighted": True}, {"weighted": True, "endpoints": True, "normalized": False}):
        ways = (True, True, False)
        got, again, right = (on_cpu(betweenness_centrality(A, sources=sources, fused=fused, **how)) for fused in ways)
        np.testing.assert_array_equal(got, again)
        np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-15)


# --- PageRank ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fused", [True, False])
def test_pagerank_stops_as_networkx_does_if_its_tolerance_is_for_each_vertex(fused: bool) -> None:
    A, G = wiki_vote()
    right = nx.pagerank(G, tol=1e-8)
    np.testing.assert_allclose(pagerank(A, tol=A.nrows * 1e-8, fused=fused), list(right.values()), rtol=1e-12)


def test_the_backend_of_networkx_stops_as_networkx_does() -> None:
    for G, how in ((karate()[1], {}), (wiki_vote()[1], {}), (wiki_vote()[1], {"tol": 1e-9})):
        right = nx.pagerank(G, **how)
        assert nx.pagerank(G.copy(), backend="semiring", **how) == pytest.approx(right, rel=1e-12)
        with pytest.raises(nx.PowerIterationFailedConvergence):
            nx.pagerank(G.copy(), max_iter=2, backend="semiring", **how)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_ranks_are_right_to_the_tolerance_however_many_vertices_share_them(fused: bool, weighted: bool) -> None:
    A = grid(120, dtype=np.int32)
    right = pagerank(A, weighted=weighted, tol=1e-13, max_iter=1000)
    for tol in (1e-3, 1e-6, 1e-9):
        found = pagerank(A, weighted=weighted, tol=tol, max_iter=1000, fused=fused)
        assert abs(found - right).sum() < tol * 0.85 / (1 - 0.85)
    assert abs(pagerank(A, weighted=weighted, fused=fused) - right).sum() < 1e-6 * 0.85 / (1 - 0.85)


@pytest.mark.parametrize("fused", [True, False])
def test_pagerank_says_that_it_has_not_settled(fused: bool) -> None:
    round_trip = from_edges([0, 1, 2, 3], [1, 2, 0, 0])
    with pytest.raises(ArithmeticError, match="has not settled within 1e-06 after 2 rounds"):
        pagerank(karate()[0], max_iter=2, fused=fused)
    with pytest.raises(ArithmeticError, match="after 100 rounds"):
        pagerank(round_trip, alpha=0.999, fused=fused)
    assert pagerank(round_trip, alpha=0.999, max_iter=20_000, fused=fused).sum() == pytest.approx(1)


@pytest.mark.parametrize("fused", [True, False])
def test_pagerank_refuses_weights_of_which_there_are_no_shares(fused: bool) -> None:
    for weights in ([1e308, 1e308, 1.0], [1.0, 1.0, 1e-320]):
        A = from_edges([0, 0, 1], [1, 2, 0], weights)
        with pytest.raises(OverflowError, match="the weights that leave a vertex must add up to"):
            pagerank(A, fused=fused)
        assert pagerank(A, weighted=False, fused=fused).sum() == pytest.approx(1)
    assert pagerank(from_edges([0, 0, 1], [1, 2, 0], [8e307, 8e307, 1e-300]), fused=fused).sum() == pytest.approx(1)


def test_ranks_have_the_same_last_bits_with_any_number_of_threads() -> None:
    A = rmat(15, dtype=np.int32)
    assert A.nnz >= MIN_NNZ_FOR_THREADS
    for weighted in (True, False):
        answers = []
        for count in (1, 2, 3, 16):
            with threads(count):
                answers.append(pagerank(A, weighted=weighted))
        for answer in answers[1:]:
            np.testing.assert_array_equal(answer, answers[0])


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"alpha": 1.5}, "alpha must be within"),
        ({"personalization": np.ones(3)}, "personalization must have a number for each of 34"),
        ({"personalization": np.zeros(34)}, "with a finite sum above 0"),
        ({"personalization": -np.ones(34)}, "that are not negative"),
    ],
)
def test_pagerank_refuses(wrong: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        pagerank(karate()[0], **wrong)
    with pytest.raises(ValueError, match="not negative, got -1"):
        pagerank(from_edges([0], [1], [-1.0]))
    with pytest.raises(ValueError, match="needs finite weights"):
        pagerank(from_edges([0, 1], [1, 0], [1.0, np.inf]))


# --- communities ------------------------------------------------------------------------------------------------------


def test_the_example_of_graphalytics() -> None:
    """From its specification, appendix D.2, after 5 rounds; one more joins the fourth vertex to the others."""
    led = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6, 6, 7, 7, 7, 8], [2, 3, 1, 3, 1, 2, 5, 6, 4, 6, 7, 5, 7, 5, 6, 8, 6]
    A = from_edges(*(np.array(ends) - 1 for ends in led))
    assert label_propagation(A, max_iter=5).tolist() == [0, 0, 0, 4, 3, 3, 3, 3]
    assert label_propagation(A).tolist() == [0, 0, 0, 3, 3, 3, 3, 3]
    assert label_propagation(A, fused=False).tolist() == label_propagation(A).tolist()
    u, v, _ = A.to_edges()
    both = from_edges(np.concatenate((u, v)), np.concatenate((v, u)))
    assert label_propagation(A, symmetrize=True).tolist() == label_propagation(both).tolist()


def test_communities_that_nothing_joins_are_those_of_networkx() -> None:
    G = nx.disjoint_union_all([nx.complete_graph(k) for k in (1, 3, 4, 9)])
    label = label_propagation(from_edges(*zip(*[*G.edges, *((v, u) for u, v in G.edges)], strict=True), shape=len(G)))
    found = {frozenset(np.flatnonzero(label == each).tolist()) for each in np.unique(label)}
    assert found == set(map(frozenset, nx.community.label_propagation_communities(G)))


def test_labels_of_two_vertices_alternate_until_the_rounds_are_over() -> None:
    A = from_edges([0, 1], [1, 0])
    assert [label_propagation(A, max_iter=rounds).tolist() for rounds in (0, 1, 2)] == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize(("rounds", "error"), [(-1, ValueError), (2.5, TypeError)])
def test_rounds_that_there_are_not(rounds: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="max_iter must"):
        label_propagation(karate()[0], max_iter=rounds)


# --- eccentricities ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, "weight"])
def test_eccentricities_and_diameters(weight: str | None) -> None:
    connected = 0
    for A, G in random_networks(200, most=12):
        how = {"weighted": weight is not None}
        whole = len(G) > 0 and (nx.is_strongly_connected(G) if G.is_directed() else nx.is_connected(G))
        connected += whole
        if not whole:
            for call in (eccentricity, diameter):
                if len(G):
                    with pytest.raises(ValueError, match="no path leads from vertex"):
                        call(A, **how)
            continue
        right = nx.eccentricity(G, weight=weight)
        np.testing.assert_allclose(eccentricity(A, **how), list(right.values()), rtol=1e-9)
        np.testing.assert_allclose(eccentricity(A, vertices=[0], **how), [right[0]], rtol=1e-9)
        assert diameter(A, **how) == max(right.values())
    assert connected > 30


def test_no_vertices_have_no_diameter() -> None:
    nothing = from_edges([], [])
    assert eccentricity(nothing).tolist() == []
    with pytest.raises(ValueError, match="without vertices"):
        diameter(nothing)


@pytest.mark.parametrize(
    ("fmt", "backend"),
    [Backend(backend).param(fmt, name=fmt.__name__) for backend in Backend for fmt in FORMATS],
)
def test_eccentricities_of_known_networks(fmt: type[Matrix], backend: str) -> None:
    for (A, G), across in ((karate(), 5), (les_miserables(), 5)):
        M = A.to(fmt, **({"force": True} if "force" in OPTIONS.get(fmt, {}) else {})).to(device=backend)
        assert on_cpu(eccentricity(M)).tolist() == list(nx.eccentricity(G).values())
        assert diameter(M) == across
        assert diameter(M.astype("float64"), weighted=True) == nx.diameter(G, weight="weight")


# --- sums over all pairs ----------------------------------------------------------------------------------------------

SUMMED: dict[str, Callable[[], CSR]] = {
    "nothing": lambda: from_edges([], []),
    "no edges": lambda: from_edges([], [], shape=600),
    "a loop": lambda: from_edges([0], [0], shape=2),
    "hubs": lambda: rmat_both_ways(10, dtype=np.int32),
    "one-way hubs": lambda: rmat(10, dtype=np.int32),
    "a one-way path": lambda: from_edges(range(1099), range(1, 1100), shape=1100),
    "a star": lambda: star(1100),
    "a clique and a path": lambda: clique_and_path(60, 470),
}


@pytest.mark.parametrize(("name", "backend"), [each.param(name, name=name) for each in Backend for name in SUMMED])
def test_sums_over_all_pairs(name: str, backend: str) -> None:
    A = SUMMED[name]()
    d = bfs(A, sources=range(A.nrows)).astype(np.int64).reshape(A.nrows, A.nrows)
    right = (d >= 0).sum(axis=0), np.maximum(d, 0).sum(axis=0), d.max(axis=1, initial=0)
    for how in ({}, {"fused": False}) if "path" not in name else ({},):
        found = distance_totals(A.to(device=backend), **how)
        reached, total, inverse, farthest = map(on_cpu, found)
        assert {each.dtype for each in (reached, total, farthest)} == {np.dtype(np.int64)}
        for got, expected in zip((reached, total, farthest), right, strict=True):
            np.testing.assert_array_equal(got, expected)
        np.testing.assert_allclose(inverse, (1 / np.where(d > 0, d, np.inf)).sum(axis=0), rtol=1e-12)


def test_sums_over_all_pairs_are_the_same_with_any_number_of_threads() -> None:
    A = rmat(12, dtype=np.int32)
    with threads(1):
        right = distance_totals(A)
    with threads(3):
        for got, expected in zip(distance_totals(A), right, strict=True):
            np.testing.assert_array_equal(got, expected)


# --- betweenness ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fused", [True, False])
def test_betweenness_estimated_from_some_sources(fused: bool) -> None:
    for A, G in (karate(), les_miserables()):
        for k, endpoints in ((1, False), (7, False), (7, True)):
            sources = random.Random(k).sample(list(G), k)  # those that NetworkX draws
            right = nx.betweenness_centrality(G, k=k, seed=k, endpoints=endpoints)
            got = betweenness_centrality(A, sources=sources, endpoints=endpoints, fused=fused)
            np.testing.assert_allclose(got, list(right.values()), rtol=1e-9)


def test_betweenness_of_wiki_vote_from_some_sources() -> None:
    A, G = wiki_vote()
    right = nx.betweenness_centrality(G, k=20, seed=1)
    sources = random.Random(1).sample(list(G), 20)
    np.testing.assert_allclose(betweenness_centrality(A, sources=sources), list(right.values()), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"sources": [1, 1]}, "different vertices"),
        ({"sources": [34]}, "34"),
        ({"weighted": True}, "needs positive weights, got 0"),
    ],
)
def test_betweenness_refuses(wrong: dict[str, Any], match: str) -> None:
    A = karate()[0]
    A = A.with_values(np.zeros(A.nnz)) if "weighted" in wrong else A
    with pytest.raises(ValueError, match=match):
        betweenness_centrality(A, **wrong)


# --- triangles and cores ----------------------------------------------------------------------------------------------


def test_the_published_triangles_of_wiki_vote() -> None:
    """As SNAP says: 608,389 of them, and an average clustering of 0.1409 over those who take part."""
    A = wiki_vote()[0]
    assert int(triangles(A, symmetrize=True).sum()) == 3 * 608_389
    assert clustering(A, symmetrize=True).sum() / 7115 == pytest.approx(0.1409, abs=5e-5)


@pytest.mark.parametrize("n", [4095, 4096, 9000])
@pytest.mark.parametrize("call", [triangles, clustering])
def test_a_large_graph_without_triangles_has_none(call: Callable[..., Any], n: int) -> None:
    u = np.arange(n)
    path, star = (from_edges(hub[1:], u[1:], shape=n) for hub in (u - 1, 0 * u))
    for A in (from_edges([], [], shape=n), path, star):
        assert (call(A, symmetrize=True) == np.zeros(n)).all()


@pytest.mark.parametrize("call", [triangles, clustering, core_number])
def test_an_edge_without_its_reverse_is_named(call: Callable[..., Any]) -> None:
    A = from_edges([0, 1, 2], [1, 0, 1])
    with pytest.raises(ValueError, match="its edge 2 -> 1 has no reverse"):
        call(A)
    assert call(A, symmetrize=True).tolist() == call(from_edges([0, 1, 2, 1], [1, 0, 1, 2])).tolist()


@pytest.mark.parametrize("call", [triangles, clustering, core_number])
def test_edges_of_both_weights_are_one(call: Callable[..., Any]) -> None:
    """An undirected graph is one by its pattern, whatever the values."""
    assert call(from_edges([0, 1], [1, 0], [5.0, 9.0])).tolist() == [0 + (call is core_number)] * 2


def test_cores_of_wiki_vote_are_those_of_the_definition() -> None:
    A = wiki_vote()[0]
    core = core_number(A, symmetrize=True)
    assert core.max() == 53
    np.testing.assert_array_equal(core, core_number(A, symmetrize=True, fused=False))
