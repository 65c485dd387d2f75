"""Participants: the processes that hold a matrix in parts, and how they meet.

All run the same program. A *step* is a meeting of all of them: each says what it is about to do, how much it brings and
of which dtype, and brings that if it is little; what is more follows in a collective of MPI. So processes that are at
different places of their programs, or of which one has failed, see it at the next step and end with an error that
names the participant and the step. Nobody waits longer than the time-out.

One process alone is a group, too, which needs no MPI.
"""

from __future__ import annotations

import atexit
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar, overload

import numpy as np

from ..arrays import Array, contiguous
from ..hooks import CORES
from ..system import core_count, cores, let_others_run, machine
from .links import FOLDED, TYPES, Links

T = TypeVar("T")

TIMEOUT = 60.0
"""Seconds that a participant waits for the others in a step."""
GRACE = 2.0
"""Seconds in which those that still run answer who asks, after a time-out, who is there."""

BLOCK, HEAD = 4096, 96
"""Bytes that each participant brings to a meeting, and of them those that say what it brings."""
ROOM = BLOCK - HEAD
WELL, FAILED = 0, 1
ASKS, HERE = 1, 2
"""Tags of the question who is there, and of its answer."""
SPINS, FEW, SHORT, LONG = 20_000, 100, 5e-5, 1e-3
"""Looks of a waiting participant before it sleeps, the same with more participants than cores, and seconds of sleep.

The sleep is short at first, and long at last.
"""
MANY = 256
"""Looks after which it looks at the others' processes."""
ENDED = {"": "has ended", "Z": "has ended", "X": "has ended"}
STOPPED = {"T": "is stopped", "t": "is stopped"}

HEADER = np.dtype([("step", "<i8"), ("state", "<i8"), ("dtype", "S16"), ("what", "S56"), ("size", "<i8")])
ALIKE = struct.Struct("<qq16s56s")
"""Header fields that must be equal on all ranks: every field but the size."""


class Communicator(Protocol):
    """The part of an mpi4py communicator that is used here."""

    def Get_rank(self) -> int: ...
    def Get_size(self) -> int: ...


class ParticipantError(RuntimeError):
    """A participant failed, did not come to a step, or came with something else than the others.

    Args:
        message: which participant, at which step, and why.

    Example:
        >>> raise ParticipantError("rank 2 did not come to step 17 (vxm) within 60 s")
        Traceback (most recent call last):
        formats.parts.group.ParticipantError: rank 2 did not come to step 17 (vxm) within 60 s
    """


class Group:
    """Participants, of which this process is one.

    comm: an mpi4py communicator, of which a copy is used; None for this process alone.  timeout: in seconds.
    """

    def __init__(self, comm: Communicator | None = None, timeout: float = TIMEOUT) -> None:
        self.comm: Any = None
        self.line: Any = None
        self._links: Links | None = None
        self.rank, self.size, self.steps, self.sent, self.timeout = 0, 1, 0, 0, check_timeout(timeout)
        self._spins = FEW
        self.broken, self._words, self._processes = "", list[Any](), list[tuple[str, int]]()
        if comm is None:
            return
        if not hasattr(comm, "Iallgather"):
            raise TypeError(f"comm must be an mpi4py communicator, got {type(comm).__name__}")
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        if self.size > 1:
            self.comm, self.line = comm.Dup(), comm.Dup()  # type: ignore[attr-defined]
            self._sent, self._received = np.zeros(BLOCK, np.uint8), np.empty((self.size, BLOCK), np.uint8)
            end_all_on_error(self)
            self._share_cores()

    def __repr__(self) -> str:
        return f"<Group: rank {self.rank} of {self.size}, {self.steps} steps>"

    def _share_cores(self) -> None:
        """Find the processes on the same cores: each takes its share of the threads."""
        node, own, count = machine(), cores(), core_count()
        every = self.told("processes", (node, os.getpid(), own))
        self._processes = [(there, process) for there, process, _ in every]
        here = sum(there == node and not own.isdisjoint(cores) for there, _, cores in every)
        self._spins = SPINS if here <= count else FEW
        if CORES.answer is not None:
            CORES.answer(count // here)

    def number_here(self) -> int:
        """How many of the processes before this one are on the same machine."""
        return sum(node == machine() for node, _ in self._processes[: self.rank])

    # --- steps ----------------------------------------------------------------------------------------------------

    @overload
    def everyone(self, what: str, array: Array) -> list[Array]: ...
    @overload
    def everyone(self, what: str, array: Array, *, most: int) -> list[Array] | None: ...
    def everyone(self, what: str, array: Array, *, most: int | None = None) -> list[Array] | None:
        """Gathers each participant's array, in the order of ranks: one-dimensional arrays of one dtype.

        most: bytes of all together; None is the answer, on all participants, if they would be more.
        """
        mine = contiguous(array)
        if self.size == 1:
            return [mine]
        sizes = self._meet(what, mine)
        if most is not None and sum(sizes) > most:
            return None
        if not isinstance(mine, np.ndarray):
            self.sent += mine.nbytes
            return self.links().everyone(what, mine, sizes)
        if max(sizes) <= ROOM:
            return [self._received[r, HEAD : HEAD + size].copy().view(mine.dtype) for r, size in enumerate(sizes)]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        everything = np.empty(int(starts[-1]), np.uint8)
        byte = _mpi().BYTE
        self.sent += mine.nbytes
        self._wait(what, self.comm.Iallgatherv([_bytes(mine), byte], [everything, sizes, starts[:-1].tolist(), byte]))
        return [everything[start:stop].view(mine.dtype) for start, stop in zip(starts[:-1], starts[1:], strict=True)]

    def exchange(self, what: str, pieces: Sequence[Array]) -> list[Array]:
        """Exchanges pieces of one dtype: pieces[r] is for rank r. Returns what each participant has for this one."""
        return self.exchange_noted(what, pieces, np.empty(0, np.uint8))[0]

    def exchange_noted(self, what: str, pieces: Sequence[Array], note: Array) -> tuple[list[Array], list[Array]]:
        """Exchanges pieces, and notes of one dtype and length; returns the pieces for this one, and the notes of all.

        A step, in which pieces travel that are little; more of them follow in a second collective.
        """
        if self.size == 1:
            return [contiguous(pieces[0])], [note]
        counts = np.array([piece.nbytes for piece in pieces], np.int64)
        if not isinstance(pieces[0], np.ndarray):
            table = np.stack(self.everyone(what, np.concatenate((counts, note.view(np.int64)))))
            self.sent += int(counts.sum())
            found = self.links().exchange(what, pieces, table[:, self.rank].tolist())
            return found, [each.view(note.dtype) for each in table[:, self.size :]]
        head, total = counts.nbytes + note.nbytes, int(counts.sum())
        raw = [_bytes(np.ascontiguousarray(piece)) for piece in pieces] if total else []
        at_once = raw if head + total <= ROOM else []
        blocks = self.everyone(what, np.concatenate([_bytes(counts), _bytes(note), *at_once]))
        table, all_there = np.empty((self.size, self.size), np.int64), True
        for rank, block in enumerate(blocks):
            table[rank] = block[: counts.nbytes].view(np.int64) if block.size >= head else -1
            expected = head + int(table[rank].sum())
            if block.size not in (head, expected):
                raise self._broken(f"rank {rank} brought {block.size} bytes to step {self.steps} ({what}), no pieces")
            all_there &= block.size == expected
        notes = [block[counts.nbytes : head].view(note.dtype) for block in blocks]
        incoming, dtype = table[:, self.rank], pieces[0].dtype
        if all_there:
            starts = head + table[:, : self.rank].sum(axis=1)
            return [
                block[start : start + size].view(dtype)
                for block, start, size in zip(blocks, starts, incoming, strict=True)
            ], notes
        mine, everything, byte = (
            np.concatenate(raw or [_bytes(note)[:0]]),
            np.empty(incoming.sum(), np.uint8),
            _mpi().BYTE,
        )
        there, here = ((sizes.tolist(), (np.cumsum(sizes) - sizes).tolist(), byte) for sizes in (counts, incoming))
        self.sent += mine.nbytes
        self._wait(what, self.comm.Ialltoallv([mine, *there], [everything, *here]))
        return [piece.view(dtype) for piece in np.split(everything, np.cumsum(incoming)[:-1])], notes

    def links(self) -> Links:
        """The links between the processes' GPUs: set up at the first array that lies on one."""
        if self._links is None:
            self._links = Links(self.rank, self.size, self.told, self._finish)
        return self._links

    def folded(self, what: str, name: str, array: Array) -> Array | None:
        """⊕ over the processes' arrays on GPUs; None where NCCL has no such ⊕. A step, or none."""
        if isinstance(array, np.ndarray) or name not in FOLDED or array.dtype.name not in TYPES:
            return None
        self._meet(what, array)
        self.sent += array.nbytes
        return self.links().folded(what, name, array)

    def told(self, what: str, found: T) -> list[T]:
        """Gathers what each participant has found, in the order of ranks: small objects, which are pickled."""
        if self.size == 1:
            return [found]
        import pickle

        mine, objects = np.frombuffer(pickle.dumps(found), np.uint8), []
        for rank, each in enumerate(self.everyone(what, mine)):
            try:
                objects.append(pickle.loads(each.tobytes()))
            except (pickle.UnpicklingError, EOFError) as error:
                message = f"rank {rank} brought {each.size} bytes to step {self.steps} ({what}) that are no object"
                raise self._broken(message) from error
        return objects

    def agree(self, what: str, found: T) -> T:
        """The same of all; ParticipantError that names a rank which has found something else than rank 0."""
        for rank, other in enumerate(every := self.told(what, found)):
            if other != every[0]:
                raise ParticipantError(f"rank {rank} differs from rank 0 in its {what}: {other!r}, not {every[0]!r}")
        return every[0]

    @contextmanager
    def guarded(self, what: str) -> Iterator[None]:
        """Let the others know of an exception within the block: they end at their next step, with its message."""
        try:
            yield
        except Exception as error:
            self.fail(what, error)
            raise

    def fail(self, what: str, error: BaseException) -> None:
        """Come to the next step with an error, whatever the others bring."""
        if self.size == 1 or self.broken or isinstance(error, ParticipantError):
            return
        message = f"{type(error).__name__}: {error}".encode()[:ROOM]
        self._begin(what, np.frombuffer(message, np.uint8), FAILED)

    # --- meetings -------------------------------------------------------------------------------------------------

    def _meet(self, what: str, mine: Array) -> list[int]:
        """How many bytes each one brings; ParticipantError if one has failed, or brings something else."""
        if self.broken:
            raise ParticipantError(self.broken)
        self._begin(what, mine, WELL)
        own, sizes = self._sent[: ALIKE.size].tobytes(), list[int]()
        for each in self._received:
            head = each[:HEAD].tobytes()
            size = int.from_bytes(head[ALIKE.size :], "little")
            if not head.startswith(own) or size % mine.dtype.itemsize:
                raise self._refusal(what, mine.dtype)
            sizes.append(size)
        return sizes

    def _refusal(self, what: str, dtype: np.dtype) -> ParticipantError:
        """Says what is wrong with what was brought to this step."""
        heads = self._received[:, :HEAD].copy().view(HEADER)[:, 0]
        for rank, head in enumerate(heads):
            if int(head["state"]) == FAILED:
                text = self._received[rank, HEAD : HEAD + int(head["size"])].tobytes().decode(errors="replace")
                return ParticipantError(f"rank {rank} failed in step {self.steps} ({_name(head)}): {text}")
        own = heads[self.rank]
        for rank, head in enumerate(heads):
            if any(head[part] != own[part] for part in ("step", "what", "dtype")):
                return self._broken(
                    f"rank {rank} came to step {int(head['step'])} ({_name(head)}, {head['dtype'].decode()}), "
                    f"and rank {self.rank} to step {self.steps} ({what}, {dtype.str})"
                )
        uneven = [(rank, int(head["size"])) for rank, head in enumerate(heads) if int(head["size"]) % dtype.itemsize]
        return self._broken(
            f"rank {uneven[0][0]} brought {uneven[0][1]} bytes of {dtype} to step {self.steps} ({what})"
        )

    def _begin(self, what: str, mine: Array, state: int) -> None:
        """Meet all at the next step, and bring `mine` there if it is little."""
        self.steps += 1
        on_host = isinstance(mine, np.ndarray)
        kind = mine.dtype.str + ("" if on_host else ", on a GPU")
        ALIKE.pack_into(self._sent.data, 0, self.steps, state, kind.encode(), what.encode()[:56])
        self._sent[ALIKE.size : HEAD].view(np.int64)[0] = mine.nbytes
        if on_host and mine.nbytes <= ROOM:
            self._sent[HEAD : HEAD + mine.nbytes] = _bytes(mine)
        self.sent += BLOCK
        self._wait(what, self.comm.Iallgather(self._sent, self._received))

    def _wait(self, what: str, request: Any) -> None:
        """Until a request is done; ParticipantError that names who is missing after the time-out."""
        self._finish(what, request.Test)

    def _finish(self, what: str, done: Callable[[], bool]) -> None:
        """Until that is done, as `_wait`."""
        end, looks, pause = None, 0, SHORT
        while not done():
            looks += 1
            if looks < self._spins:
                let_others_run()
                continue
            end = time.monotonic() + self.timeout if end is None else end
            if time.monotonic() > end:
                raise self._broken(self._who_is_missing(what))
            self._answer()
            time.sleep(pause)
            pause = min(LONG, 1.2 * pause)
            if looks % MANY == 0 and (ended := self._told_of(ENDED)):
                raise self._broken(f"{ended} before step {self.steps} ({what})")

    def _answer(self) -> None:
        """Tell who asks that this participant is here."""
        mpi = _mpi()
        status = mpi.Status()
        while self.line.Iprobe(mpi.ANY_SOURCE, ASKS, status):
            self.line.Recv(np.empty(1, np.int64), status.source, ASKS)
            self._tell(status.source, HERE)

    def _who_is_missing(self, what: str) -> str:
        """The message of a time-out: which ranks do not answer."""
        mpi, status = _mpi(), _mpi().Status()
        others, here = [r for r in range(self.size) if r != self.rank], set[int]()
        for other in others:
            self._tell(other, ASKS)
        end = time.monotonic() + min(GRACE, self.timeout)
        while len(here) < len(others) and time.monotonic() < end:
            self._answer()
            while self.line.Iprobe(mpi.ANY_SOURCE, HERE, status):
                self.line.Recv(np.empty(1, np.int64), status.source, HERE)
                here.add(status.source)
            time.sleep(LONG)
        missing = [other for other in others if other not in here]
        who = f"rank{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}" if missing else "a message"
        stopped = self._told_of(STOPPED)
        return (
            f"{who} did not come to step {self.steps} ({what}) within {self.timeout:g} s{'; ' * bool(stopped)}{stopped}"
        )

    def _told_of(self, states: dict[str, str]) -> str:
        """Which rank's process on this machine is in one of the states that Linux tells of, in words; "" if none is."""
        for rank, (node, process) in enumerate(self._processes):
            if node == machine() and (word := states.get(state_of(process))):
                return f"rank {rank} (process {process}) {word}"
        return ""

    def _tell(self, rank: int, tag: int) -> None:
        """Send a word that nobody waits for."""
        word = np.array([self.steps])
        self._words.append((self.line.Isend(word, rank, tag), word))

    def _broken(self, message: str) -> ParticipantError:
        self.broken = message
        if self._links is not None:
            self._links.abort()
        return ParticipantError(message)


def state_of(process: int) -> str:
    """The letter that Linux has for the state of a process, "" if it is gone; "?" where there is no such table."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "" if os.path.isdir("/proc/self") else "?"


def check_timeout(timeout: float) -> float:
    """ValueError unless it is a positive number of seconds."""
    if not timeout > 0:
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout!r}")
    return float(timeout)


def _bytes(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)


def _name(head: Any) -> str:
    return head["what"].decode(errors="replace")


def _mpi() -> Any:
    """mpi4py's module, which is there where a communicator is."""
    return sys.modules["mpi4py.MPI"]


ALONE = Group()
"""This process, where there are no others."""


# --- the end of all -------------------------------------------------------------------------------------------------

_groups: list[Group] = []


def end_all_on_error(group: Group) -> None:
    """Let an exception that nobody catches, here, end the other participants, too, once its message is out."""
    if not _groups:
        before = sys.excepthook

        def end_all(kind: Any, error: Any, trace: Any) -> None:
            before(kind, error, trace)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            _groups[0].comm.Abort(130 if issubclass(kind, KeyboardInterrupt) else 1)

        sys.excepthook = end_all
        atexit.register(_end_broken)
    _groups.append(group)


def _end_broken() -> None:
    """At the end of a program: who has lost another cannot take leave of it."""
    if any(group.broken for group in _groups):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        _groups[0].comm.Abort(1)
