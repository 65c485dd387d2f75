"""Words of memory in compiled loops: bitmaps, and what one thread does to a word that others use, too.

Each is one instruction of LLVM, which promises nothing about the order of other words ("monotonic"). That is enough
here: a word is a set of flags, a vertex's parent or a counter by itself, and threads are joined before a step's result
is read.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The address of array[index]."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], array, [args[1]], wraparound=False)


def _read_modify_write(operation: str) -> Any:
    def typed(typing_context, array, index, value):
        def generate(context, builder, signature, args):
            return builder.atomic_rmw(operation, _place(context, builder, signature, args), args[2], "monotonic")

        return array.dtype(array, types.uintp, array.dtype), generate

    return intrinsic(typed)


atomic_add = _read_modify_write("add")
"""atomic_add(array, index, value): array[index] += value; what was there before."""

atomic_umin = _read_modify_write("umin")
"""atomic_umin(array, index, value): the smaller of both, as unsigned numbers, so that -1 is the largest; what was."""


def _exchanged(typing_context, array, index, expected, value):
    def generate(context, builder, signature, args):
        place = _place(context, builder, signature, args)
        return builder.extract_value(builder.cmpxchg(place, args[2], args[3], "monotonic", "monotonic"), 1)

    return types.boolean(array, types.uintp, array.dtype, array.dtype), generate


def _lowest_bit(typing_context, word):
    def generate(context, builder, signature, args):
        return builder.cttz(args[0], cgutils.true_bit)

    return types.uint64(types.uint64), generate


def _bits_set(typing_context, word):
    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


exchanged: Any = intrinsic(_exchanged)
"""exchanged(array, index, expected, value) puts `value` at array[index] if `expected` is there; was it?"""

lowest_bit: Any = intrinsic(_lowest_bit)
"""lowest_bit(word): the number of the lowest bit that is set in a word other than 0."""

bits_set: Any = intrinsic(_bits_set)
"""bits_set(word): how many bits of a word are set."""
