"""Programs on a GPU: a loop's text becomes one persistent kernel, of the parts that `semiring/cuda/programs.cu` has.

The text that the translator writes says what is done one element after another. Its loops over elements are all of a
few forms, in which elements do not depend on each other: writes to places of their own, entries that are put into a
list, and folds to a number. So here they are dealt out to all threads; the statements around them are run by every
thread alike. A barrier of the grid stands before what reads or writes an array that another statement has written since
the last one. An innermost loop over lists is run by the first block alone as long as these are short.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..algebra.codegen import C_TYPES
from . import phases
from .cuda_algebra import definition
from .cuda_expressions import COLLECTIVE, UNSIGNED, Expressions, c_type
from .device import DeviceTranslator
from .translator import CAPACITY
from .values import BOOL, FLOAT64, INT64, Unfit
from .verbs import FAR

LOCAL = {"i", "w"}
"""Names that each element has for itself, beside those that begin with x."""
POINTERS = {"array", "indices", "values", "given", "given indices", "given values", "scratch", "found", "degrees"}
"""Parameters that are arrays, by the words of the translator."""
MADE_HERE = {"gate", "exact", "levels", "sums"}
"""Parameters of loops on the CPU alone."""
RESULTS = {"integers", "floats", "exact"}
"""Arrays whose elements are written once, and not read; and a number that the kernel has for an array."""
PRODUCTS = phases.pushing, phases.summing, phases.uniting
MOST_SAVED = 250
"""Numbers and places that the first block can hand over (programs.cu)."""
KERNEL = """\
extern "C" __global__ void __launch_bounds__(THREADS, 1) program(ProgramControl* control, const int* asked,
    unsigned int* hubs, long long most, unsigned long long* places, {takes}) {{
    Grid g{{control, asked, hubs, most, 0, 0, 0, 0, false}};
{body}
}}
"""


class KernelText(Expressions):
    """The CUDA text of a program.

    t: what has written the text.  matrices: the dtype of each matrix's values, by its parameter.
    """

    def __init__(self, t: DeviceTranslator, text: str) -> None:
        super().__init__(t.made)
        self.t = t
        [program] = ast.parse(text).body
        assert isinstance(program, ast.FunctionDef)
        self.parameters: list[tuple[str, str]] = []
        calls = (node for node in ast.walk(program) if isinstance(node, ast.Call))
        exchanges = (node for node in calls if named(node.func) == "exchange")
        self.exchanged = list(dict.fromkeys(node.args[0].id for node in exchanges))  # type: ignore[attr-defined]
        """Vectors of variables whose places are exchanged: the host is told where they are in the end."""
        for name, told in t.parameters.items():
            self.take_parameter(name, told)
        self.lines: list[str] = []
        self.indent = 1
        self.read: set[str] = set()
        self.written: set[str] = set()
        self.leaves: list[list[tuple[set[str], set[str]]]] = []
        self.handovers: list[tuple[list[str], list[str]]] = []
        """Numbers, and places of vectors, that loops change and hand over."""
        self.place = ""
        """The number that says where the next element is written, while it is asked for which elements that is."""
        self.statements(program.body)

    def take_parameter(self, name: str, told: tuple[Any, ...]) -> None:
        """Note a parameter's type."""
        kind, dtypes = told[0], [x for x in told[1:] if isinstance(x, np.dtype)]
        inputs = self.t.inputs
        if kind == "matrix":
            self.matrices[name] = told[3]
            return
        if kind in ("indices", "given indices"):
            dtype = inputs[CAPACITY].value
        elif kind == "found":
            dtype = FLOAT64 if told[1] else INT64
        elif kind == "degrees":
            dtype = INT64
        elif kind in ("given", "given values", "number"):
            dtype = inputs[told[1]].dtype
        else:
            dtype = dtypes[-1] if dtypes else INT64
        if kind in POINTERS:
            self.arrays[name] = dtype
            constant = "const " if kind.startswith("given") or kind == "degrees" else ""
            self.parameters.append((name, f"{constant}{C_TYPES[dtype.name]}*"))
        elif kind in ("flags", "words"):
            self.arrays[name] = UNSIGNED
            self.parameters.append((name, "unsigned int*"))
        elif kind not in MADE_HERE:
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
        read, written = set[str](), set[str]()
        for each in (inner for node in nodes for inner in ast.walk(node)):
            if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name):
                if each.value.id in RESULTS:
                    continue
                (written if isinstance(each.ctx, ast.Store) else read).add(each.value.id)
            elif isinstance(each, ast.Call) and self.made_of(each.func)[0] in COLLECTIVE:
                read.add(each.args[0].id)  # type: ignore[attr-defined]
        return read, written

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
        short, number = self.short_lists(node), len(self.handovers)
        calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
        moved = [arg.id for each in calls if named(each.func) == "exchange" for arg in each.args]  # type: ignore[attr-defined]
        stored = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        if not short or len(stored) + len(moved) > MOST_SAVED:
            self.loop("while (true) {", node.body, [])
            return
        self.handovers.append((sorted(stored), sorted(set(moved))))
        self.loop("while (true) {", node.body, self.alone(short, number))
        self.emit("if (g.alone) {")
        self.emit(f"    SAVE_{number}")
        self.emit("    g.joins(ENDED);")
        self.emit("}")

    def do_For(self, node: ast.For) -> None:
        assert isinstance(node.target, ast.Name)
        assert isinstance(node.iter, ast.Call)
        if is_over_elements(node):
            self.elements(node, node.target.id, node.iter.args[0])
            return
        name, bounds = node.target.id, [self.value(arg)[0] for arg in node.iter.args]
        first, stop, step = ["0LL", *bounds, "1LL"] if len(bounds) == 1 else [*bounds, "1LL"][:3]
        self.scalars[name] = INT64
        self.emit(f"const long long first_{name} = {first}, stop_{name} = {stop}, step_{name} = {step};")
        within = f"step_{name} > 0 ? r_{name} < stop_{name} : r_{name} > stop_{name}"
        head = f"for (long long r_{name} = first_{name}; {within}; r_{name} += step_{name}) {{"
        self.loop(head, node.body, [f"{name} = r_{name};"])

    def loop(self, head: str, body: list[ast.stmt], begin: list[str]) -> None:
        """Emit a loop that all threads run."""
        self.flush()
        self.emit(head)
        self.leaves.append([])
        self.indent += 1
        for line in begin:
            self.emit(line)
        self.statements(body)
        self.flush()
        self.indent -= 1
        self.emit("}")
        for read, written in self.leaves.pop():
            self.read |= read
            self.written |= written

    def short_lists(self, loop: ast.While) -> str:
        """The text of a test that an innermost loop's lists are short; "" for a loop over something else."""
        nodes = list(ast.walk(loop))
        inner = [each for each in nodes if isinstance(each, ast.For | ast.While)][1:]
        bounds = [each.iter.args[0] for each in inner if is_over_elements(each)]  # type: ignore[union-attr]
        names = {each.id for bound in bounds for each in ast.walk(bound) if isinstance(each, ast.Name)} - {"uintp"}
        lengths = {each.id for each in nodes if isinstance(each, ast.Name) and self.is_length(each.id)}
        made = {self.made_of(each.func)[0] for each in nodes if isinstance(each, ast.Call)}
        vectors = sorted(name for name in lengths if name.startswith("v_"))
        if len(bounds) < len(inner) or not names <= lengths or made & {phases.gathering, phases.ordered}:
            return ""
        return f"{' + '.join(vectors)} <= MAX_ENTRIES_ALONE" if vectors else ""

    def is_length(self, name: str) -> bool:
        """True for the length of a list."""
        type_ = self.t.plan.types.get(name[2:-2])
        return name.endswith("_n") and (name.startswith("l") or (type_ is not None and type_.kind == "sparse"))

    def alone(self, short: str, number: int) -> list[str]:
        """The statements at the top of a loop that the first block may run alone."""
        return [
            f"if (({short}) != g.alone) {{",
            "    if (g.alone) {",
            f"        SAVE_{number}",
            "        g.joins(GOES_ON);",
            "    } else if (!g.goes_alone()) {",
            f"        TAKE_{number}",
            "        if (g.ending() == LEFT) return;",
            "        if (g.ending() == ENDED) break;",
            "    }",
            "}",
        ]

    def do_Expr(self, node: ast.Expr) -> None:
        call = node.value
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
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
        return str(bool(self.made[name][4])).lower()

    def sums(self, name: str) -> str:
        semiring, dtype = self.made[name][1:3]
        return str(not semiring.add.idempotent and dtype.kind == "i").lower()

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
        better = f"{name}_better" if self.made[name][5] is not None else "AllTerms"
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
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        for to, value in pairs:
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
        if listed:
            self.listing(node, name, stop, *listed)
        else:
            self.sharing(node, name, stop, folded)
        self.own, self.locals = {}, {}

    def sharing(self, node: ast.For, name: str, stop: str, folded: list[str]) -> None:
        """Emit a loop that writes each element to a place of its own, or folds them to numbers."""
        self.emit("{")
        self.indent += 1
        for each in folded:
            self.emit(f"{C_TYPES[self.scalars[each].name]} own_{each} = {each};")
            self.own[each] = f"own_{each}"
        self.emit(f"for (unsigned long long {name} = g.thread(); {name} < {stop}; {name} += g.threads()) {{")
        self.indent += 1
        self.of_element(node.body)
        self.indent -= 1
        self.emit("}")
        for each in folded:
            combining = self.combining(node, each)
            self.emit(f"{each} = g.fold(own_{each}, {each}, {combining});")
            if "stopping_sum" in combining:
                self.emit(f"if (size_of({each}) >= {FAR}LL) g.fail();")
            self.settled()
        self.indent -= 1
        self.emit("}")

    def listing(self, node: ast.For, name: str, stop: str, place: str, *others: str) -> None:
        """Emit a loop that writes some elements one behind the other: to a list, or in their order to a dense vector.

        Its body is written twice: once to say which elements, and once to write them.
        """
        if others:
            raise Unfit("has a loop over elements that cannot be shared")
        self.emit(f"{place} = {'in_order' if place.startswith('k') else 'list_where'}(g, {stop},")
        self.indent += 1
        for self.place, head, end in (
            (place, f"[&](unsigned long long {name}) -> bool {{", ["    return false;", "},"]),
            ("", f"[&](unsigned long long {name}, unsigned long long at_{place}) {{", ["});"]),
        ):
            self.own, self.locals = {name: name}, {name: UNSIGNED, place: UNSIGNED}
            if not self.place:
                self.own[place] = f"at_{place}"
            self.emit(head)
            self.indent += 1
            self.of_element(node.body)
            self.indent -= 1
            for line in end:
                self.emit(line)
        self.indent -= 1
        if not place.startswith("k"):
            self.settled()

    def combining(self, loop: ast.For, name: str) -> str:
        """The text of a function that folds what two threads have for a number."""
        dtype = self.scalars[name]
        kind, a, b = C_TYPES[dtype.name], f"a_{name}", f"b_{name}"
        head = f"[]({kind} {a}, {kind} {b}) -> {kind}"
        for each in ast.walk(loop):
            if isinstance(each, ast.AugAssign) and named(each.target) == name:
                return f"{head} {{ return stopping_sum({a}, {b}); }}"
            if isinstance(each, ast.Assign) and named(each.targets[0]) == name:
                value = each.value
                if isinstance(value, ast.Constant):
                    return f"{head} {{ return {a} {'||' if value.value else '&&'} {b}; }}"
                saved, self.own = self.own, {name: a}
                if isinstance(value, ast.Call):  # op(name, element)
                    code = f"{ast.unparse(value.func)}({a}, {b})"
                else:  # element if element is better else name
                    assert isinstance(value, ast.IfExp)
                    assert isinstance(value.body, ast.Name)
                    self.own[value.body.id] = b
                    self.locals[value.body.id] = dtype
                    code = self.value(value)[0]
                self.own = saved
                return f"{head} {{ return {code}; }}"
        raise Unfit("has a loop over elements that cannot be shared")

    def of_element(self, nodes: list[ast.stmt]) -> None:
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
                        self.of_element(branch)
                        self.indent -= 1
                        self.own = saved
                    self.emit("}")
                case ast.AugAssign(target=ast.Name(id=name)) if name not in self.own or self.own[name] == f"at_{name}":
                    pass
                case ast.Assign(targets=[target]) if self.place and mentions(target, self.place):
                    self.emit("return true;")
                case ast.AugAssign(target=ast.Name(id=name), value=value):
                    own = self.own[name]
                    self.emit(f"{own} = plus({own}, {self.cast(value, self.scalars[name])});")
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                    codes = [self.value(value) for value in values]
                    for to, (code, _) in zip(targets, codes, strict=True):
                        self.emit(f"{self.target(to)} = {code};")
                case ast.Assign(targets=[target], value=value):
                    code, dtype = self.value(value)
                    if isinstance(target, ast.Name) and target.id not in self.own:
                        self.own[target.id], self.locals[target.id] = target.id, dtype
                        self.emit(f"const {c_type(dtype)} {target.id} = {code};")
                    else:
                        self.emit(f"{self.target(target)} = {code};")
                case _:
                    raise Unfit(f"has a loop over elements that cannot be shared: {ast.unparse(node)!r}")

    def target(self, node: ast.expr) -> str:
        """The text of what is written to."""
        if isinstance(node, ast.Name):
            return self.own.get(node.id, node.id)
        assert isinstance(node, ast.Subscript)
        assert isinstance(node.value, ast.Name)
        return f"{node.value.id}[{self.value(node.slice)[0]}]"

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
        told = "".join(f"places[{k}] = (unsigned long long){name}; " for k, name in enumerate(self.exchanged))
        end = "g.leave(number); if (g.alone) g.joins(LEFT); return;"
        leave = f"#define LEAVE(number) {{ if (g.first()) {{ {told}}} {end} }}"
        body = "\n".join((*head, *self.lines))
        kernel = KERNEL.format(takes=", ".join(takes), body=body)
        return "\n".join((*definitions, *self.handover_texts(), leave, kernel))

    def handover_texts(self) -> Iterable[str]:
        """Yields the text of what saves, and of what takes, the numbers and places that a loop hands over."""
        for number, (stored, moved) in enumerate(self.handovers):
            kinds = {name: c_type(self.scalars[name]) for name in stored if name in self.scalars}
            kinds |= {name: f"{C_TYPES[self.arrays[name].name]}*" for name in moved}
            saved = " ".join(f"to[{k}] = to_word({name});" for k, name in enumerate(kinds))
            taken = " ".join(
                f"{name} = of_word<{kind}>(now(from + {k}));" for k, (name, kind) in enumerate(kinds.items())
            )
            yield f"#define SAVE_{number} if (threadIdx.x == 0) {{ auto* const to = g.hand_over(); {saved} }}"
            yield f"#define TAKE_{number} {{ auto* const from = g.handed_over(); {taken} }}"


def named(node: ast.AST) -> str:
    """The name that a node is; "" if it is none."""
    return node.id if isinstance(node, ast.Name) else ""


def is_over_elements(loop: ast.AST) -> bool:
    """True for a loop whose elements are dealt out."""
    return isinstance(loop, ast.For) and named(loop.target) in ("i", "q")


def is_counter(loop: ast.For, name: str) -> bool:
    """True for a number that says where a loop writes next."""
    writes = (each for each in ast.walk(loop) if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store))
    return any(mentions(write.slice, name) for write in writes)


def mentions(node: ast.AST, name: str) -> bool:
    """True if a name is in an expression."""
    return any(named(each) == name for each in ast.walk(node))
