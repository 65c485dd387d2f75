"""Distances from many sources, some of them at a time: what is folded at once takes no array of n × n."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from formats import Matrix
from formats.arrays import concatenated
from semiring import MinPlus
from semiring.verbs.checks import check_graph, starting_points

from ..shared.signatures import Vertices
from .bfs import bfs
from .sssp import sssp

BLOCK = 64
"""Sources that are searched from at a time."""

FEW = 1 << 18
"""Distances that are found at once, if those of a block are fewer."""


def listed(A: Matrix, vertices: Vertices | None) -> list[int]:
    """The vertices that are asked for; None for all."""
    check_graph(A)
    return list(range(A.nrows)) if vertices is None else starting_points(A, None, vertices)


def blocks_of_distances(A: Matrix, sources: list[int], weighted: bool) -> Iterator[tuple[list[int], Any, Any]]:
    """Yields (sources, distances, where there are any): some sources at a time, with a row for each, in their order.

    weighted: False counts edges.
    """
    left, size = iter(sources), max(BLOCK, FEW // max(A.nrows, 1))
    while block := list(islice(left, size)):
        if has_weights(A, weighted):
            d = sssp(A, sources=block)
            yield block, d, d != MinPlus.zero(d.dtype)
        else:
            level = bfs(A, sources=block)
            yield block, level, level >= 0


def has_weights(A: Matrix, weighted: bool) -> bool:
    """True if values count, and there are any but True."""
    return weighted and A.dtype != bool


def joined(parts: list[Any], A: Matrix, dtype: Any) -> Any:
    """The parts of a vector one after the other; of none, none of this dtype."""
    return concatenated(parts) if parts else A.xp.empty(0, dtype)
