"""Finds forests and components of a matrix in parts.

Where every edge has its reverse, all processes grow the same trees: each lists the light edges of its own rows, and
looks for the lightest edges that leave trees there; what they have found all take (`cpu.forest`).

Else each process finds the forest, or the components, of its rows, and these are merged. What is not in the forest of
some edges is not in that of more: F(E₁ ∪ E₂) = F(F(E₁) ∪ F(E₂)). So at most n - 1 edges travel, once to each of a few
processes, else ⌈log₂ p⌉ times.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np

from algorithms.equations.boruvka import boruvka
from algorithms.equations.scc import scc
from algorithms.shared.edges import undirected_edges
from algorithms.shared.entries import entry_places
from formats import COO, CSR, from_edges
from formats.arrays import brought, concatenated, index_dtype
from formats.parts.group import Group
from formats.parts.partitioned import Partitioned
from formats.storage.compressed import index_types
from formats.storage.orientation import compressed, is_symmetric
from semiring.cpu.kernels import compiled
from semiring.verbs.explanation import details

from ..cpu.components import flatten, join
from ..cpu.entries import Side, values_at
from ..cpu.forest import Trees, best_of_each, side_of
from ..cpu.forest import forest as forest_of_one
from ..cpu.light_edges import MAX_EDGES, MIN_MEAN_NNZ, LightEdges, edges_up_to, light_weight, sample
from ..cpu.scc import strong_components
from .many_sources import alone_on_host
from .search import own_rows
from .strong import by_hub

MAX_JOINING_PROCESSES = 4
"""Processes that each join the edges of all, at most."""

Edges = tuple[np.ndarray, ...]
"""The ends of edges, and their weights if they have any."""


def forest(A: Partitioned, symmetrize: bool, with_labels: bool) -> Any:
    """Returns the forest, and the smallest vertex of each one's tree, as `algorithms.boruvka.forest` does."""
    if not symmetrize and not is_symmetric(A):
        undirected_edges(A)  # raises, and names an edge
    A, label = compressed(A, 0), None
    if (whole := alone_on_host(A)) is not None:
        with A.group.guarded("forest"):
            return forest_of_one(whole, symmetrize, with_labels)
    if is_symmetric(A):
        return grown_together(A, with_labels)
    index = A._index_dtype

    def joined(*several: Edges) -> Edges:
        u, v, w = map(concatenated, zip(*several, strict=True))
        F: Any = boruvka(from_edges(u, v, w, shape=A.shape), symmetrize=True)
        return F.rows, F.cols, np.ascontiguousarray(F.values)

    with A.group.guarded("forest"):
        F: Any = boruvka(own_rows(A), symmetrize=True)
        mine = F.rows, F.cols, np.ascontiguousarray(F.values)
    u, v, w = merged(A.group, "forest", mine, joined)
    F = COO.trusted(u.astype(index, copy=False), v.astype(index, copy=False), w, A.shape, 0)
    if with_labels:
        label = scc(from_edges(u, v, shape=A.shape), weak=True)
    return F, label


def components(A: Partitioned, weak: bool) -> Any:
    """Returns the smallest vertex of each component; `Declined` for many small ones along edges of one way."""
    A = compressed(A, 0)
    if (whole := alone_on_host(A)) is not None:
        with A.group.guarded("components"):
            return strong_components(whole, weak)
    if not weak and not is_symmetric(A, pattern=True):
        return by_hub(A)

    def joined(*several: Edges) -> Edges:
        f = np.arange(A.nrows, dtype=several[0][0].dtype)
        for u, v in several:
            join_along(f, u, v)
        flatten(f)
        return listed(f)

    with A.group.guarded("components"):
        label = scc(own_rows(A), weak=True)
        mine = listed(label)
    if A.group.size <= MAX_JOINING_PROCESSES:
        ends, labels = (A.group.everyone("components", part) for part in mine)
        with A.group.guarded("components"):
            for rank in {*range(A.group.size)} - {A.group.rank}:
                join_along(label, ends[rank], labels[rank])
            flatten(label)
        return label
    u, v = merged(A.group, "components", mine, joined)
    label = np.arange(A.nrows, dtype=u.dtype)
    label[u] = v
    return label


def grown_together(A: Partitioned, with_labels: bool) -> tuple[COO, Any]:
    """Grows the forest by the rows of all processes, and returns it with its trees."""
    group = A.group
    with group.guarded("forest"):
        side, trees = side_of(own_rows(A)), SharedTrees(A)
        edges = light_edges_of_all(A, side)
        if edges is not None:
            trees.join(edges)
        if edges is None or not edges.all:
            trees.grow([side])
        details(method="union-find, by processes", rounds=trees.rounds, sorted=edges.weights.size if edges else 0)
        u, v, w = trees.edges()
        if A.dtype.kind == "f" and (at := np.flatnonzero(w == 0)).size:
            w[at] = np.min(group.everyone("forest, zeros", values_at(side, u[at], v[at], np.inf)), axis=0)
    index = A._index_dtype
    F = COO.trusted(u.astype(index, copy=False), v.astype(index, copy=False), w, A.shape, 0)
    return F, trees.f if with_labels else None


def light_edges_of_all(A: Partitioned, side: Side) -> LightEdges | None:
    """Returns the lightest edges of all rows, as `light_edges` does for one matrix; takes steps of the group."""
    everyone, values, every = A.group.everyone, side[2], A.nnz < MIN_MEAN_NNZ * A.nrows
    if A.nnz == 0:
        return None
    heaviest = np.array([values.max()]) if values.size else values
    some = np.sort(concatenated(everyone("forest, sample", heaviest if every else sample(values, A.nnz))))
    limit = some[-1] if every else light_weight(some, A.nnz, A.nrows)
    if limit is None or A.nnz > MAX_EDGES:
        return None
    own = edges_up_to([side], limit, every)
    nothing = np.empty(0, index_dtype(A.nrows))
    mine = (nothing, nothing, values[:0]) if own is None else (own.u, own.v, own.weights)
    u, v, w = (concatenated(everyone("forest, light edges", x)) for x in mine)
    return LightEdges(u, v, w, every) if u.size else None


class SharedTrees(Trees):
    """Trees that all processes grow alike. Each looks for edges that leave them in its own rows."""

    def __init__(self, A: Partitioned) -> None:
        super().__init__(A.nrows, A.dtype)
        self.group, self.own = A.group, (A.rows[0][0], A.rows[-1][1])

    def vertices(self) -> np.ndarray:
        return np.arange(*self.own, dtype=self.f.dtype)

    def agreed(self, choosing: int, *choices: Any) -> int:
        """Returns how many choose, and gathers choosers and choices of all processes in two steps of the group."""
        other, lightest, best, choosers, alone = choices
        v, everyone, several = choosers[:choosing], self.group.everyone, list[np.ndarray]()
        if self.group.size == 1:
            return choosing
        ends = everyone("forest, choices", np.concatenate((v, other[v])))
        for both, weights in zip(ends, everyone("forest, weights", lightest[v]), strict=True):
            several.append(both[: weights.size])
            other[several[-1]], lightest[several[-1]] = both[weights.size :], weights
        every = concatenated(several)
        return best_of_each(self.f, every, every.size, other, lightest, best, choosers, alone)[1]


@compiled
def join_along(f, u, v):
    """Joins the trees of f at the two ends of each edge."""
    for k in range(u.size):
        join(f, np.uintp(u[k]), np.uintp(v[k]), False)


def listed(label: np.ndarray) -> Edges:
    """Returns components as edges, from each vertex to the smallest of its component."""
    u = np.flatnonzero(label != np.arange(label.size)).astype(label.dtype)
    return u, label[u]


def merged(group: Group, what: str, mine: Edges, joined: Callable[..., Edges]) -> Edges:
    """Joins the edges of all processes, and returns the same on each of them.

    Of a few processes each gets the edges of all, and joins them; of more they are joined two by two.
    """
    if group.size <= MAX_JOINING_PROCESSES:
        several = zip(*(group.everyone(what, part) for part in mine), strict=True)
        with group.guarded(what):
            return joined(*several) if group.size > 1 else mine
    span, rank = 1, group.rank
    while span < group.size:
        gives = rank % (2 * span) == span
        received = []
        for part in mine:
            pieces = [part if gives and other == rank - span else part[:0] for other in range(group.size)]
            received.append(concatenated(group.exchange(what, pieces)))
        with group.guarded(what):
            if rank % (2 * span) == 0 and received[0].size:
                mine = joined(mine, tuple(received))
        span *= 2
    return tuple(concatenated(group.everyone(what, part if rank == 0 else part[:0])) for part in mine)


def entries_at(A: Partitioned, rows: Any, cols: Any) -> Any:
    """Returns the places of entries among all by rows, -1 where there is none; a step of the group."""
    found = A.xp.full(rows.shape, -1, np.int64)
    with A.group.guarded("places"):
        for part, first, before in strips(A):
            own = A.xp.flatnonzero((rows >= first) & (rows < first + part.nrows))
            u, v = (brought(x[own], part.place) for x in (rows - first, cols))
            with part.place.scope():
                at = brought(entry_places(part, u, v).astype(np.int64), A.place)
            found[own] = A.xp.where(at < 0, at, at + before)
    counting, _ = index_types(A.shape, A.nnz)
    return functools.reduce(A.xp.maximum, A.group.everyone("places", found)).astype(counting)


def strips(A: Partitioned) -> Iterator[tuple[CSR, int, int]]:
    """Yields this process's strips by rows, their first rows, and how many entries are in the rows before."""
    by_rows: Any = compressed(A, 0)
    before = [0, *accumulate(by_rows.entries)]
    for number, (part, (first, _)) in enumerate(zip(by_rows.parts, by_rows.rows, strict=True), by_rows.first):
        yield compressed(part, 0), first, before[number]
