"""Negative cycles while they close: the edges that last improved each vertex, looked at from time to time.

Once there is a reachable negative cycle, the graph of these edges sooner or later has a cycle for good [1]. It is
looked at after 1, 2, 4, 8 … steps.

[1] B. Cherkassky, A. Goldberg, Negative-cycle detection algorithms, Mathematical Programming 85, 1999.
"""

from __future__ import annotations

from typing import Any

from formats import Matrix, SparseVector
from semiring import MinFirst, Semiring, reduce, select, tight, vxm
from semiring.vectors import all_vertices, at_the_end, full, is_empty, present, vertices

from .errors import NegativeCycle
from .parents import cycle_among, gains_by_length


class CycleWatch:
    """Looks for a negative cycle among the edges that last improved each vertex, if a weight can make one."""

    def __init__(self, A: Matrix, d: Any, s: Semiring) -> None:
        self.A, self.s = A, s
        self.improvers = full(d, -1, all_vertices(A).dtype) if gains_by_length(A, s) else None
        self.steps = 0

    def look(self, f: Any, improved: SparseVector) -> None:
        """Note from which vertex of `f` each improved one has its value; NegativeCycle if these close a cycle."""
        if self.improvers is None or is_empty(improved):
            return
        T = select(self.A, tight(self.s), row=f, col=improved)  # T = A⟨f_i ⊗ a_ij = f'_j⟩
        chosen = vxm(vertices(present(f, self.s)), T.pattern(), MinFirst)  # p_j = min i with t_ij
        self.improvers[chosen.indices] = chosen.values
        self.steps += 1
        if self.steps & (self.steps - 1) == 0 or at_the_end(reduce(improved, self.s.add), self.s):
            cycle = cycle_among(self.improvers)
            if cycle is not None:
                raise NegativeCycle(cycle)
