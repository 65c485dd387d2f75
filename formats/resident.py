"""Arrays of which a share is resident on a GPU: the rest lies in pinned host memory, which kernels read where it is.

Such an array is one range of addresses, device pages first and then host pages, so that every kernel runs on it as it
is. CUDA's virtual memory management makes it [1]. What is not resident crosses the bus whenever it is read, at the
bus's speed. No single copy by CUDA may lead over the border of the two kinds of pages: `formats.copies` cuts there.

[1] CUDA Driver API, section Virtual Memory Management: cuMemAddressReserve, cuMemCreate, cuMemMap, cuMemSetAccess.
"""

from __future__ import annotations

import ctypes
import functools
import signal
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import POINTER, Structure, byref, c_int, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np

from .gpu import cupy
from .memory import OutOfHostMemory
from .places import HOST, Place, held_outside
from .progress import Bar
from .system import interrupt_main_thread

GRANULE = 2 << 20
"""Bytes of a page on the device, and in pinned host memory beside it."""
PINNED_AT_ONCE = 1 << 30
"""Bytes of host pages that are pinned by one call of the driver: a fifth of a second."""
PINNED_SHARE = 3 / 4
"""The share of the host's memory that is left which is pinned at most."""
SMALL = 1 / 2
"""An array of at most this share of the largest is resident as a whole, if it fits: such as where rows begin."""

AFTER_SECONDS = 0.001
"""After which an interrupt is heard that had to wait."""


@dataclass(frozen=True)
class Plan:
    """How many bytes of each array are resident, its first ones.

    Example:
        >>> split([40, 100, 100], 120, granule=10)
        Plan(sizes=(40, 100, 100), there=(40, 40, 40))
    """

    sizes: tuple[int, ...]
    there: tuple[int, ...]

    @property
    def resident(self) -> int:
        """Bytes on the device."""
        return sum(self.there)

    @property
    def elsewhere(self) -> int:
        """Bytes that stay on the host: they cross the bus in each pass over the arrays."""
        return sum(self.sizes) - self.resident


def split(sizes: Sequence[int], budget: int, granule: int = GRANULE) -> Plan:
    """The plan for arrays of so many bytes within a budget: small ones whole, and of the others equal shares."""
    sizes = tuple(sizes)
    if sum(sizes) <= budget:
        return Plan(sizes, sizes)
    there, left = [0] * len(sizes), max(0, budget)
    small = [k for k in sorted(range(len(sizes)), key=sizes.__getitem__) if sizes[k] <= SMALL * max(sizes)]
    for k in small:
        if sizes[k] <= left:
            there[k], left = sizes[k], left - sizes[k]
    rest = [k for k in range(len(sizes)) if there[k] < sizes[k]]
    share = left / sum(sizes[k] for k in rest)
    for k in rest:
        there[k] = int(sizes[k] * share) // granule * granule
    return Plan(sizes, tuple(there))


# --- ranges of addresses --------------------------------------------------------------------------------------------


class Range:
    """Addresses of device pages and, after them, of pinned host pages; given back when nobody holds it.

    there, here: bytes of the two, multiples of GRANULE.  OutOfDeviceMemory or OutOfHostMemory if there is no room: then
    nothing is taken.
    """

    def __init__(self, there: int, here: int, place: Place) -> None:
        self.there, self.here, cuda = there, here, driver()
        undo: list[Callable[[], object]] = []
        try:
            with uninterrupted():
                at = self.ptr = _reserved(cuda, there + here, undo)
                if there:
                    _take(cuda, at, there, False, place, undo)
            with Bar("pinning memory", here, lambda: at - self.ptr, in_bytes=True) as bar:
                for begin in range(0, here, PINNED_AT_ONCE):
                    size = min(PINNED_AT_ONCE, here - begin)
                    with uninterrupted():
                        _take(cuda, self.ptr + there + begin, size, True, place, undo)
                    at = self.ptr + begin + size
                    bar.update()
            with uninterrupted():
                undo.append(lambda: cuda.finish(place))  # kernels may still read: before all the others
                _RANGES[self.ptr] = self
                weakref.finalize(self, _give_back, undo).atexit = False
        except BaseException:
            _give_back(undo)
            raise

    @property
    def on_host(self) -> np.ndarray:
        """The host pages, as bytes."""
        pages: Any = (ctypes.c_ubyte * self.here).from_address(self.ptr + self.there)
        return np.frombuffer(pages, np.uint8)


_RANGES: weakref.WeakValueDictionary[int, Range] = weakref.WeakValueDictionary()
"""Every range, by its first address."""


def _reserved(cuda: Any, size: int, undo: list[Callable[[], object]]) -> int:
    """The first of so many addresses; what gives them back is added to `undo`."""
    cuda.start()
    ptr: int = cuda.reserve(size)
    undo.append(lambda: cuda.release_addresses(ptr, size))
    return ptr


def _take(cuda: Any, at: int, size: int, on_host: bool, place: Place, undo: list[Callable[[], object]]) -> None:
    """Map new pages of the device or the host at an address; what gives back each thing is added to `undo`."""
    pages = cuda.create(size, on_host, place)
    undo.append(functools.partial(cuda.release, pages))
    cuda.map(at, size, pages)
    undo.append(functools.partial(cuda.unmap, at, size))
    cuda.let(at, size, on_host, place)
    if not on_host:
        held_outside(place, size)
        undo.append(functools.partial(held_outside, place, -size))


def _give_back(undo: list[Callable[[], object]]) -> None:
    with uninterrupted():
        while undo:
            undo.pop()()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until shortly after the block, which may be one of Python's finalizers."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[Any] = []
    signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            threading.Timer(AFTER_SECONDS, interrupt_main_thread).start()


def range_of(array: Any) -> Range | None:
    """The range in which a GPU's array lies, if it lies in one."""
    memory = getattr(array.data, "mem", None) if _RANGES else None
    return None if memory is None else _RANGES.get(memory.ptr)


def host_part(array: Any) -> tuple[int, np.ndarray] | None:
    """Splits a contiguous array in a range: its bytes on the device, and those on the host; None of any other."""
    found = range_of(array)
    if found is None:
        return None
    first = array.data.ptr - found.ptr
    border = min(max(found.there - first, 0), array.nbytes)
    return border, found.on_host[first + border - found.there :][: array.nbytes - border]


def elsewhere(array: Any) -> int:
    """Bytes of an array that are not on the device on which kernels read it."""
    part = host_part(array) if array.flags.c_contiguous else None
    return 0 if part is None else array.nbytes - part[0]


def empty(shape: tuple[int, ...], dtype: np.dtype, there: int, place: Place) -> Any:
    """An array of the current GPU, which is the place, whose first bytes, so many, are resident."""
    cp, nbytes = cupy(), int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if there >= nbytes:
        return cp.empty(shape, dtype)
    pages = Range(there, -(-(nbytes - there) // GRANULE) * GRANULE, place)
    memory = cp.cuda.UnownedMemory(pages.ptr, pages.there + pages.here, pages, place.ordinal)
    return cp.ndarray(shape, dtype, cp.cuda.MemoryPointer(memory, 0))


# --- CUDA's driver --------------------------------------------------------------------------------------------------

_OUT_OF_MEMORY = 2
_DEVICE, _HOST, _HOST_NODE = 1, 2, 3
"""Kinds of a CUmemLocation."""
_READ_AND_WRITE = 3
_NODE_OF_DEVICE = 134
"""CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID."""


class _Location(Structure):
    _fields_ = [("kind", c_int), ("number", c_int)]


class _Properties(Structure):
    _fields_ = [("type", c_int), ("handles", c_int), ("where", _Location), ("meta", c_void_p), ("flags", c_uint64)]


class _Access(Structure):
    _fields_ = [("where", _Location), ("flags", c_int)]


class Driver:
    """The functions of the CUDA driver that ranges need."""

    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.cuda.cuMemAddressReserve.argtypes = (POINTER(c_uint64), c_size_t, c_size_t, c_uint64, c_uint64)
        self.cuda.cuMemCreate.argtypes = (POINTER(c_uint64), c_size_t, POINTER(_Properties), c_uint64)
        self.cuda.cuMemMap.argtypes = (c_uint64, c_size_t, c_size_t, c_uint64, c_uint64)
        self.cuda.cuMemSetAccess.argtypes = (c_uint64, c_size_t, POINTER(_Access), c_size_t)
        self.cuda.cuMemUnmap.argtypes = self.cuda.cuMemAddressFree.argtypes = (c_uint64, c_size_t)
        self.cuda.cuMemRelease.argtypes = (c_uint64,)
        self.cuda.cuDeviceGetAttribute.argtypes = (POINTER(c_int), c_int, c_int)

    def start(self) -> None:
        """Let the calling thread use the current device."""
        cupy().cuda.runtime.free(0)

    def finish(self, place: Place) -> None:
        """Wait for all that a device does."""
        place.finish()

    def reserve(self, size: int) -> int:
        ptr = c_uint64()
        self._call("cuMemAddressReserve", byref(ptr), size, 0, 0, 0)
        return ptr.value

    def release_addresses(self, ptr: int, size: int) -> None:
        self._call("cuMemAddressFree", ptr, size)

    def create(self, size: int, on_host: bool, place: Place) -> int:
        """A handle of so many bytes of pages; OutOfHostMemory or OutOfDeviceMemory if there are none."""
        node, pages = c_int(), c_uint64()
        self._call("cuDeviceGetAttribute", byref(node), _NODE_OF_DEVICE, place.ordinal)
        where = _Location(_HOST_NODE, max(node.value, 0)) if on_host else _Location(_DEVICE, place.ordinal)
        what = HOST if on_host else place
        try:
            self._call("cuMemCreate", byref(pages), size, byref(_Properties(1, 0, where, None, 0)), 0)
        except MemoryError as error:
            raise what.no_room("a matrix in parts", size, what.available_bytes() or 0) from error
        return pages.value

    def release(self, pages: int) -> None:
        self._call("cuMemRelease", pages)

    def map(self, ptr: int, size: int, pages: int) -> None:
        self._call("cuMemMap", ptr, size, 0, pages, 0)

    def unmap(self, ptr: int, size: int) -> None:
        self._call("cuMemUnmap", ptr, size)

    def let(self, ptr: int, size: int, on_host: bool, place: Place) -> None:
        """Let the device use pages, and the host its own."""
        for where in (_Location(_DEVICE, place.ordinal), *((_Location(_HOST, 0),) if on_host else ())):
            self._call("cuMemSetAccess", ptr, size, byref(_Access(where, _READ_AND_WRITE)), 1)

    def _call(self, name: str, *args: Any) -> None:
        code = getattr(self.cuda, name)(*args)
        if code == _OUT_OF_MEMORY:
            raise MemoryError(f"{name} finds no memory")
        if code:
            told = ctypes.c_char_p()
            self.cuda.cuGetErrorName(code, byref(told))
            raise RuntimeError(f"{name} says {(told.value or b'error').decode()} ({code})")


@functools.cache
def driver() -> Any:
    """The driver; tests put another in its place."""
    return Driver()


def check_pinned(what: object, size: int) -> None:
    """OutOfHostMemory, with the figures, if that is more than the share of the host's memory that may be pinned."""
    available = HOST.available_bytes()
    if available is not None and size > PINNED_SHARE * available:
        raise OutOfHostMemory(
            f"{what}: {size:,} bytes would be pinned in the host's memory, of which {available:,} are available; "
            f"at most {PINNED_SHARE:.0%} of them are pinned"
        )
