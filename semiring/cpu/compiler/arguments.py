"""Types that `jit` shares with its compiler: the kinds of arguments, how an entry knows them, and machine code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

C_CONTIGUOUS, ALIGNED = 0x1, 0x100
"""NumPy's flags of arrays."""

PLAIN: dict[type, np.dtype] = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(np.float64)}
"""The dtypes of Python's own numbers."""


@dataclass(frozen=True)
class MachineCode:
    """An object file with an entry, as `entry` describes it.  calls_numba: true if it calls Numba's functions in C."""

    code: bytes
    calls_numba: bool


def kind(x: Any) -> Any:
    """Returns what machine code depends on in an argument: the dtype and layout of arrays, the dtype of numbers."""
    if isinstance(x, np.ndarray):
        return x.dtype, x.ndim, x.flags.num & (C_CONTIGUOUS | ALIGNED)
    if isinstance(x, np.generic):
        return x.dtype
    if isinstance(x, tuple):
        parts = tuple(map(kind, x))
        if parts and isinstance(parts[0], np.dtype):  # as an array's kind does
            raise TypeError("a kernel's tuple begins with an array, not with a number")
        return parts
    if type(x) in PLAIN:
        return PLAIN[type(x)]
    raise TypeError(f"kernels take arrays, numbers and tuples of these, not {type(x).__name__}")


def plain(x: Any) -> Any:
    """An argument as an object of the very type that entries look for: no subclass of an array, no second dtype."""
    if isinstance(x, np.ndarray):
        same = np.dtype(x.dtype.str)
        return x if type(x) is np.ndarray and x.dtype is same else np.asarray(x).view(same)
    return tuple(map(plain, x)) if isinstance(x, tuple) else np.dtype(kind(x).str).type(x)


def expected(kinds: tuple[Any, ...]) -> Iterator[Any]:
    """The types and dtypes that an entry compares arguments with, in its order."""
    for each in kinds:
        if isinstance(each, np.dtype):
            yield np.dtype(each.str).type
            yield from (python for python, dtype in PLAIN.items() if dtype == each)
        elif isinstance(each[0], np.dtype):
            yield from (np.ndarray, np.dtype(each[0].str))
        else:
            yield tuple
            yield from expected(each)
