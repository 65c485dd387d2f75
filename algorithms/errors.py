"""What a graph can have that an algorithm cannot answer."""

from __future__ import annotations

from collections.abc import Sequence


class NegativeCycle(ValueError):
    """A cycle that improves every time it is walked is reachable, so there are no shortest distances.

    cycle: its vertices, closed (the first is also the last), beginning with the smallest. Check it in one line:
    `sum(A[u, v] for u, v in itertools.pairwise(error.cycle)) < 0`. (For MaxPlus it is a positive cycle, > 0. In
    floating point a cycle may owe its gain to rounding alone: then the sum is not below 0, and there are no distances.)
    """

    def __init__(self, cycle: Sequence[int]) -> None:
        self.cycle = list(cycle)
        shown = self.cycle if len(self.cycle) <= 12 else [*self.cycle[:6], "…", *self.cycle[-5:]]
        walk = " -> ".join(map(str, shown))
        super().__init__(f"an improving cycle, in min_plus a negative one, is reachable from the source: {walk}")
