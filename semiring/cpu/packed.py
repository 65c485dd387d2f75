"""Functions by which compiled loops read packed columns (CompressedCSR): a group of a row at a time, or any one.

A loop over entries [e, end) of a row asks `group` for what the first of them have in common, goes through these with
`bit += width`, and asks again. Decoding costs about a nanosecond an entry, whether inline or by groups into a buffer;
inline a row may end early, be left out, or be one of a few.

A loop that asks `column` serves both storages: Numba compiles it for what it is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSC, CSR, CompressedCSR

from .compiler.jit import choice
from .compiler.references import operation, tools

Columns = np.ndarray | tuple[np.ndarray, np.ndarray, np.ndarray]
"""The columns of entries in their order: an array, or words, bases and starts."""


def columns_of(A: CSR | CSC | CompressedCSR) -> Columns:
    """The columns of A's entries (rows, where columns lie together), for `column`."""
    return (A.words, A.bases, A.starts) if isinstance(A, CompressedCSR) else A.indices


@operation
def unowned(typing: Any, columns: Any) -> Any:
    """Gives words, bases and starts as pointers: counting an array's references takes ten times the decoding."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        parts = tools.cgutils.unpack_tuple(builder, args[0])
        arrays = zip(columns, parts, strict=True)
        data = [context.make_array(kind)(context, builder, part).data for kind, part in arrays]
        return context.make_tuple(builder, signature.return_type, data)

    return tools.types.Tuple([tools.types.CPointer(array.dtype) for array in columns])(columns), emit


@operation
def single(typing: Any, bit: Any) -> Any:
    """The number itself, through no instruction, but one that LLVM does not make vectors of.

    Of integers, whose ⊕ may be reordered, it would make gathers of words and of x, three times as slow as single loads.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(bit)
        return builder.asm(tools.ir.FunctionType(kind, [kind]), "", "=r,0", args, side_effect=True)

    return bit(bit), emit


@operation
def eight_bytes(typing: Any, words: Any, at: Any) -> Any:
    """The number in the eight bytes from byte `at` of the words on."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, byte = args[0], tools.ir.IntType(8).as_pointer()
        if isinstance(words, tools.types.Array):
            data = context.make_array(words)(context, builder, data).data
        here = builder.gep(builder.bitcast(data, byte), [args[1]])
        loaded = builder.load(builder.bitcast(here, tools.ir.IntType(64).as_pointer()))
        loaded.align = 1
        return loaded

    return tools.types.uint64(words, tools.types.uintp), emit


def group(bases, starts, e, end):
    """Returns base, first bit, bits of each and the end of the entries from e on in e's group, up to `end`."""
    g = e >> np.uintp(5)
    first = np.uintp(starts[g])
    width = np.uintp(starts[g + np.uintp(1)]) - first
    bit = (first << np.uintp(5)) + (e & np.uintp(31)) * width
    return np.uintp(bases[g]), bit, width, min(end, (g + np.uintp(1)) << np.uintp(5))


def _narrow(words, bases, bit, width):
    bit = single(bit)
    bits = eight_bytes(words, bit >> np.uintp(3)) >> np.uint64(bit & np.uintp(7))
    return np.uintp(bits & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


def _wide(words, bases, bit, width):
    bit = single(bit)
    at, shift = bit >> np.uintp(5), np.uint64(bit & np.uintp(31))
    bits = (np.uint64(words[at]) | np.uint64(words[at + np.uintp(1)]) << np.uint64(32)) >> shift
    bits |= np.uint64(words[at + np.uintp(2)]) << np.uint64(1) << (np.uint64(63) - shift)
    return np.uintp(bits & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


@choice
def offset(words, bases, bit, width):
    """The number in the `width` bits from `bit` on, of at most 31 where bases are int32."""
    return _wide if bases.dtype.bitwidth == 64 else _narrow


def _listed(columns, e):
    return columns[e]


@choice
def column(columns, e):
    """The column of entry e."""
    if not isinstance(columns, tools.types.BaseTuple):
        return _listed
    number = np.int64 if columns[1].dtype.bitwidth == 64 else np.int32

    def decoded(columns, e):
        words, bases, starts = unowned(columns)
        at = np.uintp(e)
        base, bit, width, _ = group(bases, starts, at, at)
        return number(base + offset(words, bases, bit, width))

    return decoded
