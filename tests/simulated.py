"""A simulated GPU: a CuPy and a driver whose device is the host's memory, and which count what is taken and copied."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from formats import resident


class DeviceArray(np.ndarray):
    """An array of the fake's memory, with what is asked of CuPy's."""

    memory: Any = None

    def __array_finalize__(self, other: Any) -> None:
        self.memory = getattr(other, "memory", None)

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data, mem=self.memory)

    def get(self, out: np.ndarray | None = None) -> np.ndarray:
        check_border(self.ctypes.data, self.nbytes)
        found = np.array(self) if out is None else out
        found[...] = self
        return found

    def set(self, array: np.ndarray) -> None:
        check_border(self.ctypes.data, self.nbytes)
        self[...] = array


def check_border(start: int, count: int) -> None:
    """Does a copy keep to one kind of pages?"""
    for found in resident._RANGES.values():
        border = found.ptr + found.there
        assert not start < border < start + count, "a copy leads over the border of device and host pages"


class FakeCupy:
    """A CuPy whose copies wait for their events.

    may_pin: bytes.  fails_at: the number of the copy that fails.  free: bytes of the device, all of them free.
    """

    class CUDARuntimeError(RuntimeError):
        pass

    class OutOfMemoryError(MemoryError):
        pass

    def __init__(self, may_pin: int = 1 << 40, fails_at: int = -1, free: int = 1 << 40) -> None:
        self.may_pin, self.fails_at, self.pinned, self.freed, self.crossed = may_pin, fails_at, 0, 0, 0
        self.queues: dict[int, list[Callable[[], object]]] = {}
        self.limits: list[int] = []
        fake = self

        class Stream:
            def __init__(self, non_blocking: bool) -> None:
                self.ptr = len(fake.queues)
                fake.queues[self.ptr] = []

            def wait_event(self, event: object) -> None:
                assert isinstance(event, Event)

            def record(self) -> Event:
                event = Event()
                event.record(self)
                return event

            def synchronize(self) -> None:
                self.record().synchronize()

        class Event:
            def __init__(self, disable_timing: bool = False) -> None:
                self.queue: list[Callable[[], object]] = []

            def record(self, stream: Stream) -> None:
                self.queue = fake.queues[stream.ptr]

            def synchronize(self) -> None:
                while self.queue:
                    self.queue.pop(0)()

        self.cuda = SimpleNamespace(
            runtime=SimpleNamespace(
                CUDARuntimeError=self.CUDARuntimeError, memcpyAsync=self.begin, memGetInfo=lambda: (free, free)
            ),
            memory=SimpleNamespace(OutOfMemoryError=self.OutOfMemoryError),
            Stream=Stream,
            Event=Event,
            UnownedMemory=lambda ptr, size, owner, ordinal: SimpleNamespace(ptr=ptr, size=size, owner=owner),
            MemoryPointer=lambda memory, offset: memory,
            alloc_pinned_memory=self.pin,
            get_allocator=lambda: print,
            get_current_stream=lambda: SimpleNamespace(
                record=lambda: Event(True), wait_event=lambda event: event.synchronize()
            ),
        )

    def get_default_memory_pool(self) -> Any:
        return SimpleNamespace(
            malloc=print,
            free_bytes=lambda: 0,
            used_bytes=lambda: 0,
            set_limit=lambda size: self.limits.append(size),
        )

    def get_default_pinned_memory_pool(self) -> Any:
        def free() -> None:
            self.freed += 1

        return SimpleNamespace(free_all_blocks=free)

    def begin(self, target: int, source: int, count: int, kind: int, stream: int) -> None:
        if self.crossed == self.fails_at:
            raise self.CUDARuntimeError("cudaErrorUnknown")
        check_border(target, count)
        check_border(source, count)
        self.crossed += 1
        self.queues[stream].append(lambda: ctypes.memmove(target, source, count))

    def pin(self, size: int) -> np.ndarray:
        if self.pinned + size > self.may_pin:
            raise self.CUDARuntimeError("cudaErrorMemoryAllocation")
        self.pinned += size
        return np.zeros(size + 512, np.uint8)

    def empty(self, shape: Any, dtype: Any) -> Any:
        return np.full(shape, 1, dtype).view(DeviceArray)

    def asarray(self, array: np.ndarray) -> Any:
        return np.array(array).view(DeviceArray)

    def ndarray(self, shape: Any, dtype: Any, memory: Any) -> Any:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        held: Any = (ctypes.c_ubyte * size).from_address(memory.ptr)
        array = np.frombuffer(held, np.uint8).view(dtype).reshape(shape).view(DeviceArray)
        array.memory = memory
        return array


class FakeDriver:
    """A driver of ranges of addresses, which takes the host's memory and counts.

    fails_at: the number of the call that fails, for lack of memory.
    """

    def __init__(self, fails_at: int = -1) -> None:
        self.fails_at, self.calls = fails_at, 0
        self.ranges: dict[int, np.ndarray] = {}
        self.pages: dict[int, int] = {}
        self.mapped: dict[int, int] = {}
        self.usable: dict[int, bool] = {}
        self.finished = 0

    @property
    def holds_nothing(self) -> bool:
        return not (self.ranges or self.pages or self.mapped)

    def _called(self) -> None:
        self.calls += 1
        if self.calls == self.fails_at:
            raise MemoryError("no memory")

    def start(self) -> None:
        self._called()

    def finish(self, place: Any) -> None:
        self.finished += 1

    def reserve(self, size: int) -> int:
        self._called()
        room = np.zeros(size, np.uint8)
        self.ranges[room.ctypes.data] = room
        return room.ctypes.data

    def release_addresses(self, ptr: int, size: int) -> None:
        assert self.ranges[ptr].size == size
        assert not any(ptr <= at < ptr + size for at in self.mapped)
        del self.ranges[ptr]

    def create(self, size: int, on_host: bool, place: Any) -> int:
        self._called()
        assert size % resident.GRANULE == 0
        self.pages[self.calls] = size
        return self.calls

    def release(self, pages: int) -> None:
        assert pages not in self.mapped.values()
        del self.pages[pages]

    def map(self, ptr: int, size: int, pages: int) -> None:
        self._called()
        assert self.pages[pages] == size
        self.mapped[ptr] = pages

    def unmap(self, ptr: int, size: int) -> None:
        assert self.finished or 0 < self.fails_at <= self.calls, "kernels may still read"
        assert self.pages[self.mapped.pop(ptr)] == size

    def let(self, ptr: int, size: int, on_host: bool, place: Any) -> None:
        self._called()
        self.usable[ptr] = on_host
