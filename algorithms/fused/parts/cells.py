"""Algorithms on a matrix in parts: what is registered, and imported when it is called."""

from __future__ import annotations

from typing import Any

from algorithms.bellman_ford import bellman_ford
from algorithms.bfs import bfs
from algorithms.boruvka import boruvka
from algorithms.da2cf import da2cf
from algorithms.delta_stepping import delta_stepping
from algorithms.dijkstra import dijkstra
from algorithms.scc import scc
from algorithms.shared.parents import shortest_path_tree
from algorithms.shared.single_source import Until
from algorithms.shared.traversal import Direction
from formats.parts.partitioned import Partitioned
from semiring import Semiring
from semiring.verbs.registry import Unsuited


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


@bfs.implement(Partitioned, "cpu")
def _levels(
    A: Partitioned,
    source: int,
    outside: Any,
    how: Direction,
    deepest: int | None,
    return_parents: bool,
    target: int | None = None,
) -> Any:
    if outside is not None:
        return Unsuited("a mask takes vertices out, which each step looks at")
    from .near_far import levels

    return levels(A, source, how, deepest, return_parents, target)


@boruvka.implement(Partitioned, "cpu")
def _forest(A: Partitioned, symmetrize: bool, with_labels: bool) -> Any:
    from .forests import forest

    return forest(A, symmetrize, with_labels)


@scc.implement(Partitioned, "cpu")
def _components(A: Partitioned, weak: bool, *how: Any) -> Any:
    """how: the definition searches, which changes nothing about the answer."""
    from .forests import components

    return components(A, weak)
