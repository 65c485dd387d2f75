"""Shortest paths on a matrix in parts: what is registered, and imported when it is called."""

from __future__ import annotations

from typing import Any

from algorithms.bellman_ford import bellman_ford
from algorithms.da2cf import da2cf
from algorithms.delta_stepping import delta_stepping
from algorithms.dijkstra import dijkstra
from algorithms.shared.parents import shortest_path_tree
from algorithms.shared.single_source import Until
from formats.parts.partitioned import Partitioned
from semiring import Semiring


@bellman_ford.implement(Partitioned, "cpu")
@da2cf.implement(Partitioned, "cpu")
@dijkstra.implement(Partitioned, "cpu")
@delta_stepping.implement(Partitioned, "cpu")
def _paths(A: Partitioned, source: int, s: Semiring, until: Until, *, delta: Any = None) -> Any:
    from .near_far import distances

    return distances(A, source, s, until, delta)


@shortest_path_tree.implement(Partitioned, "cpu")
def _tree(A: Partitioned, d: Any, source: int, semiring: Semiring) -> Any:
    from .near_far import tree

    return tree(A, d, source, semiring)
