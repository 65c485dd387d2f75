"""Lets GPUs that hold a strip of a matrix each run one persistent kernel together (`strips.cu`).

The GPUs are of one process, `A.to(device=["cuda:0", "cuda:1"])`, or of several on one machine, each of which has one. A
kernel is launched on each GPU, and they meet in it after every step, through each other's memory. What the host does is
launch, and wait. Processes let each other into a block of memory, an *arena*, in which all lies that the others read.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from formats import CSR, ParticipantError
from formats.arrays import concatenated, cupy
from formats.copies import befriend, to_peer
from formats.matrix.facts import Fact
from formats.parts.partitioned import WORD, Partitioned
from formats.places import Place
from formats.resident import uninterrupted
from formats.storage.orientation import compressed
from formats.system import machine
from semiring.verbs.registry import Declined

from ..cuda import kernels
from ..cuda.layouts import MAX_GPUS, Meetings

R = TypeVar("R")
Kind = tuple[int, Any]
"""The number of elements of an array, and their dtype."""

PATIENCE_SECONDS = 20.0
"""Seconds that GPUs of one process wait for each other. Processes have a time-out of their own."""
LINE_BYTES, MIN_ARENA_BYTES = 256, 4 << 20
"""Bytes to which an arena's arrays are aligned, and from which on CUDA gives memory that is nobody else's."""


@dataclass(frozen=True)
class Member:
    """A GPU of this process, and its strip.

    number: among all GPUs.  rows: the strip as CSR.  first: the first vertex of it.
    """

    number: int
    place: Place
    rows: CSR
    first: int

    @property
    def own(self) -> int:
        """The number of the GPU's own vertices."""
        return self.rows.nrows

    @property
    def range(self) -> slice:
        """The range of the GPU's own vertices."""
        return slice(self.first, self.first + self.own)


class Pauses:
    """Work between launches of a kernel: none here.

    every: steps after which there is a pause at the latest; None for as many as launches take.
    """

    def __init__(self, every: int | None = None) -> None:
        self.every = every

    def due(self) -> bool:
        """True if there is anything to do, as this process finds."""
        return False

    def look(self) -> None:
        """Does what all processes do, if one has found so."""


class Team:
    """The GPUs of a matrix in parts.

    members: those of this process.  count: of all.  starts: their first vertices, and n.
    """

    def __init__(self, A: Partitioned) -> None:
        self.group, self.count, self.n, self.starts = A.group, len(A.entries), A.nrows, A.starts
        self.members = [
            Member(number, part.place, compressed(part, 0), start)
            for number, (part, (start, _)) in enumerate(zip(A.parts, A.rows, strict=True), A.first)
        ]
        self.loaded: set[Any] = set()
        self.starts_there = self.each(lambda _: cupy().asarray(np.array(A.starts, np.int64)))
        self._tables: tuple[Any, list[Any]] | None = None
        self.broken = False
        self.arena: Arena | None = None
        self.meetings = self.each(lambda _: first_meetings(PATIENCE_SECONDS)) if self.group.size == 1 else []
        for member in self.members:
            member.place.finish()

    @property
    def home(self) -> Place:
        """The place of answers."""
        return self.members[0].place

    def each(self, function: Callable[[Member], R]) -> list[R]:
        """Calls a function on each GPU, one after the other; it need not wait for what it starts."""
        found = []
        for member in self.members:
            with member.place.scope():
                found.append(function(member))
        return found

    def at_once(self, function: Callable[[Member], R]) -> list[R]:
        """Calls a function on each GPU, in a thread for each: it may wait for what it starts."""

        def work(member: Member) -> R:
            with member.place.scope():
                return function(member)

        with ThreadPoolExecutor(len(self.members), "gpu") as threads:
            run = [threads.submit(contextvars.copy_context().run, work, member) for member in self.members]
            return [each.result() for each in run]

    def shared(self, *kinds: Kind) -> tuple[list[Any], list[Any]]:
        """Returns arrays of each kind on each GPU here, and there the addresses of everybody's meetings and arrays."""
        if self.group.size > 1:
            if self.arena is None or not self.arena.has_room(kinds):
                self.arena = Arena(self, kinds)
            return self.arena.arrays(kinds)
        made = [self.each(lambda _, kind=kind: cupy().empty(*kind)) for kind in kinds]  # type: ignore[misc]
        addresses = [[x.data.ptr for x in each] for each in (self.meetings, *made)]
        if self._tables is None or self._tables[0] != addresses:
            self._tables = addresses, self.each(lambda _: table(addresses))
        return made, self._tables[1]

    def run(
        self,
        name: str,
        ks: list[kernels.Kernels],
        arguments: list[Any],
        controls: list[Any],
        most: int,
        pauses: Pauses | None = None,
    ) -> Any:
        """Launches a kernel on all GPUs until it is done, or has taken so many steps; returns the controls on the host.

        arguments: of each GPU, but for the last, the step to stop at.  controls: as `Kernels.stepwise` has them, with a
        last word that says for whom the GPU has waited in vain.  pauses: what is done between launches.
        """
        pauses = pauses or Pauses()
        every, upto, first = min(kernels.launched().every, pauses.every or most), 0, True
        launched = list(zip(self.members, ks, arguments, strict=True))
        with self._broken_by_errors():
            # a launch that loads code could wait for one that waits
            if (key := (name, *map(id, ks))) not in self.loaded:
                self.loaded.add(key)
                self._launch(name, launched, 0)
                for member in self.members:
                    member.place.finish()
            while True:
                upto = min(upto + every, most)
                if not first:
                    for member, control in zip(self.members, controls, strict=True):
                        with member.place.scope():
                            control[:1] = 0
                if any(self.group.told(name, not first and pauses.due())):
                    pauses.look()
                first = False
                self._launch(name, launched, upto)
                states = [control.get() for control in controls]
                if lost := [int(state[-1]) for state in states if state[-1]]:
                    raise ParticipantError(f"GPU {lost[0] - 1} of {self.count} did not come to a step of {name}")
                if states[0][0] >> np.uint64(32) or upto >= most:
                    return states

    @contextmanager
    def _broken_by_errors(self) -> Iterator[None]:
        """Marks the team as broken by an error in the block: some of its GPUs may have met without the others."""
        try:
            yield
        except BaseException:
            self.broken = True
            with suppress(Exception):
                for member in self.members:
                    member.place.finish()
            raise

    def _launch(self, name: str, launched: list[Any], upto: int) -> None:
        with uninterrupted():
            for member, k, given in launched:
                with member.place.scope():
                    k.persistent(name, member.own + member.rows.nnz, (*given, np.uint64(upto)))

    def whole(self, what: str, own: Sequence[Any], into: Any = None) -> Any:
        """Joins what each GPU has, one behind the other, on the first GPU of each process.

        into: an array with room for all of it there, which has the first one's part already.
        """
        if self.group.size > 1:
            return concatenated(self.group.everyone(what, own[0]))
        bounds = np.cumsum([0, *(part.size for part in own)]).tolist()
        with self.home.scope():
            x = cupy().empty(bounds[-1], own[0].dtype) if into is None else into
            for part, start, stop in list(zip(own, bounds[:-1], bounds[1:], strict=True))[into is not None :]:
                to_peer(part, self.home, x[start:stop])
        return x[: bounds[-1]]


def first_meetings(seconds: float) -> Any:
    """Returns meetings before the first one, for which the current GPU waits so long."""
    words = np.zeros(Meetings.words, np.uint64)
    words[Meetings.word("patience")] = min(seconds, 1e9) * 1e9
    return cupy().asarray(words)


def table(addresses: list[list[int]]) -> Any:
    """Returns the addresses of arrays on the current GPU, a row for each kind."""
    return cupy().asarray(np.array(addresses, np.uint64).reshape(-1))


class Arena:
    """A block of a GPU's memory, into which the processes of all GPUs look.

    addresses: where each process's block begins, as this process sees it.
    """

    def __init__(self, team: Team, kinds: Sequence[Kind]) -> None:
        cp, group = cupy(), team.group
        runtime = cp.cuda.runtime
        self.size = max(MIN_ARENA_BYTES, sum(self._sizes(kinds)))
        self.memory = cp.cuda.memory.Memory(self.size)
        self.rank = group.rank
        handles = group.told("arenas", runtime.ipcGetMemHandle(self.memory.ptr))
        with group.guarded("arenas"):
            self.addresses = [
                self.memory.ptr if rank == group.rank else runtime.ipcOpenMemHandle(handle)
                for rank, handle in enumerate(handles)
            ]
            self._array((Meetings.words, np.uint64), 0)[...] = first_meetings(group.timeout)
            team.home.finish()
        group.told("arenas", None)

    def has_room(self, kinds: Sequence[Kind]) -> bool:
        return sum(self._sizes(kinds)) <= self.size

    def arrays(self, kinds: Sequence[Kind]) -> tuple[list[Any], list[Any]]:
        """Returns arrays and tables as `Team.shared` does."""
        starts = np.cumsum([0, *self._sizes(kinds)])[:-1].tolist()
        made = [[self._array(kind, start)] for kind, start in zip(kinds, starts[1:], strict=True)]
        return made, [table([[address + start for address in self.addresses] for start in starts])]

    def _sizes(self, kinds: Sequence[Kind]) -> list[int]:
        every = [(Meetings.words, np.uint64), *kinds]
        return [-(-size * np.dtype(dtype).itemsize // LINE_BYTES) * LINE_BYTES for size, dtype in every]

    def _array(self, kind: Kind, start: int) -> Any:
        cp = cupy()
        return cp.ndarray(kind[0], kind[1], cp.cuda.MemoryPointer(self.memory, start))


WITH_ENTRIES: Fact[Any] = Fact("rows that have entries, as bits")


def rows_with_entries(A: CSR) -> Any:
    """Returns a bit for each row of a strip, 1 if it has entries, by 32 bits a word; found once."""

    def found() -> Any:
        xp = cupy()
        bits = xp.zeros(-(-A.nrows // WORD) * WORD, bool)
        bits[: A.nrows] = A.indptr[1:] != A.indptr[:-1]
        return xp.packbits(bits, bitorder="little").view(np.uint32)

    return A.keep(WITH_ENTRIES, found)


TEAM: Fact[Team | Declined] = Fact("the GPUs of the parts")


def team_of(A: Partitioned) -> Team | Declined:
    """Returns the GPUs of a matrix by rows, found once; `Declined` where they cannot work together."""
    if isinstance(known := A.known(TEAM), Team) and known.broken:
        A.take(TEAM)

    def find() -> Team | Declined:
        why = [each for each in A.of_each(why_not(A)) if each]
        if not why and A.group.size > 1:
            about = A.of_each((machine(), bus_of(A.place)))
            if len({node for node, _ in about}) > 1 or len({*about}) < len(about):
                why = ["the GPUs are on several machines, or processes share one"]
        return Declined(why[0]) if why else Team(A)

    return A.keep(TEAM, find)


def bus_of(place: Place) -> str:
    """Returns the name of a GPU on its machine."""
    return str(cupy().cuda.runtime.deviceGetPCIBusId(place.ordinal))


def why_not(A: Partitioned) -> str:
    """Returns why the GPUs of this process cannot work together; "" if they can."""
    places = [part.place for part in A.parts]
    if any(place.on_host for place in places) or len({*places}) < len(places):
        return "a persistent kernel needs each strip on a GPU of its own"
    if A.group.size > 1 and len(places) > 1:
        return "of several processes each has one GPU"
    if len(A.entries) > MAX_GPUS:
        return f"at most {MAX_GPUS} GPUs run a kernel together"
    if any(start % WORD for start in A.starts[:-1]):
        return f"a strip does not begin at a multiple of {WORD} rows: A.to(device=[…]) cuts them so"
    if any(entries > kernels.MAX_ENTRIES for entries in A.entries) or A.nrows > kernels.MAX_ENTRIES // 2:
        return "edges of a strip are counted in 32 bits"
    return "" if befriend(places) else "the GPUs cannot read each other's memory"
