"""Calls of every function of the table on small graphs, for `semiring warm-up`: what they compile is kept on disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import networkx as nx
import numpy as np

from algorithms.named.graph import Graph
from formats import from_edges

from .interface import backend, has, implementation, signature
from .plugin.semiring_networkx import FUNCTIONS

VERTICES, EDGES = 70, 330
"""More vertices than searches that are done at once, and edges for long rows where they count both ways, else short."""

GIVEN: dict[str, Any] = {"source": 0, "target": 1, "n": 0, "v": 0, "k": 2, "distance": 2}
GIVEN |= {"sources": {0, 1}, "center_nodes": {0}}
"""What a parameter without a default is given."""

WEIGHTS = ("weight", "distance")
"""Parameters that name a weight, if they have a default."""


def usual_calls(device: str) -> Iterator[Callable[[], None]]:
    """Each function on graphs with directions, without cycles, and without directions, by weights of both types."""
    u, v = np.random.default_rng(0).integers(0, VERTICES, (2, EDGES))
    u, v = u[u != v], v[u != v]
    up, down, weights = np.minimum(u, v), np.maximum(u, v), (u + v) % 9 + 1
    both = np.concatenate((up, down)), np.concatenate((down, up)), np.tile(weights, 2)
    for dtype in ("int32", "float64"):
        for ends in ((u, v, weights), (up, down, weights), both):
            g = Graph(from_edges(*ends, shape=VERTICES, dtype=dtype))
            yield from (partial(run, name, g, device) for name in FUNCTIONS if has(name))


def run(name: str, g: Graph, device: str) -> None:
    """The function with and without weights, as far as it takes the graph."""
    parameters = dict(list(signature(name).parameters.items())[1:])
    given = {key: GIVEN[key] for key, each in parameters.items() if each.default is each.empty}
    named = [key for key in implementation(name)[1] if key in WEIGHTS and key in parameters and key not in given]
    for weight in ("weight", None) if named else ("weight",):
        try:
            found = getattr(backend, name)(g, **given, **dict.fromkeys(named, weight), device=device)
            if hasattr(found, "__next__"):
                deque(found, 0)
        except (nx.NetworkXException, NotImplementedError, ValueError):  # NetworkX would not have asked
            pass
