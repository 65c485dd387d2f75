"""Transitive closures: NetworkX's on random networks, in every format, and refused where they do not fit."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import bfs, transitive_closure
from algorithms.equations import distances_in_blocks
from bench.measure import peak_bytes
from formats import CSR, Matrix, OutOfHostMemory, from_edges
from formats.places import Place

from .conftest import Backend
from .graphs import on_cpu
from .networks import random_networks, wiki_vote
from .strategies import FORMATS, OPTIONS


def expected(G: Any, reflexive: bool) -> np.ndarray:
    """Of a graph as a directed one: along an edge and back is a cycle."""
    return (
        nx.to_numpy_array(nx.transitive_closure(G.to_directed(), reflexive=reflexive), range(len(G)), weight=None) > 0
    )


@pytest.mark.parametrize("reflexive", [False, True])
def test_random_networks(reflexive: bool) -> None:
    for A, G in random_networks(200):
        C = transitive_closure(A, reflexive=reflexive)
        assert (C.shape, C.dtype) == (A.shape, bool)
        if len(G):
            np.testing.assert_array_equal(C.to_dense(), expected(G, reflexive))


@pytest.mark.parametrize("reflexive", [False, True])
@pytest.mark.parametrize("acyclic", [False, True])
def test_more_vertices_than_are_searched_from_at_once(acyclic: bool, reflexive: bool) -> None:
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, 200, (2, 250))
    u, v = (np.minimum(u, v), np.maximum(u, v)) if acyclic else (u, v)
    A = from_edges(u, v, shape=200)
    G = nx.from_edgelist(zip(u.tolist(), v.tolist(), strict=True), nx.DiGraph)
    G.add_nodes_from(range(200))
    C = transitive_closure(A, reflexive=reflexive)
    np.testing.assert_array_equal(C.to_dense(), expected(G, reflexive))
    assert C.equals(transitive_closure(C, reflexive=reflexive))


@pytest.mark.parametrize(
    ("fmt", "backend"),
    [Backend(backend).param(fmt, name=fmt.__name__) for backend in Backend for fmt in FORMATS],
)
def test_every_format(fmt: type[Matrix], backend: str) -> None:
    for A, G in random_networks(8, seed=3):
        M = A.to(fmt, **({"force": True} if "force" in OPTIONS.get(fmt, {}) else {})).to(device=backend)
        if len(G):
            np.testing.assert_array_equal(on_cpu(transitive_closure(M).to_dense()), expected(G, False))


def test_a_path_and_a_cycle() -> None:
    n = 300
    path, around = (
        from_edges(range(n - 1 + closed), [*range(1, n), 0][: n - 1 + closed], shape=n) for closed in (0, 1)
    )
    np.testing.assert_array_equal(transitive_closure(path).to_dense(), np.triu(np.ones((n, n), bool), 1))
    assert transitive_closure(around).nnz == n * n


def test_wiki_vote_leads_where_searches_lead() -> None:
    A, _ = wiki_vote()
    C, sources = transitive_closure(A, reflexive=True), [0, 17, 4711]
    np.testing.assert_array_equal(C[sources, :].to_dense(), bfs(A, sources=sources) >= 0)


def path(n: int) -> CSR:
    return from_edges(range(n - 1), range(1, n), shape=n)


def cycle(n: int) -> CSR:
    return from_edges(range(n), [*range(1, n), 0])


@pytest.mark.parametrize("A", [path(2000), cycle(4000)], ids=["path", "cycle"])
@pytest.mark.parametrize("reflexive", [False, True])
def test_it_takes_no_more_memory_than_it_asks_for(A: CSR, reflexive: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [0]
    monkeypatch.setattr(Place, "check_room", lambda place, what, needed: asked.append(needed))
    transitive_closure(A, reflexive=reflexive)
    assert peak_bytes(lambda: transitive_closure(A, reflexive=reflexive), "cpu") <= max(asked)


def test_what_does_not_fit_is_refused_with_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Place, "questions", lambda place, needed, **how: True)
    monkeypatch.setattr(Place, "available_bytes", lambda place: 40_000)
    monkeypatch.setattr(distances_in_blocks, "FEW", 0)
    with pytest.raises(
        OutOfHostMemory, match=r"100 vertices, with at least 10,000 entries after 0 of its 1 components"
    ):
        transitive_closure(cycle(100))
    with pytest.raises(OutOfHostMemory, match=r"at least 7,520 entries after 64 of its 150 components, needs"):
        transitive_closure(path(150))
