"""Monotone fixpoints among the loops of programs, recognised by their form, and relaxed in any order.

    while f:  t = f A    f' = t⟨t ⊕ d ≠ d⟩    d = d ⊕ f'            the least d ⊒ d₀ with d = d ⊕ d A

Where ⊕ selects, ⊗ distributes and no path gains by length, whatever order the improvements are made in ends at the
same d, to the last bit. So the loop's rounds need not be those that are written. Names, the order of statements and the
test of the loop do not matter; what the statements compute of the values before a round does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import numpy as np

from formats import Matrix, SparseVector
from formats.arrays import Array, all_of, is_array, namespace, place_of
from formats.storage.orientation import compressed

from .. import vectors
from ..algebra.ops import BinaryOp
from ..algebra.predicates import better, find_comparison, no_worse
from ..algebra.semirings import AnyPair, LorLand, Semiring, find_combiner, find_semiring
from ..cpu.ranges import holds_zero
from ..kernels.interrupts import MIN_INTERRUPTIBLE_NNZ, interruptible
from ..verbs import verbs
from ..verbs.operands import typed_matrix

SCHEDULES = "algorithms.fused.schedules"
"""The module whose `relaxed` runs such loops, which is imported when the first of them runs."""

PARAMETERS: dict[Any, tuple[str, ...]] = {
    verbs.vxm: ("x", "A", "semiring"),
    verbs.mxv: ("A", "x", "semiring"),
    verbs.select: ("u", "predicate", "other"),
    verbs.ewise_add: ("u", "v", "op"),
}
"""The parameters of verbs that may be passed by name."""

Term = tuple[Any, ...]
"""The type of what a statement computes.

("start", name), ("product", f, A, s), ("better", t, d, s), ("sum", d, t, s) and so on."""


@dataclass(frozen=True)
class Fixpoint:
    """A loop that is a fixpoint: the names of its distances, its frontier, its matrix and its semiring.

    in_place: the distances are written where they are.  bound: the expression of the number of rounds, if there is one.
    limit: that of the distance up to which vertices are reached.  mask: that of the vertices whose distances may
    improve, if not all may.
    """

    distances: str
    frontier: str
    matrix: str
    semiring: Semiring
    matrix_first: bool
    in_place: bool
    bound: ast.expr | None
    limit: str = ""
    mask: str = ""

    @property
    def told(self) -> str:
        return f"compiled: a fixpoint of {self.semiring.name} in {self.distances}, relaxed in any order"

    def run(self, values: dict[str, Any]) -> dict[str, Any] | None:
        """The values of names after the loop; None if its vectors are not those of a fixpoint's start."""
        d: Any = values.get(self.distances)
        f: Any = values.get(self.frontier)
        A = evaluated(ast.parse(self.matrix, mode="eval").body, values)
        s = self.semiring
        if not isinstance(f, SparseVector) or not is_array(d) or not isinstance(A, Matrix):
            return None
        if A.nrows != A.ncols or d.shape != (A.nrows,) or f.size != d.size or d.dtype not in s.dtypes:
            return None
        if d.dtype != f.dtype or np.result_type(A.dtype, d.dtype) != d.dtype:
            return None
        if self.bound is not None and not evaluated(self.bound, values) >= A.nrows:
            return None
        if (self.in_place and not is_writeable(d)) or not beside(d, f.values) or A.place.on_host != f.place.on_host:
            return None
        if bool((d.take(f.indices) != f.values).any()):
            return None
        whole = not (A.in_parts or A.streams)
        if not whole and (self.matrix_first or A.dtype != d.dtype):
            return None
        A = typed_matrix(A.T if self.matrix_first else A, s, d.dtype) if whole else A
        relaxed: Callable[..., Any] = import_module(SCHEDULES).relaxed
        limit = s.zero(d.dtype)
        if self.limit:
            given = values.get(self.limit)
            if type(given) not in (int, float, d.dtype.type) or d.dtype.type(given) != given or given != given:
                return None
            limit = d.dtype.type(given)
        start, allowed, closed = d, cast(Any, values.get(self.mask)), False
        if self.mask:
            if not is_vector(allowed, d.size, "b", False) or not beside(d, allowed) or s.add.name not in ("min", "max"):
                return None
            if not bool(allowed.take(f.indices).all()):
                return None
            closed = not bool(allowed.all())
        if closed:
            ends = (-np.inf, np.inf) if d.dtype.kind == "f" else (np.iinfo(d.dtype).min, np.iinfo(d.dtype).max)
            start = namespace(d).where(allowed, d, d.dtype.type(ends[s.add.name == "max"]))  # which nothing improves
        waits = A.nnz >= MIN_INTERRUPTIBLE_NNZ and A.place.on_host
        found = interruptible(lambda: relaxed(A, start, f.indices, s, limit), waits)
        if found is None:
            return None
        if closed:
            found = namespace(d).where(allowed, found, d)
        if self.in_place:
            namespace(d).copyto(d, found)
            found = d
        return {self.distances: found, self.frontier: emptied(f, f.dtype), "exit": None}


@dataclass(frozen=True)
class LevelSearch:
    """A loop that is a breadth-first search: the names of its frontier, visited vertices, levels and counter.

    ahead: vertices are marked as they are found; else as they are searched from.  late: by how many rounds the counter
    is ahead of the level that it gives.
    """

    frontier: str
    visited: str
    matrix: str
    semiring: Semiring
    matrix_first: bool
    ahead: bool
    levels: str = ""
    counter: str = ""
    late: int = 0

    @property
    def told(self) -> str:
        return f"compiled: a breadth-first search, with {self.visited} for what is visited"

    def run(self, values: dict[str, Any]) -> dict[str, Any] | None:
        """The values of names after the loop; None if its vectors are not those of a search's start."""
        f, visited, level = (cast(Any, values.get(name)) for name in (self.frontier, self.visited, self.levels))
        A = evaluated(ast.parse(self.matrix, mode="eval").body, values)
        if not isinstance(A, Matrix) or A.nrows != A.ncols or not isinstance(f, SparseVector) or f.nnz != 1:
            return None
        if not is_vector(visited, A.nrows, "b") or f.size != A.nrows or not f.values[0]:
            return None
        dtype = np.result_type(A.dtype, f.dtype) if self.semiring == AnyPair else f.dtype
        if dtype not in self.semiring.dtypes or not beside(visited, f.values) or A.place.on_host != f.place.on_host:
            return None
        if self.semiring == LorLand and A.dtype == bool and stores_false(A):
            return None  # which is no edge for a product, and one for a search
        source, first = int(f.indices[0]), values.get(self.counter, 0)
        if visited[source] != self.ahead or type(first) is not int:
            return None
        if self.matrix_first and (A.in_parts or A.streams):
            return None
        if self.levels:
            if not is_vector(level, A.nrows, "i") or not beside(level, visited):
                return None
            if namespace(level).may_share_memory(level, visited):
                return None
        A = A.T if self.matrix_first else A
        outside = None
        if int(visited.sum()) > self.ahead:  # others than the source
            outside = visited.copy()
            outside[source] = False
        found = import_module(SCHEDULES).searched(A, source, outside)
        reached = found >= self.ahead
        visited |= reached
        if self.levels:
            namespace(level).copyto(level, found + (first + self.late), where=reached, casting="unsafe")
        rounds = {self.counter: first + int(found.max()) + 1} if self.counter else {}
        return {self.frontier: emptied(f, dtype), "exit": None, **rounds}


def is_vector(x: Any, size: int, kind: str, writeable: bool = True) -> bool:
    """True for an array of one dimension, of that size and kind of dtype, that may be written if asked for."""
    return is_array(x) and x.shape == (size,) and x.dtype.kind == kind and (not writeable or is_writeable(x))


def stores_false(A: Matrix) -> bool:
    """True if a matrix of Booleans may store a False."""
    if A.place.on_host:
        return holds_zero(A, False)
    return A.in_parts or A.streams or not all_of(compressed(A, 0).values)


def is_writeable(x: Array) -> bool:
    """True for an array that may be written, as all of a GPU may."""
    return not isinstance(x, np.ndarray) or x.flags.writeable


def beside(x: Array, y: Array) -> bool:
    """True if both arrays are on the host, or on the same GPU."""
    return place_of(x) == place_of(y)


def emptied(f: SparseVector, dtype: np.dtype) -> SparseVector:
    """A vector without entries of the same size, in the same place."""
    return SparseVector.trusted(f.indices[:0].copy(), f.values[:0].astype(dtype), f.size)


def evaluated(node: ast.expr, values: dict[str, Any]) -> Any:
    """The value of a name, or of an attribute of one, before the loop."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(evaluated(node.value, values), node.attr, None)
    return node.value if isinstance(node, ast.Constant) else None


def recognised(
    loop: ast.stmt, values: dict[str, Any], assigned: set[str], wanted: set[str]
) -> Fixpoint | LevelSearch | None:
    """The fixpoint or the search that a loop is; None for another loop."""
    try:
        return Reader(values, assigned).read(loop, wanted)
    except Other:
        return None


def names_of(text: str) -> set[str]:
    """The names in an expression."""
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


class Other(Exception):
    """The loop is no fixpoint."""


class Reader:
    """Reads what one round computes of the values before it."""

    def __init__(self, values: dict[str, Any], assigned: set[str]) -> None:
        self.values, self.assigned = values, assigned
        self.terms: dict[str, Term] = {}
        self.changed: set[str] = set()
        self.tests: list[str] = []
        self.masks: set[str] = set()
        """The masks of products, "" for none."""

    def read(self, loop: Any, wanted: set[str]) -> Fixpoint | LevelSearch:
        """The fixpoint or search of a loop; Other if it is none."""
        body, bound = list(loop.body), None
        if loop.orelse:
            raise Other
        if isinstance(loop, ast.While):
            if not (isinstance(loop.test, ast.Constant) and loop.test.value is True):
                self.tests.append(self.tested(loop.test))
        elif isinstance(loop.iter, ast.Call) and self.known(loop.iter.func) is range and len(loop.iter.args) == 1:
            bound = loop.iter.args[0]
            if not isinstance(loop.target, ast.Name) or loop.target.id in wanted:
                raise Other
        else:
            raise Other
        for statement in body:
            self.statement(statement)
        if len(set(self.tests)) != 1:
            raise Other
        [frontier] = set(self.tests)
        if self.terms.get(frontier, ("start",))[0] == "unvisited" and bound is None:
            return self.level_search(frontier, wanted)
        return self.fixpoint(frontier, wanted, bound)

    def level_search(self, frontier: str, wanted: set[str]) -> LevelSearch:
        """Look whether the round is that of a search by levels."""
        step = self.terms[frontier]
        _, f, mask, A, matrix_first, semiring = step
        match mask:
            case ("marked", ("start", visited), ("start", name)) if name == frontier:
                ahead = False
            case ("start", visited):
                ahead = True
            case _:
                raise Other
        put = step if ahead else f
        if f != ("start", frontier) or self.terms.get(visited) != ("marked", ("start", visited), put):
            raise Other
        levels = counter = ""
        late = 0
        for name, term in self.terms.items():
            match term:
                case ("put", ("start", own), where, ("start" | "next", count) as at) if own == name and where == put:
                    if levels or (counter and counter != count):
                        raise Other
                    levels, counter, late = name, count, (at[0] == "next") - ahead
                case ("next", own) if own == name and counter in ("", name):
                    counter = name
                case _ if name not in (frontier, visited):
                    raise Other
        if counter and self.terms.get(counter) != ("next", counter):
            raise Other
        if {visited, levels, counter, frontier} & names_of(A):
            raise Other
        return LevelSearch(frontier, visited, A, semiring, matrix_first, ahead, levels, counter, late)

    def fixpoint(self, frontier: str, wanted: set[str], bound: ast.expr | None) -> Fixpoint:
        """Look whether the round is that of a fixpoint."""
        match self.terms.get(frontier):
            case ("better", ("product", ("start", f), A, s, matrix_first) as t, ("start", d), own):
                limit = ""
            case ("within", ("better", ("product", ("start", f), A, s, matrix_first), ("start", d), own) as t, limit):
                t = self.terms[frontier]
            case _:
                raise Other
        new = self.terms[frontier]
        sums = [("sum", ("start", d), term, s.add) for term in (new, t)]
        if f != frontier or own != s or self.terms.get(d) not in sums or {f, d} & names_of(A):
            raise Other
        [mask, *more] = self.masks
        if more or mask in self.assigned or mask in self.terms:
            raise Other
        others = {name for name in self.assigned if name not in (d, frontier)}
        if others & wanted or any(("start", name) in spread(self.terms.values()) for name in others):
            raise Other
        return Fixpoint(d, frontier, A, s, matrix_first, d in self.changed, bound, limit, mask)

    def known(self, node: ast.expr) -> Any:
        """The object that a name stands for which the loop does not assign."""
        if isinstance(node, ast.Name) and node.id in self.assigned:
            raise Other
        if isinstance(node, ast.Call):
            function, arguments = self.known(node.func), [self.known(argument) for argument in node.args]
            if (function is not better and function is not no_worse) or node.keywords:
                raise Other
            return function(*arguments)
        if not isinstance(node, ast.Name | ast.Attribute | ast.Constant):
            raise Other
        return evaluated(node, self.values)

    def tested(self, node: ast.expr) -> str:
        """The vector that a condition says is not empty."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.empty(operand)
            case ast.Attribute(value=ast.Name(id=name), attr="nnz"):
                return name
            case ast.Compare(left=left, ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=0)]):
                return self.tested(left)
            case ast.Call(func=func, args=[ast.Name(id=name)], keywords=[]) if self.known(func) is vectors.nvals:
                return name
        raise Other

    def empty(self, node: ast.expr) -> str:
        """The vector that a condition says is empty."""
        match node:
            case ast.Call(func=func, args=[ast.Name(id=name)], keywords=[]) if self.known(func) is vectors.is_empty:
                return name
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.tested(operand)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
                return self.tested(left)
        raise Other

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.terms[name] = self.term(value)
            case ast.Expr(value=ast.Call() as call):
                self.term(call)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Constant(value=1)):
                if name in self.terms:
                    raise Other
                self.terms[name] = ("next", name)
            case ast.If(test=test, body=[ast.Break()], orelse=[]):
                name = self.empty(test)
                if self.terms.get(name, ("start",))[0] not in ("start", "better", "within", "unvisited"):
                    raise Other
                self.tests.append(name)
            case _:
                raise Other

    def term(self, node: ast.expr) -> Term:
        """The term of an expression."""
        if isinstance(node, ast.Name):
            if node.id not in self.assigned and node.id not in self.values:
                raise Other
            return self.terms.get(node.id, ("start", node.id))
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            raise Other
        function, keywords = self.known(node.func), {each.arg: each.value for each in node.keywords}
        out = keywords.pop("out", None)
        if function is vectors.scatter and not keywords and out is None:
            return self.scattered(*node.args)
        mask = keywords.pop("mask", None)
        complement = keywords.pop("complement", None)
        if not keywords.keys() <= {*PARAMETERS.get(function, ())} or (
            out is not None and function is not verbs.ewise_add
        ):
            raise Other
        if isinstance(complement, ast.Constant) and complement.value is True:
            if mask is None:
                raise Other
            return self.unvisited(function, [*node.args, *keywords.values()], mask)
        if complement is not None or (mask is not None and not isinstance(mask, ast.Name)):
            raise Other
        if function in (verbs.vxm, verbs.mxv):
            self.masks.add(mask.id if isinstance(mask, ast.Name) else "")
        elif mask is not None:
            raise Other
        try:
            own = PARAMETERS.get(function, ())[len(node.args) :]
            return self.of_call(function, [*node.args, *(keywords.pop(name) for name in own)], out)
        except (TypeError, ValueError, KeyError):
            raise Other from None

    def scattered(self, *args: ast.expr) -> Term:
        """The term of a vector that is written where another has entries."""
        if len(args) != 3 or not isinstance(args[0], ast.Name):
            raise Other
        name, at = args[0].id, self.term(args[1])
        true = isinstance(args[2], ast.Constant) and args[2].value is True
        if name in self.terms or not (true or isinstance(args[2], ast.Name)):
            raise Other
        self.terms[name] = ("marked", ("start", name), at) if true else ("put", ("start", name), at, self.term(args[2]))
        self.changed.add(name)
        return self.terms[name]

    def unvisited(self, function: Any, args: list[ast.expr], mask: ast.expr) -> Term:
        """A step of a search: what a product finds where it has not been."""
        if function not in (verbs.vxm, verbs.mxv) or len(args) != 3 or not isinstance(mask, ast.Name):
            raise Other
        x, A, s = args if function is verbs.vxm else (args[1], args[0], args[2])
        semiring = find_semiring(self.known(s))
        if semiring not in (LorLand, AnyPair):
            raise Other
        visited = self.terms.get(mask.id, ("start", mask.id))
        return "unvisited", self.term(x), visited, ast.unparse(A), function is verbs.mxv, semiring

    def of_call(self, function: Any, args: list[ast.expr], out: ast.expr | None) -> Term:
        """The term of a call of a verb."""
        if function is verbs.vxm:
            x, A, s = args
            return "product", self.term(x), ast.unparse(A), find_semiring(self.known(s)), False
        if function is verbs.mxv:
            A, x, s = args
            return "product", self.term(x), ast.unparse(A), find_semiring(self.known(s)), True
        if function is verbs.select:
            t, predicate, d = args
            found = self.term(t)
            if found[0] == "better":
                if find_comparison(self.known(predicate)) != no_worse(found[3]) or not isinstance(d, ast.Name):
                    raise Other
                self.known(d)
                return "within", found, d.id
            if found[0] != "product":
                raise Other
            s, compare = found[3], find_comparison(self.known(predicate))
            if not isinstance(compare, BinaryOp) or compare != better(s):
                raise Other
            return "better", found, self.term(d), s
        if function is not verbs.ewise_add:
            raise Other
        d, t, s = args
        both = self.term(d), self.term(t)
        if both[0][0] != "start":
            d, t, both = t, d, both[::-1]
        sums = "sum", *both, find_combiner(self.known(s), "add")
        if out is not None:
            if not isinstance(out, ast.Name) or not isinstance(d, ast.Name) or out.id != d.id:
                raise Other
            self.terms[out.id] = sums
            self.changed.add(out.id)
            self.assigned = self.assigned | {out.id}
        return sums


def spread(terms: Any) -> list[Term]:
    """All terms, and those that they are made of."""
    inner = [term for term in terms if isinstance(term, tuple)]
    return inner + [each for term in inner for each in spread(term)]
