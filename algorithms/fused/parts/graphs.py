"""Searches, forests and components of a matrix in parts: what is registered, and imported when it is called."""

from __future__ import annotations

from typing import Any

from algorithms.bfs import bfs
from algorithms.boruvka import boruvka
from algorithms.scc import scc
from algorithms.shared.traversal import Direction
from formats.parts.partitioned import Partitioned
from semiring.verbs.registry import Unsuited


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
    """how: pushes or pulls, which changes nothing about the answer."""
    if outside is not None:
        return Unsuited("a mask takes vertices out, which each step looks at")
    from .near_far import levels

    return levels(A, source, deepest, return_parents, target)


@boruvka.implement(Partitioned, "cpu")
def _forest(A: Partitioned, symmetrize: bool, with_labels: bool) -> Any:
    from .forests import forest

    return forest(A, symmetrize, with_labels)


@scc.implement(Partitioned, "cpu")
def _components(A: Partitioned, weak: bool, *how: Any) -> Any:
    """how: the definition searches, which changes nothing about the answer."""
    from .forests import components

    return components(A, weak)
