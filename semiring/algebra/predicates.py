"""Predicates: which entries `select` keeps.

A predicate sees an entry's position (i, j), its value, and the values `row` and `col` that two vectors hold at i and j.
That is enough for tight edges (d_i ⊗ a_ij = d_j), for trimming, and for the triangles of a matrix.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from formats.arrays import Array, is_array
from formats.places import place_of
from formats.vector import is_scalar

from .ops import ON_GPU, OPERATORS, SYMBOLS, BinaryOp, find_op, is_graphblas, name_of
from .portable import Portable, made, made_once
from .semirings import MONOIDS, Semiring
from .translation import Untranslatable, cuda_expression


@dataclass(frozen=True)
class Predicate(Portable):
    """A condition on an entry, for `select`.

    Args:
        name: how it is called.
        array: (i, j, value, row, col) -> bool array, on NumPy arrays of one shape; row and col are None where `select`
            was given no such vector.
        cuda: the same as a CUDA expression in the same names, with T for the type of values; "" where `array` is made
            of operators, which work on CuPy arrays, too.
        semiring: whose ZERO, add(a, b) and mul(a, b) the expression may use.
        reads: what the condition depends on; for the rest it may be given anything.
        band: (low, high) where it is low <= j - i <= high, None being no bound; None where it is something else.

    Example:
        >>> from formats import from_edges
        >>> from semiring import select
        >>> heavy = Predicate("heavy", lambda i, j, value, row, col: value > i + j, "value > i + j")
        >>> select(from_edges([0, 1], [1, 2], [5, 2]), heavy).to_edges()[2].tolist()
        [5]
    """

    name: str
    array: Callable[[Any, Any, Any, Any, Any], Any]
    cuda: str = ""
    semiring: Semiring | None = None
    reads: tuple[str, ...] = ("i", "j", "value", "row", "col")
    band: tuple[int | None, int | None] | None = None

    def __call__(self, i: Any, j: Any, value: Any, row: Any, col: Any) -> Any:
        """Returns a bool array that tells for each entry whether the predicate holds."""
        if self.cuda and not place_of(value).on_host:
            return ON_GPU[Predicate](self, i, j, value, row, col)
        return self.array(i, j, value, row, col)


_POSITIONS = {"tril": "le", "triu": "ge", "diag": "eq", "offdiag": "ne"}
"""The predicates on positions by name: how j - i compares with the number of a diagonal."""

PREDICATES = tuple(_POSITIONS)
"""The names of the predicates on positions."""


@made_once
def on_position(name: str, diagonal: int = 0) -> Predicate:
    """The predicate of that name: on and below ("tril"), on and above ("triu"), on or off the diagonal j - i = k."""
    compare = OPERATORS[_POSITIONS[name]]
    bands = {"tril": (None, diagonal), "triu": (diagonal, None), "diag": (diagonal, diagonal)}
    return Predicate(
        f"{name}_{diagonal}",
        lambda i, j, value, row, col: compare(j - i, diagonal),
        (compare.cuda or "").replace("a", "(long long)j - i").replace("b", f"{diagonal}LL"),
        reads=("i", "j"),
        band=bands.get(name),
    )


@made_once
def tight(semiring: Semiring) -> Predicate:
    """row ⊗ value = col, between present values: the edge (i, j) achieves the value at j.

    Args:
        semiring: one whose ⊕ orders the values.

    Returns:
        A predicate for `select` on matrices, with `row` and `col`.

    Example:
        >>> import numpy as np
        >>> from formats import from_edges
        >>> from semiring import MinPlus, select
        >>> A, d = from_edges([0, 0, 1], [1, 2, 2], [5, 9, 3]), np.array([0, 5, 8])
        >>> select(A, tight(MinPlus), row=d, col=d).nnz
        2
    """

    def holds(i: Any, j: Any, value: Any, row: Any, col: Any) -> Any:
        zero = semiring.zero(value.dtype)
        return (row != zero) & (value != zero) & (col != zero) & (semiring.mul(row, value) == col)

    cuda = "row != ZERO && value != ZERO && col != ZERO && mul(row, value) == col"
    return Predicate(f"tight_{semiring.name}", holds, cuda, semiring, ("value", "row", "col"))


@made_once
def nearer(semiring: Semiring) -> Predicate:
    """row is strictly better than col in ⊕'s order.

    Args:
        semiring: one whose ⊕ orders the values.

    Returns:
        A predicate for `select` on matrices, with `row` and `col`.

    Example:
        >>> import numpy as np
        >>> from formats import from_edges
        >>> from semiring import MinPlus, select
        >>> A, d = from_edges([0, 0, 1], [1, 2, 2], [5, 9, 3]), np.array([0, 5, 8])
        >>> select(A, nearer(MinPlus), row=d, col=d).nnz
        3
    """
    return Predicate(
        f"nearer_{semiring.name}",
        lambda i, j, value, row, col: semiring.better(row, col),
        "add(row, col) == row && row != col",
        semiring,
        ("row", "col"),
    )


@made_once
def lost(semiring: Semiring) -> Predicate:
    """row and value are present, col is not: a finite row ⊗ value has saturated to the semiring's zero.

    Args:
        semiring: one whose ⊕ orders the values.

    Returns:
        A predicate for `select` on matrices, with `row` and `col`.

    Example:
        >>> import numpy as np
        >>> from formats import from_edges
        >>> from semiring import MinPlus, select
        >>> A, d = from_edges([0], [1], [5]), np.array([0, 2**31 - 1], np.int32)
        >>> select(A, lost(MinPlus), row=d, col=d).nnz
        1
    """

    def holds(i: Any, j: Any, value: Any, row: Any, col: Any) -> Any:
        zero = semiring.zero(value.dtype)
        return (row != zero) & (value != zero) & (col == zero)

    cuda = "row != ZERO && value != ZERO && col == ZERO"
    return Predicate(f"lost_{semiring.name}", holds, cuda, semiring, ("value", "row", "col"))


within = Predicate(
    "within",
    lambda i, j, value, row, col: (row == col) & (row >= 0),
    "row == col && row >= (T)0",
    reads=("row", "col"),
)
"""The vectors hold the same number at the two ends, not a negative one: an edge within a part."""

differs = Predicate("differs", lambda i, j, value, row, col: row != col, "row != col", reads=("row", "col"))
"""The vectors hold something else at the two ends: an edge between parts."""


made(within, "within")
made(differs, "differs")


def of_entries(function: Callable[..., Any], other: Any = None) -> Predicate:
    """The predicate that a function of arrays (value, row, column), or (value, row, column, other), says."""
    thunk = () if other is None else (other,)

    def holds(i: Any, j: Any, value: Any, row: Any, col: Any) -> Any:
        places = (part.astype(np.int64, copy=False) for part in (i, j))  # so that i * n + j does not overflow
        return said(function, value, *places, *thunk)

    return Predicate(getattr(function, "__name__", "function"), holds, reads=("i", "j", "value"))


def said(function: Callable[..., Any], value: Array, *rest: Any) -> Array:
    """Returns a function's answer for each value; raises TypeError unless it is an array of Booleans."""
    answer = function(value, *rest)
    if not is_array(answer) or answer.dtype != bool or answer.shape != value.shape:
        kind = f"{answer.dtype} of shape {answer.shape}" if is_array(answer) else type(answer).__name__
        raise TypeError(
            f"select gives its function arrays, and needs a Boolean for each entry, as value > row makes, got {kind}"
        )
    return answer


def is_function(predicate: Any) -> bool:
    """True for a function of entries that is no declared predicate or comparison."""
    return callable(predicate) and not isinstance(predicate, Predicate | BinaryOp) and not is_graphblas(predicate)


def find_predicate(predicate: Any, other: Any) -> Predicate:
    """The predicate given by object or name; a comparison ("lt", "<") compares the value with the scalar `other`."""
    if isinstance(predicate, Predicate):
        if other is not None:
            raise TypeError(f"the predicate {predicate.name!r} compares with nothing, got {other!r}")
        return predicate
    if not isinstance(predicate, str) and is_graphblas(predicate):
        predicate = name_of(predicate, "a predicate or its name")
    if isinstance(predicate, str) and predicate in PREDICATES:
        if other is not None and not hasattr(other, "__index__"):
            raise TypeError(f"{predicate} takes the number of a diagonal, an integer, got {other!r}")
        return on_position(predicate, 0 if other is None else operator.index(other))
    if is_function(predicate):
        return of_entries(predicate, other)
    compare = find_comparison(predicate)
    if other is None or not is_scalar(other):
        raise TypeError(f"select by {compare.name!r} compares values with a scalar: pass it as the third argument")
    return Predicate(f"{compare.name}_{other}", lambda i, j, value, row, col: compare(value, other), reads=("value",))


def find_comparison(op: BinaryOp | str) -> BinaryOp:
    """The comparison operator given by object, name or symbol; ValueError lists names."""
    op = op if isinstance(op, BinaryOp | str) else name_of(op, "a comparison or its name")
    compare = find_op(op) if isinstance(op, BinaryOp) or op in OPERATORS or op in SYMBOLS else None
    if compare is not None and compare.boolean:
        return compare
    names = [name for name, known in OPERATORS.items() if known.boolean]
    if isinstance(op, str):
        raise ValueError(f"unknown predicate {op!r}; there are {', '.join((*PREDICATES, *names))}")
    raise ValueError(f"select needs a comparison, got {compare.name!r}; there are {', '.join(names)}")  # type: ignore[union-attr]


_ORDERS = {"min": ("lt", "le"), "max": ("gt", "ge")}
"""Monoids whose order, strict and not, is a comparison that there is an operator for."""


def _compared(add: BinaryOp, text: str) -> str | None:
    """The text with ⊕'s CUDA expression in it; None if that cannot be made, and the GPU is to say why."""
    try:
        return text.format(add.cuda if add.cuda is not None else cuda_expression(add.scalar))
    except Untranslatable:
        return None


@made_once
def better(semiring: Semiring) -> BinaryOp:
    """The comparison a ⊕ b = a ≠ b: a is strictly better than b in ⊕'s order.

    Args:
        semiring: one whose ⊕ orders the values.

    Returns:
        An operator for `select` on vectors.

    Example:
        >>> import numpy as np
        >>> from semiring import MinPlus, select
        >>> select(np.array([5, 2, 9], np.int32), better(MinPlus), 5, semiring=MinPlus).tolist()
        [2147483647, 2, 2147483647]
    """
    if semiring.add in (MONOIDS["min"], MONOIDS["max"]):
        return OPERATORS[_ORDERS[semiring.add.name][0]]
    add, scalar = semiring.add.op, semiring.add.op.scalar
    return BinaryOp(
        f"better_{semiring.name}",
        lambda a, b: (scalar(a, b) == a) & (a != b),
        _compared(add, "(T)({}) == a && a != b"),
        array=semiring.better,
        boolean=True,
    )


@made_once
def no_worse(semiring: Semiring) -> BinaryOp:
    """The comparison a ⊕ b = a: a is at least as good as b in ⊕'s order.

    Args:
        semiring: one whose ⊕ orders the values.

    Returns:
        An operator for `select` on vectors.

    Example:
        >>> import numpy as np
        >>> from semiring import MinPlus, select
        >>> select(np.array([5, 2, 9], np.int32), no_worse(MinPlus), 5, semiring=MinPlus).tolist()
        [5, 2, 2147483647]
    """
    if semiring.add in (MONOIDS["min"], MONOIDS["max"]):
        return OPERATORS[_ORDERS[semiring.add.name][1]]
    add, scalar = semiring.add, semiring.add.op.scalar
    return BinaryOp(
        f"no_worse_{semiring.name}",
        lambda a, b: scalar(a, b) == a,
        _compared(add.op, "(T)({}) == a"),
        array=lambda a, b: add(a, b) == a,
        boolean=True,
    )
