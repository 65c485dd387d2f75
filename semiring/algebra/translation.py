"""From a scalar Python function to a CUDA expression, so that an operator of the user's needs no second text.

The function's source is read as a syntax tree: arithmetic with + - *, comparisons, conditional expressions, Boolean
operators, & | and ^, min, max and abs, numbers and names that stand for numbers; a `def` may also assign, and return
from branches. What means something else in CUDA is refused: /, //, % and ** of negative or of integer operands, and ~
of Booleans.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

Number = bool | int | float | np.bool_ | np.int64
"""Numbers that a name may stand for; Numba takes NumPy's other numbers for those of another dtype."""

INTEGER = "INTEGER"
"""A mark for the type of an integer constant: Numba computes an int with a float in float64."""

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Not: "!"}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class Untranslatable(ValueError):
    """The function cannot be said in CUDA; the message says which part of it, and why."""


def cuda_expression(scalar: Callable[..., Any]) -> str:
    """`scalar` as a CUDA expression in `a` and `b`; Untranslatable if it is more than one."""
    function = getattr(scalar, "py_func", scalar)
    node = _source(function)
    names = [argument.arg for argument in node.args.args]
    if len(names) != 2 or node.args.vararg or node.args.kwonlyargs or node.args.defaults:
        raise Untranslatable("it does not take two arguments")
    known = _constants(function) | dict(zip(names, "ab", strict=True))
    if isinstance(node, ast.Lambda):
        return _Expression(known).visit(node.body)
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return _returned(body, known)


def _source(function: Any) -> Any:
    """The syntax tree of a lambda or a `def`: the one at that place in its file."""
    try:
        lines, _ = inspect.findsource(function)
        tree = ast.parse("".join(lines))
    except (OSError, TypeError, SyntaxError):
        raise Untranslatable("its source cannot be read") from None
    code = function.__code__
    if code.co_name != "<lambda>":
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
                if min([node.lineno, *(each.lineno for each in node.decorator_list)]) == code.co_firstlineno:
                    return node
        raise Untranslatable("its source cannot be found")
    spans = [((line, col), (last, end)) for line, last, col, end in code.co_positions() if end]
    around = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and spans and _holds(node.body, spans)]
    if not around:
        raise Untranslatable("its source cannot be found")
    return max(around, key=lambda node: (node.lineno, node.col_offset))  # the innermost


def _holds(body: ast.expr, spans: list[Any]) -> bool:
    """True if all instructions of a function, by their places in its file, belong to `body`."""
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return all(begin <= first and last <= end for first, last in spans)


def _constants(function: Any) -> dict[str, str]:
    """The numbers that names of the function stand for, as CUDA constants."""
    seen = inspect.getclosurevars(function)
    return {
        name: _number(value) for name, value in {**seen.globals, **seen.nonlocals}.items() if isinstance(value, Number)
    }


def _number(value: Any) -> str:
    """A number as a CUDA constant."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) < value < 2**63:
            raise Untranslatable(f"{value} does not fit 64 bits")
        return f"(({INTEGER}){int(value)}LL)"
    if not math.isfinite(value):
        raise Untranslatable(f"{value} is no finite constant")
    return f"({value!r})"


def _returned(body: list[ast.stmt], known: dict[str, str]) -> str:
    """Returns the CUDA text of the value that a list of statements returns."""
    if not body:
        raise Untranslatable("a way through it returns nothing")
    first, *rest = body
    match first:
        case ast.Return(value=ast.expr() as value):
            return _Expression(known).visit(value)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return _returned(rest, known | {name: _Expression(known).visit(value)})
        case ast.If(test=test, body=then, orelse=otherwise):
            branches = (_returned([*branch, *rest], known) for branch in (then, otherwise))
            return "({} ? {} : {})".format(_Expression(known).visit(test), *branches)
    raise Untranslatable(f"it has the statement {ast.unparse(first).splitlines()[0]!r}")


class _Expression(ast.NodeVisitor):
    """The text of an expression, each part of it in brackets."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known

    def generic_visit(self, node: ast.AST) -> Any:
        raise Untranslatable(f"it has the expression {ast.unparse(node)!r}")

    def visit_Name(self, node: ast.Name) -> str:
        if node.id not in self.known:
            raise Untranslatable(f"{node.id!r} is no argument and no number of Python's")
        return self.known[node.id]

    def visit_Constant(self, node: ast.Constant) -> str:
        if not isinstance(node.value, bool | int | float):
            return self.generic_visit(node)
        return _number(node.value)

    def visit_BinOp(self, node: ast.BinOp) -> str:
        if type(node.op) not in _BINARY:
            return self.generic_visit(node)
        return f"({self.visit(node.left)} {_BINARY[type(node.op)]} {self.visit(node.right)})"

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
        if type(node.op) not in _UNARY:
            return self.generic_visit(node)
        return f"({_UNARY[type(node.op)]}{self.visit(node.operand)})"

    def visit_BoolOp(self, node: ast.BoolOp) -> str:
        *before, last = map(self.visit, node.values)
        for value in reversed(before):
            last = f"({value} ? {last} : {value})" if isinstance(node.op, ast.And) else f"({value} ? {value} : {last})"
        return last

    def visit_Compare(self, node: ast.Compare) -> str:
        values = list(map(self.visit, (node.left, *node.comparators)))
        if any(type(op) not in _COMPARE for op in node.ops):
            return self.generic_visit(node)
        pairs = zip(values[:-1], node.ops, values[1:], strict=True)
        return "(" + " && ".join(f"({left} {_COMPARE[type(op)]} {right})" for left, op, right in pairs) + ")"

    def visit_IfExp(self, node: ast.IfExp) -> str:
        return f"({self.visit(node.test)} ? {self.visit(node.body)} : {self.visit(node.orelse)})"

    def visit_Call(self, node: ast.Call) -> str:
        name = node.func.id if isinstance(node.func, ast.Name) and not node.keywords else ""
        if name in self.known or not hasattr(builtins, name):
            return self.generic_visit(node)
        first, *others = map(self.visit, node.args) if node.args else [""]
        if name == "abs" and not others:
            return f"abs({first})"
        if name not in ("min", "max") or not others:
            return self.generic_visit(node)
        for other in others:
            first = f"({other} {'<' if name == 'min' else '>'} {first} ? {other} : {first})"
        return first


def literal(value: Any, dtype: np.dtype) -> str:
    """A scalar of `dtype` as a CUDA constant."""
    if dtype.kind == "f":
        if np.isinf(value):
            bits = "__int_as_float(0x7f800000)" if dtype == np.float32 else "__longlong_as_double(0x7ff0000000000000LL)"
            return bits if value > 0 else f"(-{bits})"
        return f"(T){float(value)!r}"
    if dtype.kind == "b":
        return "true" if value else "false"
    if int(value) == np.iinfo(np.int64).min:
        return "LLONG_MIN"
    return f"(T){int(value)}LL"
