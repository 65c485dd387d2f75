"""Verb: a public function whose implementations are found by (format, backend).

`Verb.table` is the only list of what is supported: the tests iterate over it, and docs/formats.md has it as a table.
"""

from __future__ import annotations

import functools
import gc
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import MethodType
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar, cast

from formats import CSR, Matrix, OutOfDeviceMemory, OutOfHostMemory
from formats.arrays import NO_ROOM_TO_SORT, out_of_memory
from formats.matrix.routes import leads
from formats.performance import warn_slow
from formats.places import Place, place_among
from formats.storage.orientation import compressed, has_room_for_columns, nothing_unasked

from ..kernels.interrupts import LONG, interruptible
from .checks import own_vectors
from .explanation import (
    ASKING,
    choices_told,
    definition_asked_for,
    definitions_only,
    facts,
    note_choice,
    running_as,
    tell_cell,
    tell_crossing,
    tell_verb,
    why_not_fused,
)
from .masks import Write

P = ParamSpec("P")
R = TypeVar("R")
Implementation = Callable[..., Any]
Needs = Callable[..., dict[str, int]]
"""(A, format) -> bytes, part by part, that a product by A in the format takes or keeps beside its vectors."""


class Vector:
    """The format, in a verb's table, of dense arrays and SparseVectors.

    Example:
        >>> from semiring import select
        >>> (Vector, "cpu") in select.table
        True
    """


class Verb(Generic[P, R]):
    """A public function that checks its arguments and dispatches to an implementation.

    Call it like the function it wraps. `verb.implement(CSR, "cuda")` registers an implementation, and that is all it
    does: nothing is imported or compiled before the first call. One for `Matrix` is for every format that has none of
    its own, also for formats that are defined later.

    Args:
        front: the function, which calls `verb.find(type(A), A.device)`. Its `**rule`, if it has that, becomes the
            parameters of the write rule, in its signature and its documentation.

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
    told = True
    """Does `explain` tell of its calls? An algorithm tells of its runs."""

    def __init__(self, front: Callable[P, R]) -> None:
        functools.update_wrapper(self, front)
        self.name = front.__name__
        self.front = front
        self.__signature__ = inspect.signature(front)
        if "rule" in self.__signature__.parameters:
            self._spell_out_rule()
        self.keywords = self.__signature__.parameters.keys()
        self.cells: dict[tuple[type, str], Implementation] = {}
        self.needs: dict[tuple[type, str], Needs] = {}
        type(self).all[self.name] = self

    def _spell_out_rule(self) -> None:
        """Put the parameters of the write rule in place of `**rule`, of the types that its TypedDict has."""
        *own, rule = self.__signature__.parameters.values()
        annotations = eval(rule.annotation, self.front.__globals__).__args__[0].__annotations__
        types = {name: annotation.__forward_arg__ for name, annotation in annotations.items()}
        known = [
            rule.replace(name=part.name, kind=rule.KEYWORD_ONLY, default=part.default, annotation=types[part.name])
            for part in fields(Write)
        ]
        self.__signature__ = self.__signature__.replace(parameters=[*own, *known])
        arguments, *rest = inspect.cleandoc(self.__doc__ or "").partition("\n\nReturns:")
        self.__doc__ = "".join([arguments, inspect.cleandoc(Write.__doc__ or "").partition("Args:")[2], *rest])

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs and not kwargs.keys() <= self.keywords:
            [name, *_] = kwargs.keys() - self.keywords
            raise TypeError(f"{self.name} has no parameter {name!r}; it has {', '.join(self.keywords)}")
        if ASKING and self.told:
            return tell_verb(self.name, self.__signature__, self._there, args, kwargs)
        if "cupy" not in sys.modules:
            return self.front(*args, **kwargs)
        return self._there(*args, **kwargs)

    def _there(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the function answers, called where its operands are."""
        place = place_among(args or kwargs.values())
        try:
            if place is None or place.is_current:
                return self.front(*args, **kwargs)
            with place.scope():  # the GPU on which the operands are
                return self.front(*args, **kwargs)
        except MemoryError as error:
            if not (type(error).__module__.startswith("cupy") or str(error) == NO_ROOM_TO_SORT):
                raise
            raise out_of_memory(error, self.name) from error

    def implement(self, *cells: type | str, needs: Needs | None = None) -> Callable[[Implementation], Implementation]:
        """Register the decorated function for one or more formats and, after them, one or more backends.

        needs: what it takes beside its vectors, for `Matrix.footprint`. ValueError for a cell that is there already:
        which of two would serve must not hang on the order of imports.
        """
        formats = [cell for cell in cells if not isinstance(cell, str)]
        backends = [cell for cell in cells if isinstance(cell, str)]

        def register(implementation: Implementation) -> Implementation:
            for backend in backends:
                for fmt in formats:
                    if (fmt, backend) in self.cells:
                        raise ValueError(f"{self.name} is implemented for {fmt.__name__} on {backend} already")
                    self.cells[fmt, backend] = implementation
                    if needs is not None:
                        self.needs[fmt, backend] = needs
            return implementation

        return register

    @property
    def table(self) -> dict[tuple[type, str], Implementation]:
        """Everything that is supported: the implementation of each (format, backend). Parts are of these formats."""
        found = {}
        for (fmt, backend), implementation in self.cells.items():
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


@dataclass(frozen=True)
class Unsuited:
    """What an implementation answers, with nothing changed, if it is not for these arguments: the definition runs."""

    why: str


@dataclass(frozen=True)
class Holds:
    """What an algorithm holds and keeps at most, in bytes for each (vertex, entry) of 4-byte weights, as measured.

    fused: run as a whole.  written: by its definition, in a format whose products keep rows or columns beside it.
    """

    fused: tuple[int, int]
    written: tuple[int, int]


class Fusible(Verb[P, R]):
    """An algorithm written in verbs, which a backend may also run as a whole, unless it is called with `fused=False`.

    The function itself checks its arguments and calls its equations, a function that `equations` marks and `implement`
    replaces. The equations as written, the *definition*, run where the implementation is `Unsuited`, and where
    `fused=False` is passed; they are the oracle of every implementation. A matrix in a format without an implementation
    is taken by its rows, as CSR, which are made at the first call and kept with it; `fused=False` takes it as it is.
    """

    all: ClassVar[dict[str, Verb[..., Any]]] = {}
    """Every fusible algorithm by name."""
    told = False

    written: Implementation
    holds = Holds(fused=(56, 18), written=(64, 56))
    long = LONG
    """Entries from which on a run as a whole is handed to another thread, so that Ctrl-C ends the wait for it."""
    in_order = False
    """Does the definition read rows in their order, but a run as a whole does not? Then it runs on what streams."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        fused = kwargs.pop("fused", True)
        if not isinstance(fused, bool):
            raise TypeError(f"fused must be True or False, got {fused!r}")
        if args and isinstance(args[0], Matrix):
            A, vectors = args[0], self.holds.fused[0] * args[0].nrows
            if A.place.questions(vectors, may_fail=True):
                self._check_vectors(A, vectors)
        if fused:
            return super().__call__(*args, **kwargs)
        with definitions_only("fused=False"):
            return super().__call__(*args, **kwargs)

    def _check_vectors(self, A: Matrix, needed: int) -> None:
        """OutOfDeviceMemory or OutOfHostMemory if so many bytes do not fit, though what is kept with A gives way."""
        what = f"{self.name} on {A.nrows:,} vertices, for its vectors alone,"
        try:
            A.place.check_room(what, needed)
        except (OutOfDeviceMemory, OutOfHostMemory):
            if not A.kept_nbytes:
                raise
            A.forget_kept()
            A.place.check_room(what, needed)

    def runs_fused(self, fmt: type[Matrix], backend: str) -> type[Matrix] | None:
        """The format in which a matrix in `fmt` is run as a whole: its own, or CSR; None if there is none."""
        return next((form for form in (fmt, CSR) if (form, backend) in self.cells), None)

    def _rows_of(self, A: Matrix) -> Matrix:
        """`A`, or its rows as CSR if only they can be run as a whole: made once, kept with `A`, and told."""
        own = (type(A), A.place.backend)
        if own in self.cells or A.on_disk or self.runs_fused(*own) is None:
            return A
        name = type(A).__name__
        if not leads(type(A), CSR):
            note_choice(f"{self.name} runs on the {name} itself, unfused: no conversion leads to CSR")
            return A
        try:
            return self.rows_of(A, inside="")
        except (OutOfDeviceMemory, OutOfHostMemory) as error:
            note_choice(f"{self.name} runs on the {name} itself, unfused: {error}")
            return A

    @property
    def definition(self) -> Callable[..., R]:
        """The algorithm with `fused=False`."""
        return functools.partial(cast(Any, self), fused=False)

    def equations(self, written: Callable[..., R]) -> Callable[..., R]:
        """Mark the decorated function of (A, …) as the equations.

        Returns a function that runs what `implement` registers for A, or else the equations.
        """
        self.written = written

        @functools.wraps(written)
        def chosen(A: Matrix, *args: Any, **kwargs: Any) -> Any:
            return self.solve(A, *args, **kwargs)

        return chosen

    def solve(self, A: Matrix, *args: Any, **kwargs: Any) -> Any:
        """The answer by the implementation for A, if one takes these arguments, or else by the equations."""
        why = why_not_fused()
        A = A if why else self._rows_of(A)
        with running_as(self.name, A) as run:
            whole, why = (None, why) if why else self._whole(A)
            if whole is not None:
                run.implementation, run.why = "fused", f"registered for {run.format} on {run.device}"
                relied = self.relies_on(A, *args, **kwargs)
                may_be_long = A.place.on_host and (bool(relied) or A.nnz >= self.long)
                call = functools.partial(self._run_whole, whole, A, *args, **kwargs)
                answer = interruptible(call) if may_be_long else call()
                if not isinstance(answer, Unsuited):
                    if relied:
                        run.facts["laws"] = relied
                    tell_crossing(A, run)
                    return answer
                why = answer.why
            run.implementation, run.why = "definition", why
            run.facts.clear()
            if not definition_asked_for() and not A.streams:
                warn_slow(f"{self.name} runs unfused, as written, on {A.nnz:,} entries: {why}", A.nnz)
            tell_crossing(A, run)
            with own_vectors():
                return self.written(A, *args, **kwargs)

    def _run_whole(self, whole: Implementation, A: Matrix, *args: Any, **kwargs: Any) -> Any:
        """The implementation's answer.

        A GPU may have no room. Then what is kept with A alone is forgotten, and the run is tried again. The last
        attempt makes no columns that nobody asked for: what is free may lie in pieces. Of several processes none tries
        again alone.
        """
        if A.place.on_host or (A.in_parts and A.group.size > 1):  # type: ignore[attr-defined]
            return whole(A, *args, **kwargs)
        try:
            return whole(A, *args, **kwargs)
        except MemoryError:
            if not A.kept_nbytes and not has_room_for_columns(A):
                raise
        A.forget_kept()
        gc.collect()  # of what the first attempt made, a matrix and its transpose hold each other
        try:
            return whole(A, *args, **kwargs)
        except MemoryError:
            if not has_room_for_columns(A):
                raise
        gc.collect()
        facts(columns="none that nobody asked for: there was no room for all that the call would make")
        with nothing_unasked():
            return whole(A, *args, **kwargs)

    def relies_on(self, A: Matrix, *args: Any, **kwargs: Any) -> str:
        """What a fused run of these arguments takes from the user's word, in words; "" for nothing."""
        return ""

    def _whole(self, A: Matrix) -> tuple[Implementation | None, str]:
        """The registered implementation for A; or None, and why."""
        if self.in_order and A.streams:
            return None, "its files are read row by row in their order"
        whole = self.cells.get((type(A), A.place.backend))
        return whole, "" if whole else f"no fused implementation for {type(A).__name__} on {A.device}"


def fusible(front: Callable[P, R]) -> Fusible[P, R]:
    """Let the equations of an algorithm be run as a whole where `implement` registers how.

    Args:
        front: what users call: a function of a matrix first, which calls the equations.

    Returns:
        The algorithm, whose `equations` marks them.

    Example:
        >>> from formats import from_edges
        >>> from semiring import reduce
        >>> class Own(Fusible):
        ...     all = {}
        >>> @Own  # as `fusible` does, but for the list of all algorithms
        ... def total(A):
        ...     return weights(A)
        >>> @total.equations
        ... def weights(A):
        ...     return reduce(A, "plus")
        >>> total(from_edges([0, 1], [1, 0], [5, 9])).item()
        14
    """
    return Fusible(front)
