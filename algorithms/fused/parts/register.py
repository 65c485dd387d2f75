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
from algorithms.shared.entries import entry_places
from algorithms.shared.parents import shortest_path_tree
from algorithms.shared.single_source import Exact, Until, fill_rows
from algorithms.shared.traversal import Direction
from formats.parts.partitioned import Partitioned
from semiring import Semiring
from semiring.vectors import fill
from semiring.verbs.registry import Declined

AT_ONCE = 512
"""Sources that several GPUs, or processes, divide among them at a time."""


@bellman_ford.implement(Partitioned, "cpu")
@bellman_ford.implement(Partitioned, "cuda")
@da2cf.implement(Partitioned, "cpu")
@da2cf.implement(Partitioned, "cuda")
@dijkstra.implement(Partitioned, "cpu")
@dijkstra.implement(Partitioned, "cuda")
@delta_stepping.implement(Partitioned, "cpu")
@delta_stepping.implement(Partitioned, "cuda")
def _paths(A: Partitioned, source: int, s: Semiring, until: Until, *, delta: Any = None) -> Any:
    if A.place.on_host:
        from .near_far import distances
    else:
        from .paths_on_gpus import distances

    return distances(A, source, s, until, delta)


@shortest_path_tree.implement(Partitioned, "cpu")
@shortest_path_tree.implement(Partitioned, "cuda")
def _tree(A: Partitioned, d: Any, source: int, semiring: Semiring) -> Any:
    if A.place.on_host:
        from .near_far import tree
    else:
        from .paths_on_gpus import tree

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
        return Declined("a mask takes vertices out, which each step looks at")
    from .near_far import levels

    return levels(A, source, how, deepest, return_parents, target)


@bfs.implement(Partitioned, "cuda")
def _levels_on_gpus(
    A: Partitioned, source: int, outside: Any, how: Direction, deepest: int | None, return_parents: bool
) -> Any:
    if outside is not None:
        return Declined("a mask takes vertices out, which each step looks at")
    from .levels_on_gpus import levels

    return levels(A, source, how, deepest, return_parents)


@bellman_ford.batch.implement(Partitioned, "cpu", "cuda", most=AT_ONCE, needs=lambda A, k: 8 * k * A.nrows)
@da2cf.batch.implement(Partitioned, "cpu", "cuda", most=AT_ONCE, needs=lambda A, k: 8 * k * A.nrows)
@delta_stepping.batch.implement(Partitioned, "cpu", "cuda", most=AT_ONCE, needs=lambda A, k: 8 * k * A.nrows)
@dijkstra.batch.implement(Partitioned, "cpu", "cuda", most=AT_ONCE, needs=lambda A, k: 8 * k * A.nrows)
def _many_paths(A: Partitioned, sources: list[int], rows: Any, s: Semiring, until: Until, *, delta: Any = None) -> Any:
    from .many_sources import solved

    how: Any = {} if delta is None else {"delta": delta}
    find: Any = bellman_ford if delta is None else delta_stepping

    def solve(B: Any, few: list[int], own: Any, _: slice) -> None:
        fill_rows(find, B, few, (*own, None), Until(s, until.limit), how)

    return solved(A, sources, rows[:1], solve) or Exact(rows[0])  # each has looked at its own


@shortest_path_tree.batch.implement(Partitioned, "cpu", "cuda", most=AT_ONCE, needs=lambda A, k: 8 * k * A.nrows)
def _many_trees(A: Partitioned, sources: list[int], rows: Any, s: Semiring) -> Any:
    from .many_sources import trees

    distances, parents = rows
    return trees(A, sources, distances, parents, s)


@bfs.batch.implement(Partitioned, "cpu", "cuda", most=AT_ONCE, needs=lambda A, k: 8 * k * A.nrows)
def _many_levels(
    A: Partitioned,
    sources: list[int],
    rows: Any,
    outside: Any,
    how: Direction,
    deepest: int | None,
    return_parents: bool,
) -> Any:
    if outside is not None:
        return Declined("a mask takes vertices out, which each step looks at")
    if not A.place.on_host:
        from .many_sources import levels_by_one

        return levels_by_one(A, sources, rows, how, deepest, return_parents)
    from .many_sources import solved

    rule: Any = {"direction": how.choice, "alpha": how.alpha, "beta": how.beta, "max_level": deepest}
    rule["return_parents"] = return_parents

    def solve(B: Any, few: list[int], own: Any, _: slice) -> None:
        found = bfs(B, sources=few, **rule)
        fill(own, found if return_parents else (found, None))

    return solved(A, sources, rows, solve)


@entry_places.implement(Partitioned, "cpu")
@entry_places.implement(Partitioned, "cuda")
def _places(A: Partitioned, rows: Any, cols: Any) -> Any:
    from .forests import entries_at

    return entries_at(A, rows, cols)


@boruvka.implement(Partitioned, "cpu")
@boruvka.implement(Partitioned, "cuda")
def _forest(A: Partitioned, symmetrize: bool, with_labels: bool) -> Any:
    if A.place.on_host:
        from .forests import forest
    else:
        from .forests_on_gpus import forest

    return forest(A, symmetrize, with_labels)


@scc.implement(Partitioned, "cpu")
@scc.implement(Partitioned, "cuda")
def _components(A: Partitioned, weak: bool) -> Any:
    if A.place.on_host:
        from .forests import components
    else:
        from .forests_on_gpus import components

    return components(A, weak)
