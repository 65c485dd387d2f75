"""A user's function as a program: its loops run compiled where they can, and all else as written.

The function's text is read once. Each of its outermost loops is put beside a call that runs the loop compiled; where
that is not done, the loop itself runs. Of a loop that cannot be compiled, the loops within it are tried.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterable
from copy import deepcopy
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from formats import Matrix
from formats.performance import OURS

from .. import vectors
from ..algebra.translation import Untranslatable
from ..algebra.translation import _source as source
from ..verbs import verbs
from ..verbs.explanation import AS_WRITTEN, ASKING, UNTOLD, running_as
from .regions import Region, exits_of
from .translator import assigned_in

LOOPS, CALLED = "__loops__", "__called__"
"""The names by which a rewritten function knows its loops, and asks what to call for a function."""
MAX_IDLE = 8
"""Number of calls in which no loop of a plain function ran compiled, after which it is called as it is."""
NOT_PLAIN = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Flags of functions whose calls only begin them."""


class Program:
    """A function of verbs with its loops compiled. Call it like the function."""

    def __init__(self, function: FunctionType, name: str) -> None:
        self.function, self.name = function, name
        self.regions: list[Region] = []
        self.idle = 0
        """Number of calls since one in which a loop ran compiled."""
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
            region.refused, region.told, region.since, region.notes = 0, "", 0.0, {}
        if not ASKING:
            result = self.rewritten(*args, **kwargs)
            used = not self.regions or any(region.told.startswith("compiled") for region in self.regions)
            self.idle = 0 if used else self.idle + 1
            return result
        matrix: Any = next((x for x in (*args, *kwargs.values()) if isinstance(x, Matrix | np.ndarray)), None)
        with UNTOLD if matrix is None else running_as(self.name, matrix) as run:
            result = self.rewritten(*args, **kwargs)
            told = {region.lines: region.told for region in self.regions if region.told}
            compiled = [what for what in told.values() if what.startswith("compiled")]
            run.implementation = "fused" if compiled else "definition"
            run.why = self.why or f"{len(compiled)} of {len(told)} loops compiled"
            notes = sorted((line, notes) for region in self.regions for line, notes in region.notes.items())
            run.details |= told | {f"line {line}": "; ".join(notes) for line, notes in notes}
        return result

    def _rewritten(self) -> FunctionType:
        """The function with a choice in the place of each loop."""
        function = self.function
        node: ast.FunctionDef = source(function)
        if not isinstance(node, ast.FunctionDef):
            raise Untranslatable("it is a lambda")
        node.decorator_list = []
        loops = Loops(self, node)
        outermost = loops.visit(node)
        if not self.regions and not loops.calls:
            return function
        free = (*function.__code__.co_freevars, LOOPS, CALLED)
        factory = ast.parse(f"def factory({', '.join(free)}):\n    pass")
        factory.body[0].body = [outermost, ast.parse(f"return {node.name}").body[0]]  # type: ignore[attr-defined]
        code = compile(ast.fix_missing_locations(factory), function.__code__.co_filename, "exec", dont_inherit=True)
        own = found(found(code, "factory"), node.name)
        cells = dict(zip(free, (*(function.__closure__ or ()), CellType(self.regions), CellType(called)), strict=True))
        closure = tuple(cells[name] for name in own.co_freevars)
        rewritten = FunctionType(own, function.__globals__, function.__name__, function.__defaults__, closure)
        rewritten.__kwdefaults__ = function.__kwdefaults__
        return rewritten


def called(function: Any) -> Any:
    """The program of a plain function of the user's that a program calls as written; anything else is itself."""
    if type(function) is not FunctionType:
        return function
    found = of_plain(function)
    return function if isinstance(found, Program) and found.idle > MAX_IDLE else found


@lru_cache(maxsize=256)
def of_plain(function: FunctionType) -> Any:
    """The program of a function, if it has loops, or calls others."""
    made = NOT_PLAIN & function.__code__.co_flags or hasattr(function, "__wrapped__")
    if made or not function.__qualname__.isidentifier() or function.__module__.partition(".")[0] in OURS:
        return function
    try:
        program = Program(function, function.__name__)
    except Exception:  # as any text may be met
        return function
    return program if program.rewritten is not function else function


def found(code: CodeType, name: str) -> CodeType:
    """The code of a function that is defined within."""
    return next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name)


class Loops(ast.NodeTransformer):
    """Puts a choice in the place of each loop: run compiled, or as written, with such choices within."""

    def __init__(self, program: Program, whole: ast.FunctionDef) -> None:
        self.program, self.whole, self.calls = program, whole, 0
        loops = [node for node in ast.walk(whole) if isinstance(node, ast.While | ast.For)]
        self.live = {loop: Liveness(whole, loop).found for loop in loops}
        self.written = {loop: written_in_place({*ast.walk(whole)} - {*ast.walk(loop)}) for loop in loops}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self.generic_visit(node) if node is self.whole else node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and not hasattr(builtins, node.func.id):
            asked = ast.Call(ast.Name(CALLED, ast.Load()), [node.func], [])
            node.func = ast.copy_location(asked, node.func)
            self.calls += 1
        return node

    def visit_While(self, node: ast.While) -> Any:
        call, taken = self.choice(node)
        number = len(self.program.regions)
        whole: Any = self.generic_visit(node)
        self.program.regions[number - 1].inner = self.program.regions[number:]
        taken.body.append(ast.Break())
        whole.body = [
            call,
            taken,
            *whole.body,
        ]  # from its first round on, or from a later one, once its types have settled
        return whole

    def visit_For(self, node: ast.For) -> Any:
        call, taken = self.choice(node)
        number = len(self.program.regions)
        taken.orelse = [self.generic_visit(node)]  # type: ignore[list-item]
        self.program.regions[number - 1].inner = self.program.regions[number:]
        return [call, taken]

    def choice(self, node: Any) -> tuple[ast.stmt, ast.If]:
        """Makes a call that runs the loop compiled, and what follows from it if it has."""
        region = Region(self.program.function, deepcopy(node), self.live[node], self.written[node])
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


class Liveness:
    """The names whose values are read after a loop: going backwards, a name that is assigned was not needed before."""

    def __init__(self, whole: ast.FunctionDef, loop: ast.AST) -> None:
        self.loop, self.found, self.met = loop, set[str](), False
        self.ends: list[tuple[set[str], set[str]]] = []
        """The names that are read after each loop around, and at the beginning of its next round."""
        kinds = (ast.FunctionDef, ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.Try)
        within = [node for node in ast.walk(whole) if isinstance(node, kinds) and node is not whole]
        declared = [node.names for node in ast.walk(whole) if isinstance(node, ast.Global | ast.Nonlocal)]
        self.always = set[str]().union(*(names_read(node) for node in within), *declared)
        self.before(whole.body, set())
        self.found |= set[str]().union(self.always, *(names_read(node) for node in exits_of(loop)))
        self.found |= set() if self.met else names_read(whole)

    def before(self, body: list[ast.stmt], after: set[str]) -> set[str]:
        """The names that are read before statements, given those after them."""
        for node in reversed(body):
            if node is self.loop:
                self.found, self.met = self.found | after, True
            after = self.before_one(node, after)
        return after

    def before_one(self, node: ast.stmt, after: set[str]) -> set[str]:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                return names_read(test) | self.before(body, after) | self.before(orelse, after)
            case ast.While(body=body, orelse=orelse) | ast.For(body=body, orelse=orelse):
                head = names_read(node.test if isinstance(node, ast.While) else node.iter)
                after = after | self.before(orelse, after)
                again = head | after
                for _ in range(2):
                    self.ends.append((after, again))
                    again = again | self.before(body, again)
                    self.ends.pop()
                return again
            case ast.Break() | ast.Continue():
                return set(self.ends[-1][isinstance(node, ast.Continue)])
            case ast.Return() | ast.Raise():
                return names_read(node)
            case ast.Assign(targets=targets):
                return names_read(node) | (after - assigned_in(targets))
            case ast.FunctionDef() | ast.ClassDef():
                return after | names_read(node)
        after = after | names_read(node)
        for _, part in ast.iter_fields(node):
            if isinstance(part, list):
                self.before([each for each in part if isinstance(each, ast.stmt)], after)
        return after


def names_read(node: ast.AST) -> set[str]:
    """The names that are read in it, or written by an operator."""
    changed = {id(each.target) for each in ast.walk(node) if isinstance(each, ast.AugAssign)}
    nodes = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return {each.id for each in nodes if not isinstance(each.ctx, ast.Store) or id(each) in changed}


WRITES = {"assign", "scatter", "scatter_add", "scatter_sub"}
"""Names of functions that write to their first argument."""
READS = {*dir(vectors), *dir(verbs), *dir(builtins), *dir(np)} - WRITES
"""Names of functions that write to none, but for out=."""


def written_in_place(nodes: Iterable[ast.AST]) -> set[str]:
    """The names of vectors that statements may write in place."""
    found: list[ast.AST] = []
    for node in nodes:
        match node:
            case ast.AugAssign(target=target):
                found.append(target)
            case ast.Subscript(value=of, ctx=ast.Store()):
                found.append(of)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
                found += [each.value for each in keywords if each.arg == "out"]
                found += args[:1] if name in WRITES else [] if name in READS else args
    return {node.id for node in found if isinstance(node, ast.Name)}
