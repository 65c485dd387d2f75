"""Searches, components and forests on one thread, beside GAP's methods in C++ and SciPy: rows of "no cliffs".

Peers have rows and columns, made outside of their time. A fresh matrix has rows alone, and nothing kept with it: of a
search there is also a row beside a peer that has rows alone, since columns take it several searches to make. "Warm"
means that two searches came before: the second one makes the columns, and keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse import csgraph

from algorithms import bfs, boruvka, scc, triangles
from bench.experiments.fused_tasks import same_weight
from bench.graphs import grid, rmat, rmat_both_ways, uniform
from bench.measure import Disagreement
from bench.peers import gap
from formats import CSR, permute, read, vertex_order
from semiring import select, threads
from semiring.tuning.timing import host_ms

from . import VOTES


@dataclass(frozen=True)
class Case:
    """A call and a peer's that does as much.

    ours: (A) -> the answer.  theirs: () -> the peer's.  same: are the two answers alike?  fresh: is every call to have
    a matrix of its own?
    """

    name: str
    A: CSR
    ours: Callable[[CSR], Any]
    peer: str
    theirs: Callable[[], Any]
    same: Callable[[Any, Any], bool]
    fresh: bool = False


def rows(folder: Path, shrink: int = 0, calls: int = 9) -> Iterator[tuple[str, float, str, float]]:
    """Yields case, our milliseconds, the peer and its milliseconds: medians of calls in turns, each verified first.

    folder: where the file of votes is, if there is one.  shrink: bits by which generated graphs have fewer vertices.
    """
    with threads(1):
        for case in cases(folder, shrink):
            if not case.same(case.ours(copy(case.A)), case.theirs()):
                raise Disagreement(f"{case.name} and {case.peer} differ: they are not timed")
            times: list[tuple[float, float]] = []
            for _ in range(calls):
                A = copy(case.A) if case.fresh else case.A
                times.append((host_ms(lambda A=A, case=case: case.ours(A)), host_ms(case.theirs)))
            ours, theirs = (round(median(taken), 3) for taken in zip(*times, strict=True))
            yield case.name, ours, case.peer, theirs


def cases(folder: Path, shrink: int) -> Iterator[Case]:
    """Every case, one graph at a time."""
    made = {
        "R-MAT 18": lambda: rmat(18 - shrink),
        "R-MAT 20": lambda: rmat(20 - shrink),
        "uniform 2^20, degree 8": lambda: uniform(1 << 20 - shrink, 8),
        "uniform 2^20, degree 16": lambda: uniform(1 << 20 - shrink, 16),
    }
    if (folder / VOTES).exists():
        made["wiki-Vote"] = lambda: read(folder / VOTES).to(CSR)  # type: ignore[return-value]
    for graph, make in made.items():
        yield from of_network(graph, make())
    yield from of_grid(grid(1024 >> shrink // 2))
    yield from of_neighbours(rmat_both_ways(18 - shrink))


def of_network(graph: str, A: CSR) -> Iterator[Case]:
    """Components and searches; first those of a fresh matrix."""
    source = int(np.diff(A.indptr).argmax())
    for fresh, state in ((True, "fresh"), (False, "warm")):
        if not fresh:
            bfs(A, source, direction="pull")  # which makes and keeps the columns, as many searches do
        if gap.missing() is None:
            strong, weak, levels = gap.strong_components(A), gap.weak_components(A), gap.bfs(A, source)
            yield Case(f"SCC, {graph}, {state}", A, scc, "C++, two searches", strong.run, same_partition, fresh)
            ours: Callable[[CSR], Any] = lambda M: scc(M, weak=True)  # noqa: E731
            yield Case(f"WCC, {graph}, {state}", A, ours, "GAP's methods", weak.run, same_partition, fresh)
            search: Callable[[CSR], Any] = lambda M: bfs(M, source)  # noqa: E731
            yield Case(f"BFS, {graph}, {state}", A, search, "GAP's methods", levels.run, np.array_equal, fresh)
            if fresh:
                name, alone = f"BFS, {graph}, fresh, rows alone", gap.bfs(A, source, both_ways=False)
                yield Case(name, A, search, "GAP's methods", alone.run, np.array_equal, fresh)


def of_neighbours(A: CSR) -> Iterator[Case]:
    """Triangles of a fresh matrix, whose order is part of our time alone."""
    import graphblas as gb

    ordered = select(permute(A, vertex_order(A, "degree")), "tril", -1).to_graphblas().dup("INT64")

    def masked() -> int:
        return int(ordered.mxm(ordered, gb.semiring.plus_pair).new(mask=ordered.S).reduce_scalar().value)

    same = lambda t, total: t.sum() == 3 * total  # noqa: E731
    yield Case("triangles, R-MAT 18 both ways", A, triangles, "LAGraph's method", masked, same, fresh=True)


def of_grid(A: CSR) -> Iterator[Case]:
    """A search, whose reached vertices are compared, and a forest."""
    S = A.to_scipy().astype(np.float64)
    order = lambda: csgraph.breadth_first_order(S, 0, return_predecessors=False)  # noqa: E731
    yield Case("BFS, grid", A, lambda M: bfs(M, 0), "SciPy", order, ascends)
    yield Case("MST, grid", A, boruvka, "SciPy", lambda: csgraph.minimum_spanning_tree(S), same_weight)


def copy(A: CSR) -> CSR:
    """The same arrays, with nothing kept."""
    return CSR.trusted(*A.components)


def same_partition(label: np.ndarray, other: np.ndarray) -> bool:
    """True if both name the same components, ours by their smallest vertices."""
    first = np.full(int(other.max()) + 1, label.size)
    np.minimum.at(first, other, np.arange(label.size))
    return np.array_equal(first[other], label)


def ascends(level: np.ndarray, order: np.ndarray) -> bool:
    """True if the order lists all vertices that have a level, and goes by levels."""
    return order.size == np.count_nonzero(level >= 0) and bool((np.diff(level[order]) >= 0).all())
