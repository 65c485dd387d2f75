"""Registers the algorithms on matrices in parts, whose modules are imported at the first call."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from algorithms.equations.bellman_ford import bellman_ford
from algorithms.equations.bfs import bfs
from algorithms.equations.boruvka import boruvka
from algorithms.equations.da2cf import da2cf
from algorithms.equations.delta_stepping import delta_stepping
from algorithms.equations.dijkstra import dijkstra
from algorithms.equations.scc import scc
from algorithms.shared.entries import entry_places
from algorithms.shared.parents import shortest_path_tree
from algorithms.shared.single_source import Exact, Until, fill_rows
from algorithms.shared.traversal import Direction
from formats.parts.partitioned import Partitioned
from semiring import Semiring
from semiring.vectors import fill
from semiring.verbs.registry import Declined

EVERYWHERE = Partitioned, "cpu", "cuda"
BATCH: Any = {"most": 512, "needs": lambda A, k: 8 * k * A.nrows}
"""Sources that several GPUs, or processes, divide among them at a time, and the bytes that this takes."""
MASKED = "a mask takes vertices out, which each step looks at"


def imported(name: str, on_host: str, on_gpus: str) -> Callable[..., Any]:
    """Returns what calls the function `name` of one of two modules, by where the matrix is."""

    def call(A: Partitioned, *arguments: Any, **options: Any) -> Any:
        module = import_module(f".{on_host if A.place.on_host else on_gpus}", __package__)
        return getattr(module, name)(A, *arguments, **options)

    return call


paths = imported("distances", "near_far", "paths_on_gpus")
levels = imported("levels", "near_far", "levels_on_gpus")
shortest_path_tree.implement(*EVERYWHERE)(imported("tree", "near_far", "paths_on_gpus"))
shortest_path_tree.batch.implement(*EVERYWHERE, **BATCH)(imported("trees", "many_sources", "many_sources"))
boruvka.implement(*EVERYWHERE)(imported("forest", "forests", "forests_on_gpus"))
scc.implement(*EVERYWHERE)(imported("components", "forests", "forests_on_gpus"))
entry_places.implement(*EVERYWHERE)(imported("entries_at", "forests", "forests"))
for algorithm in (bellman_ford, da2cf, delta_stepping, dijkstra):
    algorithm.implement(*EVERYWHERE)(paths)


@bellman_ford.batch.implement(*EVERYWHERE, **BATCH)
@da2cf.batch.implement(*EVERYWHERE, **BATCH)
@delta_stepping.batch.implement(*EVERYWHERE, **BATCH)
@dijkstra.batch.implement(*EVERYWHERE, **BATCH)
def _batched_paths(
    A: Partitioned, sources: list[int], rows: Any, s: Semiring, until: Until, *, delta: Any = None
) -> Any:
    from .many_sources import solved

    how: Any = {} if delta is None else {"delta": delta}
    find: Any = bellman_ford if delta is None else delta_stepping

    def solve(B: Any, few: list[int], own: Any, _: slice) -> None:
        fill_rows(find, B, few, (*own, None), Until(s, until.limit), how)

    return solved(A, sources, rows[:1], solve) or Exact(rows[0])  # each has looked at its own


@bfs.implement(*EVERYWHERE)
def _levels(A: Partitioned, source: int, outside: Any, *how: Any, **target: Any) -> Any:
    return Declined(MASKED) if outside is not None else levels(A, source, *how, **target)


@bfs.batch.implement(*EVERYWHERE, **BATCH)
def _batched_levels(
    A: Partitioned,
    sources: list[int],
    rows: Any,
    outside: Any,
    how: Direction,
    deepest: int | None,
    return_parents: bool,
) -> Any:
    from .many_sources import levels_by_one, solved

    if outside is not None:
        return Declined(MASKED)
    if not A.place.on_host:
        return levels_by_one(A, sources, rows, how, deepest, return_parents)
    rule: Any = {"direction": how.choice, "alpha": how.alpha, "beta": how.beta, "max_level": deepest}
    rule["return_parents"] = return_parents

    def solve(B: Any, few: list[int], own: Any, _: slice) -> None:
        found = bfs(B, sources=few, **rule)
        fill(own, found if return_parents else (found, None))

    return solved(A, sources, rows, solve)
