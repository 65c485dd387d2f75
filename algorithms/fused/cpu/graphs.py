"""Searches, components and forests on the CPU as compiled loops; what compiles is imported when it is called.

What is registered takes the arguments of the equations that it replaces, and gives their very answer.
"""

from __future__ import annotations

from typing import Any

from algorithms.betweenness import betweenness_centrality
from algorithms.bfs import bfs
from algorithms.bfs_order import bfs_order
from algorithms.boruvka import boruvka
from algorithms.core_number import core_number
from algorithms.distance_totals import distance_totals
from algorithms.pagerank import pagerank
from algorithms.scc import scc
from algorithms.shared.entries import entry_places
from algorithms.topological import topological_components
from formats import CSR, CompressedCSR
from semiring.verbs.registry import Declined


@bfs.implement(CSR, "cpu")
def _bfs(A: CSR, source: int, *how: Any) -> Any:
    from .bfs import search

    return search(A, source, *how)


def _searches_need(A: Any, k: int) -> int:
    from .searches import bytes_needed

    return bytes_needed(A, k)


@bfs.batch.implement(CSR, "cpu", most=64, needs=_searches_need)
def _searches(A: CSR, sources: list[int], rows: Any, *how: Any) -> Any:
    from .searches import searches

    return searches(A, sources, rows, *how)


@scc.implement(CSR, "cpu")
def _scc(A: CSR, weak: bool) -> Any:
    from .scc import strong_components

    return strong_components(A, weak)


@bfs_order.implement(CSR, "cpu")
def _bfs_order(A: CSR, source: int, both_ways: bool) -> Any:
    from .bfs_order import queued

    return queued(A, source, both_ways)


@entry_places.implement(CSR, "cpu")
def _entry_places(A: CSR, rows: Any, cols: Any) -> Any:
    from .entries import places_at

    return places_at(A, rows, cols)


@topological_components.implement(CSR, "cpu")
def _topological_components(A: CSR, component: Any, k: int) -> Any:
    from .topological import numbered

    return numbered(A, component, k)


@boruvka.implement(CSR, CompressedCSR, "cpu")
def _boruvka(A: CSR | CompressedCSR, symmetrize: bool, with_labels: bool) -> Any:
    from .forest import forest

    if A.major == 1:
        return Declined("its columns lie together, and rows are asked for first")
    return forest(A, symmetrize, with_labels)


@core_number.implement(CSR, "cpu")
def _core_number(A: CSR, symmetrize: bool) -> Any:
    from .cores import cores

    return cores(A, symmetrize)


@distance_totals.implement(CSR, "cpu")
def _distance_totals(A: CSR) -> Any:
    from .distance_sums import totals

    return totals(A)


@pagerank.implement(CSR, "cpu")
def _pagerank(A: CSR, v: Any, alpha: float, enough: float, max_iter: int) -> Any:
    from .pagerank import ranks

    return ranks(A, v, alpha, enough, max_iter)


@betweenness_centrality.implement(CSR, "cpu")
def _betweenness(A: CSR, sources: list[int], weighted: bool, endpoints: bool) -> Any:
    from .betweenness import dependencies

    return dependencies(A, sources, weighted, endpoints)
