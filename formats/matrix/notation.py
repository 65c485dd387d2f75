"""Python's own notation for matrices: `A[u, v]`, `A[rows, cols]`, `A @ x`, `A + B`, `A * 2`.

Its arithmetic is plus-times, as everywhere in Python. Other semirings are arguments of verbs.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, Scalar
from ..hooks import COMBINED, PART
from .contract import Storage

if TYPE_CHECKING:
    from ..vector import SparseVector

Default = TypeVar("Default")
M = TypeVar("M", bound=Storage)
"""The matrices that come in and out: `Matrix`, which has this notation."""

Several: TypeAlias = slice | ArrayLike
"""Rows or columns: a slice, indices, or a Boolean for each."""


class Notation(Generic[M]):
    """What a matrix does with brackets and operators."""

    __slots__ = ()
    __array_ufunc__ = None
    """NumPy's operators leave it to ours: `x @ A` and `2 * A` come here."""

    __array_priority__ = 1000
    """CuPy's likewise."""

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is no array, for absent entries have no value: use to_dense(fill)")

    # --- parts ----------------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, position: tuple[SupportsIndex, SupportsIndex]) -> np.number: ...
    @overload
    def __getitem__(self, position: tuple[SupportsIndex, Several] | tuple[Several, SupportsIndex]) -> SparseVector: ...
    @overload
    def __getitem__(self, position: tuple[Several, Several]) -> M: ...
    def __getitem__(self, position: Any) -> Any:
        """The value at A[u, v], the row A[u, :], the column A[:, v], or the part A[rows, cols] of every such pair.

        KeyError if the one entry is absent, IndexError if a place lies outside the matrix.
        """
        if not isinstance(position, tuple) or len(position) != 2:
            raise TypeError(f"an entry is A[u, v] and a part A[rows, cols], got {position!r}: a row is A[u, :]")
        if not all(map(is_integer, position)):
            return PART.ask(self, *position)
        found = self.get(*position)
        if found is None:
            raise KeyError(f"no entry at {position}: an absent entry has no value of its own (see get)")
        return found

    @overload
    def get(self, u: SupportsIndex, v: SupportsIndex) -> np.number | None: ...
    @overload
    def get(self, u: SupportsIndex, v: SupportsIndex, default: Default) -> np.number | Default: ...
    def get(self, u: SupportsIndex, v: SupportsIndex, default: Any = None) -> Any:
        raise NotImplementedError

    # --- arithmetic -----------------------------------------------------------------------------------------------

    @overload
    def __matmul__(self, other: M) -> M: ...
    @overload
    def __matmul__(self, other: SparseVector) -> SparseVector: ...
    @overload
    def __matmul__(self, other: Array) -> Array: ...
    def __matmul__(self, other: Any) -> Any:
        return self._combined("@", other)

    @overload
    def __rmatmul__(self, other: SparseVector) -> SparseVector: ...
    @overload
    def __rmatmul__(self, other: Array) -> Array: ...
    def __rmatmul__(self, other: Any) -> Any:
        return self._combined("@", other, matrix_first=False)

    def __add__(self, other: M) -> M:
        return self._combined("+", other)

    def __sub__(self, other: M) -> M:
        return self._combined("-", other)

    def __mul__(self, other: M | Scalar) -> M:
        return self._combined("*", other)

    def __rmul__(self, other: Scalar) -> M:
        return self._combined("*", other)

    def __neg__(self) -> M:
        return self._combined("*", -1)

    def _combined(self, symbol: Literal["@", "+", "-", "*"], other: Any, *, matrix_first: bool = True) -> Any:
        return COMBINED.ask(symbol, self, other, matrix_first)


def is_integer(obj: object) -> bool:
    """Is `obj` one integer, also an array of no dimensions?"""
    if isinstance(obj, bool | np.bool_):
        return False
    try:
        operator.index(obj)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True
