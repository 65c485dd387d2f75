"""Shortest paths on the CPU one step aside of the usual case, each beside a peer: what `cliffs` says of them.

Negative weights are made by potentials, w + p_u - p_v, so that the distances are known from those without: every
answer is checked against SciPy's Dijkstra on the graph that has no negative weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse import csgraph

from algorithms import NegativeCycle, bellman_ford, sssp
from bench.experiments.fused_tasks import NEW_YORK
from bench.graphs import grid, rmat, rmat_both_ways
from bench.laboratory import bellman_ford_by
from bench.measure import Disagreement
from bench.peers import gap
from bench.peers.igraph import IGRAPH, graph
from formats import CSR, Matrix, from_edges, read
from semiring import MinPlus, threads
from semiring.tuning.timing import host_ms

from . import VOTES


@dataclass(frozen=True)
class Row:
    """A timed case on a graph, in milliseconds, and the time of `peer` for the same."""

    case: str
    graph: str
    ms: float
    peer: str
    peer_ms: float


def rows(folder: Path, *, quick: bool = False, repeats: int = 5) -> Iterator[Row]:
    """Every row; those of New York only where its file is in the folder.  quick: on small graphs."""
    roads = folder / NEW_YORK
    A: Any = read(roads).to(CSR) if roads.exists() and not quick else grid(32 if quick else 512)
    name = "NY" if roads.exists() and not quick else "grid"
    scales = (10,) if quick else (18, 20)
    yield from negative(A, name, repeats, with_igraph=True)
    yield from negative(chain_and_star(100 if quick else 20_000, 1000 if quick else 1_000_000), "chain, star", repeats)
    for scale in scales:
        yield from negative(rmat(scale), f"rmat{scale}", repeats)
    yield from queues(A, name, repeats)
    for scale in scales:
        yield from searches(rmat(scale), f"rmat{scale}", repeats)
    yield from searches(rmat_both_ways(scales[0]), f"rmat{scales[0]}s", repeats)
    votes = folder / VOTES
    small: Any = from_votes(votes) if votes.exists() and not quick else rmat(9)
    yield from searches(small, "wiki-Vote" if votes.exists() and not quick else "rmat9", 8 * repeats)


def negative(A: CSR, name: str, repeats: int, *, with_igraph: bool = False) -> Iterator[Row]:
    """Weights of any sign beside those without a sign, all on fresh matrices; a planted cycle; and igraph.

    Fresh, since what a matrix without negative weights keeps makes its third search several times as fast.
    """
    source, u = busiest(A), A.to_edges()[0]
    p = np.random.default_rng(1).integers(0, 2 * int(A.values.mean()) + 2, A.nrows)
    d = lengths(A, source)
    B = A.with_values((A.values.astype(np.int64) + p[u] - p[A.indices]).astype(np.int32))
    right = d + p[source] - p
    check(name, bellman_ford(B, source), right)
    plain, ours = medians(repeats, lambda: sssp(fresh(A), source), lambda: bellman_ford(fresh(B), source))
    yield Row("negative weights", name, ours, "ours without", plain)
    tree = medians(repeats, lambda: bellman_ford(fresh(B), source, return_parents=True))[0]
    yield Row("negative weights, with the tree", name, tree, "ours without", plain)
    last = int(np.flatnonzero(np.isfinite(d))[-1])
    on_cycle = from_edges([last], [source], np.array([-int(right[last]) - 1], np.int32), shape=A.shape)
    C = with_edge(B, on_cycle)
    check_cycle(C, cycle(C, source))
    yield Row("a planted cycle", name, medians(repeats, lambda: cycle(fresh(C), source))[0], "ours without", plain)
    if with_igraph:
        yield from beside_igraph(B, source, name, right, ours)


def beside_igraph(B: CSR, source: int, name: str, right: np.ndarray, ours: float) -> Iterator[Row]:
    """igraph's Bellman-Ford, if it is installed; one run, as it takes seconds."""
    if IGRAPH.missing():
        return
    G, found = graph(B), []
    time = host_ms(lambda: found.extend(G.distances(source, weights="weight", algorithm="bellman_ford", mode="out")[0]))
    check(f"igraph on {name}", np.array(found), right)
    yield Row("negative weights", name, ours, "igraph", time)


def queues(A: CSR, name: str, repeats: int) -> Iterator[Row]:
    """A queue of single vertices beside SciPy's Dijkstra."""
    source, S = busiest(A), as_scipy(A)
    check(name, bellman_ford_by(A, source, schedule="fifo"), lengths(A, source))
    ours, peer = medians(
        repeats,
        lambda: bellman_ford_by(A, source, schedule="fifo"),
        lambda: csgraph.dijkstra(S, indices=source),
    )
    yield Row("schedule fifo", name, ours, "SciPy", peer)


def searches(A: CSR, name: str, repeats: int) -> Iterator[Row]:
    """A first search on a fresh matrix, and a third from any vertex, beside GAP's method in C++; one thread each."""
    if gap.missing():
        return
    source, theirs = busiest(A), gap.sssp(A, busiest(A))
    with threads(1):
        check(name, sssp(A, source), theirs.answer(theirs.run()))
        first, peer = medians(repeats, lambda: sssp(fresh(A), source), theirs.run)
        yield Row("a first search", name, first, "GAP's methods", peer)
        source = int(np.random.default_rng(4).choice(np.flatnonzero(np.diff(A.indptr))))
        sssp(A, source)
        theirs = gap.sssp(A, source)
        check(name, sssp(A, source), theirs.answer(theirs.run()))
        third, peer = medians(repeats, lambda: sssp(A, source), theirs.run)
        yield Row(f"a third search, {A.kept_nbytes / A.nnz:.1f} bytes an edge kept", name, third, "GAP's methods", peer)


def from_votes(path: Path) -> CSR:
    """Returns the graph of votes, with random lengths."""
    A: Any = read(path).to(CSR)
    return A.with_values(np.random.default_rng(3).integers(1, 256, A.nnz).astype(np.float32))


def chain_and_star(length: int, rays: int) -> CSR:
    """A path of so many vertices into a hub of so many edges."""
    hub = length - 1
    src = np.concatenate((np.arange(hub), np.full(rays, hub)))
    weights = np.random.default_rng(2).integers(1, 1000, src.size).astype(np.int32)
    return from_edges(src, np.arange(1, length + rays), weights, shape=length + rays)


def busiest(A: Matrix) -> int:
    """The source: the vertex of the largest degree, or the first where that is a hub at a path's end."""
    degrees = np.diff(A.to(CSR).indptr)  # type: ignore[attr-defined]
    hub = int(degrees.argmax())
    return 0 if degrees[hub] * 4 > A.nnz else hub


def fresh(A: CSR) -> CSR:
    """The same matrix, which keeps nothing yet."""
    return CSR.trusted(*A.components)


def as_scipy(A: CSR) -> Any:
    return scipy.sparse.csr_array((A.values.astype(np.float64), A.indices, A.indptr), shape=A.shape)


def lengths(A: CSR, source: int) -> np.ndarray:
    """Distances by SciPy, infinite where the source does not lead."""
    found: np.ndarray = csgraph.dijkstra(as_scipy(A), indices=source)
    return found


def check(what: str, d: np.ndarray, right: np.ndarray) -> None:
    """Disagreement unless the distances are right."""
    ours = np.where(d == MinPlus.zero(d.dtype), np.inf, d.astype(np.float64))
    if not np.array_equal(ours, right):
        raise Disagreement(f"{what}: the distances are wrong")


def with_edge(B: CSR, edge: CSR) -> CSR:
    """The graph with one edge more; the better one where there is one already."""
    u, v, w = (np.concatenate(parts) for parts in zip(B.to_edges(), edge.to_edges(), strict=True))
    return from_edges(u, v, w, shape=B.shape)


def cycle(C: CSR, source: int) -> list[int]:
    """The vertices of the cycle that is found, and Disagreement if there is none."""
    try:
        bellman_ford(C, source)
    except NegativeCycle as found:
        return found.cycle
    raise Disagreement("no cycle was found")


def check_cycle(C: CSR, vertices: list[int]) -> None:
    """Disagreement unless these are a negative cycle: to look up its edges takes longer than the search."""
    if vertices[0] != vertices[-1] or sum(int(C[edge]) for edge in pairwise(vertices)) >= 0:
        raise Disagreement("the cycle is not negative")


def medians(repeats: int, *calls: Callable[[], Any]) -> list[float]:
    """The median of each call, which take turns, in milliseconds."""
    times = [[host_ms(call) for call in calls] for _ in range(repeats)]
    return [median(column) for column in zip(*times, strict=True)]
