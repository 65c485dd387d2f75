"""Options of the backend: those of a call, else those of `nx.config.backends.semiring`, else the table's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from semiring.cpu import threads

from .plugin.semiring_networkx import OPTIONS

OF_CALL: ContextVar[dict[str, Any]] = ContextVar("options of the call", default={})  # noqa: B039  # never written to


def option(name: str) -> Any:
    """The value of an option.

    name: one of OPTIONS.  Returns what the call gives, else what `nx.config.backends.semiring` has, else the default.
    """
    import networkx as nx

    given = OF_CALL.get()
    if name in given:
        return given[name]
    return getattr(getattr(nx.config.backends, "semiring", None), name, OPTIONS[name])


@contextmanager
def options(given: dict[str, Any]) -> Iterator[None]:
    """Let a call have options of its own, and its number of threads.

    given: by their names; those that are not given stay as they are.  Raises TypeError for one that there is not.
    """
    for name in given:
        if name not in OPTIONS:
            raise TypeError(f"the backend 'semiring' has no option {name!r}: it has {', '.join(OPTIONS)}")
    token = OF_CALL.set({**OF_CALL.get(), **given})
    try:
        count = option("threads")
        with nullcontext() if count is None else threads.threads(count):
            yield
    finally:
        OF_CALL.reset(token)
