"""From the syntax tree of a loop, and the types of what it reads, to the text of one compiled function.

The text says what the loop does, statement by statement: lists and arrays instead of vectors, loops instead of verbs. A
variable has one type and a place of its own. Where the compiled function meets what it does not do (an index out of
range, a vector of another size, a number that does not fit), it returns `RUN_AS_WRITTEN`; nothing of the caller's has
changed then, and the loop runs as written, with the errors of NumPy and of the verbs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..algebra.semirings import LorLand, PlusTimes
from ..algebra.translation import Untranslatable
from ..algebra.translation import _source as source
from ..verbs import verbs
from . import phases
from .values import (
    BOOL,
    FLOAT64,
    INT64,
    WEAK,
    Constant,
    Dense,
    Function,
    MatrixValue,
    Number,
    Several,
    Sparse,
    Type,
    Unfit,
    cast,
    literal,
    promoted,
)

RUN_AS_WRITTEN, TOO_LONG, FIRST_EXIT = 1, 2, 3
"""The numbers that a compiled function returns where the loop must run as written, or had no rounds left.

Else it returns 0, or the number of an exit from the third on."""

ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
BITWISE = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
MOST = 2.0**63 - 2.0**20
"""The size of Python's integers up to which 64 bits surely hold them."""
CAPACITY = "capacity of vectors"
"""The name, which no variable has, of the dtype of indices."""
MAX_DEPTH = 8
"""How deep calls of the user's functions may lie in each other."""


class Restart(Exception):
    """Something was found out that changes the text of what came before."""


class Plan:
    """Knowledge of a loop, from one attempt to translate it to the next.

    types: of every variable.  changed: variables whose vectors, as the loop finds them, are written in place.  mutable:
    all whose vectors are written in place.  elsewhere: those that the function writes in place outside the loop.
    listed: dense ones with a list of the places where they are not a value, and that value.  growing: those whose lists
    grow.  unlisted: those that are written as a whole.
    """

    def __init__(self) -> None:
        self.types: dict[str, Type] = {}
        self.changed: set[str] = set()
        self.mutable: set[str] = set()
        self.elsewhere: set[str] = set()
        self.listed: dict[str, str] = {}
        self.growing: set[str] = set()
        self.unlisted: set[str] = set()


class Statements:
    """One attempt to translate a loop: its statements and expressions. `Translator` adds what they call.

    inputs: what each name means before the loop.  assigned: the names that the loop assigns.  wanted: those that are
    read after it.  in_turn: does a loop look at its elements one after another, and so keep their order?
    """

    in_turn = True

    def __init__(self, loop: ast.stmt, inputs: dict[str, Any], assigned: set[str], wanted: set[str], plan: Plan):
        self.loop, self.inputs, self.assigned, self.plan = loop, inputs, assigned, plan
        self.rebound = rebound_in([loop])
        self.wanted, self.read = sorted(wanted & assigned), wanted
        self.lines: list[str] = []
        self.indent = 1
        self.namespace: dict[str, Any] = {}
        self.parameters: dict[str, tuple[Any, ...]] = {}
        self.bound: dict[str, Any] = {}
        self.owned: set[str] = set()
        self.copied: set[str] = set()
        """Parameters of the user's functions that may still stand for the caller's vectors."""
        self.exits: list[ast.stmt] = []
        self.breaks: list[list[set[str]]] = []
        self.prefix = ""
        self.scope: Callable[[str], Any] = self.outer
        self.names = 0
        self.free: dict[tuple[str, np.dtype], list[str]] = {}
        self.taken: list[tuple[tuple[str, np.dtype], str]] = []
        self.depth = 0
        self.assumptions: list[tuple[dict[str, Any], str, Any]] = []
        self.told: list[str] = []
        self.line, self.notes = 0, dict[int, list[str]]()
        """The line of the user's statement, and what became of each."""
        self.fresh: set[str] = set()
        """Vectors whose lists of places have no others now, and lists that have been put in order."""

    # --- what `Translator` adds ---------------------------------------------------------------------------------------

    def called(self, function: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call, into: Any) -> Any:
        """The value of a call of something that is known."""
        raise NotImplementedError

    def method(self, of: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The value of of.name(…)."""
        raise NotImplementedError

    def attribute(self, of: Any, name: str) -> Any:
        """The value of of.name."""
        raise NotImplementedError

    def part_of(self, of: Any, at: ast.expr) -> Any:
        """The value of of[at]."""
        raise NotImplementedError

    def scattered(self, out: Dense, at: Any, value: Any) -> None:
        """Translate out[at] = value."""
        raise NotImplementedError

    def improving(self, node: ast.Call, into: Any) -> Any:
        """A product of which only what improves a vector is taken; None if the call is none."""
        raise NotImplementedError

    # --- the whole ----------------------------------------------------------------------------------------------------

    def translate(self) -> str:
        """Returns the text of the function `program`."""
        for name, value in self.inputs.items():
            if name in self.assigned:
                self.bound[name] = isinstance(value, Number | Dense | Sparse) or value
                if self.bound[name] is True:
                    self.declare(name, value.type)
        self.statement(self.loop)
        self.leave(0)
        body, self.lines = self.lines, []
        self.indent = 1
        for name, type_ in self.plan.types.items():
            if type_.kind == "number" and f"v_{name}" not in self.parameters:
                self.emit(f"v_{name} = {'False' if type_.dtype == BOOL else f'{type_.dtype}(0)'}")
            elif type_.kind == "sparse" and f"v_{name}_n" not in self.parameters:
                self.emit(f"v_{name}_n, v_{name}_size = int64(0), int64(0)")
            elif type_.kind == "dense" and f"v_{name}_n" not in self.parameters:
                self.emit(f"v_{name}_n = int64(0)")
        for name in self.wanted:
            if self.plan.types.get(name) and name not in self.inputs:
                self.emit(f"s_{name} = int64(0)")
        for name in self.inputs:
            if self.is_given(name):
                self.emit(f"n_{name}, o_{name}_n = int64(0), int64(0)")
        for name in self.plan.listed:
            self.emit(f"w_{name}_n = int64(-1)")
            self.look_again(name)
        return "\n".join([f"def program({', '.join(self.parameters)}):", *self.lines, *body, ""])

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    @contextmanager
    def block(self, head: str) -> Any:
        """Emit a statement with a body."""
        self.emit(head)
        self.indent += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.emit("pass")
        self.indent -= 1

    def note(self, what: str, line: int | None = None) -> None:
        """Note what becomes of a line."""
        notes = self.notes.setdefault(self.line if line is None else line, [])
        if what not in notes:
            notes.append(what)

    def new(self, stem: str = "t") -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def helper(self, stem: str, function: Any) -> str:
        """The name in the text of something that it calls or reads."""
        for name, known in self.namespace.items():
            if known is function:
                return name
        name = self.new(f"{stem}_")
        self.namespace[name] = function
        return name

    def phase(self, stem: str, maker: Callable[..., Any], *args: Any) -> str:
        """The name in the text of a loop of `phases` that a maker makes of its arguments."""
        return self.helper(stem, maker(*args))

    def parameter(self, name: str, *told: Any) -> str:
        """A parameter of the function, and what the caller passes for it."""
        self.parameters.setdefault(name, told)
        return name

    def leave(self, code: int) -> None:
        """Emit the return from the function, and before it what is wanted after the loop."""
        for k, (result, dtype) in enumerate(self.results()):
            floats = dtype.kind == "f"
            self.emit(f"{self.parameter('floats' if floats else 'integers', 'found', floats)}[{k}] = {result}")
        self.emit(f"return {code}")

    def results(self) -> Iterator[tuple[str, np.dtype]]:
        """Yields the numbers that say what is wanted after the loop: numbers themselves, and lengths of vectors."""
        for name in self.wanted:
            type_ = self.plan.types.get(name)
            if type_ is None:
                continue
            if name in self.inputs:
                self.variable(name)  # which is a parameter, also if the loop only gives it other values
            else:
                yield f"s_{name}", INT64
            yield (f"v_{name}", type_.dtype) if type_.kind == "number" else (f"v_{name}_n", INT64)
            if type_.kind == "sparse":
                yield f"v_{name}_size", INT64
            if self.is_given(name):
                yield f"n_{name}", INT64
                yield f"o_{name}_n", INT64

    def unless(self, condition: str) -> None:
        """Emit a test after which the condition holds: else the loop runs as written."""
        with self.block(f"if not ({condition}):"):
            self.emit(f"return {RUN_AS_WRITTEN}")

    # --- statements ---------------------------------------------------------------------------------------------------

    def statement(self, node: ast.stmt) -> None:
        """Translate one statement; what it took for itself is free again after it."""
        taken, self.taken = self.taken, []
        self.line = self.line if self.prefix else node.lineno
        try:
            handler = getattr(self, f"do_{type(node).__name__}", None)
            if handler is None:
                raise Unfit(f"has the statement {ast.unparse(node).splitlines()[0]!r}")
            handler(without_itself(node) if isinstance(node, ast.Assign) else node)
        except Unfit as error:
            if not hasattr(error, "line"):
                error.line = node.lineno  # type: ignore[attr-defined]
            raise
        for key, name in self.taken:
            self.free.setdefault(key, []).append(name)
        self.taken = taken

    def statements(self, nodes: Iterable[ast.stmt]) -> None:
        """Translate statements. What only the next one reads, as the value that it selects from, is put in there."""
        nodes = list(nodes)
        for k, node in enumerate(nodes):
            match node, nodes[k + 1] if k + 1 < len(nodes) else None:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as product),
                    ast.Assign(value=ast.Call(args=[ast.Name(id=same), *others]) as call) as following,
                ) if name == same and self.reads(name) == 1 and not self.prefix and name not in self.wanted:
                    if self.is_call_of(call, verbs.select) and self.is_call_of(product, verbs.vxm, verbs.mxv):
                        joined = ast.Call(call.func, [product, *others], call.keywords)
                        nodes[k + 1] = ast.copy_location(ast.Assign(following.targets, joined), following)
                        self.note(f"computed with line {following.lineno}", node.lineno)
                        continue
            self.statement(node)

    def reads(self, name: str) -> int:
        """How often the loop reads a name."""
        nodes = (node for node in ast.walk(self.loop) if isinstance(node, ast.Name) and node.id == name)
        return sum(isinstance(node.ctx, ast.Load) for node in nodes)

    def is_call_of(self, node: ast.expr, *functions: Any) -> bool:
        """True if an expression calls one of these."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            return False
        try:
            function = self.value(node.func)
        except Unfit:
            return False
        return isinstance(function, Constant) and any(function.value is each for each in functions)

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def do_Assign(self, node: ast.Assign) -> None:
        into = node.targets[0].id if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) else None
        value = self.value(node.value, into)
        for target in node.targets:
            self.store(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.store(node.target, self.value(node.value))

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        as_load = ast.parse(ast.unparse(node.target), mode="eval").body
        current = self.value(as_load)
        value = self.binary(node.op, current, self.value(node.value), node)
        if isinstance(node.target, ast.Name) and isinstance(current, Dense):
            self.written(current, node)
            self.fill(current, self.stored_as(value, current.dtype), node)
        elif isinstance(current, Sparse):
            raise Unfit("changes a sparse vector by an operator")
        else:
            self.store(node.target, value)

    def store(self, target: ast.expr, value: Any) -> None:
        """Assign a value to a target."""
        match target:
            case ast.Name(id=name):
                self.assign(name, value)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                if not isinstance(value, Several) or len(value.parts) != len(targets):
                    raise Unfit("assigns to several names what is no tuple of as many")
                renamed = {self.named(each.id) for each in targets if isinstance(each, ast.Name)}
                for each, part in zip(targets, value.parts, strict=True):
                    if isinstance(each, ast.Name):
                        self.alias(self.named(each.id), part, renamed)
                parts = [self.kept(part) for part in value.parts] if len(value.parts) > 1 else value.parts
                for each, part in zip(targets, parts, strict=True):
                    self.store(each, part)
            case ast.Subscript(value=of, slice=at):
                self.store_at(self.value(of), at, value, target)
            case _:
                raise Unfit(f"assigns to {ast.unparse(target)}")

    def alias(self, name: str, value: Any, renamed: set[str] | frozenset[str] = frozenset()) -> None:
        """Refuse a second name for a vector where one of them may be written in place, or both are seen.

        renamed: names that stand for another vector from then on.
        """
        storage = getattr(value, "array", "") or getattr(value, "indices", "")
        other = storage[2:-2] if storage.startswith(("v_", "p_")) else name
        if other == name or (isinstance(value, Dense) and not storage.endswith("_a")):
            return
        if {name, other} & (self.plan.mutable if other not in self.inputs else self.plan.mutable | self.plan.elsewhere):
            raise Unfit(f"gives the vector {other}, which is written in place, a second name")
        seen = other in self.read or (other in self.inputs and other not in self.rebound)
        if seen and name in self.read and other not in renamed:
            raise Unfit(f"gives the vector {other} a second name, and both are used after the loop")

    def named(self, name: str) -> str:
        """The variable that a name stands for, in its function."""
        return self.prefix + name

    def assign(self, name: str, value: Any) -> None:
        """Assign to a variable of the function that is being translated."""
        name = self.named(name)
        if not isinstance(value, Number | Dense | Sparse):
            if (name in self.bound and self.bound[name] is True) or name in self.wanted:
                raise Unfit(f"gives {name} what is no number or vector")
            self.bound[name] = value
            return
        self.alias(name, value)
        type_ = self.declare(name, value.type)
        self.bound[name] = True
        self.owned.add(name)
        self.copied.discard(name)
        if self.is_given(name):
            if self.parts(name):
                self.part_from(name)
            self.emit(f"n_{name} = int64(1)")
        if isinstance(value, Number):
            self.emit(f"v_{name} = {cast(value.code, value.dtype, type_.dtype)}")
        elif isinstance(value, Dense):
            to = self.variable(name)
            if value.array != to.array:
                value = self.kept(value) if to.array in value.gathers else value
                self.emit(f"v_{name}_n = {value.size}")
                self.moved(self.variable(name), value)
            elif value.size != f"v_{name}_n":
                self.emit(f"v_{name}_n = {value.size}")
        else:
            to = self.variable(name)
            self.emit(f"v_{name}_n, v_{name}_size = {value.count}, int64({value.size})")
            if value.indices != to.indices:
                self.fresh.discard(to.indices)
                self.moved(to, value)
        if not self.prefix and name in self.wanted and name not in self.inputs:
            self.emit(f"s_{name} = int64(1)")

    def is_given(self, name: str) -> bool:
        """True for a vector of the caller's whose name the loop may give another one."""
        return name in self.inputs and name in self.rebound and isinstance(self.inputs[name], Dense | Sparse)

    def parts(self, name: str | None) -> bool:
        """True for a vector of the caller's that the loop writes to and whose name it gives another one."""
        return name in self.plan.changed and self.is_given(str(name))

    def part_from(self, name: str) -> None:
        """Emit a copy of a vector that the loop was given, and has written to, before its name stands for another."""
        with self.block(f"if n_{name} == 0:"):
            if self.plan.types[name].kind == "dense":
                self.parameter(f"o_{name}_a", "array", None, self.plan.types[name].dtype)
                with self.block(f"for q in range(uintp(v_{name}_n)):"):
                    self.emit(f"o_{name}_a[q] = v_{name}_a[q]")
                return
            self.parameter(f"o_{name}_i", "indices", None)
            self.parameter(f"o_{name}_v", "values", None, self.plan.types[name].dtype)
            self.emit(f"o_{name}_n = v_{name}_n")
            with self.block(f"for q in range(uintp(v_{name}_n)):"):
                self.emit(f"o_{name}_i[q], o_{name}_v[q] = v_{name}_i[q], v_{name}_v[q]")

    def declare(self, name: str, type_: Type) -> Type:
        """The type of a variable, which a new value has; Unfit if it is another."""
        known = self.plan.types.setdefault(name, type_)
        if known == type_:
            return known
        if known.kind == type_.kind == "sparse" and known.dtype == type_.dtype:
            if known.ordered and not type_.ordered:
                self.plan.types[name] = type_
                raise Restart
            return known
        raise Unfit(f"has {name.rpartition('.')[2]} first as {known}, and then as {type_}")

    def variable(self, name: str) -> Any:
        """A variable's value."""
        type_ = self.plan.types[name]
        given = name in self.inputs and name in self.assigned
        if type_.kind == "number":
            if given:
                self.parameter(f"v_{name}", "number", name)
            return Number(type_.dtype, f"v_{name}", type_.weak)
        if type_.kind == "dense":
            answer = name in self.wanted and name not in self.plan.changed
            self.parameter(f"v_{name}_a", "array", name if given else None, type_.dtype, answer)
            if given:
                self.parameter(f"v_{name}_n", "size", name)
            array = f"v_{name}_a"
            return Dense(type_.dtype, f"v_{name}_n", f"{array}[{{i}}]", frozenset((array,)), array=array)
        self.parameter(f"v_{name}_i", "indices", name if given else None)
        self.parameter(f"v_{name}_v", "values", name if given else None, type_.dtype)
        if given:
            self.parameter(f"v_{name}_n", "count", name)
            self.parameter(f"v_{name}_size", "extent", name)
        size, indices, values, count = (f"v_{name}_{part}" for part in ("size", "i", "v", "n"))
        return Sparse(type_.dtype, size, indices, values, count, type_.ordered)

    def do_If(self, node: ast.If) -> None:
        test = self.truth(self.test(node.test))
        if test in ("True", "False"):
            self.statements(node.body if test == "True" else node.orelse)
            return
        before, owned, copied, fresh = dict(self.bound), set(self.owned), set(self.copied), set(self.fresh)
        with self.block(f"if {test}:"):
            self.statements(node.body)
        self.fresh &= fresh
        then, self.bound = self.bound, dict(before)
        owned_then, self.owned = self.owned, owned
        if node.orelse:
            with self.block("else:"):
                self.statements(node.orelse)
        self.fresh &= fresh
        ends = [ends_here(branch) for branch in (node.body, node.orelse)]
        self.copied |= copied
        self.owned = self.owned if ends[0] else owned_then if ends[1] else self.owned & owned_then
        if ends == [True, False]:
            then = self.bound
        elif ends != [False, True]:
            then = {name: value for name, value in then.items() if self.same_binding(name, value)}
        self.bound = then

    def same_binding(self, name: str, value: Any) -> bool:
        """True if both branches have given a name the same."""
        return name in self.bound and self.bound[name] == value

    def do_While(self, node: ast.While) -> None:
        if node.orelse:
            raise Unfit("has an else after a loop")
        endless = isinstance(node.test, ast.Constant) and node.test.value is True
        with self.looping(node.body, endless), self.block("while True:"):
            self.poll()
            if not endless:
                self.emit(f"if not {self.truth(self.test(node.test))}:")
                self.emit("    break")
            self.statements(node.body)

    def do_For(self, node: ast.For) -> None:
        if node.orelse or not isinstance(node.target, ast.Name):
            raise Unfit("has a loop over something else than numbers")
        match node.iter:
            case ast.Call(func=func, args=args, keywords=[]):
                function = self.value(func)
            case _:
                raise Unfit(f"has a loop over {ast.unparse(node.iter)}")
        kind = getattr(getattr(function, "value", None), "__name__", "")
        bounds = [self.integer(self.value(arg)) for arg in args]
        if kind == "count":
            first, *rest = [*bounds, "0"] if not bounds else bounds
            counter, step = self.new("k"), rest[0] if rest and bounds else "1"
            self.emit(f"{counter} = int64({first}) - int64({step})")
            with self.looping(node.body, True, node.target.id), self.block("while True:"):
                self.poll()
                self.emit(f"{counter} += {step}")
                self.assign(node.target.id, Number(INT64, counter, True))
                self.statements(node.body)
            return
        if kind != "range" or not 1 <= len(bounds) <= 3:
            raise Unfit(f"has a loop over {ast.unparse(node.iter)}")
        counter = self.new("k")
        if len(bounds) == 3:
            self.unless(f"{bounds[2]} != 0")
        with (
            self.looping(node.body, False, node.target.id),
            self.block(f"for {counter} in range({', '.join(f'int64({bound})' for bound in bounds)}):"),
        ):
            self.poll()
            self.assign(node.target.id, Number(INT64, counter, True))
            self.statements(node.body)

    @contextmanager
    def looping(self, body: list[ast.stmt], endless: bool, *more: str) -> Any:
        """The body of a loop: what it assigns may be another value in the next round, and unknown after it."""
        before, owned = dict(self.bound), set(self.owned)
        self.breaks.append([])
        self.fresh.clear()
        yield
        self.fresh.clear()
        self.owned = owned
        names = [self.named(name) for name in (*assigned_in(body), *more)]
        for name in names:
            if name in before and before[name] is not True and self.bound.get(name, before[name]) != before[name]:
                raise Unfit(f"gives {name} another meaning in the next round")
        left = self.breaks.pop()
        ends = [set(before)] if not endless else left
        known = set.intersection(*ends) if ends else set(before)
        self.bound = {name: value for name, value in {**self.bound, **before}.items() if name in known}

    def poll(self) -> None:
        """Emit a look whether the call was interrupted, or has had the rounds that it may have."""
        rounds = self.parameter("rounds", "rounds")
        self.emit(f"{rounds} -= 1")
        with self.block(f"if {rounds} < 0 or interrupted():"):
            self.emit(f"return {TOO_LONG}")

    def do_Break(self, node: ast.Break) -> None:
        if not self.breaks:
            raise Unfit("has a break without a loop")
        self.breaks[-1].append(set(self.bound))
        self.emit("break")

    def do_Continue(self, node: ast.Continue) -> None:
        self.emit("continue")

    def do_Return(self, node: ast.Return) -> None:
        if self.prefix:
            raise Unfit("calls a function that returns from within")
        self.leaving(node)

    def do_Raise(self, node: ast.Raise) -> None:
        if self.prefix:
            raise Unfit("calls a function that raises an error")
        self.leaving(node)

    def leaving(self, node: ast.stmt) -> None:
        """Leave the compiled function; the statement then runs as written."""
        self.exits.append(node)
        self.leave(FIRST_EXIT + len(self.exits) - 1)

    # --- vectors ------------------------------------------------------------------------------------------------------

    def room(self, kind: str, dtype: np.dtype) -> str:
        """The name of a vector of the compiler's own, until the end of the statement."""
        free = self.free.setdefault((kind, dtype), [])
        name = free.pop() if free else self.new(kind)
        self.taken.append(((kind, dtype), name))
        return name

    def new_list(self, dtype: np.dtype, size: str, ordered: bool, into: str | None = None, *operands: Any) -> Sparse:
        """Room for a sparse vector: that of the variable which it is for, unless an operand is read from there."""
        name = None if into is None else self.named(into)
        type_ = None if name is None else self.plan.types.get(name)
        if type_ is not None and type_.kind == "sparse" and type_.dtype == dtype and not self.parts(name):
            to = self.variable(str(name))
            arrays = {getattr(x, "indices", "") for x in operands} | {getattr(x, "array", "") for x in operands}
            if to.indices not in arrays:
                self.fresh.discard(to.indices)
                return Sparse(dtype, size, to.indices, to.values, to.count, ordered)
        name = self.room("l", dtype)
        self.fresh.discard(f"{name}_i")
        self.parameter(f"{name}_i", "indices", None)
        self.parameter(f"{name}_v", "values", None, dtype)
        return Sparse(dtype, size, f"{name}_i", f"{name}_v", f"{name}_n", ordered)

    def new_array(self, dtype: np.dtype, size: str, into: str | None = None, *operands: Any) -> Dense:
        """Room for a dense vector: that of the variable which it is for, unless an operand is read from there."""
        name = str(into and self.named(into))
        if self.in_turn and self.plan.types.get(name) == Type("dense", dtype) and not self.parts(name):
            to = self.variable(name)
            if to.array not in {getattr(x, "array", "") for x in operands}:
                self.rewritten(to)
                return replace(to, size=size)
        name = self.room("a", dtype)
        self.parameter(name, "array", None, dtype)
        if not size.isidentifier():
            self.emit(f"{name}_n = {size}")
            size = f"{name}_n"
        return Dense(dtype, size, f"{name}[{{i}}]", frozenset((name,)), array=name)

    def kept(self, value: Any) -> Any:
        """A value that later statements do not change: a number or vector of the compiler's own."""
        if isinstance(value, Number) and not (value.constant is not None or value.code.startswith("k_")):
            name = self.new("k_")
            self.emit(f"{name} = {value.code}")
            return Number(value.dtype, name, value.weak)
        if isinstance(value, Dense):
            array = self.new_array(value.dtype, value.size)
            self.loop_over(array, value)
            return array
        if isinstance(value, Sparse):
            to = self.new_list(value.dtype, value.size, value.ordered)
            self.emit(f"{to.count} = {value.count}")
            with self.block(f"for q in range(uintp({to.count})):"):
                self.emit(f"{to.indices}[q], {to.values}[q] = {value.indices}[q], {value.values}[q]")
            return to
        return value

    def as_array(self, value: Any) -> Dense:
        """A dense vector as an array."""
        if not isinstance(value, Dense):
            raise Unfit("needs a dense vector where there is none")
        return value if value.array else self.kept(value)

    def loop_over(self, to: Dense, value: Dense) -> None:
        """Emit to_i = value_i for every i."""
        self.rewritten(to)
        self.note("one pass over a vector")
        with self.block(f"for i in range(uintp({value.size})):"):
            self.emit(f"{to.at('i')} = {cast(value.at('i'), value.dtype, to.dtype)}")

    def moved(self, to: Any, value: Any) -> None:
        """Emit the move of a value into a variable's vector, whose length is known."""
        if isinstance(to, Dense):
            self.loop_over(to, value)
            return
        with self.block(f"for q in range(uintp({to.count})):"):
            self.emit(f"{to.indices}[q], {to.values}[q] = {value.indices}[q], {value.values}[q]")

    def fill(self, to: Dense, value: Any, node: Any) -> None:
        """Emit to_i = value_i, or a number, for a vector that is there."""
        if isinstance(value, Number):
            value = Dense(value.dtype, to.size, value.code)
        if not isinstance(value, Dense):
            raise Unfit(f"has {ast.unparse(node)!r}")
        self.same_size(to.size, value.size)
        self.loop_over(to, self.kept(value) if to.array in value.gathers else value)

    def written(self, value: Any, node: Any) -> Any:
        """The same vector, which the loop writes in place."""
        if not isinstance(value, Dense | Sparse) or not (getattr(value, "array", "") or isinstance(value, Sparse)):
            raise Unfit(f"writes to what is no vector of a name in {ast.unparse(node)!r}")
        array = value.array if isinstance(value, Dense) else value.indices
        if array.startswith("p_"):  # given, and so far only read
            name = array[2:-2]
            self.plan.changed.add(name)
            self.plan.mutable.add(name)
            raise Restart
        name = array[2:-2] if array.startswith("v_") else ""
        if name in self.copied:
            raise Unfit("calls a function that writes to a parameter, and gives it another value")
        if name and name not in self.plan.mutable:
            self.plan.mutable.add(name)
            raise Restart
        if name in self.inputs and name not in self.owned and name not in self.plan.changed:
            self.plan.changed.add(name)
            raise Restart
        return value

    def inside(self, at: Dense, size: str) -> None:
        """Emit a test that indices are within a vector of that size, which those of a variable are within its size."""
        test = f"{self.helper('inside', phases.inside)}({at.array}, {at.size}, {size})"
        is_variable = self.in_turn and at.array.endswith("_i") and at.array.startswith(("v_", "p_"))
        self.unless(f"{at.array[:-2]}_size <= {size} or {test}" if is_variable else test)

    # A dense vector that is written at some places, and looked through for what is in it, has a list of such places.

    def places(self, x: Dense, zero: str, wanted: bool = True) -> tuple[str, str, str, bool] | None:
        """A list of places outside which a vector is zero: its name, where it begins and ends, whether it ascends.

        wanted: it is worth having; else None if there is none yet.
        """
        plan = self.plan
        for array, value, own in sorted({*x.within, (x.array, zero, zero)}) if self.in_turn else ():
            name = array[2:-2]
            if own != zero or name not in self.inputs or (array.startswith("v_") and name not in plan.mutable):
                continue
            if value.startswith("= ") and array.startswith("p_"):
                order, starts = (self.parameter(f"{part}_{name}", part, name) for part in ("order", "starts"))
                at = self.new("k_")
                self.emit(f"{at} = uintp({value[2:]}) & uintp({starts}.size - 2)")
                return order, f"{starts}[{at}]", f"{starts}[{at} + uintp(1)]", True
            if not array.startswith("v_") or name in plan.unlisted or not (wanted or name in plan.listed):
                continue
            if name not in plan.listed:
                plan.listed[name] = value
                raise Restart
            if plan.listed[name] == value:
                if name not in self.fresh:
                    self.look_again(name)
                return f"w_{name}_i", "0", f"w_{name}_n", name not in plan.growing
        return None

    def look_again(self, name: str) -> None:
        """Emit that places go from a list where the vector is zero again."""
        listed = self.parameter(f"w_{name}_i", "indices", None), self.parameter(f"w_{name}_f", "flags")
        x, look = self.variable(name), self.helper("look", phases.look)
        counts = f"w_{name}_n, {name not in self.plan.growing}"
        self.emit(f"w_{name}_n = {look}({x.array}, {x.size}, {self.plan.listed[name]}, {', '.join(listed)}, {counts})")
        self.fresh.add(name)

    def enlisted(self, x: Dense, i: str, value: str = "") -> None:
        """Emit that a place of a vector is in its list, after a value is written there."""
        name = x.array[2:-2]
        if x.array.startswith("v_") and name in self.plan.listed and self.plan.listed[name] != value:
            if name not in self.plan.growing:
                self.plan.growing.add(name)
                raise Restart
            self.fresh.discard(name)
            with self.block(f"if not w_{name}_f[{i}]:"):
                self.emit(f"w_{name}_f[{i}], w_{name}_i[uintp(w_{name}_n)] = True, {i}")
                self.emit(f"w_{name}_n += 1")

    def rewritten(self, x: Dense) -> None:
        """Tell that a vector is written as a whole: then it has no list."""
        name = x.array[2:-2]
        if x.array.startswith("v_") and name not in self.plan.unlisted:
            self.plan.unlisted.add(name)
            if self.plan.listed.pop(name, None) is not None:
                raise Restart

    @contextmanager
    def over(self, x: Dense, zero: str | None, wanted: bool = True) -> Any:
        """Emit a loop over a vector's elements, or over places outside which it is zero."""
        found = None if zero is None else self.places(x, zero, wanted)
        if found is None:
            self.note("one pass over a vector")
            with self.block(f"for i in range(uintp({x.size})):"):
                yield True
            return
        self.note("looks only at places where there may be something")
        places, first, end, ascends = found
        with self.block(f"for q in range(uintp({first}), uintp({end})):"):
            self.emit(f"i = uintp({places}[q])")
            yield ascends

    def same_size(self, *sizes: str) -> None:
        """Emit a test that sizes are equal, unless they are one."""
        first, *others = dict.fromkeys(sizes)
        for other in others:
            self.unless(f"{first} == {other}")

    def in_order(self, v: Sparse) -> Sparse:
        """The list with ascending indices, which it is put into."""
        if v.ordered:
            return v
        if v.indices not in self.fresh:
            self.note("puts a list in order")
            seen, room = self.parameter("words", "words"), self.scratch(v.dtype, None)
            self.emit(f"{self.helper('ordered', phases.ordered)}({v.indices}, {v.values}, {v.count}, {seen}, {room})")
            self.fresh.add(v.indices)
        return Sparse(v.dtype, v.size, v.indices, v.values, v.count, True)

    def scratch(self, dtype: np.dtype, fill: Any) -> str:
        """An array with room for every element, of one value, which who uses it leaves so again."""
        for name, told in self.parameters.items():
            if told[0] == "scratch" and told[1] == dtype and (fill is told[2] or repr(fill) == repr(told[2])):
                return name
        return self.parameter(self.new("s"), "scratch", dtype, fill)

    # --- expressions --------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr, into: str | None = None) -> Any:
        """Translate an expression.  into: the variable that it is assigned to."""
        handler = getattr(self, f"of_{type(node).__name__}", None)
        if handler is None:
            raise Unfit(f"has the expression {ast.unparse(node)!r}")
        return handler(node, into) if isinstance(node, ast.Call) else handler(node)

    def of_Constant(self, node: ast.Constant) -> Any:
        if type(node.value) in WEAK:
            return Number(WEAK[type(node.value)], literal(node.value), True, node.value)
        return Constant(node.value)

    def of_Name(self, node: ast.Name) -> Any:
        name = self.named(node.id)
        if name in self.bound:
            value = self.bound[name]
            return self.variable(name) if value is True else value
        if name in self.plan.types or (not self.prefix and name in self.assigned):
            raise Unfit(f"may use {node.id} before it has a value")
        return self.scope(node.id)

    def outer(self, name: str) -> Any:
        """The meaning of a name before the loop."""
        if name not in self.inputs:
            raise Unfit(f"uses {name}, which has no value before the loop")
        value = self.inputs[name]
        if isinstance(value, Number) and value.constant is None:
            self.parameter(f"p_{name}", "number", name)
            return Number(value.dtype, f"p_{name}", value.weak)
        if isinstance(value, Dense):
            self.parameter(f"p_{name}_a", "given", name)
            self.parameter(f"p_{name}_n", "size", name)
            array = f"p_{name}_a"
            return Dense(value.dtype, f"p_{name}_n", f"{array}[{{i}}]", frozenset((array,)), array=array)
        if isinstance(value, Sparse):
            self.parameter(f"p_{name}_i", "given indices", name)
            self.parameter(f"p_{name}_v", "given values", name)
            self.parameter(f"p_{name}_n", "count", name)
            self.parameter(f"p_{name}_size", "extent", name)
            size, indices, values, count = (f"p_{name}_{part}" for part in ("size", "i", "v", "n"))
            return Sparse(value.dtype, size, indices, values, count, True)
        if isinstance(value, MatrixValue):
            for axis, size in enumerate(value.shape):
                self.parameter(size, "reach", name, axis)
        return value

    def of_Tuple(self, node: ast.Tuple) -> Any:
        return Several(tuple(self.value(each) for each in node.elts))

    def of_Lambda(self, node: ast.Lambda) -> Any:
        prefix, scope, bound = self.prefix, self.scope, self.bound

        def within(name: str) -> Any:
            return self.in_scope(prefix, scope, bound, lambda: self.of_Name(ast.Name(name)))

        return Function("<lambda>", node, within)

    def in_scope(self, prefix: str, scope: Any, bound: Any, look: Callable[[], Any]) -> Any:
        """Call `look` where names mean what they do in another function."""
        saved = self.prefix, self.scope, self.bound
        self.prefix, self.scope, self.bound = prefix, scope, bound
        try:
            return look()
        finally:
            self.prefix, self.scope, self.bound = saved

    def of_IfExp(self, node: ast.IfExp) -> Any:
        test = self.truth(self.test(node.test))
        x, y = self.value(node.body), self.value(node.orelse)
        if test in ("True", "False"):
            return x if test == "True" else y
        if not (isinstance(x, Number) and isinstance(y, Number)) or (x.dtype, x.weak) != (y.dtype, y.weak):
            raise Unfit(f"has {ast.unparse(node)!r}, which is not always of one type")
        return Number(x.dtype, f"({x.code} if {test} else {y.code})", x.weak)

    def test(self, node: ast.expr) -> Any:
        """Translate a condition, of which only the truth matters."""
        return self.of_BoolOp(node, self.test) if isinstance(node, ast.BoolOp) else self.value(node)

    def of_BoolOp(self, node: ast.BoolOp, look: Callable[[ast.expr], Any] | None = None) -> Any:
        """The later parts are computed where they decide.  look: translates the parts of a condition."""

        def value(part: ast.expr) -> Any:
            return self.value(part) if look is None else Number(BOOL, self.truth(look(part)), True)

        first, *rest = node.values
        x, sign = value(first), "" if isinstance(node.op, ast.And) else "not "
        for part in rest:
            if not isinstance(x, Number) or x.dtype != BOOL:
                raise Unfit(f"has {ast.unparse(node)!r} of what are no Booleans")
            before, lines, fresh = len(self.lines), self.lines, set(self.fresh)
            self.indent += 1
            y = value(part)
            self.indent -= 1
            self.fresh &= fresh
            if not isinstance(y, Number) or y.dtype != BOOL:
                raise Unfit(f"has {ast.unparse(node)!r} of what are no Booleans")
            if len(lines) == before:
                word = "and" if isinstance(node.op, ast.And) else "or"
                x = Number(BOOL, f"({x.code} {word} {y.code})", x.weak and y.weak)
                continue
            name, computed = self.new("k_"), lines[before:]
            del lines[before:]
            self.emit(f"{name} = {x.code}")
            with self.block(f"if {sign}{name}:"):
                lines += computed
                self.emit(f"{name} = {y.code}")
            x = Number(BOOL, name, x.weak and y.weak)
        return x

    def of_UnaryOp(self, node: ast.UnaryOp) -> Any:
        x = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return Number(BOOL, f"(not {self.truth(x)})", True)
        if isinstance(node.op, ast.UAdd):
            return x
        if not isinstance(x, Number | Dense):
            raise Unfit(f"has {ast.unparse(node)!r}")
        if isinstance(node.op, ast.USub):
            if isinstance(x, Number) and x.constant is not None:
                return Number(x.dtype, f"(-{x.code})", x.weak, -x.constant)
            if x.dtype == BOOL and not getattr(x, "weak", False):
                raise Unfit("takes the negative of Booleans")
            return self.elementwise(f"{x.dtype}(-{{0}})", x.dtype, x)
        if x.dtype == BOOL and getattr(x, "weak", False):
            raise Unfit("inverts the bits of a Python bool")
        return self.elementwise("(not {0})" if x.dtype == BOOL else f"{x.dtype}(~{{0}})", x.dtype, x)

    def of_BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(node.op, self.value(node.left), self.value(node.right), node)

    def binary(self, op: ast.operator, x: Any, y: Any, node: Any) -> Any:
        """An operator on numbers and dense vectors, as NumPy and Python have it."""
        if isinstance(op, ast.MatMult):
            product = verbs.mxv if isinstance(x, MatrixValue) else verbs.vxm
            both = [getattr(each, "dtype", None) for each in (x, y)]
            semiring = Constant(LorLand if both == [BOOL, BOOL] else PlusTimes)
            return self.called(product, [x, y, semiring], {}, node, None)
        if isinstance(op, ast.Pow) and isinstance(x, Dense) and isinstance(y, Number) and y.constant == 2 and y.weak:
            op, y = ast.Mult(), x  # which is how NumPy squares
        if not (isinstance(x, Number | Dense) and isinstance(y, Number | Dense)):
            raise Unfit(f"has {ast.unparse(node)!r}")
        dtype, weak = promoted(x, y)
        if type(op) in ARITHMETIC:
            sign = ARITHMETIC[type(op)]
            if dtype == BOOL and not weak:
                if sign == "-":
                    raise Unfit("subtracts Booleans")
                return self.elementwise("({0} or {1})" if sign == "+" else "({0} and {1})", BOOL, x, y)
            dtype = INT64 if dtype == BOOL else dtype
            if weak and dtype == INT64 and isinstance(x, Number) and isinstance(y, Number):  # Python's know no end
                self.unless(f"abs(float64({x.code}) {sign} float64({y.code})) < {MOST}")
            text = f"{dtype}({{0}} {sign} {{1}})"
        elif type(op) in BITWISE and dtype.kind in "ib":
            sign = BITWISE[type(op)]
            if dtype == BOOL:
                words = {"&": "({0} and {1})", "|": "({0} or {1})", "^": "({0} != {1})"}
                found = self.elementwise(words[sign], BOOL, x, y, weak=weak)
                if sign == "&" and isinstance(found, Dense):
                    found = replace(found, within=within_flags(x) | within_flags(y))
                return found
            text = f"{dtype}({{0}} {sign} {{1}})"
        elif isinstance(op, ast.Div):
            dtype = dtype if dtype.kind == "f" else FLOAT64
            if weak and isinstance(y, Number):
                self.unless(f"{y.code} != 0")
            text = f"{dtype}({{0}} / {{1}})"
        elif isinstance(op, ast.FloorDiv | ast.Mod) and dtype.kind == "i" and isinstance(y, Number):
            self.unless(f"{y.code} > 0")
            text = f"{dtype}({{0}} {'//' if isinstance(op, ast.FloorDiv) else '%'} {{1}})"
        else:
            raise Unfit(f"has {ast.unparse(node)!r}")
        return self.elementwise(text, dtype, *(self.converted(each, dtype) for each in (x, y)), weak=weak)

    def converted(self, x: Any, dtype: np.dtype) -> Any:
        """A number or a dense vector in another dtype."""
        if x.dtype == dtype:
            return x
        if isinstance(x, Number):
            if x.weak and x.dtype == INT64 and dtype == np.int32:  # which NumPy refuses for others
                self.unless(f"-2147483648 <= {x.code} <= 2147483647")
            return Number(dtype, cast(x.code, x.dtype, dtype), x.weak)
        return Dense(dtype, x.size, cast(x.element, x.dtype, dtype), x.reads, x.gathers)

    def stored_as(self, x: Any, dtype: np.dtype) -> Any:
        """A value as NumPy writes it into an array of the dtype."""
        if not isinstance(x, Number | Dense):
            raise Unfit("writes to a vector what is no number or dense vector")
        if x.dtype.kind == "f" and dtype.kind != "f":
            raise Unfit(f"writes floats into a vector of {dtype}")
        return self.converted(x, dtype)

    def of_Compare(self, node: ast.Compare) -> Any:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        if len(values) == 2 and isinstance(node.ops[0], ast.Is | ast.IsNot):
            return self.identity(values, isinstance(node.ops[0], ast.Is), node)
        if any(type(op) not in COMPARISONS for op in node.ops):
            raise Unfit(f"has {ast.unparse(node)!r}")
        if all(isinstance(value, Constant) for value in values) and len(values) == 2:
            equal = values[0].value == values[1].value
            if isinstance(node.ops[0], ast.Eq | ast.NotEq) and isinstance(equal, bool):
                return self.known(equal == isinstance(node.ops[0], ast.Eq))
        found = [
            self.compared(COMPARISONS[type(op)], x, y, node)
            for op, x, y in zip(node.ops, values[:-1], values[1:], strict=True)
        ]
        if len(found) == 1:
            return found[0]
        if not all(isinstance(each, Number) for each in found):
            raise Unfit(f"has {ast.unparse(node)!r} of vectors")
        return Number(BOOL, f"({' and '.join(each.code for each in found)})", True)

    def known(self, truth: bool) -> Number:
        """A Boolean that is known when the loop is compiled."""
        return Number(BOOL, repr(truth), True, truth)

    def identity(self, values: list[Any], same: bool, node: Any) -> Number:
        """x is None, and the like."""
        if any(isinstance(value, Constant) and value.value is None for value in values):
            return self.known(all(isinstance(value, Constant) and value.value is None for value in values) == same)
        raise Unfit(f"has {ast.unparse(node)!r}")

    def compared(self, sign: str, x: Any, y: Any, node: Any) -> Any:
        """A comparison of numbers and dense vectors."""
        if not (isinstance(x, Number | Dense) and isinstance(y, Number | Dense)):
            raise Unfit(f"has {ast.unparse(node)!r}")
        dtype, weak = promoted(x, y)
        if dtype.kind == "f":
            x, y = self.converted(x, dtype), self.converted(y, dtype)
        found = self.elementwise(f"({{0}} {sign} {{1}})", BOOL, x, y, weak=weak)
        if not (isinstance(x, Dense) and isinstance(y, Number) and x.array and x.dtype.kind in "if"):
            return found
        if sign == "==" and x.dtype.kind == y.dtype.kind == "i":
            return replace(found, within=frozenset([(x.array, f"= {y.code}", "False")]))
        never = (0,) if x.dtype.kind == "i" else (0, np.inf, -np.inf)
        if sign in ("!=", "<", ">") and y.constant in never:
            return replace(found, within=frozenset([(x.array, literal(x.dtype.type(y.constant)), "False")]))
        return found

    def elementwise(self, text: str, dtype: np.dtype, *operands: Any, weak: bool = False) -> Any:
        """A function of numbers and dense vectors, element by element: nothing is computed yet.

        text: with {0} and {1} for the operands.  weak: of a Python number, where all operands are numbers.
        """
        vectors = [x for x in operands if isinstance(x, Dense)]
        if not vectors:
            weak = weak or (len(operands) == 1 and operands[0].weak)
            return Number(dtype, filled(text, [x.code for x in operands]), weak)
        self.same_size(*(x.size for x in vectors))
        element = filled(text, [x.element if isinstance(x, Dense) else x.code for x in operands])
        reads = frozenset().union(*(x.reads for x in vectors))
        return Dense(dtype, vectors[0].size, element, reads, frozenset().union(*(x.gathers for x in vectors)))

    def truth(self, value: Any) -> str:
        """The text of a condition."""
        if isinstance(value, Number):
            if value.constant is not None:
                return repr(bool(value.constant))
            return value.code if value.dtype == BOOL else f"({value.code} != 0)"
        if isinstance(value, Constant) and value.value is None:
            return "False"
        raise Unfit("has a condition that is no number")

    def integer(self, value: Any) -> str:
        """The text of an integer."""
        if not isinstance(value, Number) or value.dtype.kind not in "ib":
            raise Unfit("needs an integer where there is none")
        return cast(value.code, value.dtype, INT64)

    # --- calls, attributes, elements ----------------------------------------------------------------------------------

    def of_Attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.value(node.value), node.attr)

    def of_Subscript(self, node: ast.Subscript) -> Any:
        return self.part_of(self.value(node.value), node.slice)

    def store_at(self, of: Any, at: ast.expr, value: Any, node: Any) -> None:
        """x[at] = value."""
        if not isinstance(of, Dense):
            raise Unfit(f"assigns to {ast.unparse(node)}")
        self.written(of, node)
        everywhere = isinstance(at, ast.Slice) and not (at.lower or at.upper or at.step)
        if everywhere or (isinstance(at, ast.Constant) and at.value is Ellipsis):
            self.fill(of, self.stored_as(value, of.dtype), node)
        else:
            self.scattered(of, self.value(at), value)

    def of_Call(self, node: ast.Call, into: str | None) -> Any:
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if not isinstance(owner, Constant):
                return self.method(owner, node.func.attr, *self.arguments(node))
            function: Any = Constant(getattr(owner.value, node.func.attr, None))
        else:
            function = self.value(node.func)
        if isinstance(function, Constant) and function.value is verbs.select and node.args:
            if self.is_call_of(node.args[0], verbs.vxm, verbs.mxv):
                found = self.improving(node, into)
                if found is not None:
                    return found
        arguments, keywords = self.arguments(node)
        if isinstance(function, Function):
            return self.inline(function, arguments, keywords)
        if not isinstance(function, Constant):
            raise Unfit(f"calls {ast.unparse(node.func)}")
        return self.called(function.value, arguments, keywords, node, into)

    def arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call."""
        if any(isinstance(arg, ast.Starred) for arg in node.args) or any(each.arg is None for each in node.keywords):
            raise Unfit(f"passes arguments by * in {ast.unparse(node)!r}")
        return [self.value(arg) for arg in node.args], {str(each.arg): self.value(each.value) for each in node.keywords}

    def function(self, value: Any) -> Function:
        """A function of the user's as something to put in."""
        try:
            node = source(value)
        except Untranslatable as error:
            raise Unfit(f"calls {value.__name__}, and {error}") from None
        cells = dict(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))

        def scope(name: str) -> Any:
            import builtins

            if name in cells:
                known: dict[str, Any] = {name: cells[name].cell_contents}
            else:
                known = value.__globals__ if name in value.__globals__ else vars(builtins)
            if name not in known:
                raise Unfit(f"calls {value.__name__}, which uses {name}, which there is not")
            self.assumptions.append((known, name, known[name]))
            return described(known[name])

        return Function(value.__name__, node, scope)

    def inline(self, function: Function, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """The value of a call of the user's function, whose statements are put in here."""
        if self.depth == MAX_DEPTH:
            raise Unfit(f"calls functions within each other, as {function.name}, more than {MAX_DEPTH} deep")
        node, spec = function.node, function.node.args
        names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        if spec.vararg or spec.kwarg or len(arguments) > len(names):
            raise Unfit(f"calls {function.name} with arguments that cannot be matched")
        given = dict(zip(names, arguments, strict=False)) | keywords
        defaults = dict(zip(reversed(names), reversed(spec.defaults), strict=False))
        defaults |= {
            arg.arg: default for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if default
        }
        for name, default in defaults.items():
            if name not in given:
                given[name] = self.in_scope("", function.scope, {}, partial(self.value, default))
        everything = {*names, *(arg.arg for arg in spec.kwonlyargs)}
        if given.keys() != everything:
            raise Unfit(f"calls {function.name} with other arguments than it has")
        self.depth += 1
        prefix = f"{self.prefix}{function.name if function.name.isidentifier() else 'f'}{self.new('_')}__"
        body = node.body if isinstance(node, ast.FunctionDef) else None
        changes = assigned_in(body or [])
        bound = {}
        for name, value in given.items():
            if name not in changes or not isinstance(value, Number | Dense | Sparse):
                bound[prefix + name] = value
        changing = {name: value for name, value in given.items() if name in changes and prefix + name not in bound}
        try:
            return self.in_scope(prefix, function.scope, bound, lambda: self.inlined(node, function.name, changing))
        finally:
            self.depth -= 1

    def inlined(self, node: Any, name: str, changing: dict[str, Any]) -> Any:
        """The value of a function's body.  changing: the arguments of parameters that get other values in it."""
        for parameter, value in changing.items():
            self.assign(parameter, value)
            self.copied.add(self.named(parameter))
        if isinstance(node, ast.Lambda):
            return self.value(node.body)
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        *before, last = body
        if not isinstance(last, ast.Return):
            before, last = body, ast.Return(None)
        for each in before:
            if isinstance(each, ast.FunctionDef):
                raise Unfit(f"calls {name}, which defines a function")
            self.statement(each)
        return Constant(None) if last.value is None else self.value(last.value)


def within_flags(x: Any) -> frozenset[tuple[str, str, str]]:
    """Where a Boolean vector is not False."""
    own = {(x.array, "False", "False")} if isinstance(x, Dense) and x.array else set()
    return frozenset(own | getattr(x, "within", frozenset()))


def filled(text: str, operands: list[str]) -> str:
    """The text with its operands, in which {i} stays."""
    for k, operand in enumerate(operands):
        text = text.replace(f"{{{k}}}", operand)
    return text


def without_itself(node: ast.Assign) -> ast.Assign:
    """An assignment without what it assigns to its own name."""
    if len(node.targets) > 1:
        return node
    [target], value = node.targets, node.value
    if isinstance(target, ast.Name) and isinstance(value, ast.Name) and target.id == value.id:
        return ast.copy_location(ast.Assign([], value), node)
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts, strict=True)
        kept = [(x, y) for x, y in pairs if not (isinstance(x, ast.Name) and isinstance(y, ast.Name) and x.id == y.id)]
        left: list[ast.expr] = [ast.Tuple([x for x, _ in kept], ast.Store())] if kept else []
        return ast.copy_location(ast.Assign(left, ast.Tuple([y for _, y in kept], ast.Load())), node)
    return node


def ends_here(body: list[ast.stmt]) -> bool:
    """True if what follows a list of statements is not reached from it."""
    return bool(body) and isinstance(body[-1], ast.Break | ast.Continue | ast.Return | ast.Raise)


def assigned_in(body: Iterable[ast.AST]) -> set[str]:
    """The names that statements assign, and those in them."""
    found = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return found


def rebound_in(body: Iterable[ast.stmt]) -> set[str]:
    """The names that statements give something new, and do not only change by an operator."""
    changed = {id(node.target) for each in body for node in ast.walk(each) if isinstance(node, ast.AugAssign)}
    nodes = (node for each in body for node in ast.walk(each) if id(node) not in changed)
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def described(value: Any) -> Any:
    """Describe an object for the translator; numbers are constants here."""
    if type(value) in WEAK:
        return Number(WEAK[type(value)], literal(value), True, value)
    if isinstance(value, np.generic) and value.dtype.name in ("bool", "int32", "int64", "float32", "float64"):
        return Number(value.dtype, literal(value), False, value)
    return Constant(value)
