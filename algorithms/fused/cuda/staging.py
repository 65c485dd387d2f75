"""Copies entries that are read once to the GPU, a window at a time, ahead of the kernels that read them.

A copy by CUDA takes the whole speed of the bus and no multiprocessor. So kernels of a window run at the device's speed,
while the next windows come. What is resident is read where it lies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.resident import host_part

from .out_of_core import WINDOW_ENTRIES, windows

WINDOWS_AHEAD = 2
"""Windows that are on the device or on their way to it, where nothing else is said."""
MIN_WINDOW_ENTRIES, ALIGNMENT = 1 << 16, 256
"""Entries of a window, at least; and what their number is a multiple of, as addresses of arrays are."""
TO_GPU, ON_GPU = 1, 3
"""The kinds of CUDA's copies."""

Window = tuple[int, int, list[Any]]
"""A window begins and ends at an entry, and has each array, or where its entry 0 would be: a kernel takes both."""


def staged(arrays: Sequence[Array], room: int, ahead: int = WINDOWS_AHEAD) -> Iterator[Window]:
    """Yields contiguous arrays, window after window; `room` is the device's bytes for the windows that come.

    The current stream waits for each window. Its place is used again once what has been launched by the time the next
    one is asked for is done. Where nothing has to come, or there is no room, all is read where it lies.
    """
    cp, total, borders = cupy(), arrays[0].size, [border_of(array) for array in arrays]
    longest = min(WINDOW_ENTRIES, room // (ahead * sum(array.itemsize for array in arrays))) // ALIGNMENT * ALIGNMENT
    if longest < MIN_WINDOW_ENTRIES or min(borders) == total:
        yield from whole(total, [*arrays])
        return
    todo = [*windows(0, total, longest)]
    held = places(arrays, longest, min(ahead, len(todo)))
    here, copies = cp.cuda.get_current_stream(), cp.cuda.Stream(non_blocking=True)
    copies.wait_event(here.record())  # what had the same memory before
    arrived: list[Any] = []

    def bring(number: int) -> None:
        begin, stop = todo[number]
        for array, border, place in zip(arrays, borders, held[number % len(held)], strict=True):
            if stop > border:
                copy_part(array, border, begin, stop, place, copies)
        arrived.append(copies.record())

    try:
        for number in range(len(held)):
            bring(number)
        for number, (begin, stop) in enumerate(todo):
            here.wait_event(arrived[number])
            yield (
                begin,
                stop,
                [
                    np.uint64((array.data.ptr if stop <= border else place.data.ptr - begin * array.itemsize) % 2**64)
                    for array, border, place in zip(arrays, borders, held[number % len(held)], strict=True)
                ],
            )
            if number + len(held) < len(todo):
                copies.wait_event(here.record())
                bring(number + len(held))
    finally:
        copies.synchronize()


def places(arrays: Sequence[Array], longest: int, count: int) -> list[list[Array]]:
    """Returns each window's place for so many entries of each array, all in one block: many take long to allocate."""
    sizes = [longest * array.itemsize for array in arrays]
    block: Any = cupy().empty(count * sum(sizes), np.uint8)
    borders = [0, *accumulate(sizes)]
    return [
        [
            block[k * borders[-1] :][start:end].view(array.dtype)
            for array, start, end in zip(arrays, borders, borders[1:], strict=False)
        ]
        for k in range(count)
    ]


def whole(total: int, given: list[Any]) -> Iterator[Window]:
    """Yields windows of all entries of arrays that are read where they lie."""
    for begin, end in windows(0, total):
        yield begin, end, given


def border_of(array: Array) -> int:
    """Returns how many of an array's entries are resident, from the first on."""
    part = host_part(array)
    return array.size if part is None else part[0] // array.itemsize


def copy_part(array: Array, border: int, begin: int, stop: int, place: Array, stream: Any) -> None:
    """Begins to copy [begin, stop) to a place, by a copy for each kind of memory: none may lead over the border."""
    copied, size = cupy().cuda.runtime.memcpyAsync, array.itemsize
    middle = min(max(begin, border), stop)
    for first, last, kind in ((begin, middle, ON_GPU), (middle, stop, TO_GPU)):
        if last > first:
            into = place.data.ptr + (first - begin) * size
            copied(into, array.data.ptr + first * size, (last - first) * size, kind, stream.ptr)
