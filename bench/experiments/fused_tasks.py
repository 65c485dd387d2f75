"""Graphs and rows of the benchmark of algorithms that run as a whole, and the conditions of a right answer.

An answer is checked without a definition of ours: distances and levels by the equation that has them for its only
solution where weights are positive, d = e_s ⊕ d A, parents as the smallest vertices that attain it, and everything by
SciPy where it is quick enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse import csgraph

from algorithms import bfs, boruvka, scc, sssp
from bench.graphs import ROADS, grid, rmat, rmat_both_ways, roads, uniform
from formats import CSR, read
from formats.arrays import Array, Device, namespace, to_device

NEW_YORK = "USA-road-d.NY.gr.gz"
SCIPY_EDGES = {"SSSP": 20_000_000, "BFS": 100_000_000, "SCC": 100_000_000, "MST": 20_000_000}
"""Entries of the largest matrix on which SciPy is asked: what takes it some seconds."""
EXACT = {"float32": 2**24, "int32": 2**31 - 1}
"""Lengths below which sums of integers are exact."""


# --- graphs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where a graph comes from: made on a device, or read in a folder from the file of that name."""

    make: Callable[[Device, Path], CSR]
    undirected: bool
    file: str = ""


def generated(make: Callable[..., CSR], *arguments: int, undirected: bool = False) -> Source:
    """One of `graphs`, made on the device."""
    return Source(lambda device, folder: make(*arguments, device=device), undirected)


GRAPHS: dict[str, Source] = {
    "NE": Source(lambda device, folder: roads(folder / ROADS, device=device), True, ROADS),
    "NY": Source(lambda device, folder: real_roads(folder / NEW_YORK, device), True, NEW_YORK),
    "grid2k": generated(grid, 2048, undirected=True),
    "rmat20": generated(rmat, 20),
    "rmat22": generated(rmat, 22),
    "rmat22s": generated(rmat_both_ways, 22, undirected=True),
    "unif8M": generated(uniform, 1 << 23, 7),
    "grid32": generated(grid, 32, undirected=True),
    "rmat18s": generated(rmat_both_ways, 18, undirected=True),
    "rmat10": generated(rmat, 10),
}
BY_DEFAULT: dict[Device, tuple[str, ...]] = {
    "cuda": ("NE", "grid2k", "rmat20", "rmat22", "rmat22s", "unif8M"),
    "cpu": ("NY", "rmat20"),
}
QUICK = ("grid32", "rmat10")
FORESTS = ("NE", "NY", "grid2k", "rmat22s", "grid32")
"""Graphs of which a spanning forest is timed on every device; on the CPU of rmat20, too, edges counting both ways."""


def real_roads(path: Path, device: Device) -> CSR:
    """A road graph with the weights in its file."""
    A: Any = read(path).to(CSR, device=device)
    return A.astype(np.float32)


def chosen(device: Device, folder: Path, *, quick: bool) -> list[str]:
    """The device's graphs whose files are there."""
    names = QUICK if quick else BY_DEFAULT[device]
    return [name for name in names if not (file := GRAPHS[name].file) or (folder / file).exists()]


@dataclass(frozen=True)
class Problem:
    """A graph on a device, the vertex to start from, and what SciPy finds in it, on the host, when first asked.

    brief: is SciPy not to be asked?
    """

    name: str
    A: CSR
    source: int
    undirected: bool
    brief: bool = False

    @cached_property
    def S(self) -> Any:
        """The matrix as SciPy's, in float64, which is what csgraph computes in."""
        parts = (to_device(part, "cpu") for part in (self.A.values.astype(np.float64), self.A.indices, self.A.indptr))
        return scipy.sparse.csr_array(tuple(parts), shape=self.A.shape)

    @cached_property
    def distances(self) -> np.ndarray:
        """From the source, by Dijkstra's algorithm."""
        return csgraph.dijkstra(self.S, indices=self.source)


# --- rows -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """One algorithm to be timed.

    solve: the answer on a matrix, one array, one matrix or a tuple of them; takes `fused`.  peer: SciPy's call that
    does as much.  independent: checks of an answer, by name, without the definition; None where one is too slow.
    """

    kind: str
    solve: Callable[..., Any]
    peer: Callable[[Problem], Any]
    independent: Callable[[Problem, tuple[Any, ...]], Iterator[tuple[str, bool]]]
    dtype: str = "float32"
    parents: bool = False

    @property
    def settled(self) -> bool:
        """True if the equation alone settles whether an answer is right, as lengths are positive."""
        return self.kind in ("SSSP", "BFS")

    @property
    def name(self) -> str:
        typed = f"{self.kind} {self.dtype}" if self.kind == "SSSP" else self.kind
        return f"{typed}, parents" if self.parents else typed


def tasks() -> Iterator[Task]:
    """The rows of each graph, those with parents after those without."""
    for dtype in ("float32", "int32"):
        for parents in (False, True):
            yield Task(
                "SSSP",
                lambda M, p, parents=parents, **how: sssp(M, p.source, return_parents=parents, **how),
                lambda p, parents=parents: csgraph.dijkstra(p.S, indices=p.source, return_predecessors=parents),
                shortest,
                dtype,
                parents,
            )
    for parents in (False, True):
        yield Task(
            "BFS",
            lambda M, p, parents=parents, **how: bfs(M, p.source, return_parents=parents, **how),
            lambda p, parents=parents: csgraph.breadth_first_order(p.S, p.source, return_predecessors=parents),
            nearest,
            parents=parents,
        )
    yield Task(
        "SCC",
        lambda M, p, **how: scc(M, **how),
        lambda p: csgraph.connected_components(p.S, connection="strong"),
        partitioned,
    )
    yield Task(
        "MST",
        lambda M, p, **how: boruvka(M, symmetrize=not p.undirected, **how),
        lambda p: csgraph.minimum_spanning_tree(p.S),
        spanned,
    )


# --- independent checks -----------------------------------------------------------------------------------------------


def asks_scipy(kind: str, p: Problem) -> bool:
    """True if SciPy is quick enough."""
    return not p.brief and p.A.nnz <= SCIPY_EDGES[kind]


def shortest(p: Problem, answer: tuple[Any, ...]) -> Iterator[tuple[str, bool]]:
    """Distances (and parents) by their equation, and by SciPy's Dijkstra where every length is exact."""
    d = answer[0]
    yield "equation", attained(p, p.A.values.astype(d.dtype), d, *answer[1:])
    if asks_scipy("SSSP", p):
        lengths = p.distances
        if lengths[np.isfinite(lengths)].max() < EXACT[d.dtype.name]:
            ours = to_device(d, "cpu").astype(np.float64)
            yield "SciPy", np.array_equal(np.where(ours == unreached(d.dtype), np.inf, ours), lengths)


def nearest(p: Problem, answer: tuple[Any, ...]) -> Iterator[tuple[str, bool]]:
    """Levels (and parents) by their equation, where every edge is 1 long, and by the tree of SciPy's search."""
    level, *parent = answer
    xp = namespace(level)
    steps = level.copy()
    steps[level < 0] = unreached(level.dtype)
    yield "equation", attained(p, xp.ones(p.A.nnz, level.dtype), steps, *parent)
    if asks_scipy("BFS", p):
        order, predecessor = csgraph.breadth_first_order(p.S, p.source)
        ours = to_device(level, "cpu")
        tree = ours[order[1:]] == ours[predecessor[order[1:]]] + 1
        yield "SciPy", ours[p.source] == 0 and bool(tree.all()) and int((ours >= 0).sum()) == order.size


def partitioned(p: Problem, answer: tuple[Any, ...]) -> Iterator[tuple[str, bool]]:
    """Labels by SciPy's strong components, each named by its smallest vertex."""
    if asks_scipy("SCC", p):
        count, part = csgraph.connected_components(p.S, connection="strong")
        first = np.full(count, p.A.nrows)
        np.minimum.at(first, part, np.arange(p.A.nrows))
        yield "SciPy", np.array_equal(to_device(answer[0], "cpu"), first[part])


def spanned(p: Problem, answer: tuple[Any, ...]) -> Iterator[tuple[str, bool]]:
    """Edges and weight of SciPy's forest."""
    if asks_scipy("MST", p):
        yield "SciPy", same_weight(answer[0], csgraph.minimum_spanning_tree(p.S))


def same_weight(forest: Any, found: Any) -> bool:
    """True if both forests have as many edges and the same weight."""
    return forest.nnz == found.nnz and float(forest.values.sum(dtype=np.float64)) == float(found.sum())


def attained(p: Problem, lengths: Array, d: Array, parent: Array | None = None) -> bool:
    """True if d_v = min (d_u + length of u -> v) but at the source, where it is 0, and parents are the smallest u.

    lengths: of p.A's edges, positive.  d: (n,), `unreached` where the source does not lead.
    """
    xp, n = namespace(d), d.size
    u, v, _ = p.A.to_edges()
    places = xp.flatnonzero(d[u] != unreached(d.dtype))
    u, v = u[places], v[places]
    through = d[u] + lengths[places]
    best = xp.full(n, unreached(d.dtype), d.dtype)
    xp.minimum.at(best, v, through)
    best[p.source] = 0
    if not bool((best == d).all()):
        return False
    if parent is None:
        return True
    tight = xp.flatnonzero(through == d[v])
    smallest = xp.full(n, n, parent.dtype)
    xp.minimum.at(smallest, v[tight], u[tight].astype(parent.dtype))
    smallest[smallest == n] = -1
    return bool((smallest == parent).all())


def unreached(dtype: np.dtype) -> Any:
    """The distance of a vertex that no path leads to."""
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max
