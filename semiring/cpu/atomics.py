"""Atomic operations on elements of arrays, for compiled loops that several threads run at the same time.

Numba has none on the CPU. Each is one LLVM instruction, sequentially consistent: what a thread wrote before its own,
another one sees after its own. Floats are compared and exchanged by their bits.
"""

from __future__ import annotations

from typing import Any

from formats.system import NAP, YIELD

from .compiler.references import operation, tools
from .lanes import prefetched as prefetched

ORDER = "seq_cst"


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return a pointer to the element, as to an integer of its size; indices do not count from the end."""
    parts = context.make_array(array_type)(context, builder, array)
    pointer = builder.gep(parts.data, [index])
    bits = context.get_abi_sizeof(context.get_data_type(array_type.dtype)) * 8
    return builder.bitcast(pointer, tools.ir.IntType(bits).as_pointer())


def _as_bits(builder: Any, value: Any, pointer: Any) -> Any:
    """Return a number as the integer that holds its bits; a Boolean as a byte."""
    bits = pointer.type.pointee
    return builder.zext(value, bits) if value.type == tools.ir.IntType(1) else builder.bitcast(value, bits)


@operation
def exchanged(typing: Any, array: Any, index: Any, expected: Any, value: Any) -> Any:
    """Set x_i = value if x_i = expected, in one step; True if it was."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type, *_ = signature.args
        at = context.cast(builder, args[1], index_type, tools.types.intp)
        pointer = _pointer(context, builder, array_type, args[0], at)
        old, new = (_as_bits(builder, arg, pointer) for arg in args[2:])
        return builder.extract_value(builder.cmpxchg(pointer, old, new, ORDER, ORDER), 1)

    return tools.types.boolean(array, index, array.dtype, array.dtype), emit


@operation
def added(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Add a value to x_i in one step; returns the x_i before."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", pointer, args[2], ORDER)

    return array.dtype(array, tools.types.intp, array.dtype), emit


@operation
def lowered(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Set x_i to min(x_i, value) of integers without a sign, in one step; returns the x_i before. -1 is the largest."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("umin", pointer, args[2], ORDER)

    return array.dtype(array, tools.types.intp, array.dtype), emit


@operation
def loaded(typing: Any, array: Any, index: Any) -> Any:
    """Load x_i as it is now."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(pointer, ORDER, 8)

    return array.dtype(array, tools.types.intp), emit


@operation
def stored(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Store a value as x_i after everything that was written before."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], pointer, ORDER, 8)
        return context.get_dummy_value()

    return tools.types.void(array, tools.types.intp, array.dtype), emit


def calling(function: str, *numbers: int) -> Any:
    """Make f() for compiled code, which calls a function of the system's with some numbers; it returns 32 bits."""

    @operation
    def call(typing: Any) -> Any:
        return tools.types.void(), lambda context, builder, signature, args: _call(builder, 32, function, *numbers)

    return call


let_others_run = calling(YIELD)
"""Give the core to another thread that waits for one."""

nap = calling(*NAP)
"""Sleep for some 50 µs."""

PAUSES: dict[str, Any] = {
    "x86_64": ("llvm.x86.sse2.pause",),
    "aarch64": ("llvm.aarch64.hint", 1),
    "arm64": ("llvm.aarch64.hint", 1),
}
"""LLVM's name of the instruction for a thread that waits for what another one writes, and its number."""


@operation
def pause(typing: Any) -> Any:
    """Let the core rest for a moment, for another thread is about to write."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, 0, *PAUSES[tools.processor]) if tools.processor in PAUSES else context.get_dummy_value()

    return tools.types.void(), emit


def _call(builder: Any, bits: int, function: str, *numbers: int) -> Any:
    """Call a function that returns so many bits, which nobody reads."""
    ir, word = tools.ir, tools.ir.IntType(32)
    kind = ir.FunctionType(ir.IntType(bits) if bits else ir.VoidType(), [word] * len(numbers))
    builder.call(tools.cgutils.get_or_insert_function(builder.module, kind, function), [word(k) for k in numbers])
    return ir.Constant(ir.IntType(8).as_pointer(), None)
