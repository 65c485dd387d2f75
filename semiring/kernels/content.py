"""The content of a function, as a value: functions of equal content are one kernel, in this process and on disk.

A function refers to others by its closure and its module's names. Its content holds that of all of these: code,
constants and closures, and theirs in turn, but no names of files. So a changed helper or operator never finds old
machine code, and equal kernels in two processes find each other's.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from opcode import opmap
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

LOAD_GLOBAL, EXTENDED_ARG = opmap["LOAD_GLOBAL"], opmap["EXTENDED_ARG"]
"""Opcodes of Python 3.11 and later, where a name's index is in all bits but the lowest."""


class Opaque:
    """An object that functions refer to, and that tells its content itself."""

    def told(self, tell: Callable[[Any], Any]) -> tuple[Any, ...]:
        """The content.  tell: gives that of a part."""
        raise NotImplementedError


def names(code: CodeType) -> Iterator[str]:
    """The global names that a function's code, or that of a function within, looks up; no attributes of that name."""
    high = 0
    for instruction, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        if instruction == LOAD_GLOBAL:
            yield code.co_names[(high | low) >> 1]
        high = (high | low) << 8 if instruction == EXTENDED_ARG else 0
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names(constant)


def references(function: FunctionType) -> dict[str, Any]:
    """Returns the values of a function's names: those of its closure, and of its module."""
    closure = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    known = function.__globals__
    return {name: known[name] for name in dict.fromkeys(names(function.__code__)) if name in known} | {
        name: cell.cell_contents for name, cell in closure
    }


def content(value: Any) -> Any:
    """A value of tuples, strings and numbers that is equal, and has the same repr, wherever `value` means the same.

    TypeError for what means something in this process alone.
    """
    return _content(value, [])


def _content(value: Any, within: list[Any]) -> Any:
    if isinstance(value, Opaque):
        return value.told(lambda part: _content(part, within))
    function = getattr(value, "py_func", value)  # Numba's compiled functions have it
    if isinstance(function, FunctionType):
        if function in within:  # it calls itself
            return "within", within.index(function)
        known = references(function).items()
        deeper = [*within, function]
        return content_of_code(function.__code__), function.__defaults__, *((k, _content(v, deeper)) for k, v in known)
    if isinstance(value, ModuleType):
        return value.__name__, getattr(value, "__version__", "")
    if isinstance(value, type | BuiltinFunctionType | np.ufunc):
        return getattr(value, "__module__", ""), value.__name__
    if isinstance(value, tuple | list):
        return type(value).__name__, *(_content(item, within) for item in value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return type(value).__name__, repr(value)
    return pickle.dumps(value)


def content_of_code(code: CodeType) -> tuple[Any, ...]:
    """Code by what it does: without line numbers and the name of its file."""
    constants = (
        content_of_code(constant) if isinstance(constant, CodeType) else repr(constant) for constant in code.co_consts
    )
    return code.co_code, code.co_names, code.co_varnames, code.co_flags, code.co_exceptiontable, *constants
