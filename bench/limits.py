"""Calls with limits: each beside another library, or the least time that the hardware allows, in the same run.

now        the ratio to what stands beside it, or milliseconds where nothing does
at_most    what it may be
goal       what it should be
reached    "goal", "at most", or "missed"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .measure import Disagreement, Row, rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Limits = dict[str, tuple[float, float]]
"""Limit and goal by the name of a case, the first pattern that fits: ratios, or milliseconds."""

COLUMNS = ("graph", "contender", "ms", "beside", "beside_ms", "now", "at_most", "goal", "reached")
"""Columns of a table of such calls."""


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
        """The number that the limits bound: the ratio, or milliseconds."""
        return max(self.ms - self.fixed_ms, 0) / self.beside_ms if self.beside_ms else self.ms

    @property
    def reached(self) -> str:
        """The better of the limits that it keeps, or "missed"."""
        return "goal" if self.now <= self.goal else "at most" if self.now <= self.at_most else "missed"


def insist(case: str, right: bool) -> None:
    """Disagreement unless an answer is right."""
    if not right:
        raise Disagreement(f"{case}: the answer is wrong")


def limited(
    limits: Limits,
    case: str,
    graph: str,
    ms: float,
    beside: str = "",
    beside_ms: float | None = None,
    fixed_ms: float = 0.0,
) -> Timed:
    """Returns a measurement with its limits, which may be the graph's; KeyError names a case that has none."""
    for pattern, (at_most, goal) in limits.items():
        if re.fullmatch(pattern, case) or re.fullmatch(pattern, f"{case}, {graph}"):
            return Timed(case, graph, ms, at_most, goal, beside, beside_ms, fixed_ms)
    raise KeyError(f"no limits for {case}")


def row(part: str, timed: Timed) -> Row:
    """A case as the table has it."""
    return {
        "graph": part,
        "contender": f"{timed.case}, {timed.graph}" if timed.graph else timed.case,
        "verified": True,
        "ms": rounded(timed.ms),
        "beside": timed.beside or None,
        "beside_ms": rounded(timed.beside_ms),
        "now": rounded(timed.now),
        "at_most": timed.at_most,
        "goal": timed.goal,
        "reached": timed.reached,
    }


def no_plot(rows: list[Row]) -> Figure | None:
    """The table says it all."""
    return None
