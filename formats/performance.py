"""The warning for a call that is slow by nature. It names the user's line and the way out."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar

ENTRIES = 100_000
"""Work on fewer entries of a matrix is quick in any case, so nothing is said of it."""

OURS = frozenset({"formats", "semiring", "algorithms"})
"""Packages whose frames a warning passes over, to find the user's line."""

Deferred = list[tuple[str, int, str]]
"""The arguments of calls of `warn_slow`."""

_deferred: ContextVar[Deferred | None] = ContextVar("deferred", default=None)


class PerformanceWarning(UserWarning):
    """A call is correct and much slower than another way to the same answer, which the message names.

    Python shows a warning once for each line of the caller. One filter silences all of them:

    Example:
        >>> import warnings
        >>> from formats import PerformanceWarning
        >>> warnings.simplefilter("ignore", PerformanceWarning)
    """


def warn_slow(message: str, entries: int, *, inside: str = "") -> None:
    """Warn at the line of the user's call, if the work is on more than ENTRIES entries.

    inside: a package; nothing is said where one of its functions is among the callers.
    """
    if entries <= ENTRIES:
        return
    deferred = _deferred.get()
    if deferred is not None:
        deferred.append((message, entries, inside))
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in OURS:
            break
        if package == inside:
            return
        level, frame = level + 1, frame.f_back
    warnings.warn(message, PerformanceWarning, stacklevel=level)


def defer_warnings(deferred: Deferred) -> None:
    """Let `warn_slow` only append to `deferred` in this context.

    A thread of ours has no frame of the user's. Whoever waits for the thread passes its warnings on to `warn_slow`.
    """
    _deferred.set(deferred)
