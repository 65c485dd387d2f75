"""The cases of `python -m bench cliffs`, a module for each part of the toolkit. Each is verified before it is timed."""

from __future__ import annotations

from dataclasses import dataclass

VOTES = "wiki-Vote.txt.gz"
"""SNAP's graph of votes, the small one, if it is in the folder of real graphs."""


@dataclass(frozen=True)
class Timed:
    """A call, what stands beside it in the same run, and its limits.

    case: what is called.  graph: on what.  ms: the median of a call, milliseconds.  at_most, goal: the limits, as
    ratios to `beside_ms`, or milliseconds where there is none.  beside: a library's name, or "floor" for the least time
    that the hardware allows.  fixed_ms: of the call, what the ratio does not count, for launches and waits.
    """

    case: str
    graph: str
    ms: float
    at_most: float
    goal: float
    beside: str = ""
    beside_ms: float | None = None
    fixed_ms: float = 0.0

    @property
    def now(self) -> float:
        """What the limits are about: the ratio, or milliseconds."""
        return max(self.ms - self.fixed_ms, 0) / self.beside_ms if self.beside_ms else self.ms

    @property
    def reached(self) -> str:
        """The better of the limits that it keeps, or "missed"."""
        return "goal" if self.now <= self.goal else "at most" if self.now <= self.at_most else "missed"
