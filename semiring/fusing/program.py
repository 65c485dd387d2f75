"""A user's function as a program: its loops run compiled where they can, and all else as written.

The function's text is read once. Each of its outermost loops is put beside a call that runs the loop compiled; where
that is not done, the loop itself runs. Of a loop that cannot be compiled, the loops within it are tried.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from formats import Matrix

from ..algebra.translation import Untranslatable
from ..algebra.translation import _source as source
from ..verbs.explanation import AS_WRITTEN, ASKING, UNTOLD, running_as
from .regions import Region, exits_of

LOOPS = "__loops__"
"""The name by which a rewritten function knows its loops."""


class Program:
    """A function of verbs with its loops compiled. Call it like the function."""

    def __init__(self, function: FunctionType, name: str) -> None:
        self.function, self.name = function, name
        self.regions: list[Region] = []
        self.why = ""
        """Why the function cannot be read; "" if it can."""
        try:
            self.rewritten = self._rewritten()
        except Untranslatable as error:
            self.rewritten, self.why = function, f"its text is not at hand: {error}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if AS_WRITTEN.get():
            return self.function(*args, **kwargs)
        for region in self.regions:
            region.refused, region.told = 0, ""
        if not ASKING:
            return self.rewritten(*args, **kwargs)
        matrix: Any = next((x for x in (*args, *kwargs.values()) if isinstance(x, Matrix | np.ndarray)), None)
        with UNTOLD if matrix is None else running_as(self.name, matrix) as run:
            result = self.rewritten(*args, **kwargs)
            told = {region.lines: region.told for region in self.regions if region.told}
            compiled = [what for what in told.values() if what.startswith("compiled")]
            run.implementation = "fused" if compiled else "definition"
            run.why = self.why or f"{len(compiled)} of {len(told)} loops compiled"
            run.details |= told
        return result

    def _rewritten(self) -> FunctionType:
        """The function with a choice in the place of each loop."""
        function = self.function
        node: ast.FunctionDef = source(function)
        if not isinstance(node, ast.FunctionDef):
            raise Untranslatable("it is a lambda")
        node.decorator_list = []
        outermost = Loops(self, node).visit(node)
        if not self.regions:
            return function
        free = (*function.__code__.co_freevars, LOOPS)
        factory = ast.parse(f"def factory({', '.join(free)}):\n    pass")
        factory.body[0].body = [outermost, ast.parse(f"return {node.name}").body[0]]  # type: ignore[attr-defined]
        code = compile(ast.fix_missing_locations(factory), function.__code__.co_filename, "exec", dont_inherit=True)
        own = found(found(code, "factory"), node.name)
        cells = dict(zip(free, (*(function.__closure__ or ()), CellType(self.regions)), strict=True))
        closure = tuple(cells[name] for name in own.co_freevars)
        rewritten = FunctionType(own, function.__globals__, function.__name__, function.__defaults__, closure)
        rewritten.__kwdefaults__ = function.__kwdefaults__
        return rewritten


def found(code: CodeType, name: str) -> CodeType:
    """The code of a function that is defined within."""
    return next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name)


class Loops(ast.NodeTransformer):
    """Puts a choice in the place of each loop: run compiled, or as written, with such choices within."""

    def __init__(self, program: Program, whole: ast.FunctionDef) -> None:
        self.program, self.whole, self.around = program, whole, list[ast.AST]()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self.generic_visit(node) if node is self.whole else node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit_While(self, node: ast.While) -> Any:
        call, taken = self.choice(node)
        whole = self.within(node)
        taken.body.append(ast.Break())
        whole.body = [
            call,
            taken,
            *whole.body,
        ]  # from its first round on, or from a later one, once its types have settled
        return whole

    def visit_For(self, node: ast.For) -> Any:
        call, taken = self.choice(node)
        taken.orelse = [self.within(node)]
        return [call, taken]

    def within(self, node: Any) -> Any:
        """The loop, with choices for the loops in it."""
        self.around.append(node)
        node = self.generic_visit(node)
        self.around.pop()
        return node

    def choice(self, node: Any) -> tuple[ast.stmt, ast.If]:
        """Makes a call that runs the loop compiled, and what follows from it if it has."""
        region = Region(self.program.function, deepcopy(node), read_outside(self.whole, node, self.around))
        number = len(self.program.regions)
        self.program.regions.append(region)
        found = f"__found{number}"
        call, taken = ast.parse(f"{found} = {LOOPS}[{number}](locals())\nif {found} is not None:\n    pass").body
        assert isinstance(taken, ast.If)
        for name in sorted(region.assigned):
            taken.body += ast.parse(f"if {name!r} in {found}: {name} = {found}[{name!r}]").body
        for k, exit_ in enumerate(region.exits):
            taken.body.append(ast.If(ast.parse(f"{found}['exit'] == {k}", mode="eval").body, [exit_], []))
        for made in (*ast.walk(call), *ast.walk(taken)):
            if isinstance(made, ast.stmt | ast.expr) and getattr(made, "lineno", 0) < node.lineno:
                ast.copy_location(made, node)
        return call, taken


def read_outside(whole: ast.AST, loop: ast.AST, around: list[ast.AST]) -> set[str]:
    """The names that a function reads outside a loop; within loops around it, also those that the loop reads."""
    inside = set() if around else {id(node) for node in ast.walk(loop)}
    exits = {id(node) for each in exits_of(loop) for node in ast.walk(each)}
    return {
        node.id
        for node in ast.walk(whole)
        if isinstance(node, ast.Name)
        and not isinstance(node.ctx, ast.Store)
        and (id(node) not in inside or id(node) in exits)
    }
