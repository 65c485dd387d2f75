"""Are arrays on the GPU as they were? `same.cu` has the kernel.

It writes to memory of the host, so that one launch and one wait tell. CuPy's comparisons take both for each pair.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from formats.arrays import DeviceArray as Array
from formats.arrays import all_of, cupy

from . import kernels

MOST, WORD = 3, 4
"""Pairs that are compared at once, and bytes of what is compared."""

NONE = (kernels.NULL, kernels.NULL, np.int64(0)) * MOST
"""The kernel's arguments for pairs that are not given."""

INDEX = np.dtype(np.int32)

_words = threading.local()


def same_bits(pairs: Sequence[tuple[Array, Array]]) -> bool:
    """Are the two arrays of each pair, of one shape and dtype, the same to the bit?

    The kernel takes up to MOST pairs of contiguous arrays; others are compared by CuPy, by their values.
    """
    given: list[object] = []
    for x, y in pairs:
        if x.nbytes % WORD or len(pairs) > MOST or not (x.flags.c_contiguous and y.flags.c_contiguous):
            return all(all_of(x == y) for x, y in pairs)
        given += (x, y, np.int64(x.nbytes // WORD))
    differs, at = _word()
    differs[0] = 0
    most = max([x.nbytes for x, _ in pairs], default=0)
    kernels.pattern("same", INDEX).plain("same", most // WORD**2, (*given, *NONE[len(given) :], at))
    cupy().cuda.get_current_stream().synchronize()
    return not differs[0]


def _word() -> tuple[np.ndarray, np.uint64]:
    """(a word of the host's memory that a GPU may write to, where it is), of each thread its own.

    A kernel that was not waited for can only make two arrays differ that are the same.
    """
    found = getattr(_words, "of_thread", None)
    if found is None:
        pinned = cupy().cuda.alloc_pinned_memory(WORD)
        found = _words.of_thread = np.frombuffer(pinned, np.uint32, 1), np.uint64(pinned.ptr)
    return found
