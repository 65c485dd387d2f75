"""Random networks and those that everyone knows, each as our matrix and as NetworkX's graph."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import networkx as nx
import numpy as np

from algorithms.data import rome99
from formats import CSR, from_edges, read

from .files import DATA

Network = tuple[CSR, Any]


def random_networks(
    count: int = 200, *, directed: bool | None = None, most: int = 24, low: int = 0, high: int = 5, seed: int = 1
) -> Iterator[Network]:
    """Networks from no vertex on, sparse and dense, many disconnected, with self-loops and edges given twice.

    directed: None for both in turn.  most: vertices.  low, high: of the weights, integers or floats in turn.
    """
    rng = np.random.default_rng(seed)
    for number in range(count):
        n = number if number < 3 else int(rng.integers(2, most + 1))
        m = int(rng.integers(0, 4 * n + 1)) if n else 0
        u, v = rng.integers(0, max(n, 1), (2, m))
        weights: Any = rng.integers(low, high + 1, m)
        weights = weights if number % 3 else weights + rng.integers(0, 4, m) / 4
        one_way = number % 2 == 0 if directed is None else directed
        if not one_way:
            u, v, weights = np.append(u, v), np.append(v, u), np.append(weights, weights)
        A = from_edges(u, v, weights, shape=n)
        yield A, as_networkx(A, directed=one_way)


def as_networkx(A: CSR, *, directed: bool) -> Any:
    G = A.to_networkx()
    return G if directed else nx.Graph(G)


@cache
def karate() -> Network:
    """Zachary's karate club: the members, and how often two met."""
    return undirected(nx.karate_club_graph())


@cache
def les_miserables() -> Network:
    """Characters of Les Misérables, and in how many chapters two are together."""
    return undirected(nx.convert_node_labels_to_integers(nx.les_miserables_graph()))


def undirected(G: Any) -> Network:
    u, v, w = zip(*G.edges(data="weight"), strict=True)
    A = from_edges([*u, *v], [*v, *u], [*w, *w], shape=len(G))
    return A, G


@cache
def wiki_vote() -> Network:
    """Who voted for whom as Wikipedia's administrator."""
    A = read(DATA / "wiki-Vote.txt.gz")
    return A, as_networkx(A, directed=True)


@cache
def rome() -> Network:
    """Rome's roads of 1999, each way with its length."""
    A: Any = read(rome99)
    return A, as_networkx(A, directed=True)


def both_ways(network: Network) -> Network:
    """The network as an undirected one, without self-loops; edges are as long as one of their directions."""
    G = nx.Graph(network[1])
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    return undirected(G)
