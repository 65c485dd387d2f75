"""Python's own notation for matrices: `A[u, v]`, `A[rows, cols]`, `A @ x`; the other operators are vectors', too.

A product is plus-times, as everywhere in Python. Other semirings are arguments of verbs.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from ..arithmetic import Arithmetic
from ..arrays import Array
from ..hooks import PART
from .contract import Storage

if TYPE_CHECKING:
    from ..vector import SparseVector

Default = TypeVar("Default")
M = TypeVar("M", bound=Storage)
"""The matrices that come in and out: `Matrix`, which has this notation."""

Several: TypeAlias = slice | ArrayLike
"""Rows or columns: a slice, indices, or a Boolean for each."""


ELSEWHERE = {
    "copy": "it does not change, and serves all who hold it",
    "data": "see values",
    "diagonal": "see select(A, 'diag')",
    "dot": "write A @ x",
    "multiply": "write A * B",
    "size": "see nnz and shape",
    "transpose": "see T",
    **{name: "see to_dense(fill)" for name in ("toarray", "todense")},
    **{f"to{fmt}": f"see to('{fmt}')" for fmt in ("csr", "csc", "coo")},
    **{name: f"see reduce(A, '{monoid}')" for name, monoid in {"sum": "plus", "max": "max", "min": "min"}.items()},
}
"""The names that stand here for those of SciPy and NumPy."""


class Elsewhere:
    """Hints at the right name of an attribute that is missing. A `__getattr__` would make every attribute slower."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        said = f"{owner.__name__!r} object has no attribute {self.name!r}: {ELSEWHERE[self.name]}"
        raise AttributeError(said, name=self.name, obj=instance)


class Notation(Arithmetic[M]):
    """Brackets of a matrix, and `@`."""

    __slots__ = ()

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
        if isinstance(position, Storage):
            raise TypeError(
                "A[mask] is not defined: select(A, …) keeps entries, and a verb's mask= says what it writes"
            )
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

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in ELSEWHERE]

    # --- products -------------------------------------------------------------------------------------------------

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
        return self._combined("@", other, first=False)


for _name in ELSEWHERE:
    setattr(Notation, _name, Elsewhere(_name))


def is_integer(obj: object) -> bool:
    """True if `obj` is one integer, also an array of no dimensions."""
    if isinstance(obj, bool | np.bool_):
        return False
    try:
        operator.index(obj)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True
