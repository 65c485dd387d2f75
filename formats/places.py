"""Places: where things are, which is the host or one GPU.

A matrix or vector is where its arrays are. A place knows the array module, the cells that verbs have for it, and the
memory that is left there under the user's limit. Users spell places as strings: "cpu", "cuda:1", and "cuda", which is
the current GPU.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Iterable, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

from . import host_pool
from .gpu import DeviceUnavailable, cupy
from .memory import UNQUESTIONED_BYTES, OutOfDeviceMemory, OutOfHostMemory, as_bytes, host_bytes, resident_bytes

P = ParamSpec("P")
R = TypeVar("R")
Device = Literal["cpu", "cuda", "cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5", "cuda:6", "cuda:7"]
"""A place as users spell it."""


@dataclass(frozen=True)
class Place:
    """Where arrays are: the host, or one GPU.

    Args:
        backend: "cpu" or "cuda", as verbs' cells are registered.
        ordinal: the GPU's number.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1], [1, 0])
        >>> A.place.on_host, str(A.place)
        (True, 'cpu')
    """

    backend: str
    ordinal: int = 0

    def __str__(self) -> str:
        return self.backend if self.is_current else f"{self.backend}:{self.ordinal}"

    @cached_property
    def on_host(self) -> bool:
        """True for the host, with NumPy's arrays."""
        return self.backend == "cpu"

    @property
    def name(self) -> str:
        """The name that messages use."""
        return "host" if self.on_host else "GPU" if self.is_current else f"GPU {self.ordinal}"

    @property
    def xp(self) -> Any:
        """The array module: `numpy` or `cupy`."""
        return np if self.on_host else sys.modules["cupy"]

    @property
    def is_current(self) -> bool:
        """True if a kernel that is launched now would run here. Always true of the host."""
        if self.on_host:
            return True
        return self.ordinal == (cupy().cuda.runtime.getDevice() if "cupy" in sys.modules else 0)

    def scope(self) -> AbstractContextManager[Any]:
        """A context within which this is the current device."""
        return ANYWHERE if self.is_current else cupy().cuda.Device(self.ordinal)

    def finish(self) -> None:
        """Wait until everything that was started here is done."""
        if not self.on_host:
            cupy().cuda.Device(self.ordinal).synchronize()

    # --- memory -------------------------------------------------------------------------------------------------------

    @property
    def limit(self) -> int | None:
        """Bytes that this process may hold here, as `set_memory_limit` said; None if it did not."""
        return LIMITS.get(self) if LIMITS else None

    def available_bytes(self) -> int | None:
        """Bytes that can still be allocated under the limit; None where nobody knows.

        Of a GPU: what is free, with CuPy's unused blocks; None under an allocator of the user's own without a limit,
        whose managed memory, for example, may have room where the device has not.
        """
        with self.scope():
            if self.on_host:
                left = host_bytes()
            else:
                left = None if own_allocator() else free_and_total()[0]
            if self.limit is None:
                return left
            pool = 0 if self.on_host else cupy().get_default_memory_pool().used_bytes() + OUTSIDE.get(self, 0)
            if self.on_host:
                host_pool.give_back()  # which is held, too
            held = resident_bytes() if self.on_host else pool
        under_limit = max(0, self.limit - held)
        return under_limit if left is None else min(left, under_limit)

    def check_room(self, what: str, needed: int) -> None:
        """OutOfHostMemory or OutOfDeviceMemory, with the figures, if `what` needs more bytes than there are.

        Without a limit it costs nothing where `questions` says so, and else some 50 to 150 µs.
        """
        if self.questions(needed):
            available = self.available_bytes()
            if available is not None and needed > available:
                gc.collect()  # a matrix and its transpose hold each other when nobody else holds them
                host_pool.give_back()
                available = self.available_bytes()
            if available is not None and needed > available:
                raise self.no_room(what, needed, available)

    def questions(self, needed: int, *, may_fail: bool = False) -> bool:
        """True if somebody must look whether so many bytes are available.

        Without a limit, not up to UNQUESTIONED_BYTES, nor for what CuPy's pool has unused: CUDA takes long to say what
        is free.  may_fail: can the caller cope if there is no such memory? Then nor for a small share of a GPU's.
        """
        if LIMITS and self in LIMITS:
            return True
        if needed <= UNQUESTIONED_BYTES or self.on_host:
            return needed > UNQUESTIONED_BYTES
        small = may_fail and needed * UNQUESTIONED_PART <= _total(cupy(), self.ordinal)
        return not small and needed > self._unused_bytes()

    def _unused_bytes(self) -> int:
        """Bytes that CuPy's pool has here and nobody uses."""
        with self.scope():
            return 0 if own_allocator() else int(cupy().get_default_memory_pool().free_bytes())

    def no_room(self, what: str, needed: int, available: int) -> MemoryError:
        """Returns the error to raise where `what` needs more bytes than are available."""
        error = OutOfHostMemory if self.on_host else OutOfDeviceMemory
        cap = "" if self.limit is None else f" under its limit of {self.limit:,}"
        return error(f"{what} needs {needed:,} bytes, but the {self.name} has {available:,} available{cap}")


HOST = Place("cpu")
ANYWHERE = nullcontext()
LIMITS: dict[Place, int] = {}
"""Limits that `set_memory_limit` has set: none in most processes, which saves a look at each call."""
OUTSIDE: dict[Place, int] = {}
"""Bytes of GPUs that are held outside CuPy's pool: by matrices of which a share is resident."""
UNQUESTIONED_PART = 64
"""One in so many bytes of a GPU are not checked where whoever takes them copes with a failure."""
_ON_HOST = (np.ndarray, np.generic)
_gpu = lru_cache(maxsize=None)(functools.partial(Place, "cuda"))


def is_array(obj: object) -> bool:
    """True if `obj` is a NumPy or CuPy array. Imports nothing."""
    cp = sys.modules.get("cupy")
    return isinstance(obj, np.ndarray) or (cp is not None and isinstance(obj, cp.ndarray))


def place_of(x: Any) -> Place:
    """Where an array, a vector or a matrix is."""
    if isinstance(x, _ON_HOST):
        return HOST
    place = getattr(x, "place", None)
    return place if isinstance(place, Place) else _gpu(x.data.device_id)


def find_place(device: Device | Place | str) -> Place:
    """The place that a name means. ValueError for what names none, DeviceUnavailable if the GPU cannot be had."""
    if isinstance(device, Place):
        return HOST if device.on_host else _gpu(device.ordinal)
    check_device_name(device)
    if device == "cpu":
        return HOST
    runtime, (_, _, number) = cupy().cuda.runtime, device.partition(":")
    if not number:
        return _gpu(runtime.getDevice())
    if int(number) >= runtime.getDeviceCount():
        raise DeviceUnavailable(f"device={device!r} is not here: CUDA finds {runtime.getDeviceCount()} on this machine")
    return _gpu(int(number))


def backend_of(device: Device | Place | str) -> str:
    """The backend that a name means, whether or not there is such a device."""
    if isinstance(device, Place):
        return device.backend
    check_device_name(device)
    return device.partition(":")[0]


def check_device_name(device: Any) -> None:
    """ValueError for what names no device."""
    kind, _, number = str(device).partition(":")
    if not isinstance(device, str) or not (device in ("cpu", "cuda") or (kind == "cuda" and number.isdecimal())):
        raise ValueError(f"device must be 'cpu' or 'cuda', got {device!r}")


def set_memory_limit(limit: int | str | None, device: Device | Place) -> None:
    """Let this process hold at most so much memory on a device.

    Every prediction respects the limit: what would exceed it is refused before any work. On a GPU CuPy's own pool
    refuses, too. On the host the limit is for all that the process holds, other libraries' memory included.

    Args:
        limit: bytes, or in words such as "4GiB"; None takes the limit away.
        device: "cpu", "cuda" or "cuda:1", or a `Place`.

    Raises:
        ValueError: the limit is no size.
        DeviceUnavailable: there is no such GPU.

    Example:
        >>> from formats import set_memory_limit
        >>> set_memory_limit("64GiB", device="cpu")
        >>> set_memory_limit(None, device="cpu")
    """
    place, size = find_place(device), None if limit is None else as_bytes(limit)
    if size is None:
        LIMITS.pop(place, None)
    else:
        LIMITS[place] = size
    if not place.on_host:
        _limit_pool(place)


def _limit_pool(place: Place) -> None:
    """Tell CuPy's pool of a GPU what the limit leaves for it."""
    limit = LIMITS.get(place)
    with place.scope():
        left = 0 if limit is None else max(1, limit - OUTSIDE.get(place, 0))  # to the pool, 0 is no limit
        cupy().get_default_memory_pool().set_limit(size=left)


def held_outside(place: Place, more: int) -> None:
    """So many bytes more, or less, of a GPU are held outside CuPy's pool."""
    OUTSIDE[place] = OUTSIDE.get(place, 0) + more
    if place in LIMITS:
        _limit_pool(place)


def free_and_total() -> tuple[int, int]:
    """Bytes that can still be allocated on the current GPU, CuPy's own unused blocks included, and bytes in all."""
    cp = cupy()
    free, total = cp.cuda.runtime.memGetInfo()
    return int(free) + int(cp.get_default_memory_pool().free_bytes()), int(total)


@lru_cache(maxsize=16)
def _total(cp: Any, ordinal: int) -> int:
    """Bytes of a GPU in all."""
    with cp.cuda.Device(ordinal):
        return int(cp.cuda.runtime.memGetInfo()[1])


def own_allocator() -> bool:
    """True if the user has given CuPy another allocator than its pool."""
    cp = cupy()
    return cp.cuda.get_allocator() != cp.get_default_memory_pool().malloc


# --- the current device ---------------------------------------------------------------------------------------------


def at_home(function: Callable[P, R]) -> Callable[P, R]:
    """Let the decorated function run where its first operand is: on that GPU, if it is one among several."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if "cupy" not in sys.modules:
            return function(*args, **kwargs)
        with scope_of(args or kwargs.values()):
            return function(*args, **kwargs)

    return run


def work_at_home(cls: type[Any], names: Set[str]) -> None:
    """Let those methods and properties that a class itself defines run where its object is."""
    for name in names & vars(cls).keys():
        own = vars(cls)[name]
        made = at_home(getattr(own, "fget", own))
        setattr(cls, name, property(made) if isinstance(own, property) else made)


def made_at_home(check: Callable[[Any], None]) -> Callable[[Any], None]:
    """A dataclass's `__post_init__`, run where its fields are."""

    @functools.wraps(check)
    def run(self: Any) -> None:
        with scope_of(vars(self).values()):
            check(self)

    return run


def scope_of(operands: Iterable[Any]) -> AbstractContextManager[Any]:
    """The scope of the first array, vector or matrix among the operands; of none, where the call is."""
    place = place_among(operands) if "cupy" in sys.modules else None
    return ANYWHERE if place is None else place.scope()


def place_among(operands: Iterable[Any]) -> Place | None:
    """The place of the first array, vector or matrix among the operands; None if there is none."""
    for x in operands:
        place = getattr(x, "place", None)
        if isinstance(place, Place):
            return place
        if is_array(x):
            return place_of(x)
    return None


def kept_by_place(maxsize: int | None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`lru_cache` for what is compiled or measured for one GPU: each has its own."""

    def decorate(make: Callable[P, R]) -> Callable[P, R]:
        kept = lru_cache(maxsize=maxsize)(lambda device, *args, **kwargs: make(*args, **kwargs))

        @functools.wraps(make, updated=())  # of a class, not what it has
        def find(*args: P.args, **kwargs: P.kwargs) -> R:
            return kept(cupy().cuda.runtime.getDevice(), *args, **kwargs)  # type: ignore[arg-type]

        return find

    return decorate
