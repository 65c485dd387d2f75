"""Relabels vertices so that each of several GPUs has as many of them, with as many edges.

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
"""Times its share of the vertices that a GPU must have, and blocks of each GPU, for a relabelling to pay."""
ROOM_PER_ENTRY, ROOM_PER_VERTEX = 40, 40
"""Bytes that there must be for each entry that a GPU gets, and for each vertex."""


@dataclass(frozen=True, eq=False)
class Relabelling:
    """The new numbers of vertices, by which GPUs have them.

    numbers: (n,) on the first GPU, the new number of each vertex.  starts: of each GPU its first new number, and n.
    """

    numbers: Any
    starts: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return int(self.numbers.nbytes)

    def number(self, v: int) -> int:
        """Returns the new number of a vertex."""
        return int(self.numbers[v])

    def renumbered(self, x: np.ndarray) -> np.ndarray:
        """Returns a vector on the host by the new numbers, given by the old ones."""
        found = np.empty_like(x)
        found[to_device(self.numbers, "cpu")] = x
        return found

    def in_order(self, x: Any) -> Any:
        """Returns a vector on the first GPU by the old numbers, given by the new ones."""
        return x.take(self.numbers)


RELABELLING: Fact[Relabelling | None] = Fact("who gets which vertices")
RELABELLED: Fact[Partitioned] = Fact("the matrix with its vertices dealt to GPUs")


def relabelling_of(A: Partitioned, team: Team) -> Relabelling | None:
    """Returns the relabelling of A, by rows, where strips are uneven; else, and without room, None."""

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
    """Makes a relabelling by the edges that leave each vertex, and those that lead to it, on the first GPU."""
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
    """Gives each GPU about as many vertices; the last block, whose size is any, goes to the last GPU.

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
    """Returns the GPUs with their new rows, whose columns have their new numbers and are not sorted."""
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
    """Takes a GPU's new rows from all strips; `vertices` has the old numbers by the new ones."""
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
    """Takes from a strip the rows that go to a GPU: which of its vertices, lengths, columns and values.

    own: the GPU's vertices by their old numbers.  numbers: the new one of each vertex, which columns then have.
    """
    cp, rows = cupy(), each.rows
    at = cp.flatnonzero((own >= each.first) & (own < each.first + each.own))
    mine = own[at] - each.first
    lengths = cp.diff(rows.indptr)[mine]
    entries = places_of(rows.indptr[mine], lengths)
    return at, lengths, numbers[rows.indices[entries]], cp.asarray(rows.values[entries])


def places_of(starts: Any, lengths: Any) -> Any:
    """Returns the places of rows' entries, one row after the other."""
    cp = cupy()
    ends = cp.zeros(lengths.size + 1, starts.dtype)
    ends[1:] = cp.cumsum(lengths)
    places = spread(starts - ends[:-1], ends)
    places += cp.arange(places.size, dtype=places.dtype)
    return places
