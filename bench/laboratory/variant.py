"""What makes a variant of an algorithm for shortest paths: the same rules, and no entry in the library's list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, ParamSpec, TypeVar

from algorithms.shared.single_source import SingleSource
from semiring import Verb

P = ParamSpec("P")
R = TypeVar("R")


class Variant(SingleSource[P, R]):
    """A variant, which `Fusible.all` does not have."""

    all: ClassVar[dict[str, Verb[..., Any]]] = {}


def variant(
    *, any_sign: bool = False, check: Callable[..., object] = lambda: None
) -> Callable[[Callable[P, R]], Variant[P, R]]:
    """Make a variant of what users call; see `SingleSource` for the rules."""
    return lambda front: Variant(front, any_sign=any_sign, check=check)
