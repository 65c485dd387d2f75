"""Vertices dealt to several GPUs in blocks, so that each has as many of them, with as many edges.

Strips of as many entries may differ in rows: of an R-MAT graph one of two GPUs has five of six vertices. A search looks
at vertices as well as at edges, and in a step all wait for the one that has most to do. So GPUs of one process make
themselves a second matrix of the same graph, in which vertices have other numbers. Blocks of BLOCK go, those of most
entries first, to the GPU that has the fewest entries. The matrix is kept beside the strips where there is room, and
`explain` says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import concatenated, cupy, to_device
from formats.copies import to_peer
from formats.matrix.facts import Fact
from formats.parts.partitioned import Partitioned, assembled
from formats.storage.compressed import spread
from semiring.verbs.explanation import facts

from .gpus import Member, Team, team_of

BLOCK = 1024
"""Vertices that stay together: a multiple of 32."""
UNEVEN, BLOCKS = 1.25, 64
"""Of all vertices for each GPU, how many times as many one has, and blocks of each, from which dealing pays."""
ROOM = 40
"""Bytes that there must be for each entry that a GPU gets."""


@dataclass(frozen=True, eq=False)
class Deal:
    """Who gets which block.

    owner: of each block.  first: the new number of its first vertex.  starts: of each GPU its first vertex, and n.
    """

    owner: np.ndarray
    first: np.ndarray
    starts: tuple[int, ...]

    def number(self, v: int) -> int:
        """The new number of a vertex."""
        return int(self.first[v // BLOCK]) + v % BLOCK

    def renumbered(self, x: np.ndarray) -> np.ndarray:
        """(n,) by the new numbers, of what is by the old ones, on the host."""
        found, full = x.copy(), int(self.first[-1])
        found[:full].reshape(-1, BLOCK)[self.first[:-1] // BLOCK] = x[:full].reshape(-1, BLOCK)
        return found

    @cached_property
    def first_there(self) -> Any:
        """`first` on the GPU that asks for it first."""
        return cupy().asarray(self.first)


DEAL: Fact[Deal | None] = Fact("who gets which block of vertices")
DEALT: Fact[Partitioned] = Fact("the matrix with its vertices dealt to GPUs")


def deal_of(A: Partitioned, team: Team) -> Deal | None:
    """Who gets which block, where strips are uneven; else, and without room, None. A: by rows."""

    def find() -> Deal | None:
        largest, n = int(max(np.diff(team.starts))), A.nrows
        if A.group.size > 1 or n < BLOCKS * BLOCK * team.count or largest * team.count <= UNEVEN * n:
            return None
        rooms = [member.place.available_bytes() for member in team.members]
        if any(room is not None and room < ROOM * A.nnz // team.count for room in rooms):
            return None
        lengths = to_device(A.lengths(0), "cpu")
        return dealt_by(np.add.reduceat(lengths, np.arange(0, n, BLOCK)), n, team.count)

    deal = A.keep(DEAL, find)
    if deal is not None:
        facts(strips="dealt in blocks of vertices, in a second matrix")
    return deal


def dealt_by(entries: np.ndarray, n: int, count: int) -> Deal:
    """As many blocks to each of so many GPUs; the last block, which may be short, to the last GPU."""
    owner, first, starts = np.full(entries.size, count - 1), np.empty(entries.size, np.int64), [0]
    room, has = [-(-(entries.size - 1) // count)] * count, [0] * count
    for block in np.argsort(-entries[:-1], kind="stable").tolist():
        owner[block] = gpu = min((g for g in range(count) if room[g]), key=has.__getitem__)
        room[gpu] -= 1
        has[gpu] += int(entries[block])
    for gpu in range(count):
        own = np.flatnonzero(owner == gpu)
        first[own] = starts[-1] + BLOCK * np.arange(own.size)
        starts.append(starts[-1] + BLOCK * own.size)
    return Deal(owner, first, (*starts[:-1], n))


def dealt(A: Partitioned, deal: Deal) -> Team:
    """The GPUs with the rows that are dealt to them, whose columns have their new numbers and are not sorted."""
    source: Any = team_of(A)

    def make() -> Partitioned:
        parts = [rows_of(member, source, deal) for member in source.members]
        return assembled(A.group, parts, deal.starts, 0, A.shape)

    found: Any = team_of(A.keep(DEALT, make))
    return found


def rows_of(member: Member, source: Team, deal: Deal) -> CSR:
    """The rows of all strips that are dealt to a GPU."""
    pieces = []
    for each in source.members:
        with each.place.scope():
            piece = taken(each, deal, member.number)
        pieces.append([to_peer(x, member.place) for x in piece])
    with member.place.scope():
        cp = cupy()
        lengths, indices, values = (concatenated(list(x)) for x in zip(*pieces, strict=True))
        indptr = cp.zeros(lengths.size + 1, member.rows.indptr.dtype)
        indptr[1:] = cp.cumsum(lengths)
        pattern = member.rows.values
        values = cp.broadcast_to(pattern[:1], indices.shape) if 0 in pattern.strides else values
        made = CSR.trusted(
            indptr, indices.astype(member.rows.indices.dtype, copy=False), values, (lengths.size, source.n)
        )
        member.place.finish()
    return made


def taken(each: Member, deal: Deal, gpu: int) -> tuple[Any, Any, Any]:
    """(lengths, columns by their new numbers, values) of the rows of a strip that are dealt to a GPU."""
    cp, rows = cupy(), each.rows
    owner, first = cp.asarray(deal.owner), cp.asarray(deal.first.astype(rows.indices.dtype))
    own = cp.flatnonzero(owner[(cp.arange(each.own) + each.first) // BLOCK] == gpu)
    lengths = cp.diff(rows.indptr)[own]
    ends = cp.zeros(own.size + 1, rows.indptr.dtype)
    ends[1:] = cp.cumsum(lengths)
    at = spread(rows.indptr[own] - ends[:-1], ends)
    at += cp.arange(at.size, dtype=at.dtype)
    columns = rows.indices[at]
    columns = first[columns // BLOCK] + columns % BLOCK
    return lengths, columns, cp.asarray(rows.values[:1] if 0 in rows.values.strides else rows.values[at])
