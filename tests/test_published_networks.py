"""Centralities, distances and communities of networks that everyone knows: published figures, NetworkX's and igraph's.

Where NetworkX would take minutes it is asked of some vertices, and igraph, if it is installed, of all.

[1] J. Kunegis, KONECT: the Koblenz network collection, WWW Companion 2013: Zachary karate club, Les Misérables.
[2] J. Leskovec, A. Krevl, SNAP datasets: wiki-Vote, 2014.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import (
    all_pairs,
    betweenness_centrality,
    bfs,
    closeness_centrality,
    clustering,
    core_number,
    diameter,
    eccentricity,
    harmonic_centrality,
    scc,
    transitive_closure,
    triangles,
)
from bench.peers.igraph import graph
from semiring import MinPlus

from .networks import Network, both_ways, karate, les_miserables, rome, wiki_vote
from .test_centralities import CASES

SOME = 12
LARGE = pytest.mark.parametrize("network", [rome, wiki_vote], ids=lambda network: network.__name__)


# --- published --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("network", "edges", "in_triangles", "transitivity", "across", "mean_distance"),
    [(karate, 78, 45, 0.255682, 5, 2.40820), (les_miserables, 254, 467, 0.498932, 5, 2.64115)],
    ids=["karate", "les_miserables"],
)
def test_figures_of_konect(
    network: Callable[[], Network],
    edges: int,
    in_triangles: int,
    transitivity: float,
    across: int,
    mean_distance: float,
) -> None:
    """[1]"""
    A, _ = network()
    d, t = np.diff(A.indptr), triangles(A)
    assert (A.nnz, t.sum(), diameter(A)) == (2 * edges, 3 * in_triangles, across)
    assert 2 * t.sum() / (d * (d - 1)).sum() == pytest.approx(transitivity, abs=5e-7)
    D = all_pairs(A.astype("int32").with_values(np.ones(A.nnz, np.int32)))
    assert D.sum() / (A.nrows * (A.nrows - 1)) == pytest.approx(mean_distance, abs=5e-6)
    assert D.max() == eccentricity(A).max() == across


def test_figures_of_snap() -> None:
    """[2]: sizes of components, and the longest of shortest paths."""
    A, _ = wiki_vote()
    voted = np.unique(np.concatenate(A.to_edges()[:2])).size
    strong, weak = (np.bincount(scc(A, weak=weak)) for weak in (False, True))
    assert (voted, A.nnz, strong.max(), weak.max()) == (7115, 103_689, 1300, 7066)
    S, _ = both_ways(wiki_vote())
    inside = np.flatnonzero(scc(S) == weak.argmax())
    assert diameter(S[inside, inside]) == 7


# --- beside NetworkX --------------------------------------------------------------------------------------------------


def some(G: Any) -> list[int]:
    return random.Random(1).sample(list(G), SOME)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.directed is None and not case.hard])
def test_rome(name: str) -> None:
    CASES[name].check(rome())


@LARGE
@pytest.mark.parametrize("weighted", [False, True])
def test_centralities_of_some_vertices(network: Callable[[], Network], weighted: bool) -> None:
    (A, G), weight = network(), "weight" if weighted else None
    vertices = some(G)
    near = [nx.closeness_centrality(G, v, distance=weight) for v in vertices]
    np.testing.assert_allclose(closeness_centrality(A, weighted=weighted)[vertices], near, rtol=1e-9)
    harmonic = nx.harmonic_centrality(G, vertices, distance=weight)
    got = harmonic_centrality(A, vertices=vertices, weighted=weighted)
    np.testing.assert_allclose(got, [harmonic[v] for v in vertices], rtol=1e-9)
    between = nx.betweenness_centrality(G, SOME, weight=weight, seed=1)
    got = betweenness_centrality(A, sources=vertices, weighted=weighted)
    np.testing.assert_allclose(got, list(between.values()), rtol=1e-9, atol=1e-15)


@LARGE
def test_distances_and_reach_of_some_vertices(network: Callable[[], Network]) -> None:
    A, G = network()
    vertices = some(G)
    D, C, levels = all_pairs(A), transitive_closure(A, reflexive=True), bfs(A, sources=vertices)
    for v, level in zip(vertices, levels, strict=True):
        right = nx.single_source_dijkstra_path_length(G, v)
        assert {u: D[v, u] for u in np.flatnonzero(MinPlus.zero(D.dtype) != D[v])} == right
        np.testing.assert_array_equal(np.flatnonzero(C[v, :].to_dense(False)), sorted(right))
        assert {u: level[u] for u in right} == nx.single_source_shortest_path_length(G, v)


@LARGE
def test_triangles_and_cores(network: Callable[[], Network]) -> None:
    A, G = both_ways(network())
    for ours, theirs in ((triangles, nx.triangles), (clustering, nx.clustering), (core_number, nx.core_number)):
        right = theirs(G)
        np.testing.assert_allclose(ours(A), [right[v] for v in range(len(G))], rtol=1e-9)


# --- beside igraph ----------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(("network", "weighted"), [(rome, False), (rome, True), (wiki_vote, False)])
def test_centralities_of_all_vertices(network: Callable[[], Network], weighted: bool) -> None:
    A, _ = network()
    pytest.importorskip("igraph")
    theirs, how = graph(A), {"weights": "weight" if weighted else None}
    near = np.nan_to_num(theirs.closeness(mode="in", **how))
    got = closeness_centrality(A, weighted=weighted, wf_improved=False)
    np.testing.assert_allclose(got, near, rtol=1e-9)
    harmonic = np.array(theirs.harmonic_centrality(mode="in", **how)) * (A.nrows - 1)
    np.testing.assert_allclose(harmonic_centrality(A, weighted=weighted), harmonic, rtol=1e-9)
    got = betweenness_centrality(A, weighted=weighted, normalized=False)
    np.testing.assert_allclose(got, theirs.betweenness(**how), rtol=1e-9, atol=1e-6)


@pytest.mark.long
def test_eccentricities_of_rome() -> None:
    A, _ = rome()
    pytest.importorskip("igraph")
    theirs = graph(A)
    np.testing.assert_array_equal(eccentricity(A), theirs.eccentricity(mode="out"))
    np.testing.assert_array_equal(eccentricity(A, weighted=True), theirs.eccentricity(mode="out", weights="weight"))
    assert diameter(A) == theirs.diameter()
