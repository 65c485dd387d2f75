"""What formats ask of the layers above, which know formats and are not known here.

    work     (A, format, device, {"verb": …, "algorithm": …}) -> bytes of each part of the work: `Matrix.footprint`
    choice   (A, options) -> the format to convert A to: `A.to("auto", …)`

`semiring` answers both when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_answers: dict[str, Callable[..., Any]] = {}


def answers(question: str) -> Callable[[F], F]:
    """Let the decorated function answer."""

    def register(function: F) -> F:
        _answers[question] = function
        return function

    return register


def ask(question: str, *args: Any, what: str) -> Any:
    """The answer; ValueError, which names what was asked for, if nobody was imported who knows."""
    if question not in _answers:
        raise ValueError(f"{what} is not known to formats alone: import semiring (and algorithms) first")
    return _answers[question](*args)
