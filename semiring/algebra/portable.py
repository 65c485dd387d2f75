"""How operators, monoids, semirings and predicates are pickled and copied.

Those of the package go by their name, so that they are the same objects afterwards. Those of a user's own go by their
parts, which pickle must be able to name: a function of a module. cloudpickle takes any function.
"""

from __future__ import annotations

import functools
import pickle
import sys
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

TAKES_FUNCTIONS = {"cloudpickle", "dill", "_dill", "copy"}
"""Modules that pickle or copy functions without a name."""


class Portable:
    """A dataclass of fields that may be functions."""

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        made = self.__dict__.get("_made")
        if made is not None:
            return made
        parts = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        nameless = [name for name, part in parts.items() if isinstance(part, FunctionType) and not _has_name(part)]
        if nameless and not _takes_functions():
            kind, name = type(self).__name__, parts.get("name", "")
            raise pickle.PicklingError(
                f"{kind} {name!r} is not pickled, for pickle finds no name for its {nameless[0]}=: define that "
                "function with def at the top of a module, or use cloudpickle"
            )
        return type(self), tuple(parts.values())


def made(thing: Any, how: str | tuple[Any, ...]) -> None:
    """Have a thing pickled as a name of its module, or as (a function, its arguments)."""
    thing.__dict__["_made"] = how


def made_once(make: F) -> F:
    """Decorate a function that makes a thing of hashable arguments: equal ones give the same thing, also elsewhere."""

    @functools.wraps(make)
    def shared(*args: Any) -> Any:
        return cached(*args)

    @functools.lru_cache(maxsize=64)
    def cached(*args: Any) -> Any:
        thing = make(*args)
        if "_made" not in thing.__dict__:
            made(thing, (shared, args))
        return thing

    return shared  # type: ignore[return-value]


def _has_name(function: FunctionType) -> bool:
    """True if the function's module has it under its name."""
    try:
        found: Any = import_module(function.__module__)
        for name in function.__qualname__.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError):
        return False
    return found is function


def _takes_functions() -> bool:
    """True if the module that pickles or copies takes any function."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") == "pickle":
        frame = frame.f_back
    name = "" if frame is None else frame.f_globals.get("__name__", "")
    return bool(TAKES_FUNCTIONS & set(name.split(".")))
