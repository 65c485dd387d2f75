"""The loops of a compiled function as functions of their own.

Numba's compiler takes more than linear time for a long function; LLVM puts short ones back where they are called.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from typing import Any

HELPERS = {"push", "gather", "op", "unite", "ordered", "inside", "ascends", "hashed", "pairwise", "look"}
"""The first parts of the names of functions that programs call."""
GLOBAL = {"range", "uintp", "abs", "min", "max", "sqrt", "INF", "INT64_MIN"}
GLOBAL |= {"bool", "int32", "int64", "float32", "float64"}
"""Names that every function knows."""
LOCAL = {"i", "q", "w"}
"""Names that each loop has for itself."""


def apart(text: str) -> str:
    """The same text with its innermost loops as functions of their own, for compiling takes more than linear time."""
    program = ast.parse(text)
    [function] = program.body
    taken = Apart(function)
    taken.visit(function)
    return ast.unparse(ast.fix_missing_locations(ast.Module([*taken.functions, function], [])))


class Apart(ast.NodeTransformer):
    """Takes loops over elements out of a function."""

    def __init__(self, function: ast.stmt) -> None:
        self.functions: list[ast.stmt] = []
        self.loads = Counter(names(ast.walk(function), ast.Load))

    def visit_For(self, node: ast.For) -> Any:
        nodes = list(ast.walk(node))
        inner = sum(isinstance(each, ast.For | ast.While) for each in nodes) > 1
        if inner or any(isinstance(each, ast.Return) for each in nodes) or node.target.id not in LOCAL:  # type: ignore[attr-defined]
            return self.generic_visit(node)
        own = Counter(names(nodes, ast.Load))
        stored = {*names(nodes, ast.Store)} - LOCAL
        given = sorted(name for name in stored if self.loads[name] > own[name])
        needed = sorted((own.keys() - stored - LOCAL - GLOBAL) | set(given))
        needed = [name for name in needed if not is_helper(name)]
        name = f"loop_{len(self.functions)}"
        results = ", ".join(given)
        head = ast.parse(f"def {name}({', '.join(needed)}):\n    return {results}").body[0]
        head.body.insert(0, node)  # type: ignore[attr-defined]
        self.functions.append(head)
        call = f"{name}({', '.join(needed)})"
        return ast.parse(f"{results} = {call}" if given else call).body[0]


def names(nodes: Iterable[ast.AST], context: type) -> list[str]:
    """The names among nodes that are read, or that are written."""
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)]


def is_helper(name: str) -> bool:
    """True for the name that `helper` has given to a function."""
    stem, _, number = name.rpartition("_")
    return stem in HELPERS and number.isdigit()
