"""The k shortest simple paths between two vertices, in the order of their lengths.

    d = e_s ⊕ d A,   r = e_t ⊕ A r           from the source, and to the target
    B = A⟨d_u + a_uv + r_v ≤ U⟩              where the k paths are: the rest of the graph is left out [4]

U is the length of the k-th of some simple paths, each the shortest through one vertex. Where there are fewer, the
2-core of the graph with an edge between s and t has all simple paths: dead ends are no part of it. On B, all paths are
one class. The shortest of a class is taken, and at each of its vertices v_j where it may be left the rest makes a
class: paths that share v_0 … v_j, and go on in none of the ways known [1, 2]. A class waits with a lower bound, by r.
When its turn comes, A* finds its shortest path, guided by r [3].

[1] J. Y. Yen, Finding the k shortest loopless paths in a network, Management Science 17(11), 1971.
[2] E. L. Lawler, A procedure for computing the k best solutions to discrete optimization problems and its application
    to the shortest path problem, Management Science 18(7), 1972.
[3] P. E. Hart, N. J. Nilsson, B. Raphael, A formal basis for the heuristic determination of minimum cost paths, IEEE
    Trans. Systems Science and Cybernetics 4(2), 1968.
[4] W. Feng, S. Chen, H. Liu, Y. Ji, PeeK: a prune-centric approach for k shortest path computation, SC 2023.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import chain, groupby, islice, pairwise
from math import inf
from operator import itemgetter
from sys import float_info
from typing import Any, TypeAlias

from formats import Matrix, Place, from_edges
from formats.arrays import concatenated, to_device
from formats.matrix.notation import is_integer
from formats.storage.orientation import by_columns
from semiring import MinPlus, extract
from semiring.statistics import smallest
from semiring.vectors import either, element, gather, nonzero, scatter, unweighted
from semiring.verbs.checks import as_vertex

from ..shared.parents import path
from .bfs import bfs
from .core_number import core_number
from .distances_in_blocks import has_weights
from .sssp import sssp

Edges: TypeAlias = dict[int, dict[int, Any]]
"""Those that leave each vertex, with their lengths."""
TRIED = 256
"""Vertices, beside 16 for each path that is asked for, through which the shortest path is looked at for U."""
BLOCK = 512
"""Vertices of a path that are copied with each one that is added."""
ROUNDED = 2.0**-40
"""The relative difference that sums of floats may have, when paths are added from their other ends."""
LISTED = 250
"""Bytes of an edge in Python's dictionaries."""


def shortest_simple_paths(A: Matrix, source: int, target: int, k: int, *, weighted: bool = False) -> list[list[int]]:
    """The k shortest paths without a cycle; of equal length, those first whose vertices come first, compared in order.

    Paths of floats whose lengths differ by rounding alone may come in either order.

    Args:
        A: (n, n), A[u, v] is the edge u -> v.
        source: where paths start.
        target: where they end.
        k: how many are asked for.
        weighted: True measures paths by A's values, which must not be negative, False by the number of edges.

    Returns:
        The vertices of each path, the shortest first; fewer than k paths if there are no more.

    Raises:
        ValueError: the matrix is not square, a vertex lies outside it, a weight is negative, or k is.
        OutOfHostMemory: the edges that paths of this length may take do not fit.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [1, 4, 1, 6, 2])
        >>> shortest_simple_paths(A, 0, 3, 3, weighted=True)
        [[0, 1, 2, 3], [0, 2, 3], [0, 1, 3]]

    Source: Yen 1971 [1]; Lawler 1972 [2]; Feng, Chen, Liu, Ji 2023 [4].
    """
    s, t, weighted = as_vertex(A, source), as_vertex(A, target, "target"), has_weights(A, weighted)
    if not is_integer(k):
        raise TypeError(f"k must be an integer, got {k!r}")
    if k < 0:
        raise ValueError(f"k must not be negative, got {k}")
    if weighted and A.nnz and smallest(A, MinPlus) < 0:
        raise ValueError(f"shortest_simple_paths needs weights that are not negative, got {smallest(A, MinPlus)}")
    if k == 0 or s == t:
        return [[s]] if k else []
    d, there, before = searched(A, s, weighted)  # d = e_s ⊕ d A
    r, back, after = searched(by_columns(A).T, t, weighted)  # r = e_t ⊕ A r
    total = either(there & back, d.astype("float64") + r.astype("float64"), inf)
    if element(total, s) == inf:
        return []
    U = min(bound(total, before, after, k) * (1 + ROUNDED), float_info.max)
    vertices = nonzero(total <= U).indices
    if U == float_info.max:
        vertices = without_dead_ends(A, vertices, s, t)
    edges, rest = within(A if weighted else unweighted(A), d, r, vertices, U)
    return [list(steps) for steps in islice(ranked(edges, rest, s, t), k)]


def searched(A: Matrix, source: int, weighted: bool) -> tuple[Any, Any, Any]:
    """Finds (distances, where there are any, parents) from a vertex."""
    if weighted:
        d, parent = sssp(A, source, return_parents=True)
        return d, d != MinPlus.zero(d.dtype), parent
    level, parent = bfs(A, source, return_parents=True)
    return level, level >= 0, parent


def bound(total: Any, before: Any, after: Any, k: int) -> float:
    """U: how long k different simple paths are at most; infinite if no k are found soon.

    total: of the shortest way through each vertex.  before, after: the vertices that come before and after it.
    """
    through = nonzero((total < inf) & (before != after))  # elsewhere the way goes back as it came
    totals = gather(total, through.indices)
    order, tried, found, seen = totals.argsort(), 0, set[tuple[int, ...]](), set[int]()
    before, after = to_device(before, "cpu"), to_device(after, "cpu")
    for length, v in zip(
        *(to_device(gather(x, order), "cpu").tolist() for x in (totals, through.indices)), strict=True
    ):
        if v not in seen:
            reverse = path(after, v)
            steps, tried = (*path(before, v), *reverse[-2::-1]), tried + 1
            if len(set(steps)) == len(steps):
                found.add(steps)
                seen.update(steps)
            if len(found) == k:
                return length
            if tried == TRIED + 16 * k:
                break
    return inf


def without_dead_ends(A: Matrix, vertices: Any, source: Any, target: Any) -> Any:
    """Source, target, and those of the vertices in a cycle, or between two, once an edge joins source and target."""
    u, v, _ = extract(A, vertices, vertices).to_edges()
    source, target = (A.xp.array([end], vertices.dtype) for end in (source, target))
    u, v = (concatenated([gather(vertices, x), end]) for x, end in ((u, source), (v, target)))
    inside = core_number(from_edges(u, v, shape=A.nrows), symmetrize=True) >= 2
    scatter(inside, concatenated([source, target]), True)
    return nonzero(inside).indices


def within(A: Matrix, d: Any, r: Any, vertices: Any, U: float) -> tuple[Edges, dict[int, Any]]:
    """The edges u -> v with d_u + a_uv + r_v ≤ U, and r of these vertices, as Python's numbers."""
    u, v, a = extract(A, vertices, vertices).to_edges()
    u, v = gather(vertices, u), gather(vertices, v)
    short = nonzero(gather(d, u).astype("float64") + a + gather(r, v) <= U).indices
    Place("cpu").check_room(f"shortest_simple_paths on {short.size:,} edges", LISTED * short.size)
    listed = zip(*(to_device(gather(x, short), "cpu").tolist() for x in (u, v, a)), strict=True)
    edges = {start: {end: length for _, end, length in few} for start, few in groupby(listed, itemgetter(0))}
    return edges, dict(zip(*(to_device(x, "cpu").tolist() for x in (vertices, gather(r, vertices))), strict=True))


class Steps:
    """The vertices of a long path: blocks, of which the paths that go on from it share all but the last."""

    __slots__ = ("before", "last")

    def __init__(self, before: Tail, last: tuple[int, ...]) -> None:
        self.before, self.last = before, last

    def __lt__(self, other: Tail) -> bool:
        if isinstance(other, Steps) and self.before is other.before:
            return self.last < other.last
        return whole(self) < whole(other)

    def __gt__(self, other: tuple[int, ...]) -> bool:
        return whole(self) > other


Tail: TypeAlias = tuple[int, ...] | Steps
"""The vertices of a path."""


def onward(steps: Tail, v: int) -> Tail:
    """The path to one vertex more."""
    if isinstance(steps, tuple):
        return (*steps, v) if len(steps) < BLOCK else Steps(steps, (v,))
    return Steps(steps.before, (*steps.last, v)) if len(steps.last) < BLOCK else Steps(steps, (v,))


def whole(steps: Tail) -> tuple[int, ...]:
    """All vertices of a path."""
    blocks = list[tuple[int, ...]]()
    while isinstance(steps, Steps):
        blocks.append(steps.last)
        steps = steps.before
    return tuple(chain(steps, *reversed(blocks)))


def ranked(edges: Edges, rest: dict[int, Any], source: int, target: int) -> Iterator[tuple[int, ...]]:
    """All simple paths in their order.

    A class (length, False, steps, j, g, known, place) has the paths that share steps[:j+1], which is g long, and go on
    to none of the known vertices; they have this length or more. (length, True, steps, …): its shortest path.
    place: of each vertex of the steps, in them.
    """
    heap: list[Any] = [(rest.get(source), False, (source,), 0, 0, frozenset(), {source: 0})]
    while heap:
        length, is_path, steps, j, g, known, place = heappop(heap)
        if not is_path:
            if (found := shortest(edges, rest, steps[j], g, known, target, place)) is not None:
                longer, tail = found
                heappush(heap, (longer, True, (*steps[: j + 1], *tail), j, g, known, place))
            continue
        yield steps
        place = {v: i for i, v in enumerate(steps)}
        for i, (u, v) in enumerate(pairwise(steps[j:]), j):
            leading = edges.get(u, {})
            known = known | {v} if i == j else frozenset({v})
            others = [g + a + rest.get(w) for w, a in leading.items() if w not in known and place.get(w, inf) > i]
            if others:
                heappush(heap, (min(others), False, steps, i, g, known, place))
            g += leading.get(v)


def shortest(
    edges: Edges, rest: dict[int, Any], start: int, g: Any, known: frozenset[int], target: int, place: dict[int, int]
) -> tuple[Any, tuple[int, ...]] | None:
    """The length of the first path of a class, and its vertices after the start, by A*; None if there is none.

    place: of the steps that the class shares, up to the start, and others.
    """
    settled, j = set[int](), place.get(start, 0)
    heap: list[Any] = [(g + a + rest.get(w), (w,), g + a, w) for w, a in edges.get(start, {}).items() if w not in known]
    heapify(heap)
    while heap:
        _, steps, g, v = heappop(heap)
        if v == target:
            return g, whole(steps)
        if v not in settled and place.get(v, inf) > j:
            settled.add(v)
            for w, a in edges.get(v, {}).items():
                if w not in settled:
                    heappush(heap, (g + a + rest.get(w), onward(steps, w), g + a, w))
    return None
