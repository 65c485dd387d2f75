"""Which implementation of an algorithm ran, and why.

    explain(delta_stepping, A, 0)        # or explain(lambda: delta_stepping(A, 0))

runs the call and says of every algorithm in it whether a backend ran it as a whole ("fused") or as it is written in
verbs ("definition"), and what was chosen on the way: schedule, Δ, direction switches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from formats import Matrix


@dataclass
class Run:
    """One algorithm within a call.

    implementation: "fused" or "definition".  why: in a sentence.  facts: what the implementation chose and counted.
    """

    algorithm: str
    format: str
    device: str
    implementation: str = ""
    why: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{self.algorithm}: {self.implementation}, {self.format} on {self.device} ({self.why})"]
        return "\n".join(lines + [f"    {name}: {value}" for name, value in self.facts.items()])


@dataclass(frozen=True)
class Explanation:
    """What a call returned, and the algorithms that ran in it, in the order in which they began."""

    result: Any
    runs: list[Run]

    def __str__(self) -> str:
        return "\n".join(map(str, self.runs)) or "no algorithm ran that could have been fused"


_runs: ContextVar[list[Run] | None] = ContextVar("runs", default=None)
_current: ContextVar[Run | None] = ContextVar("current", default=None)
_definitions: ContextVar[str] = ContextVar("definitions", default="")


def explain(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """Run `call(*args, **kwargs)` and tell which implementations ran in it, and why."""
    runs: list[Run] = []
    token = _runs.set(runs)
    try:
        result = call(*args, **kwargs)
    finally:
        _runs.reset(token)
    return Explanation(result, runs)


def explained() -> bool:
    """Is somebody asking? Then facts that cost a little work are worth it."""
    return _current.get() is not None


def facts(**known: Any) -> None:
    """Tell what the running implementation chose or counted; nothing happens unless somebody asks."""
    run = _current.get()
    if run is not None:
        run.facts.update(known)


@contextmanager
def running_as(algorithm: str, A: Matrix) -> Iterator[Run]:
    """The run whose facts are told within the block."""
    run = Run(algorithm, type(A).__name__, A.device)
    runs = _runs.get()
    if runs is None:
        yield run
        return
    runs.append(run)
    token = _current.set(run)
    try:
        yield run
    finally:
        _current.reset(token)


@contextmanager
def definitions_only(why: str) -> Iterator[None]:
    """Run every algorithm within the block as it is written."""
    token = _definitions.set(why)
    try:
        yield
    finally:
        _definitions.reset(token)


def why_not_fused() -> str:
    """Why nothing may be fused now; "" if it may."""
    return _definitions.get()
