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
from typing import Any

import numpy as np

from formats import Matrix, SparseVector
from formats.arrays import index_dtype

from .. import vectors
from ..algebra.ops import BinaryOp
from ..algebra.predicates import better, find_comparison
from ..algebra.semirings import Semiring, find_semiring
from ..kernels.interrupts import interruptible
from ..verbs import verbs
from ..verbs.operands import typed_matrix

SCHEDULES = "algorithms.fused.cpu.schedules"
"""The module whose `relaxed` runs such loops, which is imported when the first of them runs."""

Term = tuple[Any, ...]
"""What a statement computes: ("start", name), ("product", f, A, s), ("better", t, d, s), ("sum", d, t, s)."""


@dataclass(frozen=True)
class Fixpoint:
    """A loop that is a fixpoint: the names of its distances, its frontier, its matrix and its semiring.

    in_place: the distances are written where they are.  bound: the expression of the number of rounds, if there is one.
    """

    distances: str
    frontier: str
    matrix: str
    semiring: Semiring
    matrix_first: bool
    in_place: bool
    bound: ast.expr | None

    @property
    def told(self) -> str:
        return f"compiled: a fixpoint of {self.semiring.name} in {self.distances}, relaxed in any order"

    def run(self, values: dict[str, Any]) -> dict[str, Any] | None:
        """The values of names after the loop; None if its vectors are not those of a fixpoint's start."""
        d, f = values.get(self.distances), values.get(self.frontier)
        A = evaluated(ast.parse(self.matrix, mode="eval").body, values)
        s = self.semiring
        if not isinstance(f, SparseVector) or not isinstance(d, np.ndarray) or not isinstance(A, Matrix):
            return None
        if A.nrows != A.ncols or d.shape != (A.nrows,) or f.size != d.size or d.dtype not in s.dtypes:
            return None
        if d.dtype != f.dtype or np.result_type(A.dtype, d.dtype) != d.dtype:
            return None
        if self.bound is not None and not evaluated(self.bound, values) >= A.nrows:
            return None
        if self.in_place and not d.flags.writeable or (d.take(f.indices) != f.values).any():
            return None
        A = typed_matrix(A.T if self.matrix_first else A, s, d.dtype)
        relaxed: Callable[..., Any] = import_module(SCHEDULES).relaxed
        found = interruptible(lambda: relaxed(A, d, f.indices, s))
        if found is None:
            return None
        if self.in_place:
            np.copyto(d, found)
            found = d
        empty = SparseVector.trusted(np.empty(0, index_dtype(f.size)), np.empty(0, f.dtype), f.size)
        return {self.distances: found, self.frontier: empty, "exit": None}


def evaluated(node: ast.expr, values: dict[str, Any]) -> Any:
    """The value of a name, or of an attribute of one, before the loop."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(evaluated(node.value, values), node.attr, None)
    return node.value if isinstance(node, ast.Constant) else None


def recognised(loop: ast.stmt, values: dict[str, Any], assigned: set[str], wanted: set[str]) -> Fixpoint | None:
    """The fixpoint that a loop is; None for another loop."""
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

    def read(self, loop: Any, wanted: set[str]) -> Fixpoint:
        """The fixpoint of a loop; Other if it is none."""
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
        return self.fixpoint(wanted, bound)

    def fixpoint(self, wanted: set[str], bound: ast.expr | None) -> Fixpoint:
        """Look whether the round is that of a fixpoint."""
        [frontier] = set(self.tests)
        match self.terms.get(frontier):
            case ("better", ("product", ("start", f), A, s, matrix_first) as t, ("start", d), own):
                pass
            case _:
                raise Other
        new = self.terms[frontier]
        sums = [("sum", ("start", d), term, s) for term in (new, t)]
        if f != frontier or own != s or self.terms.get(d) not in sums or {f, d} & names_of(A):
            raise Other
        others = {name for name in self.assigned if name not in (d, frontier)}
        if others & wanted or any(("start", name) in spread(self.terms.values()) for name in others):
            raise Other
        return Fixpoint(d, frontier, A, s, matrix_first, d in self.changed, bound)

    def known(self, node: ast.expr) -> Any:
        """What a name that the loop does not assign stands for."""
        if isinstance(node, ast.Name) and node.id in self.assigned:
            raise Other
        if isinstance(node, ast.Call):
            function, arguments = self.known(node.func), [self.known(argument) for argument in node.args]
            if function is not better or node.keywords:
                raise Other
            return better(*arguments)
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
            case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant()):
                self.terms[name] = ("count",)
            case ast.If(test=test, body=[ast.Break()], orelse=[]):
                name = self.empty(test)
                if self.terms.get(name, ("start",))[0] not in ("start", "better"):
                    raise Other
                self.tests.append(name)
            case _:
                raise Other

    def term(self, node: ast.expr) -> Term:
        """What an expression computes."""
        if isinstance(node, ast.Name):
            if node.id not in self.assigned and node.id not in self.values:
                raise Other
            return self.terms.get(node.id, ("start", node.id))
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            raise Other
        function, keywords = self.known(node.func), {each.arg: each.value for each in node.keywords}
        out = keywords.pop("out", None)
        if keywords or (out is not None and function is not verbs.ewise_add):
            raise Other
        try:
            return self.of_call(function, node.args, out)
        except (TypeError, ValueError, KeyError):
            raise Other from None

    def of_call(self, function: Any, args: list[ast.expr], out: ast.expr | None) -> Term:
        """What a call of a verb computes."""
        if function is verbs.vxm:
            x, A, s = args
            return "product", self.term(x), ast.unparse(A), find_semiring(self.known(s)), False
        if function is verbs.mxv:
            A, x, s = args
            return "product", self.term(x), ast.unparse(A), find_semiring(self.known(s)), True
        if function is verbs.select:
            t, predicate, d = args
            found = self.term(t)
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
        sums = "sum", *both, find_semiring(self.known(s))
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
