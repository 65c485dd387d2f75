"""What is slow by nature is said where it is called, once: a warning with the way out."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar

ENTRIES = 100_000
"""Work on fewer entries of a matrix is quick in any case, and is not warned of."""

OURS = frozenset({"formats", "semiring", "algorithms"})
"""The packages whose frames a warning passes over, to name the user's line."""


Held = list[tuple[str, int, str]]
_held: ContextVar[Held | None] = ContextVar("held", default=None)


class PerformanceWarning(UserWarning):
    """A call is correct and much slower than another way to the same answer, which the message names.

    Python shows a warning once for each line of the caller. All of them are silenced by one filter:

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
    held = _held.get()
    if held is not None:
        held.append((message, entries, inside))
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


def hold(held: Held) -> None:
    """Let what `warn_slow` is told in this context be held back in a list: another thread's callers are not the user's.

    Who waits for the thread then tells `warn_slow` each of them.
    """
    _held.set(held)
