"""Shortest paths on the CPU as compiled loops, which are imported, and compiled, when they are called.

What is registered takes the arguments of the equations that it replaces, and gives their very answer: all algorithms
have one fixpoint, d = e_s ⊕ d A, and floats, whose rounded sums are monotone, reach it in any order. So all become
near-far relaxation by several threads. Where longer paths may be better, Bellman-Ford's method has a queue and a tree
in which cycles close. From several sources each is near-far relaxation, or a queue, by threads that take a source each.
"""

from __future__ import annotations

from typing import Any

from algorithms.equations.bellman_ford import bellman_ford
from algorithms.equations.da2cf import da2cf
from algorithms.equations.delta_stepping import delta_stepping
from algorithms.equations.dijkstra import dijkstra
from algorithms.equations.joint_search import joint_search
from algorithms.equations.tied_paths import count_shortest_paths
from algorithms.shared.bucket_width import bucket_width
from algorithms.shared.parents import gains_by_length, nearest_parents, shortest_path_tree
from algorithms.shared.single_source import Until
from formats import CSR
from semiring import Semiring
from semiring.verbs.registry import Declined, Deferred

MAX_SOURCES = 64
"""Number of sources at a time: answers are written to their rows at once, and a bar tells how many are done."""


def lists(A: Any, fmt: type) -> dict[str, int]:
    """Return the bytes that `Matrix.footprint` does not know of near-far relaxation: asked for, and hardly touched."""
    from .near_far import list_bytes

    return {"lists of near and far vertices": list_bytes(A)}


@bellman_ford.implement(CSR, "cpu", needs=lists)
def _bellman_ford(A: CSR, source: int, s: Semiring, until: Until) -> Any:
    if gains_by_length(A, s):
        from .label_correcting import by_queue

        return by_queue(A, source, s, until)
    from .distances import near_far

    return near_far(A, source, s, until)


for algorithm in (da2cf, delta_stepping, dijkstra):
    algorithm.implement(CSR, "cpu", needs=lists)(Deferred("algorithms.fused.cpu.distances:near_far"))


BATCH: Any = {"most": MAX_SOURCES, "needs": Deferred("algorithms.fused.cpu.batched_paths:bytes_needed")}


@bellman_ford.batch.implement(CSR, "cpu", **BATCH)
@da2cf.batch.implement(CSR, "cpu", **BATCH)
@delta_stepping.batch.implement(CSR, "cpu", **BATCH)
@dijkstra.batch.implement(CSR, "cpu", **BATCH)
def _several(A: CSR, sources: list[int], rows: Any, s: Semiring, until: Until, *, delta: Any = None) -> Any:
    from .batched_paths import each

    return each(A, sources, rows, s, until, None if delta is None else bucket_width(A, delta))


count_shortest_paths.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.path_counts:numbers_of_paths"))


@joint_search.implement(CSR, "cpu")
def _joint_search(A: CSR, starts: Any, s: Semiring, limit: Any, return_parents: bool) -> Any:
    if A.dtype.kind != "f" or gains_by_length(A, s) or not starts.size:
        return Declined("lengths that saturate, or become better by being longer, are checked from one source")
    from .distances import together

    return together(A, starts, s, limit, return_parents)


@shortest_path_tree.implement(CSR, "cpu")
def _tree(A: CSR, d: Any, source: int, semiring: Semiring) -> Any:
    return _parents(A, d, source, semiring, nearest=False)


@nearest_parents.implement(CSR, "cpu")
def _nearest_tree(A: CSR, d: Any, source: int, semiring: Semiring) -> Any:
    return _parents(A, d, source, semiring, nearest=True)


def _parents(A: CSR, d: Any, source: int, semiring: Semiring, nearest: bool) -> Any:
    if d.shape != (A.nrows,) or d.dtype != A.dtype or not 0 <= source < A.nrows:
        return Declined("the distances are not of the matrix's dtype and extent")
    from .trees import parents

    return parents(A, d, source, semiring, nearest)


shortest_path_tree.batch.implement(
    CSR, "cpu", most=MAX_SOURCES, needs=Deferred("algorithms.fused.cpu.batched_trees:bytes_needed")
)(Deferred("algorithms.fused.cpu.batched_trees:together"))
