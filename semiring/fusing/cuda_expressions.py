"""From the expressions in a program's text to CUDA's, with the dtypes that the compiled function computes in."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ..algebra.codegen import C_TYPES
from . import phases
from .values import BOOL, FLOAT64, INT64, Unfit

UNSIGNED = np.dtype(np.uint64)
COLLECTIVE = {phases.inside: "inside", phases.ascends: "ascends"}
"""Functions that all threads run together, which end with a barrier."""
CASTS = {"int32": "int", "int64": "long long", "float32": "float", "float64": "double", "bool": "bool"}
CASTS |= {"uintp": "unsigned long long"}
ARITHMETIC = {ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.FloorDiv: "floor_of", ast.Mod: "rest_of"}
BITWISE = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class Expressions:
    """Writes expressions.

    made: what names of functions stand for: a maker of `phases`, and its arguments.  scalars, arrays: their dtypes.
    own: names that each element of a loop has for itself, and what they are called; locals: the dtypes of these.
    """

    def __init__(self, made: dict[str, tuple[Any, ...]]) -> None:
        self.made = made
        self.scalars: dict[str, np.dtype] = {}
        self.arrays: dict[str, np.dtype] = {}
        self.matrices: dict[str, np.dtype] = {}
        self.own: dict[str, str] = {}
        self.locals: dict[str, np.dtype] = {}

    def made_of(self, function: ast.expr) -> tuple[Any, ...]:
        """Finds the maker of what a function's name stands for, and the maker's arguments."""
        return self.made.get(getattr(function, "id", ""), (None,))

    def plain(self, node: ast.expr) -> str:
        """The text of an argument of a part: a number, an array or a matrix."""
        if isinstance(node, ast.Name) and (node.id in self.arrays or node.id in self.matrices):
            return node.id
        return self.value(node)[0]

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
        a, b = (f"({c_type(dtype)})({self.cast(part, dtype)})" for part in (node.left, node.right))
        if isinstance(node.op, ast.Div):
            return f"({a} / {b})", dtype
        if type(node.op) in BITWISE:
            return f"({a} {BITWISE[type(node.op)]} {b})", dtype
        if type(node.op) in ARITHMETIC:
            return f"{ARITHMETIC[type(node.op)]}({a}, {b})", dtype
        raise Unfit(f"has {ast.unparse(node)!r} on a GPU")

    def of_BoolOp(self, node: ast.BoolOp) -> tuple[str, np.dtype]:
        sign = " && " if isinstance(node.op, ast.And) else " || "
        return f"({sign.join(self.value(each)[0] for each in node.values)})", BOOL

    def of_Compare(self, node: ast.Compare) -> tuple[str, np.dtype]:
        parts, found = [node.left, *node.comparators], []
        for op, x, y in zip(node.ops, parts[:-1], parts[1:], strict=True):
            both = self.value(x)[1], self.value(y)[1]
            dtype = BOOL if both == (BOOL, BOOL) else common(*both)
            found.append(f"({self.cast(x, dtype)} {COMPARISONS[type(op)]} {self.cast(y, dtype)})")
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
        maker, *how = self.made[name]
        if maker in COLLECTIVE:
            return f"{COLLECTIVE[maker]}(g, {', '.join(self.plain(arg) for arg in node.args)})", BOOL
        if maker is phases.hashed:
            return f"hashed({', '.join(self.cast(arg, INT64) for arg in node.args)})", INT64
        op, dtype = how
        arguments = ", ".join(self.value(arg)[0] for arg in node.args)
        return f"{name}({arguments})", BOOL if op.boolean else dtype


def c_type(dtype: np.dtype) -> str:
    """The C++ type of a dtype."""
    return "unsigned long long" if dtype == UNSIGNED else C_TYPES[dtype.name]


def common(*dtypes: np.dtype) -> np.dtype:
    """The dtype in which the compiled function computes with values of these."""
    floats = [dtype for dtype in dtypes if dtype.kind == "f"]
    if not floats:
        return INT64
    return floats[0] if len(set(dtypes)) == 1 else FLOAT64
