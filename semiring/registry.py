"""Verb: a public function whose implementations are found by (format, backend).

`Verb.table` is the only list of what is supported: the tests iterate over it and the README's table is made from it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

from formats import Matrix
from formats.arrays import out_of_memory

P = ParamSpec("P")
R = TypeVar("R")
Implementation = Callable[..., Any]


def guarded(name: str, compute: Callable[[], R]) -> R:
    """`compute()`, with a GPU's lack of memory told as what it means to the user of the verb."""
    try:
        return compute()
    except MemoryError as error:
        if not type(error).__module__.startswith("cupy"):
            raise
        raise out_of_memory(error, name) from error


class Vector:
    """The format, in a verb's table, of dense arrays and SparseVectors."""


class Verb(Generic[P, R]):
    """A public function that checks its arguments and dispatches to an implementation.

    Call it like the function it wraps. `verb.implement(CSR, "cuda")` registers an implementation, and that is all it
    does: nothing is imported or compiled before the first call.
    """

    all: ClassVar[dict[str, Verb[..., Any]]] = {}
    """Every verb by name."""

    def __init__(self, front: Callable[P, R]) -> None:
        functools.update_wrapper(self, front)
        self.name = front.__name__
        self.front = front
        self.table: dict[tuple[type, str], Implementation] = {}
        type(self).all[self.name] = self

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return guarded(self.name, lambda: self.front(*args, **kwargs))

    def implement(self, *cells: type | str) -> Callable[[Implementation], Implementation]:
        """Register the decorated function for one or more formats and, after them, one or more backends."""
        formats = [cell for cell in cells if not isinstance(cell, str)]
        backends = [cell for cell in cells if isinstance(cell, str)]

        def register(implementation: Implementation) -> Implementation:
            for backend in backends:
                for fmt in formats:
                    self.table[fmt, backend] = implementation
            return implementation

        return register

    def find(self, fmt: type, backend: str) -> Implementation:
        """The implementation for a format on a backend; NotImplementedError names what is missing."""
        try:
            return self.table[fmt, backend]
        except KeyError:
            have = ", ".join(f"{f.__name__} on {b}" for f, b in self.table) or "nothing"
            raise NotImplementedError(
                f"{self.name} is not implemented for {fmt.__name__} on {backend}; it is for {have}"
            ) from None

    def __repr__(self) -> str:
        return f"<verb {self.name}>"

    def __reduce__(self) -> str:
        return self.name  # pickled as a function is, by its name in its module


class Fusible(Verb[P, R]):
    """An algorithm written in verbs, which a backend may also run as a whole.

    `definition` is the algorithm as written: it runs where nothing is registered for the matrix's format and device, or
    where `fused=False` is passed, and it is the oracle of every implementation.
    """

    all: ClassVar[dict[str, Verb[..., Any]]] = {}
    """Every fusible algorithm by name."""

    def __init__(self, definition: Callable[P, R]) -> None:
        super().__init__(definition)
        self.definition = definition

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        fused = kwargs.pop("fused", True)
        A: Any = args[0] if args else kwargs.get("A")
        whole = self.table.get((type(A), A.device)) if fused and isinstance(A, Matrix) else None
        return (whole or self.definition)(*args, **kwargs)


def fusible(definition: Callable[P, R]) -> Fusible[P, R]:
    """Let the decorated algorithm be run as a whole where `implement` registers how."""
    return Fusible(definition)
