"""Packages and parts of the system that a process does without, as if they were not there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec


class Blocked(MetaPathFinder):
    """Finds none of some packages, nor lets others find them."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def block(*names: str) -> None:
    """Let nobody import those packages from now on."""
    sys.meta_path.insert(0, Blocked(set(names)))
    for module in [module for module in sys.modules if module.partition(".")[0] in names]:
        del sys.modules[module]
