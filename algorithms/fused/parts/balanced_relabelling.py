"""Vertices dealt to several GPUs, so that each has as many of them, with as many edges.

Strips of as many entries may differ in rows: of an R-MAT graph one of two GPUs has five of six vertices. A search looks
at vertices as well as at edges, and in a step all wait for the one that has most to do. So GPUs of one process make
themselves a second matrix of the same graph, in which vertices have other numbers.

Vertices stand in groups by the edges that lead to them, to a factor of two, those of most edges first [1]. So the
distances that are looked at most lie together, and stay in the caches. Vertices of a group keep their order. In that
order they are cut into blocks, short ones in front, where the hubs are. Blocks go, those of most entries first, to the
GPU that has the fewest entries. The matrix is kept beside the strips where there is room, and `explain` says so.

[1] P. Faldu, J. Diamond, B. Grot, A closer look at lightweight graph reordering, IISWC 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import cupy, to_device
from formats.copies import to_peer
from formats.matrix.facts import Fact
from formats.parts.partitioned import LENGTHS, WORD, Partitioned, assembled
from formats.storage.compressed import index_types, spread
from semiring.verbs.explanation import details

from .gpus import Member, Team, team_of

BLOCK = 1024
"""Vertices that stay together: a multiple of WORD, which stay together in front."""
MIN_IMBALANCE, MIN_BLOCKS = 1.25, 64
"""Of all vertices for each GPU, how many times as many one has, and blocks of each, from which dealing pays."""
ROOM_PER_ENTRY, ROOM_PER_VERTEX = 40, 40
"""Bytes that there must be for each entry that a GPU gets, and for each vertex."""


@dataclass(frozen=True, eq=False)
class Relabelling:
    """Who gets which vertices.

    numbers: (n,) on the first GPU, the new number of each vertex.  starts: of each GPU its first new number, and n.
    """

    numbers: Any
    starts: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return int(self.numbers.nbytes)

    def number(self, v: int) -> int:
        """The new number of a vertex."""
        return int(self.numbers[v])

    def renumbered(self, x: np.ndarray) -> np.ndarray:
        """(n,) by the new numbers, of what is by the old ones, on the host."""
        found = np.empty_like(x)
        found[to_device(self.numbers, "cpu")] = x
        return found

    def in_order(self, x: Any) -> Any:
        """(n,) by the old numbers, of what is by the new ones, on the first GPU."""
        return x.take(self.numbers)


RELABELLING: Fact[Relabelling | None] = Fact("who gets which vertices")
RELABELLED: Fact[Partitioned] = Fact("the matrix with its vertices dealt to GPUs")


def relabelling_of(A: Partitioned, team: Team) -> Relabelling | None:
    """Who gets which vertices, where strips are uneven; else, and without room, None. A: by rows."""

    def find() -> Relabelling | None:
        largest, n = int(max(np.diff(team.starts))), A.nrows
        if A.group.size > 1 or n < MIN_BLOCKS * BLOCK * team.count or largest * team.count <= MIN_IMBALANCE * n:
            return None
        rooms = [member.place.available_bytes() for member in team.members]
        needed = ROOM_PER_ENTRY * A.nnz // team.count + ROOM_PER_VERTEX * n
        if any(room is not None and room < needed for room in rooms):
            return None
        known = A.keeps(LENGTHS, 1)
        relabelling = new_relabelling(A.lengths(0), A.lengths(1), team)
        if not known:
            A.take(LENGTHS, 1)
        return relabelling

    relabelling = A.keep(RELABELLING, find)
    if relabelling is not None:
        details(strips="dealt in groups of vertices, in a second matrix")
    return relabelling


def new_relabelling(leaving: Any, entering: Any, team: Team) -> Relabelling:
    """By the edges that leave each vertex, and those that lead to it, on the first GPU."""
    n, front = team.n, MIN_BLOCKS * BLOCK
    cuts = np.concatenate([np.arange(0, front, WORD), np.arange(front, n, BLOCK), [n]])
    with team.home.scope():
        cp, index = cupy(), team.members[0].rows.indices.dtype
        order = cp.argsort(-cp.ceil(cp.log2(entering + 1)), kind="stable")
        entries = np.diff(to_device(cp.cumsum(leaving[order])[cp.asarray(cuts[1:] - 1)], "cpu"), prepend=0)
        first, starts = balanced(entries, np.diff(cuts), team.count)
        numbers = cp.empty(n, index)
        numbers[order] = cp.arange(n, dtype=index) + cp.asarray(
            np.repeat(first - cuts[:-1], np.diff(cuts)).astype(index)
        )
    return Relabelling(numbers, starts)


def balanced(entries: np.ndarray, sizes: np.ndarray, count: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """About as many vertices to each of so many GPUs; the last block, whose size is any, to the last GPU.

    entries, sizes: of each block.  Returns (the new number of each one's first vertex, that of each GPU's, and n).
    """
    owner, first, starts = np.full(entries.size, count - 1), np.empty(entries.size, np.int64), [0]
    room, has, lengths = [int(sizes[:-1].sum()) // count + BLOCK] * count, [0] * count, sizes.tolist()
    for block in np.argsort(-entries[:-1], kind="stable").tolist():
        owner[block] = gpu = min((g for g in range(count) if room[g] >= lengths[block]), key=has.__getitem__)
        room[gpu] -= lengths[block]
        has[gpu] += int(entries[block])
    for gpu in range(count):
        own = np.flatnonzero(owner == gpu)
        ends = starts[-1] + np.cumsum(sizes[own])
        first[own] = ends - sizes[own]
        starts.append(int(ends[-1]))
    return first, tuple(starts)


def relabelled(A: Partitioned, relabelling: Relabelling) -> Team:
    """The GPUs with the rows that are dealt to them, whose columns have their new numbers and are not sorted."""
    source: Any = team_of(A)

    def make() -> Partitioned:
        with source.home.scope():
            vertices = cupy().empty_like(relabelling.numbers)  # by their new numbers
            vertices[relabelling.numbers] = cupy().arange(source.n, dtype=vertices.dtype)
        parts = [rows_of(member, source, relabelling, vertices) for member in source.members]
        return assembled(A.group, parts, relabelling.starts, 0, A.shape)

    found: Any = team_of(A.keep(RELABELLED, make))
    return found


def rows_of(member: Member, source: Team, relabelling: Relabelling, vertices: Any) -> CSR:
    """The rows of all strips that are dealt to a GPU.  vertices: the old numbers by the new ones."""
    start, stop = relabelling.starts[member.number : member.number + 2]
    pieces = []
    for each in source.members:
        own, numbers = (to_peer(x, each.place) for x in (vertices[start:stop], relabelling.numbers))
        with each.place.scope():
            piece = taken(each, own, numbers)
        pieces.append([to_peer(x, member.place) for x in piece])
        del own, numbers, piece
    with member.place.scope():
        cp, rows = cupy(), member.rows
        counting, _ = index_types((stop - start, source.n), sum(piece[2].size for piece in pieces))
        indptr = cp.zeros(stop - start + 1, counting)
        for at, lengths, _, _ in pieces:
            indptr[at + 1] = lengths
        indptr = cp.cumsum(indptr, dtype=counting)
        indices = cp.empty(int(indptr[-1]), rows.indices.dtype)
        values = cp.empty(indices.size, rows.dtype)
        for at, lengths, columns, weights in pieces:
            to = places_of(indptr[at], lengths)
            indices[to] = columns
            values[to] = weights
        if values.size and all(0 in each.rows.values.strides for each in source.members if each.rows.nnz):
            one = cp.array(values[:1])
            values = cp.broadcast_to(one, values.shape) if bool((values == one).all()) else values
        made = CSR.trusted(indptr, indices, values, (stop - start, source.n))
        member.place.finish()
    return made


def taken(each: Member, own: Any, numbers: Any) -> tuple[Any, Any, Any, Any]:
    """Of a strip's rows those of vertices that are dealt to a GPU: (which of these, lengths, columns, values).

    own: the GPU's vertices by their old numbers.  numbers: the new one of each vertex, which columns then have.
    """
    cp, rows = cupy(), each.rows
    at = cp.flatnonzero((own >= each.first) & (own < each.first + each.own))
    mine = own[at] - each.first
    lengths = cp.diff(rows.indptr)[mine]
    entries = places_of(rows.indptr[mine], lengths)
    return at, lengths, numbers[rows.indices[entries]], cp.asarray(rows.values[entries])


def places_of(starts: Any, lengths: Any) -> Any:
    """The places of rows' entries, one row after the other."""
    cp = cupy()
    ends = cp.zeros(lengths.size + 1, starts.dtype)
    ends[1:] = cp.cumsum(lengths)
    places = spread(starts - ends[:-1], ends)
    places += cp.arange(places.size, dtype=places.dtype)
    return places
