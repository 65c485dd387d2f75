"""The translator of programs for a GPU, on which a loop's elements have no order."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.translation import Untranslatable
from . import phases
from .functions import Translator
from .values import Sparse, Unfit


class DeviceTranslator(Translator):
    """One attempt to translate a loop for a GPU: lists have no order, and places of lists are exchanged, not copied."""

    in_turn = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.made: dict[str, tuple[Any, ...]] = {}
        """The maker of the phase or function that a name in the text stands for, and the maker's arguments."""
        self.alone = False
        """True while the value of a statement has one name alone."""

    def phase(self, stem: str, maker: Callable[..., Any], *args: Any) -> str:
        """The name in the text of a loop that all threads run."""
        how = maker, *args
        for name, known in self.made.items():
            if known == how:
                return name
        if maker is phases.function_of:
            try:
                args[0].expression(args[1])
            except Untranslatable as error:
                raise Unfit(f"uses {args[0].name} on a GPU: {error}") from None
        name = self.new(f"{stem}_")
        self.made[name] = how
        return name

    def helper(self, stem: str, function: Any) -> str:
        if function is phases.pairwise:
            raise Unfit("adds up floats on a GPU, in an order of CuPy's own")
        return self.phase(stem, function)

    def new_list(self, dtype: np.dtype, size: str, ordered: bool, into: str | None = None, *operands: Any) -> Sparse:
        """Room for a sparse vector, which is never that of a variable: others may read there yet."""
        return super().new_list(dtype, size, ordered, None, *operands)

    def do_Assign(self, node: ast.Assign) -> None:
        into = node.targets[0].id if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) else None
        value = self.value(node.value, into)
        self.alone = into is not None
        for target in node.targets:
            self.store(target, value)
        self.alone = False

    def moved(self, to: Any, value: Any) -> None:
        """Emit an exchange with room that only this statement has, in the place of a copy."""
        names = ("indices", "values") if isinstance(to, Sparse) else ("array",)
        parts = [(getattr(to, name), getattr(value, name)) for name in names]
        own = {part for _, name in self.taken for part in (name, f"{name}_i", f"{name}_v")}
        if not self.alone or not own.issuperset(mine for _, mine in parts):
            super().moved(to, value)
            return
        for theirs, mine in parts:
            self.emit(f"exchange({theirs}, {mine})")
