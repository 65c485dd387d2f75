"""Random graphs of NetworkX, random arguments for its functions, and answers in a form that shows order and types."""

from __future__ import annotations

import importlib
import inspect
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from networkx.utils.backends import _registered_algorithms as REGISTERED

from algorithms.networkx.interface import backend
from algorithms.networkx.plugin.semiring_networkx import FUNCTIONS

THEIRS: dict[str, Callable[..., Any]] = {
    name: getattr(importlib.import_module(REGISTERED[name].orig_func.__module__), REGISTERED[name].orig_func.__name__)
    for name in FUNCTIONS
    if name in REGISTERED
}
"""NetworkX's own functions; a few have another name in another version."""

ROUNDED = {
    "average_shortest_path_length",
    "betweenness_centrality",
    "eigenvector_centrality",
    "floyd_warshall_numpy",
    "global_efficiency",
    "harmonic_centrality",
    "harmonic_diameter",
    "katz_centrality",
    "closeness_centrality",
    "pagerank",
    "wiener_index",
}
"""Functions whose answers are sums of floats, of which the last digits may differ."""

ITERATED = {"eigenvector_centrality", "katz_centrality", "pagerank"}
"""Functions that end when a step is small: where it is as small as asked for but for rounding, one may take another."""

KINDS = (nx.Graph, nx.DiGraph, nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
WEIGHTS: tuple[Callable[[random.Random], Any], ...] = (
    lambda r: 1,
    lambda r: r.randint(0, 3),
    lambda r: r.randint(1, 9),
    lambda r: r.randint(-1, 6),
    lambda r: r.choice([0.0, 0.5, 0.25, 1.0, 0.1, 0.2, 0.3]),
    lambda r: r.random() + 0.1,
)
LEFT_OUT = {"attr", "core_number", "dangling", "e", "heuristic", "keys", "neighbors", "nstart", "paths", "scc", "seed"}
LEFT_OUT |= {"sort_neighbors", "sp", "topo_order", "usebounds"}
PARAMETERS = {
    name: [
        (key, each.default is each.empty)
        for key, each in inspect.signature(REGISTERED[name].orig_func).parameters.items()
    ][1:]
    for name in THEIRS
}
"""Of each function, beside the graph: (name, must it be given?)."""


def graph(r: random.Random) -> Any:
    """A graph of any kind, with names in any order, loops, and weights with ties."""
    G = r.choice(KINDS)(name="drawn")
    n = r.choice((0, 1, 2, 3, 20)) if r.random() < 0.2 else r.randint(2, 16)
    names: list[Any] = list(range(n)) if r.random() < 0.7 else [f"v{i}" for i in range(n)]
    if r.random() < 0.7:
        r.shuffle(names)
    G.add_nodes_from(name for name in names if r.random() < 0.8)
    weigh, acyclic = r.choice(WEIGHTS), r.random() < 0.25
    for _ in range(int(n * r.choice((0.5, 1, 1.5, 2.5, 4)))):
        i, j = r.randrange(n), r.randrange(n)
        if (i == j and r.random() < 0.7) or (acyclic and i >= j):
            continue
        weight = weigh(r)
        if isinstance(weight, float) or r.random() < 0.85:
            G.add_edge(names[i], names[j], weight=weight)
        else:
            G.add_edge(names[i], names[j])
    return G


def arguments(name: str, G: Any, r: random.Random) -> dict[str, Any]:
    """What to call a function with, beside the graph."""
    nodes = list(G) or [0]
    given = {}
    for key, needed in PARAMETERS[name]:
        if key not in LEFT_OUT and (needed or r.random() < 0.6):
            for value in drawn(name, key, nodes, r):
                given[key] = value
    return given


def drawn(name: str, key: str, nodes: list[Any], r: random.Random) -> Iterator[Any]:
    """A value for a parameter, or nothing."""
    one = r.choice(nodes) if r.random() < 0.95 else "nowhere"
    some = list(dict.fromkeys(r.choices(nodes, k=r.randint(1, 3))))
    fixed = {"tol": 1e-10, "max_iter": 500, "default_weight": r.choice((1, 2))}
    if key in fixed:
        yield fixed[key]
    elif key in ("source", "target", "n", "u", "v"):
        if name != "average_neighbor_degree":
            yield one
    elif key == "sources":
        if name != "harmonic_centrality":
            yield r.choice((some, set(some), one) if name == "bfs_layers" else (some, set(some)))
    elif key == "center_nodes":
        yield set(some)
    elif key == "nodes":
        if name in ("clustering", "triangles"):
            yield r.choice((one, some))
    elif key == "weight" or (key == "distance" and name != "descendants_at_distance"):
        yield r.choice((None, "weight", "weight"))
    elif key in ("distance", "depth_limit", "k"):
        if name != "betweenness_centrality":
            yield r.randint(0, 4)
    elif key == "cutoff":
        yield r.choice((0, 1, 2, 2.5, 0.3, -1, 4, math.inf))
    elif key == "reflexive":
        yield r.choice((None, True, False))
    elif key == "method" and name != "average_shortest_path_length":
        yield r.choice(("dijkstra", "bellman-ford", "bellman-ford", "by hand"))
    elif key == "alpha":
        yield 0.05
    elif key in ("reverse", "data", "normalized", "endpoints", "wf_improved", "count_zeros", "return_seen"):
        yield r.random() < 0.5


def form(answer: Any) -> Any:
    """An answer as plain data, with its types, and in its order; but that sets have none."""
    if type(answer) in (int, str, float):
        return type(answer).__name__, answer
    if isinstance(answer, nx.Graph):
        near = {u: {v: repr(data) for v, data in others.items()} for u, others in answer._adj.items()}
        return "graph", type(answer).__name__, form(list(answer.nodes(data=True))), near, answer.graph
    if isinstance(answer, dict):
        return "dict", [(form(key), form(value)) for key, value in answer.items()]
    if isinstance(answer, list | tuple):
        return type(answer).__name__, [form(each) for each in answer]
    if isinstance(answer, set):
        return "set", sorted(map(repr, answer))
    if isinstance(answer, np.ndarray):
        return "array", str(answer.dtype), form(answer.ravel().tolist())
    if hasattr(answer, "__next__"):
        return "iterator", [form(each) for each in answer]
    return type(answer).__name__, repr(answer)


def alike(a: Any, b: Any, rounded: bool) -> bool:
    """Are two forms equal, or with floats that are nearly so?"""
    if a == b or not rounded:
        return a == b
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(alike(x, y, rounded) for x, y in zip(a, b, strict=True))
    return False


def outcome(call: Callable[[], Any]) -> tuple[Any, ...]:
    """("answer", its form), ("error", its class and text), or ("refused",)."""
    try:
        return "answer", form(call())
    except NotImplementedError:
        return ("refused",)
    except Exception as error:
        return "error", type(error).__name__, str(error) if not isinstance(error, KeyError | TypeError) else ""


def both(name: str, G: Any, given: dict[str, Any], kept: Any = None) -> tuple[Any, Any] | None:
    """NetworkX's outcome and ours; None where NetworkX's decorators refuse the graph before any backend is asked.

    kept: the converted graph; None: it is converted for this call.
    """
    theirs = outcome(lambda: THEIRS[name](G, **given))
    if theirs[0] == "error" and theirs[1] == "NetworkXNotImplemented" and "not implemented for" in theirs[2]:
        return None
    return theirs, outcome(lambda: getattr(backend, name)(kept or backend.convert_from_nx(G), **given))


def compare(name: str, G: Any, given: dict[str, Any], said: str, kept: Any = None) -> str:
    """ "handled", "refused", "impossible" or "a step apart"; AssertionError where our answer is another."""
    found = both(name, G, given, kept)
    if found is None:
        return "impossible"
    theirs, ours = found
    if ours == ("refused",):
        return "refused"
    if name in ITERATED and not alike(theirs, ours, True):
        many = both(name, G, given | {"tol": 1e-14, "max_iter": 1000}, kept)
        if many is not None and many[0][0] == "answer" and alike(*many, True):
            return "a step apart"
    assert alike(theirs, ours, name in ROUNDED), f"{said}: {name}(G, **{given})\n{theirs}\n{ours}"
    return "handled"


def compared(seeds: Iterable[int], names: Iterable[str] = tuple(THEIRS)) -> Counter[str]:
    """How many calls of each function are handled, over random graphs; every other one is converted once for all.

    Those of iterated functions that are a step apart are counted at "a step apart".
    """
    handled: Counter[str] = Counter()
    for seed in seeds:
        G = graph(random.Random(seed))
        kept = backend.convert_from_nx(G) if seed % 2 else None
        for name in names:
            given = arguments(name, G, random.Random(f"{seed} {name}"))
            answer = compare(name, G, given, f"seed {seed}", kept)
            handled[name if answer == "handled" else answer] += answer in ("handled", "a step apart")
    return handled
