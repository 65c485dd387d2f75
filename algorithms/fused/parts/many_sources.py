"""Serves what strips do not pay for: by the whole matrix on each GPU, in each process, or on one GPU alone.

One pass over the entries serves 64 sources, and a strip's pass would wait for the others' after each step. So everybody
makes itself the whole matrix once, beside its strip, and takes a share of the sources. Small graphs, and those of short
rows, are searched by one GPU, or by each process on the host alone: several would wait for each other for longer than
they work. A single process on the host puts its strips together, and has all its threads. `explain` says so. Where
there is no room for the whole matrix, and under `checkpoints`, strips do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from algorithms.equations.bfs import bfs
from algorithms.shared.single_source import fill_trees
from formats import CSR
from formats.arrays import brought, concatenated
from formats.copies import to_peer
from formats.matrix.convert import convert
from formats.matrix.facts import SYMMETRIC, Fact
from formats.parts.partitioned import Partitioned
from formats.places import Place
from formats.storage.orientation import compressed
from semiring import Semiring
from semiring.vectors import fill, longest_row
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from ..cuda.paths import DEEP_MAX_DEGREE, DEEP_MEAN_DEGREE
from .checkpoint import saves
from .gpus import Team, team_of
from .search import own_rows

Solve = Callable[[CSR, list[int], tuple[Any, ...], slice], None]
"""A function of the matrix, a share of the sources, the rows that it fills for them, and which of all they are."""

WHOLE: Fact[tuple[CSR, ...] | None] = Fact("the matrix, whole on so many GPUs or in each process")
COPY_ROOM, BYTES_PER_ENTRY = 3, 12
"""Times BYTES_PER_ENTRY that must be left for a copy of the matrix with its columns and vectors."""
MIN_NNZ_FOR_GPUS, MIN_NNZ_FOR_PROCESSES = 1 << 26, 1 << 22
"""Entries below which one GPU is faster than two, on H100, and a process than two."""


def solved(A: Partitioned, sources: list[int], rows: Any, solve: Solve) -> Any:
    """Fills the answer's rows, one array (k, n) or two: `solve` does, for each one's share of the sources.

    A GPU other than the first one fills rows of its own, which are brought.
    """
    team = None if A.place.on_host else team_of(compressed(A, 0))
    if isinstance(team, Declined):
        return team
    places = [A.place] if team is None else [member.place for member in team.members]
    copies = copies_of(A, places)
    if copies is None:
        return Declined("there is no room for all of the matrix beside a strip")
    count = A.group.size if team is None else team.count
    bounds = [len(sources) * k // count for k in range(count + 1)]
    shares = [slice(start, stop) for start, stop in zip(bounds[:-1], bounds[1:], strict=True)]

    def of_share(number: int, B: CSR) -> tuple[Any, ...]:
        which = shares[number]
        own = tuple(None if row is None else row[which] for row in rows)
        if B.place != A.place:
            own = tuple(None if row is None else B.xp.empty(row.shape, row.dtype) for row in own)
        if few := sources[which]:
            solve(B, few, own, which)
        return own

    mine: list[tuple[Any, ...]] = []
    refusal: Exception | None = None
    with A.group.guarded("paths"):
        try:
            if team is None:
                mine = [of_share(A.group.rank, copies[0])]
            else:
                first = team.members[0].number
                mine = team.at_once(lambda member: of_share(member.number, copies[member.number - first]))
        except (ValueError, ArithmeticError) as error:
            refusal = error
    raise_first(A, refusal)
    for row, found in zip(rows, zip(*mine, strict=True), strict=True):
        if row is not None:
            put_together(A, row, found, shares)
    details(copies=count, sources=len(sources))
    return None


def raise_first(A: Partitioned, refusal: Exception | None) -> None:
    """Raises everywhere the refusal of the first process that has one, as one process would with all sources."""
    told = None if refusal is None else (type(refusal), refusal.args, vars(refusal))
    for kind, args, state in filter(None, A.of_each(told)):
        error = kind.__new__(kind, *args)
        vars(error).update(state)
        raise error from refusal


def levels_by_one(A: Partitioned, sources: list[int], rows: Any, *how: Any) -> Any:
    """Fills rows of levels, and of parents, by one GPU: what others find would take longer over the link."""
    team = team_of(compressed(A, 0))
    if isinstance(team, Declined):
        return team
    if (copies := copies_of(A, [team.home])) is None:
        return Declined("there is no room for all of the matrix beside a strip")
    with team.home.scope():
        for block in bfs.batch.blocks(copies[0], sources, rows, None, *how):
            if isinstance(block.answer, Declined):
                [source] = block.sources
                fill(block.rows, bfs.run(copies[0], source, None, *how))
    details(copies=1, sources=len(sources))
    return None


def trees(A: Partitioned, sources: list[int], rows: Any, s: Semiring) -> Any:
    """Fills the rows of parents: each one finds those of its share of the sources."""

    distances, parents = rows

    def solve(B: CSR, few: list[int], own: tuple[Any, ...], which: slice) -> None:
        fill_trees(B, few, (brought(distances[which], B.place), *own), s)

    return solved(A, sources, (parents,), solve)


def put_together(A: Partitioned, row: Any, found: Any, shares: list[slice]) -> None:
    """Writes what others have found to the answer; `found` has the rows of those in this process."""
    if A.group.size > 1:
        row[...] = concatenated(A.group.everyone("paths", found[0].reshape(-1))).reshape(row.shape)
        return
    if A.place.on_host:
        return
    for part, which in list(zip(found, shares, strict=True))[1:]:
        if part.size:
            to_peer(part, A.place, row[which])


_by_all: ContextVar[bool] = ContextVar("by_all", default=False)


@contextmanager
def by_all() -> Iterator[None]:
    """Lets GPUs share all graphs within the block, however small: to test what they do together, and to time it."""
    token = _by_all.set(True)
    try:
        yield
    finally:
        _by_all.reset(token)


def alone(A: Partitioned, team: Team, always: bool = False) -> CSR | None:
    """Returns the matrix for one GPU (of each process), where that is faster than all, and has room; else None.

    always: whatever its size.
    """
    if _by_all.get():
        return None
    short = A.nnz <= DEEP_MEAN_DEGREE * A.nrows and longest_row(A) <= DEEP_MAX_DEGREE
    if not (always or A.nnz < MIN_NNZ_FOR_GPUS or short) or (copies := copies_of(A, [team.home])) is None:
        return None
    details(method="by one GPU, which has made itself the whole matrix")
    return copies[0]


def alone_on_host(A: Partitioned, always: bool = False) -> CSR | None:
    """Returns the matrix for each process alone, where that is faster than strips, and has room; else None.

    always: also a large one. So it is with negative weights: labels that are out of date are known by a tree of all
    vertices. Without it each edge is looked at many times as often.
    """
    several = A.group.size > 1
    if not always and (_by_all.get() or saves() or (several and A.nnz >= MIN_NNZ_FOR_PROCESSES)):
        return None
    if (copies := copies_of(A, [A.place])) is None:
        return None
    if several:
        details(method="by each process alone, which has made itself the whole matrix", processes=A.group.size)
    else:
        details(method="by one process, which has put its strips together")
    return copies[0]


def copies_of(A: Partitioned, places: list[Place]) -> tuple[CSR, ...] | None:
    """Returns the matrix at places of this process; None where somebody has no room for it."""
    put_together = A.group.size == 1 and places == [A.place] and A.place.on_host

    def make() -> tuple[CSR, ...] | None:
        rooms = [] if put_together else [place.available_bytes() for place in places]
        if any(A.of_each(any(room is not None and room < COPY_ROOM * BYTES_PER_ENTRY * A.nnz for room in rooms))):
            return None
        first = A.known(WHOLE, 1)
        whole: Any = own_rows(A) if put_together else convert(A, CSR) if first is None else first[0]
        for pattern in (False, True):
            if A.known(SYMMETRIC, pattern):
                whole.keep(SYMMETRIC, lambda: True, pattern)
        return tuple(brought(whole, place) for place in places)

    return A.keep(WHOLE, make, len(places))
