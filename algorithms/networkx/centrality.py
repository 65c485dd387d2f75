"""Centralities that iterate, or look at all paths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from algorithms.equations.betweenness import betweenness_centrality as dependencies
from algorithms.equations.distances_in_blocks import blocks_of_distances
from algorithms.equations.pagerank import pagerank as shares
from formats import Matrix
from formats.arrays import to_device
from formats.storage.orientation import is_symmetric
from semiring import PlusTimes, vxm
from semiring.vectors import all_vertices, full

from .answers import by_name
from .degrees import edge_count, multiplicity
from .graph import Converted
from .searches import search


def summed(G: Converted, weight: Any, plain: bool = False) -> Matrix:
    """The matrix of float64 weights, parallel ones summed, on the option's device.

    plain: NetworkX computes in Python's numbers, not with an array.
    """

    def made() -> Matrix:
        values = multiplicity(G).astype(np.float64) if weight is None else G.floats(weight, plain=plain)
        return (G.rows.matrix if plain else G.array_of)(values).to(device=G.device)

    return G.once(("summed", weight, plain, G.device), made)


def pagerank(
    G: Converted,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    weight: Any = "weight",
) -> dict[Any, float]:
    n = len(G)
    if n == 0:
        return {}
    A = summed(G, weight)
    if not 0 <= alpha <= 1 or (A.nnz and float(A.values.min()) < 0):
        raise NotImplementedError("negative weights, or a factor beyond 1")
    jumps = None
    if personalization is not None:
        jumps = np.array([personalization.get(name, 0) for name in G.names], np.float64)
        if not (jumps >= 0).all():
            raise NotImplementedError("jumps that are negative")
        if jumps.sum() == 0:
            raise ZeroDivisionError
    try:
        found = shares(A, alpha=alpha, personalization=jumps, tol=n * tol, max_iter=max_iter)
    except ArithmeticError:
        raise nx.PowerIterationFailedConvergence(max_iter) from None
    return by_name(G, to_device(found, "cpu"))


def iterated(A: Matrix, x: Any, step: Callable[[Any, Any], Any], max_iter: int, tol: float) -> Any:
    """x = step(x A, x) until it moves by less than n · tol in all, or is too large to ever stop."""
    for _ in range(max_iter):
        last, x = x, step(vxm(x, A, PlusTimes), x)
        moved = float(abs(x - last).sum())
        if moved < A.nrows * tol:
            return x
        if not math.isfinite(moved):
            break
    raise nx.PowerIterationFailedConvergence(max_iter)


def norm(x: Any) -> float:
    return math.sqrt(float((x * x).sum()))


def eigenvector_centrality(
    G: Converted, max_iter: int = 100, tol: float = 1.0e-6, weight: Any = None
) -> dict[Any, float]:
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    A = summed(G, weight or None, plain=True)

    def step(t: Any, x: Any) -> Any:
        y = t + x  # (A + I)ᵀ x, which has the same vectors, and no second one of the same size
        return y / (norm(y) or 1)

    return by_name(G, to_device(iterated(A, full(all_vertices(A), 1 / n, "float64"), step, max_iter, tol), "cpu"))


def katz_centrality(
    G: Converted,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    normalized: bool = True,
    weight: Any = None,
) -> dict[Any, float]:
    if len(G) == 0:
        return {}
    if not isinstance(beta, int | float):
        raise NotImplementedError("a number for each vertex")
    A = summed(G, weight, plain=True)
    with np.errstate(over="ignore", invalid="ignore"):
        x = iterated(A, full(all_vertices(A), 0, "float64"), lambda t, _: alpha * t + float(beta), max_iter, tol)
    if normalized:
        x = x / (norm(x) or 1)
    return by_name(G, to_device(x, "cpu"))


def betweenness_centrality(
    G: Converted,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    n = len(G)
    if n == 0 and k in (None, 0):
        return {}
    weighted = weight is not None
    if weighted and G.weights(weight).min(initial=1) <= 0:
        raise NotImplementedError("weights that are not positive")
    if k == 0:
        raise NotImplementedError("no source")
    sources = None if k in (None, n) else [G.index(name) for name in seed.sample(list(G.names), k)]
    A = G.matrix(weight)
    try:
        found = dependencies(A, weighted=weighted, normalized=bool(normalized), endpoints=endpoints, sources=sources)
    except OverflowError as error:
        raise NotImplementedError(str(error)) from None
    values = to_device(found, "cpu")
    if not normalized and n > 2 - bool(endpoints) and is_symmetric(A, pattern=not weighted) == G.directed:
        values = values * 2 if G.directed else values / 2  # a path and its reverse are two if edges have directions
    return by_name(G, values)


def reached_shares(G: Converted, weight: Any, paths: Any, vertices: list[int]) -> list[float]:
    """How much of the graph each vertex leads to; where edges have no direction, the nearer the more."""
    if weight is not None or paths is not None:
        raise NotImplementedError("weights, or paths that are given")
    n = len(G)
    if edge_count(G) <= 0:
        raise nx.NetworkXError("Size of G must be positive")
    if n == 1:
        raise nx.NetworkXError("local_reaching_centrality of a single node with self-loop not well-defined")
    if not G.directed:
        found = (search(G, [v]) for v in vertices)
        lengths = (each.level[each.order[1:]].tolist() for each in found)
        return [sum([1 / length for length in each]) / (n - 1) for each in lengths]
    counts: list[int] = []
    for _, _, led in blocks_of_distances(G.matrix(), vertices, False):
        counts += to_device(led.sum(axis=1), "cpu").tolist()
    return [(count - 1) / (n - 1) for count in counts]


def local_reaching_centrality(
    G: Converted, v: Any, paths: Any = None, weight: Any = None, normalized: bool = True
) -> float:
    at = G.index(v)
    if at < 0:
        raise NotImplementedError("no such vertex")
    return reached_shares(G, weight, paths, [at])[0]


def global_reaching_centrality(G: Converted, weight: Any = None, normalized: bool = True) -> float:
    found = reached_shares(G, weight, None, list(range(len(G))))
    most = max(found)
    return sum(most - each for each in found) / (len(G) - 1)
