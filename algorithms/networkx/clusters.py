"""Triangles, and what they tell."""

from __future__ import annotations

from typing import Any

import networkx as nx

from algorithms.equations.triangles import triangles as of_each
from formats.arrays import to_device

from .answers import by_name
from .degrees import loops, summed
from .graph import Converted, once


@once
def counts(G: Converted) -> dict[Any, int]:
    """Returns the triangles of each vertex."""
    return by_name(G, to_device(of_each(G.matrix()), "cpu"))


def chosen(G: Converted, values: dict[Any, Any], nodes: Any) -> Any:
    """The values of all vertices, of one, or of several."""
    if nodes is None:
        return dict(values)
    if nodes in G:
        return values[nodes]
    if not hasattr(nodes, "__len__"):
        raise NotImplementedError("vertices that are no collection")
    return {name: values[name] for name in nodes if name in G}


def triangles(G: Converted, nodes: Any = None) -> Any:
    return chosen(G, counts(G), nodes)


def pairs(G: Converted) -> dict[Any, int]:
    """Returns how many ordered pairs of neighbours each vertex has, itself aside."""
    own = loops(G)
    d = G.rows.ends[1:] - G.rows.ends[:-1] - summed(G.rows.vertices[own], own[own].astype(int), len(G))
    return by_name(G, d * (d - 1))


def check_simple(G: Converted) -> None:
    if G.parallel:
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def clustering(G: Converted, nodes: Any = None, weight: Any = None) -> Any:
    check_simple(G)
    if G.directed or weight is not None:
        raise NotImplementedError("directed or weighted triangles")
    found = {v: 2 * t / p if t else 0 for (v, t), p in zip(counts(G).items(), pairs(G).values(), strict=True)}
    return chosen(G, found, nodes)


def average_clustering(G: Converted, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> float:
    check_simple(G)
    if nodes is not None:
        raise NotImplementedError("some vertices")
    found = list(clustering(G, None, weight).values())
    found = found if count_zeros else [c for c in found if c > 0]
    return sum(found) / len(found)


def transitivity(G: Converted) -> float:
    check_simple(G)
    if G.directed:
        raise NotImplementedError("directed triangles")
    total = 2 * sum(counts(G).values())
    return total / sum(pairs(G).values()) if total else 0
