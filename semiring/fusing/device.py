"""Programs on a GPU: a loop's text becomes one persistent kernel, of the parts that `semiring/cuda/programs.cu` has.

The text that the translator writes says what is done one element after another. Its loops over elements are all of a few
forms, in which elements do not depend on each other: writes to places of their own, entries that are put into a list,
and folds to a number. So here they are dealt out to all threads; the statements around them are run by every thread
alike. A barrier of the grid stands before what reads or writes an array that another statement has written since the
last one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..algebra.codegen import C_TYPES, expression, prelude
from ..algebra.ops import BinaryOp
from ..algebra.semirings import counts
from ..algebra.translation import Untranslatable
from ..algebra.translation import literal as c_literal
from . import phases
from .functions import Translator
from .values import BOOL, FLOAT64, INT64, Dense, Sparse, Unfit
from .verbs import FAR

UNSIGNED = np.dtype(np.uint64)
LOCAL = {"i", "w"}
"""Names that each element has for itself, beside those of `x1`, `x2` …"""
COLLECTIVE = {phases.inside: "inside", phases.ascends: "ascends"}
"""Functions that all threads run together, which end with a barrier."""
ROOMS = {"array", "indices", "values", "given", "given indices", "given values", "scratch", "found", "degrees"}
"""What is passed as an array, by the words of the translator."""
RESULTS = {"integers", "floats", "exact"}
"""Arrays whose elements are written once, and not read; and a number that the kernel has for an array."""
CASTS = {"int32": "int", "int64": "long long", "float32": "float", "float64": "double", "bool": "bool"}
CASTS |= {"uintp": "unsigned long long"}


class DeviceTranslator(Translator):
    """One attempt to translate a loop for a GPU: lists have no order, and places of lists are exchanged, not copied."""

    in_turn = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.made: dict[str, tuple[Any, ...]] = {}
        """What each name of a phase or function in the text stands for: its maker, and the maker's arguments."""
        self.alone = False

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

    def moved(self, to: Dense | Sparse, value: Dense | Sparse) -> None:
        """Emit an exchange with room that only this statement has, in the place of a copy."""
        parts = (
            [(to.indices, value.indices), (to.values, value.values)]
            if isinstance(to, Sparse)
            else [(to.array, value.array)]
        )
        own = {part for _, name in self.taken for part in (name, f"{name}_i", f"{name}_v")}
        if (
            not self.alone
            or not all(mine in own for _, mine in parts)
            or (isinstance(value, Dense) and not value.array)
        ):
            super().moved(to, value)
            return
        for theirs, mine in parts:
            self.emit(f"exchange({theirs}, {mine})")


class Text:
    """The CUDA text of a program.

    text: what a `DeviceTranslator` has written.  matrices: the dtypes of each matrix's row ends and indices, by parameter.
    """

    def __init__(self, t: DeviceTranslator, text: str) -> None:
        self.t = t
        [program] = ast.parse(text).body
        assert isinstance(program, ast.FunctionDef)
        self.scalars: dict[str, np.dtype] = {}
        self.arrays: dict[str, np.dtype] = {}
        self.parameters: list[tuple[str, str]] = []
        calls = (node for node in ast.walk(program) if isinstance(node, ast.Call))
        exchanges = (node for node in calls if getattr(node.func, "id", "") == "exchange")
        self.exchanged = list(dict.fromkeys(node.args[0].id for node in exchanges))  # type: ignore[attr-defined]
        """Vectors of variables whose places are exchanged: the host is told where they are in the end."""
        self.matrices: dict[str, np.dtype] = {}
        for name, told in t.parameters.items():
            self.take_parameter(name, told)
        self.lines: list[str] = []
        self.indent = 1
        self.own: dict[str, str] = {}
        """Names that each element of a loop has for itself, and what they are called."""
        self.locals: dict[str, np.dtype] = {}
        self.read: set[str] = set()
        self.written: set[str] = set()
        self.leaves: list[list[tuple[set[str], set[str]]]] = []
        self.statements(program.body)

    def take_parameter(self, name: str, told: tuple[Any, ...]) -> None:
        """Note a parameter's type."""
        kind, dtypes = told[0], [x for x in told[1:] if isinstance(x, np.dtype)]
        inputs = self.t.inputs
        if kind == "matrix":
            self.matrices[name] = told[3]
            return
        if kind in ("indices", "given indices"):
            dtype = inputs["capacity of vectors"].value
        elif kind == "found":
            dtype = FLOAT64 if told[1] else INT64
        elif kind == "degrees":
            dtype = INT64
        elif kind in ("given", "given values", "number"):
            dtype = inputs[told[1]].dtype
        else:
            dtype = dtypes[-1] if dtypes else INT64
        if kind in ROOMS:
            self.arrays[name] = dtype
            constant = "const " if kind.startswith("given") or kind == "degrees" else ""
            self.parameters.append((name, f"{constant}{C_TYPES[dtype.name]}*"))
        elif kind in ("flags", "words"):
            self.arrays[name] = UNSIGNED
            self.parameters.append((name, "unsigned int*"))
        elif kind in ("gate", "exact", "levels", "sums"):
            return
        else:
            self.scalars[name] = dtype
            self.parameters.append((name, C_TYPES[dtype.name]))

    # --- text ---------------------------------------------------------------------------------------------------------

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def barrier(self) -> None:
        """Emit a barrier, after which everything that was written may be read."""
        self.emit("g.barrier();")
        self.settled()

    def settled(self) -> None:
        """Note that there has been a barrier."""
        self.read, self.written = set(), set()

    def touch(self, read: Iterable[str], written: Iterable[str] = ()) -> None:
        """Note what a statement reads and writes, with a barrier before it if that is needed."""
        read, written = set(read), set(written)
        if read & self.written or written & (self.read | self.written):
            self.barrier()
        self.read |= read
        self.written |= written

    def flush(self) -> None:
        """Emit a barrier unless nothing was read or written since the last one."""
        if self.read or self.written:
            self.barrier()

    def arrays_of(self, *nodes: ast.AST) -> tuple[set[str], set[str]]:
        """The arrays that are read, and those that are written."""
        read, written = set(), set()
        for each in (inner for node in nodes for inner in ast.walk(node)):
            if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name):
                if each.value.id in RESULTS:
                    continue
                (written if isinstance(each.ctx, ast.Store) else read).add(each.value.id)
            elif isinstance(each, ast.Call) and self.made_of(each.func)[0] in COLLECTIVE:
                read.add(each.args[0].id)  # type: ignore[attr-defined]
        return read, written

    def made_of(self, function: ast.expr) -> tuple[Any, ...]:
        """What a function's name stands for: its maker, and the maker's arguments."""
        return self.t.made.get(getattr(function, "id", ""), (None,))

    # --- statements that all threads run ------------------------------------------------------------------------------

    def statements(self, nodes: list[ast.stmt]) -> None:
        for node in nodes:
            getattr(self, f"do_{type(node).__name__}")(node)

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Return(self, node: ast.Return) -> None:
        self.emit(f"LEAVE({ast.unparse(node.value) if node.value else 0});")

    def do_Break(self, node: ast.Break) -> None:
        self.leaves[-1].append((set(self.read), set(self.written)))
        self.emit("break;")

    def do_Continue(self, node: ast.Continue) -> None:
        self.flush()
        self.emit("continue;")

    def condition(self, node: ast.expr) -> str:
        """The text of a condition, after a barrier if it needs one."""
        self.touch(self.arrays_of(node)[0])
        code = self.value(node)[0]
        if any(isinstance(each, ast.Call) and self.made_of(each.func)[0] in COLLECTIVE for each in ast.walk(node)):
            self.settled()
        return code

    def do_If(self, node: ast.If) -> None:
        self.emit(f"if ({self.condition(node.test)}) {{")
        before = set(self.read), set(self.written)
        ends = []
        for branch in (node.body, node.orelse):
            self.read, self.written = set(before[0]), set(before[1])
            if branch is node.orelse and branch:
                self.emit("} else {")
            self.indent += 1
            self.statements(branch)
            self.indent -= 1
            if not (branch and isinstance(branch[-1], ast.Break | ast.Continue | ast.Return)):
                ends.append((self.read, self.written))
        self.emit("}")
        self.read, self.written = (set().union(*(end[k] for end in ends)) for k in (0, 1))

    def do_While(self, node: ast.While) -> None:
        self.loop("while (true) {", node.body, endless=True)

    def do_For(self, node: ast.For) -> None:
        assert isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Call)
        if node.target.id in ("i", "q"):
            self.elements(node, node.target.id, node.iter.args[0])
            return
        name, bounds = node.target.id, [self.value(arg)[0] for arg in node.iter.args]
        first, stop, step = (
            (["0LL", *bounds] if len(bounds) == 1 else bounds)[:2] + [None] if len(bounds) < 3 else bounds
        )
        self.scalars[name] = INT64
        self.emit(f"const long long first_{name} = {first}, stop_{name} = {stop}, step_{name} = {step or '1LL'};")
        within = f"step_{name} > 0 ? r_{name} < stop_{name} : r_{name} > stop_{name}"
        self.loop(
            f"for (long long r_{name} = first_{name}; {within}; r_{name} += step_{name}) {{",
            node.body,
            f"{name} = r_{name};",
        )

    def loop(self, head: str, body: list[ast.stmt], begin: str = "", endless: bool = False) -> None:
        """Emit a loop that all threads run."""
        self.flush()
        self.emit(head)
        self.leaves.append([])
        self.indent += 1
        if begin:
            self.emit(begin)
        self.statements(body)
        self.flush()
        self.indent -= 1
        self.emit("}")
        for read, written in self.leaves.pop():
            self.read |= read
            self.written |= written

    def do_Expr(self, node: ast.Expr) -> None:
        call = node.value
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if call.func.id == "exchange":
            mine, theirs = (arg.id for arg in call.args)  # type: ignore[attr-defined]
            self.emit(f"exchange({mine}, {theirs});")
            other = {mine: theirs, theirs: mine}
            self.read = {other.get(name, name) for name in self.read}
            self.written = {other.get(name, name) for name in self.written}
            return
        maker = self.made_of(call.func)[0]
        if maker is phases.ordered:
            indices, values, count, words, room = call.args
            self.touch((), [each.id for each in (indices, values, words, room)])  # type: ignore[attr-defined]
            self.emit(f"ordered(g, {', '.join(self.plain(each) for each in call.args)});")
            self.settled()
            return
        assert maker is phases.gathering
        gate, size, at_a_time, parts = call.args
        matrix, x, flags, wanted, y, exact = parts.elts  # type: ignore[attr-defined]
        self.touch([x.id, flags.id], [y.id])
        self.scalars.setdefault("exact", BOOL)
        masked, sums = self.masked(call.func.id), self.sums(call.func.id)
        arguments = ", ".join((self.plain(size), *(self.plain(each) for each in (matrix, x, flags, wanted, y))))
        self.emit(f"exact = gather<{call.func.id}, {masked}, {sums}>(g, {arguments});")
        self.settled()

    def masked(self, name: str) -> str:
        return str(bool(self.t.made[name][4])).lower()

    def sums(self, name: str) -> str:
        semiring, dtype = self.t.made[name][1:3]
        return str(not semiring.add.idempotent and dtype.kind == "i").lower()

    def plain(self, node: ast.expr) -> str:
        """The text of an argument of a part: a number, an array or a matrix."""
        if isinstance(node, ast.Name) and (node.id in self.arrays or node.id in self.matrices):
            return node.id
        return self.value(node)[0]

    def product(self, call: ast.Call) -> tuple[str, np.dtype]:
        """The text of a product of a sparse vector, or of a union of two."""
        assert isinstance(call.func, ast.Name)
        name, maker = call.func.id, self.made_of(call.func)[0]
        if maker is phases.uniting:
            u, v, place, to = call.args
            lists = [*u.elts, *v.elts, place, *to.elts]  # type: ignore[attr-defined]
            self.touch([u.elts[0].id, u.elts[1].id, v.elts[0].id, v.elts[1].id], [place.id, *(x.id for x in to.elts)])  # type: ignore[attr-defined]
            return f"unite<{name}>(g, {', '.join(self.plain(each) for each in lists)})", INT64
        matrix, x, y, other, mask, to = call.args
        names = [each.id for each in (*x.elts[:2], y, other, mask.elts[0], *to.elts)]  # type: ignore[attr-defined]
        x_i, x_v, zeros, d, flags, to_i, to_v = names
        sums = maker is phases.summing
        self.touch([x_i, x_v, flags, *([] if sums else [d])], [zeros, to_i, to_v, *([d] if sums else [])])
        parts = [matrix, *x.elts, y, other, *mask.elts, *to.elts]  # type: ignore[attr-defined]
        arguments = ", ".join(self.plain(each) for each in parts)
        if sums:
            return f"sum_up<{name}, {self.masked(name)}>(g, {arguments})", INT64
        better = f"{name}_better" if self.t.made[name][5] is not None else "AllTerms"
        return f"push<{name}, {self.masked(name)}, {better}>(g, {arguments})", INT64

    def do_Assign(self, node: ast.Assign) -> None:
        [target] = node.targets
        if isinstance(node.value, ast.Call) and self.made_of(node.value.func)[0] in PRODUCTS:
            assert isinstance(target, ast.Name)
            code, dtype = self.product(node.value)
            self.scalars.setdefault(target.id, dtype)
            self.emit(f"{target.id} = {code};")
            self.settled()
            if self.made_of(node.value.func)[0] is phases.pushing:
                _, _, y, _, _, to = node.value.args
                self.touch([to.elts[0].id], [to.elts[1].id, y.id])  # type: ignore[attr-defined]
            return
        self.touch(self.arrays_of(node.value)[0])
        pairs = (
            zip(target.elts, node.value.elts, strict=True) if isinstance(target, ast.Tuple) else [(target, node.value)]
        )  # type: ignore[attr-defined]
        for to, value in list(pairs):
            code, dtype = self.value(value)
            if isinstance(to, ast.Name):
                self.scalars.setdefault(to.id, dtype)
                self.emit(f"{to.id} = {code};")
            else:
                self.touch(self.arrays_of(to)[0], self.arrays_of(to)[1])
                self.emit(f"if (g.first()) {self.target(to)} = {code};")

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        assert isinstance(node.target, ast.Name)
        sign = "-" if isinstance(node.op, ast.Sub) else "+"
        self.touch(self.arrays_of(node.value)[0])
        self.emit(f"{node.target.id} {sign}= {self.value(node.value)[0]};")

    # --- loops over elements ------------------------------------------------------------------------------------------

    def elements(self, node: ast.For, name: str, bound: ast.expr) -> None:
        """Emit a loop whose elements all threads share."""
        stored = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
        outer = [each for each in dict.fromkeys(stored) if each in self.scalars and each not in LOCAL and each != name]
        listed = [each for each in outer if is_counter(node, each)]
        folded = [each for each in outer if each not in listed]
        self.touch(self.arrays_of(bound)[0])
        read, written = self.arrays_of(*node.body)
        self.touch(read, written)
        stop = self.value(bound)[0]
        self.own, self.locals = {name: name}, {name: UNSIGNED}
        if any(each.startswith("k") for each in listed):
            self.taken(node, stop, *listed)
            return
        self.emit("{")
        self.indent += 1
        for each in listed:
            self.emit(f"unsigned long long* const counter_{each} = g.counter();")
        for each in folded:
            self.emit(f"{C_TYPES[self.scalars[each].name]} own_{each} = {each};")
            self.own[each] = f"own_{each}"
        self.emit(f"for (unsigned long long {name} = thread_number(); {name} < {stop}; {name} += thread_count()) {{")
        self.indent += 1
        self.of_element(node.body, set(listed))
        self.indent -= 1
        self.emit("}")
        for each in folded:
            combining = self.combining(node, each)
            self.emit(f"{each} = g.fold(own_{each}, {each}, {combining});")
            if "stopping_sum" in combining:
                self.emit(f"if (size_of({each}) >= {FAR}LL) g.fail();")
            self.settled()
        for each in listed:
            self.barrier()
            self.emit(f"{each} = (long long)now(counter_{each});")
        self.indent -= 1
        self.emit("}")
        self.own, self.locals = {}, {}

    def taken(self, node: ast.For, stop: str, place: str) -> None:
        """Emit a loop that takes elements of a vector for another one, in their order."""
        match node.body:
            case [ast.If(test=test, body=[ast.Assign() as write, ast.AugAssign()], orelse=[])]:
                counted = f"[&](unsigned long long i) {{ return {self.value(test)[0]} ? 1ull : 0ull; }}"
                self.own[place], self.locals[place] = f"at_{place}", UNSIGNED
                written = f"{self.target(write.targets[0])} = {self.value(write.value)[0]};"
                put = f"[&](unsigned long long i, unsigned long long at_{place}) {{ {written} }}"
                self.emit(f"{place} = in_order(g, {stop}, {counted}, {put});")
                self.own, self.locals = {}, {}
                return
        raise Unfit("has a loop over elements that cannot be shared")

    def combining(self, loop: ast.For, name: str) -> str:
        """The text of a function that folds what two threads have for a number."""
        dtype = self.scalars[name]
        kind, a, b = C_TYPES[dtype.name], f"a_{name}", f"b_{name}"
        head = f"[]({kind} {a}, {kind} {b}) -> {kind}"
        for each in ast.walk(loop):
            if isinstance(each, ast.AugAssign) and each.target.id == name:  # type: ignore[attr-defined]
                return f"{head} {{ return stopping_sum({a}, {b}); }}"
            if isinstance(each, ast.Assign) and getattr(each.targets[0], "id", "") == name:
                value = each.value
                if isinstance(value, ast.Constant):
                    return f"{head} {{ return {a} {'||' if value.value else '&&'} {b}; }}"
                saved, self.own = self.own, {name: a}
                if isinstance(value, ast.Call):  # op(name, element)
                    code = f"{value.func.id}({a}, {b})"  # type: ignore[attr-defined]
                else:  # element if element is better else name
                    assert isinstance(value, ast.IfExp) and isinstance(value.body, ast.Name)
                    self.own[value.body.id] = b
                    self.locals[value.body.id] = dtype
                    code = self.value(value)[0]
                self.own = saved
                return f"{head} {{ return {code}; }}"
        raise Unfit("has a loop over elements that cannot be shared")

    def of_element(self, nodes: list[ast.stmt], listed: set[str]) -> None:
        """Emit the statements for one element."""
        for node in nodes:
            match node:
                case ast.Pass():
                    pass
                case ast.Break():
                    self.emit("break;")
                case ast.Return():
                    self.emit("g.fail();")
                    self.emit("break;")
                case ast.If(test=test, body=body, orelse=orelse):
                    self.emit(f"if ({self.value(test)[0]}) {{")
                    for k, branch in enumerate((body, orelse)):
                        if k == 1 and branch:
                            self.emit("} else {")
                        saved, self.own = self.own, dict(self.own)
                        self.indent += 1
                        self.of_element(branch, listed)
                        self.indent -= 1
                        self.own = saved
                    self.emit("}")
                case ast.AugAssign(target=ast.Name(id=name)) if name in listed:
                    pass
                case ast.AugAssign(target=ast.Name(id=name), value=value):
                    own = self.own[name]
                    self.emit(f"{own} = plus({own}, {self.cast(value, self.scalars[name])});")
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                    self.placed(node, listed)
                    codes = [self.value(value) for value in values]
                    for to, (code, _) in zip(targets, codes, strict=True):
                        self.emit(f"{self.target(to)} = {code};")
                case ast.Assign(targets=[target], value=value):
                    self.placed(node, listed)
                    code, dtype = self.value(value)
                    if isinstance(target, ast.Name) and target.id not in self.own:
                        self.own[target.id], self.locals[target.id] = target.id, dtype
                        self.emit(f"const {c_type(dtype)} {target.id} = {code};")
                    else:
                        self.emit(f"{self.target(target)} = {code};")
                case _:
                    raise Unfit(f"has a loop over elements that cannot be shared: {ast.unparse(node)!r}")

    def placed(self, node: ast.stmt, listed: set[str]) -> None:
        """Emit a place in the list that a statement writes to, if it does."""
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id in listed and each.id not in self.own:
                self.own[each.id], self.locals[each.id] = f"at_{each.id}", UNSIGNED
                self.emit(f"const unsigned long long at_{each.id} = place_in(counter_{each.id});")

    def target(self, node: ast.expr) -> str:
        """The text of what is written to."""
        if isinstance(node, ast.Name):
            return self.own.get(node.id, node.id)
        assert isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        return f"{node.value.id}[{self.value(node.slice)[0]}]"

    # --- expressions --------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> tuple[str, np.dtype]:
        """The text of an expression, and its dtype."""
        return getattr(self, f"of_{type(node).__name__}")(node)

    def cast(self, node: ast.expr, dtype: np.dtype) -> str:
        """The text of an expression in a dtype."""
        code, own = self.value(node)
        return code if own == dtype else f"({c_type(dtype)})({code})"

    def of_Constant(self, node: ast.Constant) -> tuple[str, np.dtype]:
        if isinstance(node.value, bool):
            return str(node.value).lower(), BOOL
        if isinstance(node.value, int):
            return f"{node.value}LL", INT64
        return repr(node.value), FLOAT64

    def of_Name(self, node: ast.Name) -> tuple[str, np.dtype]:
        if node.id in self.own:
            dtype = self.locals[node.id] if node.id in self.locals else self.scalars[node.id]
            return self.own[node.id], dtype
        if node.id == "INF":
            return "INF", FLOAT64
        if node.id == "INT64_MIN":
            return "INT64_LEAST", INT64
        return node.id, self.scalars[node.id]

    def of_Subscript(self, node: ast.Subscript) -> tuple[str, np.dtype]:
        assert isinstance(node.value, ast.Name)
        if node.value.id == "exact":
            return "exact", BOOL
        return f"{node.value.id}[{self.value(node.slice)[0]}]", self.arrays[node.value.id]

    def of_UnaryOp(self, node: ast.UnaryOp) -> tuple[str, np.dtype]:
        code, dtype = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return f"(!{code})", BOOL
        if isinstance(node.op, ast.Invert):
            return f"(~{code})", dtype
        return (f"minus(0LL, {code})", INT64) if dtype.kind in "iub" else (f"(-{code})", dtype)

    def of_BinOp(self, node: ast.BinOp) -> tuple[str, np.dtype]:
        dtype = common(self.value(node.left)[1], self.value(node.right)[1])
        dtype = FLOAT64 if isinstance(node.op, ast.Div) and dtype.kind != "f" else dtype
        a, b = self.cast(node.left, dtype), self.cast(node.right, dtype)
        kind = c_type(dtype)
        match node.op:
            case ast.Add() | ast.Sub() | ast.Mult():
                name = {ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times"}[type(node.op)]
                return f"{name}(({kind})({a}), ({kind})({b}))", dtype
            case ast.Div():
                return f"({a} / {b})", dtype
            case ast.FloorDiv():
                return f"floor_of({a}, {b})", dtype
            case ast.Mod():
                return f"rest_of({a}, {b})", dtype
            case ast.BitAnd() | ast.BitOr() | ast.BitXor():
                sign = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}[type(node.op)]
                return f"({a} {sign} {b})", dtype
        raise Unfit(f"has {ast.unparse(node)!r} on a GPU")

    def of_BoolOp(self, node: ast.BoolOp) -> tuple[str, np.dtype]:
        sign = " && " if isinstance(node.op, ast.And) else " || "
        return f"({sign.join(self.value(each)[0] for each in node.values)})", BOOL

    def of_Compare(self, node: ast.Compare) -> tuple[str, np.dtype]:
        parts, found = [node.left, *node.comparators], []
        signs = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
        for op, x, y in zip(node.ops, parts[:-1], parts[1:], strict=True):
            both = self.value(x)[1], self.value(y)[1]
            dtype = BOOL if both == (BOOL, BOOL) else common(*both)
            found.append(f"({self.cast(x, dtype)} {signs[type(op)]} {self.cast(y, dtype)})")
        return " && ".join(found) if len(found) == 1 else f"({' && '.join(found)})", BOOL

    def of_IfExp(self, node: ast.IfExp) -> tuple[str, np.dtype]:
        both = self.value(node.body)[1], self.value(node.orelse)[1]
        dtype = both[0] if both[0] == both[1] else common(*both)
        return f"({self.value(node.test)[0]} ? {self.cast(node.body, dtype)} : {self.cast(node.orelse, dtype)})", dtype

    def of_Call(self, node: ast.Call) -> tuple[str, np.dtype]:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name in CASTS:
            return f"(({CASTS[name]})({self.value(node.args[0])[0]}))", UNSIGNED if name == "uintp" else np.dtype(name)
        if name == "interrupted":
            return "g.interrupted()", BOOL
        if name in ("min", "max"):
            dtype = common(*(self.value(arg)[1] for arg in node.args))
            arguments = ", ".join(f"({c_type(dtype)})({self.value(arg)[0]})" for arg in node.args)
            return f"{'least' if name == 'min' else 'most_of'}({arguments})", dtype
        if name in ("abs", "sqrt"):
            code, dtype = self.value(node.args[0])
            return f"{'size_of' if name == 'abs' else 'sqrt'}({code})", dtype
        maker, *how = self.t.made[name]
        if maker in COLLECTIVE:
            return f"{COLLECTIVE[maker]}(g, {', '.join(self.plain(arg) for arg in node.args)})", BOOL
        if maker is phases.hashed:
            return f"hashed({', '.join(self.cast(arg, INT64) for arg in node.args)})", INT64
        op, dtype = how
        arguments = ", ".join(self.value(arg)[0] for arg in node.args)
        return f"{name}({arguments})", BOOL if op.boolean else dtype

    # --- the whole ----------------------------------------------------------------------------------------------------

    def unit(self, matrices: dict[str, tuple[np.dtype, np.dtype]]) -> str:
        """The text of the program's own functions and of its kernel; matrices: dtypes of row ends and of indices."""
        definitions = [definition(name, *how) for name, how in self.t.made.items()]
        takes = [f"{kind} {name}" for name, kind in self.parameters]
        head = []
        for name, dtype in self.matrices.items():
            ends, indices = (C_TYPES[each.name] for each in matrices[name])
            kind = f"Matrix<{ends}, {indices}, {C_TYPES[dtype.name]}>"
            takes += [f"const {ends}* {name}_p", f"const {indices}* {name}_j", f"const {C_TYPES[dtype.name]}* {name}_v"]
            takes.append(f"long long {name}_step")
            head.append(f"    const {kind} {name}{{{name}_p, {name}_j, {name}_v, {name}_step}};")
        given = {name for name, _ in self.parameters}
        own = [(name, dtype) for name, dtype in self.scalars.items() if name not in given]
        head += [f"    [[maybe_unused]] {C_TYPES[dtype.name]} {name} = 0;" for name, dtype in own]
        control = (
            "ProgramControl* control, const int* asked, unsigned int* hubs, long long most, unsigned long long* places"
        )
        start = "    Grid g{control, asked, hubs, most, 0, 0, 0};"
        kernel = f'extern "C" __global__ void __launch_bounds__(THREADS, 1) program({", ".join((control, *takes))}) {{'
        told = "".join(f"places[{k}] = (unsigned long long){name}; " for k, name in enumerate(self.exchanged))
        leave = f"#define LEAVE(number) {{ if (g.first()) {{ {told}}} g.leave(number); return; }}"
        return "\n".join((*definitions, leave, kernel, start, *head, *self.lines, "}", ""))


PRODUCTS = phases.pushing, phases.summing, phases.uniting


def is_counter(loop: ast.For, name: str) -> bool:
    """True for a number that says where a loop writes next."""
    indices = [
        each.slice for each in ast.walk(loop) if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store)
    ]
    return any(isinstance(each, ast.Name) and each.id == name for index in indices for each in ast.walk(index))


def c_type(dtype: np.dtype) -> str:
    return "unsigned long long" if dtype == UNSIGNED else C_TYPES[dtype.name]


def common(*dtypes: np.dtype) -> np.dtype:
    """The dtype in which the compiled function computes with values of these."""
    floats = [dtype for dtype in dtypes if dtype.kind == "f"]
    if not floats:
        return INT64
    return floats[0] if len(set(dtypes)) == 1 else FLOAT64


def definition(name: str, maker: Any, *how: Any) -> str:
    """The CUDA text of something that a program calls."""
    if maker is phases.function_of:
        op, dtype = how
        return function_text(name, op, dtype)
    if maker is phases.uniting:
        op, dtype, zero, drops, keeps = how
        kind = C_TYPES[dtype.name]
        flags = f"static constexpr bool DROPS = {str(drops).lower()}, KEEPS = {str(bool(keeps)).lower()};"
        combined = (
            f"static __device__ __forceinline__ {kind} combined({kind} a, {kind} b) {{ return {name}_op(a, b); }}"
        )
        absent = f"static __device__ __forceinline__ {kind} zero() {{ return {c_literal(dtype.type(zero), dtype)}; }}"
        return f"{function_text(f'{name}_op', op, dtype)}struct {name} {{ using T = {kind}; {flags} {combined} {absent} }};\n"
    if maker in (phases.pushing, phases.summing, phases.gathering):
        semiring, dtype, matrix_first = how[:3]
        text = algebra_text(name, semiring, dtype, matrix_first)
        if maker is phases.pushing and how[4] is not None:
            kind = C_TYPES[dtype.name]
            holds = (
                f"static __device__ __forceinline__ bool holds({kind} a, {kind} b) {{ return {name}_compare(a, b); }}"
            )
            text += f"{function_text(f'{name}_compare', how[4], dtype)}struct {name}_better {{ {holds} }};\n"
        return text
    return ""


def function_text(name: str, op: BinaryOp, dtype: np.dtype) -> str:
    """An operator on two values, as `phases.function_of` makes it."""
    kind = C_TYPES[dtype.name]
    wide = "long long" if dtype == np.int32 else kind
    body = f"({op.expression(dtype)})" if op.boolean else expression(op, dtype)
    result = "bool" if op.boolean else kind
    function = f"__device__ __forceinline__ {result} {name}({wide} a, {wide} b) {{ return {body}; }}"
    return f"namespace of_{name} {{\nusing T = {kind};\n{function}\n}}\nusing of_{name}::{name};\n"


ALGEBRA = """\
struct {name} {{
    using T = of_{name}::T;
    static __device__ __forceinline__ T zero() {{ return ZERO; }}
    static __device__ __forceinline__ T product_of(T a, T x) {{ return of_{name}::product(a, x); }}
    static __device__ __forceinline__ T sum_of(T a, T b) {{ return of_{name}::add(a, b); }}
    static __device__ __forceinline__ T update(T* address, T value) {{ return of_{name}::atomic_update(address, value); }}
{exact}}};
#undef ZERO
#undef EMPTY
"""
EXACT = """\
    static __device__ __forceinline__ T put(T* address, T value) {{
        return (T)atomicAdd(reinterpret_cast<{unsigned}*>(address), ({unsigned})value);
    }}
    static __device__ __forceinline__ T exactly(T a, T b) {{ return (T)(({unsigned})a + ({unsigned})b); }}
    static __device__ __forceinline__ bool inside(T t) {{ return {low} < t && t < {high}; }}
    static __device__ __forceinline__ bool inside(T a, T b) {{ return inside(exactly(a, b)) && stopping_sum(a, b) == exactly(a, b); }}
"""


def algebra_text(name: str, semiring: Any, dtype: np.dtype, matrix_first: bool) -> str:
    """A semiring's functions in a namespace of their own."""
    if not semiring.add.idempotent and dtype.kind != "i":
        raise Unfit("adds up what are no integers on a GPU")
    exact = ""
    unsigned = {"int32": "unsigned int", "int64": "unsigned long long"}.get(dtype.name)
    if unsigned and not semiring.add.idempotent and not counts(semiring, dtype):
        ends = np.iinfo(dtype)
        exact = EXACT.format(unsigned=unsigned, low=c_literal(dtype.type(ends.min), dtype), high=f"{ends.max}LL")
    else:
        exact = "    static __device__ __forceinline__ T exactly(T a, T b) { return sum_of(a, b); }\n    static __device__ __forceinline__ bool inside(T) { return true; }\n    static __device__ __forceinline__ bool inside(T, T) { return true; }\n"
    return f"namespace of_{name} {{\n{prelude(semiring, dtype, INT64, matrix_first)}\n}}\n{ALGEBRA.format(name=name, exact=exact)}"
