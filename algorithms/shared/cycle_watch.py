"""Negative cycles while they close: the edges that last improved each vertex, looked at from time to time.

Once there is a reachable negative cycle, the graph of these edges sooner or later has a cycle for good [1]. It is
looked at after 1, 2, 4, 8 … steps, and at the end.

In floating point such a cycle may owe its gain to rounding alone. It is reported only if its weights, added exactly,
improve a path; otherwise the fixpoint goes on, and ends where rounding lets it.

A vertex that improves in round n + 1 hangs on one that improved in round n, and so on: then the graph has a cycle. So
a fixpoint ends after n rounds, or there is an improving cycle, or a cycle of rounding, or a law is broken.

[1] B. Cherkassky, A. Goldberg, Negative-cycle detection algorithms, Mathematical Programming 85, 1999.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from formats import Matrix, SparseVector
from semiring import MinFirst, Semiring, reduce, select, tight, vxm
from semiring.vectors import all_vertices, at_the_end, full, is_empty, nonzero, present, scatter

from .errors import NegativeCycle, broken_law
from .parents import cycles_among, gains_by_length

ENDLESS = "paths still improve after as many rounds as there are vertices"


class CycleWatch:
    """Looks for a negative cycle among the edges that last improved each vertex, if a weight can make one.

    rounds: how many steps make a round, in which each vertex is relaxed once at most.
    """

    def __init__(self, A: Matrix, d: Any, s: Semiring, rounds: int = 1) -> None:
        self.A, self.s = A, s
        self.improvers = full(d, -1, all_vertices(A).dtype) if gains_by_length(A, s) else None
        self.steps, self.enough = 0, rounds * A.nrows

    def look(self, f: Any, improved: SparseVector) -> None:
        """Note from which vertex of `f` each improved one has its value; NegativeCycle if these close a cycle.

        ValueError or FloatingPointError if so many steps show that the fixpoint has no end.
        """
        if is_empty(improved):
            return
        self.steps += 1
        if self.improvers is None:
            if self.steps > self.enough:
                raise ValueError(broken_law(self.s, ENDLESS))
            return
        T = select(self.A, tight(self.s), row=f, col=improved)  # T = A⟨f_i ⊗ a_ij = f'_j⟩
        chosen = vxm(nonzero(present(f, self.s)), T.pattern(), MinFirst)  # p_j = min i with t_ij
        scatter(self.improvers, chosen)
        if self.steps & (self.steps - 1) == 0 or at_the_end(reduce(improved, self.s.add), self.s):
            self.search()

    def search(self) -> None:
        """NegativeCycle if the edges noted so far close an improving cycle."""
        if self.improvers is None or self.steps == 0:
            return
        cycle: list[int] = []
        for cycle in cycles_among(self.improvers):
            if improves(self.A, cycle, self.s):
                raise NegativeCycle(cycle)
        if self.steps > self.enough:
            if self.A.dtype.kind != "f" or not self.s.adds_weights:
                raise ValueError(broken_law(self.s, ENDLESS))
            walk = " -> ".join(map(str, cycle))
            raise FloatingPointError(
                f"in {self.A.dtype}, rounding alone improves distances along {walk}, and they do not settle: "
                "convert the weights to integers, or to more precision"
            )


def improves(A: Matrix, cycle: Iterable[int], s: Semiring) -> bool:
    """True if a path is better for walking the closed list of vertices once more. Sums of weights are exact."""
    return gains([A[edge].item() for edge in pairwise(cycle)], A.dtype, s)


def gains(weights: list[Any], dtype: Any, s: Semiring) -> bool:
    """True if a path is better for walking edges of these weights. Sums are exact."""
    one = s.unit(dtype)
    if s.adds_weights and all(map(math.isfinite, weights)):
        from fractions import Fraction

        total = sum(map(Fraction, weights))
        return bool(s.better(dtype.type((total > 0) - (total < 0)), one))
    length = one
    for weight in weights:
        length = s.product(length, dtype.type(weight))
    return bool(s.better(length, one))
