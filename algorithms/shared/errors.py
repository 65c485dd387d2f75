"""Errors for a graph that has what an algorithm cannot answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semiring import Semiring


class NegativeCycle(ValueError):
    """A cycle that improves every time it is walked is reachable, so there are no shortest distances.

    In max-plus it is a positive cycle. A cycle of floats that gains by rounding alone, and not by the exact sum, is not
    reported.

    Args:
        cycle: its vertices, closed (the first is also the last), beginning with the smallest.

    Example:
        >>> from itertools import pairwise
        >>> from algorithms import bellman_ford
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 2], [1, 2, 1], [5.0, 1.0, -3.0])
        >>> try:
        ...     bellman_ford(A, 0)
        ... except NegativeCycle as error:
        ...     print(error.cycle, sum(A[u, v] for u, v in pairwise(error.cycle)))
        [1, 2, 1] -2.0
    """

    def __init__(self, cycle: Sequence[int]) -> None:
        self.cycle = list(cycle)
        kind = "a cycle that improves each time round, as a negative one does"
        super().__init__(f"{kind}, is reachable from the source: {walk(cycle)}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cycle,), self.__dict__


def walk(cycle: Sequence[int]) -> str:
    """The vertices of a cycle, as errors show them."""
    shown = cycle if len(cycle) <= 12 else [*cycle[:6], "…", *cycle[-5:]]
    return " -> ".join(map(str, shown))


def broken_law(s: Semiring, seen: str) -> str:
    """The message about a semiring whose paths have done what its laws exclude."""
    return f"{s.name} breaks a law that it declares, for {seen}: check_laws({s.name}, dtype) looks for a counterexample"
