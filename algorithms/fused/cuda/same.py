"""Are arrays on the GPU as they were? `same.cu` has the kernel.

It writes to memory of the host, so that one launch and one wait tell. CuPy's comparisons take both for each pair.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from formats.arrays import DeviceArray as Array
from formats.arrays import all_of, cupy

from . import kernels

MOST, WORD = 3, 4
"""Pairs that are compared at once, and bytes of what is compared."""


def same_bits(pairs: Sequence[tuple[Array, Array]]) -> bool:
    """Are the two arrays of each pair, of one shape and dtype, the same to the bit?

    The kernel takes up to MOST pairs of contiguous arrays; others are compared by CuPy, by their values.
    """
    if len(pairs) > MOST or any(
        x.nbytes % WORD or not (x.flags.c_contiguous and y.flags.c_contiguous) for x, y in pairs
    ):
        return all(all_of(x == y) for x, y in pairs)
    cp = cupy()
    words = [x.nbytes // WORD for x, _ in pairs]
    pinned = cp.cuda.alloc_pinned_memory(WORD)
    differs = np.frombuffer(pinned, np.uint32, 1)
    differs[0] = 0
    given: list[object] = []
    for (x, y), count in zip(pairs, words, strict=True):
        given += [x, y, np.int64(count)]
    given += [kernels.NULL, kernels.NULL, np.int64(0)] * (MOST - len(pairs))
    kernels.pattern("same", np.dtype(np.int32)).plain("same", max(words) // WORD, (*given, np.uint64(pinned.ptr)))
    cp.cuda.get_current_stream().synchronize()
    return not differs[0]
