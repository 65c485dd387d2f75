"""What compiled loops read packed columns with (`formats.packed`): the entries of a row, a group at a time.

A loop over entries [e, end) of a row asks `group` for what the first of them have in common, goes through these with
`bit += width`, and asks again. Decoding costs about a nanosecond an entry, whether inline or by groups into a buffer;
inline a row may end early, be left out, or be one of a few.
"""

from __future__ import annotations

import numpy as np

from .kernels import inlined


@inlined
def group(bases, starts, e, end):
    """(base, the first one's bit, bits of each, where they end) of the entries from e on in its group, up to `end`."""
    g = e >> np.uintp(5)
    first = np.uintp(starts[g])
    width = np.uintp(starts[g + np.uintp(1)]) - first
    bit = (first << np.uintp(5)) + (e & np.uintp(31)) * width
    return np.uintp(bases[g]), bit, width, min(end, (g + np.uintp(1)) << np.uintp(5))


@inlined
def offset(words, bit, width):
    """The number in the `width` bits from `bit` on."""
    at, shift = bit >> np.uintp(5), np.uint64(bit & np.uintp(31))
    bits = (np.uint64(words[at]) | np.uint64(words[at + np.uintp(1)]) << np.uint64(32)) >> shift
    if width > np.uintp(33):  # of int64 columns
        bits |= np.uint64(words[at + np.uintp(2)]) << np.uint64(1) << (np.uint64(63) - shift)
    return np.uintp(bits & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))
