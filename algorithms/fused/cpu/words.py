"""Bits of words in compiled loops, for bitmaps: each is one instruction."""

from __future__ import annotations

from numba import types
from numba.core import cgutils

from .atomics import operation


@operation
def lowest_bit(typing, word):
    """The number of the lowest bit that is set in a word other than 0."""

    def emit(context, builder, signature, args):
        return builder.cttz(args[0], cgutils.true_bit)

    return types.uint64(types.uint64), emit


@operation
def bits_set(typing, word):
    """How many bits of a word are set."""

    def emit(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), emit
