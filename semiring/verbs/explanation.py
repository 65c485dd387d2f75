"""Which implementation of an algorithm or a verb ran, and why.

    explain(delta_stepping, A, 0)        # or explain(lambda: delta_stepping(A, 0))

runs the call and says of every algorithm in it whether a backend ran it as a whole ("fused") or as it is written in
verbs ("definition"), and what was chosen on the way: schedule, Δ, direction switches; of `A.to("auto", …)` the formats
that could have been chosen, and what was predicted of them. Where no algorithm runs, it says of every verb which cell
it found, what it was given, and how a product was computed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Generic, ParamSpec, TypeVar

from formats import Matrix, SparseVector
from formats.arrays import is_array
from formats.display import shortened, table

NOTHING = "no verb ran, and no algorithm that could have been fused"
VERB = "verb"
FEW = 50
"""The number of verbs that ran last, among which one that ran the same way is looked for."""
MOST_SHOWN = 5
"""Runs of which a notebook shows tables."""

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class Run:
    """One algorithm within a call; or a verb, so many times.

    implementation: "fused" or "definition", or "verb".  why: in a sentence.  details: what the implementation chose and
    counted; of a verb its arguments.
    """

    algorithm: str
    format: str
    device: str
    implementation: str = ""
    why: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    times: int = 1

    def __str__(self) -> str:
        times = f", {self.times:,} times" if self.times > 1 else ""
        lines = [f"{self.algorithm}: {self.implementation}{times}, {self.format} on {self.device} ({self.why})"]
        return "\n".join(lines + [f"    {name}: {value}" for name, value in self.details.items()])


@dataclass(frozen=True, repr=False)
class Explanation(Generic[R]):
    """The result of a call, and what ran in it. `print` shows it.

    Attributes:
        result: what the call returned.
        runs: the algorithms that ran in it, in the order in which they began; or the verbs, if there was none.
        choices: the formats that it chose, in words.

    Example:
        >>> from algorithms import bfs
        >>> from formats import from_edges
        >>> told = explain(bfs, from_edges([0, 1], [1, 2]), 0)
        >>> told.result.tolist(), told.runs[0].implementation
        ([0, 1, 2], 'fused')
    """

    result: R
    runs: list[Run]
    choices: list[Any] = field(default_factory=list)

    def __str__(self) -> str:
        told = "\n".join(map(str, [*self.choices, *self.runs]))
        return told or NOTHING

    def __repr__(self) -> str:
        return shortened(str(self))

    def _repr_html_(self) -> str:
        shown = [
            table(
                f"{run.algorithm}: {run.implementation}, {run.format} on {run.device}",
                [("why", run.why), *run.details.items()],
            )
            for run in self.runs[:MOST_SHOWN]
        ]
        rest = len(self.runs) - len(shown)
        more = [f"<p>… {rest:,} more: print shows all</p>"] if rest else []
        choices = [choice._repr_html_() for choice in self.choices]
        return "".join([*choices, *shown, *more]) or f"<p>{NOTHING}</p>"


_choices: ContextVar[list[Any] | None] = ContextVar("choices", default=None)
_runs: ContextVar[list[Run] | None] = ContextVar("runs", default=None)
_current: ContextVar[Run | None] = ContextVar("current", default=None)
_verb: ContextVar[Run | None] = ContextVar("verb", default=None)
ASKING: list[None] = []
"""As long as the calls that are explained now, in all threads: nothing is told while it is empty."""
AS_WRITTEN: ContextVar[str] = ContextVar("definitions", default="")
"""Why nothing may be fused now; "" if it may."""
RECORDER: ContextVar[Any] = ContextVar("trace", default=None)
"""The trace that is on, if any: its `running(algorithm, A)` is a context for the rounds of one run."""
_asked: ContextVar[bool] = ContextVar("asked", default=False)
UNTOLD = nullcontext(Run("", "", ""))
"""A run that nobody asks about: all such calls write to it."""


def explain(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Explanation[R]:
    """Run a call, and tell which implementations ran in it, and why.

    Args:
        call: what to run.
        args, kwargs: its arguments.

    Returns:
        An `Explanation`, with the call's result.

    Example:
        >>> from algorithms import bellman_ford
        >>> from formats import from_edges
        >>> explain(bellman_ford, from_edges([0, 1], [1, 2]), 0, fused=False)
        bellman_ford: definition, CSR on cpu (fused=False)
        >>> from semiring import reduce
        >>> explain(reduce, from_edges([0, 1], [1, 2], [5, 3]), "plus", axis=1)
        reduce: verb, CSR on cpu (for every format, in semiring.cpu.reductions)
            u: CSR 3×3 of int32
            monoid: plus
            axis: 1
            result: array of 3 int32
    """
    runs: list[Run] = []
    choices: list[Any] = []
    token, other = _runs.set(runs), _choices.set(choices)
    ASKING.append(None)
    try:
        result = call(*args, **kwargs)
    finally:
        ASKING.pop()
        _runs.reset(token)
        _choices.reset(other)
    algorithms = [run for run in runs if run.implementation != VERB]
    return Explanation(result, algorithms or runs, choices)


def choices_told() -> bool:
    """True if somebody asks which formats are chosen, so that a sentence about it is worth making."""
    return _choices.get() is not None


def note_choice(choice: Any) -> None:
    """Tell, once, which format was chosen, and why; nothing happens unless somebody asks."""
    choices = _choices.get()
    if choices is not None and choice not in choices:
        choices.append(choice)


def tell_verb(name: str, signature: inspect.Signature, call: Callable[..., R], args: Any, kwargs: Any) -> R:
    """The verb's result; told, if somebody asks, but not of a verb within an algorithm or another verb.

    signature: the parameters that the arguments are for.
    """
    runs = _runs.get()
    if runs is None or _current.get() is not None or _verb.get() is not None:
        return call(*args, **kwargs)
    run = Run(name, "", "", VERB)
    token = _verb.set(run)
    try:
        result = call(*args, **kwargs)
    finally:
        _verb.reset(token)
    found, run.details = run.details, {}
    for part, value in signature.bind(*args, **kwargs).arguments.items():
        run.details[part] = in_words(value)
    run.details |= found | {"result": in_words(result)}
    same = next((other for other in runs[-FEW:] if replace(other, times=1) == run), None)
    if same is None:
        runs.append(run)
    else:
        same.times += 1
    return result


def tell_cell(verb: str, fmt: str, backend: str, cell: Callable[..., Any], registered: str) -> None:
    """Tell which cell a verb has found."""
    run = _verb.get()
    if run is not None and not run.format:
        run.format, run.device = fmt, backend
        of = "" if verb == run.algorithm else f"{verb} "
        run.why = f"{of}for {registered}, in {cell.__module__}"


def tell_product(how: str) -> None:
    """Tell how a verb computes a product; nothing happens unless somebody asks."""
    if ASKING and (run := _verb.get()) is not None:
        run.details["product"] = how


def in_words(value: Any) -> str:
    """An argument or a result of a verb: its kind, its extents and its dtype."""
    if isinstance(value, tuple) and any(map(is_array, value)):
        return ", ".join(map(in_words, value))
    if isinstance(value, Matrix):
        return f"{type(value).__name__} {value.nrows}×{value.ncols} of {value.dtype}"
    if isinstance(value, SparseVector):
        return f"SparseVector of {value.size} {value.dtype}"
    if is_array(value) and value.ndim:
        return f"array of {'×'.join(map(str, value.shape))} {value.dtype}"
    return str(getattr(value, "name", None) or getattr(value, "__name__", None) or value)


def explained() -> bool:
    """True if somebody asks, so that details that cost a little work are worth it."""
    return _current.get() is not None


def details(**known: Any) -> None:
    """Tell what the running implementation chose or counted; nothing happens unless somebody asks."""
    run = _current.get()
    if run is not None:
        run.details.update(known)


def tell_crossing(A: Matrix, run: Run) -> None:
    """Tell what a pass over a matrix that is not all resident moves over the bus, and what the edges looked at did."""
    if run is UNTOLD.enter_result or A.all_resident:
        return
    crossing = A.nbytes - A.resident
    run.details["resident"], run.details["crossing in a pass"] = A.resident, crossing
    if isinstance(edges := run.details.get("edges"), int) and A.nnz:
        crossed = run.details.setdefault("crossed", crossing * edges // A.nnz)
        run.details["passes"] = crossed / crossing


def running_as(algorithm: str, A: Matrix) -> AbstractContextManager[Run]:
    """The run whose facts are told within the block; it counts if it has an implementation at the end."""
    runs = _runs.get()
    return UNTOLD if runs is None else _told(runs, Run(algorithm, type(A).__name__, A.device))


@contextmanager
def _told(runs: list[Run], run: Run) -> Iterator[Run]:
    runs.append(run)
    token = _current.set(run)
    try:
        yield run
    finally:
        _current.reset(token)
        if not run.implementation:
            runs.remove(run)


@contextmanager
def definitions_only(why: str, *, asked: bool = True) -> Iterator[None]:
    """Run every algorithm within the block as it is written.  asked: True if the user wants it so."""
    token, other = AS_WRITTEN.set(why), _asked.set(asked or _asked.get())
    try:
        yield
    finally:
        AS_WRITTEN.reset(token)
        _asked.reset(other)


def recorded(algorithm: str, A: Matrix) -> AbstractContextManager[None]:
    """The context of a run of this algorithm on A, whose rounds a trace records if one is on."""
    recorder = RECORDER.get()
    return nullcontext() if recorder is None else recorder.running(algorithm, A)


def definition_asked_for() -> bool:
    """True if the user wants algorithms to run as they are written."""
    return _asked.get()
