"""Public names that are imported when somebody asks for them: a first call needs a few modules of hundreds.

A package has these imports under `if TYPE_CHECKING:`, where type checkers see them, and Python does not run them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dis import get_instructions
from importlib import import_module
from itertools import pairwise
from typing import Any


def lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package, for names that its code imports where it does not run."""
    where: dict[str, str] = {}
    code = sys.modules[package].__spec__.loader.get_code(package)  # type: ignore[union-attr]
    for names, step in pairwise(get_instructions(code)):
        if step.opname == "IMPORT_NAME":
            where |= dict.fromkeys(names.argval or (), f"{package}.{step.argval}")

    def get(name: str) -> Any:
        """The name's value, which the package has as its own from now on."""
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(where[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def every() -> list[str]:
        return sorted({*vars(sys.modules[package]), *where})

    return get, every
