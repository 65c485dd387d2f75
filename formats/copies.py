"""Copies between the host and a GPU in pieces, through pinned memory, by several threads.

CUDA copies memory that is not pinned by one thread, through a buffer of its own, at a fraction of the bus's speed. Here
each of several lanes takes the piece that is next: its thread fills one of the lane's two pinned buffers while the GPU
copies the other. The buffers are of CuPy's pool, which keeps them for the next copy. A call pins at most LANES * 2 *
PIECE bytes, and no more than a PINNED_SHARE of what the host has left, but for one lane.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

import numpy as np

from .gpu import cupy
from .memory import host_bytes
from .places import Place
from .progress import Bar
from .resident import elsewhere, empty, host_part, uninterrupted
from .system import cores, in_a_forked_child

PIECE = 4 << 20
"""Bytes that are copied at a time, and of a pinned buffer."""
PIECED = 16 << 20
"""Bytes from which on arrays are copied in pieces: starting the threads takes longer than fewer."""
PEER_PIECE = 256 << 20
"""Bytes that go from one GPU to another at a time, of an array that is not all resident on the first."""
LANES = min(12, len(cores()))
PINNED_SHARE = 1 / 64
LISTENING_SECONDS = 0.2
"""How long the calling thread waits before it shows how far the copy is."""

Piece = tuple[int, int, int]
"""The number of a pair, and where in it a piece begins and ends."""


class Lane(Protocol):
    """Two buffers in pinned memory, each on its way to a device or from it, or idle."""

    buffers: Sequence[np.ndarray]

    def send(self, side: int, count: int, device: Any) -> None:
        """Begin to copy the first `count` bytes of a buffer to a piece of the device."""

    def fetch(self, side: int, count: int, device: Any) -> None:
        """Begin to copy a piece of the device to the first `count` bytes of a buffer."""

    def wait(self, side: int) -> None:
        """Wait until a buffer's copy, if one has begun, is done."""

    def within(self) -> Any:
        """A context for the thread that works for the lane."""


def pieces(sizes: Sequence[int], piece: int = PIECE) -> Iterator[Piece]:
    """All bytes of pairs of so many bytes, at most `piece` at a time."""
    for number, size in enumerate(sizes):
        for start in range(0, size, piece):
            yield number, start, min(start + piece, size)


def lanes_for(nbytes: int, available: int | None) -> int:
    """How many lanes copy so many bytes, if the host has so many left, or nobody knows: at least one."""
    most = LANES if available is None else int(available * PINNED_SHARE) // (2 * PIECE)
    return max(1, min(LANES, most, -(-nbytes // PIECE)))


def copy(
    host: Sequence[np.ndarray],
    device: Sequence[Any],
    lanes: Sequence[Lane],
    *,
    to_device: bool,
    mapped: Collection[int] = (),
) -> None:
    """Copy pairs of equally many bytes, each as an array of bytes, side by side. An error in one lane is raised here.

    mapped: the numbers of the pairs whose second array, too, is on the host.  When this returns or raises, no copy is
    under way.
    """
    sizes = [each.size for each in host]
    todo, taking, stop, taken = pieces(sizes, lanes[0].buffers[0].size), threading.Lock(), False, 0

    def take() -> Piece | None:
        nonlocal taken
        with taking:
            piece = None if stop else next(todo, None)
            taken += 0 if piece is None else piece[2] - piece[1]
            return piece

    def work(lane: Lane) -> None:
        begun: list[Piece | None] = [None, None]

        def end(side: int) -> None:
            lane.wait(side)
            piece, begun[side] = begun[side], None
            if piece is not None and not to_device:
                number, start, last = piece
                np.copyto(host[number][start:last], lane.buffers[side][: last - start])

        with lane.within():
            side = 0
            try:
                while (piece := take()) is not None:
                    number, start, last = piece
                    if number in mapped:
                        ends = device[number], host[number]
                        target, source = ends if to_device else ends[::-1]
                        np.copyto(target[start:last], source[start:last])
                        continue
                    end(side)
                    if to_device:
                        np.copyto(lane.buffers[side][: last - start], host[number][start:last])
                        lane.send(side, last - start, device[number][start:last])
                    else:
                        lane.fetch(side, last - start, device[number][start:last])
                    begun[side], side = piece, 1 - side
                end(side)
                end(1 - side)
            finally:
                lane.wait(0)
                lane.wait(1)

    name = "moving to the GPU" if to_device else "moving to the host"
    with Bar(name, sum(sizes), lambda: taken, in_bytes=True) as bar:
        working: list[Future[None]] = []
        try:
            with uninterrupted():
                working += [threads().submit(work, lane) for lane in lanes]
            while wait(working, LISTENING_SECONDS, FIRST_EXCEPTION).not_done and not stop:
                bar.update()
                stop = any(each.done() and each.exception() for each in working)
        finally:
            stop = True
            with uninterrupted():
                for each in working:
                    each.exception()  # which waits for the thread
        for each in working:
            each.result()


@cache
def threads() -> ThreadPoolExecutor:
    """Those of all copies. To start them takes as long as 30 MB of a copy."""
    return ThreadPoolExecutor(LANES, "copy")


in_a_forked_child(threads.cache_clear)


# --- a GPU ----------------------------------------------------------------------------------------------------------


_STREAMS: dict[Place, list[Any]] = {}
"""Streams of earlier copies that no lane has now, by GPU."""


class GPULane:
    """A lane of a GPU: a stream, and pinned buffers of CuPy's pool."""

    def __init__(self, place: Place, after: Any) -> None:
        cuda = cupy().cuda
        self.place, self.copied = place, cuda.runtime.memcpyAsync
        self.memory = cuda.alloc_pinned_memory(2 * PIECE)
        self.buffers: Any = np.frombuffer(self.memory, np.uint8, 2 * PIECE).reshape(2, PIECE)
        idle = _STREAMS.setdefault(place, [])
        self.stream = idle.pop() if idle else cuda.Stream(non_blocking=True)
        self.stream.wait_event(after)
        self.done = [cuda.Event(disable_timing=True) for _ in range(2)]

    def send(self, side: int, count: int, device: Any) -> None:
        self.copied(device.data.ptr, self.buffers[side].ctypes.data, count, 1, self.stream.ptr)  # host to device
        self.done[side].record(self.stream)

    def fetch(self, side: int, count: int, device: Any) -> None:
        self.copied(self.buffers[side].ctypes.data, device.data.ptr, count, 2, self.stream.ptr)  # device to host
        self.done[side].record(self.stream)

    def wait(self, side: int) -> None:
        self.done[side].synchronize()

    def within(self) -> Any:
        return self.place.scope()

    def close(self, *, failed: bool) -> None:
        """Give the pinned memory back, whoever still holds the lane: an error does, until it is handled.

        failed: its stream may not be used again.
        """
        self.buffers = self.memory = None
        if not failed:
            _STREAMS[self.place].append(self.stream)


def to_gpu(arrays: Sequence[np.ndarray], place: Place, there: Sequence[int] | None = None) -> list[Any]:
    """Copies of arrays on the current GPU, which is the place. CuPy's OutOfMemoryError if they do not fit.

    there: how many bytes of each are resident, see `formats.resident`; None: all.
    """
    cp, large = cupy(), [_in_pieces(array) for array in arrays]
    if there is not None:
        arrays = [np.ascontiguousarray(array) for array in arrays]
        large = [
            pieced or resident < array.nbytes for array, pieced, resident in zip(arrays, large, there, strict=True)
        ]
    made = [
        cp.asarray(array)
        if not pieced
        else cp.empty(array.shape, array.dtype)
        if there is None
        else empty(array.shape, array.dtype, there[k], place)
        for k, (array, pieced) in enumerate(zip(arrays, large, strict=True))
    ]
    _copied(arrays, made, large, place, to_device=True)
    return made


def to_host(arrays: Sequence[Any], place: Place) -> list[np.ndarray]:
    """Copies on the host of arrays of the current GPU, which is the place."""
    large = [_in_pieces(array) or elsewhere(array) > 0 for array in arrays]
    made = [
        np.empty(array.shape, array.dtype) if pieced else array.get()
        for array, pieced in zip(arrays, large, strict=True)
    ]
    _copied(made, arrays, large, place, to_device=False)
    return made


def to_peer(array: Any, place: Place, out: Any = None) -> Any:
    """A copy on another GPU, over the link between the two where they have one; out: where it goes.

    It begins when the array is ready. What is started on either GPU afterwards comes after the copy.
    """
    cp, here = cupy(), array.data.device_id
    runtime = cp.cuda.runtime
    if here == place.ordinal:  # where CUDA's copy between GPUs is slow
        with cp.cuda.Device(here):
            if out is None:
                return array
            out[...] = array
            return out
    with cp.cuda.Device(here):  # of which its events are, too
        array, mine = cp.ascontiguousarray(array), cp.cuda.get_current_stream()
        if elsewhere(array):
            return _read_to_peer(array, place, out)
        ready = cp.cuda.Event(disable_timing=True)
        ready.record(mine)
    with cp.cuda.Device(place.ordinal):
        made, theirs = cp.empty(array.shape, array.dtype) if out is None else out, cp.cuda.get_current_stream()
        theirs.wait_event(ready)
        if array.nbytes:
            runtime.memcpyPeerAsync(made.data.ptr, place.ordinal, array.data.ptr, here, array.nbytes, theirs.ptr)
        copied = cp.cuda.Event(disable_timing=True)
        copied.record(theirs)
    with cp.cuda.Device(here):
        mine.wait_event(copied)
    return made


def _read_to_peer(array: Any, place: Place, out: Any) -> Any:
    """Copy an array of which a part is not resident: a kernel on its own GPU reads pieces, as no other may read all."""
    cp, here = cupy(), cupy().cuda.Device()
    with place.scope():
        made = cp.empty(array.shape, array.dtype) if out is None else out
    flat, there, step = array.reshape(-1), made.reshape(-1), PEER_PIECE // array.itemsize
    for start in range(0, array.size, step):
        with here:
            read = cp.bitwise_or(flat[start : start + step].view(np.uint8), np.uint8(0)).view(array.dtype)
        to_peer(read, place, there[start : start + step])
    return made


def befriend(places: Sequence[Place]) -> bool:
    """Lets GPUs read and write each other's memory; True if they can."""
    return all(_befriended(place, other) for place in places for other in places if other is not place)


@cache
def _befriended(place: Place, other: Place) -> bool:
    """Lets a GPU read and write another's memory, from now on; True if it can."""
    runtime = cupy().cuda.runtime
    if not runtime.deviceCanAccessPeer(place.ordinal, other.ordinal):
        return False
    with place.scope(), suppress(runtime.CUDARuntimeError):  # which says that it can already
        runtime.deviceEnablePeerAccess(other.ordinal)
    return True


def _in_pieces(array: Any) -> bool:
    return array.nbytes >= PIECED and bool(array.flags.c_contiguous)


def _copied(host: Sequence[Any], device: Sequence[Any], large: list[bool], place: Place, *, to_device: bool) -> None:
    """Copy the arrays that are large; as CuPy does where nothing can be pinned."""
    both = zip(host, device, large, strict=True)
    pairs, mapped = _pairs([(h, d) for h, d, pieced in both if pieced])
    if not pairs:
        return
    cp = cupy()
    lanes: list[GPULane] = []
    try:
        begun = cp.cuda.get_current_stream().record()  # what the caller has started on these arrays comes first
        if mapped:
            begun.synchronize()
        for _ in range(lanes_for(sum(h.size for h, _ in pairs), host_bytes())):
            try:
                lanes.append(GPULane(place, begun))
            except cp.cuda.runtime.CUDARuntimeError:
                break
        if lanes:
            copy([h for h, _ in pairs], [d for _, d in pairs], lanes, to_device=to_device, mapped=mapped)
            for lane in lanes:
                lane.close(failed=False)
            return
        for k, (h, d) in enumerate(pairs):
            if k in mapped:
                np.copyto(*((d, h) if to_device else (h, d)))
            else:
                d.set(h) if to_device else d.get(out=h)
    except BaseException:
        for lane in lanes:
            lane.close(failed=True)
        cp.get_default_pinned_memory_pool().free_all_blocks()
        raise


def _pairs(arrays: Sequence[tuple[Any, Any]]) -> tuple[list[tuple[Any, Any]], set[int]]:
    """Pairs of arrays as pairs of bytes, those on the device before those that are not: the numbers of the latter."""
    on_device, on_host = [], []
    for h, d in arrays:
        part, bytes_of_h = host_part(d), _bytes(h)
        border = d.nbytes if part is None else part[0]
        if border:
            on_device.append((bytes_of_h[:border], _bytes(d)[:border]))
        if part is not None and border < d.nbytes:
            on_host.append((bytes_of_h[border:], part[1]))
    return on_device + on_host, set(range(len(on_device), len(on_device) + len(on_host)))


def _bytes(array: Any) -> Any:
    return array.reshape(-1).view(np.uint8)
