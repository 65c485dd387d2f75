"""Verb: a public function whose implementations are found by (format, backend).

`Verb.table` is the only list of what is supported: the tests iterate over it, and docs/formats.md has it as a table.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from importlib import import_module
from types import MethodType
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar, get_overloads

from formats import CSR, Matrix
from formats.arrays import NO_ROOM_TO_SORT, out_of_memory
from formats.matrix.routes import leads
from formats.places import Place, place_among
from formats.storage.orientation import compressed

from .explanation import ASKING, choices_told, definitions_only, note_choice, tell_cell, tell_verb
from .masks import Write
from .rounds import due, look

P = ParamSpec("P")
R = TypeVar("R")
Implementation = Callable[..., Any]
Needs = Callable[..., dict[str, int]]
"""A function (A, format) -> bytes, by part, that a product by A in the format takes or keeps beside its vectors."""


CPU = ("columns", "dense", "loops", "matrices", "products", "reductions")
REGISTRARS: dict[tuple[str, str], tuple[str, ...]] = {
    ("semiring", "cpu"): (*map("semiring.cpu.{}".format, CPU), "semiring.generic"),
    ("semiring", "cuda"): ("semiring.cuda", "semiring.generic"),
    ("semiring", "parts"): ("semiring.parts",),
    ("algorithms", "cpu"): ("algorithms.fused.cpu",),
    ("algorithms", "cuda"): ("algorithms.fused.cuda",),
    ("algorithms", "parts"): ("algorithms.fused.parts",),
}
"""Modules whose import registers what a package has for a backend, or for matrices in parts."""


class Cells(dict[tuple[type, str], Any]):
    """Entries by (format, backend); our own for a backend are imported when one is first missed there, or by `load`.

    package: the one that the verb is of.
    """

    def __init__(self, package: str) -> None:
        self.package = package

    def load(self, *backends: str) -> Cells:
        """Import what registers itself for these backends, or for all; returns itself."""
        for key in ((self.package, backend) for backend in backends or ("cpu", "cuda", "parts")):
            for module in REGISTRARS.get(key, ()):
                import_module(module)
            REGISTRARS.pop(key, None)  # afterwards, so that other threads wait
        return self

    def __missing__(self, cell: tuple[type, str]) -> Any:
        backend = "parts" if getattr(cell[0], "in_parts", False) else cell[1]
        if (self.package, backend) in REGISTRARS:
            self.load(backend)
        return super().get(cell)

    def get(self, cell: tuple[type, str], default: Any = None) -> Any:
        """The entry of a cell, or else the default."""
        return self[cell] or default

    def __contains__(self, cell: object) -> bool:
        return self[cell] is not None  # type: ignore[index]


def enter(table: Cells, cells: tuple[type | str, ...], entry: Any, name: str, by: Implementation) -> None:
    """Enter it for each format and, after them, each backend; ValueError for a cell that is there already.

    by: the implementation. Those of others are entered after ours.
    """
    backends = [cell for cell in cells if isinstance(cell, str)]
    if (by.__module__ or "").partition(".")[0] != table.package:
        table.load()
    for fmt, backend in ((fmt, backend) for fmt in cells if not isinstance(fmt, str) for backend in backends):
        if dict.__contains__(table, (fmt, backend)):
            raise ValueError(f"{name} is implemented for {fmt.__name__} on {backend} already")
        table[fmt, backend] = entry


class Vector:
    """The format, in a verb's table, of dense arrays and SparseVectors.

    Example:
        >>> from semiring import select
        >>> (Vector, "cpu") in select.table
        True
    """


class AnyKeyword:
    """The keywords of a user's function that takes all."""

    def __ge__(self, names: object) -> bool:
        return True


class Verb(Generic[P, R]):
    """A public function that checks its arguments and dispatches to an implementation.

    Call it like the function it wraps. `verb.implement(CSR, "cuda")` registers an implementation, and that is all it
    does: nothing is imported or compiled before the first call. One for `Matrix` is for every format that has none of
    its own, also for formats that are defined later.

    Args:
        public: the function, which calls `verb.find(type(A), A.device)`. Its `**rule`, if it has that, becomes the
            parameters that `shared` declares, in its signature and its documentation.

    Attributes:
        cells: what is registered, by (format, backend).
        needs: likewise, of verbs that are asked for their memory.

    Example:
        >>> from formats import CSR
        >>> from semiring import mxv
        >>> mxv, (CSR, "cpu") in mxv.table, sorted(Verb.all)[:3]
        (<verb mxv>, True, ['apply', 'assign', 'ewise_add'])
    """

    all: ClassVar[dict[str, Verb[..., Any]]] = {}
    """Every verb by name."""
    shared: ClassVar[type] = Write
    """The dataclass of the parameters that verbs share, and of their documentation."""
    fuses: ClassVar[bool] = False
    """True for a `Fusible`, which takes `fused`, and of which `explain` tells runs instead of calls."""

    def __init_subclass__(cls) -> None:
        if "__call__" in vars(cls) and get_overloads(cls.__call__):
            del cls.__call__  # the overloads are for type checkers: each call is a frame shorter without

    def __init__(self, public: Callable[P, R]) -> None:
        functools.update_wrapper(self, public)
        self.name = public.__name__
        self.public = public
        self.__signature__ = inspect.signature(public)
        *_, last = (None, *self.__signature__.parameters.values())
        takes_more = last is not None and last.kind is inspect.Parameter.VAR_KEYWORD
        if takes_more and str(last.annotation).startswith("Unpack["):
            self._spell_out()
            takes_more = False
        self.keywords: Any = AnyKeyword() if takes_more else self.__signature__.parameters.keys()
        package = (public.__module__ or "").partition(".")[0]
        self.cells, self.needs = Cells(package), Cells(package)
        if not self.fuses:
            type(self).all[self.name] = self

    def _spell_out(self) -> None:
        """Put the parameters that `shared` declares in the place of `**rule`, annotated as its TypedDict has them."""
        *own, rule = self.__signature__.parameters.values()
        into = self.public.__globals__[rule.annotation.removeprefix("Unpack[").rstrip("]").partition("[")[0]]
        types = {name: annotation.__forward_arg__ for name, annotation in into.__annotations__.items()}
        known = [
            rule.replace(
                name=part.name,
                kind=rule.KEYWORD_ONLY,
                default=part.default,
                annotation=types.get(part.name, part.type),
            )
            for part in fields(self.shared)
        ]
        self.__signature__ = self.__signature__.replace(parameters=[*own, *known])
        text, told = inspect.cleandoc(self.__doc__ or ""), inspect.cleandoc(self.shared.__doc__ or "")
        arguments, *rest = text.partition("\n\nReturns:" if "\n\nReturns:" in text else "\n\nRaises:")
        self.__doc__ = "".join([arguments, told.partition("Args:")[2], *rest])

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs and not kwargs.keys() <= self.keywords:
            self.refuse(kwargs)
        if due() and not self.fuses:
            look(args)
        as_written = self.fuses and self._begin(args, kwargs)
        if ASKING and not self.fuses:
            return tell_verb(self.name, self.__signature__, self._there, args, kwargs)
        call = self._there if "cupy" in sys.modules else self.public
        if not as_written:
            return call(*args, **kwargs)
        with definitions_only("fused=False"):
            return call(*args, **kwargs)

    def _begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Take `fused` out of the arguments; True if the equations are to run as written. Only a `Fusible` is asked."""
        raise NotImplementedError

    def refuse(self, names: Iterable[str]) -> None:
        """Raise a TypeError for the first of the names that is no parameter; it names the parameters there are."""
        name = next(name for name in names if name not in self.keywords)
        raise TypeError(f"{self.name} has no parameter {name!r}; it has {', '.join(self.keywords)}")

    def _there(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The function's answer, called where its operands are."""
        place = place_among(args or kwargs.values())
        try:
            if place is None or place.is_current:
                return self.public(*args, **kwargs)
            with place.scope():  # the GPU on which the operands are
                return self.public(*args, **kwargs)
        except MemoryError as error:
            if not (type(error).__module__.startswith("cupy") or str(error) == NO_ROOM_TO_SORT):
                raise
            raise out_of_memory(error, self.name) from error

    def implement(self, *cells: type | str, needs: Needs | None = None) -> Callable[[Implementation], Implementation]:
        """Register the decorated function for one or more formats and, after them, one or more backends.

        needs: what it takes beside its vectors, for `Matrix.footprint`. ValueError for a cell that is there already:
        which of two would serve must not hang on the order of imports.
        """

        def register(implementation: Implementation) -> Implementation:
            enter(self.cells, cells, implementation, self.name, implementation)
            if needs is not None:
                enter(self.needs, cells, needs, self.name, implementation)
            return implementation

        return register

    @property
    def table(self) -> dict[tuple[type, str], Implementation]:
        """Everything that is supported: the implementation of each (format, backend). Parts are of these formats."""
        found = {}
        for (fmt, backend), implementation in self.cells.load().items():
            if fmt is not Matrix and getattr(fmt, "in_parts", False):
                continue
            for each in Matrix.formats.values() if fmt is Matrix else (fmt,):
                found[each, backend] = self.cells.get((each, backend), implementation)
        return found

    def find(self, fmt: type, place: Place | str) -> Implementation:
        """The implementation for a format in a place, or on a backend; NotImplementedError names what is missing."""
        backend = place if isinstance(place, str) else place.backend
        own = self._cell(fmt, backend)
        if own is None:
            have = ", ".join(f"{f.__name__} on {b}" for f, b in self.table) or "nothing"
            raise NotImplementedError(
                f"{self.name} is not implemented for {fmt.__name__} on {backend}; it is for {have}"
            )
        if ASKING:
            registered = fmt.__name__ if (fmt, backend) in self.cells else "every format"
            tell_cell(self.name, fmt.__name__, backend, own, registered)
        return own

    def served(self, A: Matrix) -> Matrix:
        """`A`; or its rows as CSR, where the verb has a cell for CSR alone."""
        backend = A.place.backend
        if self._cell(type(A), backend) is not None or self._cell(CSR, backend) is None or not leads(type(A), CSR):
            return A
        return self.rows_of(A)

    def together(self, A: Matrix, B: Matrix) -> tuple[Matrix, Matrix]:
        """`A` and `B` as one cell takes them: as `served`, of two formats the rows of both as CSR, or both in parts."""
        if A.in_parts != B.in_parts:
            return (A, A.cut(B)) if A.in_parts else (B.cut(A), B)  # type: ignore[attr-defined]
        if type(A) is not type(B):
            return self.rows_of(A), self.rows_of(B)
        return self.served(A), self.served(B)

    def rows_of(self, A: Matrix, axis: int = 0, *, inside: str = "algorithms") -> Any:
        """The rows of `A` as CSR, or its columns as CSC (axis=1): made once, kept with it, and told by `explain`."""
        made = compressed(A, axis, inside=inside)
        if made is A or not choices_told():
            return made
        lines, fmt = ("rows", "CSR") if axis == 0 else ("columns", "CSC")
        name, size = type(A).__name__, f"{made.nbytes:,} bytes"
        note_choice(f"{self.name} takes the {name} by its {lines}, as {fmt}: {size}, kept with it")
        return made

    def _cell(self, fmt: type, backend: str) -> Implementation | None:
        own = self.cells.get((fmt, backend))
        if own is not None or not issubclass(fmt, Matrix) or fmt.in_parts:
            return own
        return self.cells.get((Matrix, backend))

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bind as a function does. So `help` takes a verb for a function, and shows its parameters."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<verb {self.name}>"

    def __reduce__(self) -> str:
        return self.name  # pickled as a function is, by its name in its module


class Internal(Verb[P, R]):
    """A verb that other verbs are made of: with cells as they have, but not for users."""

    all: ClassVar[dict[str, Verb[..., Any]]] = {}
    """Every internal verb by name."""


class Deferred:
    """An implementation "module:name", whose module is imported when it is first run.

    A `Fusible` puts the function itself into its table then.
    """

    def __init__(self, where: str) -> None:
        self.__module__, _, self.__name__ = where.partition(":")

    @functools.cached_property
    def function(self) -> Implementation:
        """The function itself."""
        return getattr(import_module(self.__module__), self.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


@dataclass(frozen=True)
class Declined:
    """The answer of an implementation that is not for these arguments, and has changed nothing: the definition runs."""

    why: str
