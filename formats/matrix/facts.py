"""Facts: what is found of a matrix once and kept with it. Each is declared as an object, with its value's type."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Fact(Generic[T]):
    """Something that `Storage.keep` keeps: `LONGEST: Fact[int] = Fact("longest row or column")`.

    name: what it is, for whoever looks at what a matrix keeps.  A fact may depend on more than the matrix, such as a
    semiring, which is then given in every call. Two facts are the same only if they are one object.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Fact({self.name!r})"


# --- those that several modules ask for -----------------------------------------------------------------------------

ENTRIES: Fact[int] = Fact("number of entries")
"""A fact of formats whose arrays have places without an entry."""

ON_DISK: Fact[bool] = Fact("an array is a mapped file")

LONGEST: Fact[int] = Fact("longest row or column")
"""Given: the axis."""

SYMMETRIC: Fact[bool] = Fact("every entry has its reverse")
"""Given: is the pattern alone asked for? Else the reverse has the same value. Kept by the matrix whose major is 0."""

COMPRESSED: Fact[Any] = Fact("the entries by rows or by columns")
"""Given: CSR or CSC, which is the value's format."""

PATTERN: Fact[Any] = Fact("the unweighted view")
