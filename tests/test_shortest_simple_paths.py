"""The k shortest simple paths: all of them by brute force, NetworkX's lengths, published ones, in every format."""

from __future__ import annotations

import sys
from itertools import groupby, islice, pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import shortest_simple_paths, sssp
from algorithms.data import rome99
from formats import CSR, Matrix, OutOfHostMemory, from_edges, read
from formats.places import Place

from .conftest import Backend
from .networks import as_networkx, karate, les_miserables, random_networks, wiki_vote
from .strategies import FORMATS, OPTIONS

HERE = sys.modules["algorithms.equations.shortest_simple_paths"]


def length(G: Any, steps: list[int], weighted: bool) -> Any:
    return sum(G.edges[edge]["weight"] if weighted else 1 for edge in pairwise(steps))


def all_of_them(G: Any, source: int, target: int, weighted: bool) -> list[list[int]]:
    found = [[source]] if source == target else nx.all_simple_paths(G, source, target)
    return sorted(found, key=lambda steps: (length(G, steps, weighted), steps))


def check_random(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for A, G in random_networks(count, most=8, seed=seed):
        if len(G) == 0:
            continue
        source, target = (int(v) for v in rng.integers(0, len(G), 2))
        for weighted in (False, True):
            right = all_of_them(G, source, target, weighted)
            for k in (0, 1, 3, len(right) + 5):
                assert shortest_simple_paths(A, source, target, k, weighted=weighted) == right[:k]


def test_random_networks() -> None:
    check_random(200, seed=1)


@pytest.mark.quick
def test_a_few_random_networks() -> None:
    check_random(30, seed=2)


@pytest.mark.parametrize("tried", [-1000, 1])
def test_random_networks_with_a_looser_bound(tried: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HERE, "TRIED", tried)
    check_random(40, seed=3)


def check_networkx(A: CSR, G: Any, source: int, target: int, k: int, weighted: bool) -> None:
    """The same lengths, and the same paths but for the last length, of which NetworkX may choose others."""
    got = shortest_simple_paths(A, source, target, k, weighted=weighted)
    right = list(islice(nx.shortest_simple_paths(G, source, target, "weight" if weighted else None), k))
    ours, theirs = ([length(G, steps, weighted) for steps in paths] for paths in (got, right))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    assert all(len(set(steps)) == len(steps) for steps in got)
    assert {tuple(p) for p in got if length(G, p, weighted) < ours[-1]} == {
        tuple(p) for p in right if length(G, p, weighted) < ours[-1]
    }
    for _, tied in groupby(got, key=lambda steps: length(G, steps, weighted)):
        same = list(tied)
        assert same == sorted(same)


@pytest.mark.parametrize("weighted", [False, True])
def test_known_networks(weighted: bool) -> None:
    for A, G in (karate(), les_miserables()):
        for target in (9, 16, 33):
            check_networkx(A, G, 5, target, 40, weighted)


@pytest.mark.long
@pytest.mark.parametrize("weighted", [False, True])
def test_rome(weighted: bool) -> None:
    A: Any = read(rome99)
    check_networkx(A, as_networkx(A, directed=True), 0, 200, 5, weighted)


def test_wiki_vote() -> None:
    A, G = wiki_vote()
    source = max(G, key=G.out_degree)
    levels = nx.single_source_shortest_path_length(G, source)
    for far in (2, 4):
        check_networkx(A, G, source, next(v for v in levels if levels[v] == far), 30, False)


def test_the_example_of_wikipedia() -> None:
    """The three shortest from C to H, of 5, 7 and 8; the third is the first of three that long."""
    C, D, E, F, Z, H = range(6)
    edges = [(C, D, 3), (C, E, 2), (E, D, 1), (D, F, 4), (E, F, 2), (E, Z, 3), (F, Z, 2), (F, H, 1), (Z, H, 2)]
    found = shortest_simple_paths(from_edges(*zip(*edges, strict=True)), C, H, 3, weighted=True)
    assert found == [[C, E, F, H], [C, E, Z, H], [C, D, F, H]]


def test_the_first_is_as_long_as_the_distance_in_rome_and_lengths_rise() -> None:
    A: Any = read(rome99)
    found = shortest_simple_paths(A, 0, 3000, 500, weighted=True)
    lengths = [sum(int(A[edge]) for edge in pairwise(steps)) for steps in found]
    assert lengths[0] == sssp(A, 0)[3000]
    assert lengths == sorted(lengths)
    assert len({tuple(steps) for steps in found}) == 500
    assert found[:20] == shortest_simple_paths(A, 0, 3000, 20, weighted=True)


@pytest.mark.parametrize(
    ("fmt", "backend"),
    [Backend(backend).param(fmt, name=fmt.__name__) for backend in Backend for fmt in FORMATS],
)
def test_every_format(fmt: type[Matrix], backend: str) -> None:
    A, G = les_miserables()
    M = A.to(fmt, **({"force": True} if "force" in OPTIONS.get(fmt, {}) else {})).to(device=backend)
    for weighted in (False, True):
        got = shortest_simple_paths(M, 3, 70, 12, weighted=weighted)
        assert got == shortest_simple_paths(A, 3, 70, 12, weighted=weighted)
        assert length(G, got[0], weighted) == nx.shortest_path_length(G, 3, 70, "weight" if weighted else None)


def test_a_long_path_with_a_way_around_each_vertex() -> None:
    """2 ^ 500 paths: the second skips one vertex less."""
    n = 1001
    A = from_edges([*range(n - 1), *range(0, n - 2, 2)], [*range(1, n), *range(2, n, 2)], shape=n)
    found = shortest_simple_paths(A, 0, n - 1, 501)
    assert [len(steps) for steps in found] == [501, *[502] * 500]


def test_long_paths_with_dead_ends() -> None:
    """There are fewer paths than asked for: each vertex of the spine has a leaf, and one has a cycle of its own."""
    n = 5000
    spine = list(range(n))
    u = np.concatenate([spine[:-1], spine, [n + 7, 2 * n]])
    v = np.concatenate([spine[1:], np.arange(n, 2 * n), [2 * n, 7]])
    A = from_edges(np.append(u, v), np.append(v, u), np.tile(np.arange(1.0, u.size + 1), 2), shape=2 * n + 1)
    for weighted in (False, True):
        assert shortest_simple_paths(A, 0, n - 1, 3, weighted=weighted) == [spine]
        assert shortest_simple_paths(A, n - 1, n + 3, 2, weighted=weighted) == [[*spine[:2:-1], n + 3]]
    assert shortest_simple_paths(A, 7, 2 * n, 4) == [[7, 2 * n], [7, n + 7, 2 * n]]
    assert shortest_simple_paths(A, 3, 4, 2) == [[3, 4]]


def test_two_long_ways_of_equal_length() -> None:
    n = 2400
    u = np.arange(n)
    A = from_edges(np.append(u, (u + 1) % n), np.append((u + 1) % n, u), shape=n)
    assert shortest_simple_paths(A, 0, n // 2, 3) == [[*range(n // 2 + 1)], [0, *range(n - 1, n // 2 - 1, -1)]]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((0, 2, -1), "k must not be negative"),
        ((3, 0, 1), r"source must be in \[0, 3\)"),
        ((0, 3, 1), r"target must be in \[0, 3\)"),
    ],
)
def test_what_there_is_not(arguments: tuple[int, int, int], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        shortest_simple_paths(from_edges([0, 1], [1, 2]), *arguments)


def test_negative_weights_and_broken_counts_are_refused() -> None:
    A = from_edges([0, 1], [1, 2], [3, -1])
    with pytest.raises(ValueError, match="not negative, got -1"):
        shortest_simple_paths(A, 0, 2, 1, weighted=True)
    with pytest.raises(TypeError, match=r"k must be an integer, got 1\.5"):
        shortest_simple_paths(A, 0, 2, 1.5)  # type: ignore[arg-type]
    assert shortest_simple_paths(A, 0, 2, 1) == [[0, 1, 2]]


def test_too_many_edges_are_refused_with_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    A, _ = karate()
    monkeypatch.setattr(HERE, "LISTED", 10**15)
    with pytest.raises(OutOfHostMemory, match=r"shortest_simple_paths on \d+ edges needs"):
        shortest_simple_paths(A, 0, 33, 40)
    monkeypatch.setattr(Place, "available_bytes", lambda place: None)
    assert len(shortest_simple_paths(A, 0, 33, 40)) == 40
