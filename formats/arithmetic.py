"""Python's operators for what has absent entries, matrices and sparse vectors: `A + B`, `A * 2`, `A / 2`, `A > 2`.

Sums and multiples are plus-times, as everywhere in Python. A comparison with a number is GraphBLAS's: a Boolean for
each entry that is stored, and what is absent stays absent.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, NoReturn, TypeAlias, TypeVar

from .arrays import Scalar
from .hooks import COMBINED

M = TypeVar("M")
"""A matrix or a sparse vector, which operators take and return."""
Symbol: TypeAlias = Literal["@", "+", "-", "*", "/", "abs", "==", "!=", "<", "<=", ">", ">="]


class Arithmetic(Generic[M]):
    """Python's operators on an object with absent entries. It is hashed as the one object it is."""

    __slots__ = ()
    __array_ufunc__ = None
    """NumPy's operators leave it to ours: `x @ A` and `2 * A` come here."""

    __array_priority__ = 1000
    """CuPy's likewise."""

    __hash__ = object.__hash__  # which a class that defines == loses

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is no array, for absent entries have no value: use to_dense(fill)")

    __iter__: None = None
    """Brackets do not count from 0 until an IndexError, as Python would otherwise try."""

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is neither true nor false: ask for nnz, or whether it is None")

    def __setitem__(self, position: Any, value: Any) -> NoReturn:
        raise TypeError(f"brackets do not write into a {type(self).__name__}: assign(…) does, of semiring")

    def __add__(self, other: M) -> M:
        return self._combined("+", other)

    def __radd__(self, other: Scalar) -> M:
        return self._combined("+", other)

    def __sub__(self, other: M) -> M:
        return self._combined("-", other)

    def __mul__(self, other: M | Scalar) -> M:
        return self._combined("*", other)

    def __rmul__(self, other: Scalar) -> M:
        return self._combined("*", other)

    def __truediv__(self, other: Scalar) -> M:
        return self._combined("/", other)

    def __neg__(self) -> M:
        return self._combined("*", -1)

    def __abs__(self) -> M:
        return self._combined("abs", None)

    def __eq__(self, other: Any) -> Any:
        return self._combined("==", other)

    def __ne__(self, other: Any) -> Any:
        return self._combined("!=", other)

    def __lt__(self, other: Scalar) -> M:
        return self._combined("<", other)

    def __le__(self, other: Scalar) -> M:
        return self._combined("<=", other)

    def __gt__(self, other: Scalar) -> M:
        return self._combined(">", other)

    def __ge__(self, other: Scalar) -> M:
        return self._combined(">=", other)

    def _combined(self, symbol: Symbol, other: Any, *, first: bool = True) -> Any:
        return COMBINED.ask(symbol, self, other, first)
