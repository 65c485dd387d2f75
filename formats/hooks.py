"""Questions that formats ask of the layers above, which know formats and are not known here.

Each hook is declared here, once, with the module that answers it, which the first question imports. One that has to be
answered imports `semiring`, too. Those for the GPU are steps of conversions that array functions would take many passes
for, and kernels do in one or two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar

from .undisturbed import imported, undisturbed

F = TypeVar("F", bound=Callable[..., Any])

ANSWERS, KNOWS_ALGORITHMS = "semiring", "algorithms"
"""The layers above by name, which are imported when somebody asks what they know, and nothing else of them is used."""


class Hook:
    """A question that formats ask, and a higher layer answers.

    asks: what it is about.  module: of `semiring`, or of formats, where it is answered.
    """

    def __init__(self, asks: str, module: str) -> None:
        self.asks, self.module = asks, module
        self._answer: Callable[..., Any] | None = None

    def answered_by(self, function: F) -> F:
        """Let the function, which may be decorated with this, answer."""
        self._answer = function
        return function

    @property
    def answer(self) -> Callable[..., Any] | None:
        """The function that answers; None if our `semiring` is not imported."""
        if self._answer is None and hasattr(sys.modules.get(ANSWERS), "import_conflicts"):
            import_module(self.module)
        return self._answer

    def ask(self, *args: Any) -> Any:
        """The answer. Who only imported formats has the layers above imported now, by name.

        ImportError, which names the file, if Python finds another `semiring` than ours.
        """
        found = import_module(ANSWERS)
        if self.answer is None:
            where = getattr(found, "__file__", None) or ", ".join(getattr(found, "__path__", ()))
            raise ImportError(
                f"{where} has the name of the package {ANSWERS!r}, which this needs, and Python finds it first: "
                "rename it, or move it to another folder"
            )
        return self.answer(*args)


NOTATION, THREADED, ON_GPUS = "semiring.verbs.notation", "semiring.cpu.threads", "semiring.cuda"
"""Modules that answer several hooks."""

WORK = Hook("(A, format, backend, {'verb': …, 'algorithm': …}) -> the work's bytes by part", "semiring.verbs.needs")
CHOICE = Hook("(A, options) -> A in the format that is best for it: `A.to('auto', …)`", "semiring.tuning.choice")
KERNEL = Hook(
    "(function) -> the function as machine code, kept on disk and without the interpreter's lock",
    "semiring.cpu.kernels",
)
SPREAD = Hook("(A, places) -> A in parts, one at each place: `A.to(device=[…])`", "formats.parts.partitioned")
THREADS = Hook("() -> how many threads work side by side", THREADED)
SHARE = Hook("(work, count) -> None; calls work(k) for every k < count, by several threads", THREADED)
CORES = Hook(
    "(cores that are this process's own, where others share them) -> None; it uses as many threads",
    "semiring.cpu.threads",
)

PART = Hook("(A, rows, cols) -> A[rows, cols]", NOTATION)
COMBINED = Hook(
    "(symbol, A, other, is A the first?) -> what Python's operator makes of the two", "semiring.verbs.notation"
)

CAST = Hook("(floating-point values, dtype) -> the values in that dtype", ON_GPUS)
LOOKED_THROUGH = Hook("arrays of integers, each with a bound -> (is one outside? do they not ascend?) of each", ON_GPUS)
TURNED = Hook("(indptr, indices, values, ncols) -> those of the other orientation", ON_GPUS)
BLOCKED = Hook("(A, segment, block) -> (rows, columns, values, starts) by segments of rows, or blocks of them", ON_GPUS)
RANGES = Hook("columns -> (bases, starts, words) of the groups that they are packed in", ON_GPUS)
PACKED = Hook("(columns, bases, starts, words, spare words) -> the words that the columns are packed in", ON_GPUS)
UNPACKED = Hook("(words, bases, starts, number of columns) -> the columns", ON_GPUS)
SAME_REVERSES = Hook("(A, are values looked at?) -> (has every entry its reverse? of the same value, too?)", ON_GPUS)


def threads() -> int:
    """How many threads work side by side: 1 unless `semiring` is imported, too."""
    return THREADS.answer() if THREADS.answer is not None else 1


def side_by_side(work: Callable[[int], object], count: int) -> None:
    """Call work(k) for every k < count: by threads if `semiring` is imported, too."""
    if SHARE.answer is not None:
        SHARE.answer(work, count)
        return
    for k in range(count):
        work(k)


@cache
def machine_code(function: Callable[..., Any]) -> Any:
    """The function as machine code; that is kept on disk if `semiring` is imported, too."""
    if KERNEL.answer is not None:
        return KERNEL.answer(function)
    made = undisturbed(lambda: _by_numba(function))
    return lambda *arguments: undisturbed(lambda: made(*arguments))  # which may compile it


def _by_numba(function: Callable[..., Any]) -> Any:
    known = function.__globals__  # functions that it calls have to be machine code, too
    called = {name: _by_numba(known[name]) for name in function.__code__.co_names if _is_plain(known.get(name))}
    alike = FunctionType(function.__code__, known | called, function.__name__, function.__defaults__)
    return imported("numba").njit(alike, nogil=True)


def _is_plain(value: Any) -> bool:
    return isinstance(value, FunctionType)
