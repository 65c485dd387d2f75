"""Forests and components of a matrix in parts: each process finds those of its rows, which are merged pairwise.

What is not in the forest of some edges is not in that of more: F(E₁ ∪ E₂) = F(F(E₁) ∪ F(E₂)). So at most n - 1 edges
travel, once to each of a few processes, else ⌈log₂ p⌉ times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from algorithms.boruvka import boruvka
from algorithms.scc import scc
from algorithms.shared.edges import undirected_edges
from formats import COO, from_edges
from formats.arrays import concatenated
from formats.parts.group import Group
from formats.parts.partitioned import Partitioned
from formats.storage.orientation import compressed, is_symmetric
from semiring.cpu.kernels import compiled
from semiring.verbs.registry import Unsuited

from ..cpu.components import flatten, join
from .near_far import own_rows

FEW = 4
"""Processes that each join the edges of all."""

Edges = tuple[np.ndarray, ...]
"""Ends, and weights if they have any."""


def forest(A: Partitioned, symmetrize: bool, with_labels: bool) -> Any:
    """(the forest's edges, the smallest vertex of each one's tree), as `algorithms.boruvka.forest` has them."""
    if not symmetrize and not is_symmetric(A):
        undirected_edges(A)  # raises, and names an edge
    A, label = compressed(A, 0), None
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
    """The smallest vertex of each one's component; `Unsuited` where edges count one way."""
    if not weak and not is_symmetric(A, pattern=True):
        return Unsuited("its searches and trims are products, each of which is a step of all processes")
    A = compressed(A, 0)

    def joined(*several: Edges) -> Edges:
        f = np.arange(A.nrows, dtype=several[0][0].dtype)
        for u, v in several:
            join_along(f, u, v)
        flatten(f)
        return listed(f)

    with A.group.guarded("components"):
        mine = listed(scc(own_rows(A), weak=True))
    u, v = merged(A.group, "components", mine, joined)
    label = np.arange(A.nrows, dtype=u.dtype)
    label[u] = v
    return label


@compiled
def join_along(f, u, v):
    """Join the trees of f at the two ends of each edge."""
    for k in range(u.size):
        join(f, np.uintp(u[k]), np.uintp(v[k]), False)


def listed(label: np.ndarray) -> Edges:
    """Components as edges, from each vertex to the smallest of its component."""
    u = np.flatnonzero(label != np.arange(label.size)).astype(label.dtype)
    return u, label[u]


def merged(group: Group, what: str, mine: Edges, joined: Callable[..., Edges]) -> Edges:
    """What joins the edges of all processes; the same on each of them.

    Of a few processes each gets the edges of all, and joins them; of more they are joined two by two.
    """
    if group.size <= FEW:
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
