"""Fusible: an algorithm written in verbs, which a backend may run as a whole."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, ParamSpec, TypeVar, cast

from formats import CSR, Matrix, OutOfDeviceMemory, OutOfHostMemory
from formats.matrix.routes import leads
from formats.performance import warn_slow
from formats.storage.orientation import has_room_for_columns, nothing_unasked

from ..kernels.interrupts import MIN_INTERRUPTIBLE_NNZ, interruptible
from .batch import STREAMED, Batch
from .checks import own_vectors
from .explanation import (
    AS_WRITTEN,
    ASKING,
    UNTOLD,
    definition_asked_for,
    details,
    note_choice,
    recorded,
    running_as,
    tell_crossing,
)
from .registry import AnyKeyword, Declined, Deferred, Implementation, Verb

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class MemoryEstimate:
    """The most bytes that an algorithm holds and keeps for each (vertex, entry) of 4-byte weights, as measured.

    fused: run as a whole.  equations: by its definition, in a format whose products keep rows or columns beside it.
    """

    fused: tuple[int, int]
    equations: tuple[int, int]


class Fusible(Verb[P, R]):
    """An algorithm written in verbs, which a backend may also run as a whole, unless it is called with `fused=False`.

    The function itself checks its arguments and calls its equations, a function that `equations` marks and `implement`
    replaces; `batch` has implementations for several sources at once. The equations as written, the *definition*, run
    where the implementation is `Declined`, and where `fused=False` is passed; they are the oracle of every
    implementation. A matrix in a format without an implementation is taken by its rows, as CSR, which are made at the
    first call and kept with it; `fused=False` takes it as it is.
    """

    all: ClassVar[dict[str, Verb[..., Any]]] = {}
    """Every fusible algorithm by name."""
    fuses = True

    _equations: Implementation
    memory = MemoryEstimate(fused=(56, 18), equations=(64, 56))
    interruptible_from_nnz = MIN_INTERRUPTIBLE_NNZ
    """With at least so many entries, a fused run is handed to another thread, so that Ctrl-C ends the wait for it."""
    in_order = False
    """True if the equations read rows in their order and a fused run does not; streamed matrices use the equations."""

    def __init__(self, public: Callable[P, R]) -> None:
        super().__init__(public)
        if not isinstance(self.keywords, AnyKeyword):
            self.keywords = {**self.__signature__.parameters, "fused": None}.keys()
        self.batch = Batch(self)

    def _begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Take `fused` out of the arguments, and refuse what has no room; True if the equations run as written."""
        fused = kwargs.pop("fused", True)
        if not isinstance(fused, bool):
            raise TypeError(f"fused must be True or False, got {fused!r}")
        if not hasattr(self, "_equations"):
            self._compile_loops()
            return not fused
        if args and isinstance(args[0], Matrix):
            A, vectors = args[0], self.memory.fused[0] * args[0].nrows
            if A.place.questions(vectors, may_fail=True):
                self._check_vectors(A, vectors)
        return not fused

    def _compile_loops(self) -> None:
        """Take the function's own loops for the equations: they are compiled where they can be."""
        from ..fusing.program import Program

        if not isinstance(self.public, Program):
            self.public = Program(self.public, self.name)

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

    def relies_on(self, A: Matrix, *args: Any, **kwargs: Any) -> str:
        """Says what a fused run with the equations' arguments relies on the user for; "" for nothing."""
        return ""

    def runs_fused(self, fmt: type[Matrix], backend: str) -> type[Matrix] | None:
        """The format in which a matrix in `fmt` is run as a whole: its own or CSR; None if there is none."""
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
    def unfused(self) -> Callable[..., R]:
        """The algorithm with `fused=False`."""
        return functools.partial(cast(Any, self), fused=False)

    def equations(self, written: Callable[..., R]) -> Callable[..., R]:
        """Mark the decorated function of (A, …) as the equations; returns `run`, which takes its place."""
        self._equations = written
        type(self).all[self.name] = self
        return self.run

    def run(self, A: Matrix, *args: Any, **kwargs: Any) -> Any:
        """The answer by the implementation for A, if one takes these arguments, or else by the equations."""
        fused, why = None, AS_WRITTEN.get()
        if not why and self.in_order and A.streams:
            why = STREAMED
        if not why:
            if (type(A), A.place.backend) not in self.cells:
                A = self._rows_of(A)
            cell = (type(A), A.place.backend)
            fused = self.cells.get(cell)
            if isinstance(fused, Deferred):
                fused = self.cells[cell] = fused.function
            why = "" if fused else f"no fused implementation for {type(A).__name__} on {A.device}"
        with running_as(self.name, A) if ASKING else UNTOLD as run:
            if fused is not None:
                run.implementation, run.why = "fused", f"registered for {run.format} on {run.device}"
                relied = self.relies_on(A, *args, **kwargs)
                may_be_long = A.place.on_host and (bool(relied) or A.nnz >= self.interruptible_from_nnz)
                if may_be_long:
                    answer = interruptible(functools.partial(fused, A, *args, **kwargs))
                elif A.place.on_host:
                    answer = fused(A, *args, **kwargs)
                else:
                    answer = self._run_fused(fused, A, *args, **kwargs)
                if not isinstance(answer, Declined):
                    if relied:
                        run.details["laws"] = relied
                    if ASKING:
                        tell_crossing(A, run)
                    return answer
                why = answer.why
            run.implementation, run.why = "definition", why
            run.details.clear()
            could = any(backend == A.place.backend for _, backend in self.cells)
            if could and not definition_asked_for() and not A.streams:
                warn_slow(f"{self.name} runs unfused, as written, on {A.nnz:,} entries: {why}", A.nnz)
            tell_crossing(A, run)
            with own_vectors(), recorded(self.name, A):
                return self._equations(A, *args, **kwargs)

    def _run_fused(self, fused: Implementation, A: Matrix, *args: Any, **kwargs: Any) -> Any:
        """The implementation's answer on a GPU, which may have no room.

        If it has none, what is kept with A alone is forgotten, and the run is tried again. The last attempt makes no
        columns that nobody asked for: what is free may lie in pieces. Of several processes none tries again alone.
        """
        if A.in_parts and A.group.size > 1:  # type: ignore[attr-defined]
            return fused(A, *args, **kwargs)
        try:
            return fused(A, *args, **kwargs)
        except MemoryError:
            if not A.kept_nbytes and not has_room_for_columns(A):
                raise
        A.forget_kept()
        gc.collect()  # of what the first attempt made, a matrix and its transpose hold each other
        try:
            return fused(A, *args, **kwargs)
        except MemoryError:
            if not has_room_for_columns(A):
                raise
        gc.collect()
        details(columns="none that nobody asked for: there was no room for all that the call would make")
        with nothing_unasked():
            return fused(A, *args, **kwargs)


def fusible(public: Callable[P, R]) -> Fusible[P, R]:
    """Let the equations of an algorithm be run as a whole where `implement` registers how.

    Args:
        public: what users call: a function of a matrix first, which calls the equations.

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
    return Fusible(public)
