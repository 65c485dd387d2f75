"""Packages that are used where they are installed, and that nothing else here needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(module: str, what: str) -> Any:
    """The module; ModuleNotFoundError says `what` needs its package, and how to get it."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(f"{what} needs {package}: pip install {package}", name=package) from error
