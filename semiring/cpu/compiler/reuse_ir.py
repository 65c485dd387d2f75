"""Functions that differ only in what they call are typed and lowered once.

A loop over a matrix is the same for every semiring, but for ⊕ and ⊗, which it calls. Numba takes most of the time for
typing and lowering it. What came of it for one semiring serves another: the functions that are called get other names,
if these take and return the same types.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass, field
from itertools import count
from types import FunctionType
from typing import Any

from llvmlite import binding as llvm

from ...kernels.content import content, content_of_code, references
from .references import Helper

NAME = re.compile(r'(?<=@")[^"]+(?=")')
"""A name of LLVM's, as Numba writes all of its own."""

_numbers = count(1)


@dataclass
class Known:
    """A function that was lowered.

    within: the functions that it calls, with the types of arguments, and what these were lowered to.
    """

    function: FunctionType
    lowered: Any
    within: list[tuple[FunctionType, tuple[Any, ...], Any]] = field(default_factory=list)


def key_of(function: FunctionType, arguments: tuple[Any, ...], way: Any) -> tuple[Any, ...]:
    """Returns the key that functions share which differ at most in what they call."""
    others = tuple((name, _but_called(value)) for name, value in references(function).items())
    return content_of_code(function.__code__), repr(function.__defaults__), others, arguments, way


def like(known: Known, function: FunctionType, lower: Any) -> Any:
    """A function as another one of its key was lowered; None where what it calls has other types, or is one for two.

    lower: (a function, types of arguments) -> what it is lowered to.
    """
    pairs = _pairs(known.function, function)
    if pairs is None:
        return None
    if all(called is instead for called, instead in pairs.items()):
        return known.lowered
    names, libraries = dict[str, str](), dict[Any, Any]()
    for called, arguments, before in known.within:
        if called not in pairs:
            continue
        now = lower(pairs[called], arguments)
        if now.signature != before.signature:
            return None
        names[before.fndesc.mangled_name] = now.fndesc.mangled_name
        libraries[before.library] = now.library
    if len({*names.values()}) < len(names):  # two would have one name
        return None
    return _renamed(known.lowered, names, libraries)


def _renamed(known: Any, names: dict[str, str], libraries: dict[Any, Any]) -> Any:
    """Copies a lowered function under a name of its own, with calls of other functions."""
    described, own = copy(known.fndesc), known.fndesc.mangled_name
    described.mangled_name = names[own] = f"{own}.{next(_numbers)}"
    library = known.target_context.codegen().create_library(known.library.name)
    for other in known.library._linking_libraries:
        library.add_linking_library(libraries.get(other, other))
    for text in known.library.texts:
        add_renamed(library, text, names)
    return known._replace(library=library, fndesc=described)


def add_renamed(library: Any, text: str, names: dict[str, str]) -> None:
    """Add a module of LLVM's to a library, with other names for some things."""
    library.add_llvm_module(llvm.parse_assembly(NAME.sub(lambda found: names.get(found[0], found[0]), text)))


def _called(value: Any) -> list[FunctionType]:
    """The functions that are called through what a name stands for, and may be others of the same types."""
    if isinstance(value, FunctionType):
        return [value]
    if isinstance(value, Helper) and value.by_types:
        return [part for part in value.parts if isinstance(part, FunctionType)]
    return []


def _but_called(value: Any) -> Any:
    """Returns the content that a name stands for; of functions that are called, only the parameters."""
    if isinstance(value, FunctionType):
        code = value.__code__
        return "called", code.co_varnames[: code.co_argcount], repr(value.__defaults__)
    if isinstance(value, Helper) and value.by_types:
        return type(value).__name__, *map(_but_called, value.parts)
    return content(value)


def _pairs(first: FunctionType, second: FunctionType) -> dict[FunctionType, FunctionType] | None:
    """Pairs the functions that the first calls with those that the second calls there; None if they do not pair."""
    pairs = dict[FunctionType, FunctionType]()
    both = zip(references(first).values(), references(second).values(), strict=True)
    for one, other in both:
        for called, instead in zip(_called(one), _called(other), strict=True):
            if pairs.setdefault(called, instead) is not instead:
                return None
    return pairs
