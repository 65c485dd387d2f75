"""Breadth-first searches by vertex numbers, which the functions by name share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from algorithms.equations.bfs import bfs
from algorithms.equations.distance_totals import distance_totals
from algorithms.fused.cpu.light_edges import ascending
from algorithms.networkx.order import breadth_first, weighted
from formats.arrays import to_device
from formats.storage.orientation import compressed

from .answers import in_order
from .graph import Converted
from .options import option, options

AT_ONCE = 1 << 18
"""Vertices that searches from several list at a time."""

DEEPEST = np.iinfo(np.int32).max


class Found(NamedTuple):
    """order: the vertices that are found, in order.  level: (n,), -1 elsewhere.  parent: (n,), -1 at sources."""

    order: np.ndarray
    level: np.ndarray
    parent: np.ndarray


def vertex(G: Converted, name: Any, message: str, error: type[Exception] = nx.NodeNotFound) -> int:
    """The number of a vertex; the error with the message if there is none."""
    found = G.index(name)
    if found < 0:
        raise error(message.format(name))
    return found


def levels(cutoff: Any) -> int:
    """The last level that NetworkX looks at: it goes on while `cutoff > level`."""
    if cutoff is None:
        return DEEPEST
    try:
        return max(0, min(DEEPEST, math.ceil(cutoff)))
    except OverflowError:
        return DEEPEST if cutoff > 0 else 0
    except (TypeError, ValueError):
        raise NotImplementedError(f"a cutoff of {cutoff!r}") from None


def search(G: Converted, sources: list[int], limit: int = DEEPEST, backwards: bool = False) -> Found:
    """The vertices that a search with a queue finds, to a level."""
    n, rows = len(G), G.rows_of(backwards)
    if not option("exact_order") and len(sources) == 1 and not backwards:
        return by_levels(G, sources[0], limit)
    queue, level, parent = np.empty(n, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    queue[: len(sources)] = sources
    level[sources] = 0
    count = breadth_first.search(*rows, len(sources), limit, queue, level, parent)
    return Found(queue[:count], level, parent)


def lengths(G: Converted, source: int, limit: int = DEEPEST, backwards: bool = False) -> dict[Any, int]:
    """Returns how many edges away each vertex is that a search with a queue finds, to a level, in its order."""
    if not option("exact_order"):
        found = search(G, [source], limit, backwards)
        return in_order(G, found.order, found.level)
    n = len(G)
    (order,), (level,) = orders, levels = np.empty((2, 1, n), np.int32)
    count = np.full(1, n)
    rows, seen = G.rows_of(backwards), np.full(n, -1, np.int32)
    breadth_first.search_each(tuple(rows), np.array([source]), limit, seen, orders, levels, count)
    return dict(zip(G.listed(order[: count[0]]), level[: count[0]].tolist(), strict=True))


def searched(G: Converted, limit: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yields the vertices that a search from each vertex finds in order, and their levels; at first a few at a time."""
    n, first, size = len(G), 0, 1
    if not option("exact_order"):
        for v in range(n):
            found = search(G, [v], limit)
            yield found.order, found.level[found.order]
        return
    level, most = np.full(n, -1, np.int32), np.full(n, n)
    while first < n:
        sources = np.arange(first, min(first + size, n))
        orders, depths = np.empty((2, sources.size, n), np.int32)
        counts = most[sources]
        breadth_first.search_each(tuple(G.rows), sources, limit, level, orders, depths, counts)
        for k, count in enumerate(counts.tolist()):
            yield orders[k, :count], depths[k, :count]
        if size == 1 and limit == DEEPEST:
            most = led_to(G)
        first, size = first + sources.size, max(1, min(2 * size, AT_ONCE // n))


def by_size(values: np.ndarray) -> np.ndarray:
    """The places of fewer than 2^32 numbers from the smallest to the largest, equal ones as they come."""
    if not values.size:
        return np.empty(0, np.int64)
    return (ascending(values) & np.uint64(2**32 - 1)).astype(np.int64)


def led_to(G: Converted) -> np.ndarray:
    """Returns how many vertices each leads to, itself included; a search that has found them may end."""
    with options({"device": "cpu"}):
        return distance_totals(compressed(G.matrix().T, 0)).reached


def by_levels(G: Converted, source: int, limit: int) -> Found:
    """The same by levels, and at one level by number, as `bfs` finds them."""
    A = G.matrix()
    found = bfs(A, source, return_parents=True, max_level=limit if limit < DEEPEST else None)
    level, parent = (to_device(part, "cpu").astype(np.int32, copy=False) for part in found)
    parent[source] = -1
    order = np.flatnonzero(level >= 0)
    return Found(order[level[order].argsort(kind="stable")].astype(np.int32), level, parent)


def before_each(
    rows: tuple[np.ndarray, ...], order: np.ndarray, d: np.ndarray, limit: Any, sources: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The vertices as edges first lead to them; those before each on shortest paths, and where its own begin.

    rows: ends, neighbours and weights.  order: the vertices as they are settled, at distances d.  limit: of d's type.
    """
    met, count, slots = np.empty_like(order), np.zeros(d.size, np.int64), np.zeros(d.size + 1, np.int64)
    met[: sources.size] = sources
    limit = d.dtype.type(limit)
    weighted.first_met(rows, d, limit, order, sources.size, met, np.zeros(d.size, bool), count)
    np.cumsum(count, out=slots[1:])
    before = np.empty(int(slots[-1]), np.int32)
    weighted.tight(rows, d, limit, order, slots[:-1].copy(), before)
    return met, slots, before
