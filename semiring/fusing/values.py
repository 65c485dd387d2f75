"""The values of programs, as the compiler knows them: numbers, vectors, matrices, and what is known beforehand.

A value knows its type and the text that stands for it in the compiled function. A dense vector may be an expression of
its elements, which is computed where it is needed; a sparse one is a list of indices with a list of values beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

BOOL, INT64, FLOAT64 = np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64)
WEAK: dict[type, np.dtype] = {bool: BOOL, int: INT64, float: FLOAT64}
"""The dtypes that stand for Python's own numbers, which take the dtype of what they meet."""


class Unfit(Exception):
    """A program, or a part of it, is not compiled; the message says why, in a sentence without its subject."""


@dataclass(frozen=True)
class Type:
    """The type of a variable.  kind: "number", "dense" or "sparse".  weak: of a Python number.

    ordered: of a sparse vector whose indices ascend.
    """

    kind: str
    dtype: np.dtype
    weak: bool = False
    ordered: bool = True

    def __str__(self) -> str:
        if self.kind == "number":
            return {BOOL: "bool", INT64: "int", FLOAT64: "float"}[self.dtype] if self.weak else self.dtype.name
        return f"{self.kind} vector of {self.dtype}"


@dataclass(frozen=True)
class Number:
    """A scalar.  code: an expression without side effects."""

    dtype: np.dtype
    code: str
    weak: bool = False
    constant: Any = None
    """The value, where the source has it."""

    @property
    def type(self) -> Type:
        return Type("number", self.dtype, self.weak)


@dataclass(frozen=True)
class Dense:
    """A dense vector.  size: an expression.  element: text with {i} for the index.

    reads: the arrays that it reads at {i} alone.  gathers: those that it reads elsewhere.  array: the array that it is,
    if it is one.  within: (array, x, zero) where it is zero as far as the array is x; (array, "= x", zero) where it is
    zero as far as the array is not x.
    """

    dtype: np.dtype
    size: str
    element: str
    reads: frozenset[str] = frozenset()
    gathers: frozenset[str] = frozenset()
    array: str = ""
    within: frozenset[tuple[str, str, str]] = frozenset()

    @property
    def type(self) -> Type:
        return Type("dense", self.dtype)

    def at(self, i: str) -> str:
        """The element at an index, which is of an unsigned type."""
        return self.element.replace("{i}", i)


@dataclass(frozen=True)
class Sparse:
    """A sparse vector of so many entries: two arrays by their names."""

    dtype: np.dtype
    size: str
    indices: str
    values: str
    count: str
    ordered: bool

    @property
    def type(self) -> Type:
        return Type("sparse", self.dtype, ordered=self.ordered)

    @property
    def list(self) -> str:
        """The text of a list with its length."""
        return f"({self.indices}, {self.values}, {self.count})"


@dataclass(frozen=True)
class MatrixValue:
    """A matrix, which does not change.  place: which argument it is.  transposed: it is that one's transpose.

    in_order: verbs add up its terms in the order of indices."""

    place: str
    dtype: np.dtype
    shape: tuple[str, str]
    transposed: bool = False
    in_order: bool = False

    @property
    def turned(self) -> MatrixValue:
        return replace(self, shape=self.shape[::-1], transposed=not self.transposed)


@dataclass(frozen=True)
class Constant:
    """Something that is known when the program is compiled: a semiring, a function, a dtype, a module, None."""

    value: Any


@dataclass(frozen=True)
class Function:
    """A function of the user's, to be put in where it is called.

    node: the syntax tree of a `def` or a lambda.  scope: finds what names mean within.
    """

    name: str
    node: Any
    scope: Callable[[str], Any] = field(compare=False)


@dataclass(frozen=True)
class Several:
    """A tuple of values."""

    parts: tuple[Any, ...]


def promoted(*operands: Number | Dense) -> tuple[np.dtype, bool]:
    """NumPy's dtype of an operation, and whether it is one of Python's numbers."""
    strong = [x.dtype for x in operands if not getattr(x, "weak", False)]
    weak = [x.dtype for x in operands if getattr(x, "weak", False)]
    if not strong:
        return np.result_type(*weak), True
    samples = {BOOL: False, INT64: 0, FLOAT64: 0.0}
    return np.result_type(*strong, *(samples[dtype] for dtype in weak)), False


def cast(code: str, old: np.dtype, new: np.dtype) -> str:
    """The text of a value in another dtype."""
    if old == new:
        return code
    return f"({code} != 0)" if new == BOOL else f"{new.name}({code})"


def literal(value: Any) -> str:
    """A Python or NumPy number as text for the compiled function."""
    dtype = value.dtype if isinstance(value, np.generic) else None
    value = value.item() if dtype is not None else value
    text = {"inf": "INF", "-inf": "-INF"}.get(repr(value), repr(value))
    if isinstance(value, int) and not isinstance(value, bool) and value == -(2**63):
        text = "INT64_MIN"
    return text if dtype is None or dtype == BOOL else f"{dtype.name}({text})"
