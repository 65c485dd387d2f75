"""What formats ask of the layers above, which know formats and are not known here.

    work     (A, format, device, {"verb": …, "algorithm": …}) -> bytes of each part of the work: `Matrix.footprint`
    choice   (A, options) -> A in the format that is best for it: `A.to("auto", …)`
    kernel   (function) -> the function as machine code that is kept on disk, without the interpreter's lock
    … on the GPU   steps of conversions that array functions would take many passes for, and kernels do in one or two

`semiring` answers all of them when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_answers: dict[str, Callable[..., Any]] = {}


def answers(question: str) -> Callable[[F], F]:
    """Let the decorated function answer."""

    def register(function: F) -> F:
        _answers[question] = function
        return function

    return register


def knows(question: str) -> bool:
    """Is there anybody to ask?"""
    return question in _answers


def answer(question: str) -> Callable[..., Any] | None:
    """The function that answers; None if nobody was imported who knows."""
    return _answers.get(question)


def ask(question: str, *args: Any, what: str) -> Any:
    """The answer; ValueError, which names what was asked for, if nobody was imported who knows."""
    if not knows(question):
        raise ValueError(f"{what} is not known to formats alone: import semiring (and algorithms) first")
    return _answers[question](*args)


@cache
def machine_code(function: Callable[..., Any]) -> Any:
    """The function as machine code; that is kept on disk if `semiring` is imported, too."""
    if knows("kernel"):
        return ask("kernel", function, what="how to compile")
    import numba

    return numba.njit(function, nogil=True)
